"""Who holds a host, or has left a job there, in words."""

from __future__ import annotations

import json
import shlex
import time
from typing import Any

from benchbrief.runners.errors import HostBusy
from benchbrief.runners.jobs.commands import printable
from benchbrief.runners.session import is_gone, is_here, process_is_gone

VOID_AFTER_S = 600.0
"""A claim is void when its controller has shown no sign of life for this long, in seconds."""
_LONGEST = 200
"""The longest part of a claim that a message quotes, in characters."""


def parse_claim(text: str) -> dict[str, Any]:
    """Parse what a claim or a job says of itself: texts and numbers. It is not trusted. Unreadable parts are
    left out."""
    try:
        claim = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return (
        {key: value for key, value in claim.items() if isinstance(value, str | int)} if isinstance(claim, dict) else {}
    )


def one_line(value: object) -> str:
    """Return a value that another user may have written as text for a message: short, and without line breaks."""
    return " ".join(printable(str(value)).split())[:_LONGEST]


def describe_holder(claim: dict[str, Any]) -> str:
    """Name the run and its controller, for people, as far as they are known."""
    run, controller, pid = (one_line(claim.get(key) or "") for key in ("run", "controller", "pid"))
    process = f" of process {pid}" if pid else ""
    return f"{f'run {run}' if run else 'an unknown run'}{process}{f' on {controller}' if controller else ''}"


def format_since(since: str) -> str:
    """Format the first word of a host's answer, epoch seconds, as a local date."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(since.split(maxsplit=1)[0])))
    except (IndexError, ValueError, OverflowError, OSError):
        return "?"


def holder_is_gone(claim: dict[str, Any], user: str = "") -> bool:
    """Return whether it is certain that no process drives the run of a claim.

    `user` is the run's user if that is another one. Then no file that the claim names is read.
    """
    return process_is_gone(claim) if user else is_gone(claim, str(claim.get("owner") or ""))


def host_busy_error(where: str, claim: dict[str, Any], since: str, user: str = "") -> HostBusy:
    """Return the error for a host that another run holds, with how to get it. `user` is set if the run is
    another user's."""
    run = shlex.quote(" ".join(printable(str(claim.get("folder") or claim.get("run") or "RUN")).split()))
    controller = one_line(claim.get("controller") or "its controller")
    void = f"; else its claim is void {VOID_AFTER_S / 60:.0f} min after its last sign of life"
    gone = holder_is_gone(claim, user)
    if user:
        user = one_line(user)
        said = f"{where} is held by {describe_holder(claim)}, of its user {user}, since {format_since(since)}"
        if not gone:
            return HostBusy(said, f"wait for it with --wait, or ask {user} to end it on {controller}")
        free = f"free the host with `sudo -u {shlex.quote(user)} bench stop {run}`"
        busy = HostBusy(f"{said}; that process is gone, and jobs of {user} still run", f"{free}, or wait with --wait")
        busy.while_waiting = f"{free}{void}"
        return busy
    owner = str(claim.get("owner") or "")
    if gone:
        free = (
            f"free the host with `bench stop {run}`, or go on with that run: `bench resume {run}`"
            if is_here(claim, owner)
            else f"{run} is no longer there: free the host with `bench stop` and the folder that the run is in now, "
            "or with `bench stop --strays SPEC`"
        )
        busy = HostBusy(
            f"{where} is held by {describe_holder(claim)} since {format_since(since)}; that process is gone", free
        )
        busy.while_waiting = f"{free}{void}"
        return busy
    return HostBusy(
        f"{where} is held by {describe_holder(claim)} since {format_since(since)}",
        f"wait for it with --wait, or end it on {controller} with `bench stop {run}`",
    )
