"""Tests how often a call to a host is repeated when its connection breaks."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from benchbrief.runners.errors import ConnectionLost
from benchbrief.runners.jobs import connection_retry
from benchbrief.runners.jobs.connection_retry import call_persistently


class AHost:
    """A host whose connection breaks at each of the next calls."""

    def __init__(self) -> None:
        self.breaks = 0
        self.calls = 0
        self.given_up_at = -math.inf

    def call(self) -> str:
        self.calls += 1
        if self.breaks:
            self.breaks -= 1
            raise ConnectionLost("box: the connection was lost")
        return "said"

    def tries(self, breaks: int, patience_s: float = 0.0, lost: Callable[[], None] = lambda: None) -> int:
        """Return how often the host is called before it answers, or before the call is given up."""
        self.breaks, self.calls = breaks, 0
        try:
            assert call_persistently(self, self.call, patience_s, lost) == "said"
        except ConnectionLost:
            assert self.breaks, "it was given up although it answered"
        return self.calls


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_retry, "_RETRY_AFTER_S", (0.001, 0.001))


def test_a_broken_connection_is_tried_again_and_each_loss_is_reported() -> None:
    lost: list[None] = []
    assert AHost().tries(2, lost=lambda: lost.append(None)) == 3
    assert len(lost) == 2


def test_a_host_that_was_given_up_is_tried_once_until_it_answers() -> None:
    host = AHost()
    assert host.tries(100) == 3
    assert host.tries(100) == 1
    assert AHost().tries(100) == 3, "another host is not given up"
    assert host.tries(0) == 1
    assert host.tries(100) == 3, "it answered"


def test_with_patience_it_is_tried_for_that_long() -> None:
    assert AHost().tries(20, patience_s=30.0) == 21
