"""Imports openload's records, with the histogram logs beside them."""
