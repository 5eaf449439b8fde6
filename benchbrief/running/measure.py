"""A run's cells, measured: the plan becomes journal and raw outputs."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path

from benchbrief.compiler.planning.plan import Plan
from benchbrief.progress.earlier_results import Retake
from benchbrief.progress.finished_run import Finished
from benchbrief.progress.run_progress import Progress
from benchbrief.results.analysis.interim_samples import AskedSoFar
from benchbrief.results.ingest.run_evidence import read_evidence
from benchbrief.runners.errors import Outdated
from benchbrief.runners.execution.executor import execute
from benchbrief.runners.execution.live_numbers import Monitor
from benchbrief.runners.hosts.kept_claim import KeptClaim
from benchbrief.runners.journal.events import HostsGiven
from benchbrief.runners.journal.run_folder import PLAN
from benchbrief.runners.journal.run_record import read_run
from benchbrief.runners.session.session import Session
from benchbrief.running.stop_signals import stop_on_signals
from benchbrief.running.times_before_run import expected_times, known_before


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
) -> Finished:
    """Run every cell that is not yet good, until all are or a signal ends it. Raises RunnerError.

    `report`: its reports will be rendered, which the recorded estimate covers. `wait_s`, `given` and `kept`
    are as for `execute`. `retake` decides again what is taken from earlier runs, after a wait for hosts.
    """
    digest = hashlib.sha256((run_dir / PLAN).read_bytes()).hexdigest()
    before = read_run(run_dir)
    expected = expected_times(plan, run_dir, before, report=report)
    known = known_before(plan, run_dir, before, expected)
    session = Session()
    try:
        with stop_on_signals(progress, run_dir, session.underway) as stopping, progress.of(plan, known, monitor.now):
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
