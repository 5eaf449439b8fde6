"""Limits of a brief's numbers, each in a store that has the fault; and none in one that has not."""

from __future__ import annotations

from typing import Any

import pytest

from benchbrief.compiler import plan as p
from benchbrief.reports import limits
from benchbrief.reports.build import build
from benchbrief.reports.remarks import alike
from benchbrief.reports.source import Results
from benchbrief.reports.words import CATALOGUES
from benchbrief.results import schema as s
from benchbrief.runners.steady import Steadiness
from tests.reports import world as w

CLAIM = p.CalloutElement(title="Gain", prose=w.text("It is faster."))


def level(_hardware: str, _workload: str, threads: int) -> float:
    """A throughput that has no more to gain from two threads on."""
    return 1000.0 * min(threads, 2)


def world(**more: Any) -> w.World:
    return w.World({"disk": "Disk"}, {"a": "Sessions"}, engine="mongodb", repeats=2, ops=level, **more)


def clean(of: w.World) -> list[Any]:
    return [row for row in of.rows() if not isinstance(row, s.NoteRow)]


def told(plan: p.Plan, rows: list[Any]) -> list[limits.Limit]:
    return list(limits.limits(Results(plan, w.make_store(rows), CATALOGUES["en"])))


def utilised(share: float, cell: str, host: str = "local") -> s.SampleRow:
    return s.SampleRow(w.RUN, cell, "cpu.utilisation", host, "", 0.0, share, "")


def test_a_clean_run_has_no_limits() -> None:
    rows = [*clean(world()), utilised(0.5, world().cell_id("disk", "a", 4))]
    assert told(world().plan(w.report("R", CLAIM)), rows) == []


@pytest.mark.parametrize(("accepted", "first"), [(0.0, True), (0.01, False)])
def test_failed_operations_are_told_first_where_they_are_more_than_accepted(accepted: float, first: bool) -> None:
    plan = world().plan()
    ramp = plan.experiments["ramp"].model_copy(update={"max_error_share": accepted})
    plan = plan.model_copy(update={"experiments": {"ramp": ramp}})
    cell = world().cell_id("disk", "a", 4)
    rows = [
        row._replace(errors=5, count=995) if isinstance(row, s.ThroughputRow) and row.cell_id == cell else row
        for row in clean(world())
    ]
    (limit,) = told(plan, rows)
    assert limit.full == f"In one measurement that counts, operations failed: 0.50\u00a0% of them, in {cell}."
    assert bool(limit.short) == first


def test_a_saturated_load_generator_is_told_with_its_host() -> None:
    cell = world().cell_id("disk", "a", 4)
    (limit,) = told(world().plan(), [*clean(world()), utilised(0.97, cell)])
    assert limit.short == "the load generator was saturated in one of 1 measurements"
    assert "97\u00a0% on local" in limit.full
    assert limit.full.endswith("shares this host with the system under test.")


def test_a_busy_host_that_generates_no_load_is_no_limit() -> None:
    cell = world().cell_id("disk", "a", 4)
    assert told(world().plan(), [*clean(world()), utilised(0.97, cell, "db-1")]) == []


def test_measurements_that_were_not_steady_are_told_first() -> None:
    cells = [world().cell_id("disk", "a", threads) for threads in (2, 4)]
    (warning,) = Steadiness(range=0.5, trend=0.3).warnings
    rows = [s.NoteRow(w.RUN, cell, "warning", warning, "ycsb") for cell in cells]
    (limit,) = told(world().plan(), [*clean(world()), *rows])
    assert limit.short == "2 of 6 measurements were not steady by SNIA's rule"
    assert limit.full.startswith("In 2 of 6 measurements, the throughput did not hold still")


def test_a_tool_with_assertions_is_told_with_its_measurements() -> None:
    (limit,) = told(world().plan(), world().rows())
    assert limit.short == "the load generator of 6 measurements was built with assertions, which slow it"


def test_two_groups_on_one_machine_are_told_and_two_variants_are_not() -> None:
    two = w.World({"disk": "Disk", "ram": "RAM"}, {"a": "Sessions"}, repeats=2, ops=level)
    assert told(two.plan(), clean(two)) == []
    plan = two.plan()
    groups = {
        key: group.model_copy(update={"group": key, "group_label": group.label}) for key, group in plan.hardware.items()
    }
    (limit,) = told(plan.model_copy(update={"hardware": groups}), clean(two))
    assert limit.short == "Disk and RAM are the same machine"


def test_single_measurements_are_told_first_only_beside_a_claim() -> None:
    once = w.World({"disk": "Disk"}, {"a": "Sessions"}, ops=level)
    (limit,) = told(once.plan(w.report("R")), clean(once))
    assert limit.short == ""
    (limit,) = told(once.plan(w.report("R", CLAIM)), clean(once))
    assert limit.short == "each point was measured once (Thread ramp)"


def test_measurements_of_earlier_runs_are_counted() -> None:
    cell = world().cell_id("disk", "a", 4)
    rows = [
        row._replace(reused_from="20260101-000000-old") if isinstance(row, s.CellRow) and row.cell_id == cell else row
        for row in clean(world())
    ]
    (limit,) = told(world().plan(), rows)
    assert limit.short == "one of 6 measurements is an earlier run's"
    every = [row._replace(reused_from="old") if isinstance(row, s.CellRow) else row for row in clean(world())]
    (limit,) = told(world().plan(), every)
    assert limit.full.startswith("6 of 6 measurements were taken from 1 earlier run: ")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_limits_are_one_notice_and_stand_in_full_in_the_disclosure(language: str) -> None:
    once = w.World({"disk": "Disk"}, {"a": "Sessions"}, ops=level)
    report = w.report("R", CLAIM, p.DisclosureElement(), language=language)
    view = build(once.plan(report), once.store(), report, CATALOGUES[language])
    words = CATALOGUES[language]
    (notice,) = [each for each in view.notices if each.title == words["notice_limits"]]
    disclosure = view.blocks[-1]
    assert disclosure.kind == "disclosure"
    (validity,) = [group for group in disclosure.groups if group.title == words["d_validity"]]
    found = list(limits.limits(Results(once.plan(report), once.store(), words)))
    assert len(found) == 2
    assert all(limit.short.lower() in notice.text.lower() for limit in found)
    assert {limit.full for limit in found} <= {item.text for item in validity.items}


def test_remarks_that_differ_in_a_number_are_one_with_its_range() -> None:
    rows = [
        ("info", "the clock of db-1 was 20 ms ahead of the controller's", 1),
        ("info", "the clock of db-1 was 1,000 ms ahead of the controller's", 2),
        ("info", "the clock of db-2 was 20 ms ahead of the controller's", 1),
        ("warning", "the clock of db-1 was 30 ms ahead of the controller's", 1),
        ("info", "db_bench 7.8.3 says 4 of 10", 1),
        ("info", "db_bench 7.8.4 says 5 of 10", 1),
    ]
    assert alike(rows) == [
        ("info", "the clock of db-1 was 20–1,000 ms ahead of the controller's", 3),
        ("info", "the clock of db-2 was 20 ms ahead of the controller's", 1),
        ("warning", "the clock of db-1 was 30 ms ahead of the controller's", 1),
        ("info", "db_bench 7.8.3 says 4 of 10", 1),
        ("info", "db_bench 7.8.4 says 5 of 10", 1),
    ]


@pytest.mark.parametrize(("last", "rising"), [(1.2, True), (1.05, False)])
def test_a_ramp_that_still_gained_at_its_last_thread_count_may_have_its_peak_beyond(last: float, rising: bool) -> None:
    made = world()
    threads = {row.cell_id: row.threads or 0 for row in clean(made) if isinstance(row, s.CellRow)}
    *_, before, most = sorted(set(threads.values()))
    rate = {before: 1000.0, most: 1000.0 * last}
    rows = [
        row._replace(ops_per_s=rate.get(threads[row.cell_id], 500.0)) if isinstance(row, s.ThroughputRow) else row
        for row in clean(made)
    ]
    limits_told = told(made.plan(w.report("R", CLAIM)), rows)
    expected = (
        "In one of 1 ramps, the highest thread count that was measured still gained: 20\u00a0% more throughput than "
        f"the one before it (Disk, Sessions, {most} threads). The peak may lie beyond it."
    )
    assert [limit.full for limit in limits_told] == [expected] * rising
