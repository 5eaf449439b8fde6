"""The templates: `base` and its `parts`, which all templates of briefs extend, the pages of a `site`, and a `plain`
page."""
