"""Several load generators of one cell as one: which rate, over which time, and what is told of it."""

from __future__ import annotations

import pytest

from benchbrief.runners.measurement import Measurement, Operation, PhaseThroughput, Together


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
    told = () if load else ("the load generators ran together for only 0% of the time",)
    assert tuple(text.split(":")[0] for text in one.warnings) == (*told, "slow disk")


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
