"""The error of this room, shown like those of the runners."""

from __future__ import annotations

from benchbrief.runners.errors import RunnerError


class ResultsError(RunnerError):
    """Results can't be read, built or asked: one line, and what to do next in `hint`."""
