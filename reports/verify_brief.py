"""Verifies a finished brief: reads its side file and the numbers on its pages, and recomputes each number
from a store."""

from __future__ import annotations

import hashlib
import math
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from pydantic import ValidationError

from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import plan as p
from benchbrief.model.node import Node
from benchbrief.model.plan import DimKey, Plan
from benchbrief.model.precision import printed_as
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data import imported_briefs
from benchbrief.reports.data.gaps import told
from benchbrief.reports.data.numbers_file import (
    ATTACHMENT,
    FORMAT,
    OF_DISCLOSURE,
    CellEntry,
    Document,
    NumberEntry,
    NumbersFile,
    QueryEntry,
)
from benchbrief.reports.data.report_data import AskedStore, Results, run_row
from benchbrief.reports.data.tables import keep_elements_with_data, shown_table
from benchbrief.reports.data.view_model import MissingPart
from benchbrief.reports.disclosure.number_ledger import each_entry, kind_of
from benchbrief.reports.disclosure.run_origin import disclose_origin
from benchbrief.reports.notices.number_marks import letters_in
from benchbrief.reports.office.edited_texts import compare_texts
from benchbrief.reports.office.file_texts import texts_of
from benchbrief.reports.office.kept_ledger import KeptLedger, kept_ledger
from benchbrief.reports.office.read_package import MOST_OF_ALL, Package
from benchbrief.reports.text.number_format import Locale, written_as
from benchbrief.reports.view.said_claims import say_claims
from benchbrief.reports.words.brief_words import CATALOGUES, words_of
from benchbrief.results.result_messages import changed_text
from benchbrief.results.runs.kept_files import MadeReports, changed_file, changed_in_run, held_out_runs, kept_outputs
from benchbrief.results.store.searched_doubts import Doubt
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.journal.atomic_files import sha256_of
from benchbrief.runners.plain_files import read_plain

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader
    from pypdf.generic import EmbeddedFile

MOST_OF_A_BRIEF = 1 << 30
"""The most bytes of a brief to read."""


@dataclass(frozen=True)
class Edited:
    """A number that the document shows as `found`, but its side file as `recorded`. If one of them lacks the number,
    that field is ""."""

    id: str
    place: str
    recorded: str
    found: str


@dataclass(frozen=True)
class FinishedBrief:
    """A brief as it was read. `edited` is None if only the side file was given. `whole` says whether an HTML page
    equals, byte by byte, the one recorded in its side file. It is None if that is unknown, as for a PDF, since only the
    marked numbers of a PDF are read. `sha256` is the document's digest, and `side` is the path of its side file with
    its SHA-256. `attached` maps other attachments of a PDF to their SHA-256. `document` says whether this is the brief
    or its disclosure. `others` maps each document that belongs to it and is in the same folder to its problem, or to ""
    if it has none. The numbers of these documents are in `edited`, too. In an office file, `added` are the places of
    texts with numbers that were added since it was made, and `unread` are the sheets that are too long to read.
    """

    numbers: NumbersFile
    edited: tuple[Edited, ...] | None
    whole: bool | None = None
    sha256: str = ""
    side: tuple[str, str] | None = None
    attached: Mapping[str, str] | None = None
    document: Document = "brief"
    others: tuple[tuple[str, str], ...] = ()
    is_editable: bool = False
    """Whether the document is an office file. Since anybody may edit its words, only its numbers are compared."""
    added: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def read_brief(path: Path) -> FinishedBrief:
    """Read a brief or a disclosure, and also the other one if it is in the same folder. The document is a PDF, an
    office file, an HTML page with its side file in the same folder, or only a side file. Raises ReportError."""
    made = _read(path)
    others = dict[str, str]()
    edited = made.edited
    for other in _counterparts(path, made):
        if not other.is_file():
            continue
        try:
            found = _read(other) if edited is not None else FinishedBrief(made.numbers, None, sha256=sha256_of(other))
        except (OSError, ReportError) as error:
            others[other.name] = str(error)
            continue
        if made.document == "brief":
            changed = made.numbers.disclosures.get(other.name) not in (None, found.sha256)
        else:
            changed = found.whole is False or found.numbers.disclosures.get(path.name) not in (None, made.sha256)
        others[other.name] = f"{other.name} is not, to the byte, what was made with {path.name}" if changed else ""
        if edited is not None:
            edited += found.edited or ()
    return replace(made, edited=edited, others=tuple(others.items()))


def _counterparts(path: Path, made: FinishedBrief) -> Iterator[Path]:
    """Yield the counterparts of a document: the disclosures of a brief, or the briefs of a disclosure."""
    if made.document == "disclosure":
        yield path.with_name(OF_DISCLOSURE.sub("", path.name))
        return
    suffix = path.suffix.lower()
    yield from (path.with_name(name) for name in made.numbers.disclosures if suffix in (Path(name).suffix, ".json"))


def _read(path: Path) -> FinishedBrief:
    try:
        content = read_plain(path, most=MOST_OF_A_BRIEF)
    except OSError as error:
        hint = "name a brief: its PDF, HTML, JSON, pptx, xlsx or docx"
        raise ReportError(f"{path} can't be read: {error.strerror}", hint) from error
    digest = hashlib.sha256(content).hexdigest()
    if content.startswith(b"%PDF"):
        return _of_pdf(path, digest)
    if content.startswith(b"PK"):
        return _of_office(path, content, digest)
    if path.suffix.lower() == ".json" or content.lstrip()[:1] == b"{":
        return FinishedBrief(_numbers(content, path), None, sha256=digest)
    numbers, side = _beside(path)
    document: Document = "disclosure" if _DISCLOSURE_PAGE.search(content[:1000]) else "brief"
    known = numbers.disclosures.values() if document == "disclosure" else filter(None, (numbers.page_sha256,))
    spans = _Spans()
    spans.feed(content.decode("utf-8", "replace"))
    wanted = [number for number in numbers.numbers if number.document == document]
    if wanted and not spans.found:
        raise _unmarked(path)
    edited, digests = tuple(_edited_html(wanted, spans.found)), list(known)
    return FinishedBrief(numbers, edited, digest in digests if digests else None, digest, side, document=document)


_DISCLOSURE_PAGE = re.compile(rb'<html [^>]*class="disclosure-report"')


def _unmarked(path: Path) -> ReportError:
    """Return the error for a document without marked numbers. Edits can't be found in such a document."""
    return ReportError(
        f"{path} marks none of its numbers: it is not the PDF or HTML that was made, but was printed, converted or "
        "saved by another program",
        f"verify what `bench report` wrote, or the numbers alone: bench verify {path.with_suffix('.json')}",
    )


def _beside(path: Path) -> tuple[NumbersFile, tuple[str, str]]:
    """Return the side file, with its path and its SHA-256. A disclosure shares the side file of its brief."""
    side = path.with_suffix(".json")
    if not side.exists():
        side = side.with_name(OF_DISCLOSURE.sub("", side.name))
    try:
        content = read_plain(side, most=MOST_OF_A_BRIEF)
        return _numbers(content, side), (side.name, hashlib.sha256(content).hexdigest())
    except OSError as error:
        is_pdf, is_page = path.suffix.lower() == ".pdf", path.suffix.lower() == ".html"
        what = "PDF" if is_pdf else "page" if is_page else "file"
        lost = "" if is_page else f"; the {what} has lost the one that was inside"
        raise ReportError(
            f"{side}, which has the numbers of {path.name}, can't be read: {error.strerror}{lost}",
            f"put it beside the {what}, or verify the {'PDF' if is_page else what} as it was made, which has it inside",
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
    """Remove blanks, since documents may have different blanks at line breaks."""
    return re.sub(r"\s", "", text)


# --- HTML --------------------------------------------------------------------------------------------------------


class _Spans(HTMLParser):
    """The text of each element that is marked as a number."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._id = ""
        self._inside = 0
        """How many elements are open within the current number."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag in ("a", "span") and (known.get("class") or "").split()[:1] == ["num"] and known.get("id"):
            self._id, self._inside = known["id"] or "", 0
            self.found[self._id] = ""
        elif self._id and tag in ("a", "span"):
            self._inside += 1

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("a", "span"):
            return
        if self._inside:
            self._inside -= 1
        else:
            self._id = ""

    def handle_data(self, data: str) -> None:
        if self._id:
            self.found[self._id] += data


def _edited_html(numbers: Sequence[NumberEntry], shown: Mapping[str, str]) -> Iterator[Edited]:
    for number in numbers:
        found = shown.get(number.id, "")
        if _squeezed(found) != _squeezed(number.shown):
            yield Edited(number.id, number.place, number.shown, found)
    known = {number.id for number in numbers}
    for id_, found in shown.items():
        if id_ not in known:
            yield Edited(id_, "", "", found)


# --- PDF ---------------------------------------------------------------------------------------------------------


def _of_pdf(path: Path, digest: str) -> FinishedBrief:
    from pypdf import PdfReader

    try:
        reader = PdfReader(path)
        attached = reader.attachments
        inside = attached[ATTACHMENT][0] if ATTACHMENT in attached else None
        numbers, side = (_numbers(inside, path), None) if inside is not None else _beside(path)
        document = numbers.document
        if inside is None and OF_DISCLOSURE.search(path.name):
            document = "disclosure"
        marked = list(marked_in(reader, spans=_is_plain(numbers, document)))
        others = {name: digest for name, digest in _digests(attached) if name != ATTACHMENT}
    except _pdf_errors() as error:
        raise ReportError(f"{path} can't be read as a PDF: {error}", "render it again: `bench report`") from error
    if not marked and any(number.linked and number.document == document for number in numbers.numbers):
        raise _unmarked(path)
    edited = tuple(edited_in(marked, numbers, document))
    return FinishedBrief(numbers, edited, None, digest, side, others, document)


def attached_file(path: Path, ending: str) -> bytes | None:
    """Return the only file in a PDF whose name has this ending, or None if there is none. No other file is unpacked.
    Raises ReportError."""
    from pypdf import PdfReader

    try:
        inside = [each for each in PdfReader(path).attachment_list if _has_ending(each, ending)]
        found = inside[0].content if len(inside) == 1 else None
    except _pdf_errors() as error:
        raise ReportError(f"{path} can't be read as a PDF: {error}", "take it from where it was published") from error
    if len(inside) > 1:
        raise ReportError(
            f"{path.name} has {len(inside)} files that end in {ending}", "take it from where it was published"
        )
    return found


def _has_ending(file: EmbeddedFile, ending: str) -> bool:
    return any(str(name).endswith(ending) for name in (file.name, file.alternative_name))


def _digests(attached: Mapping[str, Sequence[bytes]]) -> Iterator[tuple[str, str]]:
    """Yield the SHA-256 of each attachment of a PDF. Raises ValueError if there are more than any brief has."""
    left = MOST_OF_ALL
    for name, contents in attached.items():  # they are unpacked one by one
        left -= sum(map(len, contents))
        if left < 0:
            raise ValueError("its attachments are larger, unpacked, than those of any brief")
        yield name, hashlib.sha256(b"".join(contents)).hexdigest()


def _pdf_errors() -> tuple[type[Exception], ...]:
    """Return the errors that pypdf raises for damaged or hostile files."""
    from pypdf.errors import DependencyError, PyPdfError

    common = (
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
    )
    return (PyPdfError, DependencyError, struct.error, zlib.error, *common)


def _is_plain(file: NumbersFile, document: Document) -> bool:
    """Return whether a PDF's numbers are plain text instead of links, because it has no appendix."""
    return file.provenance == "none" or (document == "brief" and bool(file.disclosures))


def edited_in(marked: Iterable[tuple[str, str]], file: NumbersFile, document: Document = "brief") -> Iterator[Edited]:
    """Yield the numbers that differ between a PDF and its file, or are missing from one of them. `marked` is the PDF's
    marked text, some of it in pieces."""
    plain = _is_plain(file, document)
    rows = {query.id: "" if plain else query.source for query in file.queries}
    numbers = [number for number in file.numbers if number.linked and number.document == document]
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
    links = () if plain else file.figures
    captions = {rows[series.query] for figure in links for series in figure.series}
    for row, found in by_row.items():
        # The next page repeats a table's head; captions of figures link to rows of their own.
        again = {_squeezed(number.shown) for number in numbers if rows[number.query] == row}
        if again or row not in captions:
            yield from (Edited("", "", "", text) for text in found if text not in again)


def marked_in(reader: PdfReader, *, spans: bool) -> Iterator[tuple[str, str]]:
    """Yield each link to a row of the appendix with its marked text, in the order of the structure tree.

    The links include those of figures' captions, which lead to other rows than numbers do. With `spans`, the document
    has no appendix: its numbers are the spans that contain another span, and the row is "".
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
    """Return the destination of the link in an annotation's reference."""
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

    _read_own_codes(page)
    page.extract_text(visitor_operand_before=before, visitor_text=text)
    return texts


def _read_own_codes(page: PageObject) -> None:
    """Make pypdf read fonts that use their own character codes. WeasyPrint writes such codes if one glyph represents
    several characters, or for characters that no font has. The codes have two bytes, like those of Identity-H."""
    from pypdf.generic import NameObject, StreamObject

    for font in page.get("/Resources", {}).get("/Font", {}).values():
        described = font.get_object()
        if "/Encoding" in described and isinstance(described["/Encoding"].get_object(), StreamObject):
            described[NameObject("/Encoding")] = NameObject("/Identity-H")


# --- office files ------------------------------------------------------------------------------------------------


def _of_office(path: Path, content: bytes, digest: str) -> FinishedBrief:
    package = Package(content, path.name)
    kept = kept_ledger(package)
    numbers, side = (_numbers(kept.numbers, path), None) if kept else _beside(path)
    with written_as(Locale(numbers.locale, numbers.units)):
        found = texts_of(package, kept.unread if kept else ())
    of_brief = [number for number in numbers.numbers if number.document == "brief"]
    compared = compare_texts(kept or KeptLedger(b"", (), frozenset()), found.texts, of_brief)
    edited = tuple(Edited(each.id, each.place, each.recorded, each.found) for each in compared.edited)
    added = compared.added if kept else ()
    return FinishedBrief(numbers, edited, None, digest, side, is_editable=True, added=added, unread=tuple(found.unread))


@dataclass(frozen=True)
class ComparedFiles:
    """The number of compared files, and the problem of each file that was changed."""

    files: int
    changed: tuple[str, ...]


def look_beside(path: Path, brief: FinishedBrief, made: MadeReports, run_dir: Path) -> ComparedFiles:
    """Compare the files that were made with the brief at `path`: the other document and, if there is a journal, the
    side file and the figures, both in the folder and in the PDF. If there are no records of reports, compare only the
    other document.
    """
    found = [*_of_others(path, brief, made, run_dir), *(_problems(path, brief, made, run_dir) if made.records else ())]
    return ComparedFiles(len(found), tuple(problem for problem in found if problem))


def _of_others(path: Path, brief: FinishedBrief, made: MadeReports, run_dir: Path) -> Iterator[str]:
    """Yield the problem of each accompanying document, or "". A document that was copied without the other one has no
    problem."""
    known, at_home = dict(brief.others), made.at_home(path, run_dir)
    for other in _counterparts(path, brief):
        if other.name not in known:
            yield from [f"{other.name} is missing"] if at_home and made.of_path(other.name) else []
        elif problem := known[other.name]:
            yield problem
        else:
            digests = made.of_path(other.name)
            yield next(changed_file(other.name, path.parent, digests), "") if digests else ""


def _problems(path: Path, brief: FinishedBrief, made: MadeReports, run_dir: Path) -> Iterator[str]:
    """Return the problem of each file, or ""."""
    at_home = made.at_home(path, run_dir)
    side = path.with_suffix(".json")
    if brief.document == "disclosure":
        side = side.with_name(OF_DISCLOSURE.sub("", side.name))
    if brief.side is not None:
        yield (
            ""
            if made.knows(brief.side[1])
            else f"{brief.side[0]} is not, to the byte, the file of its numbers that was made"
        )
    elif at_home and path != side:  # a PDF, which contains its numbers too
        yield next(changed_file(side.name, path.parent, made.of_path(side.name)), "")
    last = next((each for each in reversed(made.records) if brief.sha256 in each.files.values()), None)
    last = last or next(reversed(at_home or made.records))
    figures = {name for each in (at_home or [last]) for name in each.files if len(PurePosixPath(name).parts) > 1}
    for name in sorted(figures):
        file = path.parent / name
        if not at_home and not file.parent.is_dir():  # copied without them
            continue
        yield next(changed_file(name, path.parent, made.of_path(name)), "")
    if brief.attached is not None and brief.document == "brief":
        wanted = {PurePosixPath(name).name for name in last.files if name.endswith(".csv")}
        for inside in sorted(wanted | set(brief.attached)):
            known = {d for each in made.records for name, d in each.files.items() if PurePosixPath(name).name == inside}
            if inside not in brief.attached:
                yield f"{inside} inside of {path.name} is missing"
            else:
                yield "" if brief.attached[inside] in known else f"{inside} inside of {path.name} was changed"


Found = TypeVar("Found")
Identity: TypeAlias = tuple[str, tuple[str, ...], str, str]
At: TypeAlias = tuple[tuple[str, DimKey], ...]


class _Wanted(NamedTuple):
    query: p.Query
    at: At = ()


def find_lacking(numbers: NumbersFile, report: p.Report | None, results: Results) -> Iterator[str]:
    """Yield values in texts, tables and figures that the report computes but the file lacks.

    A user's parts may leave out numbers, but not points of figures. A part that could not be made has no numbers. The
    file names it (`not_made`), and all other parts must be complete.
    """
    if report is None:
        yield f"the plan has no report {numbers.report}"
        return
    chosen = not _gaps_named("choice", "", numbers)
    elements = keep_elements_with_data(report.elements, results) if chosen else report.elements
    parts = _named_parts(elements, results)
    made = [part for part, names in parts if not any(_gaps_named(*name, numbers) for name in names)]
    queries = {query.id: identity(query.query) for query in numbers.queries}
    if not report.parts:
        yield from _lacking_numbers(numbers, [*made, report.heading, report.subheading, report.legal], results)
    for figure in objects_within(made, p.FigureElement):
        drawn = [series for found in numbers.figures if found.title == figure.title for series in found.series]
        points = {(queries[series.query], _keys(row[:-1])) for series in drawn for row in series.rows}
        asked = {q.sql: q for s in figure.series for q in (*s.drawn, s.repeats) if q}.values()
        lost_points = [
            _Wanted(query, _known_place(dict(zip(query.dims, keys, strict=True))))
            for query in asked
            for keys in results.rows(query)
            if (identity(query), _keys(keys)) not in points
        ]
        if lost_points:
            count, first = plural(len(lost_points), "point"), _describe(lost_points[0])
            yield f"the file of its numbers lacks {count} of the figure “{figure.title}”, first {first}"


def _named_parts(
    elements: Iterable[p.Element], results: Results
) -> Iterator[tuple[p.Element, tuple[tuple[str, str], ...]]]:
    """Yield the parts of a brief in order, each with its kind and its number or title, as `Gaps` names them.

    In a brief of imported results, a table of published values may come before the others and shift their numbers.
    """
    before = (0, 1) if any(imported_briefs.published(results)) else (0,)
    tables = figures = 0
    for element in _in_sections(elements):
        match element:
            case p.TableElement() | p.FactsElement() | p.PublishedElement():
                tables += 1
                yield element, tuple(("table", str(tables + more)) for more in before)
            case p.FigureElement():
                figures += 1
                yield element, (("figure", str(figures)),)
            case p.CalloutElement():
                yield element, (("box", element.title),)
            case p.FormulaElement():
                yield element, (("formula", element.name),)
            case _:
                yield element, ()


def _in_sections(elements: Iterable[p.Element]) -> Iterator[p.Element]:
    for element in elements:
        if isinstance(element, p.SectionElement):
            yield from _in_sections(element.elements)
        else:
            yield element


def _gaps_named(kind: str, name: str, numbers: NumbersFile) -> int:
    part = told(MissingPart(kind, name, "", is_ours=False), CATALOGUES["en"])
    return sum(gap.startswith(part) for gap in numbers.not_made)


def _lacking_numbers(numbers: NumbersFile, parts: Sequence[object], results: Results) -> Iterator[str]:
    """Yield the numbers that texts and tables should have but lack.

    The file says how many texts and numbers could not be made, but not where they belong. The same number of texts and
    numbers may therefore be missing anywhere.
    """
    queries = {query.id: identity(query.query) for query in numbers.queries}
    known = {
        (queries[query], _known_place(number.at))
        for number in numbers.numbers
        for query in (number.query, number.high_query)
        if query
    }
    texts, single = _gaps_named("text", "", numbers), _gaps_named("number", "", numbers)
    lost: dict[str, dict[tuple[tuple[Identity, At], ...], _Wanted]] = {"texts": {}, "tables": {}}
    for part in parts:
        for kind, wanted in (("texts", _of_texts(part)), ("tables", _of_tables(part, results))):
            keys = {tuple((identity(one.query), one.at) for one in ends): ends for ends in wanted}
            missing = {key: one for key, (one, *_) in keys.items() if not known.issuperset(key)}
            if missing and texts and isinstance(part, p.HeadlineElement | p.TextElement | p.Prose):
                texts -= 1
            else:
                lost[kind] |= missing
    for kind, found in lost.items():
        if len(found) > (single if kind == "texts" else 0):
            first = _describe(next(iter(found.values())))
            yield f"the file of its numbers lacks {len(found):,} of those of its {kind}, first {first}"
    lettered = {(queries[number.query], _known_place(number.at)) for number in numbers.numbers if number.letters}
    tables = [part for part in parts if isinstance(part, p.TableElement | p.CalloutElement)]
    compared = [_Wanted(query, _known_place(at)) for query, at, _ in letters_in(tables, results)]
    if bare := [one for one in compared if (identity(one.query), one.at) not in lettered]:
        yield f"the file of its numbers lacks {len(bare):,} letters of its comparisons, first {_describe(bare[0])}"


def objects_within(part: object, kind: type[Found]) -> Iterator[Found]:
    """Return all objects of a kind in a part of the plan."""
    if isinstance(part, kind):
        yield part
    elif isinstance(part, Node):
        for each in vars(part).values():
            yield from objects_within(each, kind)
    elif isinstance(part, Mapping):
        for each in part.values():
            yield from objects_within(each, kind)
    elif isinstance(part, tuple | list):
        for each in part:
            yield from objects_within(each, kind)


def identity(query: p.Query) -> Identity:
    return query.sql, query.dims, query.unit, query.text


def key_of(key: DimKey | int | None) -> DimKey:
    return key if isinstance(key, str) else math.nan if key is None else float(key)


def _of_texts(part: object) -> Iterator[tuple[_Wanted, ...]]:
    """Yield the values to compute for each number in the text. A range has two values."""
    for value in objects_within(part, p.Value):
        yield tuple(_Wanted(end) for end in (value.query, value.high) if end)


def _of_tables(part: object, results: Results) -> Iterator[tuple[_Wanted, ...]]:
    for whole in objects_within(part, p.TableElement):
        table = shown_table(whole, results).table
        for line in table.lines:
            for key in table.keys if line.query else ():
                at = {table.dim: key.value} if line.query and table.dim in line.query.dims else {}
                if line.query and not results.left_out(line.query, **at):
                    yield (_Wanted(line.query, _known_place(at)),)


def _known_place(at: Mapping[Any, DimKey]) -> At:
    return tuple(sorted((dim, _hashed(key)) for dim, key in at.items()))


def _keys(keys: Sequence[DimKey | int | None]) -> tuple[DimKey, ...]:
    return tuple(map(_hashed, keys))


def _hashed(key: DimKey | int | None) -> DimKey:
    """Return a key that can be compared. A missing key (NaN) becomes "", because NaN does not equal itself."""
    found = key_of(key)
    return "" if isinstance(found, float) and math.isnan(found) else found


def _describe(wanted: _Wanted) -> str:
    where = ", ".join(f"{dim} {key:g}" if isinstance(key, float) else f"{dim} {key}" for dim, key in wanted.at)
    return f"{wanted.query.text} at {where}" if where else wanted.query.text


Known = Mapping[Identity, p.Query]
"""The queries of a plan, by identity. A brief's queries are looked up here, since their own SQL is not trusted."""


def known_queries(plan: p.Plan, said: p.Report | None = None) -> Known:
    """Return the queries of a plan by identity. Those of `said` are included: this is a report with the sentences of
    its claims, where the number of each held-out claim was read again from its held-out repeats."""
    every = (plan.metrics, plan.expects, plan.claims, plan.reports, said)
    return {identity(query): query for query in objects_within(every, p.Query)}


def find_unfounded(numbers: NumbersFile, report: p.Report | None, results: Results) -> Iterator[str]:
    """Yield the claims whose title, details, or cells differ from the plan's report and the store."""
    if report and numbers.title != report.title:
        yield f"the brief is called “{numbers.title}”, and its report in the plan “{report.title}”"
    known = known_queries(results.plan, report)
    queries = {query.id: known.get(identity(query.query)) for query in numbers.queries}
    wrong = [query.expression for query in numbers.queries if set(query.cells) != _ids(queries[query.id], results)]
    for number in numbers.numbers:
        low = queries[number.query]
        high = queries[number.high_query] if number.high_query else None
        if set(number.cells) != _ids(low, results, **number.at) | _ids(high, results, **number.at):
            wrong.append(low.text if low else number.query)
    if wrong:
        yield (
            f"the file of its numbers names other cells behind {len(wrong):,} of its numbers and expressions than the "
            f"plan, first behind {wrong[0]}"
        )
    entries = dict(each_entry(results.store))
    used = set().union(*(_ids(query, results) for query in queries.values())) & set(entries)
    damaged = [(cell, why) for cell in sorted(used | set(numbers.cells))
            if (why := describe_change(numbers.cells.get(cell), entries.get(cell)))]  # fmt: skip
    if damaged:
        (cell, why), cells = damaged[0], plural(len(damaged), "cell")
        yield f"the file of its numbers says another thing of {cells} than the run, first {cell}, which {why}"


def describe_change(then: CellEntry | None, now: CellEntry | None) -> str:
    """Return how a cell has changed since the file was written, or "" if it is unchanged."""
    if now is None:
        return "is not in the store"
    if then is None:
        return "it does not have"
    if now.hash != then.hash:
        return "is another measurement: the spec was changed"
    if now.status != then.status:
        return f"is {now.status} now, and was {then.status}"
    if (now.run, now.attempt) != (then.run, then.attempt):
        return f"was measured again (attempt {now.attempt} of run {now.run})"
    other = [path for path in sorted({*then.files, *now.files}) if then.files.get(path) != now.files.get(path)]
    return f"has other raw outputs, first {other[0]}" if other else ""


def raw_problems(numbers: NumbersFile, results: Results, run_dir: Path) -> dict[str, str | None]:
    """Return the problem of each raw output behind the numbers, or None if its digest equals the journal's.

    This covers the outputs that the file names, the outputs of other cells that the plan's report and the file's
    numbers need, the outputs of held-out repeats, and the table from which numbers were imported. If the journal has no
    digest of an output, the file's digest is used.
    """
    from benchbrief.results.imports.keep_import import SHARED, shared_name
    from benchbrief.results.ingest.run_evidence import read_evidence

    known = known_queries(results.plan)
    report = next((each for each in results.plan.reports if each.name == numbers.report), None)
    of_file = (found for query in numbers.queries if (found := known.get(identity(query.query))))
    cells = set().union(*(_ids(query, results) for query in (*objects_within(report, p.Query), *of_file)))
    evidence = read_evidence(run_dir)
    recorded = {
        f"{job.directory}/{name}": (digest, verdict.cell.id)
        for verdict in evidence.verdicts
        for job in verdict.jobs
        for name, digest in job.files.items()
    }
    named = _files(numbers.cells.values())
    stored = _files(dict(each_entry(results.store)).values())
    shared = any(job.directory == SHARED for verdict in evidence.verdicts for job in verdict.jobs)
    tables = evidence.imported.files if evidence.imported and shared else ()
    problems = {(path := f"{SHARED}/{shared_name(file)}"): _problem(run_dir, path, file.sha256) for file in tables}
    for path in sorted({*named, *(path for path, (_, cell) in recorded.items() if cell in cells)}):
        digest = recorded[path][0] if path in recorded else named[path]
        problems[path] = _problem(run_dir, path, digest)
        if problems[path] is None and path in recorded and stored.get(path) != digest:
            change = changed_text(stored.get(path, ""), digest)
            problems[path] = f"has another SHA-256 in the run's tables than in its journal ({change})"
    held_out = held_out_runs(run_dir)
    gone = {start: "is missing" for start, folder in held_out.items() if not folder.is_dir()}
    below = (each for each in kept_outputs(run_dir).items() if each[0].startswith(tuple(held_out)))
    return problems | gone | {path: _problem(run_dir, path, digest) for path, digest in below}


def _files(cells: Iterable[CellEntry]) -> dict[str, str]:
    return {path: digest for cell in cells for path, digest in cell.files.items()}


def _ids(query: p.Query | None, results: Results, **at: str | float) -> set[str]:
    """Return the cells that a query of the plan reads. Return none if an earlier version of benchbrief made the
    plan."""
    if query is None or query.reads is None:
        return set()
    within_query = {dim: key for dim, key in at.items() if dim in query.dims}
    return {cell.cell_id for cell in results.cells_behind(query, **within_query)}


def _problem(run_dir: Path, path: str, digest: str) -> str | None:
    try:
        found = sha256_of(run_dir / path, run_dir)
    except OSError as error:
        return "is missing" if isinstance(error, FileNotFoundError) else f"can't be read: {error.strerror}"
    return None if found == digest else f"was changed ({changed_text(found, digest)})"


CLOSE = 1e-9
"""The largest relative difference between values that count as equal. Sums over several threads differ in their last
digits."""


@dataclass(frozen=True)
class Differs:
    """A number that cannot be confirmed. `now` is the number as it is printed now."""

    id: str
    place: str
    expression: str
    shown: str
    now: str
    value: float | None
    value_now: float | None
    why: str


@dataclass(frozen=True)
class DrawnDiffers:
    """A point of a figure that cannot be confirmed."""

    figure: str
    title: str
    expression: str
    at: tuple[DimKey | None, ...]
    value: float | None
    value_now: float | None
    why: str


@dataclass(frozen=True)
class Verification:
    """The result of verifying a brief. `edited` is None if no document was given. `raw` maps paths to problems, or is
    None if raw outputs were not to be checked. If the brief belongs to another run, `foreign` has the reason. `beside`
    lists the changed files among those made with the brief, and `kept` lists other changed parts of the run.
    """

    numbers: int
    differing: tuple[Differs, ...]
    points: int
    drawn: tuple[DrawnDiffers, ...]
    edited: tuple[Edited, ...] | None
    raw: Mapping[str, str] | None
    raw_files: int
    foreign: tuple[str, ...] = ()
    whole: bool | None = None
    """Whether the document equals one recorded in the run's journal, byte by byte. Without such a record, the value is
    taken from `FinishedBrief`."""
    beside: tuple[str, ...] = ()
    beside_files: int = 0
    """The number of compared files that were made with the brief."""
    kept: tuple[str, ...] = ()
    not_made: tuple[str, ...] = ()
    """The parts of the brief that could not be made when it was written. Their numbers are missing."""
    is_editable: bool = False
    """Whether the document is an office file. Since anybody may edit its words, `whole` is then irrelevant."""
    added: tuple[str, ...] = ()
    """The places of texts with numbers that were added to an office file since it was made."""
    unread: tuple[str, ...] = ()
    """The sheets of an office file that are too long to be read."""

    @property
    def holds(self) -> bool:
        return (self.is_editable or self.whole is not False) and not (
            self.differing or self.drawn or self.edited or self.foreign or self.beside
        )


def verify(
    brief: FinishedBrief, plan: Plan, store: AskedStore, run_dir: Path | None = None, *, known: bool = True
) -> Verification:
    """Verify a brief. With `run_dir`, also check the digests of the raw outputs (`raw_problems`). The plan is the one
    that the brief was made from. If that is not `known`, it is the run's own plan. The plan decides what is computed,
    whatever SQL the brief has.
    """
    report = next((each for each in plan.reports if each.name == brief.numbers.report), None)
    results = Results(plan, store, words_of(report) if report else CATALOGUES["en"])
    report = say_claims(report, results) if report else None
    outputs = raw_problems(brief.numbers, results, run_dir) if run_dir else {}
    raw = {path: problem for path, problem in outputs.items() if problem}
    check = _Check(brief.numbers, results, raw, report)
    with written_as(Locale(brief.numbers.locale, brief.numbers.units)), printed_as(brief.numbers.printing):
        differing = tuple(check.numbers())
        foreign = (
            *_foreign(brief.numbers, results, known=known),
            *(find_lacking(brief.numbers, report, results) if known else ()),
            *(find_unfounded(brief.numbers, report, results) if known else ()),
        )
    return Verification(
        numbers=len(brief.numbers.numbers),
        differing=differing,
        points=sum(len(series.rows) for figure in brief.numbers.figures for series in figure.series),
        drawn=tuple(check.drawn()),
        edited=brief.edited,
        raw=raw if run_dir else None,
        raw_files=len(outputs),
        whole=brief.whole,
        foreign=foreign,
        not_made=brief.numbers.not_made,
        is_editable=brief.is_editable,
        added=brief.added,
        unread=brief.unread,
    )


def check_journal(
    found: Verification, path: Path, brief: FinishedBrief, plan: Plan, run_dir: Path, made: MadeReports
) -> Verification:
    """Add to a verification what the run's journal records about the brief at `path`, about the files made with it, and
    about the run's other files.

    `plan` is the run's own.
    """
    spec = tuple(plan.spec.files.items())
    then = (brief.numbers.journal_bytes, brief.numbers.journal_sum)
    beside = look_beside(path, brief, made, run_dir)
    is_recorded = made.has_kind(path)
    unrecorded = f"{path.name} is not recorded: the run's journal does not say that it was made"
    return replace(
        found,
        whole=(made.knows(brief.sha256) and found.whole is not False) if is_recorded else found.whole,
        beside=beside.changed,
        beside_files=beside.files,
        kept=(
            *found.kept,
            *([] if is_recorded or made.problem else [unrecorded]),
            *changed_in_run(run_dir, made, then, spec),
        ),
    )


def _foreign(numbers: NumbersFile, results: Results, *, known: bool) -> Iterator[str]:
    run = str(run_row(results)["run_id"] or "")
    if run != numbers.run:
        yield f"the brief names the run {numbers.run}, and these are the results of {run}"
    if numbers.kind != (kind := kind_of(results)):
        yield f"the brief says that its numbers are {numbers.kind}, and those of {run} are {kind}"
    if not known:
        digest = numbers.plan_sha256[:12]
        yield f"the brief names a plan (SHA-256 {digest}) that neither {run} nor a report of it was made from"
    elif run == numbers.run and numbers.origin != (stated := tuple(disclose_origin(results))):
        other = next((text for term, text in numbers.origin if (term, text) not in stated), "it leaves something out")
        yield f"the brief has another origin than {run} has ({other}): edited, or written by another benchbrief"


_FOREIGN = "its SQL is none of the plan's"
_HELD_OUT_DIFFERS = "its held-out repeats give another number, or can't be read"


class _Check:
    def __init__(self, recorded: NumbersFile, results: Results, raw: Mapping[str, str], said: p.Report | None) -> None:
        self._recorded = recorded
        self._results = results
        self._raw = raw
        self._queries = {query.id: query for query in recorded.queries}
        self._cells = dict(each_entry(results.store))
        self._rows: dict[str, dict[tuple[DimKey, ...], float | None] | str] = {}
        self._known = known_queries(results.plan, said)
        report = next((each for each in results.plan.reports if each.name == recorded.report), None)
        found = letters_in(report.elements, results) if report and any(n.letters for n in recorded.numbers) else ()
        self._letters: dict[object, list[str]] = {}  # a value may stand in several tables, by letters and by marks
        for query, at, letters in found:
            self._letters.setdefault((identity(query), *_keyed(at)), []).append(letters)

    def numbers(self) -> Iterator[Differs]:
        for number in self._recorded.numbers:
            query = self._queries[number.query]
            high = self._queries[number.high_query] if number.high_query else None
            value, why = self._now(query, number.at)
            top, why_top = self._now(high, number.at) if high else (None, "")
            doubt = self._doubt_now(number, query, high)
            now = self._printed(number, value, top, doubt)
            recorded = self._printed(number, number.value, number.high, number.doubt)
            if recorded != number.shown:
                why = f"its recorded value is printed as {recorded}: edited, or written by another benchbrief"
            elif number.letters and number.letters != (letters := self._letters_now(query, number)):
                shown, now = f"{number.shown} {number.letters}", f"{now} {letters}".rstrip()
                why = "the tests of its repeats tell others apart than its letters say"
                yield Differs(number.id, number.place, _at(query, number), shown, now, number.value, value, why)
                continue
            elif doubt != number.doubt:
                why = "the searches behind it tell another bound, or decided otherwise"
            elif _same(value, number.value) and _same(top, number.high) and not self._failed(query, high):
                continue
            else:
                why = self._why(number.cells, why or why_top)
            # Of a range, show the end that moved.
            moved = not _same(value, number.value) or high is None
            old, new = (number.value, value) if moved else (number.high, top)
            yield Differs(number.id, number.place, _at(query, number), number.shown, now, old, new, why)

    def _letters_now(self, query: QueryEntry, number: NumberEntry) -> str:
        now = self._letters.get((identity(query.query), *_keyed(number.at)), [""])
        return number.letters if number.letters in now else now[0]

    def _doubt_now(self, number: NumberEntry, query: QueryEntry, high: QueryEntry | None) -> Doubt:
        """Return the doubt about a number according to the current results. If the file was made by an early version,
        or if the number's query failed, return the doubt recorded in the file."""
        if number.bound is None or self._failed(query, high):
            return number.doubt
        known = [self._known.get(identity(each.query), each.query) for each in (query, high) if each]
        return self._results.doubt(known[0], known[1] if high else None, number.at)

    def _printed(self, number: NumberEntry, value: float | None, high: float | None, doubt: Doubt) -> str:
        """Print a number by the conventions of the brief's language."""
        unit = self._queries[number.query].unit
        with written_as(Locale(self._recorded.locale, self._recorded.units)), printed_as(self._recorded.printing):
            return doubt.mark + number.printed.text(value, high, unit, ranged=bool(number.high_query))

    def drawn(self) -> Iterator[DrawnDiffers]:
        for figure in self._recorded.figures:
            for series in figure.series:
                query = self._queries[series.query]
                found = self._all(query)
                for *keys, value in series.rows:
                    now = found.get(tuple(map(key_of, keys))) if isinstance(found, dict) else None
                    old = None if isinstance(value, str) else value
                    if not _same(now, old) or self._failed(query):
                        why = self._why(self._behind(query, keys), found if isinstance(found, str) else "")
                        yield DrawnDiffers(figure.id, figure.title, query.expression, tuple(keys), old, now, why)

    def _behind(self, query: QueryEntry, keys: Sequence[DimKey | int | None]) -> tuple[str, ...]:
        """Return the recorded cells of one point of a figure, or of all its points if the plan does not tell them
        apart."""
        known = self._known.get(identity(query.query))
        if known is None or known.reads is None:
            return query.cells
        at = {dim: key_of(key) for dim, key in zip(query.dims, keys, strict=False)}
        found = {cell.cell_id for cell in self._results.cells_behind(known, **at)}
        return tuple(cell for cell in query.cells if cell in found) or query.cells

    def _failed(self, *queries: QueryEntry | None) -> bool:
        return any(isinstance(self._all(query), str) for query in queries if query is not None)

    def _now(self, query: QueryEntry, at: Mapping[str, DimKey]) -> tuple[float | None, str]:
        found = self._all(query)
        if isinstance(found, str):
            return None, found
        wanted = [(query.dims.index(dim), key_of(key)) for dim, key in at.items()]
        fitting = [value for keys, value in found.items() if all(keys[i] == key for i, key in wanted)]
        known = [value for value in fitting if value is not None]
        return (known[0] if known else None), "" if fitting or not query.cells else "the store has no such row"

    def _all(self, query: QueryEntry) -> dict[tuple[DimKey, ...], float | None] | str:
        """Return the rows of a query, or the reason why there are none."""
        if query.id not in self._rows and identity(query.query) not in self._known:
            self._rows[query.id] = self._unknown(query)
        if query.id not in self._rows:
            try:
                rows = self._results.rows(self._known.get(identity(query.query), query.query))
                self._rows[query.id] = {tuple(map(key_of, keys)): value for keys, value in rows.items()}
            except ResultsError as error:
                self._rows[query.id] = f"the store can't answer its query: {error}"
        return self._rows[query.id]

    def _unknown(self, query: QueryEntry) -> str:
        """Return why the plan has no such query: the file of the numbers was edited or, for a held-out claim, its
        repeats give another number, which is part of the SQL."""
        claims = self._results.plan.claims
        if not any(each.held_out and each.number and each.number.query.text == query.expression for each in claims):
            return f"{_FOREIGN}: the file of the numbers was edited"
        starts = tuple(held_out_runs(self._results.store.run_dir))
        why = next((f": {path} {self._raw[path]}" for path in self._raw if path.startswith(starts)), "")
        return f"{_HELD_OUT_DIFFERS}{why or '; --raw looks at their raw outputs'}"

    def _why(self, cells: Iterable[str], otherwise: str) -> str:
        """Return why a value differs: how its cells changed, or else the store's reason."""
        if otherwise.startswith((_FOREIGN, _HELD_OUT_DIFFERS)):
            return otherwise
        reasons = [f"{cell} {reason}" for cell in cells if (reason := self._changed(cell))]
        if not reasons:
            return otherwise or "the stored results were changed, or are computed otherwise"
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        return reasons[0] + more

    def _changed(self, cell: str) -> str:
        then = self._recorded.cells.get(cell)
        if then is None:
            return ""
        raw = next((path for path in then.files if path in self._raw), None)
        what = describe_change(then, self._cells.get(cell))
        if raw and (not what or what.startswith("has other raw outputs")):
            return f"has a raw output that {self._raw[raw]}: {raw}"
        return what


def _keyed(at: Mapping[str, DimKey]) -> tuple[tuple[str, DimKey], ...]:
    return tuple(sorted((dim, key_of(key)) for dim, key in at.items()))


def _at(query: QueryEntry, number: NumberEntry) -> str:
    """Return the expression with its missing coordinates, such as `throughput at workload a`."""
    place = ", ".join(f"{dim} {key:g}" if isinstance(key, float) else f"{dim} {key}" for dim, key in number.at.items())
    return f"{query.expression} at {place}" if place else query.expression


def _same(now: float | None, then: float | None) -> bool:
    if now is None or then is None:
        return now is then
    return math.isclose(now, then, rel_tol=CLOSE, abs_tol=0.0)
