"""Reads the texts of an office file: each paragraph, row of a table and series of a chart, with its place."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import precision
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.office.read_package import Attributes, Package
from benchbrief.reports.text.number_format import locale

Kind = Literal["pptx", "xlsx", "docx"]
MAIN_PARTS: dict[Kind, str] = {
    "pptx": "ppt/presentation.xml",
    "xlsx": "xl/workbook.xml",
    "docx": "word/document.xml",
}
LONG = 2 << 20
"""The largest size in bytes of a sheet that is read. Longer sheets contain the points of a run, and no numbers of the
ledger."""
_MOST_TEXTS = 200_000


@dataclass(frozen=True)
class FileText:
    """A paragraph, or the cells of a row. For a chart's series (`drawn`), the cells are its name and its values.
    `values` are the numbers in cells of a sheet, and `columns` are the columns of those cells."""

    place: str
    cells: tuple[str, ...]
    values: tuple[float | None, ...] = ()
    columns: tuple[int, ...] = ()
    drawn: bool = False

    def where(self, at: int) -> str:
        """Return the place of the cell with this index: the place of its row and, in a sheet, the letters of its
        column."""
        return f"{self.place}, cell {column_letters(self.columns[at])}" if at < len(self.columns) else self.place


@dataclass
class FileTexts:
    """The texts of a file. `unread` are the sheets that are too long to be read."""

    texts: list[FileText] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def add(self, text: FileText, name: str) -> None:
        if len(self.texts) >= _MOST_TEXTS:
            raise ReportError(f"{name} has more texts than any brief", "verify the file as `bench report` wrote it")
        self.texts.append(text)


def kind_of(package: Package) -> Kind:
    """Return the kind of an office file. Raises ReportError for any other file."""
    for kind, part in MAIN_PARTS.items():
        if part in package.names:
            return kind
    raise ReportError(f"{package.name} is no pptx, xlsx or docx file", "name a brief as `bench report` wrote it")


def texts_of(package: Package, unread: Iterable[str] = ()) -> FileTexts:
    """Return the texts of a file in their order. Sheets that are in `unread` are left out. Raises ReportError."""
    found = FileTexts(unread=list(unread))
    read = {"pptx": _slides, "docx": _document, "xlsx": _sheets}[kind_of(package)]
    for text in read(package, found.unread):
        found.add(text, package.name)
    return found


def column_letters(column: int) -> str:
    """Return the letters of a column number counted from 1, such as A, Z, AA."""
    found = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        found = chr(ord("A") + rest) + found
    return found


def plain(text: str) -> str:
    """Return a text with single blanks, because a program may have added further ones."""
    return re.sub(r"\s+", " ", text).strip()


# --- slides and documents ----------------------------------------------------------------------------------------


class _Prose:
    """Gathers the paragraphs and table rows of a part. DrawingML and WordprocessingML use the same names for them."""

    def __init__(self) -> None:
        self.found: list[tuple[str, ...]] = []
        self._open: list[list[str]] = []
        self._rows: list[list[str]] = []
        self._cells: list[list[str]] = []
        self._skipped = self._in_text = 0
        self._fields: list[bool] = []

    def start(self, tag: str, attributes: Attributes) -> None:
        if self._skipped or tag in ("Fallback", "fldSimple", "fld", "delText", "instrText"):
            self._skipped += 1
            return
        match tag:
            case "p":
                self._open.append([])
            case "tr":
                self._rows.append([])
            case "tc":
                self._cells.append([])
            case "t":
                self._in_text += 1
            case "br" | "cr" | "tab" if self._open:
                self._open[-1].append(" ")
            case "fldChar":
                self._field(attributes.get("fldCharType", ""))

    def _field(self, kind: str) -> None:
        """Follow a field of a document, such as a page number. The text between its marks `separate` and `end` is left
        out, because office programs compute it."""
        if kind == "begin":
            self._fields.append(False)
        elif kind == "separate" and self._fields:
            self._fields[-1] = True
        elif kind == "end" and self._fields:
            self._fields.pop()

    def text(self, text: str) -> None:
        if self._in_text and not self._skipped and self._open and not any(self._fields):
            self._open[-1].append(text)

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        match tag:
            case "t":
                self._in_text -= 1
            case "p" if self._open:
                self._said(plain("".join(self._open.pop())))
            case "tc" if self._cells:
                said = " ".join(filter(None, self._cells.pop()))
                if self._rows:
                    self._rows[-1].append(said)
            case "tr" if self._rows:
                row = tuple(self._rows.pop())
                if any(row):
                    self.found.append(row)

    def _said(self, text: str) -> None:
        if not text:
            return
        if self._cells:
            self._cells[-1].append(text)
        else:
            self.found.append((text,))


def _prose(package: Package, part: str) -> list[tuple[str, ...]]:
    reader = _Prose()
    package.parse(part, reader.start, reader.end, reader.text)
    return reader.found


def _slides(package: Package, _unread: list[str]) -> Iterator[FileText]:
    main, order = MAIN_PARTS["pptx"], list[str]()

    def start(tag: str, attributes: Attributes) -> None:
        if tag == "sldId":
            order.append(attributes.get("r:id", ""))

    package.parse(main, start)
    slides = package.related(main, "/slide")
    for number, slide in enumerate((slides[each] for each in order if each in slides), 1):
        yield from _of_part(package, slide, f"slide {number}")
        for notes in package.related(slide, "/notesSlide").values():
            yield from (FileText(f"slide {number}, notes", cells) for cells in _prose(package, notes))


def _document(package: Package, _unread: list[str]) -> Iterator[FileText]:
    main = MAIN_PARTS["docx"]
    for number, cells in enumerate(_prose(package, main), 1):
        yield FileText(f"{'paragraph' if len(cells) == 1 else 'table row'} {number}", cells)
    yield from _charts(package, main, "")
    for kind, name in (("footnotes", "footnote"), ("endnotes", "endnote"), ("header", "header"), ("footer", "footer")):
        for part in package.related(main, f"/{kind}").values():
            yield from (FileText(name, cells) for cells in _prose(package, part))


def _of_part(package: Package, part: str, place: str) -> Iterator[FileText]:
    yield from (FileText(place, cells) for cells in _prose(package, part))
    yield from _charts(package, part, place)


def _charts(package: Package, part: str, place: str) -> Iterator[FileText]:
    for number, chart in enumerate(sorted(package.related(part, "/chart").values(), key=_in_order), 1):
        reader = _Chart()
        package.parse(chart, reader.start, reader.end, reader.text)
        where = ", ".join(filter(None, (place, f"chart {number}")))
        yield from (FileText(where, (said,)) for said in reader.titles)
        stored = _embedded(package, chart)
        for name, found in reader.found:
            values = tuple(_with_stored(value, stored.get(place)) for value, place in found)
            numbers = tuple(_number(value) for value in values)
            yield FileText(f"{where}, series {name}" if name else where, (name, *values), (None, *numbers), drawn=True)


_Place = tuple[int, int]
"""The column and the row of a cell, counted from 1."""
_MOST_EMBEDDED = 16 << 20


def _embedded(package: Package, chart: str) -> dict[_Place, float]:
    """Return the numbers of the workbook inside a chart. Programs redraw the chart from them."""
    found: dict[_Place, float] = {}
    for part in package.related(chart, "/package").values():
        inner = Package(package.read(part), f"{part} of {package.name}", most=_MOST_EMBEDDED)
        rows = _sheets(inner, []) if MAIN_PARTS["xlsx"] in inner.names else ()
        for row in rows:
            number = int(row.place.rpartition(" ")[2])
            cells = zip(row.columns, row.values, strict=True)
            found |= {(column, number): value for column, value in cells if value is not None}
    return found


def _with_stored(shown: str, stored: float | None) -> str:
    """Return a chart's shown value. If the value in its workbook is different, add that value."""
    value = _number(shown)
    if stored is None or value is None or math.isclose(value, stored, rel_tol=1e-9, abs_tol=1e-300):
        return shown
    return f"{shown}, in its workbook {stored:.12g}"


def _in_order(part: str) -> tuple[int, str]:
    number = re.search(r"(\d+)\.xml$", part)
    return (int(number[1]) if number and len(number[1]) < 10 else 0, part)


_VALUES = {"val", "yVal", "xVal"}
_CELLS = re.compile(r"[^!]*!\$?([A-Z]{1,3})\$?(\d{1,7})\b.*")


class _Chart:
    """Gathers the titles of a chart, and its series with their stored values. Each stored value also has a cell in the
    chart's workbook."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self.found: list[tuple[str, list[tuple[str, _Place]]]] = []
        self._path: list[str] = []
        self._pieces: list[str] = []
        self._first, self._at = (0, 0), 0

    def start(self, tag: str, attributes: Attributes) -> None:
        self._path.append(tag)
        self._pieces = []
        if tag == "ser":
            self.found.append(("", []))
        elif tag in _VALUES:
            self._first = (0, 0)
        elif tag == "pt":
            self._at = _whole(attributes.get("idx", ""), 0)

    def text(self, text: str) -> None:
        self._pieces.append(text)

    def end(self, tag: str) -> None:
        if tag == "v" and self.found and "ser" in self._path:
            (name, values), text = self.found[-1], "".join(self._pieces)
            if "tx" in self._path:
                self.found[-1] = (plain(f"{name} {text}"), values)
            elif _VALUES & set(self._path):
                said = f"{number:.12g}" if (number := _number(text)) is not None else plain(text)
                values.append((said, (self._first[0], self._first[1] + self._at)))
        elif tag == "f" and _VALUES & set(self._path) and (cells := _CELLS.fullmatch("".join(self._pieces))):
            self._first = _column(cells[1]), int(cells[2])
        elif tag == "t" and "title" in self._path and (said := plain("".join(self._pieces))):
            self.titles.append(said)
        self._path.pop()


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


# --- sheets ------------------------------------------------------------------------------------------------------


def _sheets(package: Package, unread: list[str]) -> Iterator[FileText]:
    main, named = MAIN_PARTS["xlsx"], list[tuple[str, str]]()

    def start(tag: str, attributes: Attributes) -> None:
        if tag == "sheet":
            named.append((attributes.get("name", ""), attributes.get("r:id", "")))

    package.parse(main, start)
    parts = package.related(main, "/worksheet")
    shared = [text for part in package.related(main, "/sharedStrings").values() for text in _shared(package, part)]
    formats = [form for part in package.related(main, "/styles").values() for form in _formats(package, part)]
    for name, place in named:
        part = parts.get(place, "")
        if name in unread or package.size(part) > LONG:
            unread += [name] if name not in unread else []
            continue
        reader = _Rows(name, shared, formats)
        if part:
            package.parse(part, reader.start, reader.end, reader.text)
        yield from reader.found


def _shared(package: Package, part: str) -> list[str]:
    found: list[str] = []
    is_text = is_reading_aid = False

    def start(tag: str, _attributes: Attributes) -> None:
        nonlocal is_text, is_reading_aid
        is_reading_aid |= tag == "rPh"  # how Japanese words are read
        is_text = tag == "t" and not is_reading_aid
        if tag == "si":
            found.append("")

    def text(text: str) -> None:
        if is_text and found:
            found[-1] += text

    def end(tag: str) -> None:
        nonlocal is_text, is_reading_aid
        is_text, is_reading_aid = False, is_reading_aid and tag != "rPh"

    package.parse(part, start, end, text)
    return found


_BUILT_IN = {1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%"}


def _formats(package: Package, part: str) -> list[str]:
    """Return the number format of each cell style."""
    codes, found, inside = dict[str, str](), list[str](), False

    def start(tag: str, attributes: Attributes) -> None:
        nonlocal inside
        inside |= tag == "cellXfs"
        own = attributes.get("numFmtId", "0")
        if tag == "numFmt":
            codes[own] = attributes.get("formatCode", "")
        elif tag == "xf" and inside:
            usual = _BUILT_IN.get(int(own), "") if own.isascii() and own.isdigit() and len(own) < 6 else ""
            found.append(codes.get(own, usual))

    def end(tag: str) -> None:
        nonlocal inside
        inside &= tag != "cellXfs"

    package.parse(part, start, end)
    return found


class _Rows:
    """Gathers the rows of a sheet. Numbers are gathered in the form that is shown."""

    def __init__(self, name: str, shared: list[str], formats: list[str]) -> None:
        self.found: list[FileText] = []
        self._name, self._shared, self._formats = name, shared, formats
        self._row = self._column = 0
        self._cells: list[tuple[int, str, float | None]] = []
        self._kind, self._style = "n", 0
        self._pieces: list[str] = []
        self._formula: list[str] | None = None
        self._keeps: list[str] | None = None

    def start(self, tag: str, attributes: Attributes) -> None:
        self._keeps = None
        match tag:
            case "row":
                self._row = _whole(attributes.get("r", ""), self._row + 1)
                self._cells, self._column = [], 0
            case "c":
                letters = re.match("[A-Z]{1,3}", attributes.get("r", ""))
                self._column = _column(letters[0]) if letters else self._column + 1
                self._kind, self._style = attributes.get("t", "n"), _whole(attributes.get("s", ""), 0)
                self._pieces, self._formula = [], None
            case "v" | "t":
                self._keeps = self._pieces
            case "f":
                self._keeps = self._formula = []

    def text(self, text: str) -> None:
        if self._keeps is not None:
            self._keeps.append(text)

    def end(self, tag: str) -> None:
        self._keeps = None
        if tag == "c" and (any(self._pieces) or self._formula is not None):
            self._cells.append((self._column, *self._said()))
        elif tag == "row" and self._cells:
            columns, texts, values = zip(*self._cells, strict=True)
            self.found.append(FileText(f"sheet {self._name}, row {self._row}", texts, values, columns))

    def _said(self) -> tuple[str, float | None]:
        said = "".join(self._pieces)
        if self._formula is not None:  # no brief has formulas, and the value shown may be outdated
            return plain(f"={''.join(self._formula)} ({said})"), None
        match self._kind:
            case "s":
                at = _whole(said, -1)
                return (plain(self._shared[at]) if 0 <= at < len(self._shared) else ""), None
            case "n":
                value = _number(said)
                form = self._formats[self._style] if 0 <= self._style < len(self._formats) else ""
                return (plain(said), None) if value is None else (shown_by(value, form), value)
            case _:
                return plain(said), None


def _whole(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


_FORMAT = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[[^\]]*\]|_.|\*.|(?P<digits>[#0,.]+)|(?P<sign>.)', re.DOTALL
)


def shown_by(value: float, form: str) -> str:
    """Return a number as a program shows it in a simple format. For any other format, return it unchanged."""
    before, digits, after, per_cent = "", "", "", False
    for part in _FORMAT.finditer(form.partition(";")[0] if '"' not in form else form):
        if part["digits"] and digits:
            return f"{value:.12g}"
        literal = part["quoted"] or part["escaped"] or part["sign"] or ""
        if part["sign"] and part["sign"] not in " -+()%$€¥£≥≤≈≳≲–−":
            return f"{value:.12g}"
        per_cent |= part["sign"] == "%"
        digits = part["digits"] or digits
        if not part["digits"]:
            before, after = (before + literal, after) if not digits else (before, after + literal)
    if not digits:
        return f"{value:.12g}"
    decimals = len(digits.partition(".")[2])
    text = precision.formatted(value * 100 if per_cent else value, f"{',' if ',' in digits else ''}.{decimals}f")
    return plain(before + locale().numerals(text.replace("-", "−")) + after)
