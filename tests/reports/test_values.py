"""Tests how numbers are written for people."""

from __future__ import annotations

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.charts.build_figure import moments_in_gaps
from benchbrief.reports.data.view_model import TableView
from benchbrief.reports.text.number_format import (
    NBSP,
    bytes_text,
    decimals_for,
    duration,
    fixed,
    formatted,
    in_column,
    in_prose,
    number,
    quantity,
    scale_for,
)
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.reports import world as w


@pytest.mark.parametrize(
    ("value", "unit", "printed"),
    [
        (0.000812, "s", "812 µs"),
        (0.0123, "s", "12.30 ms"),
        (-0.000812, "s", "−812 µs"),
        (0.001, "s", "1 ms"),
        (1e9, "B", "1 GB"),
        (1.5, "s", "1.50 s"),
        (61.2e6, "B/s", "61.20 MB/s"),
        (12.5, "MB/s", "12.50 MB/s"),
        (17345.4, "ops/s", "17,345 ops/s"),
        (0.02, "share", "2%"),
        (-3.0, "W", "−3 W"),
        (0.0, "s", "0 s"),
        (8.7, "1", "8.70"),
        (1.0, "nodes", "1 node"),
        (1.03, "nodes", "1 node"),
        (3.03, "nodes", "4 nodes"),
        (1000.0, "ops", "1,000 ops"),
        (2.3e-6, "USD/op", "2.30 USD/Mop"),
        (2.3e-12, "USD/op", "0.00230 USD/Gop"),
        (0.5, "EUR/op", "0.500 EUR/op"),
        (0.1 / 3600, "USD/s", "0.100 USD/h"),
        (1e-6, "USD/s", "2.63 USD/month"),
        (2e-11, "USD/B", "0.0200 USD/GB"),
        (2e-5, "J/op", "20.00 J/Mop"),
        (0.0, "USD/op", "0 USD/op"),
    ],
)
def test_a_quantity_is_scaled_and_keeps_its_unit(value: float, unit: str, printed: str) -> None:
    assert quantity(value, unit).replace(NBSP, " ") == printed


@pytest.mark.parametrize("missing", [None, float("nan"), float("inf"), float("-inf"), "text"])
def test_a_value_that_is_no_finite_number_is_missing(missing: object) -> None:
    assert number(missing) is None


def test_a_value_in_per_cent_is_not_multiplied_twice() -> None:
    assert formatted(117.0, "+.0%", "%") == "+117%"
    assert formatted(0.2, ".0%", "1") == "20%"


def test_a_column_shares_its_decimals() -> None:
    assert decimals_for([7120.1, 818.3, None]) == 1
    assert decimals_for([1080.4, 28671.5]) == 0
    assert decimals_for([3.0, 26.0]) == 0
    assert decimals_for([0.5, 1500.5]) == 2
    assert decimals_for([0.0123, 0.5]) == 3
    assert decimals_for([0.00278, 0.5]) == 4
    assert decimals_for([2e-8, 0.5]) == 5
    assert decimals_for([2e-8]) == 10
    assert in_column(2e-8, 5) == "0.0000000200"
    assert decimals_for([None]) == 0


def test_a_rounded_zero_has_no_sign() -> None:
    assert fixed(-0.001, 1) == "0.0"
    assert fixed(-1.26, 1) == "−1.3"


@pytest.mark.parametrize(
    ("low", "high", "spec", "unit", "follows", "printed"),
    [
        (28.4, 36.6, ".0f", "", "X faster", "28X to 37"),  # the author's own X ends it
        (28.4, 36.6, ".0f", "", " times", "28 to 37"),
        (28.4, 28.3, ".0f", "", "X", "28"),
        (0.041, 0.052, "+.0%", "", ".", "+4% to +5%"),
        (36937.2, None, ",.0f", "ops/s", "; on", "36,937"),
        (0.00081, None, "", "s", ".", "810 µs"),
        (0.00081, 0.0121, "", "s", ".", "0.81 to 12.10 ms"),
        (17345.0, None, "", "ops/s", ".", "17,345 ops/s"),
        (-0.001, None, "+.0%", "", ".", "0%"),
        (-0.19, 0.59, ".0%", "", ".", "−19% to +59%"),
        (0.0000355, None, ".1f", "s", "\u00a0s.", "35.5 µs"),
        (0.0000355, None, ".1f", "s", "\u00a0seconds", "0.0"),  # the author's own word
        (5400.0, None, ".1f", "s", "\u00a0s", "1.5 h"),
        (0.0008, 0.0121, ".2f", "s", "\u00a0s.", "0.80 to 12.10 ms"),
        (206381056.0, None, ".0f", "B", "\u00a0B。", "206 MB"),
        (36937.2, None, ",.0f", "ops/s", "\u00a0ops/s", "36,937 ops/s"),
        (1.8, None, ".1f", "ms", " ms.", "1.8"),  # converted by the compiler; the author's own unit follows
        (1.8, 12.1, ".1f", "ms", " ms.", "1.8 to 12.1"),
        (1.8, None, "", "ms", ".", "1.80 ms"),
        (2.3e-6, 4.5e-6, ".1f", "USD/op", "\u00a0USD/op.", "2.3 to 4.5 USD/Mop"),
        (8.03, None, ".1f", "us/op", "\u00a0us/op", "8.0 µs/op"),
    ],
)
def test_a_number_in_a_sentence_is_printed_as_asked_or_else_scaled_with_its_unit(
    low: float, high: float | None, spec: str, unit: str, follows: str, printed: str
) -> None:
    assert in_prose(low, high, spec, unit, follows, " to ").replace(NBSP, " ") == printed


def test_a_number_in_the_unit_that_a_metric_declares_stays_in_it() -> None:
    assert in_prose(0.0355, None, ".2f", "s", "\u00a0s", " to ", declared=True) == "0.04\u00a0s"


@pytest.mark.parametrize(
    ("count", "exact", "printed"),
    [
        (1048576.0, True, "1 MiB"),
        (1000.0, True, "1 kB"),
        (100.0, True, "100 B"),
        (206381056.0, False, "197 MiB"),
        (94470144.0, False, "90.1 MiB"),
        (1023.9 * 2**20, False, "1,024 MiB"),
    ],
)
def test_a_size_is_in_a_unit_for_people(count: float, exact: bool, printed: str) -> None:
    assert bytes_text(count, exact=exact).replace(NBSP, " ") == printed


def test_the_digits_of_an_intermediate_are_enough_to_compute_with() -> None:
    assert quantity(1.97412, "cores", significant=4).replace(NBSP, " ") == "1.974 cores"
    assert quantity(17345.4, "ops/s", significant=4).replace(NBSP, " ") == "17,345 ops/s"


@pytest.mark.parametrize(("seconds", "printed"), [(900.0, "15 min"), (7200.0, "2 h"), (4.0, "4 s"), (90.5, "90.5 s")])
def test_a_duration_is_in_the_largest_exact_unit(seconds: float, printed: str) -> None:
    assert duration(seconds).replace(NBSP, " ") == printed


def test_the_scale_follows_the_largest_value_and_ignores_what_is_missing() -> None:
    assert scale_for([0.0004, None, 0.0021], "s").unit == "ms"
    assert scale_for([], "s").unit == "s"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ([], set()),
        ([3.0], set()),
        ([0.0, 1.0, 2.0, 4.0, 5.0], set()),  # a late reading is no gap
        ([0.0, 1.0, 2.0, 9.0, 10.0, 11.0], {3.0}),
        ([0.0, 5.0, 10.0, 15.0, 30.0, 35.0], {20.0}),
    ],
)
def test_a_line_through_time_breaks_where_readings_were_missed(seconds: list[float], expected: set[float]) -> None:
    assert moments_in_gaps(seconds) == expected


def test_zero_in_a_column_has_the_decimals_of_the_column() -> None:
    assert in_column(0.0, 2) == "0.00"
    assert in_column(0.0004, 2) == "0.000400"
    assert in_column(1.1e-16, 2) == "0.00"  # what a ratio of equal sums lacks of one


@pytest.mark.parametrize(
    ("count", "printed"), [(1500, "1.5 kB"), (1536, "1.5 KiB"), (1000, "1 kB"), (1001.5, "1,002 B")]
)
def test_an_exact_number_of_bytes_is_in_the_unit_that_needs_few_decimals(count: float, printed: str) -> None:
    assert bytes_text(count).replace(NBSP, " ") == printed


def test_numbers_of_one_kind_have_the_same_decimals_in_each_table_of_a_brief() -> None:
    rates = {"fast": {1: 8000.25, 4: 31_000.25}, "slow": {1: 300.25, 4: 900.25}, "slower": {1: 30.25, 4: 850.25}}
    world = w.World(
        {name: name for name in rates},
        {"a": "A"},
        (1, 4),
        ops=lambda hardware, _workload, threads: rates[hardware][threads],
    )
    tables = [
        p.TableElement(
            title=name,
            dim="threads",
            dim_label="Threads",
            keys=tuple(w.keys([1.0, 4.0])),
            lines=(p.Line(label="Rate", query=w.throughput("threads", hardware=name, workload="a")),),
        )
        for name in rates
    ]
    report = w.report("R", tables[0], tables[1], p.SectionElement(title="Part", elements=(tables[2],)))
    view = build(world.plan(report), world.store(), report, CATALOGUES["en"])
    shown = {
        table.title: [cell.html.striptags() for row in table.rows for cell in row.cells]
        for table in view.blocks
        if isinstance(table, TableView)
    }
    assert shown == {"fast": ["8,000", "31,000"], "slow": ["300.25", "900.25"]}
