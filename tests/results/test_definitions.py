"""Tests whether a metric is the same in two plans."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.model.plan import Plan
from benchbrief.results.compare.contender import defined_otherwise

SPEC = """\
param base = @BASE@
param factor = 2 * base
hardware box { hosts = "box.lab" }
database rocks { engine = rocksdb  path = "/data" }
workload r from db_bench.readrandom { records = 1k }
experiment ramp { hardware = box  workloads = r  threads = 1  measure = 10 s }
metric scaled in ops/s = throughput * factor, higher is better
metric twice in ops/s = 2 * scaled, higher is better
metric plain in ops/s = throughput, higher is better
"""


def plan(folder: Path, base: str, given: dict[str, str] | None = None) -> Plan:
    (folder / "brief.bench").write_text(SPEC.replace("@BASE@", base))
    checked = check(folder / "brief.bench", params=given)
    assert checked.plan, checked.diagnostics
    return checked.plan


@pytest.mark.parametrize(("base", "given"), [("3", {}), ("1", {"base": "3"})], ids=["declared", "given"])
def test_a_metric_of_another_value_of_a_parameter_is_another_one(
    tmp_path: Path, base: str, given: dict[str, str]
) -> None:
    """Parameters computed from the changed one, and changes by a profile, have the same effect."""
    found = list(defined_otherwise(plan(tmp_path, "1"), plan(tmp_path, base, given)))
    assert [(each.name, each.of) for each in found] == [("scaled", "scaled"), ("twice", "scaled")]
    assert found[0].first == "throughput * factor in ops/s, higher is better, base = 1, factor = 2 * base"
    assert "base = 3" in found[0].second


def test_metrics_of_the_same_values_are_the_same(tmp_path: Path) -> None:
    assert list(defined_otherwise(plan(tmp_path, "3"), plan(tmp_path, "1", {"base": "3"}))) == []
