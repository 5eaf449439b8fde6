"""Connects to hosts over SSH, always with a verified host key, and runs commands there."""
