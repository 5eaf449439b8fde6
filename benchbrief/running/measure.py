"""Measures a run's cells, from the plan to the journal and the raw outputs."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path

from benchbrief.compiler.estimates.budget_fit import most_s
from benchbrief.compiler.estimates.estimate import alone, counted_cells, time_spent
from benchbrief.compiler.estimates.learned import with_history
from benchbrief.model.events import HostsGiven, TimeEstimated
from benchbrief.model.plan import Plan
from benchbrief.model.run_record import RunRecord
from benchbrief.progress.earlier_results import Retake
from benchbrief.progress.finished_run import Finished
from benchbrief.progress.run_progress import Progress
from benchbrief.progress.run_view import KnownOfRun
from benchbrief.results.ingest.run_evidence import read_evidence
from benchbrief.results.runs.find_runs import is_simulated
from benchbrief.results.runs.interim_results import AskedSoFar
from benchbrief.results.runs.times_taken import Pace, learned_times, pace_of, timed_plan, times_taken
from benchbrief.runners.errors import Outdated
from benchbrief.runners.execution.executor import execute
from benchbrief.runners.execution.kept_claim import KeptClaim
from benchbrief.runners.execution.live_numbers import Monitor
from benchbrief.runners.journal.journal_file import read_run
from benchbrief.runners.journal.run_folder import PLAN
from benchbrief.runners.scheduling.promise_search import votes_of
from benchbrief.runners.session import Session
from benchbrief.running.stop_signals import stop_on_signals


def expected_times(plan: Plan, run_dir: Path, before: RunRecord, *, report: bool) -> TimeEstimated | None:
    """Estimate how long the cells that are not done yet will take, from the folder's other runs.

    `report` says whether the reports will be rendered. Returns None for a simulated run, and for one that has already
    started.
    """
    if before.starts or is_simulated(run_dir):
        return None
    done = before.finished(plan)
    left = alone(plan.cells, counted_cells(plan.cells, plan.experiments, done) - done)
    history = learned_times(run_dir.parent, before=run_dir)
    estimated = with_history(plan.model_copy(update={"cells": left}), history)
    rendering_s = estimated.rendering_s if report else 0.0
    spent = time_spent(estimated.plan, rendering_s)
    return TimeEstimated(
        at=0.0,
        seconds={name: {**activities} for name, activities in spent.experiments.items()},
        rendering_s=rendering_s,
        wall_s=most_s(estimated.plan) + rendering_s,
        runs=tuple(dict.fromkeys(source.run for source in estimated.sources if source.run)),
    )


def known_before(plan: Plan, run_dir: Path, before: RunRecord, expected: TimeEstimated | None) -> KnownOfRun:
    timed = timed_plan(plan, run_dir)
    done = before.finished(plan) - before.not_chosen
    took = {name: None if name in before.reused else before.times.seconds.get(name) for name in done}
    pace = pace_of(timed, times_taken(run_dir)) if before.starts else Pace()
    estimated = expected or before.estimated
    return KnownOfRun(
        timed,
        took,
        pace,
        rendering_s=estimated.rendering_s if estimated else 0.0,
        wall_s=expected.wall_s if expected else None,
        spent_s=before.elapsed_s(before.last_at) if before.last_at is not None else 0.0,
        votes=votes_of(plan, before),
        left_out=before.not_chosen & {cell.id for cell in plan.cells},
    )


def measure(
    plan: Plan,
    run_dir: Path,
    progress: Progress,
    monitor: Monitor,
    *,
    wait_s: float,
    report: bool = True,
    given: HostsGiven | None = None,
    kept: KeptClaim | None = None,
    retake: Retake | None = None,
    of: Path | None = None,
) -> Finished:
    """Run cells until all are good or a signal ends the run. Raises RunnerError.

    `report` says whether the reports will be rendered, so that the recorded estimate covers them. `wait_s`, `given` and
    `kept` are as for `execute`. `retake` chooses earlier results again after a wait for hosts. If this run belongs to
    another run, `of` is the run that a user has to resume after a stop.
    """
    digest = hashlib.sha256((run_dir / PLAN).read_bytes()).hexdigest()
    before = read_run(run_dir)
    expected = expected_times(plan, run_dir, before, report=report)
    known = known_before(plan, run_dir, before, expected)
    session = Session()
    try:
        with (
            stop_on_signals(progress, of or run_dir, session.underway) as stopping,
            progress.of(plan, known, monitor.now),
        ):
            outcome = execute(
                plan,
                digest,
                run_dir,
                listener=progress.record,
                stopping=stopping,
                monitor=monitor,
                wait=progress.note if wait_s else None,
                wait_s=wait_s,
                before=before,
                expected=expected,
                read_tables=AskedSoFar(run_dir, plan).read,
                given=given,
                session=session,
                kept=kept,
                is_outdated=partial(retake.is_outdated, plan) if retake else lambda: False,
            )
    except Outdated:
        if retake is None:
            raise
        again = retake.renew(plan, run_dir, progress)
        return measure(
            plan, run_dir, progress, monitor, wait_s=wait_s, report=report, given=given, kept=kept, retake=again
        )
    evidence = read_evidence(run_dir, plan, before)
    return Finished(
        run_dir,
        outcome.status,
        outcome.message,
        dict(outcome.failed),
        dict(outcome.without_room),
        reused=tuple(evidence.reused.values()),
        simulated=evidence.simulated is not None,
        plan=plan,
        evidence=evidence,
    )
