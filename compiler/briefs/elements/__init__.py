"""The elements of a report block: figures, tables, texts and formulas."""
