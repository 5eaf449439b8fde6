"""Tests how events affect the throughput, on samples for which the answer is known."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from benchbrief.model.plan import Event, Origin
from benchbrief.results.ingest.cell_rows import why_missing, why_no_latency
from benchbrief.results.statistics.recovery import RateSample, Recovery, add_sources, recovery
from tests.support.longer import longer

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


def by_second(rates: list[float]) -> list[RateSample]:
    return [RateSample(float(i), i + 1.0, rate) for i, rate in enumerate(rates)]


def served(out: list[tuple[float, float]], seconds: int = 40, rate: float = 1000.0) -> list[RateSample]:
    """Return samples of a service with a constant rate, except that it does nothing in the stretches `out`."""
    lost = [sum(max(0.0, min(i + 1, end) - max(i, start)) for start, end in out) for i in range(seconds)]
    return by_second([rate * (1 - each) for each in lost])


def judged(samples: list[RateSample], at: float = 10.0, until: float = 40.0) -> Recovery:
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


def test_the_time_before_an_event_is_of_the_window_and_the_time_after_ends_with_the_next_event() -> None:
    samples = by_second([100.0] * 5 + [1000.0] * 5 + [0.0] * 2 + [1000.0] * 8 + [0.0] * 20)
    found = judged(samples, until=20.0)
    assert (found.before, found.recovery_s, found.outage_s) == (1000.0, 2.0, 2.0)
    assert recovery(by_second([0.0] * 40), EVENT, 10.0, 40.0) is None, "nothing was done before"


def test_load_generators_count_together_while_all_of_them_report() -> None:
    one, other = by_second([100.0] * 10), [RateSample(i + 0.5, i + 1.5, 50.0) for i in range(9)]
    whole = add_sources([one, other])
    assert {each.rate for each in whole} == {150.0}
    assert (whole[0].start, whole[-1].end) == (0.5, 9.5)
    assert len(add_sources([[*by_second([10.0] * 3), RateSample(3.0, 3.2, 1.0)]])) == 3, "the tool's end is no sample"


# --- what chance does --------------------------------------------------------------------------------------------

USUAL = EVENT.model_copy(update={"at_s": 60.0, "window_s": 30.0, "steady_s": 10.0})
EVENTS = 200


def arrivals(draw: random.Random, rate: float) -> float:
    """Return how many operations of a Poisson process end in one second."""
    count, at = 0, draw.expovariate(rate)
    while at < 1.0:
        count, at = count + 1, at + draw.expovariate(rate)
    return float(count)


def normal(draw: random.Random, rate: float) -> float:
    """Return a rate that varies by a tenth, which is more than counts would vary by chance."""
    return draw.gauss(rate, 0.1 * rate)


def null_events(rate: float, of: Callable[[random.Random, float], float], event: Event = USUAL) -> list[Recovery]:
    """Return events that do nothing."""
    draw = random.Random(round(rate))  # noqa: S311  # the same noise in every run
    runs = ([of(draw, rate) for _ in range(100)] for _ in range(EVENTS))
    found = [recovery(by_second(each), event, 60.0, 100.0) for each in runs]
    return [each for each in found if each is not None]


@pytest.mark.parametrize("window_s", [5.0, 30.0])
@pytest.mark.parametrize(("rate", "of"), [(100.0, arrivals), *longer((300.0, arrivals)), (1000.0, normal)])
def test_an_event_that_does_nothing_has_no_recovery(
    rate: float, of: Callable[[random.Random, float], float], window_s: float
) -> None:
    found = null_events(rate, of, USUAL.model_copy(update={"window_s": window_s}))
    assert len(found) == EVENTS
    false = sum(each.recovery_s != 0.0 for each in found)
    assert false <= 0.05 * EVENTS + 2 * (0.05 * 0.95 * EVENTS) ** 0.5, "5 %, within the confidence of so many events"


@pytest.mark.parametrize("rate", [100.0, 300.0])
@pytest.mark.parametrize("length", [2, 6])
def test_an_outage_is_found_among_noise(rate: float, length: int) -> None:
    draw = random.Random(7)  # noqa: S311  # the same noise in every run
    for _ in range(50):
        rates = [arrivals(draw, rate) for _ in range(100)]
        rates[60 : 60 + length] = [0.0] * length
        found = recovery(by_second(rates), USUAL, 60.0, 100.0)
        assert found is not None
        assert (found.recovery_s or 0) >= length
        assert found.dip == 1.0
        assert found.outage_s == pytest.approx(length, abs=1.0)


def test_the_lowest_is_of_the_time_until_it_is_back() -> None:
    rates = [1000.0] * 10 + [600.0] * 2 + [1000.0] * 10 + [100.0] + [1000.0] * 17
    found = judged(by_second(rates))
    assert (found.recovery_s, found.lowest) == (2.0, 600.0), "what comes later is no matter of the event"


def tails(p99s: list[float | None]) -> list[RateSample]:
    return [replace(each, p99_s=p99) for each, p99 in zip(by_second([1000.0] * len(p99s)), p99s, strict=True)]


def test_latency_comes_back_later_than_throughput() -> None:
    around = [0.005, 0.0052, 0.0049, 0.0051, 0.005]
    found = judged(tails([*around, *around, None, 0.9, 0.5, 0.1, *[0.0051] * 26]))
    assert found.recovery_s == 0.0
    assert found.latency_s == 4.0
    assert judged(tails([*around, *around, *[0.1] * 30])).latency_s is None, "it never came back"
    assert judged(by_second([1000.0] * 40)).latency_s is None, "no latency is known by second"
    assert judged(tails([*around, *around, *[0.0052] * 30])).latency_s == 0.0


def test_a_missing_recovery_of_latency_has_a_reason_of_its_own() -> None:
    around = [0.005, 0.0052, 0.0048, 0.005, 0.0051]
    shown = {
        "latency": judged(tails([*around, *around, *[0.1] * 30])),
        "by second": judged(by_second([1000.0] * 40)),
        "none": judged(tails([*around, *around, *[0.0052] * 30])),
    }
    assert all(why_missing(EVENT, found, 30.0) is None for found in shown.values()), "throughput came back"
    said = {name: why_no_latency(EVENT, found, 30.0) for name, found in shown.items()}
    assert "the 99th percentile by second did not come back" in str(said["latency"])
    assert "too few seconds have a 99th percentile" in str(said["by second"])
    assert said["none"] is None
    assert why_no_latency(EVENT, None, 30.0) == why_missing(EVENT, None, 30.0) is not None


def test_latency_that_varies_by_itself_has_no_recovery() -> None:
    draw = random.Random(3)  # noqa: S311  # the same noise in every run
    late = 0
    for _ in range(EVENTS):
        found = recovery(tails([draw.lognormvariate(-5, 0.3) for _ in range(100)]), USUAL, 60.0, 100.0)
        assert found is not None
        late += found.latency_s != 0.0
    assert late <= 0.05 * EVENTS + 2 * (0.05 * 0.95 * EVENTS) ** 0.5


def test_the_tails_of_several_load_generators_are_the_highest_where_all_report() -> None:
    one, other = tails([0.001, 0.004, 0.001]), tails([0.002, 0.003, None])
    assert [each.p99_s for each in add_sources([one, other])] == [0.002, 0.004, None]
