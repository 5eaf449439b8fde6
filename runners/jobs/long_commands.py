"""Runs long commands outside of the measured steps. They end if the run must stop.

Each command is a job on its host, so that it also ends, after a while, if the controller is killed.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.runners.errors import Interrupted, RunnerError
from benchbrief.runners.jobs.tasks import Job
from benchbrief.runners.seams import RunningJob, Stopping, Transport

_SLICE_S = 0.5
"""How often a wait checks whether the run must stop, in seconds."""


@dataclass(frozen=True)
class Ran:
    """How a job ended. `exit_code` is None if the job reached its time-out. `said` is the end of the job's output."""

    exit_code: int | None
    said: str


def run_to_end(at: Transport, job: Job, stopping: Stopping, keep: Path | None = None, last_words: int = 300) -> Ran:
    """Run a job to its end or its time-out, and remove it from its host.

    Keeps the output in a new folder below `keep`, numbered from 1. Raises RunnerError, and Interrupted if the run must
    stop.
    """
    if stopping.is_set():
        raise Interrupted
    running = at.start(job)
    try:
        in_time = _wait(running, job.timeout_s, stopping)
        said = running.tail(last_words).strip()
        if not in_time:
            running.stop()
        with tempfile.TemporaryDirectory() as unread:
            free = (path for number in count(1) if keep and not (path := keep / str(number)).exists())
            output = running.collect(next(free) if keep else Path(unread))
    except BaseException:
        # Another failure must not replace the reason.
        with suppress(RunnerError):
            running.stop()
        with suppress(RunnerError):
            running.discard()
        raise
    running.discard()
    return Ran(output.exit_code if in_time else None, said)


def _wait(running: RunningJob, timeout_s: float, stopping: Stopping) -> bool:
    """Return whether the job has ended within that time. Raises Interrupted."""
    deadline = time.monotonic() + timeout_s
    while not running.wait(min(_SLICE_S, max(0.0, deadline - time.monotonic()))):
        if stopping.is_set():
            raise Interrupted
        if time.monotonic() > deadline:
            return False
    return True
