"""The claims of all hosts of a run, together: `runners/jobs/host_claims.py` makes each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from benchbrief.runners.errors import HostBusy, RunnerError
from benchbrief.runners.hosts.fan_out import fan_out
from benchbrief.runners.seams import Hosts


class Claimed(NamedTuple):
    """The hosts that are claimed now, sentences on claims that were taken over, and the failed hosts with their
    reasons."""

    held: list[str]
    taken_over: list[str]
    away: dict[str, RunnerError]


def claim_all(hosts: Hosts, ids: Iterable[str], again: Callable[[HostBusy], None]) -> Claimed:
    """Claim all of these hosts, or none.

    When another run holds one, releases those already claimed, except where jobs of ours are left, and calls
    `again`. That raises the error, or returns when it is time to try again. A host that can't be claimed for
    another reason is skipped, and must be claimed before it is used (`runners/execution/lanes.py`).
    """
    wanted = list(ids)
    said: list[str] = []
    while True:
        results = fan_out(wanted, lambda host_id: hosts[host_id].claim())
        said += [text for text in results.values() if isinstance(text, str) and text]
        held = next((each for each in results.values() if isinstance(each, HostBusy)), None)
        claimed = [host_id for host_id, result in results.items() if isinstance(result, str)]
        if held is None:
            away = {host_id: result for host_id, result in results.items() if isinstance(result, RunnerError)}
            return Claimed(claimed, said, away)
        fan_out(claimed, lambda host_id: hosts[host_id].release(keep_jobs=True))
        again(held)


def release_all(hosts: Hosts, ids: Iterable[str], *, keep_jobs: bool = False) -> dict[str, int | RunnerError]:
    """Release all of these hosts, except where jobs are kept. Returns by id how many jobs and processes still ran, or
    why a host could not be cleaned."""
    return fan_out(ids, lambda host_id: hosts[host_id].release(keep_jobs=keep_jobs))
