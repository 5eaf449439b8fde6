"""The templates of briefs, one folder each. They extend `base`; `parts` are elements."""
