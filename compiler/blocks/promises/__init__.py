"""The events of an experiment: commands at times of its measurement."""
