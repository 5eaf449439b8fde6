"""The probes of a cell: they sample beside its measurement."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from benchbrief.compiler.plan import Probe
from benchbrief.runners.attempt import Attempt
from benchbrief.runners.hosts import CONTROLLER
from benchbrief.runners.live_jobs import watch_probes
from benchbrief.runners.probes import FileReads, ReadsFiles, reading_job
from benchbrief.runners.seams import Job, Node, RunnerError, RunningJob
from benchbrief.runners.server_status import RecordsStatus

_AT_ONCE = 16
"""How many jobs are started, or ended, at the same time."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class Sampler:
    """A job that samples `host` for one probe, or for several; it is run on the host `at`."""

    probes: tuple[Probe, ...]
    host: str
    at: str
    job: Job

    @property
    def key(self) -> str:
        """`cpu:db-1` or `cpu,disk:db-1`: what the job is known by in its cell."""
        return f"{','.join(probe.name for probe in self.probes)}:{self.host}"


def samplers(attempt: Attempt) -> list[Sampler]:
    """The jobs of a cell's probes. Those that read the kernel's files of one host as often as each other share one."""
    hardware = attempt.plan.hardware[attempt.cell.hardware]
    shared: dict[tuple[str, float], list[tuple[Probe, FileReads]]] = {}
    found = []
    for probe in attempt.cell.probes:
        kind = attempt.world.probe_kind(probe.name)
        if isinstance(kind, RecordsStatus):
            continue  # no job: see `runners/server_status.py`
        for host_id in probe.hosts:
            if isinstance(kind, ReadsFiles):
                shared.setdefault((host_id, probe.every_s), []).append((probe, kind.reads(probe)))
            else:
                job = kind.job(probe, Node(attempt.plan.hosts[host_id], hardware))
                at = CONTROLLER.id if probe.on == "controller" else host_id
                found.append(Sampler((probe,), host_id, at, job))
    for (host_id, _), reads in shared.items():
        found.append(Sampler(tuple(probe for probe, _ in reads), host_id, host_id, reading_job(reads)))
    return found


@contextmanager
def probes(attempt: Attempt) -> Iterator[None]:
    """Every probe samples while the block runs; its samples are collected after, whatever happened in it."""
    running: list[tuple[Sampler, RunningJob]] = []

    def start(sampler: Sampler) -> None:
        job = attempt.hosts[sampler.at].start(attempt.attended(sampler.job))
        running.append((sampler, job))
        watch_probes(attempt, sampler.probes, sampler.host, job)

    def end(each: tuple[Sampler, RunningJob]) -> None:
        sampler, job = each
        job.stop()
        folder = f"probe-{sampler.key.replace(':', '-', 1)}"
        attempt.collect(job, "measure", folder, f"probe:{sampler.key}", sampler.host)

    try:
        _all(start, samplers(attempt))
        yield
    except BaseException:
        # The reason above is the cell's: a probe that can't be ended or fetched must not take its place.
        with contextlib.suppress(RunnerError):
            _all(end, tuple(running))
        raise
    _all(end, tuple(running))


def _all(call: Callable[[_T], None], items: Iterable[_T]) -> None:
    """Call it for all of them, side by side. Raises the first RunnerError, after all were tried."""

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
