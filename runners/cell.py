"""Running one cell: its steps in order, each written to the journal before the next begins.

    prepare -> load -> warm up -> measure (probes beside it) -> collect

Where the load itself is measured, the database is made empty in `prepare`, and there is no load or warm-up before.

A cell is good only when its output proved it: every error on the way is a RunnerError, and makes the cell failed.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchbrief.compiler.plan import Cell, Plan, Step, StepKind
from benchbrief.runners import journal as j
from benchbrief.runners.counters import CounterReadings
from benchbrief.runners.hosts import CONTROLLER
from benchbrief.runners.journal_io import Journal
from benchbrief.runners.measurement import Measurement, Together
from benchbrief.runners.plugins import probe_kind
from benchbrief.runners.rundir import cell_directory, digests
from benchbrief.runners.seams import (
    BadOutput,
    CellContext,
    Command,
    Driver,
    Engine,
    Hosts,
    Job,
    JobOutput,
    Node,
    RunnerError,
    RunningJob,
    ServerFailed,
)

_READY_S = 60.0
"""How long load generators wait for each other before they begin."""
_SLICE_S = 0.5
"""How often a waiting step looks whether the run was interrupted."""


class Interrupted(Exception):
    """The run was asked to stop while this cell was going on."""


@dataclass(frozen=True)
class CellRun:
    """One attempt at one cell, with all that it needs.

    `engine` gives the cell's engine, started; `tool_path` where the load generator is on a host.
    """

    plan: Plan
    cell: Cell
    attempt: int
    run_dir: Path
    journal: Journal
    hosts: Hosts
    engine: Callable[[], Engine]
    driver: Driver
    tool_path: Callable[[str], str]
    stopping: threading.Event

    def run(self) -> Measurement:
        """Raises RunnerError when the cell fails, Interrupted when the run is to stop."""
        with self._step("prepare"):
            self._prepare()
            endpoint = self.engine().start()
            if self.plan.workloads[self.cell.workload].phase == "load":
                self.engine().reset(self.cell)
            contexts = {
                host: CellContext(self.plan, self.cell, self.tool_path(host), endpoint, host)
                for host in self.cell.load_hosts
            }
        if self.cell.dataset:
            self._load(contexts[self.cell.load_hosts[0]])
        warm_ups = {host: job for host, context in contexts.items() if (job := self.driver.warm_up(context))}
        if warm_ups:
            with self._step("warm_up"):
                self._run_jobs(warm_ups, "warm_up")
        with self._step("measure"):
            outputs = self._measure(contexts)
        with self._step("collect"):
            try:
                measured = tuple(self.driver.parse(contexts[host], output) for host, output in outputs.items())
            except BadOutput as error:
                self._blame_the_server(error)
                raise
            self.engine().healthy()
            load = self.plan.workloads[self.cell.workload].phase == "load"
            return Together(measured, load).measurement()

    def _blame_the_server(self, error: BadOutput) -> None:
        """Raises ServerFailed when the bad output has that reason: a server that died says why its client failed."""
        try:
            self.engine().healthy()
        except ServerFailed as failure:
            raise ServerFailed(f"{failure}; {error}", failure.hint) from error

    def _prepare(self) -> None:
        from benchbrief.runners.commands import shell_line

        hardware = self.plan.hardware[self.cell.hardware]
        for line in hardware.prepare:
            for host_id in hardware.hosts:
                done = self.hosts[host_id].run(shell_line(line), timeout_s=self._step_of("prepare").timeout_s)
                if done.exit_code != 0:
                    raise RunnerError(
                        f"on {host_id}, prepare command `{line}` ended with code {done.exit_code}: "
                        f"{done.stderr.strip()[-300:]}",
                        f"it is declared for hardware {hardware.key} at {hardware.origin}",
                    )

    def _load(self, context: CellContext) -> None:
        if self.engine().holds(self.cell):
            self._skip("load", "data set reused")
            return
        job = self.driver.load(context)
        if job is None:
            return
        with self._step("load"):
            self.engine().reset(self.cell)
            outputs = self._run_jobs({self.cell.load_hosts[0]: job}, "load")
            self.engine().loaded(self.cell, self.driver.check_load(context, outputs[self.cell.load_hosts[0]]))

    def _measure(self, contexts: Mapping[str, CellContext]) -> dict[str, JobOutput]:
        node = self.plan.hardware[self.cell.hardware].hosts[0]
        readings = CounterReadings(self.engine().counters, self.cell.measure_s)
        with self._probes(), readings:
            outputs = self._run_jobs({host: self.driver.measure(each) for host, each in contexts.items()}, "measure")
        if readings.samples or readings.problem:
            self.journal.write(
                j.Counters(
                    at=time.time(),
                    cell=self.cell.id,
                    attempt=self.attempt,
                    node=node,
                    before=readings.before,
                    after=readings.after,
                    samples=readings.samples,
                    problem=readings.problem,
                )
            )
        return outputs

    @contextmanager
    def _probes(self) -> Iterator[None]:
        """Every probe samples while the block runs; its samples are collected after, whatever happened in it."""
        running: list[tuple[str, str, RunningJob]] = []
        try:
            hardware = self.plan.hardware[self.cell.hardware]
            for probe in self.cell.probes:
                kind = probe_kind(probe.name)
                for host_id in probe.hosts:
                    at = self.hosts[CONTROLLER.id if probe.on == "controller" else host_id]
                    job = kind.job(probe, Node(self.plan.hosts[host_id], hardware))
                    running.append((probe.name, host_id, at.start(job)))
            yield
        except BaseException:
            # The reason above is the cell's: a probe that can't be ended or fetched must not take its place.
            for each in running:
                with contextlib.suppress(RunnerError):
                    self._end_probe(*each)
            raise
        failures = []
        for each in running:
            try:
                self._end_probe(*each)
            except RunnerError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def _end_probe(self, name: str, host_id: str, running: RunningJob) -> None:
        running.stop()
        self._collect(running, "measure", f"probe-{name}-{host_id}", f"probe:{name}:{host_id}", host_id)

    def _run_jobs(self, jobs: Mapping[str, Job], step: StepKind) -> dict[str, JobOutput]:
        """Run a job on each of these hosts, begun together, to the end of all: one that can't be had fails them all."""
        running: dict[str, RunningJob] = {}
        deadline = time.monotonic() + max(job.timeout_s for job in jobs.values())
        try:
            self._start_together(jobs, running, step)
            for host_id, each in running.items():
                while not each.wait(_SLICE_S):
                    if self.stopping.is_set():
                        raise Interrupted
                    if time.monotonic() > deadline:
                        raise BadOutput(
                            f"{step} on {host_id} did not end within {jobs[host_id].timeout_s:.0f} s; its last words: "
                            f"{each.tail(300).strip() or '(none)'}",
                            "see the kept output, or give it more time",
                        )
            return {host: self._collect(each, step, f"{step}-{host}", step, host) for host, each in running.items()}
        except BaseException:
            # What they left is evidence for the reason above, which must not be replaced by a second failure.
            for host_id, each in running.items():
                with contextlib.suppress(RunnerError):
                    each.stop()
                    self._collect(each, step, f"{step}-{host_id}", step, host_id)
            raise

    def _start_together(self, jobs: Mapping[str, Job], running: dict[str, RunningJob], step: StepKind) -> None:
        """Start the jobs as nearly at once as can be, and say how nearly. `running` has all that were started."""
        if len(jobs) == 1:
            [(host_id, job)] = jobs.items()
            running[host_id] = self.hosts[host_id].start(job)
            return
        ready = threading.Barrier(len(jobs))

        def start(host_id: str) -> tuple[RunningJob, float]:
            transport = self.hosts[host_id]
            transport.run(Command(("true",)))  # so that no connection has to be made after the barrier
            ready.wait(_READY_S)
            return transport.start(jobs[host_id]), time.monotonic()

        def attempt(host_id: str) -> tuple[RunningJob, float] | Exception:
            try:
                return start(host_id)
            except (RunnerError, threading.BrokenBarrierError) as error:
                ready.abort()
                return error

        with ThreadPoolExecutor(len(jobs), thread_name_prefix="load") as pool:
            started = dict(zip(jobs, pool.map(attempt, jobs), strict=True))
        running.update({host: each[0] for host, each in started.items() if not isinstance(each, Exception)})
        errors = [each for each in started.values() if isinstance(each, Exception)]
        if errors:
            raise next((e for e in errors if isinstance(e, RunnerError)), RunnerError(f"{step} could not be started"))
        times = [each[1] for each in started.values() if not isinstance(each, Exception)]
        if step == "measure":
            text = f"the load generators were started within {max(times) - min(times):.2f} s"
            self.journal.write(j.Remark(at=time.time(), severity="info", text=text, cell=self.cell.id))

    def _collect(self, running: RunningJob, step: StepKind, folder: str, job: str, host_id: str) -> JobOutput:
        directory = cell_directory(self.cell.id, self.attempt) / folder.replace("/", "_")
        output = running.collect(self.run_dir / directory)
        self.journal.write(
            j.JobCollected(
                at=time.time(),
                cell=self.cell.id,
                attempt=self.attempt,
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
        return output

    @contextmanager
    def _step(self, kind: StepKind) -> Iterator[None]:
        if self.stopping.is_set():
            raise Interrupted
        self.journal.write(
            j.StepStarted(
                at=time.time(), cell=self.cell.id, attempt=self.attempt, step=kind, seconds=self._step_of(kind).seconds
            )
        )
        started = time.monotonic()
        yield
        self.journal.write(
            j.StepEnded(
                at=time.time(),
                cell=self.cell.id,
                attempt=self.attempt,
                step=kind,
                seconds=time.monotonic() - started,
            )
        )

    def _step_of(self, kind: StepKind) -> Step:
        return next(step for step in self.cell.steps if step.kind == kind)

    def _skip(self, kind: StepKind, why: str) -> None:
        self.journal.write(
            j.StepEnded(at=time.time(), cell=self.cell.id, attempt=self.attempt, step=kind, seconds=0.0, skipped=why)
        )
