"""The base of every error that a user can act on, and the exit codes of commands."""

from __future__ import annotations

import enum
import errno
from typing import ClassVar


class ExitCode(enum.IntEnum):
    DONE = 0
    SPEC_WRONG = 1
    USAGE = 2
    CELL_FAILED = 3
    EXPECT_FAILED = 4
    BRIEF_NOT_MADE = 5
    SUSPECT = 6
    INTERRUPTED = 130
    OUTPUT_CLOSED = 141


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The errno values of an OSError that mean a full disk."""


def how_to_mend(error: OSError) -> str:
    """Return the next step if a file can't be used, or "" if the error's reason already contains it."""
    if error.errno == errno.EROFS:
        return "its file system is read-only: mount it for writing, or copy the folder to one that can be written"
    if error.errno in FULL:
        return "make room there"
    return "check its permissions" if error.errno in (errno.EACCES, errno.EPERM) else ""


class BenchError(Exception):
    """An error that a user can act on. `message` says what happened, and `hint` is the next step.

    `code` names the kind of error, and `exit_code` is the exit code of a command that this error stops.
    """

    code: ClassVar[str] = "error"
    ends_with: ClassVar[ExitCode] = ExitCode.USAGE
    says_hint = False
    """Whether `str()` adds the hint on a second line, as in the Python API. Commands print the hint themselves."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhelp: {self.hint}" if self.says_hint and self.hint else super().__str__()

    @property
    def exit_code(self) -> ExitCode:
        """Return the exit code of a command that fails with this error. If the disk is full, BRIEF_NOT_MADE replaces
        USAGE."""
        full = isinstance(self.__cause__, OSError) and self.__cause__.errno in FULL
        return ExitCode.BRIEF_NOT_MADE if full and self.ends_with is ExitCode.USAGE else self.ends_with

    def rendered(self, *, colour: bool) -> str | None:
        """Return the error as shown on a terminal, or None to show the message on one line and the hint on the next."""
        del colour
        return None
