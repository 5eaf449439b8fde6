"""Describes in words which run holds a host, or has left a job there."""

from __future__ import annotations

import json
import shlex
import time
from typing import Any

from benchbrief.model.message import Message
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import HostBusy
from benchbrief.runners.jobs.commands import printable
from benchbrief.runners.session import is_gone, is_here, process_is_gone

VOID_AFTER_S = 600.0
"""A claim is void if its controller has shown no sign of life for this many seconds."""
_LONGEST = 200
"""The most characters that a message quotes of one part of a claim."""


def parse_claim(text: str) -> dict[str, Any]:
    """Parse a claim's or a job's description of itself, which consists of texts and numbers. It is not trusted, and
    unreadable parts are left out."""
    try:
        claim = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return (
        {key: value for key, value in claim.items() if isinstance(value, str | int)} if isinstance(claim, dict) else {}
    )


def one_line(value: object) -> str:
    """Return a value as short text on one line for a message, since another user may have written it."""
    return " ".join(printable(str(value)).split())[:_LONGEST]


def describe_holder(claim: dict[str, Any]) -> Message:
    """Name the run and its controller for people, as far as they are known."""
    run, controller, pid = (one_line(claim.get(key) or "") for key in ("run", "controller", "pid"))
    said = say.holder(run=run) if run else say.holder_unknown()
    if pid:
        said = say.holder_process(run=said, pid=pid)
    return say.holder_on(run=said, controller=controller) if controller else said


def format_since(since: str) -> str:
    """Format the first word of a host's answer as a local date and time. The word is a time in epoch seconds."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(since.split(maxsplit=1)[0])))
    except (IndexError, ValueError, OverflowError, OSError):
        return "?"


def holder_is_gone(claim: dict[str, Any], user: str = "") -> bool:
    """Return whether it is certain that no process drives the run of a claim.

    `user` is the run's user if that is somebody else. In that case, no file that the claim names is read.
    """
    return process_is_gone(claim) if user else is_gone(claim, str(claim.get("owner") or ""))


def host_busy_error(where: str, claim: dict[str, Any], since: str, user: str = "") -> HostBusy:
    """Return the error for a host that another run holds, with a hint on how to get the host. `user` is set if the run
    belongs to another user."""
    run = shlex.quote(" ".join(printable(str(claim.get("folder") or claim.get("run") or "RUN")).split()))
    controller = one_line(claim.get("controller") or "") or say.its_controller()
    held = {"host": where, "holder": describe_holder(claim), "since": format_since(since)}
    if not holder_is_gone(claim, user):
        if not user:
            return HostBusy(say.held(**held), say.hint_held(controller=controller, run=run))
        user = one_line(user)
        return HostBusy(say.held_by_user(**held, user=user), say.hint_held_by_user(user=user, controller=controller))
    if user:
        free = say.hint_free_as(user=shlex.quote(one_line(user)), run=run)
        said = say.held_gone_by_jobs(held=say.held_by_user(**held, user=one_line(user)), user=one_line(user))
        busy = HostBusy(said, say.hint_or_wait(hint=free))
    else:
        here = is_here(claim, str(claim.get("owner") or ""))
        free = say.hint_free(run=run) if here else say.hint_free_elsewhere(run=run)
        busy = HostBusy(say.held_gone(held=say.held(**held)), free)
    busy.while_waiting = say.hint_or_void(hint=free, minutes=f"{VOID_AFTER_S / 60:.0f}")
    return busy
