"""The one error of this room."""

from __future__ import annotations


class ReportError(Exception):
    """A report can't be made: one line, and what to do next in `hint`."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def hides(notice: str) -> ReportError:
    """A house style takes this from a brief."""
    return ReportError(
        f"the house style hides what must be known before any number: {notice}",
        "let its style sheet and its parts show all that stands in a box of class `notice`",
    )
