"""The power meter `hwmon`."""
