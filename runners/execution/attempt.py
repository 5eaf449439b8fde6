"""One attempt at one cell: its steps and the outputs of its jobs, as the journal records them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import field, replace
from pathlib import Path

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.plan import Cell, Plan, Step, StepKind
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import KINDS, TURN, Left
from benchbrief.runners.errors import HostError, HostFull, Interrupted, RunnerError
from benchbrief.runners.execution.live_numbers import Monitor
from benchbrief.runners.jobs.tasks import Job, JobOutput
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.journal_file import Journal
from benchbrief.runners.journal.run_folder import cell_directory, digests
from benchbrief.runners.scheduling.parallel_lanes import MeasuringTurns
from benchbrief.runners.seams import Hosts, RunningJob
from benchbrief.runners.world.world_seams import World


class NotWhole(Exception):
    """An attempt that an earlier controller left unfinished can't be resumed, and must be repeated. The message gives
    the reason."""


@dataclass(frozen=True)
class StepJob:
    """A job of one step of a cell. `name` is its name in the journal, `host` is the host that it serves, and `at` is
    the host on which it runs."""

    name: str
    host: str
    at: str

    def key(self, cell: str, attempt: int, step: str) -> str:
        """Return the key under which the host knows the job."""
        return f"{cell}/{attempt}/{step}/{self.host if self.name == step else self.name}"

    @property
    def is_probe(self) -> bool:
        return self.name.startswith("probe:")


@dataclass(frozen=True)
class Attempt:
    """One attempt at a cell. `number` counts from 1. If this attempt resumes an earlier controller's, `left` says how
    far that controller got."""

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
    turns: MeasuringTurns | None = None
    removals: list[threading.Thread] = field(default_factory=list)
    """Threads that remove collected jobs from hosts while the cell continues."""

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the cell's turn to be measured, and hold the turn during the block. Raises Interrupted if the run
        must stop before the turn comes.

        Does nothing for a cell that takes no turns.
        """
        if self.turns is None or not self.is_due("measure"):
            yield
            return
        with self.turns.taken(self.cell, self.stopping, self._awaiting_turn):
            yield
            if hardware := self.turns.beside(self.cell):
                text = say.beside_loads(hardware=", ".join(sorted(hardware)))
                self.journal.write(j.Remark(at=now(), severity="info", text=text, cell=self.cell.id))

    @contextmanager
    def _awaiting_turn(self) -> Iterator[None]:
        of = {"cell": self.cell.id, "attempt": self.number, "step": TURN}
        self.journal.write(j.StepStarted.model_validate({"at": now(), "seconds": 0.0, **of}))
        began = time.monotonic()
        yield
        self.journal.write(j.StepEnded.model_validate({"at": now(), "seconds": time.monotonic() - began, **of}))

    @contextmanager
    def step(self, kind: StepKind) -> Iterator[None]:
        if self.stopping.is_set():
            raise Interrupted
        if kind != "collect":
            self.await_removals()
        began = self.began(kind)
        if began is None:
            seconds = self.step_of(kind).seconds
            self.journal.write(
                j.StepStarted(at=now(), cell=self.cell.id, attempt=self.number, step=kind, seconds=seconds)
            )
        started = time.monotonic() - (max(0.0, now() - began) if began is not None else 0.0)
        with self.turns.loading(self.cell) if self.turns and kind == "load" else nullcontext():
            yield
        self.journal.write(
            j.StepEnded(
                at=now(),
                cell=self.cell.id,
                attempt=self.number,
                step=kind,
                seconds=time.monotonic() - started,
            )
        )

    def attended(self, job: Job) -> Job:
        """Return the job. If the experiment limits how long it may run without a controller, the returned job has that
        limit."""
        unattended_s = self.plan.experiments[self.cell.experiment].unattended_s
        return job if unattended_s is None else replace(job, unattended_s=unattended_s)

    def began(self, kind: StepKind) -> float | None:
        """Return when an earlier controller began the step, if this step is now resumed. Returns None for other
        steps."""
        if self.left is None or self.left.step is None or kind in self.left.over:
            return None
        return self.left.step.at if self.left.step.step == kind else None

    def is_due(self, kind: StepKind) -> bool:
        """Return whether the step must be run or resumed. A resumed attempt skips the steps that an earlier controller
        has completed."""
        current = self.left.current if self.left else None
        return current is None or KINDS.index(kind) >= KINDS.index(current)

    def key(self, step: StepKind, job: StepJob) -> str:
        return job.key(self.cell.id, self.number, step)

    def kept(self, step: StepKind, job: StepJob) -> JobOutput | None:
        """Return the output of a job that an earlier controller collected."""
        record = self.left.output(step, job.name, job.host) if self.left else None
        return JobOutput.of(record, self.run_dir) if record else None

    def remark(self, text: str) -> None:
        """Write a remark to the journal, unless this controller or an earlier one has already written it."""
        if self.left is None or text not in self.left.said:
            self.journal.write(j.Remark(at=now(), severity="info", text=text, cell=self.cell.id))

    def step_of(self, kind: StepKind) -> Step:
        return next(step for step in self.cell.steps if step.kind == kind)

    def skip(self, kind: StepKind, why: str) -> None:
        self.journal.write(
            j.StepEnded(at=now(), cell=self.cell.id, attempt=self.number, step=kind, seconds=0.0, skipped=why)
        )

    def collect(self, running: RunningJob, step: StepKind, folder: str, job: str, host_id: str) -> JobOutput:
        """Fetch a job's output and record it in the journal. Remove the job from its host only after that."""
        self.monitor.forget(running)
        directory = cell_directory(self.cell.id, self.number) / folder.replace("/", "_")
        try:
            output = running.collect(self.run_dir / directory)
        except (HostError, HostFull):  # the attempt has failed, and what could be fetched of it is here
            with suppress(RunnerError):
                running.discard()
            raise
        self.journal.write(
            j.JobCollected(
                at=now(),
                cell=self.cell.id,
                attempt=self.number,
                step=step,
                job=job,
                host=host_id,
                directory=str(directory),
                exit_code=output.exit_code,
                started_at=output.started_at,
                ended_at=output.ended_at,
                files=digests(self.run_dir / directory, durable=False),  # `collect` has flushed them
                clock_set_s=output.clock_set_s,
                booted=output.booted,
                other_cores=output.other_cores,
            )
        )
        if self.world.simulated:
            self._remove(running)
        else:
            removal = threading.Thread(target=self._remove, args=(running,), daemon=True, name=f"remove {job}")
            removal.start()
            self.removals.append(removal)
        return output

    @staticmethod
    def _remove(running: RunningJob) -> None:
        with suppress(RunnerError):  # if this fails, the job is ended later as a leftover
            running.discard()

    def await_removals(self) -> None:
        """Wait until collected jobs are removed. Removing takes processor time on the hosts, so nothing may be measured
        in that time."""
        while self.removals:
            self.removals.pop().join()
