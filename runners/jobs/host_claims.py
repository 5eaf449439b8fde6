"""The claim of a run on a host. It is stored on the host itself, so that other controllers and folders must respect it.

The claim is a file beside the jobs (`detached_jobs.py`). One Unix user owns it, and all users can read it. Claims of
other users who have the same TMPDIR are also looked up. A claim is void if its owner has shown no sign of life for some
time. This is measured in seconds since the host's boot, which do not change if the clock is set. If the host restarts,
the claim is not void at once, since its controller may be on another machine. If this machine is the controller, and
the controller's process is gone, the claim is void at once unless jobs are left on the host.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import HostError, HostFull
from benchbrief.runners.jobs import job_scripts as scripts
from benchbrief.runners.jobs.claim_holders import (
    VOID_AFTER_S,
    describe_holder,
    holder_is_gone,
    host_busy_error,
    parse_claim,
)
from benchbrief.runners.jobs.commands import printable, read_script, with_values
from benchbrief.runners.jobs.connection_retry import call_persistently
from benchbrief.runners.jobs.detached_jobs import send_heartbeat
from benchbrief.runners.jobs.job_scripts import STOP_GRACE_S, new_word
from benchbrief.runners.jobs.script_host import Claim, JobHost, sh
from benchbrief.runners.jobs.tasks import Command

NEEDED = ("setsid", "flock", "timeout", "find", "stat", "head", "awk", "sed")
"""The programs that our scripts need on each host, in addition to a POSIX shell's own."""

_LOOK = with_values(read_script(__file__, "scripts/fitness.sh"), needed=" ".join(NEEDED))


@dataclass(frozen=True)
class Unfit:
    """A defect of a host, and how to fix it."""

    what: str
    detail: str
    hint: str


def find_defects(host: JobHost) -> Iterator[Unfit]:
    """Yield the defects of a host that answers. Raises HostError."""
    # Does not use our usual scripts, which need the programs that may be missing.
    done = call_persistently(host, lambda: host.run(Command(("sh", "-c", _LOOK))))
    said = [line.partition(" ") for line in done.stdout.splitlines()[:50]]
    lacking = {name for kind, _, name in said if kind == "lacks"}
    lacking |= {"timeout"} if done.exit_code == 127 else set()  # commands over SSH run under `timeout`
    found = [name for name in NEEDED if name in lacking]
    if found:
        yield Unfit("programs", say.programs_lacking(names=", ".join(found)), say.hint_programs())
    for kind, _, path in said:
        where = printable(path)[:500]
        if kind == "unsafe":
            yield Unfit("jobs", say.directory_shared(path=where), say.hint_unsafe(host=host.host.id))
        elif kind == "unwritable":
            yield Unfit("jobs", say.directory_unwritable(path=where), say.hint_unwritable(host=host.host.id))


def refuse_unfit(host: JobHost) -> None:
    """Raise a lasting HostError if a host is unfit or can't be reached."""
    for each in find_defects(host):
        error = HostError(say.of_host(host=host.host.id, what=each.detail), each.hint)
        error.lasting = True
        raise error


def claim(host: JobHost, void_after_s: float = VOID_AFTER_S, *, gone: str = "") -> str:
    """Implement `seams.Transport.claim`. Raises HostBusy, HostFull and HostError.

    `gone` is the text of a claim whose process has certainly ended. Such a claim holds the host only as long as the
    claim's run has jobs there.
    """
    where = host.host.id
    if host.claimed is None:  # otherwise it was fit
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
        raise HostFull(say.claim_full(host=where), say.hint_room(host=where))
    if verdict not in ("free", "taken"):
        said = printable((done.stdout + done.stderr).strip()[-300:])
        raise HostError(say.unclaimed(host=where, said=said or say.shell_said_nothing()), say.hint_doctor())
    if host.claimed is None:
        host.claimed = Claim(text, host.session.heartbeats.keep(host, partial(send_heartbeat, host), void_after_s))
    if verdict == "free" or len(details) != 3:
        return ""
    holder = describe_holder(parse_claim(details[0]))
    said = (
        say.taken_over_gone(host=where, holder=holder)
        if gone
        else say.taken_over_silent(host=where, holder=holder, seconds=details[1])
    )
    return say.jobs_were_ended(said=said, jobs=details[2]) if details[2] != "0" else said


def claimed_as(host: JobHost) -> str:
    """Implement `seams.Transport.claimed_as`. Raises HostError."""
    script = with_values(scripts.CLAIMED, owner=host.run_name.owner)
    return str(parse_claim(call_persistently(host, lambda: sh(host, script)).stdout).get("host") or "")
