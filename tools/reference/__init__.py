"""The reference manual, made from the checker's tables and the texts beside them (`python -m tools.reference`)."""
