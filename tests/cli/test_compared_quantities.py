"""Tests how `bench compare` prints numbers and settings."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any

import pytest

from benchbrief.comparing.compare_output import cases, format_quantity, markdown, shorten_reason, table_rows
from benchbrief.comparing.comparison_cautions import levels_of, warn_of_busy_hosts, warn_of_changes_shown_twice
from benchbrief.comparing.print_comparison import table_of
from benchbrief.model.message import figure
from benchbrief.model.points import PointKeys
from benchbrief.results.compare.comparison import ComparedQuantity, PairOutcome, PointValues, compare
from benchbrief.results.compare.contender import Contender, _readable
from benchbrief.results.result_messages import say
from benchbrief.results.store.store_schema import NoteRow
from tests.reports import world as w


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(48740.0, "ops/s/core", "48,740 ops/s/core"), (12.345, "ops/s/W", "12.35 ops/s/W"), (1234567.0, "1", "1,234,567")],
)
def test_a_large_metric_is_shown_without_a_power_of_ten(value: float, unit: str, shown: str) -> None:
    assert format_quantity(value, unit) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [("8388608", "B", "8 MiB"), ("1000", "B", "1,000 B"), ("4", "cores", "4"), ("tmpfs", None, "tmpfs")],
)
def test_a_setting_that_differs_is_shown_in_its_unit(value: str, unit: str | None, shown: str) -> None:
    assert _readable(value, unit) == shown


def compared(unit: str, first: tuple[float, ...], second: tuple[float, ...], *merged: float) -> PairOutcome:
    values = merged or tuple(statistics.fmean(each) for each in (first, second))
    sides = [PointValues(value, own, percentile=False) for value, own in zip(values, (first, second), strict=True)]
    return compare([ComparedQuantity("gain", unit, "higher", {(("workload", "hot"),): (sides[0], sides[1])})])


@pytest.mark.parametrize(
    ("first", "second", "text"), [(0.95, 0.95, "95 %"), (0.99375, 0.99375, "99.38 %"), (0.95, 0.975, "95 % to 97.5 %")]
)
def test_the_level_of_the_intervals_is_that_of_the_runs(first: float, second: float, text: str) -> None:
    sides = [PointValues(2.0, (1.0, 2.0, 3.0), percentile=False, level=each) for each in (first, second)]
    outcome = compare([ComparedQuantity("gain", "ops/s", "higher", {(("workload", "hot"),): (sides[0], sides[1])})])
    assert levels_of(outcome.comparisons) == text


@pytest.mark.parametrize(
    ("unit", "first", "second", "change"),
    [
        ("%", (-39.0, -40.0, -39.8), (-79.0, -80.0, -79.5), "−39.9 points (−41.1 to −38.7)"),
        ("%", (-39.6,), (10.3,), "+49.9 points"),
        ("share", (0.2, 0.2), (0.3, 0.3), "+10.0 points"),
        ("W", (-4.0, -4.0), (2.0, 2.0), "+6 W"),
        ("W", (0.0,), (2.0,), "+2 W"),
        ("W", (4.0,), (2.0,), "−50.0 %"),
    ],
)
def test_a_change_of_shares_or_below_zero_is_reported_as_a_difference(
    unit: str, first: tuple[float, ...], second: tuple[float, ...], change: str
) -> None:
    (row,) = table_rows(compared(unit, first, second).comparisons)
    assert row[4] == change


@pytest.mark.parametrize(
    ("first", "second", "change"),
    [
        ((10.0, 10.2), (11.0, 11.1), "+9.4 % (+2.4 to +17.2)"),
        ((10.0, 11.0), (35.0, 36.0), "+238 % (+178 to +328)"),
        ((10.0,), (0.001,), "−99.99 %"),
        ((10.0,), (191_436.0,), "19,000 times"),
        ((10.0,), (137.2,), "13.7 times"),
    ],
)
def test_a_change_and_its_interval_have_one_number_of_decimals_and_huge_ones_are_factors(
    first: tuple[float, ...], second: tuple[float, ...], change: str
) -> None:
    outcome = compared("ops/s", first, second)
    (row,) = outcome.comparisons
    assert table_rows([row])[0][4] == change
    assert f", {change}: " in next(iter(cases(outcome, strict=False))).detail
    assert f"| {change} |" in markdown("A and B", outcome, (), ())


def test_an_interval_with_a_huge_end_is_one_of_factors() -> None:
    (row,) = compared("ops/s", (10.0, 11.0), (1440.0, 1441.0)).comparisons
    wide = replace(row, ratio=137.2, interval=(1.5, 19143.65))
    assert table_rows([wide])[0][4] == "137 times (1.5 to 19,000)"


def test_an_interval_that_holds_a_loss_and_a_gain_of_any_size_is_reported_in_words() -> None:
    (row,) = compared("ops/s", (10.0, 11.0), (35.0, 36.0)).comparisons
    wide = replace(row, ratio=3.381, interval=(0.0, 19143.65))
    assert table_rows([wide])[0][4] == "3.38 times (too wide to say)"


def test_the_two_sides_of_a_spread_have_one_number_of_decimals() -> None:
    values = PointValues(0.00388, (0.00376, 0.0041), percentile=True)
    outcome = compare([ComparedQuantity("p99", "s", "lower", {(("workload", "hot"),): (values, values)})])
    assert table_rows(outcome.comparisons)[0][2] == "3.88 ms −3.1/+5.7 %"


def test_a_change_of_the_repeats_that_is_not_that_of_the_columns_is_reported_as_such() -> None:
    apart = compared("ops/s/W", (10.0, 50.0), (20.0, 60.0), 15.0, 30.0)
    assert table_rows(apart.comparisons)[0][2:5] == (
        "15 ops/s/W ±1,794 %",
        "30 ops/s/W ±880 %",
        "+100 %, of repeats +33.3 % (unbounded)",
    ), "the first change is that of the values beside it"
    (printed,) = warn_of_changes_shown_twice(apart.comparisons)
    assert printed.startswith("of repeats: the change of the repeats' own values, which the test compares.")
    assert printed.endswith("(gain at hot)")
    assert not list(warn_of_changes_shown_twice(compared("ops/s/W", (10.0, 50.0), (20.0, 60.0)).comparisons))


def test_what_is_0_on_both_sides_is_a_sentence_and_no_row() -> None:
    def at(value: float) -> PointValues:
        return PointValues(value, (value,), percentile=False)

    points: dict[PointKeys, tuple[PointValues | None, PointValues | None]] = {
        (("threads", n),): (at(0.0), at(0.0)) for n in (1, 2)
    }
    some: dict[PointKeys, tuple[PointValues | None, PointValues | None]] = {(("threads", 4),): (at(0.0), at(0.1))}
    of_all, of_some = (ComparedQuantity("errors", "share", "lower", each) for each in (points, {**points, **some}))
    outcome = compare([of_all])
    assert {(row.verdict, row.reason) for row in outcome.comparisons} == {("within noise", "both are 0")}
    lines, notes = table_of(outcome.comparisons, 80)
    assert [line.row for line in lines] == [None, None]
    assert notes == ("errors: 0 in A and in B, at all 2 points",)
    lines, notes = table_of(compare([of_some]).comparisons, 80)
    assert [line.row.point for line in lines if line.row] == [(("threads", 4),)]
    assert notes[0] == "errors: 0 in A and in B, at 2 points"
    assert notes[1] == "can't tell: too few repeats: 1, and a test takes 2 (errors at threads=4)"


def test_a_reason_that_has_what_a_tool_said_stays_a_line_that_can_be_read() -> None:
    assert shorten_reason("the tool\nended with code 1") == "the tool ended with code 1"
    printed = shorten_reason("missing in B: the cell failed: " + "stderr of the tool " * 40)
    assert printed.startswith("missing in B: the cell failed: stderr")
    assert printed.endswith("...")
    assert len(printed) < 170


def test_cells_beside_other_work_are_noted_with_the_contenders_that_they_are_of() -> None:
    of = w.World({"disk": "Disk", "ram": "RAM"}, {"a": "Sessions"}, repeats=2)
    rows: list[Any] = [row for row in of.rows() if not isinstance(row, NoteRow)]
    for cell, cores in ((of.cell_id("disk", "a", 2), 0.7), (of.cell_id("disk", "a", 4), 1.9)):
        for host, amount in (("load-1", cores), ("load-2", 0.6)):
            text = say.busy_meanwhile(host=host, cell=cell, amount=figure(amount, ".1f"))
            rows.append(NoteRow(w.RUN, cell, "warning", text, "run"))
    busy, quiet, whole = (Contender(str(each), of.plan(), w.make_store(rows), each) for each in ("disk", "ram", None))
    assert list(warn_of_busy_hosts((quiet, quiet), "AB")) == []
    tail = ": a change may be that of the other work"
    assert list(warn_of_busy_hosts((quiet, busy), "AB")) == [
        f"other work kept hosts of load generators busy while they measured cells of B (2 of 6, up to 1.9 cores){tail}"
    ]
    (all_three,) = warn_of_busy_hosts((busy, quiet, whole), "ABC")
    assert "cells of A (2 of 6, up to 1.9 cores) and cells of C (2 of 12, up to 1.9 cores)" in all_three
