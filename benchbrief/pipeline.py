"""The whole way, on one screen: a spec's plan is run, stored, evaluated and rendered."""

from __future__ import annotations

import hashlib
import os
import shlex
import signal
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, Literal, NamedTuple

from benchbrief.progress import Progress
from benchbrief.terminal import ExitCode, last_words, printable, silence_what_is_closed, warn

if TYPE_CHECKING:
    from benchbrief.compiler.plan import Plan
    from benchbrief.reports.render import Format
    from benchbrief.results.coverage import Patchy
    from benchbrief.results.expects import Verdict
    from benchbrief.results.store import Store
    from benchbrief.runners.journal import CellReused
    from benchbrief.runners.live import Monitor

OUT = Path("bench-out")
_NAMED = 5
"""More jobs than these are counted only."""


def said(run_dir: Path) -> str:
    """How to name a run on the command line: by its name, or, outside the usual folder, by its own folder."""
    return run_dir.name if run_dir.parent == OUT else shlex.quote(str(run_dir))


@dataclass(frozen=True)
class Finished:
    """What a run left. `reports` maps each report's name to its files; `reused` are results of earlier runs."""

    run_dir: Path
    status: str
    message: str
    failed: dict[str, str] = field(default_factory=dict)
    verdicts: tuple[Verdict, ...] = ()
    sampled: tuple[Patchy, ...] = ()
    """The probes that sampled too little."""
    reports: dict[str, list[Path]] = field(default_factory=dict)
    reused: tuple[CellReused, ...] = ()
    simulated: bool = False
    plan: Plan | None = None

    @property
    def code(self) -> ExitCode:
        if self.status == "interrupted":
            return ExitCode.INTERRUPTED
        if self.status == "failed":
            return ExitCode.CELL_FAILED
        # A condition on numbers that nobody measured neither holds nor fails.
        if not self.simulated and any(verdict.holds is not True for verdict in self.verdicts):
            return ExitCode.EXPECT_FAILED
        return ExitCode.DONE


def run_plan(
    run_dir: Path, progress: Progress, *, report: bool = True, metrics: Path | None = None, wait: bool = False
) -> Finished:
    """Run every cell of a run's plan that is not yet good, then store, evaluate and render what is there.

    An interrupted run is stored but not rendered: a partial result is not to be taken for a whole one. `metrics` is a
    file that is kept up to date in OpenMetrics text meanwhile; with `wait`, hosts that another run holds are waited
    for.
    """
    from benchbrief.openmetrics import MetricsFile
    from benchbrief.runners.live import Monitor

    with Monitor(run_dir) as monitor, MetricsFile(metrics, progress, monitor.now):
        finished = _run_plan(run_dir, progress, monitor, report=report, wait=wait)
        monitor.ended(finished.code)
        return finished


def _run_plan(run_dir: Path, progress: Progress, monitor: Monitor, *, report: bool, wait: bool) -> Finished:
    from benchbrief.results.evidence import read_evidence
    from benchbrief.runners.errors import RunnerError
    from benchbrief.runners.executor import execute
    from benchbrief.runners.history import finished_cells
    from benchbrief.runners.rundir import PLAN, load_plan

    plan = load_plan(run_dir)
    digest = hashlib.sha256((run_dir / PLAN).read_bytes()).hexdigest()
    with _stop_on_signals(progress, run_dir) as stopping, progress.of(plan, finished_cells(run_dir), monitor.now):
        outcome = execute(
            plan,
            digest,
            run_dir,
            listener=progress.record,
            stopping=stopping,
            monitor=monitor,
            wait=progress.note if wait else None,
        )
    evidence = read_evidence(run_dir, plan)
    finished = Finished(
        run_dir,
        outcome.status,
        outcome.message,
        dict(outcome.failed),
        reused=tuple(evidence.reused.values()),
        simulated=evidence.simulated is not None,
        plan=plan,
    )
    del evidence  # the store reads its own, and a fleet's is large
    if outcome.status == "interrupted":
        with suppress(RunnerError):  # that it was interrupted is what counts; `bench rebuild` tells what is wrong
            store(run_dir, plan)
        return finished
    try:
        monitor.enter("tables")
        with progress.doing("building the tables"):
            stored = store(run_dir, plan)
            finished = replace(finished, verdicts=stored.verdicts, sampled=stored.sampled)
        if not report:
            return finished
        from benchbrief.results.store import open_store

        monitor.enter("reports")
        with progress.doing("rendering the brief"), open_store(run_dir) as results:
            return replace(finished, reports=render_all(run_dir, plan, results))
    except (Exception, KeyboardInterrupt):
        warn(f"all that was measured is kept; for the brief, type: bench report {said(run_dir)}")
        raise


class Stored(NamedTuple):
    """What the tables of a run say: of the spec's expectations, and of the probes that sampled too little."""

    verdicts: tuple[Verdict, ...]
    sampled: tuple[Patchy, ...]


def store(run_dir: Path, plan: Plan) -> Stored:
    """Build the run's tables from its journal and raw outputs, and judge what the spec expects of them."""
    from benchbrief.results.coverage import patchy
    from benchbrief.results.expects import evaluate
    from benchbrief.results.store import open_store, rebuild

    rebuild(run_dir, plan)
    with open_store(run_dir) as results:
        return Stored(tuple(evaluate(plan, results)), tuple(patchy(results)))


def render_all(
    run_dir: Path,
    plan: Plan,
    results: Store,
    to: Path | None = None,
    *,
    formats: Collection[Format] = (),
    paper: Literal["a4", "letter"] | None = None,
    reports_from: dict[str, str] | None = None,
) -> dict[str, list[Path]]:
    """Render every report of the plan, of the run's `results`, into `to` (its own `reports` folder by default).

    Without `formats`, in those of its layout; without `paper`, on what the report says.

    `reports_from` names the files, with their SHA-256, that the reports and metrics are from when not the run's own.
    """
    from benchbrief.reports.render import render
    from benchbrief.runners.rundir import keep_plan, kept_content

    keep_plan(run_dir, plan)
    rendered = {
        report.name: render(
            plan,
            results,
            report.name,
            to or run_dir / "reports",
            formats=formats,
            paper=paper,
            kept=partial(kept_content, run_dir),
            reports_from=reports_from,
        )
        for report in plan.reports
    }
    for text in dict.fromkeys(each.warning for each in rendered.values() if each.warning):
        warn(text)
    return {name: list(each.files) for name, each in rendered.items()}


@contextmanager
def _stop_on_signals(progress: Progress, run_dir: Path) -> Iterator[threading.Event]:
    """An event that the first SIGINT, SIGTERM or SIGHUP sets; a second one ends the process at once.

    What is still waited for after the first is said, and what the second leaves behind.

    A signal that is ignored stays so: `nohup` means to outlive the terminal.
    """
    from benchbrief.runners.underway import UNDERWAY

    stopping = threading.Event()
    before = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if (handler := signal.getsignal(number)) is not signal.SIG_IGN
    }

    def stop(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            silence_what_is_closed()
        if stopping.is_set():
            if number == signal.SIGHUP:  # a terminal that is closed may send it twice
                return
            # Not an exception: it would close the journal under the lanes, which are threads and still write to it.
            try:
                progress.leave_terminal()
                last_words(_left_behind(run_dir))
            finally:
                os._exit(ExitCode.INTERRUPTED)
        stopping.set()
        UNDERWAY.tell = notes.put
        notes.put("stopping what runs; the same again ends at once, and leaves it running")
        for text in UNDERWAY.waited():
            notes.put(f"waiting for {text}")

    # What is told waits for who reads it, which must not keep the second signal from its handler. Such a queue may be
    # put to by a handler (https://docs.python.org/3/library/queue.html#queue.SimpleQueue.put).
    notes: SimpleQueue[str | None] = SimpleQueue()

    def tell() -> None:
        for text in iter(notes.get, None):
            progress.note(text)

    teller = threading.Thread(target=tell, name="teller", daemon=True)
    teller.start()
    for number in before:
        signal.signal(number, stop)
    try:
        yield stopping
    finally:
        notes.put(None)
        teller.join()
        UNDERWAY.tell = None
        for number, handler in before.items():
            signal.signal(number, handler)


def _left_behind(run_dir: Path) -> str:
    """What goes on without us, and how it is ended."""
    from benchbrief.runners.underway import UNDERWAY

    jobs = UNDERWAY.jobs()
    named = ", ".join(jobs[:_NAMED]) + (f" and {len(jobs) - _NAMED} more" if len(jobs) > _NAMED else "")
    what = f"left running: {printable(named)}; " if jobs else ""
    return f"{what}clean up with: bench stop {said(run_dir)}, or go on with: bench resume {said(run_dir)}\n"
