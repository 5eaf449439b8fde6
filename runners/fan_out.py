"""The same for many hosts at once: a bounded number at a time, each host's failure its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from benchbrief.runners.errors import RunnerError

AT_ONCE = 32
"""Hosts dealt with at a time. Opening a connection is work for both sides, and sshd refuses some of many that are
being opened (MaxStartups); a host that does not answer holds one of these places for as long as a time-out."""

_T = TypeVar("_T")


def fan_out(hosts: Iterable[str], call: Callable[[str], _T], at_once: int = AT_ONCE) -> dict[str, _T | RunnerError]:
    """What `call` gives for each host id, in the order of the ids; the RunnerError where it raised one.

    Anything else that it raises is raised here, once all have been dealt with.
    """
    return dict(each_of(hosts, call, at_once))


def each_of(
    hosts: Iterable[str], call: Callable[[str], _T], at_once: int = AT_ONCE
) -> Iterator[tuple[str, _T | RunnerError]]:
    """The same, one after another as they come to be known in that order."""
    ids = list(dict.fromkeys(hosts))

    def one(host_id: str) -> _T | RunnerError:
        try:
            return call(host_id)
        except RunnerError as error:
            return error

    if len(ids) <= 1:
        yield from ((host_id, one(host_id)) for host_id in ids)
        return
    with ThreadPoolExecutor(min(at_once, len(ids)), thread_name_prefix="host") as pool:
        yield from zip(ids, pool.map(one, ids), strict=True)
