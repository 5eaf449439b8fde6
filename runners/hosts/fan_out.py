"""The same call for many hosts: a bounded number in parallel, with errors kept by host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from benchbrief.runners.errors import RunnerError

AT_ONCE = 32
"""Hosts called in parallel. Opening a connection is work for both sides, and sshd refuses some of many that open at
the same time (MaxStartups). A host that does not answer takes one of these places until its time-out."""

_T = TypeVar("_T")
_Id = TypeVar("_Id", bound=str)


def fan_out(hosts: Iterable[str], call: Callable[[str], _T], at_once: int = AT_ONCE) -> dict[str, _T | RunnerError]:
    """Return the result of `call` for each host id, in the order of the ids, or the RunnerError that it raised.

    Raises any other error once all calls are done.
    """
    return dict(look_at_each(hosts, call, at_once))


def look_at_each(
    hosts: Iterable[_Id], call: Callable[[_Id], _T], at_once: int = AT_ONCE
) -> Iterator[tuple[_Id, _T | RunnerError]]:
    """Yield the same results one by one, in that order, as soon as each is known."""
    ids = list(dict.fromkeys(hosts))

    def one(host_id: _Id) -> _T | RunnerError:
        try:
            return call(host_id)
        except RunnerError as error:
            return error

    if len(ids) <= 1:
        yield from ((host_id, one(host_id)) for host_id in ids)
        return
    with ThreadPoolExecutor(min(at_once, len(ids)), thread_name_prefix="host") as pool:
        yield from zip(ids, pool.map(one, ids), strict=True)
