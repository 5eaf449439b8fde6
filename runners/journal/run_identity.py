"""A run's identity, which does not depend on its folder's path or its host's name. The identity owns the run's jobs and
claims.

It is stored in a file in the run's folder, so a folder that is moved keeps its identity. A copy of the folder would
have the same identity, and two controllers would own the same jobs. Therefore, a copy gets a new identity when it is
first driven while the original exists, and it owns nothing that the original started. The original is the folder at the
path that the identity names.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import uuid
from contextlib import suppress
from dataclasses import asdict, fields, replace
from functools import cache
from pathlib import Path

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.runners.errors import DiskFull, RunnerError
from benchbrief.runners.journal.atomic_files import write_durably
from benchbrief.runners.plain_files import read_plain

IDENTITY = "identity.json"
_OWNER = re.compile(r"[0-9A-Za-z]{1,64}")


@dataclass(frozen=True)
class RunName:
    """The run that owns jobs on a host. `owner` is part of the jobs' names there, and does not change when the run is
    resumed.

    The other fields are for people who find such jobs: the run and its folder, and the machine and process that drove
    it. `machine` identifies one boot of a machine, whatever the machine's name (`this_machine`).
    """

    owner: str = "anyone"
    run: str = ""
    folder: str = ""
    controller: str = ""
    pid: int = 0
    machine: str = ""


@dataclass(frozen=True)
class Identity:
    """A run's identity. `owner` is part of the name of everything that the run has on a host.

    `folder` is where the run was when it was last driven. If the run is a copy, `copied_from` is where its original
    was.
    """

    owner: str
    folder: str = ""
    copied_from: str = ""


@cache
def this_machine() -> str:
    """Return an id of this machine's boot and of the visible process numbers, or "" if the id is unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def new_identity(folder: Path, copied_from: str = "") -> bytes:
    return _text(Identity(uuid.uuid4().hex[:16], str(folder.resolve()), copied_from))


def owner_in(folder: Path) -> str:
    """Return the owner in the folder's identity, or "" if there is no identity or it can't be read."""
    try:
        return _read(folder).owner
    except (OSError, RunnerError):
        return ""


def original_of(folder: Path) -> str:
    """If this folder is a copy of a run and does not own the run's jobs, return that run. Return "" for an original.

    Raises RunnerError if an identity can't be read.
    """
    identity = _identity(folder)
    return identity.folder if _is_copy(identity, folder.resolve()) else ""


def has_identity(run_dir: Path) -> bool:
    """Return whether the run has an identity. A run by an earlier version gets one when it is driven again."""
    return (run_dir / IDENTITY).exists()


def run_name(run_dir: Path) -> RunName:
    """Return the names that the run has on every host. The caller must hold the run's journal.

    If the run is a copy whose original still exists, gives it a new identity. Raises RunnerError if an identity can't
    be read or written.
    """
    identity, folder = _identity(run_dir), run_dir.resolve()
    if _is_copy(identity, folder):
        _write(run_dir, new_identity(folder, identity.folder))
        identity = _identity(run_dir)
    return RunName(identity.owner, run_dir.name, str(folder), socket.gethostname(), os.getpid(), this_machine())


def copied_from(run_dir: Path) -> str:
    """Return the folder of the run from which this run was copied, or "" if it is not a copy. A copy owns no jobs."""
    return _identity(run_dir).copied_from


def settle(run_dir: Path) -> None:
    """Record that the run is now driven in this folder. Raises RunnerError."""
    before = _identity(run_dir)
    now = replace(before, folder=str(run_dir.resolve()))
    if now != before or not has_identity(run_dir):
        _write(run_dir, _text(now))


def _identity(run_dir: Path) -> Identity:
    try:
        return _read(run_dir)
    except FileNotFoundError:
        return _of_an_earlier_version(run_dir)
    except OSError as error:
        raise RunnerError(f"{run_dir / IDENTITY} can't be read: {error.strerror}") from error


def _of_an_earlier_version(run_dir: Path) -> Identity:
    """Return the identity by the rule of earlier versions, which derived the owner from the folder's path."""
    controller, folder = socket.gethostname(), str(run_dir.resolve())
    owner = hashlib.sha256(f"{controller}:{folder}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return Identity(owner, folder)


def _read(folder: Path) -> Identity:
    path = folder / IDENTITY
    content = read_plain(path)
    try:
        found = json.loads(content)
        known = {each.name: str(found[each.name]) for each in fields(Identity) if each.name in found}
        identity = Identity(**known)
    except (ValueError, TypeError, RecursionError):
        identity = Identity("")
    if not _OWNER.fullmatch(identity.owner):
        raise RunnerError(
            f"{path} does not say whose jobs the run's are",
            "put it back as it was; or remove it, and end what the run left with: bench stop --strays SPEC",
        )
    return identity


def _is_copy(identity: Identity, folder: Path) -> bool:
    original = Path(identity.folder)
    with suppress(OSError, ValueError):
        return owner_in(original) == identity.owner and not original.samefile(folder)
    return False


def _text(identity: Identity) -> bytes:
    return json.dumps(asdict(identity), indent=1).encode()  # in ASCII, whatever the names hold


def _write(run_dir: Path, content: bytes) -> None:
    try:
        write_durably(run_dir / IDENTITY, content)
    except OSError as error:
        message = f"{run_dir / IDENTITY} can't be written: {error.strerror}"
        raise DiskFull(message, "free some space, then type the same again") from error
