"""Pieces of HTML that the builder and the templates share: words in backticks, footnotes and their marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import unescape

from markupsafe import Markup, escape

from benchbrief.reports.view import Note

_GAP = "\N{NO-BREAK SPACE}"
"""Between a number and its mark, thin by the style sheet: without it a text taken from the page reads 1,2342."""

_CELL = re.compile(r"[^\s(<>、，；：（][^\s<>、，；：]*/r?\d+\b")
"""What may be the name of a cell: it has no blanks, and ends in the repeat."""


def marks(numbers: Iterable[int]) -> Markup:
    """The raised numbers of footnotes, as links to them; nothing for none."""
    one = Markup('<a href="#note-{0}" role="doc-noteref">{0}</a>')
    links = Markup(",").join(one.format(number) for number in numbers)
    return Markup("<sup>{}{}</sup>").format(_GAP, links) if links else Markup("")


def footed(html: Markup, notes: Sequence[Note]) -> Markup:
    """A text with each of its notes behind its mark, from where the style sheet of paper takes it to the page's foot.

    That is how CSS has footnotes (Generated Content for Paged Media): the note comes to stand on its mark's page.
    """
    text = str(escape(html))  # what is HTML already stays as it is
    for note in notes:
        foot = Markup('<span class="footnote" id="note-{}"><sup>{}</sup> {}</span>')
        shown = str(foot.format(note.number, note.number, ticked(note.text)))
        mark = re.search(rf'<a href="#note-{note.number}"[^>]*>{note.number}</a>.*?</sup>', text)
        at = mark.end() if mark else len(text)  # none stands within a link of the author's
        text = text[:at] + shown + text[at:]
    return Markup(text)  # noqa: S704  # both were HTML before


def ticked(text: str) -> Markup:
    """A sentence of ours, in which words of a spec or of a command stand in backticks: those become code.

    What is HTML already, a note of the spec's author, is left as it is.
    """
    if isinstance(text, Markup):
        return text
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else _whole(part)
        for index, part in enumerate(re.split(r"`([^`\n]+)`", text))
    )


def traced(html: Markup, places: Mapping[str, str]) -> Markup:
    """A sentence of ours in which the names of cells lead to where the appendix has them: `places` tells their ids."""

    def link(match: re.Match[str]) -> str:
        place = places.get(unescape(match.group()))
        return match.group() if place is None else f'<a class="traced" href="#{place}">{match.group()}</a>'

    return Markup(_CELL.sub(link, str(html)))  # noqa: S704  # HTML before, and part of a sentence after


def _whole(text: str) -> Markup:
    """With what keeps a number and a unit with a stroke in it on one line: 7,120 ops/s."""
    return Markup("").join(
        Markup('<span class="whole">{}</span>').format(part) if index % 2 else part
        for index, part in enumerate(re.split(rf"([\d.,]+{_GAP}[^\s/]+/\w+)", text))
    )
