"""What jobs require of any transport: running short scripts, listing folders and reading files."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from typing import Protocol

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import Host
from benchbrief.runners.jobs.tasks import Command, Completed
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.session import Session


@dataclass(frozen=True)
class HostEntry:
    """A name in a directory on a host. `size` is None unless the name is a regular file."""

    name: str
    size: int | None
    directory: bool = False


def entry(name: str, mode: int, size: int) -> HostEntry:
    return HostEntry(name, size if stat.S_ISREG(mode) else None, stat.S_ISDIR(mode))


@dataclass(frozen=True)
class Claim:
    """Our claim on a host. `text` is what the claim's file says, apart from when the claim began. Calling `attended`
    ends the claim's heartbeats."""

    text: str
    attended: Callable[[], None]


class JobHost(Protocol):
    """The methods of a transport that jobs need. Each may raise ConnectionLost, and connects again at the next call.

    `run_name` names the run that owns the jobs, so that a resumed run recognises them. `claimed` is set from the moment
    the run has claimed the host until it releases it, even if another run takes the claim in that time.
    """

    host: Host
    run_name: RunName
    claimed: Claim | None
    given_up_at: float
    session: Session

    def run(self, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed: ...

    def entries(self, directory: str) -> list[HostEntry]: ...

    def read(self, path: str, limit: int) -> Iterator[bytes]:
        """Yield the first `limit` bytes of a file, in pieces."""
        ...


def sh(host: JobHost, script: str, timeout_s: float = 30.0) -> Completed:
    """Run one of our own scripts. It is passed on standard input, so that no process list shows it."""
    return host.run(Command(("sh",)), stdin=script, timeout_s=timeout_s)
