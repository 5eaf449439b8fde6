"""Report blocks, lowered to the elements that a brief is laid out from."""
