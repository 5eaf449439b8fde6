"""Commands that take long, outside of the steps whose jobs are the measurement: ended when the run is to stop.

Each is a job on its host, so that it neither outlives the run nor a controller that was killed.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from benchbrief.runners.errors import Interrupted, RunnerError
from benchbrief.runners.seams import RunningJob, Stopping, Transport
from benchbrief.runners.tasks import Job

_SLICE_S = 0.5
"""How often a wait looks whether the run is to stop."""


@dataclass(frozen=True)
class Ran:
    """How a job ended: `exit_code` is None for one that did not, within its time-out. `said` are its last words."""

    exit_code: int | None
    said: str


def run_to_end(at: Transport, job: Job, stopping: Stopping, keep: Path | None = None, last_words: int = 300) -> Ran:
    """Run a job to its end, or to its time-out; nothing of it stays on its host.

    What it printed is kept in a new folder below `keep`, numbered from 1. Raises Interrupted when the run is to stop,
    and RunnerError.
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
        # What else goes wrong must not take the place of the reason.
        with suppress(RunnerError):
            running.stop()
        with suppress(RunnerError):
            running.discard()
        raise
    running.discard()
    return Ran(output.exit_code if in_time else None, said)


def _wait(running: RunningJob, timeout_s: float, stopping: Stopping) -> bool:
    """Whether it has ended within that time. Raises Interrupted."""
    deadline = time.monotonic() + timeout_s
    while not running.wait(min(_SLICE_S, max(0.0, deadline - time.monotonic()))):
        if stopping.is_set():
            raise Interrupted
        if time.monotonic() > deadline:
            return False
    return True
