"""The one error of this room."""

from __future__ import annotations


class ReportError(Exception):
    """A report can't be made: one line, and what to do next in `hint`."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint
