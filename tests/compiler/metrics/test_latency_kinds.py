"""Tests that an index selects how latency is counted: from when an operation was due, or from when it was sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.model.plan import Plan
from tests.support.plans import compile_text

SPEC = """
hardware box { hosts = "box.lab" }
client load { hosts = "load.lab"  tool = openload }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a from ycsb.a
experiment open { hardware = box  workloads = a  threads = 8  target = 1k ops/s  measure = 5 min }
"""


def planned(metrics: str, folder: Path) -> Plan:
    return compile_text(SPEC + metrics, folder)


@pytest.mark.parametrize(
    ("index", "condition", "counted"),
    [
        ("read", "m.reported", ""),
        ("read, service", "m.kind = 'service'", "service"),
        ("intended, read", "m.kind = 'intended'", "intended"),
    ],
)
def test_the_kind_of_latency_is_read_from_the_store(index: str, condition: str, counted: str, tmp_path: Path) -> None:
    plan = planned(f"metric tail = latency.p99[{index}]\n", tmp_path)
    query = plan.metrics[0].query
    assert condition in query.sql
    assert [read.counted for read in query.reads or ()] == [counted]


def test_each_side_of_a_quotient_is_counted_in_its_own_way(tmp_path: Path) -> None:
    plan = planned("metric hidden = latency.p99[read] / latency.p99[read, service]\n", tmp_path)
    assert {read.counted for read in plan.metrics[0].query.reads or ()} == {"", "service"}
    plan = planned("metric both = (latency.p99[read] - latency.p50[read])[service]\n", tmp_path)
    assert {read.counted for read in plan.metrics[0].query.reads or ()} == {"service"}


def test_a_name_of_the_spec_goes_before(tmp_path: Path) -> None:
    spec = SPEC.replace("workloads = a ", "workloads = [a, service] ") + "workload service from ycsb.c\n"
    plan = compile_text(spec + "metric tail = latency.p99[read, service]\n", tmp_path)
    (read,) = plan.metrics[0].query.reads or ()
    assert read.counted == ""
    assert read.keys["workload"] == ("service",)


@pytest.mark.parametrize(
    ("expression", "code"),
    [("latency.p99[read, service, intended]", "E0722"), ("throughput[service]", "E0710")],
)
def test_a_kind_where_it_has_no_meaning_is_refused(expression: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as error:
        planned(f"metric tail = {expression}\n", tmp_path)
    assert {each.code for each in error.value.diagnostics} == {code}
