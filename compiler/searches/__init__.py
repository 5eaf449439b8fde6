"""The rules by which a run searches for a point, as functions of what was measured."""
