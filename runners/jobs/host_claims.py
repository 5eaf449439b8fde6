"""Which run holds a host. The claim lies on the host itself, so that it binds other controllers and folders too.

The claim is a file beside the jobs (`detached_jobs.py`). One Unix user owns it and all users can read it. Other
users' claims are looked up too, when they have the same TMPDIR. A claim is void when its owner has shown no sign of
life for a time, measured by the seconds since the host's boot, which a change of its clock does not move. A restart
of the host does not void the claim at once, since its controller may be another machine. Where this machine is the
controller, and that process is gone, the claim is void at once unless jobs are left there.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial

from benchbrief.runners.errors import HostError, HostFull
from benchbrief.runners.jobs import job_scripts as scripts
from benchbrief.runners.jobs.claim_holders import (
    VOID_AFTER_S,
    describe_holder,
    holder_is_gone,
    host_busy_error,
    parse_claim,
)
from benchbrief.runners.jobs.commands import printable
from benchbrief.runners.jobs.connection_retry import call_persistently
from benchbrief.runners.jobs.detached_jobs import send_heartbeat
from benchbrief.runners.jobs.host_fitness import refuse_unfit
from benchbrief.runners.jobs.script_host import Claim, JobHost, sh
from benchbrief.runners.jobs.shell_scripts import with_values
from benchbrief.runners.jobs.start_script import STOP_GRACE_S, new_word
from benchbrief.runners.messages.run_messages import say


def claim(host: JobHost, void_after_s: float = VOID_AFTER_S, *, gone: str = "") -> str:
    """Implement `seams.Transport.claim`. Raises HostBusy, HostFull, HostError.

    `gone` is what a claim said whose process is gone for certain: it holds the host only while it has jobs there.
    """
    where = host.host.id
    refuse_unfit(host)
    shown = json.dumps(asdict(host.run_name) | {"host": where})
    text = f"{host.run_name.owner}\n{shown}\n{void_after_s:.0f}"
    script = with_values(
        scripts.CLAIM,
        owner=host.run_name.owner,
        claimed=text,
        grace=f"{STOP_GRACE_S:.0f}",
        token=new_word(),
        gone=gone,
    )
    done = call_persistently(host, lambda: sh(host, script, 120))
    verdict, *details = done.stdout.splitlines() or [""]
    if verdict == "held" and len(details) == 3:
        held, user = parse_claim(details[0]), details[2]
        if not gone and details[0].isprintable() and holder_is_gone(held, user):
            return claim(host, void_after_s, gone=details[0])
        raise host_busy_error(where, held, details[1], user)
    if verdict == "full":
        raise HostFull(f"no space left on {where} to claim it", say.hint_room(host=where))
    if verdict not in ("free", "taken"):
        said = printable((done.stdout + done.stderr).strip()[-300:])
        raise HostError(f"{where}: can't be claimed: {said or 'the shell said nothing'}", "See `bench doctor SPEC`.")
    if host.claimed is None:
        host.claimed = Claim(text, host.session.heartbeats.keep(host, partial(send_heartbeat, host), void_after_s))
    if verdict == "free" or len(details) != 3:
        return ""
    jobs = f"; its jobs that still ran, {details[2]}, were ended" if details[2] != "0" else ""
    holder = describe_holder(parse_claim(details[0]))
    why = "whose process is gone" if gone else f"which gave no sign of life for {details[1]} s"
    return f"{where} was held by {holder}, {why}: taken over{jobs}"


def claimed_as(host: JobHost) -> str:
    """Implement `seams.Transport.claimed_as`. Raises HostError."""
    script = with_values(scripts.CLAIMED, owner=host.run_name.owner)
    return str(parse_claim(call_persistently(host, lambda: sh(host, script)).stdout).get("host") or "")
