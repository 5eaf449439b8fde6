"""Where tools are looked for on a host, and how they are told from something that only bears their name.

In this order: the path in the spec, and that alone; else $BENCHBRIEF_TOOLS (several folders, separated by colons);
`.tools` in the working directory, in a folder above it, or beside the source checkout; ~/.local/share/benchbrief/tools;
the host's PATH. Folders of the controller are looked for on other hosts too: a lab often has one file system for all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbrief.runners.errors import ToolMissing
from benchbrief.runners.patience import run_persistently
from benchbrief.runners.seams import Driver, Requirement, Transport
from benchbrief.runners.tasks import Command

STAND_IN = "mongo-stand-in"
_VERSION = re.compile(r"\d+(?:\.\d+)+")

_FIND = """\
for candidate do
    case $candidate in
        "~/"*) candidate=$HOME/${candidate#"~/"} ;;
        */*) ;;
        *) candidate=$(command -v -- "$candidate") ;;
    esac
    if [ -f "$candidate" ] && [ -x "$candidate" ]; then
        readlink -f -- "$candidate"
        exit 0
    fi
done
exit 1
"""


@dataclass(frozen=True)
class Found:
    """A tool on a host: its path there, links resolved, and the version it tells ("" when it tells none)."""

    path: str
    version: str


def tool_dirs() -> tuple[str, ...]:
    """The folders that tools are looked for in, best first; `~` is the home directory on the host."""
    here = Path.cwd()
    checkout = Path(__file__).resolve().parent.parent
    folders = [
        *(folder for folder in os.environ.get("BENCHBRIEF_TOOLS", "").split(":") if folder),
        *(str(parent / ".tools") for parent in (here, *here.parents, checkout) if (parent / ".tools").is_dir()),
        "~/.local/share/benchbrief/tools",
    ]
    return tuple(dict.fromkeys(folders))


def find(transport: Transport, driver: Driver, configured: str | None) -> Found:
    """The driver's tool on a host. Raises ToolMissing when it is not there, or lacks something that it needs."""
    path = _first(transport, driver.candidates(configured, tool_dirs()))
    if path is None:
        searched = (configured,) if configured else (*tool_dirs(), "the PATH")
        raise ToolMissing(
            f"{driver.name} is not on {transport.host.id}: there is no such program in {', '.join(searched)}",
            f'install it and say where: `tool = {driver.name}("/path")`, or put its folder into $BENCHBRIEF_TOOLS',
        )
    said = [_check(transport, requirement) for requirement in driver.requirements(path)]
    version = _VERSION.search(said[0]) if said else None
    return Found(path, version[0] if version else "")


_DIGEST = """\
{
    printf '%s\\n' "$1"
    ldd "$1" 2>/dev/null | sed -n 's|.*=> \\(/[^ ]*\\) .*|\\1|p' | sort
} | while IFS= read -r file; do sha256sum <"$file" || exit 1; done | sha256sum
"""


_DIGEST_STAND_IN = """\
cat -- "$1" "${1%/bin/*}"/lib/*.jar | sha256sum
"""


def digest(transport: Transport, path: str) -> str:
    """The SHA-256 over a program and the libraries that it is linked with; "" where the host can't tell."""
    return _digest(transport, _DIGEST, path)


def digest_stand_in(transport: Transport, path: str) -> str:
    """The SHA-256 over the embedded MongoDB server's launcher and its libraries; "" where the host can't tell."""
    return _digest(transport, _DIGEST_STAND_IN, path)


def _digest(transport: Transport, script: str, path: str) -> str:
    said = run_persistently(transport, Command(("sh", "-c", script, "digest", path)), timeout_s=60).stdout.split()
    return said[0] if said and re.fullmatch(r"[0-9a-f]{64}", said[0]) else ""


def find_program(transport: Transport, name: str) -> str | None:
    """A program's path on a host, links resolved; `name` is a path, or looked for in the PATH. None: not there."""
    return _first(transport, (name,))


def find_stand_in(transport: Transport) -> str:
    """The embedded MongoDB server's path on a host. Raises ToolMissing."""
    folders = tool_dirs()
    path = _first(transport, (*(f"{folder}/{STAND_IN}/bin/{STAND_IN}" for folder in folders), STAND_IN))
    if path is None:
        raise ToolMissing(
            f"the embedded MongoDB server is not on {transport.host.id}",
            f"build it with `make setup` in a source checkout, or attach to a running server with `uri = ...`; "
            f"looked for {STAND_IN} in {', '.join((*folders, 'PATH'))}",
        )
    _check(
        transport,
        Requirement("java", Command(("java", "-version")), "the embedded MongoDB server needs a Java 17 runtime"),
    )
    return path


def _first(transport: Transport, candidates: Sequence[str]) -> str | None:
    done = run_persistently(transport, Command(("sh", "-c", _FIND, "find", *candidates)))
    path = done.stdout.strip()
    return path if done.exit_code == 0 and path.startswith("/") else None


def _check(transport: Transport, requirement: Requirement) -> str:
    """What the check printed, on either stream: `java -version` speaks on standard error."""
    done = run_persistently(transport, requirement.check, timeout_s=60)
    said = f"{done.stdout}\n{done.stderr}".strip()
    if done.exit_code != 0:
        first = said.splitlines()[0][:200] if said else f"its check ended with code {done.exit_code}"
        raise ToolMissing(f"{requirement.name} does not work on {transport.host.id}: {first}", requirement.hint)
    return said
