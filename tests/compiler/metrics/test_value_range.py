"""Tests the range that the values of an expression may have."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.compiler.measure_catalogue import MeasureKind
from benchbrief.compiler.metrics.planned_points import Runs
from benchbrief.compiler.metrics.terms import Measure
from benchbrief.compiler.metrics.thin_evidence import value_range
from benchbrief.model.units import parse_unit
from tests.compiler.metrics.lowering import metric

SPEC = """
hardware old "Old" {{ hosts = "old.lab"  cores = 4 }}
hardware new "New" {{ hosts = "new.lab"  cores = 8 }}
client load {{ hosts = "load.lab"  tool = ycsb }}
database mongo {{ engine = mongodb  uri = "mongodb://{{hosts}}/ycsb" }}
workload a from ycsb.a {{ records = 100k }}
experiment ramp {{ hardware = [old, new]  workloads = a  threads = [4, 8]  measure = 10 s  repeats = 3 }}
expect {condition}
"""


@pytest.mark.parametrize(
    ("side", "low", "high"),
    [
        ("throughput[new] / throughput[old] - 1", -1, None),
        ("1 - throughput[new] / throughput[old]", None, 1),
        ("-throughput[new] / throughput[old]", None, 0),
        ("2 * throughput[new] / throughput[old] + 3", 3, None),
        ("throughput[new] / throughput[old] - latency.p99[read, new] / latency.p99[read, old]", None, None),
        ("mean(throughput over threads)[new] / throughput[old] - 1", -1, None),
        ("1 / (throughput[new] / throughput[old] + 1)", 0, 1),
        ("sum(throughput over threads)[new] / throughput[old]", 0, None),
        ("sum(throughput - 1 ops/s over threads)[new] / throughput[old]", None, None),
        ("throughput[old] / (throughput[new] - throughput[old])", None, None),
        ("cores / 8 * throughput[new] / throughput[new] - cores / 4", -2, None),
    ],
)
def test_the_range_of_an_expression_is_that_of_its_measures(
    tmp_path: Path, side: str, low: float | None, high: float | None
) -> None:
    spec = tmp_path / "brief.bench"
    spec.write_text(SPEC.format(condition=f"{side} > -0.5"))
    plan = check(spec).plan
    assert plan is not None
    (expect,) = plan.expects
    assert expect.ranges[0] == (low, high)
    assert expect.ranges[1] == (-0.5, -0.5)
    assert all(end is None or math.isfinite(end) for each in expect.ranges for end in each)


@pytest.mark.parametrize(
    ("expression", "signed"),
    [
        ("throughput[new] / throughput[old]", False),
        ("throughput[new] * 0.00001", False),
        ("throughput[new] / 100000000000000000000000", False),
        ("max(throughput over threads)[new]", False),
        ("count(throughput over threads, when errors < 1 %)[new]", False),
        ("cv(throughput over repeat)[new]", False),
        ("ci(throughput over repeat)[new]", False),
        ("p_value(throughput[new], throughput[old])", False),
        ("threads * throughput[new]", False),
        ("throughput[new] / throughput[old] - 1", True),
        ("-throughput[new]", True),
        ("throughput[new] * -0.00001", True),
        ("usl(throughput[new] over threads).sigma", True),
    ],
)
def test_whether_a_value_may_be_below_zero_follows_from_its_types(
    tmp_path: Path, expression: str, signed: bool
) -> None:
    spec = tmp_path / "brief.bench"
    made = SPEC.format(condition="throughput > 1 ops/s") + f"metric m = {expression}\n"
    spec.write_text(made.replace("[4, 8]", "[2, 4, 8]"))
    plan = check(spec).plan
    assert plan is not None, check(spec).diagnostics
    (metric,) = plan.metrics
    assert metric.query.signed is signed


@pytest.mark.parametrize(
    ("expression", "exact"),
    [
        ("database.size[new]", True),
        ("cores[new] * database.size / database.size_loaded", True),
        ("cores[new]", True),
        ("count(throughput over threads)[new]", True),
        ("throughput[new]", False),
        ("database.size[new] / throughput[new]", False),
    ],
)
def test_sizes_counts_and_declared_values_are_exact_and_what_is_timed_is_not(
    tmp_path: Path, expression: str, exact: bool
) -> None:
    spec = tmp_path / "brief.bench"
    spec.write_text(SPEC.format(condition="throughput > 1 ops/s") + f"metric m = {expression}\n")
    plan = check(spec).plan
    assert plan is not None, check(spec).diagnostics
    assert plan.metrics[0].query.exact is exact


@pytest.mark.parametrize(("unit", "low"), [("degC", -math.inf), ("W", 0.0)])
def test_only_a_temperature_may_be_below_zero(unit: str, low: float) -> None:
    kind = MeasureKind("gauge", "sample", parse_unit(unit).dimension, frozenset())
    assert value_range(Measure(kind, Runs())) == (low, math.inf)


def test_a_query_names_what_its_expression_is_made_of_and_one_from_before_has_the_words_of_its_text() -> None:
    query = metric("best / price * (throughput[eco] / throughput) * latency.p99[read]")
    assert query.made_of == ("best", "price", "throughput", "latency")
    assert query.names == query.made_of
    of_before = query.model_copy(update={"made_of": None, "text": "max(speed over threads) / 2.5"})
    assert of_before.names == ("max", "speed", "over", "threads")
