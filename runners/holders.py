"""Who holds a host, or has left a job there, in words."""

from __future__ import annotations

import json
import shlex
import socket
import time
from pathlib import Path
from typing import Any

from benchbrief.runners.commands import printable
from benchbrief.runners.errors import HostBusy
from benchbrief.runners.journal_io import is_being_written


def about(text: str) -> dict[str, Any]:
    """What a claim or a job says of itself: never trusted, empty where it can't be read."""
    try:
        told = json.loads(text)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def named(told: dict[str, Any]) -> str:
    """The run and its controller, for people."""
    run, controller, pid = (printable(str(told.get(key) or "?"))[:200] for key in ("run", "controller", "pid"))
    return f"run {run} of process {pid} on {controller}"


def at(since: str) -> str:
    """Epoch seconds of a host, the first word of what it says, as a date here."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(since.split(maxsplit=1)[0])))
    except (IndexError, ValueError, OverflowError, OSError):
        return "?"


def busy(where: str, told: dict[str, Any], since: str, user: str = "") -> HostBusy:
    """The error for a host that another run holds, and how to get it. `user` is whose run it is, when not ours."""
    run = shlex.quote(printable(str(told.get("folder") or told.get("run") or "RUN")))
    controller = printable(str(told.get("controller") or "its controller"))
    if user:
        return HostBusy(
            f"{where} is held by {named(told)}, of its user {printable(user)[:200]}, since {at(since)}",
            f"wait for it with --wait, or ask {printable(user)[:200]} to end it on {controller}",
        )
    if _is_dead(told):
        return HostBusy(
            f"{where} is held by {named(told)} since {at(since)}; that process is gone",
            f"free the host with `bench stop {run}`, or go on with that run: `bench resume {run}`",
        )
    return HostBusy(
        f"{where} is held by {named(told)} since {at(since)}",
        f"wait for it with --wait, or end it on {controller} with `bench stop {run}`",
    )


def _is_dead(told: dict[str, Any]) -> bool:
    """Whether the run is one of this machine, and no process drives it; of any other, that can't be known."""
    folder = str(told.get("folder") or "")
    try:
        here = told.get("controller") == socket.gethostname() and bool(folder) and Path(folder).is_dir()
        return here and not is_being_written(Path(folder))
    except (OSError, ValueError):
        return False
