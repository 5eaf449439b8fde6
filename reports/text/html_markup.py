"""Pieces of HTML for the builder and the templates: words in backticks, footnotes and their marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import unescape

from markupsafe import Markup

_DIGEST = re.compile(r"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")
_GAP = "\N{NO-BREAK SPACE}"
"""Between a number and its mark, thin by the style sheet. Without it, copied text would read 1,2342."""

_CELL = re.compile(r"[^\s(<>、，；：（][^\s<>、，；：]*/r?\d+\b")
"""A cell's name: without blanks, and with a repeat at its end."""


def note_marks(numbers: Iterable[int]) -> Markup:
    """Return the raised numbers of footnotes, as links to them; "" for none."""
    one = Markup('<a href="#note-{0}" role="doc-noteref">{0}</a>')
    links = Markup(",").join(one.format(number) for number in numbers)
    return Markup("<sup>{}{}</sup>").format(_GAP, links) if links else Markup("")


def code_in_backticks(text: str) -> Markup:
    """Turn words in backticks of our sentences into code.

    HTML, a note of the spec's author, stays unchanged.
    """
    if isinstance(text, Markup):
        return text
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else _whole(part)
        for index, part in enumerate(re.split(r"`([^`\n]+)`", text))
    )


def link_cells(html: Markup, places: Mapping[str, str]) -> Markup:
    """Link the names of cells in our sentences to the appendix. `places` has their ids."""

    def link(match: re.Match[str]) -> str:
        place = places.get(unescape(match.group()))
        return match.group() if place is None else f'<a class="traced" href="#{place}">{match.group()}</a>'

    return Markup(_CELL.sub(link, str(html)))  # noqa: S704  # HTML before, and part of a sentence after


def shorten_digests_in(text: str) -> str:
    """Shorten a text for paper: the first 12 digits of each digest. The HTML and the side file have all."""
    return _DIGEST.sub(lambda match: f"{match.group()[:12]}…", text)


def keep_units_whole(text: str) -> Markup:
    """Keep units with a stroke whole at the end of a line: USD/Mop."""
    if isinstance(text, Markup):
        return text
    return Markup("").join(
        Markup('<bdi class="whole">{}</bdi>').format(part) if index % 2 else part
        for index, part in enumerate(re.split(r"((?<!\S)[^\s/]{1,12}/[^\s/]{1,12}(?!\S))", text))
    )


def _whole(text: str) -> Markup:
    """Keep a number and a unit with a stroke on one line: 7,120 ops/s."""
    return Markup("").join(
        Markup('<span class="whole">{}</span>').format(part) if index % 2 else part
        for index, part in enumerate(re.split(rf"([\d.,]+{_GAP}[^\s/]+/\w+)", text))
    )
