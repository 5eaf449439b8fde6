"""What the real transports share: a host's jobs and its claim need but short scripts, and files that are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from pathlib import Path

from benchbrief.compiler.plan import Host
from benchbrief.runners import jobs, locks
from benchbrief.runners.fetching import fetch
from benchbrief.runners.job_host import Claim, Entry
from benchbrief.runners.seams import JobState, RunningJob
from benchbrief.runners.tasks import Command, Completed, Job, RunName


class JobTransport(ABC):
    """A `job_host.JobHost` that is most of a `seams.Transport`."""

    def __init__(self, host: Host, run_name: RunName | None = None) -> None:
        self.host = host
        self.run_name = run_name or RunName()
        self.claimed: Claim | None = None

    @abstractmethod
    def run(self, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed: ...

    @abstractmethod
    def entries(self, directory: str) -> list[Entry]: ...

    @abstractmethod
    def read(self, path: str, limit: int) -> Iterator[bytes]: ...

    def start(self, job: Job) -> RunningJob:
        return jobs.start(self, job)

    def find(self, key: str) -> JobState | None:
        return jobs.find(self, key)

    def end_leftovers(self, kept: Collection[str] = ()) -> int:
        return jobs.end_leftovers(self, kept)

    def claim(self) -> str:
        return locks.claim(self)

    def claimed_as(self) -> str:
        return locks.claimed_as(self)

    def release(self, *, keep_jobs: bool = False) -> int:
        return jobs.end_leftovers(self, release=True, keep=keep_jobs)

    def get(self, path: str, to: Path) -> None:
        fetch(self, path, to)
