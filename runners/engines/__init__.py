"""Systems under test: attaching to, starting, emptying, checking and describing them."""
