"""`bench fmt`: finds the specs, lays out their texts, and writes them."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbrief.cli.spec_options import show_diagnostics
from benchbrief.cli.terminal import Stop, fail, one_line, show, show_data, show_json, show_lines, use_colour, warn
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from benchbrief.dsl.diagnostics.diagnostic import Diagnostic

SUFFIX = ".bench"
_NOT_THERE = {"E0001", "E0002", "E0003"}  # errors in the path, not in the text
_RUN = ("plan.json", "journal.jsonl")
"""The files that identify the folder of a run (see `run_folder.py`, which is slow to import). A plan alone is not
enough, because it may be beside any spec."""
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class FormattedFile:
    """The result of formatting one file: its bytes before and after, or the reason why it can't be formatted.

    If a file was left alone for a reason other than its text, `refused` gives the reason, and `hint` says what to do
    about it.
    """

    name: str
    before: bytes = b""
    after: bytes = b""
    diagnostics: tuple[Diagnostic, ...] = ()
    refused: str = ""
    hint: str = ""

    @property
    def changed(self) -> bool:
        return self.before != self.after

    @property
    def not_there(self) -> bool:
        return bool(self.refused) or any(diagnostic.code in _NOT_THERE for diagnostic in self.diagnostics)

    @property
    def failed(self) -> bool:
        return bool(self.refused or self.diagnostics)

    def diff(self) -> str:
        """The change as a unified diff, for `patch`."""
        before, after = (_LINES.findall(data.decode("utf-8")) for data in (self.before, self.after))
        lines = unified_diff(before, after, self.name, f"{self.name} (formatted)")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def find_specs(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the given files, and every spec in the given folders, each once.

    Hidden folders, links to folders, and the copies of specs inside runs are left out.
    """
    seen: set[str] = set()
    for path in paths:
        for found in _below(path) if path.is_dir() else (path,):
            place = os.path.realpath(found)
            if place not in seen:
                seen.add(place)
                yield found


def _below(folder: Path) -> Iterator[Path]:
    for above, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        specs = (Path(above, name) for name in sorted(files) if name.endswith(SUFFIX))
        yield from (spec for spec in specs if _run_of(spec) is None)


def _run_of(path: Path) -> Path | None:
    """Return the run folder that contains a file, or None. Files of a run must not change, because its reports disclose
    their SHA-256."""
    above = Path(os.path.realpath(path)).parents
    return next((folder for folder in above if all((folder / name).is_file() for name in _RUN)), None)


def lay_out(name: str, data: bytes) -> FormattedFile:
    """Format a spec's text as `bench fmt` does."""
    from benchbrief.dsl.diagnostics.diagnostic import SpecError
    from benchbrief.dsl.formatter import format_source
    from benchbrief.dsl.read_files import decode

    try:
        return FormattedFile(name, data, format_source(decode(data, name)).encode())
    except SpecError as error:
        return FormattedFile(name, diagnostics=error.diagnostics)


def lay_out_file(path: Path, *, write: bool) -> FormattedFile:
    """Return the result of formatting a file. With `write`, the file is replaced if it changes."""
    from benchbrief.dsl.diagnostics.diagnostic import SpecError
    from benchbrief.dsl.read_files import read_bytes

    name = str(path)
    if path.suffix != SUFFIX:
        hint = f"a spec's name ends in {SUFFIX}; another text goes through `bench fmt -`"
        return FormattedFile(name, refused=f"{name} is not a {SUFFIX} file", hint=hint)
    if (run := _run_of(path)) is not None:
        hint = "format the spec that it was run from; the kept one is what the run's reports disclose"
        return FormattedFile(name, refused=f"{name} belongs to the run {run.name}, and stays as it was run", hint=hint)
    try:
        data = read_bytes(path, name)
    except SpecError as error:
        return FormattedFile(name, diagnostics=error.diagnostics)
    outcome = lay_out(name, data)
    if write and outcome.changed:
        try:
            _replace(path.resolve(), outcome.after)
        except OSError as error:
            return FormattedFile(name, refused=f"{name} can't be written: {error.strerror}")
    return outcome


def _replace(path: Path, data: bytes) -> None:
    """Replace a file atomically, keeping its mode: a reader sees either the whole old file or the whole new one."""
    with path.open("r+b"):  # fails for a file that may not be written
        pass
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, temporary)
        with suppress(OSError):  # only root may give a file to another
            os.chown(temporary, path.stat().st_uid, path.stat().st_gid)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(
    epilog="""
\b
Examples:
  bench fmt brief.bench
  bench fmt specs/               every .bench file below the folder
  bench fmt --check specs/       end with code 1 if a file would change
  bench fmt --diff brief.bench   show what would change
  bench fmt - < brief.bench      print the layout of standard input
"""
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--check", is_flag=True, help="Write nothing; end with code 1 when a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@click.option("--json", "as_json", is_flag=True, help="Print what became of each file as JSON.")
def command(paths: tuple[Path, ...], check: bool, diff: bool, as_json: bool) -> None:
    """Put specs into the canonical layout. PATHS are files or folders. The meaning of the specs stays the same.

    A spec that can't be read is named and not changed (code 1). The others are formatted all the same.
    """
    piped = paths == (Path("-"),) or (not paths and not sys.stdin.isatty())
    outcomes = [_of_stdin()] if piped else _of_files(paths, write=not (check or diff))
    for outcome in outcomes:
        _complain(outcome)
    if as_json:
        show_json([_as_dict(each, diff, piped) for each in outcomes])
    elif diff:
        for outcome in outcomes:
            _show_diff(outcome.diff())
    elif piped and not check:
        show_data(outcomes[0].after)
    elif outcomes:
        _show_result(outcomes, "would change" if check else "formatted")
    if any(outcome.not_there for outcome in outcomes):
        raise Stop(ExitCode.USAGE)
    if any(outcome.failed or (check and outcome.changed) for outcome in outcomes):
        raise Stop(ExitCode.SPEC_WRONG)


def _of_files(paths: Sequence[Path], *, write: bool) -> list[FormattedFile]:
    if not paths:
        raise click.UsageError("name a file or a folder, or `-` for standard input: `bench fmt .`")
    if Path("-") in paths:
        raise click.UsageError("`-`, standard input, stands alone")
    outcomes = [lay_out_file(path, write=write) for path in find_specs(paths)]
    if not outcomes:
        warn(f"no {SUFFIX} file in {', '.join(map(str, paths))}")
    return outcomes


def _of_stdin() -> FormattedFile:
    from benchbrief.dsl.diagnostics.diagnostic import SpecError
    from benchbrief.dsl.read_files import read_stream

    name = "<stdin>"
    try:
        return lay_out(name, read_stream(sys.stdin.buffer, name))
    except SpecError as error:
        return FormattedFile(name, diagnostics=error.diagnostics)


def _complain(outcome: FormattedFile) -> None:
    show_diagnostics(outcome.diagnostics)
    if outcome.refused:
        fail(outcome.refused, outcome.hint)


def _show_diff(text: str) -> None:
    paint = use_colour(sys.stdout)
    for line in text.splitlines(keepends=True) if paint else ():
        show(line.rstrip("\n"), colour=_COLOURS.get(line[:1]))
    if not paint:
        show_lines(text)


def _show_result(outcomes: Sequence[FormattedFile], verb: str) -> None:
    for outcome in outcomes:
        if outcome.changed:
            show(f"{verb}: {one_line(outcome.name)}")
    changed, failed = (sum(getattr(each, what) for each in outcomes) for what in ("changed", "failed"))
    counts = {
        verb: changed,
        "unchanged": len(outcomes) - changed - failed,
        "can't be read" if verb == "would change" else "not formatted": failed,
    }
    show(", ".join(f"{count} {what}" for what, count in counts.items() if count), err=True)


def _as_dict(outcome: FormattedFile, diff: bool, piped: bool) -> dict[str, Any]:
    from benchbrief.dsl.diagnostics.render import as_json

    found: dict[str, Any] = {
        "file": outcome.name,
        "changed": outcome.changed,
        "error": outcome.refused or None,
        "diagnostics": [as_json(diagnostic) for diagnostic in outcome.diagnostics],
    }
    if diff:
        found["diff"] = outcome.diff()
    if piped:
        found["text"] = None if outcome.failed else outcome.after.decode()
    return found
