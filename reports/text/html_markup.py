"""Makes pieces of HTML for the builder and the templates: words in backticks, footnotes and footnote marks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from html import unescape
from typing import TypeVar

from markupsafe import Markup


def letters(text: str) -> str:
    """Return only the characters that a style sheet's line breaks, hyphens and `text-transform` do not change."""
    return "".join(sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalnum())


_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Matches characters that are not a `Char` of XML 1.0 (section 2.2): most control characters, lone surrogates, U+FFFE
and U+FFFF."""

T = TypeVar("T")


def writable(value: T) -> T:
    """Replace each character that XML does not allow with U+FFFD, in a text or in all texts of lists and mappings.

    `bench check` refuses such characters in a spec. Other texts come from imports, hosts and runs of earlier versions.
    """
    found: object = value
    if isinstance(value, str):
        found = _UNWRITABLE.sub("\ufffd", value)
    elif isinstance(value, dict):
        found = {writable(key): writable(inner) for key, inner in value.items()}
    elif isinstance(value, list | tuple):
        found = [writable(inner) for inner in value]
    return found  # type: ignore[return-value]  # of the same kind, but for a tuple, which JSON has as a list


_DIGEST = re.compile(r"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")
_GAP = "\N{NO-BREAK SPACE}"
"""The blank between a number and its mark, which the style sheet makes thin. Without it, copied text might read 1,2342.
"""

_SUP = re.compile(rf'<sup(?: class="beside")?>{_GAP}?((?:<a href="#note-[0-9]+"[^>]*>[a-z]+</a>,?)+)</sup>')
"""Matches the marks of footnotes, which are links."""
_CELL = re.compile(r"[^\s(<>、，；：（][^\s<>、，；：]*/r?\d+\b")
"""Matches a cell's name, which has no blanks and ends with a repeat."""


def note_marks(numbers: Iterable[int], gap: str = _GAP) -> Markup:
    """Return the raised letters of footnotes as links to the footnotes, or "" if there are none. Marks after a full
    stop need no `gap`."""
    links = _links(numbers)
    return Markup("<sup>{}{}</sup>").format(gap, links) if links else links


def marks_beside_number(numbers: Iterable[int]) -> Markup:
    """Return marks like `note_marks`. The style sheet places them beside the column, so that the column's digits line
    up."""
    links = _links(numbers)
    return Markup('<sup class="beside">{}{}</sup>').format(_GAP, links) if links else links


def note_letter(number: int) -> str:
    """Return the mark of a footnote, such as a to z, aa, ab. A brief's limits have numbers and not letters."""
    letter = chr(ord("a") + (number - 1) % 26)
    return letter if number <= 26 else note_letter((number - 1) // 26) + letter


def _links(numbers: Iterable[int]) -> Markup:
    one = Markup('<a href="#note-{}" role="doc-noteref">{}</a>')
    return Markup(",").join(one.format(number, note_letter(number)) for number in numbers)


def lift_marks(html: Markup) -> tuple[Markup, tuple[int, ...]]:
    """Split a piece of HTML into its text without footnote marks, and the footnotes' numbers."""
    text = str(html)
    numbers = [int(number) for marks in _SUP.findall(text) for number in re.findall(r'href="#note-(\d+)"', marks)]
    return Markup(_SUP.sub("", text)), tuple(dict.fromkeys(numbers))  # noqa: S704  # HTML before


def code_in_backticks(text: str) -> Markup:
    """Mark the words in backticks in our sentences as code.

    HTML stays unchanged, because it is a note by the spec's author.
    """
    if isinstance(text, Markup):
        return text
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else _whole(part)
        for index, part in enumerate(re.split(r"`([^`\n]+)`", text))
    )


def link_cells(html: Markup, places: Mapping[str, str]) -> Markup:
    """Link the names of cells in our own sentences to the appendix. `places` maps cells to ids in the appendix."""

    def link(match: re.Match[str]) -> str:
        place = places.get(unescape(match.group()))
        return match.group() if place is None else f'<a class="traced" href="#{place}">{match.group()}</a>'

    return Markup(_CELL.sub(link, str(html)))  # noqa: S704  # HTML before, and part of a sentence after


def plain_text(html: Markup) -> str:
    """Return the text of a piece of HTML, without footnote marks."""
    return Markup(re.sub(r"<sup\b.*?</sup>", "", str(html), flags=re.DOTALL)).striptags()  # noqa: S704  # HTML before


def shorten_digests_in(text: str) -> str:
    """Shorten each digest in a text for paper to its first 12 digits. The HTML and the side file have all digits."""
    return _DIGEST.sub(lambda match: f"{match.group()[:12]}…", text)


_UNIT = r"(?<!\S)[^\s/]{1,12}/[^\s/]{1,12}(?!\S)"
_VERSION = r"(?<!\S)(?=[^\s-]*\d)[^\s-]+-[^\s;,、）]{1,24}"


def keep_units_whole(text: str) -> Markup:
    """Keep units with a slash, such as USD/Mop, and versions, such as 6.1.0-18, from being broken across lines."""
    if isinstance(text, Markup):
        return text
    return Markup("").join(
        Markup('<bdi class="whole">{}</bdi>').format(part) if index % 2 else part
        for index, part in enumerate(re.split(rf"({_UNIT}|{_VERSION})", text))
    )


def _whole(text: str) -> Markup:
    """Keep a number and a unit with a slash, such as 7,120 ops/s, on one line."""
    return Markup("").join(
        Markup('<bdi class="whole">{}</bdi>').format(part) if index % 2 else part
        for index, part in enumerate(re.split(rf"([\d.,]+{_GAP}[^\s/]+/\w+)", text))
    )
