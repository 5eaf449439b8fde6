"""Reads a finished brief: the file of its numbers, and the visible text of each number."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data.numbers_file import ATTACHMENT, FORMAT, Number, NumbersFile
from benchbrief.runners.plain_files import read_plain

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader


MOST_OF_A_BRIEF = 1 << 30
"""Bytes."""


@dataclass(frozen=True)
class Edited:
    """A number that the document shows differently from the file of its numbers; "" where one of them lacks it."""

    id: str
    place: str
    recorded: str
    found: str


@dataclass(frozen=True)
class Brief:
    """`edited` is None where only the side file was given. `whole` says whether an HTML page is, to the byte, what
    its side file says; None where that is unknown, as for a PDF, of which only the marked numbers are read. `sha256`
    is of the document; `side` is the path of its side file, with its SHA-256; `attached` maps other attachments of a
    PDF to their SHA-256."""

    numbers: NumbersFile
    edited: tuple[Edited, ...] | None
    whole: bool | None = None
    sha256: str = ""
    side: tuple[str, str] | None = None
    attached: Mapping[str, str] | None = None


def read_brief(path: Path) -> Brief:
    """Read a PDF, an HTML page with its side file beside it, or a side file alone. Raises ReportError."""
    try:
        content = read_plain(path, most=MOST_OF_A_BRIEF)
    except OSError as error:
        raise ReportError(f"{path} can't be read: {error.strerror}", "name a brief: its PDF, HTML or JSON") from error
    digest = hashlib.sha256(content).hexdigest()
    if content.startswith(b"%PDF"):
        return _of_pdf(path, digest)
    if path.suffix.lower() == ".json" or content.lstrip()[:1] == b"{":
        return Brief(_numbers(content, path), None, sha256=digest)
    numbers, side = _beside(path)
    whole = digest == numbers.page_sha256 if numbers.page_sha256 else None
    spans = _Spans()
    spans.feed(content.decode("utf-8", "replace"))
    if numbers.numbers and not spans.found:
        raise _unmarked(path)
    return Brief(numbers, tuple(_edited_html(numbers.numbers, spans.found)), whole, digest, side)


def _unmarked(path: Path) -> ReportError:
    """Return whether no number is marked, so that edits can't be found."""
    return ReportError(
        f"{path} marks none of its numbers: it is not the PDF or HTML that was made, but was printed, converted or "
        "saved by another program",
        f"verify what `bench report` wrote, or the numbers alone: bench verify {path.with_suffix('.json')}",
    )


def _beside(path: Path) -> tuple[NumbersFile, tuple[str, str]]:
    """Return the side file, with its path and its SHA-256."""
    side = path.with_suffix(".json")
    try:
        content = read_plain(side, most=MOST_OF_A_BRIEF)
        return _numbers(content, side), (side.name, hashlib.sha256(content).hexdigest())
    except OSError as error:
        is_pdf = path.suffix.lower() == ".pdf"
        lost = "; the PDF has lost the one that was inside" if is_pdf else ""
        raise ReportError(
            f"{side}, which has the numbers of {path.name}, can't be read: {error.strerror}{lost}",
            f"put it beside the {'PDF' if is_pdf else 'page'}, or verify the PDF as it was made, which has it inside",
        ) from error


def _numbers(content: bytes, path: Path) -> NumbersFile:
    try:
        return NumbersFile.model_validate_json(content)
    except ValidationError as error:
        kind = "another version of" if FORMAT.encode() in content else "no"
        raise ReportError(
            f"{path} is {kind} file of a brief's numbers", "name a brief's PDF, or the JSON file beside it"
        ) from error


def _squeezed(text: str) -> str:
    """Remove blanks: a document may have others where a line ends."""
    return re.sub(r"\s", "", text)


# --- HTML --------------------------------------------------------------------------------------------------------


class _Spans(HTMLParser):
    """The text of each element that is marked as a number."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._id = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag in ("a", "span") and (known.get("class") or "").split()[:1] == ["num"] and known.get("id"):
            self._id = known["id"] or ""
            self.found[self._id] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag in ("a", "span"):
            self._id = ""

    def handle_data(self, data: str) -> None:
        if self._id:
            self.found[self._id] += data


def _edited_html(numbers: Sequence[Number], shown: Mapping[str, str]) -> Iterator[Edited]:
    for number in numbers:
        found = shown.get(number.id, "")
        if _squeezed(found) != _squeezed(number.shown):
            yield Edited(number.id, number.place, number.shown, found)
    known = {number.id for number in numbers}
    for id_, found in shown.items():
        if id_ not in known:
            yield Edited(id_, "", "", found)


# --- PDF ---------------------------------------------------------------------------------------------------------


def _of_pdf(path: Path, digest: str) -> Brief:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(path)
        attached = {name: contents[0] for name, contents in reader.attachments.items()}
        inside = attached.pop(ATTACHMENT, None)
        numbers, side = (_numbers(inside, path), None) if inside is not None else _beside(path)
        marked = list(marked_in(reader, spans=numbers.provenance == "none"))
    except (
        PyPdfError,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
    ) as error:  # pypdf raises these for damaged files
        raise ReportError(f"{path} can't be read as a PDF: {error}", "render it again: `bench report`") from error
    if not marked and any(number.linked for number in numbers.numbers):
        raise _unmarked(path)
    others = {name: hashlib.sha256(content).hexdigest() for name, content in attached.items()}
    return Brief(numbers, tuple(edited_in(marked, numbers)), None, digest, side, others)


def edited_in(marked: Iterable[tuple[str, str]], file: NumbersFile) -> Iterator[Edited]:
    """Return the numbers that a PDF shows differently from the file, or that one of them lacks. `marked` is what the
    PDF marks, some of it in pieces."""
    rows = {query.id: query.source for query in file.queries}
    numbers = [number for number in file.numbers if number.linked]
    by_row: dict[str, list[str]] = {}
    for row, text in marked:
        by_row.setdefault(row, []).append(_squeezed(text))
    for row in dict.fromkeys(rows[number.query] for number in numbers):
        found = by_row.get(row, [])
        for number in (number for number in numbers if rows[number.query] == row):
            wanted = _squeezed(number.shown)
            text = found.pop(0) if found else ""
            while text != wanted and found and wanted.startswith(text + found[0]):  # broken at the end of a line
                text += found.pop(0)
            if text != wanted:
                yield Edited(number.id, number.place, number.shown, text)
    links = file.figures if file.provenance != "none" else ()
    captions = {rows[series.query] for figure in links for series in figure.series}
    for row, found in by_row.items():
        # The next page repeats a table's head; captions of figures link to rows of their own.
        again = {_squeezed(number.shown) for number in numbers if rows[number.query] == row}
        if again or row not in captions:
            yield from (Edited("", "", "", text) for text in found if text not in again)


def marked_in(reader: PdfReader, *, spans: bool) -> Iterator[tuple[str, str]]:
    """Return each link to a row of the appendix, in the order of the structure tree, with its marked text.

    Links of figures' captions are among them; their rows differ from those of numbers. With `spans`, the document
    has no appendix: its numbers are the spans that contain another span, with "" for a row.
    """
    pages = {page.indirect_reference.idnum: page for page in reader.pages if page.indirect_reference}
    texts: dict[int, dict[int, str]] = {}
    root: Any = reader.trailer["/Root"]
    tree = root.get("/StructTreeRoot")
    if tree is None:
        raise ValueError("it has no tags, so that its numbers can't be found")
    pending: list[tuple[Any, int]] = [(tree.get_object(), -1)]
    while pending:
        element, page = pending.pop()
        if "/Pg" in element:
            page = element.raw_get("/Pg").idnum
        kids = _kids(element)
        row, marks, is_link = "", list[int](), element.get("/S") == "/Link"
        if is_link:
            row = next((str(dest) for kid in kids if (dest := _destination(kid))), "")
            marks = [kid for kid in kids if isinstance(kid, int)]
        elif spans and element.get("/S") == "/Span":
            inner = [part for kid in kids if _is_span(kid) for part in _kids(kid)]
            marks = [mark for part in inner if _is_span(part) for mark in _kids(part) if isinstance(mark, int)]
        if marks and page in pages and (row.startswith("source-") or not is_link):
            if page not in texts:
                texts[page] = marked_texts(pages[page])
            yield row, "".join(texts[page].get(mark, "") for mark in marks)
        if marks or is_link:
            continue
        pending += [(kid, page) for kid in reversed(kids) if not isinstance(kid, int)]


def _is_span(kid: Any) -> bool:
    return not isinstance(kid, int) and kid.get("/S") == "/Span"


def _kids(element: Any) -> list[Any]:
    kids = element.get("/K")
    if kids is None:
        return []
    kids = kids.get_object()
    return [kid.get_object() for kid in kids] if isinstance(kids, list) else [kids]


def _destination(kid: Any) -> Any:
    """Return where the link of an annotation's reference leads."""
    if isinstance(kid, int) or kid.get("/Type") != "/OBJR":
        return None
    return kid["/Obj"].get_object().get("/Dest")


def marked_texts(page: PageObject) -> dict[int, str]:
    """Return the text of each marked piece of a page's content."""
    texts: dict[int, str] = {}
    current: list[int] = []

    def before(operator: Any, operands: Any, _cm: Any, _tm: Any) -> None:
        if operator == b"BDC":
            current.append(int(operands[1].get("/MCID", -1)))
        elif operator == b"BMC":
            current.append(-1)
        elif operator == b"EMC" and current:
            current.pop()

    def text(piece: str, _cm: Any, _tm: Any, _font: Any, _size: Any) -> None:
        if current:
            texts[current[-1]] = texts.get(current[-1], "") + piece

    page.extract_text(visitor_operand_before=before, visitor_text=text)
    return texts
