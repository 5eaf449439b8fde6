from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from benchbrief.cli.format_files import SUFFIX, Outcome, find_specs, lay_out, lay_out_file
from benchbrief.cli.spec_options import show_diagnostics
from benchbrief.cli.terminal import Stop, fail, one_line, show, show_data, show_json, show_lines, use_colour, warn
from benchbrief.dsl.bench_error import ExitCode

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(
    epilog="""
\b
Examples:
  bench fmt brief.bench
  bench fmt specs/                       every .bench file in the folder and those below it
  bench fmt --check specs/               ends with code 1 when a file would change
  bench fmt --diff brief.bench           shows what would change
  bench fmt - < brief.bench              from standard input to standard output
"""
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--check", is_flag=True, help="Write nothing; end with code 1 when a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@click.option("--json", "as_json", is_flag=True, help="Print what became of each file as JSON.")
def command(paths: tuple[Path, ...], check: bool, diff: bool, as_json: bool) -> None:
    """Put the specs PATHS, files or folders, into the one canonical layout. What they say stays the same.

    A spec that can't be read is shown and left as it is (code 1); the others are done all the same.
    """
    piped = paths == (Path("-"),) or (not paths and not sys.stdin.isatty())
    if not paths and not piped:
        raise click.UsageError("name a file or a folder, or `-` for standard input: `bench fmt .`")
    if piped:
        outcomes = [_of_stdin()]
    elif Path("-") in paths:
        raise click.UsageError("`-`, standard input, stands alone")
    else:
        outcomes = [lay_out_file(path, write=not (check or diff)) for path in find_specs(paths)]
        if not outcomes:
            warn(f"no {SUFFIX} file in {', '.join(map(str, paths))}")

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


def _of_stdin() -> Outcome:
    from benchbrief.dsl.diagnostics.diagnostic import SpecError
    from benchbrief.dsl.read_files import read_stream

    name = "<stdin>"
    try:
        return lay_out(name, read_stream(sys.stdin.buffer, name))
    except SpecError as error:
        return Outcome(name, diagnostics=error.diagnostics)


def _complain(outcome: Outcome) -> None:
    show_diagnostics(outcome.diagnostics)
    if outcome.refused:
        fail(outcome.refused, outcome.hint)


def _show_diff(text: str) -> None:
    paint = use_colour(sys.stdout)
    for line in text.splitlines(keepends=True) if paint else ():
        show(line.rstrip("\n"), colour=_COLOURS.get(line[:1]))
    if not paint:
        show_lines(text)


def _show_result(outcomes: Sequence[Outcome], verb: str) -> None:
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


def _as_dict(outcome: Outcome, diff: bool, piped: bool) -> dict[str, Any]:
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
