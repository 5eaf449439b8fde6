"""Measures how a finished PDF fills its pages: blank space, and the places of marks and footnotes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

from pypdf import PdfReader

from tests.support.tools import system_tool

_HEAD, _FOOT = 0.065, 0.935  # shares of a page's height between which its contents stand
_WHITE = 200


def blank_shares(pdf: Path) -> list[float]:
    """For each page, return the share of its height below the last content. Running heads and feet do not count."""
    shares = []
    for width, height, pixels in sheets(pdf):
        top, bottom = int(height * _HEAD), int(height * _FOOT)
        rows = [pixels[row * width : (row + 1) * width] for row in range(top, bottom)]
        last = max((row for row, dots in enumerate(rows, 1) if min(dots) < _WHITE), default=0)
        shares.append(1 - last / len(rows))
    return shares


class Sheet(NamedTuple):
    """How a page looks: its grey levels, row by row from the top."""

    width: int
    height: int
    pixels: bytes


def sheets(pdf: Path, resolution: int = 24) -> Iterator[Sheet]:
    """Yield how the pages look at this resolution, in dots per inch."""
    command = (system_tool("pdftoppm"), "-r", str(resolution), "-gray", pdf)
    drawn = subprocess.run(command, capture_output=True, check=True, timeout=100).stdout
    while drawn:
        head = re.match(rb"P5\s+(\d+) (\d+)\s+255\s", drawn)
        assert head, drawn[:40]
        width, height = int(head[1]), int(head[2])
        end = head.end() + width * height
        yield Sheet(width, height, drawn[head.end() : end])
        drawn = drawn[end:]


class Mark(NamedTuple):
    """The mark of a footnote: its page, the page of its note, and the height of the note there, in points."""

    note: str
    page: int
    note_page: int
    height: float


def marks(pdf: Path) -> list[Mark]:
    reader: Any = PdfReader(pdf)
    numbers = {page.indirect_reference.idnum: number for number, page in enumerate(reader.pages, 1)}
    found = []
    for number, note in _links(reader):
        place = reader.named_destinations[note]
        found.append(Mark(note, number, numbers[place.raw_get("/Page").idnum], float(place["/Top"])))
    return found


def _links(reader: Any) -> Iterator[tuple[int, str]]:
    for number, page in enumerate(reader.pages, 1):
        for annotation in page.get("/Annots") or ():
            target = str(annotation.get_object().get("/Dest") or "")
            if target.startswith("note-"):
                yield number, target


class Word(NamedTuple):
    """A word on a page, with the edges of its box in points from the page's top left corner."""

    text: str
    page: int
    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: Word) -> bool:
        """Return whether the boxes overlap by more than the space around their letters."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return (
            self.page == other.page
            and across > 1
            and down > 0.45 * min(self.bottom - self.top, other.bottom - other.top)
        )


def words(pdf: Path) -> list[Word]:
    """Return all words of a PDF, in the order of the PDF."""
    command = (system_tool("pdftotext"), "-bbox", pdf, "-")
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stdout
    found, page = [], 0
    for line in printed.splitlines():
        page += "<page " in line
        if match := re.search(r'xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">(.*)</word>', line):
            left, top, right, bottom = (float(edge) for edge in match.groups()[:4])
            found.append(Word(unescape(match[5]), page, left, top, right, bottom))
    return found
