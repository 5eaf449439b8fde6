"""Transports: how commands, jobs and files reach one host."""
