"""iostat's logs."""
