"""Takes a run from plan to brief: measure, store, evaluate, render."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from benchbrief.cli.run_options import run_name
from benchbrief.cli.terminal import end_request, show_error, warn
from benchbrief.model.plan import Plan
from benchbrief.model.run_messages import say
from benchbrief.progress.earlier_results import Retake
from benchbrief.progress.finished_run import Finished
from benchbrief.progress.openmetrics import MetricsFile
from benchbrief.progress.run_progress import Progress
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.execution.kept_claim import KeptClaim
from benchbrief.runners.execution.live_numbers import Monitor
from benchbrief.runners.fleet.submitted_run import driving_alone, on_its_nodes
from benchbrief.runners.journal.run_folder import load_plan
from benchbrief.running.lanes import merge, run_submitted
from benchbrief.running.make_brief import make_tables, render_stored, warn_of_holder
from benchbrief.running.measure import measure
from benchbrief.running.measure_held_out import has_held_out, held_out_to_measure, measure_held_out
from benchbrief.running.stop_signals import ended_by_sigterm


def run_plan(
    run_dir: Path,
    progress: Progress,
    *,
    report: bool = True,
    metrics: Path | None = None,
    wait: bool = False,
    retake: Retake | None = None,
) -> Finished:
    """Run all cells of a run's plan that are not good yet, then store, evaluate and render the results.

    An interrupted run is not rendered, so that nobody takes a partial result for a whole one. During the run,
    OpenMetrics are written to the file `metrics`. With `wait`, the run waits for hosts that another run holds. After
    the wait, `retake` chooses again which earlier results to take. Like `run_on_scheduler` and `merge_run`, this
    function claims this machine while the brief is made, unless another run has claimed it.
    """
    plan = load_plan(run_dir)
    with Monitor(run_dir) as monitor, MetricsFile(metrics, progress, monitor.now):
        with _holding(run_dir, progress) as kept:
            wait_s = math.inf if wait else 0.0
            # The held-out repeats need the hosts, so this machine is held only for the brief.
            ends = None if has_held_out(plan) else kept
            finished = measure(plan, run_dir, progress, monitor, wait_s=wait_s, report=report, kept=ends, retake=retake)
            finished = measure_held_out(finished, plan, progress, wait_s=wait_s)
            finished = _make_brief(finished, plan, progress, monitor, kept, report=report)
        monitor.ended(finished.code)
        return finished


def run_lane(lane_dir: Path, progress: Progress, *, wait_s: float = 0.0) -> Finished:
    """Run all cells of a lane that are not good yet. Tables and briefs are made later, from all lanes together.

    Waits up to `wait_s` seconds for hosts that another controller holds.
    """
    plan, given = on_its_nodes(load_plan(lane_dir), lane_dir, progress.note)
    with Monitor(lane_dir) as monitor:
        finished = measure(plan, lane_dir, progress, monitor, wait_s=wait_s, report=False, given=given)
        monitor.ended(finished.code)
        return finished


def run_on_scheduler(run_dir: Path, progress: Progress, *, report: bool = True) -> Finished:
    """Run the unfinished lanes as jobs of the run's scheduler, then merge, store and render."""
    plan = load_plan(run_dir)
    with driving_alone(run_dir), Monitor(run_dir) as monitor:
        monitor.begin()
        finished = run_submitted(plan, run_dir, progress)  # jobs -> folders of lanes -> journal and raw outputs
        with _holding(run_dir, progress) as kept:
            finished = _make_brief(finished, plan, progress, monitor, kept, report=report)
        monitor.ended(finished.code)
        return finished


def merge_run(run_dir: Path, folders: Sequence[Path], progress: Progress, *, report: bool = True) -> Finished:
    """Merge a run's lanes, then store, evaluate and render the results, as `run_plan` does."""
    plan = load_plan(run_dir)
    finished = merge(plan, run_dir, folders, progress)  # journals and raw outputs of lanes -> those of the run
    if finished.status == "done" and (left := held_out_to_measure(run_dir, plan)):
        progress.note(say.held_out_left(claims=", ".join(left), run=run_name(run_dir)))
    with _holding(run_dir, progress) as kept:
        return _make_brief(finished, plan, progress, Monitor(), kept, report=report)


@contextmanager
def _holding(run_dir: Path, progress: Progress) -> Iterator[KeptClaim]:
    """Hold a claim on this machine while the brief is made. SIGTERM ends the command like Ctrl-C."""
    with ended_by_sigterm(), KeptClaim() as kept:
        yield kept
    if kept.problem:
        progress.warn(f"not cleaned up: {kept.problem}; try again with: bench stop {run_name(run_dir)}")


def _make_brief(
    finished: Finished, plan: Plan, progress: Progress, monitor: Monitor, kept: KeptClaim, *, report: bool
) -> Finished:
    """Make tables, verdicts and briefs from the journal and the raw outputs. If this fails, no measurement is lost."""
    run_dir = finished.run_dir
    if finished.status == "interrupted":
        with suppress(RunnerError):  # the interruption matters more; `bench rebuild` shows the error
            return replace(finished, lost=make_tables(run_dir, plan, finished.evidence).lost)
        return finished
    if not kept.take(plan, run_dir):
        warn_of_holder(plan)
    began = time.monotonic()
    try:
        monitor.enter("tables")
        with progress.doing("building the tables"):
            tables = make_tables(run_dir, plan, finished.evidence)
            finished = replace(
                finished, verdicts=tables.verdicts, claims=tables.claims, sampled=tables.sampled, lost=tables.lost
            )
        if report:
            monitor.enter("reports")
            with progress.doing("rendering the brief"):
                briefs = render_stored(run_dir, plan, began)
            finished = replace(finished, reports=briefs.files, results=briefs.results, undrawn=briefs.undrawn)
    except (Exception, KeyboardInterrupt) as error:
        if end_request().caused(error):
            warn(f"what was measured is kept; for the brief, type: bench report {run_name(run_dir)}")
            raise KeyboardInterrupt from error
        show_error(error)
        finished = replace(finished, made=False)
    return finished
