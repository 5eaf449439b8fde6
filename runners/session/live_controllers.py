"""Whether the controller of a run that left something on a host is gone, as far as this machine can know."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.journal_file import JOURNAL, is_being_written, is_locked
from benchbrief.runners.journal.run_identity import IDENTITY, owner_in, this_machine


def find_driving_processes() -> Iterator[tuple[int, Path]]:
    """Yield the processes of this machine that drive runs, each with its run's folder, as far as we may see them.

    A process that drives a run has its journal open for writing, or its identity while the brief is made. Works on
    Linux only.
    """
    for link in _open_files() if sys.platform == "linux" else ():
        with suppress(OSError, ValueError):
            file = link.readlink()
            if file.name in (JOURNAL, IDENTITY):
                info = (link.parent.parent / "fdinfo" / link.name).read_text()
                flags = next(line for line in info.splitlines() if line.startswith("flags:"))
                if int(flags.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY:
                    yield int(link.parts[2]), file.parent


def _open_files() -> Iterator[Path]:
    """Yield the links of the files that the processes have open. A process that ends meanwhile is passed over."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            yield from (process / "fd").iterdir()


def is_driven_here(run_dir: Path) -> bool:
    """Return whether a process holds the run: its journal, or its identity while the brief is made."""
    return is_being_written(run_dir) or is_locked(run_dir / IDENTITY)


def is_making_brief(run_dir: Path) -> bool:
    """Return whether a process makes the brief of the run, whose cells are over."""
    return is_locked(run_dir / IDENTITY) and not is_being_written(run_dir)


def makes_brief(claim: Mapping[str, Any], owner: str) -> bool:
    """Return whether the run of a claim is on this machine, and only makes its brief."""
    try:
        return is_here(claim, owner) and is_making_brief(Path(str(claim["folder"])))
    except (OSError, ValueError, RunnerError):
        return False


def driver_of(owner: str) -> tuple[int, Path] | None:
    """Return the other process of this machine that drives the run with this owner, and the run's folder."""
    found = (
        (pid, folder) for pid, folder in find_driving_processes() if pid != os.getpid() and owner_in(folder) == owner
    )
    return next(found, None)


def is_this_machine(claim: Mapping[str, Any]) -> bool:
    """Return whether the controller that a claim or a job names is on this machine, even under another name."""
    return claim.get("controller") == socket.gethostname() or _is_this_boot(claim)


def is_here(claim: Mapping[str, Any], owner: str) -> bool:
    """Return whether the folder that a claim or a job names is on this machine, and still belongs to that run."""
    return is_this_machine(claim) and _owner_at(claim) in (owner, "")


def is_ours(claim: Mapping[str, Any], owner: str) -> bool:
    """Return whether we may end what says this: a controller of this machine left it, or its run is here."""
    return is_this_machine(claim) or _owner_at(claim) == owner


def is_gone(claim: Mapping[str, Any], owner: str) -> bool:
    """Return whether it is certain that no process drives the run. Only a run of this machine can be certain."""
    try:
        if is_here(claim, owner):
            return not is_driven_here(Path(str(claim["folder"])))
        return process_is_gone(claim) and driver_of(owner) is None
    except (OSError, ValueError):
        return False


def process_is_gone(claim: Mapping[str, Any]) -> bool:
    """Return whether it is certain that the process of a claim has ended: it was on this machine, since it booted."""
    pid = claim.get("pid")
    if not _is_this_boot(claim) or not isinstance(pid, int) or not 0 < pid < 1 << 31:
        return False
    sees_others = Path("/proc/1").exists()  # they may be hidden (`hidepid`)
    return sees_others and not Path(f"/proc/{pid}").exists()


def _is_this_boot(claim: Mapping[str, Any]) -> bool:
    return bool(this_machine()) and claim.get("machine") == this_machine()


def _owner_at(claim: Mapping[str, Any]) -> str | None:
    """Return the owner of the named folder: "" when the folder has none, None when it does not exist."""
    folder = str(claim.get("folder") or "")
    try:
        return owner_in(Path(folder)) if folder and Path(folder).is_dir() else None
    except (OSError, ValueError):
        return None
