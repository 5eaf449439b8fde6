"""Writes a report of a plan, with the results in a store, as a PDF and as a self-contained HTML page."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup, escape

from benchbrief.dsl.bench_error import BenchError
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.extension_spec import Format, TemplateSpec
from benchbrief.model.plan import Plan, Report
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.capsule.capsule_file import ENDING, Sign
from benchbrief.reports.capsule.pack_capsule import pack_capsule
from benchbrief.reports.charts.chart import PAPER, SOFT
from benchbrief.reports.charts.svg_converter import Converter, NotDrawn
from benchbrief.reports.data.gaps import name_part, reason_of
from benchbrief.reports.data.numbers_file import ATTACHMENT, Document, NumberEntry, NumbersFile
from benchbrief.reports.data.report_data import AskedStore
from benchbrief.reports.data.view_model import (
    CalloutView,
    Companion,
    FigureView,
    HeadlineView,
    ReportView,
    figures_of,
    with_every_limit,
    with_notes_again,
    with_redrawn_figures,
)
from benchbrief.reports.office.kept_ledger import with_ledger
from benchbrief.reports.office.office_formats import OFFICE_FORMATS, HandOver
from benchbrief.reports.render.companion import companion_of, lead_across
from benchbrief.reports.render.fill_pages import Arrangement
from benchbrief.reports.render.page_faults import find_faults, pages_too_many
from benchbrief.reports.render.watermark import draw_sheet, mark_markdown
from benchbrief.reports.text.html_markup import plain_text
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.view.house_style import (
    House,
    Kept,
    content_of,
    house_of,
    letters_without_typeface,
    missing_typefaces,
    template_of,
    typeface_of_files,
)
from benchbrief.reports.words.brief_words import CATALOGUES, Words, words_of

if TYPE_CHECKING:
    from benchbrief.reports.render.page_html import Answer, Medium
    from benchbrief.results.analysis.claim_verdicts import ClaimVerdict

_MOST = 3
"""The most warnings to show. If there are more, the others are only counted."""


def warn_of_vanished(file: NumbersFile) -> Iterator[str]:
    """Yield warnings of numbers that a format of the spec prints as 0. After the first few, a last warning only counts
    the others."""
    texts = {query.id: query.expression for query in file.queries}
    found: dict[tuple[str, str], NumberEntry] = {}
    for number in file.numbers:
        ends = [end for end in (number.value, number.high) if end is not None]
        if number.printed.format and any(ends) and not re.search("[1-9]", number.shown):
            found.setdefault((texts[number.query], number.printed.format), number)
    for (expression, form), number in list(found.items())[:_MOST]:
        yield (
            f"report `{file.report}`: `{expression}` is not 0, and its format `{form}` prints {number.shown}: "
            "give it more digits, or none to have its unit chosen"
        )
    if len(found) > _MOST:
        yield f"report `{file.report}`: of numbers that are not 0 and are printed as 0, {len(found) - _MOST:,} more"


@dataclass(frozen=True)
class ReportResult:
    """The main content of a report as plain text: its title, its main numbers with their descriptions, and their
    limits. The numbers are those of the headline or of the lead box."""

    title: str
    numbers: tuple[tuple[str, str], ...]
    limits: tuple[str, ...] = ()

    def as_dict(self, report: str) -> dict[str, object]:
        numbers = [{"value": value, "of": of} for value, of in self.numbers]
        return {"report": report, "title": self.title, "numbers": numbers, "limits": self.limits}


_SAID_FIRST = 6
"""The most numbers in the result of a report."""


def result_of(view: ReportView) -> ReportResult:
    numbers = [
        (each.value, each.text) for block in view.blocks if isinstance(block, HeadlineView) for each in block.numbers
    ]
    if not numbers:
        box = next((block for block in view.blocks if isinstance(block, CalloutView)), None)
        numbers = [(card.html, Markup.escape(card.label)) for card in box.cards] if box else []
    said = ((plain_text(value), plain_text(text)) for value, text in numbers[:_SAID_FIRST])
    return ReportResult(
        view.title, tuple(said), (*(limit.text for limit in view.limits), *filter(None, [view.further_limits]))
    )


@dataclass(frozen=True)
class Rendered:
    """The files of a report: `files` are all written files, in reading order, and `pdf` is the PDF, or None if none was
    made.

    `numbers` is the side file.
    """

    html: Path
    pdf: Path | None
    numbers: Path
    files: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()
    """Faults that a reader would notice, such as a replaced typeface, or numbers that a format prints as 0."""
    undrawn: tuple[str, ...] = ()
    """The parts of the brief that could not be made, each with its reason."""
    result: ReportResult = ReportResult("", ())
    claims: tuple[ClaimVerdict, ...] = ()
    """The verdicts on the report's claims."""


def render(
    plan: Plan,
    store: AskedStore,
    report_name: str,
    out_dir: Path,
    *,
    html_only: bool = False,
    formats: Collection[Format] = (),
    paper: Literal["a4", "letter"] | None = None,
    kept: Kept | None = None,
    reports_from: dict[str, str] | None = None,
    other_language: bool = False,
    converter: Converter | None = None,
    sign: Sign | None = None,
) -> Rendered:
    """Write a report: `out_dir/<report>.pdf`, `.html`, `.json` and `.md` (with `<report>-figures/`), each whole or not
    at all. Unless the brief contains the disclosure, also write `<report>-disclosure.pdf`, `.html` and `.md`.

    The folder has the figures' data as CSV, with the figures as SVG and PNG. The data are also in the brief's PDF, and
    so is `<report>-capsule.zip`, which has everything needed to measure the brief again.

    Raises ReportError. Without `formats`, writes the formats of the report, or of its template. `kept` reads the files
    of the report's house style. Without `kept`, they are read from their original places. If the plan's reports and
    metrics are not from the run's spec, `reports_from` lists their files with their SHA-256, and the disclosure names
    them. In a language other than the run's own, the files are `<report>.<language>.pdf`,
    `<report>-disclosure.<language>.pdf` and so on. `converter` draws the figures, and stays open for the next report.
    `sign` signs the list of the capsule.
    """
    from benchbrief.reports.view.build_view import build

    report = _find(plan, report_name)
    usual = _template(report).formats
    _require_language(report)
    chosen = ("html",) if html_only else formats or report.formats or usual
    house, catalogue = house_of(report, kept, paper), words_of(report)
    view = build(plan, store, report, catalogue, reports_from, converter)
    end = f".{report.language}" if other_language else ""
    stem = _stem(view, report)
    view = replace(view, side_file=f"{stem}{end}.json")
    twin = f"{stem}-disclosure{end}" if view.disclosed else ""
    brief = _Brief(view, report, catalogue, house, store, out_dir, f"{stem}{end}", twin, kept)
    made: dict[str, _Documents] = {".html": brief.on_screen()}
    numbers = view.numbers.in_order({kind: numbers_on(page) for kind, page in made[".html"].by_kind()})
    numbers = numbers.model_copy(update={"page_sha256": _digest(made[".html"].brief)})
    if "markdown" in chosen:
        made[".md"] = brief.markdown()
    capsule = pack_capsule(plan, report, store, numbers, view.title, view.stated, kept, reports_from, sign)
    if "pdf" in chosen:
        made[".pdf"] = brief.pdf(brief.naming(numbers, made), capsule)
    side = _write(out_dir / view.side_file, brief.naming(numbers, made).written(view.cells()))
    suffixes = (suffix for kind, suffix in (("pdf", ".pdf"), ("html", ".html"), ("markdown", ".md")) if kind in chosen)
    files, beside = [path for suffix in suffixes for path in brief.write(suffix, made[suffix])], [side]
    if capsule is not None and {"pdf", "html"} & set(chosen):
        beside.append(_write(out_dir / brief.capsule, capsule))
    if {"pdf", "markdown"} & set(chosen):
        beside += [_write(out_dir / brief.folder / name, content) for name, content in brief.data().items()]
        beside += brief.write_pictures(converter)
    not_made = []
    other = next((suffix for suffix in (".pdf", ".html") if suffix[1:] in chosen), "")
    disclosure = brief.companion(other, made[other].disclosure) if other else None
    for kind in OFFICE_FORMATS:
        if kind in chosen:
            try:
                own = brief.naming(numbers, made)
                files.append(brief.write_to_edit(kind, plan, own, disclosure, converter))
            except ReportError as error:
                not_made.append(f"{brief.stem}.{kind}: {error}; {error.hint}")
    typefaces = [missing_typefaces(report)] if "pdf" in chosen else []
    typefaces += [typeface_of_files(report)] if set(OFFICE_FORMATS) & set(chosen) else []
    faults = (f"report `{report.name}`: {fault}" for fault in brief.faults)
    warnings = (*filter(None, typefaces), *faults, *warn_of_vanished(view.numbers))
    html, pdf = (out_dir / f"{brief.stem}{suffix}" for suffix in (".html", ".pdf"))
    made_pdf = pdf if "pdf" in chosen else None
    undrawn = (*brief.undrawn(), *not_made)
    return Rendered(html, made_pdf, side, (*files, *beside), warnings, undrawn, result_of(view), view.claims)


@dataclass(frozen=True)
class _Documents:
    """The contents of a brief and of its disclosure. The disclosure is None if the brief contains it."""

    brief: bytes
    disclosure: bytes | None = None

    def by_kind(self) -> Iterator[tuple[Document, bytes]]:
        yield "brief", self.brief
        if self.disclosure is not None:
            yield "disclosure", self.disclosure


@dataclass(frozen=True)
class _Brief:
    """A report's view, with everything needed to make its documents. `stem` is the files' name without suffix, and
    `twin` is the stem of the disclosure's files, or "" if the brief contains the disclosure."""

    view: ReportView
    report: Report
    catalogue: Words
    house: House
    store: AskedStore
    out_dir: Path
    stem: str
    twin: str = ""
    kept: Kept | None = None
    faults: list[str] = field(default_factory=list)
    """The faults of the laid-out pages and of the pictures."""

    @property
    def folder(self) -> str:
        return f"{self.stem}-figures"

    @property
    def capsule(self) -> str:
        return f"{self.stem}{ENDING}"

    @property
    def unpaged_view(self) -> ReportView:
        """The view for a medium that has room for all limits, unlike slides."""
        return self.view if template_of(self.report.template).slides else with_every_limit(self.view)

    def disclosure(self, medium: Medium, suffix: str, house: House | None = None) -> str:
        """Return the page of the disclosure, which names the brief in the same medium and links back to it."""
        from benchbrief.reports.render.page_html import disclosure_html

        brief = Companion(f"{self.stem}{suffix}", address=self.report.address)
        page = disclosure_html(replace(self.view, companion=brief), self.catalogue, medium, house or self.house)
        return lead_across(page, brief.file if medium == "screen" else "")

    def page(self, medium: Medium, other: Companion | None, view: ReportView | None = None, **more: Any) -> str:
        """Return the page of the brief, which names the `other` document. On paper, the numbers are not links."""
        from benchbrief.reports.render.page_html import to_html

        look = {"template": self.report.template, "words": self.catalogue, "house": self.house, **more}
        page = to_html(replace(view or self.view, companion=other), medium=medium, query=_asking(self.store), **look)
        return lead_across(page, "" if medium == "paper" else other.file) if other else page

    def naming(self, numbers: NumbersFile, made: Mapping[str, _Documents]) -> NumbersFile:
        """Return the file of numbers with the names and digests of the disclosures in `made`, whose keys are the
        suffixes of their files."""
        found = {f"{self.twin}{suffix}": each.disclosure for suffix, each in made.items()}
        digests = {name: _digest(content) for name, content in found.items() if content is not None}
        return numbers.model_copy(update={"disclosures": digests})

    def companion(self, suffix: str, disclosure: bytes | None) -> Companion | None:
        if disclosure is None:
            return None
        return companion_of(f"{self.twin}{suffix}", disclosure, self.report.address)

    def figures(self) -> Iterator[FigureView]:
        return figures_of(self.view.blocks)

    def data(self) -> dict[str, bytes]:
        """The figures' data as CSV, by file name."""
        return {f"{each.id}.csv": each.csv.encode() for each in self.figures() if each.svg or each.undrawn}

    def on_screen(self) -> _Documents:
        """Return both HTML pages. Raises ReportError if the house style hides a required text."""
        from benchbrief.reports.render.page_html import require_said

        disclosure = self.disclosure("screen", ".html").encode() if self.twin else None
        other, view = self.companion(".html", disclosure), self.unpaged_view
        page = self.page("screen", other, view)
        if self.report.theme.css or self.report.parts:
            require_said(page, replace(view, companion=other))
        return _Documents(page.encode(), disclosure)

    def pdf(self, numbers: NumbersFile, capsule: bytes | None) -> _Documents:
        """Return the PDFs. Each has the file of numbers attached, and the brief's PDF also has its figures' data and
        its capsule. Raises ReportError if a user's style sheet or part needs something that the PDF writer cannot do.
        """
        from benchbrief.reports.render.page_html import must_say
        from benchbrief.reports.render.page_pdf import to_pdf

        over = draw_sheet(self.view, self.catalogue)
        disclosure = None
        if self.twin:
            own = b"".join(numbers.model_copy(update={"document": "disclosure"}).written(self.view.cells()))
            disclosure = to_pdf(self.disclosure("paper", ".pdf"), lambda _: {ATTACHMENT: own}, over)
        other = self.companion(".pdf", disclosure)

        def redraw(arrangement: Arrangement) -> str:
            blocks = with_redrawn_figures(self.view.blocks, arrangement.shares)
            view = self.view if arrangement.ending == "short" else with_every_limit(self.view)
            view = replace(view, blocks=with_notes_again(blocks, arrangement.notes))
            names = ("first_figure", "close_set", "new_page", "ending")
            placed = {name: getattr(arrangement, name) for name in names}
            page = _leading_to_own_notes(self.page("paper", other, view, **placed), arrangement.notes)
            views[page] = view
            return page

        def inspect(document: Any) -> None:
            self.faults.extend(find_faults(document, ", ".join(styled)) if styled else ())
            self.faults.extend(filter(None, [pages_too_many(document)] if self.view.one_page else []))

        styled = [asset.file for asset in (self.report.theme.css, *self.report.parts) if asset]
        if disclosure is not None:
            digests = {**numbers.disclosures, f"{self.twin}.pdf": _digest(disclosure)}
            numbers = numbers.model_copy(update={"disclosures": digests})

        def attached(page: str) -> dict[str, bytes]:
            own = {ATTACHMENT: b"".join(_in_order_of(page, numbers).written(self.view.cells())), **self.data()}
            return {**own, self.capsule: capsule} if capsule is not None else own

        page = self.page("paper", other)
        views = {page: self.view}
        self.faults.extend(filter(None, [letters_without_typeface(re.sub("<[^>]*>", "", page.partition("<body")[2]))]))
        said = (lambda page: must_say(page, replace(views[page], companion=other))) if styled else None
        rigid = {figure.id for figure in figures_of(self.view.blocks) if figure.is_rigid or not self.view.one_page}
        made = partial(to_pdf, must_say=said, redraw=redraw, rigid=rigid, one_page=self.view.one_page, inspect=inspect)
        try:
            pdf = made(page, attached, over, further=self.view.further_count)
        except Exception as error:
            if not styled or isinstance(error, ReportError):
                raise
            raise ReportError(
                f"the PDF writer fails over the house style: {', '.join(styled)} ({type(error).__name__}: {error})",
                "what is shown must be drawn (`transform: scale(0)` is not): "
                "take such rules out, or write --format html",
            ) from error
        return _Documents(pdf, disclosure)

    def markdown(self) -> _Documents:
        from benchbrief.reports.render.page_html import must_say
        from benchbrief.reports.text.markdown_export import require_in_markdown, to_markdown

        house = self.house.with_logo_in(self.folder)
        disclosure = None
        if self.twin:
            disclosure = self._marked(to_markdown(self.disclosure("markdown", ".md", house)))
        other = self.companion(".md", disclosure)
        page = self.page("markdown", other, self.unpaged_view, figures=self.folder, house=house)
        text = to_markdown(page)
        if self.report.parts:
            require_in_markdown(text, must_say(page, replace(self.unpaged_view, companion=other)))
        return _Documents(self._marked(text), disclosure)

    def _marked(self, markdown: str) -> bytes:
        if self.view.simulated or self.view.imported:
            mark = "notice_simulated" if self.view.simulated else "imported_mark"
            markdown = mark_markdown(markdown, self.catalogue, mark)
        return markdown.encode()

    def write(self, suffix: str, documents: _Documents) -> Iterator[Path]:
        """Write the brief and, if it is separate, the disclosure. Yields the paths."""
        yield _write(self.out_dir / f"{self.stem}{suffix}", documents.brief)
        if documents.disclosure is not None:
            yield _write(self.out_dir / f"{self.twin}{suffix}", documents.disclosure)

    def write_to_edit(
        self,
        kind: Format,
        plan: Plan,
        numbers: NumbersFile,
        disclosure: Companion | None,
        converter: Converter | None,
    ) -> Path:
        """Write the brief as an editable file, which names its disclosure and contains the file of its numbers. Raises
        ReportError if the file cannot be made."""
        template = getattr(self.report.theme, kind, None)
        house = (Path(template.file).name, content_of(template, self.kept)) if template else None
        with nullcontext(converter) if converter else Converter().running() as drawing:
            view = replace(self.view if kind == "pptx" else self.unpaged_view, companion=disclosure)
            brief = HandOver(view, plan, self.report, self.catalogue, self.store, drawing, house, self.faults)
            content = OFFICE_FORMATS[kind].write(brief)
        shown = [number for number in numbers.numbers if number.document == "brief"]
        with written_as(self.catalogue.locale):
            content = with_ledger(content, shown, numbers.written(self.view.cells()))
        return _write(self.out_dir / f"{self.stem}.{kind}", content)

    def write_pictures(self, converter: Converter | None) -> Iterator[Path]:
        """Write the drawn figures as SVG and PNG, each with a line on the origin of its numbers below it. Also write
        the logo."""
        origin = " · ".join(tag.text for tag in self.view.origin)
        drawn = {each.id: each.svg for each in self.figures() if each.svg}
        with nullcontext(converter) if converter else Converter().running() as drawing:
            for name, own in drawn.items():
                try:
                    svg = with_line_below(own, origin)
                except NotDrawn as error:
                    self.faults.append(f"there are no pictures of {name}: {error}")
                    continue
                yield _write(self.out_dir / self.folder / f"{name}.svg", svg.encode())
                with suppress(NotDrawn):  # the SVG is there
                    yield _write(self.out_dir / self.folder / f"{name}.png", drawing.png(svg))
        if self.house.logo_file:
            name, content = self.house.logo_file
            yield _write(self.out_dir / self.folder / name, content)

    def undrawn(self) -> Iterator[str]:
        english = CATALOGUES["en"]
        for gap in self.view.gaps:
            part = name_part(gap, english)
            yield f"{part[0].lower()}{part[1:]} of `{self.report.name}`: {reason_of(gap, english)}"


def with_line_below(svg: str, text: str) -> str:
    """Return a drawing with a line of text below it, which is needed because its file may be seen apart from the brief.
    Raises NotDrawn if there is no room for the line."""
    if not text:
        return svg
    number = r"(\d+(?:\.\d+)?)"
    size = re.match(rf'<svg[^>]* width="{number}" height="{number}"', svg)
    if size is None:
        raise NotDrawn("the drawing does not say its size")
    width, height = math.ceil(float(size[1])), math.ceil(float(size[2])) + 20
    look = f'x="{width // 2}" y="{height - 6}" text-anchor="middle" font-family="sans-serif" font-size="10.5"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>{svg}'
        f'<text {look} fill="{SOFT}">{escape(text)}</text></svg>'
    )


def _require_language(report: Report) -> None:
    if report.language not in CATALOGUES and not report.words:
        raise ReportError(
            f"{report.origin}: reports can't be written in `{report.language}`",
            f"write `language = ` and one of: {', '.join(CATALOGUES)}",
        )


def _stem(view: ReportView, report: Report) -> str:
    """Return the name of the files without language and suffix. A file may be copied out of the run's folder, so its
    name shows if the numbers were not measured."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", report.name).strip(".-") or "report"
    return stem + ("-simulated" if view.simulated else "") + ("-imported" if view.imported else "")


def _asking(store: AskedStore) -> Answer:
    """Return a function that answers a template's SQL from a store. The SQL can neither change the store nor reach
    anything else."""

    def query(text: str) -> list[dict[str, Any]]:
        try:
            found = store.sql(text)
        except BenchError as error:
            raise ReportError(error.message, error.hint) from error
        return [dict(zip(found.columns, row, strict=True)) for row in found.rows]

    return query


def numbers_on(page: bytes) -> dict[str, bool]:
    """Return the ids of the numbers on a page in order, and whether the page marks each."""
    found = re.findall(r'<(a|span) class="num[^"]*" id="(n[0-9]+)"[^>]*>(<span>)?', page.decode())
    return {number: tag == "a" or bool(inner) for tag, number, inner in found}


def _leading_to_own_notes(page: str, notes: Mapping[str, Sequence[int]]) -> str:
    """Return a page where each figure, table and text has links from its footnote marks to its own copy of the
    notes."""
    for block, numbers in notes.items():

        def led(found: re.Match[str], block: str = block, numbers: Sequence[int] = numbers) -> str:
            marks = "|".join(map(str, numbers))
            return re.sub(rf'href="#note-({marks})"', rf'href="#note-\1-{block}"', found[0])

        page = re.sub(rf'<(figure|div) [^>]*id="{block}".*?</\1>', led, page, flags=re.DOTALL)
    return page


def _in_order_of(page: str, numbers: NumbersFile) -> NumbersFile:
    """Return the file with the brief's numbers in the order of a page, where a figure may come before the lead."""
    places = {number: place for place, number in enumerate(numbers_on(page.encode()))}
    ordered = sorted(numbers.numbers, key=lambda number: places.get(number.id, len(places)))
    return numbers.model_copy(update={"numbers": tuple(ordered)})


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _find(plan: Plan, name: str) -> Report:
    for report in plan.reports:
        if report.name == name:
            return report
    names = ", ".join(r.name for r in plan.reports)
    hint = f"the spec has: {names}" if names else "add a `report` to the spec"
    raise ReportError(f"there is no report `{name}`", hint)


def _template(report: Report) -> TemplateSpec:
    try:
        return template_of(report.template)
    except ReportError as error:
        raise ReportError(f"{report.origin}: {error}", error.hint) from None


def _write(path: Path, content: bytes | Iterable[bytes]) -> Path:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                file.writelines([content] if isinstance(content, bytes) else content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise ReportError(
            f"{path} can't be written: {error.strerror}",
            "make room, or choose another folder: `bench report --to FOLDER`",
        ) from error
    return path
