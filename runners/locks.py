"""Which run holds a host: a claim that lies on the host itself, so that other controllers and folders keep off too.

The claim is a file beside the jobs (`runners/jobs.py`), of one Unix user of the host, and for all users to read: theirs
are looked for beside ours, where they have the same TMPDIR. It is void when its owner has given no sign of life for a
time, by the seconds since the host's boot, which no change of its clock moves; the host's restart does not void it at
once, since its controller may be another machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial

from benchbrief.runners import job_scripts as scripts
from benchbrief.runners.commands import printable
from benchbrief.runners.errors import HostBusy, HostError, HostFull
from benchbrief.runners.fan_out import fan_out
from benchbrief.runners.holders import about, busy, named
from benchbrief.runners.job_host import Claim, JobHost, sh
from benchbrief.runners.jobs import STOP_GRACE_S, new_word, tell_alive
from benchbrief.runners.keeper import KEEPER
from benchbrief.runners.patience import persistently
from benchbrief.runners.seams import Hosts

VOID_AFTER_S = 600.0
"""Without a sign of life of its controller for so long, a claim holds no more."""


def claim(host: JobHost, void_after_s: float = VOID_AFTER_S) -> str:
    """See `seams.Transport.claim`. Raises HostBusy, HostFull, HostError."""
    where = host.host.id
    told_people = json.dumps(asdict(host.run_name) | {"host": where})
    text = f"{host.run_name.owner}\n{told_people}\n{void_after_s:.0f}"
    script = scripts.with_values(
        scripts.CLAIM,
        owner=host.run_name.owner,
        claimed=text,
        grace=f"{STOP_GRACE_S:.0f}",
        token=new_word(),
    )
    done = persistently(host, lambda: sh(host, script, 120))
    verdict, *told = done.stdout.splitlines() or [""]
    if verdict == "held" and len(told) == 3:
        raise busy(where, about(told[0]), told[1], told[2])
    if verdict == "full":
        raise HostFull(f"no space left on {where} to claim it", f"Make room on {where}.")
    if verdict not in ("free", "taken"):
        said = printable((done.stdout + done.stderr).strip()[-300:])
        raise HostError(f"{where}: can't be claimed: {said or 'the shell said nothing'}", "See `bench doctor SPEC`.")
    if host.claimed is None:
        host.claimed = Claim(text, KEEPER.keep(host, partial(tell_alive, host), void_after_s))
    if verdict == "free" or len(told) != 3:
        return ""
    jobs = f"; its jobs that still ran, {told[2]}, were ended" if told[2] != "0" else ""
    return f"{where} was held by {named(about(told[0]))}, which gave no sign of life for {told[1]} s: taken over{jobs}"


def claimed_as(host: JobHost) -> str:
    """See `seams.Transport.claimed_as`. Raises HostError."""
    script = scripts.with_values(scripts.CLAIMED, owner=host.run_name.owner)
    return str(about(persistently(host, lambda: sh(host, script)).stdout).get("host") or "")


def claim_all(hosts: Hosts, ids: Iterable[str], again: Callable[[HostBusy], None]) -> tuple[list[str], list[str]]:
    """Claim all of these hosts, or none; which are held now, and what was taken over, in sentences.

    When one is held by another run, those already claimed are let go, but for those where jobs of ours are left, and
    `again` is called: it raises the error, or returns when it is time to try again. A host that can't be claimed for
    another reason is passed over: it has to be claimed before it is used (`runners/lanes.py`).
    """
    wanted = list(ids)
    said: list[str] = []
    while True:
        results = fan_out(wanted, lambda host_id: hosts[host_id].claim())
        said += [text for text in results.values() if isinstance(text, str) and text]
        held = next((each for each in results.values() if isinstance(each, HostBusy)), None)
        claimed = [host_id for host_id, result in results.items() if isinstance(result, str)]
        if held is None:
            return claimed, said
        fan_out(claimed, lambda host_id: hosts[host_id].release(keep_jobs=True))
        again(held)


def release_all(hosts: Hosts, ids: Iterable[str], *, keep_jobs: bool = False) -> tuple[int, dict[str, Exception]]:
    """Let all of these hosts go, but for those where jobs are kept.

    How many jobs still ran, and which hosts could not be cleaned, with the reason.
    """
    results = fan_out(ids, lambda host_id: hosts[host_id].release(keep_jobs=keep_jobs))
    ended = sum(result for result in results.values() if isinstance(result, int))
    return ended, {host_id: result for host_id, result in results.items() if isinstance(result, Exception)}
