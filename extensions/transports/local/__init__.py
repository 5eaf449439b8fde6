"""The transport to the controller itself."""
