"""The base class of the errors that the reports raise."""

from __future__ import annotations

from benchbrief.dsl.bench_error import BenchError


class ReportError(BenchError):
    """Raised if a report can't be made, or if a brief, a capsule or a house style can't be used."""

    code = "report"


def hides(text: str) -> ReportError:
    """Return the error for a house style that hides a required part of a brief."""
    return ReportError(
        f"the house style hides what a brief must say: {text}",
        "let its style sheet and its parts show the numbers' origin, limits and footnotes, and where all of it is "
        "disclosed",
    )
