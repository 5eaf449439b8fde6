"""Tests calls to many hosts: results are in order, the number of parallel calls is limited, and each failure is
separate."""

from __future__ import annotations

import threading

import pytest

from benchbrief.runners.errors import HostError
from benchbrief.runners.hosts.host_connections import fan_out, look_at_each


def test_a_bounded_number_of_hosts_is_dealt_with_at_a_time() -> None:
    lock, together, most = threading.Lock(), 0, 0
    all_busy = threading.Barrier(4)

    def call(host: str) -> str:
        nonlocal together, most
        with lock:
            together += 1
            most = max(most, together)
        all_busy.wait(10)  # broken, with an error, unless four are here at the same time
        with lock:
            together -= 1
        return host.upper()

    names = [f"db-{number}" for number in range(12)]
    assert fan_out([*names, "db-0"], call, at_once=4) == {name: name.upper() for name in names}
    assert most == 4


def test_results_come_in_order_as_soon_as_they_are_known() -> None:
    seen_first = threading.Event()

    def call(host: str) -> str:
        if host == "slow":
            assert seen_first.wait(10)  # not done before the first one's result was taken
        if host == "gone":
            raise HostError("gone does not answer")
        return host

    found = look_at_each(["first", "slow", "gone"], call)
    assert next(found) == ("first", "first")
    seen_first.set()
    assert next(found) == ("slow", "slow")
    name, error = next(found)
    assert name == "gone"
    assert isinstance(error, HostError)


def test_a_mistake_of_ours_is_not_taken_for_a_hosts_failure() -> None:
    def call(host: str) -> str:
        raise ZeroDivisionError(host)

    with pytest.raises(ZeroDivisionError):
        fan_out(["a", "b"], call)
