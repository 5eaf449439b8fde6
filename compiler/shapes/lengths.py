"""The most characters of each kind of text in a spec.

Labels stand in heads of tables, legends and axes, where each character takes room and time on every page. Names become
parts of file names, on the hosts too.
"""

from __future__ import annotations

NAME = 80
"""A name without quotes: of a block, metric, parameter or fact."""
LABEL = 120
"""A label: of a compared thing, a column or a series."""
HEADING = 200
"""A title and the texts beside it."""
LINE = 300
"""A fact, and the claim of a figure."""
PARAGRAPH = 4_000
"""A description, a note, a command or an address."""
PASSAGE = 20_000
"""A text of the brief."""
