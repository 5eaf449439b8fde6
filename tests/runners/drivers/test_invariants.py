"""Tests the invariants of tools' numbers: each recording of a good run satisfies all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchbrief.extensions.tools.db_bench import db_bench_invariants, db_bench_output
from benchbrief.extensions.tools.fio import fio_invariants
from benchbrief.extensions.tools.go_ycsb import go_ycsb_invariants, go_ycsb_output
from benchbrief.extensions.tools.ycsb import ycsb_invariants, ycsb_output
from benchbrief.model.measurement import Bucket, Histogram
from benchbrief.runners.drivers.output_invariants import (
    Invariant,
    PrintedLatencies,
    check_bucket_ends,
    check_bucket_mean,
    check_mean,
    check_order,
    check_percentile,
    check_run_length,
    check_threads,
    parse_printed,
)
from tests.support.recorded import RECORDED_OUTPUTS
from tests.support.tools import REPOSITORY

OUTPUTS = RECORDED_OUTPUTS
TABLES: dict[str, tuple[str, Sequence[Invariant[Any]]]] = {
    "YCSB": ("ycsb", ycsb_invariants.TABLE),
    "logs": ("ycsb", ycsb_invariants.LOG_TABLE),
    "go-ycsb": ("go_ycsb", go_ycsb_invariants.TABLE),
    "db_bench": ("db_bench", db_bench_invariants.TABLE),
    "fio": ("fio", fio_invariants.TABLE),
}
"""The folder of each tool, and the tool's invariants."""


@pytest.mark.parametrize(("tool", "table"), TABLES.values(), ids=TABLES)
def test_each_invariant_is_documented_once_in_its_own_words(tool: str, table: Sequence[Invariant[Any]]) -> None:
    page = (REPOSITORY / "extensions" / "tools" / tool / "README.md").read_text()
    text = re.sub(r"\n  (?=\S)", " ", page)
    says = [each.says for each in table]
    assert len(set(says)) == len(says)
    assert [each for each in says if f"- {each}.\n" not in text] == []


@pytest.mark.parametrize("path", sorted((OUTPUTS / "ycsb").glob("*/stdout")), ids=lambda path: path.parent.name)
def test_runs_of_ycsb_hold_to_all_of_them(path: Path) -> None:
    text = ycsb_output.read_text(path.read_text().splitlines())
    if not text.overall or path.parent.name == "old-histogram-jar":  # which ended without the rows of its operations
        return
    assert ycsb_invariants.find_problems(text) == []
    if logs := ycsb_output.read_hdr_logs(path.parent):
        assert ycsb_invariants.find_log_problems(logs, text) == []
        assert ycsb_invariants.find_log_problems(logs) == []


@pytest.mark.parametrize("path", sorted((OUTPUTS / "go_ycsb").glob("*/stdout")), ids=lambda path: path.parent.name)
def test_runs_of_go_ycsb_hold_to_all_of_them(path: Path) -> None:
    assert go_ycsb_invariants.find_problems(go_ycsb_output.read(path.read_text().splitlines())) == []


@pytest.mark.parametrize("path", sorted((OUTPUTS / "db_bench").glob("*/stdout")), ids=lambda path: path.parent.name)
def test_runs_of_db_bench_hold_to_all_of_them(path: Path) -> None:
    found = db_bench_output.read(path.read_text().splitlines(), ())
    for headline in found.headlines[:1]:
        assert db_bench_invariants.find_problems(found, headline) == []


@pytest.mark.parametrize(
    ("text", "value", "off"),
    [("5179", 5179, 0.5), ("4887.72", 4887.72, 0.005), ("1.5E9", 1.5e9, 5e7), ("9.22E18", 9.22e18, 5e15)],
)
def test_a_printed_number_is_known_to_half_of_its_last_digit(text: str, value: float, off: float) -> None:
    found = parse_printed(text)
    assert found is not None
    assert (found.value, found.off) == pytest.approx((value, off))


@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "1,5", "", "0x10", "1e999", "--1"])
def test_what_is_no_finite_number_is_none(text: str) -> None:
    assert parse_printed(text) is None


def test_the_mean_has_bounds_that_latencies_reach() -> None:
    """100 latencies, 99 of 1 ms and one of 100 ms, have a mean of 1.99 ms. A mean of half or twice that is
    impossible."""
    for mean, fits in ((0.00199, True), (0.0009, False), (0.004, False)):
        of = PrintedLatencies("[READ]", 100, mean, 0.001, 0.1, ((50.0, 0.001), (90.0, 0.001), (98.0, 0.001)))
        assert (list(check_mean(of)) == []) == fits, mean
    assert list(check_order(of)) == []


APART = Histogram((Bucket(0.0, 0.001, 100), Bucket(0.010, 0.011, 100)))


def test_ends_of_buckets_rise_even_where_the_buckets_are_wide() -> None:
    of = PrintedLatencies("[READ]", 100, None, None, None, ((50.0, 10e-6), (90.0, 9e-6)), below=5e-6, above=5e-6)
    assert list(check_order(of)) == ["[READ] has a p50 of 10 us above its p90 of 9 us"]


@pytest.mark.parametrize(
    ("percent", "value", "broken"), [(50, 0.0005, False), (99, 0.0105, False), (99, 0.0005, True), (10, 0.0105, True)]
)
def test_a_percentile_lies_in_the_bucket_of_its_rank(percent: float, value: float, broken: bool) -> None:
    assert bool(list(check_percentile("read", APART, [(percent, value)]))) is broken


@pytest.mark.parametrize(("mean", "broken"), [(0.005, False), (0.0055, False), (0.0049, True), (0.0061, True)])
def test_a_mean_lies_between_the_ends_of_its_buckets(mean: float, broken: bool) -> None:
    assert bool(list(check_bucket_mean("read", APART, mean))) is broken


@pytest.mark.parametrize(
    ("low", "high", "broken"),
    [(0.0005, 0.0105, []), (0.002, 0.0105, ["minimum"]), (0.0, 0.009, ["maximum"]), (0.0, 0.012, ["maximum"])],
)
def test_minimum_and_maximum_lie_in_the_first_and_the_last_bucket(low: float, high: float, broken: list[str]) -> None:
    found = list(check_bucket_ends("read", APART, low, high))
    assert [text.split()[3] for text in found] == broken


def test_no_operation_takes_longer_than_the_run() -> None:
    of = PrintedLatencies("[READ]", 10, None, None, 2.0, ())
    assert list(check_run_length(of, 2.0, 0.001)) == []
    assert list(check_run_length(of, 1.9, 0.001)) == ["[READ] has a maximum of 2000000 us, and the run took 1.9 s"]


def test_all_latencies_fit_into_the_time_of_the_threads() -> None:
    each = [
        PrintedLatencies("[READ]", 1000, 0.003, None, None, ()),
        PrintedLatencies("[UPDATE]", 1000, 0.001, None, None, ()),
    ]
    assert list(check_threads(each, 2.0, 2, 0.001)) == []
    assert list(check_threads(each, 1.9, 2, 0.001)) == [
        "its latencies add up to 4 s, and its 2 threads have 3.8 s in the run"
    ]
