"""What all templates of briefs extend, `base` and its `parts`; the pages of a `site`; a `plain` page alone."""
