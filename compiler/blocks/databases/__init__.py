"""Databases: servers, options, declared commands and data sets."""
