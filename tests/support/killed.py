"""A `bench` that is killed by SIGKILL at a given point of a run.

A point is JSON. It has the fields of a record (`{"type": "step_started", "step": "load"}`) if `bench` is killed once
that record is on the disk. It is `{"waits_in": "load"}` if `bench` is killed when it first waits for a job of that
step.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Any

from benchbrief.model.events import AnyRecord
from benchbrief.runners.jobs.detached_jobs import DetachedJob
from benchbrief.runners.journal.journal_file import Journal


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(point: Mapping[str, Any]) -> None:
    """Make this process die at the point."""
    write, wait = Journal.write, DetachedJob.wait
    step = [""]

    def write_and_die(self: Journal, record: AnyRecord) -> None:
        write(self, record)
        if record.type in ("step_started", "cell_resumed"):
            step[0] = getattr(record, "step", "")
        if all(getattr(record, name, None) == value for name, value in point.items()):
            die()

    def wait_and_die(self: DetachedJob, timeout_s: float) -> bool:
        if point.get("waits_in") == step[0]:
            die()
        return wait(self, timeout_s)

    setattr(Journal, "write", write_and_die)  # noqa: B010 - a type checker would not have it otherwise
    setattr(DetachedJob, "wait", wait_and_die)  # noqa: B010
