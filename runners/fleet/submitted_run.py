"""The file of a run whose lanes are jobs of a scheduler: which one, with which options, and the jobs that it took.

The scheduler knows best which jobs there are; the file says which scheduler to ask, and which job wrote a log.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from benchbrief.runners.errors import Damaged, RunnerError
from benchbrief.runners.journal.atomic_files import write_durably
from benchbrief.runners.journal.journal_file import is_locked, take_lock
from benchbrief.runners.journal.run_identity import original_of, owner_in
from benchbrief.runners.plain_files import read_plain

SUBMITTED = "scheduler.json"
_LOCK = "scheduler.lock"
LOGS = "jobs"
"""The folder of a run with what its jobs printed."""


class SubmittedJob(BaseModel):
    """A job that was asked for. `at` is in epoch seconds, `finished` how many cells of its lane were good before."""

    model_config = ConfigDict(frozen=True)
    job: str
    lane: int
    at: float
    finished: int


class SubmittedRun(BaseModel):
    """The contents of `scheduler.json`."""

    model_config = ConfigDict(frozen=True)
    scheduler: str
    options: tuple[str, ...] = ()
    wait: bool = False
    jobs: tuple[SubmittedJob, ...] = ()


def submitted_run(run_dir: Path) -> SubmittedRun | None:
    """Return what a run says of its scheduler; None for one that has none. Raises RunnerError."""
    path = run_dir / SUBMITTED
    try:
        return SubmittedRun.model_validate_json(read_plain(path))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise Damaged(f"{path} does not say which scheduler has the run's jobs", "put it back from a copy") from error


def keep_submitted(run_dir: Path, submitted: SubmittedRun) -> None:
    write_durably(run_dir / SUBMITTED, submitted.model_dump_json(indent=1).encode())


def name_of_jobs(run_dir: Path) -> str:
    """Return the name of all jobs of a run, and of no other: a copy has none, until it is driven itself."""
    return f"bench-{'' if original_of(run_dir) else owner_in(run_dir)}"


@contextmanager
def driving_alone(run_dir: Path) -> Iterator[None]:
    """Keep other controllers from submitting jobs of the run meanwhile. Raises RunnerError when one does."""
    fd = os.open(run_dir / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not take_lock(fd, run_dir / _LOCK):
            raise RunnerError(f"{run_dir} is driven by another process", f"follow it with `bench watch {run_dir}`")
        yield
    finally:
        os.close(fd)


def is_driven(run_dir: Path) -> bool:
    """Return whether a controller looks after the run's jobs."""
    return is_locked(run_dir / _LOCK)
