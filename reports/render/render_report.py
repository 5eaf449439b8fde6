"""Writes a report of a plan, with the results in a store, as a PDF and a self-contained HTML page."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from benchbrief.compiler.extensions import TemplateSpec
from benchbrief.dsl.bench_error import BenchError
from benchbrief.model.plan import Plan, Report
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.charts.svg_converter import Converter
from benchbrief.reports.data.gaps import name_part, reason_of
from benchbrief.reports.data.numbers_file import ATTACHMENT, Number, NumbersFile
from benchbrief.reports.data.report_data import Store
from benchbrief.reports.data.view_model import ReportView, figures_of, with_redrawn_figures
from benchbrief.reports.render.fonts import missing_typefaces
from benchbrief.reports.render.watermark import Sheet, draw_sheet, mark_markdown
from benchbrief.reports.view.house_style import Kept, house_of
from benchbrief.reports.view.layouts import template_of
from benchbrief.reports.words.brief_words import CATALOGUES, words_of

if TYPE_CHECKING:
    from benchbrief.reports.render.page_html import Answer

_MOST = 3
"""The most warnings; further ones are counted."""


def warn_of_vanished(file: NumbersFile) -> Iterator[str]:
    """Yield a warning for each of the first numbers that a format of the spec prints as 0."""
    texts = {query.id: query.expression for query in file.queries}
    found: dict[tuple[str, str], Number] = {}
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
    """The report's place: `files` are the written files, in reading order; `pdf` is None unless made.

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
    store: Store,
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

    Raises ReportError. Without `formats`, writes PDF and HTML; for a blog also Markdown. `kept` reads the files of
    the report's house style; without it they are read from their original places. `reports_from`: the files of the
    plan's reports and metrics, if not the spec of the run, with their SHA-256; the disclosure names them. In another
    language than the run's own, the files are `<report>.<language>.pdf` and so on. `converter` draws the figures, and
    stays open for the next report.
    """
    from benchbrief.reports.render.page_html import notice_lines, require_notices, to_html
    from benchbrief.reports.view.build_view import build

    report = _find(plan, report_name)
    usual = _template(report).formats
    if report.language not in CATALOGUES and not report.words:
        raise ReportError(
            f"{report.origin}: reports can't be written in `{report.language}`",
            f"write `language = ` and one of: {', '.join(CATALOGUES)}",
        )
    chosen = ("html",) if html_only else formats or usual
    house = house_of(report, kept, paper)
    catalogue = words_of(report)
    view = build(plan, store, report, catalogue, reports_from, converter)
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", report.name).strip(".-") or "report"
    if view.simulated:  # a file may be copied out of the run's folder, whose name says it
        stem += "-simulated"
    if view.imported:
        stem += "-imported"
    if other_language:
        stem += f".{report.language}"
    html, numbers_path = out_dir / f"{stem}.html", out_dir / f"{stem}.json"
    view = replace(view, side_file=numbers_path.name)
    page_of = partial(to_html, template=report.template, words=catalogue, house=house, query=_asking(store))
    page = partial(page_of, view)
    screen = page(medium="screen")
    if report.theme.css or report.parts:
        require_notices(screen, view)
    pdf, files, beside = None, list[Path](), [_write(numbers_path, numbers_on(screen, view))]
    figures = list(figures_of(view.blocks))
    drawn = [figure for figure in figures if figure.svg]
    english = CATALOGUES["en"]
    missing = ((name_part(gap, english), reason_of(gap, english)) for gap in view.gaps)
    undrawn = tuple(f"{part[0].lower()}{part[1:]} of `{report.name}`: {reason}" for part, reason in missing)
    data = {f"{figure.id}.csv": figure.csv.encode() for figure in figures if figure.svg or figure.undrawn}
    if "pdf" in chosen:
        pdf = out_dir / f"{stem}.pdf"
        attached = {ATTACHMENT: numbers_path.read_bytes(), **data}

        def redraw(shares: Mapping[str, float]) -> str:
            return page_of(replace(view, blocks=with_redrawn_figures(view.blocks, shares)), medium="paper")

        made = _pdf(page(medium="paper"), redraw, attached, draw_sheet(view, catalogue), report, notice_lines(view))
        files.append(_write(pdf, made))
    if "html" in chosen:
        files.append(_write(html, screen.encode()))
    if "markdown" in chosen:
        from benchbrief.reports.text.markdown_export import require_in_markdown, to_markdown

        folder = f"{stem}-figures"
        text = to_markdown(page(medium="markdown", figures=folder, house=house.with_logo_in(folder)))
        if report.parts:
            require_in_markdown(text, notice_lines(view))
        if view.simulated or view.imported:
            text = mark_markdown(text, catalogue, "notice_simulated" if view.simulated else "imported_mark")
        files.append(_write(out_dir / f"{stem}.md", text.encode()))
        beside += [_write(out_dir / folder / f"{figure.id}.svg", figure.svg.encode()) for figure in drawn]
        if house.logo_file:
            beside.append(_write(out_dir / folder / house.logo_file[0], house.logo_file[1]))
    if {"pdf", "markdown"} & set(chosen):
        beside += [_write(out_dir / f"{stem}-figures" / name, content) for name, content in data.items()]
    typeface = missing_typefaces(report) if pdf else ""
    warnings = (*([typeface] if typeface else []), *warn_of_vanished(view.numbers))
    return Rendered(html, pdf, numbers_path, (*files, *beside), warnings, undrawn)


def _pdf(
    page: str,
    redraw: Callable[[Mapping[str, float]], str],
    attached: dict[str, bytes],
    over: Sheet | None,
    report: Report,
    notices: Sequence[str],
) -> bytes:
    """Raise ReportError where a user's style sheet or part needs what the PDF writer can't do."""
    from benchbrief.reports.render.page_pdf import to_pdf

    own = [asset.file for asset in (report.theme.css, *report.parts) if asset]
    try:
        return to_pdf(page, attached, over, must_say=notices if own else (), redraw=redraw)
    except Exception as error:
        if not own or isinstance(error, ReportError):
            raise
        raise ReportError(
            f"the PDF writer fails over the house style: {', '.join(own)} ({type(error).__name__}: {error})",
            "what is shown must be drawn (`transform: scale(0)` is not): take such rules out, or write --format html",
        ) from error


def _asking(store: Store) -> Answer:
    """Answer a template's questions, on a store that nothing can change or leave."""

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
