"""Prints the output and errors of all commands: exit codes, colour, and how errors are shown."""

from __future__ import annotations

import errno
import json
import os
import re
import select
import sys
import traceback
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from types import FrameType
from typing import IO

import click

from benchbrief.dsl import source
from benchbrief.dsl.bench_error import FULL, BenchError, ExitCode, how_to_mend
from benchbrief.dsl.late_pattern import compile_late
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import display_width

_OPENING = "\u3008\u300a\u300c\u300e\u3010\u3014\uff08"
_CLOSING = "\u3001\u3002\u3009\u300b\u300d\u300f\u3011\u3015\u30fc\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f"
_WIDE = "\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60"
_PIECE = compile_late(rf" *(?:[{_OPENING}]*[{_WIDE}]|[^ {_WIDE}]+)[{_CLOSING}]*| +")
"""Matches a piece of text that is never broken. Lines may break between pieces: at blanks or, in scripts without
blanks, between characters."""


@dataclass(frozen=True)
class Marks:
    full: str
    empty: str
    cut: str


UNICODE = Marks("━", "─", "…")
ASCII = Marks("#", "-", "..")


def marks(encoding: str | None) -> Marks:
    """Return the symbols that this text encoding can represent."""
    try:
        "".join((UNICODE.full, UNICODE.empty, UNICODE.cut)).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def shared_start(names: Collection[str]) -> str:
    """Return the start that all cell names share (experiment, hardware and workload), or "" if they differ there."""
    found = {"".join(f"{part}/" for part in name.split("/")[:3]) for name in names}
    return found.pop() if len(found) == 1 < len(names) else ""


def shorten(name: str, width: int, marks: Marks = UNICODE, shared: str = "") -> str:
    """Shorten a name in its middle, because cell names are recognized by their start and differ at the end. The start
    `shared` by all names is cut first."""
    if display_width(name) <= width:
        return name
    if shared:
        return shorten(f"{marks.cut}{name.removeprefix(shared)}", width, marks)
    keep = max(0, width - display_width(marks.cut))
    return (
        _beginning(name, keep // 2) + marks.cut + _ending(name, keep - keep // 2) if keep else _beginning(name, width)
    )


def _beginning(text: str, width: int) -> str:
    while display_width(text) > width:
        text = text[:-1]
    return text


def _ending(text: str, width: int) -> str:
    while display_width(text) > width:
        text = text[1:]
    return text


def pad(text: str, width: int) -> str:
    """Add blanks on the right until the text takes `width` columns. A wide character takes two."""
    return text + " " * (width - display_width(text))


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of cells in columns that are as wide as needed. The first row is the header, with a rule below
    it."""
    widths = [max(map(display_width, texts)) for texts in zip(*rows, strict=True)]
    head, *others = (
        "  ".join(pad(text, width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
    return [head, "  ".join("─" * width for width in widths), *others]


def fold(line: str, width: int | None, indent: int) -> list[str]:
    """Break a line, which may have colours, for a terminal of this width. All lines but the first are indented. If the
    width is None, nothing is broken.

    Words that are longer than a line stay whole, so that a path can be copied.
    """
    if width is None or display_width(click.unstyle(line)) <= width:
        return [line]
    lines, used = [""], 0
    for piece in _PIECE.findall(line):
        needed = display_width(click.unstyle(piece))
        if used + needed > width and lines[-1].strip():
            lines.append(" " * indent + piece.lstrip(" "))
            used = display_width(click.unstyle(lines[-1]))
        else:
            lines[-1] += piece
            used += needed
    return lines


def duration(seconds: float) -> str:
    """Write seconds as a duration: `45 s`, `3 min 20 s`, `2 h 05 min`, `3 d 04 h`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 48 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600:02d} h"


def rate(ops_per_s: float) -> str:
    """Write a rate with its unit: `15,203 ops/s`, `4.2 ops/s`."""
    return f"{ops_per_s:,.0f} ops/s" if ops_per_s >= 100 or ops_per_s == 0 else f"{ops_per_s:.1f} ops/s"


def latency(seconds: float) -> str:
    """Write a latency as `812 us`, `1.23 ms` or `2.5 s`, with three digits and only letters that every terminal can
    show."""
    size, unit = next((step for step in _STEPS if seconds < step[0] * 999.5), _STEPS[-1])
    value = seconds / size
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


_STEPS = ((1e-6, "us"), (1e-3, "ms"), (1.0, "s"))


def power(watts: float) -> str:
    return f"{watts:.0f} W" if watts < 10_000 else f"{watts / 1000:.1f} kW"


def progress_of_step(so_far: float, planned: float) -> str:
    """Compare how long a step has taken with its planned time: `3 s of about 9 s`, or `12 s, planned 9 s` if the step
    is late. Without a planned time, only say how long: `12 s`."""
    if not planned:
        return duration(so_far)
    if so_far > planned + 1:
        return f"{duration(so_far)}, planned {duration(planned)}"
    taken = f"{so_far:.0f} s" if planned < 60 else duration(so_far)
    return f"{taken} of about {duration(planned)}"


MEANINGS: Mapping[ExitCode, str] = {
    ExitCode.DONE: "done",
    ExitCode.SPEC_WRONG: "the spec is wrong, or there is a difference (--check, --exit-code)",
    ExitCode.USAGE: "wrong usage, or what was asked for is not there",
    ExitCode.CELL_FAILED: "a cell failed, or a result is missing that an `expect` needs",
    ExitCode.EXPECT_FAILED: "an `expect` does not hold, or something got worse",
    ExitCode.BRIEF_NOT_MADE: "results are kept, but no brief or import was made (a full disk)",
    ExitCode.SUSPECT: "something may have got worse: measure again",
    ExitCode.INTERRUPTED: "interrupted; `bench resume` goes on",
    ExitCode.OUTPUT_CLOSED: "the reader of the output has gone (`bench query ... | head`)",
}


def exit_codes(*codes: ExitCode, fails: str = MEANINGS[ExitCode.EXPECT_FAILED]) -> str:
    """Return the help paragraph on exit codes for a command without --check. `fails` is the meaning of code 4 for that
    command."""
    own = {ExitCode.SPEC_WRONG: "the spec is wrong", ExitCode.EXPECT_FAILED: fails}
    return "\b\nExit codes:\n" + "\n".join(f"  {int(code):<4} {own.get(code, MEANINGS[code])}" for code in codes)


ENDS = (
    ExitCode.DONE,
    ExitCode.SPEC_WRONG,
    ExitCode.USAGE,
    ExitCode.CELL_FAILED,
    ExitCode.EXPECT_FAILED,
    ExitCode.BRIEF_NOT_MADE,
    ExitCode.INTERRUPTED,
)
"""The exit codes that a run may end with."""


class Stop(BenchError):
    """Ends the command with `exit_code` after all messages have been shown. With `--json`, the printed error has the
    additional fields in `told`."""

    code = "stop"

    def __init__(self, ends_with: ExitCode, message: str = "", hint: str = "", **told: object) -> None:
        super().__init__(message, hint)
        self._ends_with = ends_with
        self.told = told

    @property
    def exit_code(self) -> ExitCode:
        return self._ends_with

    def rendered(self, *, colour: bool) -> str:
        return ""


def use_colour(stream: IO[str]) -> bool:
    """Return whether to use colour: only on a terminal that wants it (https://no-color.org)."""
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def silence_what_is_closed() -> None:
    """Discard standard output and error if their reader, such as a terminal, is gone."""
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
    """Open missing standard streams on the null device, so that output to them is lost without an error.

    Otherwise, a file that is opened later would take the stream's number.
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
    """Write to standard error without blocking, and without failing if nobody reads it.

    This is safe in a signal handler, because it takes no lock.
    """
    with suppress(OSError, ValueError):
        descriptor = sys.stderr.fileno()
        waiting = select.poll()
        waiting.register(descriptor, select.POLLOUT)
        if waiting.poll(0):
            os.write(descriptor, text.encode(errors="replace")[: select.PIPE_BUF])


class EndRequest:
    """Records whether the user has asked the command to end. `main` creates one, and its methods handle the signals.

    A library may swallow the KeyboardInterrupt that a handler raises. `is_made` is true even then.
    """

    def __init__(self) -> None:
        self.is_made = False

    def on_interrupt(self, _number: int, _frame: FrameType | None) -> None:
        """Handle Ctrl-C: remember the request, and raise KeyboardInterrupt."""
        self.is_made = True
        raise KeyboardInterrupt

    def on_hang_up(self, _number: int, _frame: FrameType | None) -> None:
        """End the command as Ctrl-C does, because its terminal was closed."""
        self.is_made = True
        silence_what_is_closed()
        raise KeyboardInterrupt

    def caused(self, error: BaseException) -> bool:
        """Return whether the error was caused by Ctrl-C. An interrupted DuckDB query raises a RuntimeError instead of
        KeyboardInterrupt."""
        return isinstance(error, KeyboardInterrupt) or (self.is_made and isinstance(error, RuntimeError))


def end_request() -> EndRequest:
    """Return the running command's EndRequest. Outside of `bench`, return one that is never triggered."""
    context = click.get_current_context(silent=True)
    return (context.find_object(EndRequest) if context else None) or EndRequest()


_TERMINALS = frozenset(descriptor for descriptor in (1, 2) if os.isatty(descriptor))


def fail(message: str, hint: str = "", code: ExitCode = ExitCode.USAGE) -> Stop:
    """Show an error in one line, with its next step and without secrets. Returns a Stop for the caller to raise."""
    from benchbrief.runners.journal.secret_masking import hide

    message, hint = hide(message), hide(hint)
    _say(click.style("error:", fg="red", bold=True), message)
    if hint:
        _say(f"  {click.style('help:', fg='cyan')}", hint)
    return Stop(code, message, hint)


def warn(message: str) -> None:
    _say(click.style("warning:", fg="yellow", bold=True), message)


def _say(kind: str, message: str) -> None:
    """Print a message on standard error. On a terminal, lines break only between words."""
    columns = columns_of(sys.stderr)
    for line in f"{kind} {_indented(message)}".split("\n"):
        show_painted("\n".join(fold(line, columns, 4)), err=True)


def _indented(text: str) -> str:
    """Escape a text, and indent all lines but the first. This keeps text from a host from looking like one of our
    messages."""
    return printable(text.rstrip("\n").replace("\n", "\n    "))


def columns_of(stream: IO[str]) -> int | None:
    """Return the width of a stream's terminal, or None if the stream is not a terminal."""
    try:
        return (os.get_terminal_size(stream.fileno()).columns or None) if stream.isatty() else None
    except (OSError, ValueError):  # the terminal has gone
        return None


# --- the way to the terminal: nothing else prints (a test looks for it) -------------------------------------------


def show(text: object = "", *, colour: str | None = None, err: bool = False) -> None:
    """Print one line. Terminal control characters are escaped, because parts of the line may come from a spec, a file
    or a host."""
    shown = one_line(str(text))
    if colour and use_colour(sys.stderr if err else sys.stdout):
        click.echo(click.style(shown, fg=colour), err=err, color=True)
    else:
        click.echo(shown, err=err)


def show_wrapped(text: str, *, indent: int = 0, colour: str | None = None, whole: str = "", err: bool = False) -> None:
    """Print a sentence. On a terminal, lines break only between words, and all lines but the first are indented.

    If the sentence ends with `whole`, which is a command or a path, `whole` is moved to a line of its own instead of
    being broken.
    """
    columns = columns_of(sys.stderr if err else sys.stdout)
    lines = fold(one_line(text), columns if columns and columns > 2 * indent else None, indent)
    if whole:
        joined = f"{lines[-1]} {one_line(whole)}" if text else one_line(whole)
        if columns and text and display_width(joined) > columns:
            lines.append(f"  {one_line(whole)}")
        else:
            lines[-1] = joined
    for line in lines:
        show(line, colour=colour, err=err)


def show_lines(text: str, *, err: bool = False) -> None:
    """Print a text of several lines, including its last line break."""
    click.echo(printable(text), err=err, nl=False)


def show_painted(text: str, *, err: bool = False) -> None:
    """Print a text with colours. The caller has escaped its parts. Control sequences other than colours are escaped
    here."""
    paint = use_colour(sys.stderr if err else sys.stdout)
    click.echo(coloured(text) if paint else printable(click.unstyle(text)), err=err, color=paint)


def show_json(document: object, *, indent: int | None = 1) -> None:
    """Print a document as JSON, with terminal control characters as JSON escapes."""
    show_json_text(json_text(document, indent=indent))


def json_text(document: object, *, indent: int | None = 1) -> str:
    return json.dumps(document, indent=indent, ensure_ascii=False, default=str)


def show_json_text(text: str) -> None:
    click.echo(_json_escaped(text))


def show_data(data: bytes) -> None:
    """Write a whole document for other programs. If standard output is a terminal, the document is escaped."""
    if sys.stdout.isatty():
        click.echo(printable(data.decode(errors="backslashreplace")), nl=False)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def printable(text: str) -> str:
    """Escape characters that a terminal would obey, hide or reorder."""
    return _LINES.sub(lambda found: source.printable(found.group()), text)


def one_line(text: str) -> str:
    """Return a text on one line, with blanks for line breaks and with escapes."""
    return source.printable(_LINE_END.sub(" ", text))


def coloured(text: str) -> str:
    """Escape all terminal control characters except colours."""
    parts = _COLOUR.split(text)
    return "".join(part if index % 2 else printable(part) for index, part in enumerate(parts))


_UNUSUAL = compile_late(r"[^\n -~]")
_LINES = compile_late(r"[^\n\t]+")
_LINE_END = compile_late(r"[ \t]*(?:\r?\n|\t)[ \t]*")
_COLOUR = compile_late(r"(\x1b\[[0-9;]*m)")


def _json_escaped(text: str) -> str:
    """Escape unprintable characters in JSON, where they occur only within strings."""
    if text.isascii() and "\x7f" not in text:
        return text  # JSON itself escapes the other control characters
    return _UNUSUAL.sub(_escaped_unless_harmless, text)


def _escaped_unless_harmless(found: re.Match[str]) -> str:
    char = found.group()
    return char if source.harmless(char) else source.json_escaped(char)


def show_json_error(error: BenchError) -> None:
    """Print the error that ends a command with `--json`, unless the command has already printed its document."""
    if error.message and "--json" in sys.argv:  # also where the options could not be read
        from benchbrief.runners.journal.secret_masking import hide

        code, told = (error.exit_code.name.lower(), error.told) if isinstance(error, Stop) else (error.code, {})
        show_json({"error": {"code": code, "message": hide(error.message), "help": hide(error.hint) or None, **told}})


def show_error(error: BaseException) -> BenchError:
    """Show one clear message for an exception that no command has handled. Return the error that ends the command. A
    traceback is shown only for our own bugs, and only on request."""
    if isinstance(error, BenchError):
        shown = error.rendered(colour=use_colour(sys.stderr))
        if shown is None:
            fail(error.message, error.hint)
        elif shown:
            show_painted(shown, err=True)
        return error
    if isinstance(error, OSError) and (error.filename or error.errno in FULL):
        at = f"{error.filename}: {error.strerror}" if error.filename else f"can't be written: {error.strerror}"
        return fail(at, how_to_mend(error) if error.filename else "")

    from benchbrief.runners.journal.secret_masking import hide

    if os.environ.get("BENCH_TRACEBACK"):
        show_lines(hide("".join(traceback.format_exception(error))), err=True)
        return Stop(ExitCode.CELL_FAILED, f"internal error: {type(error).__name__}: {error}")
    return fail(
        f"internal error: {type(error).__name__}: {error}",
        "this is a mistake in benchbrief; please report it with the output of the same command under BENCH_TRACEBACK=1",
        ExitCode.CELL_FAILED,
    )
