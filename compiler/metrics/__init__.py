"""Expressions: labelled arrays with types and units, which are converted to SQL."""
