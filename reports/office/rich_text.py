"""Reads the HTML of a view as paragraphs of runs, for files other than HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Literal

from markupsafe import Markup, escape

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.view_model import Footnote
from benchbrief.reports.text.html_markup import code_in_backticks, note_letter, note_marks, writable
from benchbrief.reports.text.line_ends import close_up
from benchbrief.reports.text.number_format import locale

_BLOCKS = {"p", "li", "pre", "blockquote", "div", "tr", "h1", "h2", "h3", "h4", "h5", "h6"}
_BOLD, _ITALIC, _CODE = {"b", "strong", "th"}, {"i", "em"}, {"code", "pre"}
_NOTE = re.compile(r"#note-(\d+)")
_WEB = ("http://", "https://", "mailto:")


@dataclass(frozen=True)
class Run:
    """A piece of text with a uniform look. `note` is the number of the footnote that it marks, `number` is the id of a
    number of the ledger, `link` is a web address, and `colour` is the run's own colour."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    raised: bool = False
    link: str = ""
    note: int = 0
    number: str = ""
    colour: str = ""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph. `item` is the kind of list if it is a list item, and `level` is its depth in that list. With a
    `hang`, the paragraph begins with a term and a tab, and its other lines are indented by this many multiples of the
    type size, so that all of its text is beside the term. `above` is additional space before the paragraph, in points.
    """

    runs: tuple[Run, ...]
    item: Literal["", "bullet", "number"] = ""
    level: int = 0
    hang: float = 0.0
    above: float = 0.0

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


def paragraphs(html: str | Markup | None) -> tuple[Paragraph, ...]:
    """Return the paragraphs of a piece of HTML, or of a plain text with code in backticks."""
    if not html:
        return ()
    reader = _Reader()
    reader.feed(str(code_in_backticks(html) if not isinstance(html, Markup) else html))
    reader.close()
    reader.end()
    return tuple(reader.found)


def runs_of(html: str | Markup | None, marks: Iterable[int] = ()) -> tuple[Run, ...]:
    """Return the runs of a one-line text, followed by the runs of its footnote marks."""
    marked = Markup("{}{}").format(html or "", note_marks(marks))
    lines = [paragraph.runs for paragraph in paragraphs(marked)]
    return tuple(run for i, line in enumerate(lines) for run in ((Run(" "), *line) if i else line))


def note_runs(note: Footnote) -> tuple[Run, ...]:
    """Return a footnote with its mark."""
    return (Run(note_letter(note.number), raised=True), Run(" "), *runs_of(code_in_backticks(note.text)))


def joined(parts: Iterable[str | Markup]) -> Markup:
    """Join texts one after another, leaving out the empty ones."""
    return Markup(" ").join(escape(part) for part in parts if part)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Paragraph] = []
        self._runs: list[Run] = []
        self._open: list[tuple[str, Run]] = [("", Run(""))]
        """The open tags, each with the look of the text in it."""
        self._lists: list[Literal["bullet", "number"]] = []
        self._item: Literal["", "bullet", "number"] = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "br":
            self._add("\n")
            return
        if tag in _BLOCKS:
            self.end()
        if tag in ("ul", "ol"):
            self.end()
            self._lists.append("bullet" if tag == "ul" else "number")
        if tag == "li":
            self._item = self._lists[-1] if self._lists else "bullet"
        if tag in ("td", "th") and self._runs:
            self._add("\t")
        look = self._open[-1][1]
        look = replace(
            look,
            bold=look.bold or tag in _BOLD,
            italic=look.italic or tag in _ITALIC,
            code=look.code or tag in _CODE,
            raised=look.raised or tag == "sup",
        )
        if "num" in (named.get("class") or "").split():
            look = replace(look, number=named.get("id") or "")
        if tag == "a":
            address = named.get("href") or ""
            note = _NOTE.match(address)
            look = replace(look, note=int(note[1]) if note else 0, link=address if address.startswith(_WEB) else "")
        self._open.append((tag, look))

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.end()
        if tag in ("ul", "ol") and self._lists:
            self.end()
            self._lists.pop()
        for place in range(len(self._open) - 1, 0, -1):
            if self._open[place][0] == tag:
                del self._open[place:]
                return

    def handle_data(self, data: str) -> None:
        look = self._open[-1][1]
        data = close_up(data) if locale().name == "ja" and not look.code else data
        self._add(data if look.code and any(tag == "pre" for tag, _ in self._open) else re.sub("[ \t\r\n]+", " ", data))

    def _add(self, text: str) -> None:
        if text and (self._runs or text.strip(" ")):
            self._runs.append(replace(self._open[-1][1], text=writable(text)))

    def end(self) -> None:
        """End the paragraph, and drop the blanks at its end. Without any text, there is no paragraph."""
        runs = self._runs
        while runs and not runs[-1].text.strip(" \n"):
            runs.pop()
        if runs:
            runs[-1] = replace(runs[-1], text=runs[-1].text.rstrip(" \n"))
            self.found.append(Paragraph(tuple(runs), self._item, max(0, len(self._lists) - 1)))
        self._runs, self._item = [], ""
