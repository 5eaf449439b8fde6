"""Tests several load generators of a cell that are treated as one: the rate, its time, and the remarks."""

from __future__ import annotations

import pytest

from benchbrief.model.measurement import Measurement, Operation, PhaseThroughput, Together


def measured(start: float, seconds: float, count: int, phases: int = 0) -> Measurement:
    rate = count / seconds
    whole = PhaseThroughput(None, count, 1, seconds, rate)
    parts = (PhaseThroughput(n, count // phases, 0, seconds / phases, rate) for n in range(1, phases + 1))
    return Measurement((start, start + seconds), (whole, *parts), (Operation("read", count),), warnings=("slow disk",))


def test_rates_of_the_same_time_are_added() -> None:
    one = Together((measured(100, 10, 1000), measured(100.2, 10, 500)), load=False).measurement()
    assert one.total == PhaseThroughput(None, 1500, 2, 10, 150)
    assert one.window == (100.2, 110.0)
    assert one.warnings == ("slow disk",)


def test_a_load_lasts_from_the_first_start_to_the_last_end() -> None:
    one = Together((measured(100, 10, 1000), measured(100, 20, 1000)), load=True).measurement()
    assert one.total == PhaseThroughput(None, 2000, 2, 20, 100)
    assert one.window == (100.0, 120.0)
    assert one.warnings == ("slow disk",)


@pytest.mark.parametrize("load", [False, True])
def test_rates_that_were_never_reached_together_are_not_added(load: bool) -> None:
    one = Together((measured(100, 10, 1000), measured(115, 10, 1000)), load=load).measurement()
    assert one.total == PhaseThroughput(None, 2000, 2, 25, 80)
    assert one.window == (100.0, 125.0), "not the wrong way round"
    warnings = () if load else ("the load generators ran together for only 0 % of the time",)
    assert tuple(text.split(":")[0] for text in one.warnings) == (*warnings, "slow disk")


def test_phases_of_load_generators_apart_last_from_the_first_start_to_the_last_end_too() -> None:
    apart = Together((measured(100, 20, 2000, phases=2), measured(105, 20, 2000, phases=2)), load=False)
    for phase in (1, 2):
        assert apart.throughput(phase) == PhaseThroughput(phase, 2000, 0, 15, 2000 / 15)
    beside = Together((measured(100, 20, 2000, phases=2), measured(100.1, 20, 2000, phases=2)), load=False)
    assert beside.throughput(2) == PhaseThroughput(2, 2000, 0, 10, 200)


def test_one_load_generator_is_as_it_is_measured() -> None:
    alone = measured(100, 10, 1000, phases=2)
    assert Together((alone,), load=True).measurement() is alone
    assert Together((alone,), load=True).throughput(2) == alone.throughput[2]


def test_a_load_is_never_the_sum_of_its_rates() -> None:
    """Each load generator ends when its own records are loaded. So even if they overlap nearly all the time, their
    rates can't be added."""
    one = Together((measured(100, 10, 1000), measured(100, 9.9, 990)), load=True).measurement()
    assert one.total.ops_per_s == pytest.approx(199)


def test_rates_of_unlike_lengths_are_added_as_each_was_measured() -> None:
    one = Together((measured(100, 10, 1000), measured(100, 9.8, 980)), load=False)
    assert one.measurement().total.ops_per_s == pytest.approx(200)
    assert one.rate([1000, 980], None) == pytest.approx(200)


def test_operations_of_load_generators_apart_are_all_counted() -> None:
    apart = Together((measured(100, 10, 1000), measured(115, 10, 500)), load=False)
    assert apart.rate([1000, 500], None) == 60
    assert [operation.count for operation in apart.measurement().operations] == [1000, 500]


def test_a_phase_that_one_load_generator_lacks_has_no_throughput_together() -> None:
    uneven = Together((measured(100, 10, 1000, phases=2), measured(100, 10, 1000, phases=1)), load=False)
    assert uneven.throughput(2) is None
    assert uneven.throughput(1) is not None


def test_a_phase_begins_after_the_phases_before_it() -> None:
    parts = (PhaseThroughput(None, 30, 0, 30, 1), PhaseThroughput(1, 10, 0, 10, 1), PhaseThroughput(2, 20, 0, 20, 1))
    other = (PhaseThroughput(None, 30, 0, 30, 1), PhaseThroughput(1, 20, 0, 20, 1), PhaseThroughput(2, 10, 0, 10, 1))
    apart = Together((Measurement((0, 30), parts, ()), Measurement((10, 40), other, ())), load=False)
    assert apart.seconds(1) == 30, "from 0 s to 10 s, and from 10 s to 30 s"
    assert apart.seconds(2) == 30, "from 10 s to 30 s, and from 30 s to 40 s"
