"""The test disclosure: systems, settings, origin."""
