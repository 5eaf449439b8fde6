"""Tests how a server's counters are read during a measurement."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import pytest

from benchbrief.runners.errors import ServerFailed
from benchbrief.runners.world import server_counters
from benchbrief.runners.world.server_counters import CounterReadings
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_counters, "_OFTENEST_S", 0.02)


class Server:
    """A server that counts queries, and fails some of them."""

    def __init__(self, failing: range = range(0)) -> None:
        self.asked = 0
        self.failing = failing

    def counters(self) -> dict[str, float]:
        self.asked += 1
        if self.asked - 1 in self.failing:
            raise ServerFailed("no answer")
        return {"asked": self.asked}


def test_counters_are_read_before_beside_and_after() -> None:
    server = Server()
    began = time.time()
    with CounterReadings(server.counters, seconds=0.1) as readings:
        until(lambda: len(readings.samples) >= 4)
    values = [sample["asked"] for _, sample in readings.samples]
    times = [at for at, _ in readings.samples]
    assert values == list(range(1, server.asked + 1))
    assert (readings.before, readings.after) == (readings.samples[0][1], readings.samples[-1][1])
    assert times == sorted(times)
    assert began <= times[0]
    assert times[-1] <= time.time()
    assert readings.problem == ""


def test_they_are_read_twenty_times_in_the_measured_time() -> None:
    server = Server()
    with CounterReadings(server.counters, seconds=2.0) as readings:
        until(lambda: len(readings.samples) >= 4)
    (_, *between, _) = [at for at, _ in readings.samples]
    assert all(later - earlier == pytest.approx(0.1, abs=0.09) for earlier, later in pairwise(between))


def test_readings_that_fail_are_reported_and_the_others_kept() -> None:
    server = Server(failing=range(1, 3))
    with CounterReadings(server.counters, seconds=0.1) as readings:
        until(lambda: len(readings.samples) >= 2)
    assert readings.before == {"asked": 1}
    assert readings.after == {"asked": server.asked}
    assert readings.problem == f"2 of {server.asked} readings failed: no answer"


def test_a_server_that_never_answers_raises_nothing() -> None:
    with CounterReadings(Server(failing=range(1000)).counters, seconds=0.1) as readings:
        pass
    assert readings.samples == ()
    assert "readings failed: no answer" in readings.problem


def test_an_engine_without_counters_is_asked_once() -> None:
    asked = 0

    def none() -> dict[str, float]:
        nonlocal asked
        asked += 1
        return {}

    with CounterReadings(none, seconds=0.1) as readings:
        pass
    assert asked == 1
    assert (readings.samples, readings.problem) == ((), "")


def test_an_interrupted_measurement_is_not_held_by_a_server_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_counters, "_LAST_ANSWER_S", 0.1)
    hangs, released = threading.Event(), threading.Event()

    def read() -> dict[str, float]:
        if threading.current_thread().name == "counters":
            hangs.set()
            released.wait(20)
        return {"asked": 1}

    def interrupted() -> None:
        with CounterReadings(read, seconds=0.1):
            assert hangs.wait(10)
            raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    released.set()
    assert time.monotonic() - started < 10
