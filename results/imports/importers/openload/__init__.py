"""openload's outputs."""
