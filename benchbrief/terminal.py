"""What every command shares: exit codes, colour, and how errors are shown."""

from __future__ import annotations

import enum
import errno
import os
import select
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import FrameType
from typing import IO

import click


class ExitCode(enum.IntEnum):
    DONE = 0
    SPEC_WRONG = 1
    USAGE = 2
    CELL_FAILED = 3
    EXPECT_FAILED = 4
    INTERRUPTED = 130
    OUTPUT_CLOSED = 141


MEANINGS: Mapping[ExitCode, str] = {
    ExitCode.DONE: "done",
    ExitCode.SPEC_WRONG: "the spec is wrong; also where a command was asked to tell a difference so",
    ExitCode.USAGE: "usage, or what was asked for is not there",
    ExitCode.CELL_FAILED: "a cell failed, or something is missing",
    ExitCode.EXPECT_FAILED: "an `expect` does not hold, or something got worse",
    ExitCode.INTERRUPTED: "interrupted; `bench resume` goes on",
    ExitCode.OUTPUT_CLOSED: "who read the output has gone (`bench query ... | head`)",
}


def exit_codes(*codes: ExitCode) -> str:
    """A paragraph for the help of a command that may end with these."""
    return "\b\nExit codes:\n" + "\n".join(f"  {int(code):<4} {MEANINGS[code]}" for code in codes)


ENDS = (
    ExitCode.DONE,
    ExitCode.SPEC_WRONG,
    ExitCode.USAGE,
    ExitCode.CELL_FAILED,
    ExitCode.EXPECT_FAILED,
    ExitCode.INTERRUPTED,
)
"""How a run may end."""


class Stop(Exception):
    """End the command with `code`; everything that is to be said has been said."""

    def __init__(self, code: ExitCode) -> None:
        super().__init__(code.name)
        self.code = code


def use_colour(stream: IO[str]) -> bool:
    """Colour only on a terminal that wants it (https://no-color.org)."""
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def silence_what_is_closed() -> None:
    """Let standard output and error lead nowhere where their reader, such as a terminal, has gone: that is no error."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            descriptor = stream.fileno()
            try:
                if descriptor in _TERMINALS and not os.isatty(descriptor):
                    raise OSError(errno.EIO, "hung up")
                stream.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
                stream.flush()


def lead_somewhere() -> None:
    """Let standard streams that we were started without lead nowhere: what is said there is lost, and no error.

    Nor does a file that is opened later take their number.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w"))


def last_words(text: str) -> None:
    """Say on standard error what is lost where nobody reads it, or not soon: this waits for nothing, and never fails.

    For a signal's handler: it takes no lock.
    """
    with suppress(OSError, ValueError):
        descriptor = sys.stderr.fileno()
        waiting = select.poll()
        waiting.register(descriptor, select.POLLOUT)
        if waiting.poll(0):
            os.write(descriptor, text.encode(errors="replace")[: select.PIPE_BUF])


def on_hang_up(_number: int, _frame: FrameType | None) -> None:
    """The terminal was closed: end as by Ctrl-C."""
    silence_what_is_closed()
    raise KeyboardInterrupt


_TERMINALS = frozenset(descriptor for descriptor in (1, 2) if os.isatty(descriptor))


def fail(message: str, hint: str = "", code: ExitCode = ExitCode.USAGE) -> Stop:
    """Show an error in one line with its next step; raise what this returns."""
    paint = use_colour(sys.stderr)
    head = click.style("error:", fg="red", bold=True) if paint else "error:"
    click.echo(f"{head} {printable(message)}", err=True, color=paint)
    if hint:
        click.echo(
            f"  {click.style('help:', fg='cyan') if paint else 'help:'} {printable(hint)}", err=True, color=paint
        )
    return Stop(code)


def warn(message: str) -> None:
    paint = use_colour(sys.stderr)
    head = click.style("warning:", fg="yellow", bold=True) if paint else "warning:"
    click.echo(f"{head} {printable(message)}", err=True, color=paint)


def printable(text: str) -> str:
    """Text from a host or a spec, without control characters that a terminal would obey."""
    return "".join(char if char in "\n\t" or char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def show_error(error: Exception) -> int:
    """One clear message for any exception that reached the top; a traceback only for a mistake of ours, on request."""
    from benchbrief.dsl.diagnostics import SpecError

    if isinstance(error, SpecError):
        from benchbrief.dsl.render import render_all

        click.echo(render_all(error.diagnostics, colour=use_colour(sys.stderr)), err=True)
        return ExitCode.SPEC_WRONG

    from benchbrief.reports.errors import ReportError
    from benchbrief.runners.errors import DiskFull, RunnerError

    if isinstance(error, DiskFull):
        return fail(str(error), error.hint, ExitCode.INTERRUPTED).code
    if isinstance(error, RunnerError | ReportError):
        return fail(str(error), error.hint).code
    if isinstance(error, OSError) and error.filename:
        return fail(f"{error.filename}: {error.strerror}").code
    if os.environ.get("BENCH_TRACEBACK"):
        raise error
    return fail(
        f"internal error: {type(error).__name__}: {error}",
        "this is a mistake in benchbrief; please report it with the output of the same command under BENCH_TRACEBACK=1",
        ExitCode.CELL_FAILED,
    ).code
