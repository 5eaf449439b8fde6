from __future__ import annotations

import shutil
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.cli.run_options import IMPORTED, SHORT, chosen_run, out_option, run_argument, run_name
from benchbrief.cli.terminal import (
    duration,
    fail,
    latency,
    marks,
    one_line,
    rate,
    shared_start,
    shorten,
    show,
    show_data,
    show_json,
    show_painted,
    use_colour,
    warn,
)
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.source import display_width
from benchbrief.progress.finished_run import full_lines

if TYPE_CHECKING:
    from benchbrief.model.measurement import SteadyEnd
    from benchbrief.results.runs.run_summary import CellStatus, RunStatus
    from benchbrief.results.runs.times_taken import TimeCompared

_COLOURS = {
    "done": "green",
    "ok": "green",
    "failed": "red",
    "broken": "yellow",
    "not offered": "yellow",
    "no room": "red",
    "interrupted": "yellow",
    "running": "cyan",
    "skipped": "bright_black",
    "not chosen": "bright_black",
    "missing": "bright_black",
}
_STATE = 11
_NUMBER = 18


@click.command(
    epilog="""
\b
Examples:
  bench status                    the last run, also while it goes on
  bench status --all              every run of the folder
  bench status 20260301 --json
  bench status --openmetrics      for a Prometheus server

`bench watch` shows the same until the run ends. docs/reference/journal.md says what --json prints.
"""
)
@run_argument
@out_option
@click.option("--all", "every", is_flag=True, help="One line for each run.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--openmetrics", is_flag=True, help="Print as OpenMetrics text.")
def command(run: str | None, out: Path, every: bool, as_json: bool, openmetrics: bool) -> None:
    """Show how far RUN (the last one by default) has come: each cell's state, what failed and why, the time left."""
    from benchbrief.results.runs.run_summary import summarise

    if openmetrics:
        if every or as_json:
            raise fail("--openmetrics is of one run, and a format of its own", "leave out --all and --json")
        show_data(_openmetrics(_merged(chosen_run(out, run))).encode())
        return
    every = every or (run is None and not as_json and _none_measured(out))
    runs, problems = read_all(out) if every else ([summarise(_merged(chosen_run(out, run)))], [])
    if run is None and not every:
        _name_newer_run(out, Path(runs[0].directory))
    if as_json:
        documents = [{**asdict(each), "promises": [found.as_dict() for found in each.promises]} for each in runs]
        if not every and (times := _times(runs[0])):
            documents[0]["time"] = times.as_dict()
        show_json(documents if every else documents[0])
    for each in () if as_json else runs:
        _show_head(each)
        if not every:
            _show_rest(each)
    for problem in problems:
        warn(problem)


def _merged(run_dir: Path) -> Path:
    """Return the run. If its lanes are jobs of a scheduler, first merge what the lanes have recorded so far."""
    from benchbrief.running.lanes import merge_so_far

    merge_so_far(run_dir)
    return run_dir


def _times(run: RunStatus) -> TimeCompared | None:
    from benchbrief.results.runs.times_taken import compare_times
    from benchbrief.runners.journal.run_folder import load_plan

    return compare_times(Path(run.directory), load_plan(Path(run.directory)))


def _none_measured(out: Path) -> bool:
    """Return whether there are runs, but none of them was measured here."""
    from benchbrief.results.runs.find_runs import list_real_runs, list_runs

    return bool(list_runs(out)) and not list_real_runs(out)


def _name_newer_run(out: Path, last: Path) -> None:
    """If the latest run was not measured, tell the user which run is shown by default."""
    from benchbrief.results.runs.find_runs import is_simulated, list_runs

    newest = list_runs(out)[-1]
    if newest.name != last.name:
        kind = "simulated" if is_simulated(newest) else "imported"
        show(f"note: {last.name} is the last run that was measured; {newest.name} is later, and was {kind}: "
             f"bench status {run_name(newest)}", err=True)  # fmt: skip


def _show_head(run: RunStatus) -> None:
    show_painted(_headline(run))
    for what in run.waits:
        show(f"  waits: {what}")
    for budget in run.budgets:
        of = f"experiment {budget.experiment}" if budget.experiment else "the run"
        show(f"  budget {duration(budget.budget_s)} for {of}: {duration(budget.spent_s)} spent")


def _show_rest(run: RunStatus) -> None:
    _show_cells(run)
    _show_choices(run)
    _show_promises(run)
    for each in run.held_out:
        again = f", attempt {each.attempt}" if each.attempt > 1 else ""
        failed = f", {each.failed} failed" if each.failed else ""
        held = f"{each.done} of {plural(each.total, 'cell')} done{failed}{again}"
        show(f"  held out for claim {one_line(each.claim)}: {held}")
    _show_hosts(run)
    for line in full_lines(times) if (times := _times(run)) else ():
        show(line)
    if run.status == "interrupted" or (run.status == "failed" and run.failed):
        show(f"go on with: bench resume {run_name(Path(run.directory))}")


def _headline(run: RunStatus) -> str:
    from benchbrief.results.runs.find_runs import RUN_NAME

    folder = Path(run.directory).name
    renamed = f"; its folder is {one_line(folder)} now" if folder != run.run_id and RUN_NAME.match(run.run_id) else ""
    return _counted(run) + renamed


def _counted(run: RunStatus) -> str:
    taken = f" ({run.reused} of them by earlier runs)" if run.reused else ""
    left = f", about {duration(run.remaining_s)} left" if run.remaining_s else ""
    mark = f" ({SHORT})" if run.simulated else f" ({IMPORTED}: {one_line(run.source)})" if run.source else ""
    if run.source:  # nothing ran, so no time was taken
        return f"{run.run_id}  {_state(run.status)} {run.done}/{plural(run.total, 'cell')} imported{mark}"
    short = f"{run.no_room} without room in the budget, " if run.no_room else ""
    refused = f"{run.refused} refused, " if run.refused else ""
    unneeded = run.skipped - run.unrepeated
    skipped = f"{unneeded} not needed, " if unneeded else ""
    skipped += f"{plural(run.unrepeated, 'repeat')} left out, " if run.unrepeated else ""
    return (
        f"{run.run_id}  {_state(run.status)} {run.done}/{plural(run.total, 'cell')} done{taken}, "
        f"{run.failed} failed, {refused}{short}{skipped}{duration(run.elapsed_s)}{left}{mark}"
        f"{'; its brief is being made' if run.making_brief else ''}"
    )


def _state(word: str) -> str:
    pad = f"{word:<{_STATE}}"
    return click.style(pad, fg=_COLOURS.get(word)) if use_colour(sys.stdout) else pad


def _show_cells(run: RunStatus) -> None:
    """Print a line for each cell. Numbers come before names, so that long names do not shift columns. On a terminal,
    long names are cut."""
    at_terminal = sys.stdout.isatty()
    columns = shutil.get_terminal_size().columns if at_terminal else 0
    kind, shared = marks(sys.stdout.encoding), shared_start([one_line(cell.cell_id) for cell in run.cells])
    for cell in run.cells:
        if cell.status == "not_chosen" or cell.candidate_of:
            continue
        number = rate(cell.ops_per_s) if cell.ops_per_s is not None else ""
        name = one_line(cell.cell_id)
        more = _more(cell)
        if at_terminal:
            name = shorten(name, max(20, columns - 2 - _STATE - _NUMBER - 4), kind, shared)
        state = (cell.promise or cell.status) if cell.status == "refused" else cell.status
        line = f"  {_state(state.replace('_', ' '))} {number:>{_NUMBER}}  {name}"
        if more and (
            not at_terminal or 2 + _STATE + 1 + _NUMBER + 2 + display_width(name) + 2 + display_width(more) <= columns
        ):
            line += f"  {more}"
        show_painted(line)
        if more and not line.endswith(more):
            show(f"  {'':<{_STATE}} {more}")
    for experiment, count in Counter(cell.candidate_of for cell in run.cells if cell.candidate_of).items():
        chosen = f"{one_line(experiment)}: the next points as the search or the ramp asks"
        show_painted(f"  {_state('waiting')} {plural(count, 'candidate'):>{_NUMBER}}  {chosen}")
    left_out = Counter(cell.reason or "" for cell in run.cells if cell.status == "not_chosen")
    for reason, count in left_out.items():
        show_painted(f"  {_state('not chosen')} {plural(count, 'cell'):>{_NUMBER}}  {one_line(reason)}")


def _more(cell: CellStatus) -> str:
    from benchbrief.results.result_messages import shorten_reason

    parts = []
    if cell.step:
        parts.append(cell.step.replace("_", " "))
    if cell.now is not None:
        parts.append(f"{rate(cell.now.ops_per_s)} now")
        if cell.now.latency_s is not None:
            parts.append(f"{cell.now.latency_of} {latency(cell.now.latency_s)}")
    if cell.promise and cell.status == "ok":
        parts.append(f"promise {cell.promise}")
    if cell.measuring:
        parts.append(_measuring(cell.measuring))
    if cell.reason:
        parts.append(one_line(shorten_reason(cell.reason)))
    if cell.attempt is not None and cell.attempt > 1:
        parts.append(f"(attempt {cell.attempt})")
    if cell.reused_from:
        parts.append(f"from run {one_line(cell.reused_from)}")
    return "  ".join(parts)


def _measuring(end: SteadyEnd) -> str:
    cut = f", the first {duration(end.cut_s)} cut off" if end.cut_s else ""
    return f"{'steady' if end.steady else 'NOT steady'} after {duration(end.lasted_s)}{cut}"


def _show_choices(run: RunStatus) -> None:
    """Show why each point of an adaptive ramp was chosen."""
    before = None
    for each in run.choices:
        ramp = f"{each.experiment} on {', '.join(each.hardware)} with {each.levels.behind(each.workload)}"
        if ramp != before:
            show(f"  points of {one_line(ramp)}:")
        before = ramp
        unit = " ops/s" if each.axis == "target" else ""
        show(f"    {each.number:>2}. {f'{each.axis} = {each.point:,.0f}{unit}':<24} {one_line(each.why)}")


def _show_promises(run: RunStatus) -> None:
    """Show the results of searches for promises."""
    from benchbrief.progress.finished_run import sentence

    for each in run.promises:
        show_painted(f"  found: {one_line(sentence(each) or each.reason)}")


def _show_hosts(run: RunStatus) -> None:
    from benchbrief.progress.live_screen import host_numbers

    for host, said_now in run.hosts.items():
        if numbers := host_numbers(said_now):
            show(f"  host {one_line(host)}: {numbers.replace('  ', ', ')} now")


def _openmetrics(run_dir: Path) -> str:
    from benchbrief.progress.openmetrics import text
    from benchbrief.progress.run_view import LiveRun
    from benchbrief.results.ingest.run_evidence import read_evidence
    from benchbrief.results.runs.find_runs import run_state
    from benchbrief.runners.execution.live_numbers import present_readings

    state = run_state(run_dir)
    evidence = read_evidence(run_dir)
    view = LiveRun(evidence.plan, run_id=evidence.run_id)
    for record in evidence.records:
        view.apply(record)
    now = view.now() if state == "running" or view.record.last_at is None else view.record.last_at
    return text(view, present_readings(run_dir, now) if state == "running" else (), state, now)


def read_all(out: Path) -> tuple[list[RunStatus], list[str]]:
    """Return all runs that can be read, and the reasons why others can't be, such as a different version."""
    from benchbrief.results.runs.find_runs import list_runs, unreadable_runs
    from benchbrief.results.runs.run_summary import summarise
    from benchbrief.runners.errors import RunnerError

    runs, problems = [], []
    for path in list_runs(out):
        try:
            runs.append(summarise(path))
        except RunnerError as error:
            problems.append(str(error))
    return runs, [*problems, *(str(error) for _, error in unreadable_runs(out))]
