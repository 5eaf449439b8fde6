"""A report of a plan, with the results in a store, as a PDF and a self-contained HTML page."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from benchbrief.compiler.plan import Plan, Report
from benchbrief.reports.errors import ReportError
from benchbrief.reports.numbers import ATTACHMENT
from benchbrief.reports.source import Store
from benchbrief.reports.view import ReportView
from benchbrief.reports.words import CATALOGUES, words


@dataclass(frozen=True)
class Rendered:
    """Where the report was written; `pdf` is None when only HTML was asked for. `numbers` is the side file."""

    html: Path
    pdf: Path | None
    numbers: Path


def render(
    plan: Plan,
    store: Store,
    report_name: str,
    out_dir: Path,
    *,
    html_only: bool = False,
    reports_from: dict[str, str] | None = None,
) -> Rendered:
    """Write `out_dir/<report>.html`, `.pdf` and `.json`, each whole or not at all. Raises ReportError.

    `reports_from`: the files that the plan's reports and metrics are from, if not from the spec of the run, with
    their SHA-256; the disclosure names them.
    """
    from benchbrief.reports.build import build
    from benchbrief.reports.page import TEMPLATES, to_html

    report = _find(plan, report_name)
    if report.template not in TEMPLATES:
        raise ReportError(
            f"{report.origin}: there is no template `{report.template}`",
            f"write `template = ` and one of: {', '.join(TEMPLATES)}",
        )
    if report.language not in CATALOGUES:
        raise ReportError(
            f"{report.origin}: reports can't be written in `{report.language}`",
            f"write `language = ` and one of: {', '.join(CATALOGUES)}",
        )
    catalogue = words(report.language)
    view = build(plan, store, report, catalogue, reports_from)
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", report.name).strip(".-") or "report"
    if view.simulated:  # a file may be copied out of the run's folder, whose name says it
        stem += "-simulated"
    if view.imported:
        stem += "-imported"
    html_path, numbers_path = out_dir / f"{stem}.html", out_dir / f"{stem}.json"
    view = replace(view, side_file=numbers_path.name)
    page = to_html(view, report.template, catalogue, "screen")
    numbers = numbers_on(page, view)
    _write(numbers_path, numbers)
    _write(html_path, page.encode())
    if html_only:
        return Rendered(html_path, None, numbers_path)
    from benchbrief.reports.pdf import to_pdf

    pdf_path = out_dir / f"{stem}.pdf"
    _write(pdf_path, to_pdf(to_html(view, report.template, catalogue, "paper"), {ATTACHMENT: numbers}))
    return Rendered(html_path, pdf_path, numbers_path)


def numbers_on(page: str, view: ReportView) -> bytes:
    """The side file of a page: its numbers in the order in which it shows them."""
    found = re.findall(r'<(a|span) class="num[^"]*" id="(n[0-9]+)"', page)
    return view.numbers.in_order({number: tag == "a" for tag, number in found}).json_text().encode()


def _find(plan: Plan, name: str) -> Report:
    for report in plan.reports:
        if report.name == name:
            return report
    names = ", ".join(r.name for r in plan.reports)
    hint = f"the spec has: {names}" if names else "add a `report` to the spec"
    raise ReportError(f"there is no report `{name}`", hint)


def _write(path: Path, content: bytes) -> None:
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
