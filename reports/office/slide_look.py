"""The look that our slides share: type sizes, the space between parts, and colours."""

from __future__ import annotations

TEXT_PT, READ_PT, LARGE_PT, STATED_PT = 14.0, 16.0, 24.0, 28.0
"""Type sizes: of texts beside a figure, of texts beside a table, and the largest ones for texts and for a single
paragraph."""
LINES_ABOVE = 2
"""The most lines of text above a figure."""
AIR = 8.0
"""The space between parts of a slide."""
LINE_LESS = 30.0
"""How much higher a slide's content begins if its title has only one line."""
TEXT_SHARE = 0.35
"""The largest share of a slide that texts above a figure or a table may take."""
GROUND, RULE, TAG, TAG_INK = "#eef3f7", "#c9d3da", "#fff1d6", "#7a4300"
"""The background of boxes, the colour of the line between columns, and the background and the text colour of the tag on
the first slide, which gives the origin of the numbers."""
