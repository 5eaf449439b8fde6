"""Tests percentiles that depend on few operations."""

from __future__ import annotations

from benchbrief.results.analysis.cautions import Beyond
from benchbrief.results.store import store_schema as s
from tests.reports import world as w


def counted(*phases: tuple[int | None, int]) -> Beyond:
    return Beyond(
        w.make_store(
            s.OperationRow(
                w.RUN, "cell", phase, "load", "read", "service", count, 0, 0.001, 0.001, 0.001, None, "none was written"
            )
            for phase, count in phases
        )
    )


def test_operations_of_phases_are_not_counted_twice() -> None:
    phased = counted((None, 700), (1, 350), (2, 350))
    assert phased.few("p99", ["cell"])
    assert not counted((None, 1000), (1, 500), (2, 500)).few("p99", ["cell"])
    assert phased.few("p99", ["cell"]) == counted((None, 700)).few("p99", ["cell"])


def test_each_phase_rests_on_its_own_operations() -> None:
    phased = counted((None, 1400), (1, 700), (2, 700))
    assert not phased.few("p99", ["cell"])
    assert phased.few("p99", ["cell"], by_phase=True)


def test_cells_together_have_the_operations_of_all() -> None:
    assert not counted((None, 600), (None, 600)).few("p99", ["cell"])
    assert not counted((None, 1)).few("mean", ["cell"]), "a mean has no remark"


def test_ten_operations_beyond_a_percentile_are_enough_and_nine_are_few() -> None:
    assert not counted((None, 1000)).few("p99", ["cell"])
    assert counted((None, 999)).few("p99", ["cell"])
    assert not counted((None, 10_000)).few("p99.9", ["cell"])


def test_the_operations_of_several_cells_count_together() -> None:
    rows = [
        s.OperationRow(
            w.RUN, cell, None, "load", "read", "service", 600, 0, 0.001, 0.001, 0.001, None, "none was written"
        )
        for cell in ("one", "two")
    ]
    beyond = Beyond(w.make_store(rows))
    assert beyond.few("p99", ["one"])
    assert not beyond.few("p99", ["one", "two"])
