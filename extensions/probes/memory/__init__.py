"""How a host uses its memory."""
