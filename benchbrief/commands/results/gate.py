from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from benchbrief.cli.run_options import Share
from benchbrief.cli.sections import CHOSEN_RUNS, VERDICTS, SectionedCommand
from benchbrief.cli.store_options import History, history_options, read_history
from benchbrief.cli.terminal import Stop, exit_codes, fail, one_line, show, show_json, show_wrapped, warn
from benchbrief.cli.verdict_files import require_writable, verdict_options, write_markdown, write_verdicts
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural

if TYPE_CHECKING:
    from benchbrief.history.gate_rule import JudgedSeries
    from benchbrief.history.read_series import FoundSeries
    from benchbrief.history.series_changes import ChangeVerdict, VerdictWord

_HOOK_S = 60
_ENDS = (
    ExitCode.DONE,
    ExitCode.USAGE,
    ExitCode.CELL_FAILED,
    ExitCode.EXPECT_FAILED,
    ExitCode.SUSPECT,
    ExitCode.INTERRUPTED,
)


@click.command(
    cls=SectionedCommand,
    sections={
        "Runs and points": (*CHOSEN_RUNS, "--metric"),
        "Rules": ("--baseline", "--baseline-tag", "--threshold", "--budget", "--measure-again", "--strict"),
        "Decisions about changes": VERDICTS,
    },
    epilog="""
\b
Examples:
  bench gate                                      by the level of earlier runs
  bench gate --measure-again 5 --junit gate.xml   suspicious points decide
  bench gate --baseline 20260301                  by the level of this run
  bench gate --from s3://bench/nightly --baseline-tag release --tag nightly
  bench gate --accept --metric throughput --note "checksums are on"
  bench gate --across 'database version'          the version is under test

A value is suspicious if it, or the last few together, lie beyond the noise of the level before, corrected for the
number of series. --measure-again measures suspicious points once more, on the hosts as they are now, and only these
measurements raise an alarm. Without it, the command ends with 6 instead. A change that the control series show too is
the lab's, and no alarm.

A level takes six runs. Before that a series is not protected; a warning says so, and how many runs it still needs. The
code stays 0, so that the first nights pass; with --strict it is 4.

"""
    + exit_codes(*_ENDS),
)
@click.argument("run", default="last")
@history_options
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help="Judge this, as METRIC of `bench trend`. Repeatable."
)
@click.option("--baseline", default="", metavar="RUN", help="Compare with the level of this run.")
@click.option("--baseline-tag", default="", metavar="TAG", help="Compare with the level of the last run with this tag.")
@click.option(
    "--threshold", type=Share(), default=0.01, show_default=True, metavar="SHARE", help="Ignore smaller changes."
)
@click.option(
    "--budget",
    type=Share(),
    default=0.01,
    show_default=True,
    metavar="SHARE",
    help="Share of nights that may have a false alarm.",
)
@click.option(
    "--measure-again",
    "times",
    type=click.IntRange(0, 100),
    default=0,
    show_default=True,
    metavar="N",
    help="Measure suspicious points again, N times; 5 mostly do.",
)
@click.option("--accept", "verdict", flag_value="accept", help="Write into --verdicts: the change is wanted.")
@click.option("--bug", "verdict", flag_value="bug", help="Write: the change is a known bug.")
@click.option("--noise", "verdict", flag_value="noise", help="Write: this is noise, and no change.")
@click.option("--note", default="", metavar="TEXT", help="Write this beside it.")
@click.option("--strict", is_flag=True, help="End with 4 also if a value is missing or untested.")
@click.option("--all", "every", is_flag=True, help="Show every series.")
@click.option(
    "--hook",
    default="",
    metavar="COMMAND",
    help="Run COMMAND on an alarm or a suspicion, with the outcome as its input.",
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@verdict_options
def command(
    run: str,
    metrics: tuple[str, ...],
    baseline: str,
    baseline_tag: str,
    threshold: float,
    budget: float,
    times: int,
    verdict: VerdictWord | None,
    note: str,
    strict: bool,
    every: bool,
    hook: str,
    as_json: bool,
    junit: Path | None,
    markdown: Path | None,
    **asked: Unpack[History],
) -> None:
    """Say whether RUN got worse than the runs before it: each quantity at each point.

    RUN is the last run, a run's name, or the start of it.
    """
    from benchbrief.comparing import gate_output as output
    from benchbrief.history.gate_rule import GateRule, confirm, judge_run
    from benchbrief.history.series_changes import read_verdicts
    from benchbrief.running.measure_again import measure_again

    require_writable(junit, markdown)
    if baseline and baseline_tag:
        raise click.UsageError("--baseline and --baseline-tag both name a baseline: say one")
    folder = Path(asked["place"])
    if times and not folder.is_dir():
        raise fail(
            f"what is in {asked['place']} can't be measured again from here", "name the folder of the run: --from"
        )
    verdicts = read_verdicts(asked["verdicts"])
    found = read_history(asked, metrics)
    run_id = _run(found, run)
    if baseline_tag:
        baseline = _tagged(asked, metrics, baseline_tag, found, run_id)
    elif baseline:
        baseline = _run(found, baseline)
    rule = GateRule(budget, threshold, baseline, imported=asked["origin"] == "imported")
    judged = judge_run(run_id, found.series, found.controls, rule, verdicts, found.reused.get(run_id, ()))
    notes = list(found.notes)
    if times and any(each.state == "suspect" for each in judged):
        again = measure_again(folder / run_id, judged, times, asked["across"], lambda text: show(text, err=True))
        judged = confirm(judged, again.values, rule)
        notes += [*again.notes, *(f"measured again: {made}" for made in again.runs)]
    states = {each.state for each in judged}
    outcome = next((state for state in ("alarm", "suspect") if state in states), "ok")
    title = f"{run_id} against {f'the level of {baseline}' if baseline else 'the level before it'}"
    document = output.as_dict(run_id, outcome, judged, notes)
    write_verdicts(title, list(output.cases(judged, strict=strict)), junit)
    write_markdown(output.markdown(title, judged, notes), markdown)
    if as_json:
        show_json(document)
    else:
        _show(title, judged, notes, every)
    if unprotected := output.why_unprotected(judged):
        warn(unprotected)
    if verdict:
        _write_verdict(asked["verdicts"], verdict, judged, note)
        return
    if hook and outcome != "ok":
        _call(hook, document)
    if code := _code_of(states, strict=strict):
        raise Stop(code)


def _code_of(states: Set[str], *, strict: bool) -> ExitCode:
    if "alarm" in states or (strict and states & {"missing", "untested"}):
        return ExitCode.EXPECT_FAILED
    if "suspect" in states:
        return ExitCode.SUSPECT
    return ExitCode.CELL_FAILED if "missing" in states else ExitCode.DONE


def _show(title: str, judged: Sequence[JudgedSeries], notes: Sequence[str], every: bool) -> None:
    from benchbrief.comparing import gate_output as output

    show(title)
    show()
    for line, colour in output.gate_lines(judged, every=every):
        show(one_line(line), colour=colour)
    show(output.counted(judged), colour="red" if any(each.state == "alarm" for each in judged) else None)
    if why := output.why_untested(judged):
        show_wrapped(one_line(why))
    for note in notes:
        show_wrapped(f"note: {one_line(note)}", indent=6)


def _run(found: FoundSeries, name: str) -> str:
    """Return the id of a run in the series. Raises Stop with a message if no run matches, or several runs do."""
    at = {each.run_id: each.at for series in found.series for part in series.parts for each in part.values}
    order = sorted(at, key=lambda run: (at[run], run))
    back = name.removeprefix("last~")
    if name == "last" or (back != name and back.isdigit()):
        place = int(back) if back != name else 0
        if place < len(order):
            return order[-1 - place]
        raise fail(f"there is no run {name}: there are {len(order)}", "name another")
    name = Path(name).name
    fitting = [run for run in order if run == name] or [run for run in order if run.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    taken = [run for run in found.reused if run.startswith(name)]
    if not fitting and taken:
        raise fail(
            f"{taken[-1]} took every judged cell from earlier runs",
            "gate those, or measure anew: `bench run --fresh`",
        )
    some = ", ".join((fitting or order)[-5:])
    raise fail(
        f"{plural(len(fitting), 'run')} begin with {name}" if fitting else f"no run {name} among those that are judged",
        f"the last ones are {some}; `bench status --all` lists all of this folder",
    )


def _tagged(asked: History, metrics: tuple[str, ...], tag: str, found: FoundSeries, run_id: str) -> str:
    tagged = read_history({**asked, "tag": tag}, metrics)
    every = {each.run_id: each.at for one in found.series for part in one.parts for each in part.values}
    known = {each.run_id: each.at for one in tagged.series for part in one.parts for each in part.values}
    before = [run for run, at in known.items() if at < every[run_id] and run != run_id]
    if not before:
        raise fail(f"no run before {run_id} has the tag {tag!r}", "push one with it: bench push RUN --tag " + tag)
    baseline = max(before, key=lambda run: (known[run], run))
    if baseline not in every:
        raise fail(
            f"{baseline} has the tag {tag!r}, and not {asked['tag']!r}", "leave --tag out, or give the run both tags"
        )
    return baseline


def _write_verdict(path: Path, verdict: VerdictWord, judged: Sequence[JudgedSeries], note: str) -> None:
    from benchbrief.history.series_changes import ChangeVerdict, add_verdicts

    written: list[ChangeVerdict] = [
        ChangeVerdict(
            run=each.first.run_id, quantity=each.series.quantity, at=dict(each.series.point), verdict=verdict, note=note
        )
        for each in judged
        if each.state in ("alarm", "suspect") and each.first is not None
    ]
    if not written:
        raise fail("there is nothing to write a verdict on: no series is suspicious", "`bench gate --all` shows each")
    add_verdicts(path, written)
    show(f"wrote {plural(len(written), 'verdict')} to {path}: commit it", err=True)


def _call(hook: str, document: dict[str, Any]) -> None:
    """Run the hook. A failure of the hook is reported, but does not change the exit code."""
    environment = {**os.environ, "BENCH_GATE": document["outcome"], "BENCH_RUN": document["run"]}
    try:
        done = subprocess.run(
            ("sh", "-c", hook), input=json.dumps(document).encode(), env=environment, timeout=_HOOK_S, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        why = f"took longer than {_HOOK_S} s" if isinstance(error, subprocess.TimeoutExpired) else str(error)
        warn(f"the hook {why}")
        return
    if done.returncode:
        warn(f"the hook ended with code {done.returncode}")
