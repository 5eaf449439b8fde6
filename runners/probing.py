"""The probes of a cell: they sample beside its measurement."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager

from benchbrief.runners.attempt import Attempt
from benchbrief.runners.hosts import CONTROLLER
from benchbrief.runners.live_jobs import watch_probe
from benchbrief.runners.seams import Node, RunnerError, RunningJob


@contextmanager
def probes(attempt: Attempt) -> Iterator[None]:
    """Every probe samples while the block runs; its samples are collected after, whatever happened in it."""
    running: list[tuple[str, str, RunningJob]] = []
    try:
        hardware = attempt.plan.hardware[attempt.cell.hardware]
        for probe in attempt.cell.probes:
            kind = attempt.world.probe_kind(probe.name)
            for host_id in probe.hosts:
                at = attempt.hosts[CONTROLLER.id if probe.on == "controller" else host_id]
                job = kind.job(probe, Node(attempt.plan.hosts[host_id], hardware))
                running.append((probe.name, host_id, at.start(job)))
                watch_probe(attempt, probe, host_id, running[-1][2])
        yield
    except BaseException:
        # The reason above is the cell's: a probe that can't be ended or fetched must not take its place.
        for each in running:
            with contextlib.suppress(RunnerError):
                _end_probe(attempt, *each)
        raise
    failures = []
    for each in running:
        try:
            _end_probe(attempt, *each)
        except RunnerError as error:
            failures.append(error)
    if failures:
        raise failures[0]


def _end_probe(attempt: Attempt, name: str, host_id: str, running: RunningJob) -> None:
    running.stop()
    attempt.collect(running, "measure", f"probe-{name}-{host_id}", f"probe:{name}:{host_id}", host_id)
