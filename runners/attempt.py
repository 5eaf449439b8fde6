"""One attempt at one cell: its steps and the outputs of its jobs, as they are written to the journal."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchbrief.compiler.plan import Cell, Plan, Step, StepKind
from benchbrief.runners import journal as j
from benchbrief.runners.journal_io import Journal
from benchbrief.runners.live import Monitor
from benchbrief.runners.rundir import cell_directory, digests
from benchbrief.runners.seams import HostError, HostFull, Hosts, Job, JobOutput, RunnerError, RunningJob
from benchbrief.runners.world import World


class Interrupted(Exception):
    """The run was asked to stop while this cell was going on."""


@dataclass(frozen=True)
class Attempt:
    """`number` counts from 1."""

    plan: Plan
    cell: Cell
    number: int
    run_dir: Path
    journal: Journal
    hosts: Hosts
    world: World
    stopping: threading.Event
    monitor: Monitor = field(default_factory=Monitor)

    @contextmanager
    def step(self, kind: StepKind) -> Iterator[None]:
        if self.stopping.is_set():
            raise Interrupted
        self.journal.write(
            j.StepStarted(
                at=time.time(), cell=self.cell.id, attempt=self.number, step=kind, seconds=self.step_of(kind).seconds
            )
        )
        started = time.monotonic()
        yield
        self.journal.write(
            j.StepEnded(
                at=time.time(),
                cell=self.cell.id,
                attempt=self.number,
                step=kind,
                seconds=time.monotonic() - started,
            )
        )

    def attended(self, job: Job) -> Job:
        """The job with the time that its experiment lets it go on without a controller, where it says one."""
        unattended_s = self.plan.experiments[self.cell.experiment].unattended_s
        return job if unattended_s is None else replace(job, unattended_s=unattended_s)

    def step_of(self, kind: StepKind) -> Step:
        return next(step for step in self.cell.steps if step.kind == kind)

    def skip(self, kind: StepKind, why: str) -> None:
        self.journal.write(
            j.StepEnded(at=time.time(), cell=self.cell.id, attempt=self.number, step=kind, seconds=0.0, skipped=why)
        )

    def collect(self, running: RunningJob, step: StepKind, folder: str, job: str, host_id: str) -> JobOutput:
        self.monitor.forget(running)
        directory = cell_directory(self.cell.id, self.number) / folder.replace("/", "_")
        try:
            output = running.collect(self.run_dir / directory)
        except (HostError, HostFull):  # the attempt has failed: what could be had of it is here
            with suppress(RunnerError):
                running.discard()
            raise
        self.journal.write(
            j.JobCollected(
                at=time.time(),
                cell=self.cell.id,
                attempt=self.number,
                step=step,
                job=job,
                host=host_id,
                directory=str(directory),
                exit_code=output.exit_code,
                started_at=output.started_at,
                ended_at=output.ended_at,
                files=digests(self.run_dir / directory),
            )
        )
        running.discard()
        return output
