"""What an event does to the throughput, on samples whose answer is known."""

from __future__ import annotations

import pytest

from benchbrief.compiler.planning.plan import Event, Origin
from benchbrief.results.analysis.recovery import Recovery, Sample, recovery, together

EVENT = Event(
    at_s=10.0,
    label="Stopped",
    line="kill -STOP 1",
    hosts=("db",),
    timeout_s=30.0,
    window_s=5.0,
    within=0.1,
    steady_s=3.0,
    outage=0.1,
    origin=Origin(file="a.bench", line=1, column=1),
)


def by_second(rates: list[float]) -> list[Sample]:
    return [Sample(float(i), i + 1.0, rate) for i, rate in enumerate(rates)]


def served(out: list[tuple[float, float]], seconds: int = 40, rate: float = 1000.0) -> list[Sample]:
    """Samples of a service of a constant rate that does nothing at all in these stretches."""
    lost = [sum(max(0.0, min(i + 1, end) - max(i, start)) for start, end in out) for i in range(seconds)]
    return by_second([rate * (1 - each) for each in lost])


def judged(samples: list[Sample], at: float = 10.0, until: float = 40.0) -> Recovery:
    found = recovery(samples, EVENT, at, until)
    assert found is not None
    return found


@pytest.mark.parametrize("length", [2.0, 3.3, 4.9, 7.25])
@pytest.mark.parametrize("begin", [10.0, 10.3, 10.5, 10.95])
def test_the_length_of_a_known_outage_is_found_within_a_sample(begin: float, length: float) -> None:
    found = judged(served([(begin, begin + length)]), begin)
    assert found.outage_s == pytest.approx(length, abs=0.15), "what the edges lack counts"
    assert found.before == pytest.approx(1000.0)
    assert found.recovery_s == pytest.approx(length, abs=1.0)


def test_a_dip_is_no_outage_and_a_service_that_never_left_is_back_at_once() -> None:
    dipped = judged(by_second([1000.0] * 10 + [600.0] * 4 + [1000.0] * 26))
    assert (dipped.lowest, dipped.outage_s, dipped.recovery_s) == (600.0, 0.0, 4.0)
    assert dipped.dip == pytest.approx(0.4)
    calm = judged(by_second([1000.0] * 10 + [950.0] * 30))
    assert (calm.recovery_s, calm.outage_s) == (0.0, 0.0)


def test_it_is_back_only_once_it_stays_and_has_no_recovery_when_it_does_not() -> None:
    flaps = judged(by_second([1000.0] * 10 + [0.0] * 2 + [1000.0] * 2 + [0.0] + [1000.0] * 25))
    assert flaps.recovery_s == 5.0, "two good seconds are not yet three"
    assert flaps.outage_s == pytest.approx(3.0)
    gone = judged(by_second([1000.0] * 10 + [0.0] * 30))
    assert gone.recovery_s is None
    assert gone.outage_s == pytest.approx(30.0)
    assert judged(by_second([1000.0] * 10 + [0.0] * 28 + [1000.0] * 2)).recovery_s is None, "too late to stay"


def test_what_comes_before_is_of_the_window_and_what_comes_after_ends_with_the_next_event() -> None:
    samples = by_second([100.0] * 5 + [1000.0] * 5 + [0.0] * 2 + [1000.0] * 8 + [0.0] * 20)
    found = judged(samples, until=20.0)
    assert (found.before, found.recovery_s, found.outage_s) == (1000.0, 2.0, 2.0)
    assert recovery(by_second([0.0] * 40), EVENT, 10.0, 40.0) is None, "nothing was done before"


def test_load_generators_count_together_while_all_of_them_tell() -> None:
    one, other = by_second([100.0] * 10), [Sample(i + 0.5, i + 1.5, 50.0) for i in range(9)]
    whole = together([one, other])
    assert {each.rate for each in whole} == {150.0}
    assert (whole[0].start, whole[-1].end) == (0.5, 9.5)
    assert len(together([[*by_second([10.0] * 3), Sample(3.0, 3.2, 1.0)]])) == 3, "the tool's end is no sample"
