"""The errors of this package, which are shown like the runners' errors."""

from __future__ import annotations

from benchbrief.dsl.bench_error import ExitCode
from benchbrief.runners.errors import DiskFull, RunnerError


class ResultsError(RunnerError):
    """Raised when results can't be read, built or queried."""

    code = "results"


class NoRoom(ResultsError, DiskFull):
    """Raised when the disk is too full for the tables or the brief. All measurements are kept."""

    code = "no_room"
    ends_with = ExitCode.BRIEF_NOT_MADE
