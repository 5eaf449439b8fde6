"""Finds tools on a host, and distinguishes them from other programs of the same name.

If the spec gives a path, only that path counts. Otherwise, these places are searched in this order: $BENCHBRIEF_TOOLS
(several folders, separated by colons); `.tools` in the working directory, in a folder above it, or beside the source
checkout; ~/.local/share/benchbrief/tools; and the host's PATH. The controller's folders are also searched on other
hosts, as labs often share one file system.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from benchbrief.compiler.registry import TOOL_SPECS
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import ToolMissing
from benchbrief.runners.hosts.host_connections import is_on_controller
from benchbrief.runners.jobs.commands import read_script
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.seams import Driver, Requirement, Transport
from benchbrief.runners.transports.shipped_programs import Program, Ships, own_program, ship

_VERSION = re.compile(r"\d+(?:\.\d+)+")

_FIND = read_script(__file__, "scripts/find_tool.sh")


@dataclass(frozen=True)
class FoundTool:
    """A tool on a host. `path` is its path there, with links to the same name resolved. `version` is "" if the tool
    prints none."""

    path: str
    version: str


def tool_dirs() -> tuple[str, ...]:
    """Return the folders to search for tools, best first. `~` is the home directory on the host."""
    here = Path.cwd()
    checkout = Path(__file__).resolve().parents[2]
    folders = [
        *(folder for folder in os.environ.get("BENCHBRIEF_TOOLS", "").split(":") if folder),
        *(str(parent / ".tools") for parent in (here, *here.parents, checkout) if (parent / ".tools").is_dir()),
        "~/.local/share/benchbrief/tools",
    ]
    return tuple(dict.fromkeys(folders))


def find(transport: Transport, driver: Driver, configured: str | None) -> FoundTool:
    """Find the driver's tool on a host. If it is not there, copy the controller's tool to the host. Raises ToolMissing
    if the tool is missing or lacks something."""
    path = find_first(transport, driver.candidates(configured, tool_dirs()))
    if path is None and (program := to_ship(transport, driver, configured)):
        path = ship(transport, program)
    if path is None:
        searched = (configured,) if configured else (*tool_dirs(), "the PATH")
        spec = TOOL_SPECS.usable(driver.name)
        if configured:
            hint = say.hint_tool_path(tool=driver.name, path=configured)
        elif spec and spec.install:
            how = say.hint_tool_checkout if spec.install.startswith("tools/") else say.hint_tool_setup
            hint = how(command=spec.install, tool=driver.name)
        else:
            hint = say.hint_tool_where(tool=driver.name)
        raise ToolMissing(say.tool_missing(tool=driver.name, host=transport.host.id, places=", ".join(searched)), hint)
    said = [check(transport, requirement) for requirement in driver.requirements(path)]
    version = _VERSION.search(said[0]) if said else None
    return FoundTool(path, version[0] if version else "")


def to_ship(transport: Transport, driver: Driver, configured: str | None) -> Program | None:
    """Return the program on the controller that a run would copy to a host without the tool, or None if there is
    none."""
    if configured or is_on_controller(transport.host) or not isinstance(driver, Ships):
        return None
    return own_program(driver.candidates(None, tool_dirs()))


def is_there(transport: Transport, driver: Driver) -> bool:
    """Return whether a host has the tool in one of the usual places."""
    return find_first(transport, driver.candidates(None, tool_dirs())) is not None


_DIGEST = read_script(__file__, "scripts/digest_tool.sh")


def digest(transport: Transport, path: str, script: str = _DIGEST) -> str:
    """Return the SHA-256 over a program and the libraries and workloads that it uses, or "" if it is unknown."""
    said = run_persistently(transport, Command(("sh", "-c", script, "digest", path)), timeout_s=60).stdout.split()
    return said[0] if said and re.fullmatch(r"[0-9a-f]{64}", said[0]) else ""


def find_program(transport: Transport, name: str) -> str | None:
    """Return a program's path on a host, with links resolved, or None if the program is missing. `name` is a path, or
    is looked up in the PATH."""
    return find_first(transport, (name,))


def find_first(transport: Transport, candidates: Sequence[str]) -> str | None:
    """Return the path of the first of these programs that is on the host, or None if there is none."""
    done = run_persistently(transport, Command(("sh", "-c", _FIND, "find", *candidates)))
    path = done.stdout.strip()
    return path if done.exit_code == 0 and path.startswith("/") else None


def check(transport: Transport, requirement: Requirement) -> str:
    """Return the output of a requirement's check. It includes both streams, as `java -version` writes to standard
    error.

    Raises ToolMissing if the check fails.
    """
    done = run_persistently(transport, requirement.check, timeout_s=60)
    said = f"{done.stdout}\n{done.stderr}".strip()
    if done.exit_code != 0:
        first = said.splitlines()[0][:200] if said else say.check_ended(code=done.exit_code)
        raise ToolMissing(say.tool_broken(tool=requirement.name, host=transport.host.id, said=first), requirement.hint)
    return said
