"""Tests cells that fall behind the load that they should offer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchbrief.model.achieved_load import offered
from benchbrief.model.measurement import Measurement, Operation, PhaseThroughput
from benchbrief.model.plan import Arrivals
from benchbrief.runners.execution.lane import off_schedule
from tests.results.making import a_cell
from tests.support import cells


def measured(rate: float, kind: str = "service") -> Measurement:
    operation = Operation("read", 10, kind="intended" if kind == "intended" else "service")
    return Measurement((0, 1), (PhaseThroughput(None, 10, 0, 1, rate),), (operation,))


@pytest.mark.parametrize(("rate", "is_reported"), [(949.0, True), (950.0, False), (1050.0, False), (1051.0, True)])
def test_a_cell_achieves_95_to_105_per_cent_of_what_it_offers(rate: float, is_reported: bool) -> None:
    assert bool(off_schedule(a_cell(target=1000.0), measured(rate))) is is_reported


def test_a_cell_that_offers_no_load_falls_behind_none() -> None:
    assert off_schedule(a_cell(), measured(1.0)) == ""


def test_what_its_latencies_count_is_stated_with_the_numbers() -> None:
    cell = a_cell(target=20_000.0)
    assert off_schedule(cell, measured(15_213.4)) == (
        f"{cell.id} achieved 15,213 of 20,000 ops/s offered (76 %): "
        "it was a closed loop then, whose latencies leave out the wait behind late operations"
    )
    assert off_schedule(cell, measured(15_213.4, "intended")).endswith(
        "its intended latencies count the wait behind late operations, its service latencies do not"
    )


def test_more_than_was_offered_is_what_was_owed_from_before() -> None:
    cell = a_cell(target=1000.0)
    assert off_schedule(cell, measured(1580.0, "intended")) == (
        f"{cell.id} achieved 1,580 of 1,000 ops/s offered (158 %): "
        "it was behind its schedule and caught up, so that the load was not the offered one"
    )


@pytest.mark.parametrize(
    ("due", "text"),
    [
        (108, ""),  # its schedule itself drew more than the rate says
        (93, "achieved 108 of 93 ops/s offered (116 %): it was behind its schedule and caught up"),
        (120, "achieved 108 of 120 ops/s offered (90 %): its intended latencies count"),
        (None, "achieved 106 of 93 ops/s offered (114 %): it was behind its schedule and caught up"),
    ],
)
def test_what_was_done_is_held_against_what_was_due_where_the_tool_says_it(due: int | None, text: str) -> None:
    made = replace(measured(106.0, "intended"), throughput=(PhaseThroughput(None, 106, 2, 1, 106.0),), due=due)
    said = off_schedule(a_cell(target=93.0), made)
    assert text in said if text else not said


def test_a_load_with_bursts_offers_what_is_due_in_the_measured_time() -> None:
    bursts = Arrivals(kind="burst", burst_rate=600.0, every_s=3.0, lasting_s=1.0)
    made = cells.context(cells.ycsb("a"), cells.embedded(), target=100.0, warm_up_s=2.0, measure_s=4.5)
    experiment = made.experiment.model_copy(update={"arrivals": bursts})
    # From 2 s to 6.5 s: a burst from 3 to 4 s, and half of the one from 6 to 7 s.
    assert offered(100.0, experiment) == pytest.approx((1.5 * 600 + 3 * 100) / 4.5)
    assert offered(100.0, made.experiment) == offered(100.0, None) == 100.0
    assert off_schedule(made.cell, measured(270.0), experiment) == ""
    assert "achieved 133 of 267 ops/s" in off_schedule(made.cell, measured(133.0), experiment)
