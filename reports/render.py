"""A report of a plan, with the results in a store, as a PDF and a self-contained HTML page."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from benchbrief.compiler.plan import Plan, Report
from benchbrief.reports.errors import ReportError
from benchbrief.reports.fonts import missing_for
from benchbrief.reports.house import Kept, house_of
from benchbrief.reports.numbers import ATTACHMENT
from benchbrief.reports.source import Store
from benchbrief.reports.view import ReportView, figures_of
from benchbrief.reports.watermark import Sheet, marked_markdown, sheet
from benchbrief.reports.words import CATALOGUES, words_of

if TYPE_CHECKING:
    from benchbrief.reports.page import Answer

Format = Literal["pdf", "html", "markdown"]


@dataclass(frozen=True)
class Rendered:
    """Where the report was written, or would have been: `files` are those that were, what is read before what is beside
    it; `pdf` is None unless made.

    `numbers` is the side file.
    """

    html: Path
    pdf: Path | None
    numbers: Path
    files: tuple[Path, ...] = ()
    warning: str = ""
    """What its reader would see, and the machine that it was written on has the cure for."""


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
) -> Rendered:
    """Write `out_dir/<report>.pdf`, `.html`, `.json` and `.md` (with `<report>-figures/`), each whole or not at all.

    The figures' data stand in that folder as CSV; the PDF has them inside, too.

    Raises ReportError. Without `formats`, PDF and HTML are made; of a blog, Markdown as well. `kept` reads the files
    of the report's house style; without it they are read where they stood. `reports_from`: the files that the plan's
    reports and metrics are from, if not from the spec of the run, with their SHA-256; the disclosure names them.
    """
    from benchbrief.reports.build import build
    from benchbrief.reports.page import TEMPLATES, require_notices, said, to_html

    report = _find(plan, report_name)
    if report.template not in TEMPLATES:
        raise ReportError(
            f"{report.origin}: there is no template `{report.template}`",
            f"write `template = ` and one of: {', '.join(TEMPLATES)}",
        )
    if report.language not in CATALOGUES and not report.words:
        raise ReportError(
            f"{report.origin}: reports can't be written in `{report.language}`",
            f"write `language = ` and one of: {', '.join(CATALOGUES)}",
        )
    usual: tuple[Format, ...] = ("html", "pdf", "markdown") if report.template == "blog" else ("html", "pdf")
    chosen = ("html",) if html_only else formats or usual
    house = house_of(report, kept, paper)
    catalogue = words_of(report)
    view = build(plan, store, report, catalogue, reports_from)
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", report.name).strip(".-") or "report"
    if view.simulated:  # a file may be copied out of the run's folder, whose name says it
        stem += "-simulated"
    if view.imported:
        stem += "-imported"
    html, numbers_path = out_dir / f"{stem}.html", out_dir / f"{stem}.json"
    view = replace(view, side_file=numbers_path.name)
    page = partial(to_html, view, report.template, catalogue, house=house, query=_asking(store))
    screen = page("screen")
    if report.theme.css or report.parts:
        require_notices(screen, view)
    numbers = numbers_on(screen, view)
    pdf, files, beside = None, list[Path](), [_write(numbers_path, numbers)]
    drawn = [figure for figure in figures_of(view.blocks) if figure.svg]
    data = {f"{figure.id}.csv": figure.csv.encode() for figure in drawn}
    if "pdf" in chosen:
        pdf = out_dir / f"{stem}.pdf"
        attached = {ATTACHMENT: numbers, **data}
        files.append(_write(pdf, _pdf(page("paper"), attached, sheet(view, catalogue), report, said(view))))
    if "html" in chosen:
        files.append(_write(html, screen.encode()))
    if "markdown" in chosen:
        from benchbrief.reports.markdown import require_in_markdown, to_markdown

        folder = f"{stem}-figures"
        text = to_markdown(page("markdown", figures=folder, house=house.with_logo_in(folder)))
        if report.parts:
            require_in_markdown(text, said(view))
        if view.simulated or view.imported:
            text = marked_markdown(text, catalogue, "notice_simulated" if view.simulated else "imported_mark")
        files.append(_write(out_dir / f"{stem}.md", text.encode()))
        beside += [_write(out_dir / folder / f"{figure.id}.svg", figure.svg.encode()) for figure in drawn]
        if house.logo_file:
            beside.append(_write(out_dir / folder / house.logo_file[0], house.logo_file[1]))
    if {"pdf", "markdown"} & set(chosen):
        beside += [_write(out_dir / f"{stem}-figures" / name, content) for name, content in data.items()]
    return Rendered(html, pdf, numbers_path, (*files, *beside), missing_for(report) if pdf else "")


def _pdf(page: str, attached: dict[str, bytes], over: Sheet | None, report: Report, notices: Sequence[str]) -> bytes:
    """Raises ReportError where a user's own style sheet or part asks for what the PDF writer can't do."""
    from benchbrief.reports.pdf import to_pdf

    own = [asset.file for asset in (report.theme.css, *report.parts) if asset]
    try:
        return to_pdf(page, attached, over, must_say=notices if own else ())
    except Exception as error:
        if not own or isinstance(error, ReportError):
            raise
        raise ReportError(
            f"the PDF writer fails over the house style: {', '.join(own)} ({type(error).__name__}: {error})",
            "what is shown must be drawn (`transform: scale(0)` is not): take such rules out, or write --format html",
        ) from error


def _asking(store: Store) -> Answer:
    """A template's questions, to a store that nothing can change or get out of."""

    def query(text: str) -> list[dict[str, Any]]:
        try:
            found = store.sql(text)
        except Exception as error:
            if not hasattr(error, "hint"):
                raise
            raise ReportError(str(error), error.hint) from error
        return [dict(zip(found.columns, row, strict=True)) for row in found.rows]

    return query


def numbers_on(page: str, view: ReportView) -> bytes:
    """The side file of a page: its numbers in the order in which it shows them."""
    found = re.findall(r'<(a|span) class="num[^"]*" id="(n[0-9]+)"[^>]*>(<span>)?', page)
    numbers = view.numbers.in_order({number: tag == "a" or bool(inner) for tag, number, inner in found})
    digest = hashlib.sha256(page.encode()).hexdigest()
    return numbers.model_copy(update={"page_sha256": digest}).json_text().encode()


def _find(plan: Plan, name: str) -> Report:
    for report in plan.reports:
        if report.name == name:
            return report
    names = ", ".join(r.name for r in plan.reports)
    hint = f"the spec has: {names}" if names else "add a `report` to the spec"
    raise ReportError(f"there is no report `{name}`", hint)


def _write(path: Path, content: bytes) -> Path:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise ReportError(
            f"{path} can't be written: {error.strerror}",
            "make room, or choose another folder: `bench report --to FOLDER`",
        ) from error
    return path
