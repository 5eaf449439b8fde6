"""Expressions: typed labelled arrays with units, lowered to SQL."""
