"""The `power` probe and its meters."""
