"""Copies a program to a host that does not have it, to a path that contains the program's SHA-256.

The program is the controller's own, and needs no other files. It is sent by commands of the transport, in parts that
can safely be sent again. The copy is checked on the host before it is renamed into place, so that no incomplete program
is ever run. A program that is already there is checked again instead of copied.
"""

from __future__ import annotations

import base64
import gzip
import os
import platform
import shutil
import uuid
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol, runtime_checkable

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import ToolMissing
from benchbrief.runners.jobs.commands import read_script
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.journal.atomic_files import sha256_of
from benchbrief.runners.seams import Transport

_FIND = read_script(__file__, "scripts/find_shipped.sh")
_TAKE = read_script(__file__, "scripts/take_part.sh")
_TOGETHER = read_script(__file__, "scripts/put_together.sh")
_PART = 768 << 10
"""The size of a part in bytes. In base 64, a part is one megabyte."""
_PART_S = 120.0


@runtime_checkable
class Ships(Protocol):
    """A driver whose program needs no other files, so that a copy of it runs on other hosts."""

    program: str
    """The program's file name."""


@dataclass(frozen=True)
class Program:
    """The controller's own copy of a program."""

    path: Path
    sha256: str

    @property
    def shown(self) -> str:
        return f"{self.path}, SHA-256 {self.sha256[:12]}…"


def own_program(candidates: Sequence[str]) -> Program | None:
    """Return the first of these paths or names that is an executable program on the controller."""
    for candidate in candidates:
        found = candidate if "/" in candidate else shutil.which(candidate) or ""
        path = Path(found).expanduser()
        if found and path.is_file() and os.access(path, os.X_OK):
            real = path.resolve()
            return Program(real, sha256_of(real))
    return None


def shipped(transport: Transport, program: Program) -> str:
    """Return the path of the copied program on a host, or "" if there is no copy.

    Raises ToolMissing if the host is not the same kind of machine as the controller.
    """
    command = Command(("sh", "-c", _FIND, "find", program.path.name, program.sha256))
    place, _, machine = run_persistently(transport, command).stdout.partition("\n")
    here = f"{platform.system()} {platform.machine()}"
    if machine.strip() != here:
        raise ToolMissing(
            say.program_missing(
                program=program.path.name,
                host=transport.host.id,
                here=here,
                there=machine.strip() or say.unknown_machine(),
            ),
            say.hint_build_there(),
        )
    return place.strip()


def ship(transport: Transport, program: Program) -> str:
    """Copy the program to a host, unless it is already there. Returns its path. Raises ToolMissing and HostError."""
    if place := shipped(transport, program):
        return place
    name, sender = program.path.name, uuid.uuid4().hex[:12]
    parts = _parts(program)
    for number, part in enumerate(parts):
        take = Command(("sh", "-c", _TAKE, "take", name, program.sha256, sender, str(number)))
        done = run_persistently(transport, take, timeout_s=_PART_S, stdin=part)
        if done.exit_code:
            raise _not_copied(transport, program, done.stderr)
    together = Command(("sh", "-c", _TOGETHER, "put", name, program.sha256, sender, str(len(parts))))
    done = transport.run(together, timeout_s=_PART_S)
    place = done.stdout.strip()
    if done.exit_code or not place.startswith("/"):
        raise _not_copied(transport, program, done.stderr)
    return place


@lru_cache(maxsize=2)
def _parts(program: Program) -> tuple[str, ...]:
    packed = gzip.compress(program.path.read_bytes(), 6, mtime=0)
    return tuple(base64.b64encode(packed[at : at + _PART]).decode() for at in range(0, len(packed), _PART))


def _not_copied(transport: Transport, program: Program, said: str) -> ToolMissing:
    why = said.strip().splitlines()[-1][:200] if said.strip() else say.command_failed()
    return ToolMissing(
        say.program_uncopied(program=program.path.name, host=transport.host.id, said=why), say.hint_uncopied()
    )
