"""The transport over SSH."""
