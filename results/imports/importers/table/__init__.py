"""Tables of published figures."""
