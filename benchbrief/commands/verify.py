"""`bench verify`."""

from __future__ import annotations

import json
import re
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.run_options import out_option
from benchbrief.terminal import ExitCode, Stop, fail, printable, warn

if TYPE_CHECKING:
    from benchbrief.reports.numbers import NumbersFile
    from benchbrief.reports.verify import Verification
    from benchbrief.results.store import Store

_TOLD = 20
"""More than these are told by their number; `--json` has them all."""


@click.command(
    epilog="""
\b
Examples:
  bench verify bench-out/20260301-101500-brief/reports/brief.pdf
  bench verify brief.html --store 20260301             a brief that was copied elsewhere, and its run
  bench verify brief.pdf --raw                         are the raw outputs those that it was made from?
  bench verify brief.pdf --from-raw                    parse them again, instead of trusting the tables
  bench verify brief.json --json | jq '.differing[].why'

\b
Exit codes:
  0  every number holds, and the document shows it as it was made
  1  a number does not hold, or the document was edited
  2  usage, or the brief, its numbers or its run is not there
  3  a raw output is missing or was changed (--raw, --from-raw)
"""
)
@click.argument("brief", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--store", "run", help="The run: its name, the start of it, or its folder. By default, where BRIEF lies.")
@out_option
@click.option("--raw", is_flag=True, help="Compute the SHA-256 of each raw output behind the numbers.")
@click.option("--from-raw", is_flag=True, help="Compute the numbers from the raw outputs, parsed again; implies --raw.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(brief: Path, run: str | None, out: Path, raw: bool, from_raw: bool, as_json: bool) -> None:
    """Compute every number of BRIEF (its PDF, HTML or JSON) again from the stored results, and say whether it holds.

    A number holds when its value is the same to nine digits. What the PDF or the page shows is compared with what it
    was made with, so that an edited number is found. Nothing is fetched, and nothing of the run is changed.
    """
    from benchbrief.reports.shown import read_brief
    from benchbrief.reports.verify import verify
    from benchbrief.runners.rundir import load_plan, plan_of_digest

    made = read_brief(brief)
    run_dir = _run_of(brief, made.numbers, run, out)
    plan = plan_of_digest(run_dir, made.numbers.plan_sha256)
    with _opened(run_dir, from_raw) as results:
        hashed = run_dir if raw or from_raw else None
        found = verify(made, plan or load_plan(run_dir), results, hashed, known=plan is not None)
    if as_json:
        told = {"brief": str(brief), "run": str(run_dir), "holds": found.holds and not found.raw, **asdict(found)}
        click.echo(json.dumps(told, indent=1, ensure_ascii=False))
    else:
        _tell(brief, made.numbers, found)
    if not found.holds:
        raise Stop(ExitCode.SPEC_WRONG)
    if found.raw:
        raise Stop(ExitCode.CELL_FAILED)


def _run_of(brief: Path, numbers: NumbersFile, run: str | None, out: Path) -> Path:
    from benchbrief.results.errors import ResultsError
    from benchbrief.results.runs import find_run, list_runs

    if run is not None:
        try:
            return find_run(out, run)
        except ResultsError as error:
            if not Path(run).is_dir() and list_runs(out):
                raise
            what = f"{run} is not the folder of a run" if Path(run).is_dir() else f"no run {run} in {out}"
            hint = f"--store wants the run of the brief: {numbers.run}, or the folder of that name, wherever it lies"
            raise fail(what, hint) from error
    beside = brief.resolve().parent.parent
    if (beside / "plan.json").is_file():
        return beside
    try:
        return find_run(out, numbers.run)
    except Exception as error:
        raise fail(f"the run of {brief}, {numbers.run}, is not in {out}", "name it: --store RUN") from error


def _opened(run_dir: Path, from_raw: bool) -> AbstractContextManager[Store]:
    from benchbrief.results.build import STORE
    from benchbrief.results.store import fresh_store, rebuilt_store

    missing = not (run_dir / STORE).is_dir()  # nothing of the run is changed: they are built elsewhere
    return rebuilt_store(run_dir) if from_raw or missing else fresh_store(run_dir)


def _tell(brief: Path, numbers: NumbersFile, found: Verification) -> None:
    click.echo(printable(f"{brief}: {numbers.title} (run {numbers.run}, {numbers.kind})"))
    click.echo(f"{_counted(found.numbers, 'number')}: {_held(found.numbers, len(found.differing))}")
    click.echo(f"{_counted(found.points, 'value')} in {_counted(len(numbers.figures), 'figure')}: "
               f"{_held(found.points, len(found.drawn))}")  # fmt: skip
    if found.edited is not None:
        click.echo(f"shown: {_shown(numbers, found)}")
    if found.raw is not None:
        state = "as recorded" if not found.raw else f"{len(found.raw):,} missing or changed"
        click.echo(f"raw outputs: {_counted(found.raw_files, 'file')}, {state}")
    lines = [
        *found.foreign,
        *([f"{brief.name} is not, to the byte, the page that was made"] if found.whole is False else ()),
        *(f"{e.place}: shows {e.found or 'nothing'}, was made as {e.recorded}" if e.recorded else
          f"it shows {e.found} as a number, which the file of its numbers lacks" for e in found.edited or ()),
        *(f"{d.place}: {d.expression}: shown {d.shown}, now {_now(d.shown, d.now, d.value, d.value_now)}: {d.why}"
          for d in found.differing),
        *(f"{d.figure} ({d.title}): {d.expression} at {', '.join(map(str, d.at))}: drawn {_exact(d.value)}, "
          f"now {_exact(d.value_now)}: {d.why}" for d in found.drawn),
        *(f"{path} {problem}" for path, problem in (found.raw or {}).items()),
    ]  # fmt: skip
    for line in lines[:_TOLD]:
        warn(printable(re.sub("[\u00a0\u202f]", " ", line)))
    if len(lines) > _TOLD:
        warn(f"and {len(lines) - _TOLD:,} more; --json has them all")


def _shown(numbers: NumbersFile, found: Verification) -> str:
    if found.edited:
        return f"{_counted(len(found.edited), 'number')} edited"
    if found.whole is None:
        linked = sum(number.linked for number in numbers.numbers)
        if not linked:
            return "no number is marked; words and drawings are not looked at"
        return f"its {_counted(linked, 'marked number')} as made; words and drawings are not looked at"
    return "as it was made" if found.whole else "numbers as made, but the page was edited elsewhere"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _held(count: int, differing: int) -> str:
    if not differing:
        return "all hold" if count != 1 else "holds"
    return f"{count - differing:,} hold, {differing:,} {'does' if differing == 1 else 'do'} not"


def _now(shown: str, now: str, value: float | None, value_now: float | None) -> str:
    """What differs only in digits that are not shown is told with them."""
    return now if now != shown else f"{now} ({_exact(value_now)} for {_exact(value)})"


def _exact(value: float | None) -> str:
    return "missing" if value is None else f"{value:.12g}"
