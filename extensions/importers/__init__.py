"""Importers: each folder holds one."""
