"""House styles, template parts and catalogues of words."""
