"""What each kind of block declares, read from its attributes and checked."""
