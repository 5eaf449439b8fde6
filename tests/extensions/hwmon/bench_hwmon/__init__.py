"""A power meter that reads the kernel's `hwmon` sensors."""
