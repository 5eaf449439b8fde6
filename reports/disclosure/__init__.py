"""The test disclosure: systems, settings and origin."""
