"""What the real transports share: jobs and claims need only short scripts, and reading files."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from benchbrief.model.plan import Host
from benchbrief.runners.jobs import detached_jobs, host_claims
from benchbrief.runners.jobs.fetch_outputs import fetch
from benchbrief.runners.jobs.script_host import Claim, Entry
from benchbrief.runners.jobs.tasks import Command, Completed, Job
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.seams import JobState, RunningJob
from benchbrief.runners.session.session import Session


class JobTransport(ABC):
    """A `script_host.JobHost` that implements most of a `seams.Transport`."""

    given_up_at = -math.inf

    def __init__(
        self,
        host: Host,
        config: Path | None = None,
        run_name: RunName | None = None,
        session: Session | None = None,
    ) -> None:
        """`config` is the file of SSH's settings, where another one than the user's is to be read.

        `session` is shared by the hosts of a command.
        """
        del config
        self.host = host
        self.run_name = run_name or RunName()
        self.session = session or Session()
        self.claimed: Claim | None = None

    @abstractmethod
    def run(self, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed: ...

    @abstractmethod
    def entries(self, directory: str) -> list[Entry]: ...

    @abstractmethod
    def read(self, path: str, limit: int) -> Iterator[bytes]: ...

    @abstractmethod
    def forward(self, host: str, port: int) -> AbstractContextManager[tuple[str, int]]: ...

    @abstractmethod
    def close(self) -> None: ...

    def start(self, job: Job) -> RunningJob:
        return detached_jobs.start(self, job)

    def find(self, key: str) -> JobState | None:
        return detached_jobs.find(self, key)

    def end_leftovers(self, kept: Collection[str] = ()) -> int:
        return detached_jobs.end_leftovers(self, kept)

    def claim(self) -> str:
        return host_claims.claim(self)

    def claimed_as(self) -> str:
        return host_claims.claimed_as(self)

    def release(self, *, keep_jobs: bool = False) -> int:
        return detached_jobs.end_leftovers(self, release=True, keep=keep_jobs)

    def get(self, path: str, to: Path) -> None:
        fetch(self, path, to)
