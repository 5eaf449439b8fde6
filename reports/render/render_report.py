"""Writes a report of a plan, with the results in a store, as a PDF and a self-contained HTML page."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from benchbrief.compiler.extensions import TemplateSpec
from benchbrief.dsl.bench_error import BenchError
from benchbrief.model.plan import Plan, Report
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.charts.svg_converter import Converter
from benchbrief.reports.data.gaps import name_part, reason_of
from benchbrief.reports.data.numbers_file import ATTACHMENT, NumberEntry, NumbersFile
from benchbrief.reports.data.report_data import AskedStore
from benchbrief.reports.data.view_model import FigureView, ReportView, figures_of, with_redrawn_figures
from benchbrief.reports.render.watermark import draw_sheet, mark_markdown
from benchbrief.reports.view.house_style import House, Kept, house_of, missing_typefaces, template_of
from benchbrief.reports.words.brief_words import CATALOGUES, Words, words_of

if TYPE_CHECKING:
    from benchbrief.reports.render.page_html import Answer, Medium

_MOST = 3
"""The most warnings; further ones are counted."""


def warn_of_vanished(file: NumbersFile) -> Iterator[str]:
    """Yield a warning for each of the first numbers that a format of the spec prints as 0."""
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


Format = Literal["pdf", "html", "markdown"]


@dataclass(frozen=True)
class Rendered:
    """Where a report is: `files` are the written files, in reading order; `pdf` is None if none was made.

    `numbers` is the side file.
    """

    html: Path
    pdf: Path | None
    numbers: Path
    files: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()
    """What a reader would notice: a replaced typeface, numbers that a format prints as 0."""
    undrawn: tuple[str, ...] = ()
    """What of the brief could not be made, each with its reason."""


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
) -> Rendered:
    """Write `out_dir/<report>.pdf`, `.html`, `.json` and `.md` (with `<report>-figures/`), each whole or not at all.

    The figures' data are in that folder as CSV, and in the PDF.

    Raises ReportError. Without `formats`, writes PDF and HTML; for a blog also Markdown. `kept` reads the files of the
    report's house style; without it they are read from their original places. `reports_from`: the files of the plan's
    reports and metrics, if not the spec of the run, with their SHA-256; the disclosure names them. In a language other
    than the run's own, the files are `<report>.<language>.pdf` and so on. `converter` draws the figures, and stays open
    for the next report.
    """
    from benchbrief.reports.render.page_html import require_notices
    from benchbrief.reports.view.build_view import build

    report = _find(plan, report_name)
    usual = _template(report).formats
    _require_language(report)
    chosen = ("html",) if html_only else formats or usual
    house, catalogue = house_of(report, kept, paper), words_of(report)
    view = build(plan, store, report, catalogue, reports_from, converter)
    stem = _stem(view, report, other_language=other_language)
    view = replace(view, side_file=f"{stem}.json")
    brief = _Brief(view, report, catalogue, house, store, out_dir, stem)
    screen = brief.page("screen")
    if report.theme.css or report.parts:
        require_notices(screen, view)
    numbers = _write(out_dir / view.side_file, numbers_on(screen, view))
    html, pdf = out_dir / f"{stem}.html", out_dir / f"{stem}.pdf"
    files, beside = list[Path](), [numbers]
    if "pdf" in chosen:
        files.append(_write(pdf, brief.pdf(numbers.read_bytes())))
    if "html" in chosen:
        files.append(_write(html, screen.encode()))
    if "markdown" in chosen:
        files.append(_write(out_dir / f"{stem}.md", brief.markdown().encode()))
        beside += brief.write_pictures()
    if {"pdf", "markdown"} & set(chosen):
        beside += [_write(out_dir / brief.folder / name, content) for name, content in brief.data().items()]
    typeface = missing_typefaces(report) if "pdf" in chosen else ""
    warnings = (*([typeface] if typeface else []), *warn_of_vanished(view.numbers))
    made_pdf = pdf if "pdf" in chosen else None
    return Rendered(html, made_pdf, numbers, (*files, *beside), warnings, tuple(brief.undrawn()))


@dataclass(frozen=True)
class _Brief:
    """A report's view with everything that its pages are made of. `stem` is the files' name without its ending."""

    view: ReportView
    report: Report
    catalogue: Words
    house: House
    store: AskedStore
    out_dir: Path
    stem: str

    @property
    def folder(self) -> str:
        return f"{self.stem}-figures"

    def page(self, medium: Medium, view: ReportView | None = None, **more: Any) -> str:
        from benchbrief.reports.render.page_html import to_html

        look = {"template": self.report.template, "words": self.catalogue, "house": self.house, **more}
        return to_html(view or self.view, medium=medium, query=_asking(self.store), **look)

    def figures(self) -> Iterator[FigureView]:
        return figures_of(self.view.blocks)

    def data(self) -> dict[str, bytes]:
        """The figures' data as CSV, by the name of the file."""
        return {f"{each.id}.csv": each.csv.encode() for each in self.figures() if each.svg or each.undrawn}

    def pdf(self, numbers: bytes) -> bytes:
        """Return the PDF. Raises ReportError where a user's style sheet or part needs what the PDF writer can't do."""
        from benchbrief.reports.render.page_html import notice_lines
        from benchbrief.reports.render.page_pdf import to_pdf

        def redraw(shares: Mapping[str, float]) -> str:
            return self.page("paper", replace(self.view, blocks=with_redrawn_figures(self.view.blocks, shares)))

        own = [asset.file for asset in (self.report.theme.css, *self.report.parts) if asset]
        page, over = self.page("paper"), draw_sheet(self.view, self.catalogue)
        notices = notice_lines(self.view) if own else ()
        try:
            return to_pdf(page, {ATTACHMENT: numbers, **self.data()}, over, must_say=notices, redraw=redraw)
        except Exception as error:
            if not own or isinstance(error, ReportError):
                raise
            raise ReportError(
                f"the PDF writer fails over the house style: {', '.join(own)} ({type(error).__name__}: {error})",
                "what is shown must be drawn (`transform: scale(0)` is not): "
                "take such rules out, or write --format html",
            ) from error

    def markdown(self) -> str:
        from benchbrief.reports.render.page_html import notice_lines
        from benchbrief.reports.text.markdown_export import require_in_markdown, to_markdown

        house = self.house.with_logo_in(self.folder)
        text = to_markdown(self.page("markdown", figures=self.folder, house=house))
        if self.report.parts:
            require_in_markdown(text, notice_lines(self.view))
        if self.view.simulated or self.view.imported:
            mark = "notice_simulated" if self.view.simulated else "imported_mark"
            return mark_markdown(text, self.catalogue, mark)
        return text

    def write_pictures(self) -> Iterator[Path]:
        """Write what a Markdown page shows beside its text: the drawn figures and the logo."""
        pictures = {f"{each.id}.svg": each.svg.encode() for each in self.figures() if each.svg}
        for name, content in (*pictures.items(), *([self.house.logo_file] if self.house.logo_file else ())):
            yield _write(self.out_dir / self.folder / name, content)

    def undrawn(self) -> Iterator[str]:
        english = CATALOGUES["en"]
        for gap in self.view.gaps:
            part = name_part(gap, english)
            yield f"{part[0].lower()}{part[1:]} of `{self.report.name}`: {reason_of(gap, english)}"


def _require_language(report: Report) -> None:
    if report.language not in CATALOGUES and not report.words:
        raise ReportError(
            f"{report.origin}: reports can't be written in `{report.language}`",
            f"write `language = ` and one of: {', '.join(CATALOGUES)}",
        )


def _stem(view: ReportView, report: Report, *, other_language: bool) -> str:
    """Return the files' name without its ending. A file may be copied out of the run's folder, so its own name says
    what was not measured."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", report.name).strip(".-") or "report"
    kind = ("-simulated" if view.simulated else "") + ("-imported" if view.imported else "")
    return stem + kind + (f".{report.language}" if other_language else "")


def _asking(store: AskedStore) -> Answer:
    """Return a function that answers a template's SQL, on a store that nothing can change or leave."""

    def query(text: str) -> list[dict[str, Any]]:
        try:
            found = store.sql(text)
        except BenchError as error:
            raise ReportError(error.message, error.hint) from error
        return [dict(zip(found.columns, row, strict=True)) for row in found.rows]

    return query


def numbers_on(page: str, view: ReportView) -> Iterator[bytes]:
    """Yield the side file of a page, piece by piece: its numbers in the order of the page."""
    found = re.findall(r'<(a|span) class="num[^"]*" id="(n[0-9]+)"[^>]*>(<span>)?', page)
    numbers = view.numbers.in_order({number: tag == "a" or bool(inner) for tag, number, inner in found})
    digest = hashlib.sha256(page.encode()).hexdigest()
    return numbers.model_copy(update={"page_sha256": digest}).written(view.cells())


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
