"""Commands for results: make briefs, query, compare, and import results that were measured elsewhere."""
