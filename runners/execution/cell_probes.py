"""The probes of a cell, which sample beside its measurement."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from benchbrief.compiler.planning.plan import Cell, Probe
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.execution.attempt import Attempt, StepJob
from benchbrief.runners.execution.live_numbers import Reading as LiveReading
from benchbrief.runners.execution.server_readings import RecordsStatus
from benchbrief.runners.hosts.host_connections import CONTROLLER
from benchbrief.runners.jobs.tasks import Job
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.sampling import ReadsFiles, reading_job
from benchbrief.runners.seams import Node, ReadsAfter, RunningJob, TellsNow
from benchbrief.runners.world_seams import World

_AT_ONCE = 16
"""How many jobs are started or ended at the same time."""

_SLICE_S = 0.5
"""How often, in seconds, a wait for recorded samples checks whether the run was interrupted."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class Sampled:
    """One sampling job, for one probe or several: `host` is sampled, and the job runs on the host `at`."""

    probes: tuple[Probe, ...]
    host: str
    at: str

    @property
    def job(self) -> StepJob:
        """Return the step's job, named `probe:cpu:db-1` or `probe:cpu,disk:db-1`."""
        return StepJob(f"probe:{','.join(probe.name for probe in self.probes)}:{self.host}", self.host, self.at)


def list_sampling_jobs(world: World, cell: Cell) -> list[Sampled]:
    """Return the jobs of a cell's probes. Probes that read one host's kernel files at the same rate share a job."""
    shared: dict[tuple[str, float], list[Probe]] = {}
    found = []
    for probe in cell.probes:
        if isinstance(world.probe_kind(probe.name), RecordsStatus):
            continue  # no job: see `runners/execution/server_readings.py` and `library_seams.TellsDatabase`
        if _is_read_after(world, probe):
            continue
        for host_id in probe.hosts:
            if isinstance(world.probe_kind(probe.name), ReadsFiles):
                shared.setdefault((host_id, probe.every_s), []).append(probe)
            else:
                found.append(Sampled((probe,), host_id, _place(probe, host_id)))
    return found + [Sampled(tuple(probes), host_id, host_id) for (host_id, _), probes in shared.items()]


def _job(attempt: Attempt, what: Sampled) -> Job:
    kinds = [(probe, attempt.world.probe_kind(probe.name)) for probe in what.probes]
    reads = [(probe, kind.reads(probe)) for probe, kind in kinds if isinstance(kind, ReadsFiles)]
    if reads:
        return reading_job(reads)
    [(probe, kind)] = kinds
    return kind.job(probe, Node(attempt.plan.hosts[what.host], attempt.plan.hardware[attempt.cell.hardware]))


def _is_read_after(world: World, probe: Probe) -> bool:
    return probe.after and isinstance(world.probe_kind(probe.name), ReadsAfter)


def _place(probe: Probe, host_id: str) -> str:
    return CONTROLLER.id if probe.on == "controller" else host_id


@contextmanager
def run_probes(attempt: Attempt) -> Iterator[None]:
    """Run the cell's probes while the block runs, and collect their samples afterwards, even if the block raised.

    In a resumed attempt, the probes already run or were collected.
    """
    running: list[tuple[Sampled, RunningJob]] = []
    began = attempt.began("measure") or now()

    def start(what: Sampled) -> None:
        job = replace(attempt.attended(_job(attempt, what)), key=attempt.key("measure", what.job))
        started = attempt.hosts[what.at].start(job)
        running.append((what, started))
        _watch_probes(attempt, what.probes, what.host, started)

    def end(each: tuple[Sampled, RunningJob]) -> None:
        what, job = each
        job.stop()
        attempt.collect(job, "measure", what.job.name.replace(":", "-", 2), what.job.name, what.host)

    try:
        _all(
            start,
            [what for what in list_sampling_jobs(attempt.world, attempt.cell) if not attempt.kept("measure", what.job)],
        )
        yield
    except BaseException:
        # The cell fails for the first reason. A failure to end or fetch a probe must not replace it.
        with contextlib.suppress(RunnerError):
            _all(end, tuple(running))
        raise
    _all(end, tuple(running))
    _read_recorded(attempt, (began, now()))


def _read_recorded(attempt: Attempt, window: tuple[float, float]) -> None:
    """Fetch and keep what was recorded elsewhere in the window (epoch seconds, by the controller's clock)."""
    found = [
        (Sampled((probe,), host_id, _place(probe, host_id)), kind)
        for probe in attempt.cell.probes
        if probe.after and isinstance(kind := attempt.world.probe_kind(probe.name), ReadsAfter)
        for host_id in probe.hosts
    ]

    def read(each: tuple[Sampled, ReadsAfter]) -> None:
        what, kind = each
        [probe] = what.probes
        node = Node(attempt.plan.hosts[what.host], attempt.plan.hardware[attempt.cell.hardware])
        job = attempt.attended(kind.job_after(probe, node, window))
        reading = attempt.hosts[what.at].start(job)
        deadline = time.monotonic() + job.timeout_s
        while not (attempt.stopping.is_set() or time.monotonic() > deadline or reading.wait(_SLICE_S)):
            pass
        reading.stop()
        attempt.collect(reading, "measure", what.job.name.replace(":", "-", 2), what.job.name, what.host)

    _all(read, [each for each in found if not attempt.kept("measure", each[0].job)])


def _all(call: Callable[[_T], None], items: Iterable[_T]) -> None:
    """Call `call` for all items in parallel. Raises the first RunnerError after all were tried."""

    def attempt(item: _T) -> RunnerError | None:
        try:
            call(item)
        except RunnerError as error:
            return error
        return None

    items = tuple(items)
    if len(items) <= 1:  # threads would cost more than they save
        for item in items:
            call(item)
        return
    with ThreadPoolExecutor(min(_AT_ONCE, len(items)), thread_name_prefix="probe") as pool:
        errors = [error for error in pool.map(attempt, items) if error is not None]
    if errors:
        raise errors[0]


def _watch_probes(attempt: Attempt, its: Sequence[Probe], host_id: str, running: RunningJob) -> None:
    """Read a job that samples for these probes until it is collected, if they can be read while they sample."""
    kinds = [(probe, kind) for probe in its if isinstance(kind := attempt.world.probe_kind(probe.name), TellsNow)]
    if not kinds:
        return

    def read(text: str) -> LiveReading | None:
        measures = {name: value for probe, kind in kinds for name, value in kind.now(probe, text).items()}
        if not measures:
            return None
        return LiveReading(cell=attempt.cell.id, host=host_id, at=now(), measures=measures)

    attempt.monitor.watch(running, read)
