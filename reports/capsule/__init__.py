"""The capsule of a brief, which is one file with everything needed to measure the brief again: packing and
reading it."""
