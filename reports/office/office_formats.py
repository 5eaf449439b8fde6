"""The formats of editable files, and what each of them needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from importlib import import_module

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.extension_spec import Format
from benchbrief.model.plan import Plan, Report
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.charts.svg_converter import Converter
from benchbrief.reports.data.gaps import raises_mistakes
from benchbrief.reports.data.report_data import AskedStore
from benchbrief.reports.data.view_model import ReportView
from benchbrief.reports.words.brief_words import Words


@dataclass(frozen=True)
class HandOver:
    """Everything that is needed to write an editable file. `template` is the name and content of the house's template,
    or None."""

    view: ReportView
    plan: Plan
    report: Report
    words: Words
    store: AskedStore
    converter: Converter
    template: tuple[str, bytes] | None = None
    faults: list[str] = field(default_factory=list)
    """The parts of the request that a writer cannot carry out."""


@dataclass(frozen=True)
class OfficeFormat:
    """A format of editable files. `program` opens such files. `library` is the Python module that writes them, from
    `package`. `writer` names our module, whose function `written` turns a HandOver into a file."""

    program: str
    library: str
    package: str
    writer: str

    def require_library(self) -> None:
        """Raise ReportError if the library is missing."""
        try:
            import_module(self.library)
        except ImportError as error:
            raise ReportError(
                f"a file for {self.program} needs {self.package}, which is not installed",
                "install it: pip install 'benchbrief[office]'",
            ) from error

    def write(self, brief: HandOver) -> bytes:
        """Return the file. Raises ReportError if the library is missing or the house's template is broken."""
        self.require_library()
        written: Callable[[HandOver], bytes] = import_module(f"benchbrief.reports.office.{self.writer}").written
        try:
            return written(brief)
        except (ReportError, OSError):
            raise
        except Exception as error:
            if raises_mistakes():
                raise
            said = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            raise ReportError(
                f"the file for {self.program} could not be made, by a mistake in benchbrief: {said}",
                "please report it with the output of the same command under BENCH_TRACEBACK=1",
            ) from error


OFFICE_FORMATS: Mapping[Format, OfficeFormat] = {
    "pptx": OfficeFormat("PowerPoint", "pptx", "python-pptx", "presentation"),
    "xlsx": OfficeFormat("Excel", "xlsxwriter", "XlsxWriter", "workbook"),
    "docx": OfficeFormat("Word", "docx", "python-docx", "document"),
}
