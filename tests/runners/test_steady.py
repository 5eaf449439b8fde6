"""Tests SNIA's rule for a steady throughput."""

from __future__ import annotations

import pytest

from benchbrief.model.measurement import Interval
from benchbrief.model.plan import Event, Origin
from benchbrief.model.run_messages import say
from benchbrief.model.steadiness import judge_window, steadiness


def seconds(*counts: int) -> tuple[Interval, ...]:
    return tuple(Interval(float(at), 1.0, count) for at, count in enumerate(counts))


@pytest.mark.parametrize(
    ("counts", "range_", "trend", "steady"),
    [
        ((100, 100, 100, 100, 100), 0.0, 0.0, True),
        ((90, 110, 100, 110, 90), 0.2, 0.0, True),
        ((89, 111, 100, 111, 89), 0.22, 0.0, False),
        ((95, 98, 100, 102, 105), 0.1, 0.096, True),
        ((94, 97, 100, 103, 106), 0.12, 0.12, False),
        ((106, 103, 100, 97, 94), 0.12, 0.12, False),
    ],
)
def test_range_and_trend_both_have_a_limit(counts: tuple[int, ...], range_: float, trend: float, steady: bool) -> None:
    found = steadiness(seconds(*counts))
    assert found
    assert found.range == pytest.approx(range_)
    assert found.trend == pytest.approx(trend)
    assert found.steady is steady
    assert len(found.warnings) == (0 if steady else 1)


def test_the_seconds_of_a_long_run_are_gathered_to_five_rounds() -> None:
    noisy = seconds(*(70 if at % 2 else 130 for at in range(60)))
    found = steadiness(noisy)
    assert found
    assert found.steady, "single seconds may jump: no fifth of the minute differs from another"
    drifting = steadiness(seconds(*range(1000, 1300, 5)))
    assert drifting
    assert not drifting.steady


def test_a_round_is_weighed_by_its_time() -> None:
    found = steadiness((Interval(0, 0.25, 25), *(Interval(at + 0.25, 1, 100) for at in range(4))))
    assert found
    assert found.range == pytest.approx(0)


@pytest.mark.parametrize("counts", [(), (1, 1000, 1, 1000), (0, 0, 0, 0, 0)])
def test_too_little_to_tell_is_no_verdict(counts: tuple[int, ...]) -> None:
    assert steadiness(seconds(*counts)) is None


def test_the_numbers_are_kept_beside_the_warning() -> None:
    found = steadiness(seconds(94, 97, 100, 103, 106))
    assert found
    assert found.properties["steady state"].startswith("range 12.0 %, trend 12.0 % of the mean")


def test_intervals_without_time_are_in_no_round() -> None:
    counts = seconds(89, 111, 100, 111, 89)
    assert steadiness((*counts[:1], *(Interval(1.0, 0.0, 0) for _ in range(3)), *counts[1:])) == steadiness(counts)


def event(at_s: float) -> Event:
    return Event(
        at_s=at_s,
        label="Stopped",
        line="true",
        hosts=("local",),
        timeout_s=1,
        window_s=5,
        within=0.1,
        steady_s=2,
        outage=0.1,
        origin=Origin(file="brief.bench", line=1, column=1),
    )


def test_what_an_event_does_is_no_unsteadiness() -> None:
    outage = seconds(*[100] * 30, *[0] * 20, *[100] * 10)
    warnings, properties = judge_window(outage, say.remedy_warm_up())
    assert warnings[0] == say.unsteady_snia(), "without an event it is unsteady"
    later, earlier = event(40), event(30)
    warnings, properties = judge_window(outage, say.remedy_warm_up(), (later, earlier))
    assert not warnings
    assert properties["steady state"].startswith("range 0.0 %, trend 0.0 %")
    drifting = seconds(*range(100, 160), *[100] * 30)
    assert judge_window(drifting, say.remedy_warm_up(), (event(60),))[0] == (say.unsteady_snia(),)
    assert judge_window(outage, say.remedy_warm_up(), (event(4),)) == ((), {}), "four seconds judge nothing"
