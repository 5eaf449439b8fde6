"""Commands for results: to make briefs, ask, compare, and bring in what was measured elsewhere."""
