"""Packs and reads the capsule of a brief: one file with everything needed to measure again."""
