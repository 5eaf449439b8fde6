"""Tests that hosts get heartbeats in time, whatever other hosts do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from benchbrief.runners import session
from benchbrief.runners.errors import HostError
from benchbrief.runners.session import Heartbeats
from tests.support.waiting import until

HOLD_S = 0.6


class Told:
    """A host that records when it got heartbeats."""

    def __init__(self) -> None:
        self.at: list[float] = []

    def tell(self) -> None:
        self.at.append(time.monotonic())

    def silence(self) -> float:
        """Return the longest time without a heartbeat."""
        return max(b - a for a, b in zip(self.at, self.at[1:], strict=False))


class Dead:
    """A host that does not answer. Each call lasts until its time-out, or until the test ends."""

    def __init__(self, timeout_s: float, over: threading.Event) -> None:
        self.timeout_s, self.over, self.calls = timeout_s, over, 0

    def tell(self) -> None:
        self.calls += 1
        self.over.wait(self.timeout_s)
        raise HostError("no answer")


@pytest.fixture
def over() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


class Closer:
    def __init__(self, close: Callable[[], None]) -> None:
        self.close = close


def test_hosts_that_do_not_answer_keep_no_other_host_waiting(over: threading.Event) -> None:
    mine = Heartbeats()
    dead = [Dead(5.0, over) for _ in range(24)]
    well = [Told() for _ in range(6)]
    hosts: list[Told | Dead] = [*dead, *well]
    for host in hosts:
        mine.keep(host, host.tell, HOLD_S)
    until(lambda: all(len(host.at) > 12 for host in well), 20)
    assert max(host.silence() for host in well) < HOLD_S
    for host in hosts:
        mine.forget(host)


def test_failing_hosts_hold_a_part_of_the_threads_only(over: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_AT_ONCE", 4)
    monkeypatch.setattr(session, "_FAILING_AT_ONCE", 2)
    mine = Heartbeats()
    dead = [Dead(0.05, over) for _ in range(12)]
    for host in dead:
        mine.keep(host, host.tell, HOLD_S)
    until(lambda: all(host.calls for host in dead), 20)
    for host in dead:
        host.timeout_s = 10.0
    well = Told()
    mine.keep(well, well.tell, HOLD_S)
    until(lambda: len(well.at) > 8, 20)
    assert well.silence() < HOLD_S
    for each in (*dead, well):
        mine.forget(each)


def test_a_host_gets_heartbeats_again_after_any_error() -> None:
    mine = Heartbeats()
    calls = 0

    def tell() -> None:
        nonlocal calls
        calls += 1
        raise ValueError("not of ours")

    with closing(Closer(mine.keep(tell, tell, HOLD_S))):
        until(lambda: calls > 3, 20)


def test_a_host_that_stays_away_is_tried_ever_more_rarely_and_one_that_is_back_as_before() -> None:
    mine = Heartbeats()
    away, at = True, list[float]()

    def tell() -> None:
        at.append(time.monotonic())
        if away:
            raise HostError("no answer")

    with closing(Closer(mine.keep(tell, tell, 0.12))):
        began = time.monotonic()
        until(lambda: time.monotonic() - began > 2.5, 20)
        assert 6 <= len(at) <= 40, "each turn would be 125 calls"
        assert at[-1] - at[-2] > 0.1
        away = False
        back = len(at)
        until(lambda: len(at) > back + 10 and at[-1] - at[-6] < 1.0)
