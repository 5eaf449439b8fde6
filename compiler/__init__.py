"""The compiler: turns a syntax tree into a checked model, and the model into a plan."""
