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
from benchbrief.runners.errors import HostError, HostFull, Interrupted, RunnerError
from benchbrief.runners.history import KINDS, Left
from benchbrief.runners.journal_io import Journal
from benchbrief.runners.live import Monitor
from benchbrief.runners.rundir import cell_directory, digests
from benchbrief.runners.seams import Hosts, RunningJob
from benchbrief.runners.tasks import Job, JobOutput
from benchbrief.runners.world import World


class NotWhole(Exception):
    """What an earlier controller left of this attempt can't be gone on with: it is to be run again. Says why."""


@dataclass(frozen=True)
class StepJob:
    """A job of one step of a cell: `name` as in the journal, `host` whose it is, `at` where it runs."""

    name: str
    host: str
    at: str

    def key(self, cell: str, attempt: int, step: str) -> str:
        """By which it is found again on its host."""
        return f"{cell}/{attempt}/{step}/{self.host if self.name == step else self.name}"

    @property
    def is_probe(self) -> bool:
        return self.name.startswith("probe:")


@dataclass(frozen=True)
class Attempt:
    """`number` counts from 1. `left` is what an earlier controller had come to, when this one goes on with it."""

    plan: Plan
    cell: Cell
    number: int
    run_dir: Path
    journal: Journal
    hosts: Hosts
    world: World
    stopping: threading.Event
    monitor: Monitor = field(default_factory=Monitor)
    left: Left | None = None

    @contextmanager
    def step(self, kind: StepKind) -> Iterator[None]:
        if self.stopping.is_set():
            raise Interrupted
        began = self.began(kind)
        if began is None:
            seconds = self.step_of(kind).seconds
            self.journal.write(
                j.StepStarted(at=time.time(), cell=self.cell.id, attempt=self.number, step=kind, seconds=seconds)
            )
        started = time.monotonic() - (max(0.0, time.time() - began) if began is not None else 0.0)
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

    def began(self, kind: StepKind) -> float | None:
        """When an earlier controller began the step that is gone on with; None for any other step."""
        if self.left is None or self.left.step is None or kind in self.left.over:
            return None
        return self.left.step.at if self.left.step.step == kind else None

    def is_due(self, kind: StepKind) -> bool:
        """Whether a step is still to be run, or gone on with."""
        current = self.left.current if self.left else None
        return current is None or KINDS.index(kind) >= KINDS.index(current)

    def key(self, step: StepKind, job: StepJob) -> str:
        return job.key(self.cell.id, self.number, step)

    def kept(self, step: StepKind, job: StepJob) -> JobOutput | None:
        """The output of a job that an earlier controller collected."""
        record = self.left.output(step, job.name, job.host) if self.left else None
        if record is None:
            return None
        directory = self.run_dir / record.directory
        return JobOutput(directory, record.exit_code, record.started_at, record.ended_at, record.host)

    def remark(self, text: str) -> None:
        """Once, though an earlier controller may have said it before it was killed."""
        if self.left is None or text not in self.left.said:
            self.journal.write(j.Remark(at=time.time(), severity="info", text=text, cell=self.cell.id))

    def step_of(self, kind: StepKind) -> Step:
        return next(step for step in self.cell.steps if step.kind == kind)

    def skip(self, kind: StepKind, why: str) -> None:
        self.journal.write(
            j.StepEnded(at=time.time(), cell=self.cell.id, attempt=self.number, step=kind, seconds=0.0, skipped=why)
        )

    def collect(self, running: RunningJob, step: StepKind, folder: str, job: str, host_id: str) -> JobOutput:
        """Only when its output is kept, and the journal says so, is the job removed from its host."""
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
        with suppress(RunnerError):  # it is ended as a leftover, then
            running.discard()
        return output
