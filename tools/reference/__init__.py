"""The reference manual, made from the checker's tables and accompanying texts (`python -m tools.reference`)."""
