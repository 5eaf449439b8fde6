"""What jobs need of a transport, whichever it is: short scripts run, folders listed and files read."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from benchbrief.compiler.plan import Host
from benchbrief.runners.tasks import Command, Completed, RunName


@dataclass(frozen=True)
class Entry:
    """A name in a directory of a host. `size` is None for what is not a regular file."""

    name: str
    size: int | None
    directory: bool = False


def entry(name: str, mode: int, size: int) -> Entry:
    return Entry(name, size if stat.S_ISREG(mode) else None, stat.S_ISDIR(mode))


@dataclass(frozen=True)
class Claim:
    """Our claim of a host, as its file has it but for since when; `attended` ends its signs of life."""

    text: str
    attended: Callable[[], None]


class JobHost(Protocol):
    """What jobs need of a transport. Each may raise ConnectionLost, and connects again when called again.

    `run_name` is whose jobs they are, so that a run that is resumed knows its own; `claimed` is there from when the
    run has claimed the host until it lets it go, even when the claim was taken away meanwhile.
    """

    host: Host
    run_name: RunName
    claimed: Claim | None

    def run(self, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed: ...

    def entries(self, directory: str) -> list[Entry]: ...

    def read(self, path: str, limit: int) -> Iterator[bytes]:
        """The first `limit` bytes of a file, in pieces."""
        ...


def sh(host: JobHost, script: str, timeout_s: float = 30.0) -> Completed:
    """Run one of our own scripts: it goes in on standard input, so that no process list shows it."""
    return host.run(Command(("sh",)), stdin=script, timeout_s=timeout_s)
