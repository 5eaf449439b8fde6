"""The events of a measurement: commands at declared times."""
