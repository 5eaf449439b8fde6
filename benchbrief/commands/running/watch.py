from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.cli.run_options import chosen_run, out_option, run_argument, run_name
from benchbrief.cli.terminal import ENDS, Stop, exit_codes, fail, show, show_json
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.progress.run_progress import Progress

if TYPE_CHECKING:
    from benchbrief.progress.follow_run import Followed

_PHASES = {"tables": "building the tables", "reports": "rendering the brief"}


@click.command(
    epilog="""
\b
Examples:
  bench watch                       the last run, until it ends
  bench watch 20260301 --json       events, and the state every 5 s
  bench watch && bench report       it ends with the exit code of the run

Ctrl-C ends only the watching: the run goes on. If its controller is killed, this says so within seconds.

"""
    + exit_codes(*ENDS, fails="an `expect` does not hold")
)
@run_argument
@out_option
@click.option(
    "--every",
    type=click.FloatRange(min=0.5),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="How often --json tells what goes on.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def command(run: str | None, out: Path, every: float, as_json: bool) -> None:
    """Follow RUN (the last one by default) from another shell until it ends, and end with its exit code."""
    run_dir = chosen_run(out, run)
    try:
        last = _as_json(run_dir, every) if as_json else _shown(run_dir)
    except KeyboardInterrupt:
        show(f"{run_dir.name} goes on; look again with: bench watch {run_name(run_dir)}", err=True)
        raise Stop(ExitCode.INTERRUPTED) from None
    if last.phase == "gone":
        raise fail(
            f"{run_dir.name} is not finished, and its controller is gone",
            f"go on with: bench resume {run_name(run_dir)}",
            ExitCode.INTERRUPTED,
        )
    if last.code is not None and last.code is not ExitCode.DONE:
        raise Stop(last.code)


def _shown(run_dir: Path) -> Followed:
    from benchbrief.progress.follow_run import follower_of
    from benchbrief.progress.run_view import known_by_estimate
    from benchbrief.runners.execution.live_numbers import JobReading
    from benchbrief.runners.journal.run_folder import load_plan

    progress = Progress()
    readings: tuple[JobReading, ...] = ()
    follower = follower_of(run_dir)
    last = follower.look()
    plan = load_plan(run_dir)
    with progress.of(plan, known_by_estimate(plan, run_dir), lambda: readings):
        for record in last.records:
            progress.catch_up(record)
        if last.code is None:
            progress.show_position(run_dir.name)
            for last in follower.looks():
                readings = tuple(last.readings)
                progress.phase = _PHASES.get(last.phase, "")
                for record in last.records:
                    progress.record(record)
    view = progress.view
    if last.phase == "ended" and view is not None and (end := view.record.end) is not None:
        show(f"run {run_dir.name}: {end.status}, {end.message}")
        show(f"more with: bench status {run_name(run_dir)}")
    return last


def _as_json(run_dir: Path, every: float) -> Followed:
    from benchbrief.progress.follow_run import Followed, event, follower_of, present
    from benchbrief.progress.run_view import LiveRun, known_by_estimate
    from benchbrief.runners.journal.run_folder import load_plan

    plan = load_plan(run_dir)
    view = LiveRun(plan, known_by_estimate(plan, run_dir))
    shown_at, first = float("-inf"), True
    last = Followed(())
    for last in follower_of(run_dir).looks():
        for record in last.records:
            view.apply(record)
            if not first and (happened := event(view, record)):
                show_json(happened, indent=None)
        first = False
        if time.monotonic() - shown_at >= every or last.code is not None:
            shown_at = time.monotonic()
            show_json(present(view, last, view.now()), indent=None)
    show_json({"event": "end", "run": run_dir.name, "phase": last.phase, "exit_code": int(last.code or 0)}, indent=None)
    return last
