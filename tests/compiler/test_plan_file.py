"""Tests that reading a plan cell by cell gives the same plan as pydantic's reading of the whole file, and takes less
memory."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from benchbrief.compiler.planning import plan_file as module
from benchbrief.compiler.planning.plan_file import plan_sha256, read_plan, written_plan
from benchbrief.model.plan import Plan, SectionElement
from tests.support.plans import compile_text

SPEC = """\
hardware a { hosts = "a" }
hardware b { hosts = "b" }
database rocks { engine = rocksdb  path = "/data" }
workload rr "Reads" from db_bench.readrandom { records = 1k }
experiment e {
  hardware = [a, b]  workloads = rr  threads = [1, 2, 4]  measure = 1 min  repeats = 2
  probes = [cpu every 1 s, disk every 1 s]
}
experiment f { hardware = b  workloads = rr  threads = [1, 2]  measure = 1 min  probes = [cpu every 2 s] }
"""


LOADED = """\
hardware a { hosts = "a" }
client c { hosts = "c"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload w from ycsb.a { records = 1k }
experiment loading { hardware = a  workloads = load(w)  threads = 1  measure = 1 min }
experiment e { hardware = a  workloads = w  threads = 1  measure = 1 min }
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return compile_text(SPEC, tmp_path)


@pytest.mark.parametrize("at_once", [1, 1 << 12, 1 << 18])
@pytest.mark.parametrize("indent", [None, 1, 2])
def test_a_plan_is_what_was_written(
    plan: Plan, at_once: int, indent: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    content = plan.model_dump_json(indent=indent).encode()
    found, whole = read_plan(content), Plan.model_validate_json(content)
    assert found == whole == plan
    assert found.model_dump_json(indent=indent).encode() == content


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_a_plan_that_is_written_in_parts_is_the_plan(plan: Plan, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CELLS_AT_ONCE", at_once)
    for each in (plan, plan.model_copy(update={"cells": ()}), plan.model_copy(update={"cells": plan.cells[:1]})):
        content = each.model_dump_json(indent=1).encode()
        assert b"".join(written_plan(each)) == content
        assert plan_sha256(each) == hashlib.sha256(content).hexdigest()


def test_a_plan_without_cells_is_read(plan: Plan) -> None:
    empty = plan.model_copy(update={"cells": ()})
    assert read_plan(empty.model_dump_json(indent=1).encode()) == empty


@pytest.mark.parametrize("kind", [None, "", "tables", 1])
def test_an_element_of_a_report_is_read_by_its_kind_alone(kind: object) -> None:
    """Without its kind, a disclosure could not be recognized, because it has no field that another element lacks."""
    given = {"kind": "section", "title": "t", "elements": [{"kind": "disclosure"}, {"kind": "text", "prose": 7}]}
    with pytest.raises(ValidationError) as wrong:
        SectionElement.model_validate(given)
    assert [each["loc"] for each in wrong.value.errors()] == [("elements", 1, "text", "prose")]
    element = {} if kind is None else {"kind": kind}
    with pytest.raises(ValidationError):
        SectionElement.model_validate({"kind": "section", "title": "t", "elements": [element]})


def test_a_plan_of_before_gets_the_operations_of_its_workloads(tmp_path: Path) -> None:
    """Earlier versions wrote no operations into a plan. They are taken from the specs of the workloads' tools. A
    measured load inserts."""
    plan = compile_text(LOADED, tmp_path)
    stored = json.loads(plan.model_dump_json())
    assert {tuple(each.pop("operations")) for each in stored["workloads"].values()} == {
        ("read", "update"),
        ("insert",),
    }
    assert read_plan(json.dumps(stored).encode()) == plan
    assert read_plan(json.dumps(stored, indent=1).encode()) == plan


def test_equal_parts_of_cells_are_one_object_and_others_are_not(plan: Plan) -> None:
    cells = read_plan(plan.model_dump_json(indent=1).encode()).cells
    probes = {id(cell.probes) for cell in cells}
    assert len(probes) == 3  # on each hardware of the first experiment, and on the one of the second
    assert len({id(cell.tool) for cell in cells}) == 1


def test_a_damaged_plan_is_refused(plan: Plan) -> None:
    content = plan.model_dump_json(indent=1).encode()
    cut, cell = len(content) // 2, content.index(b'"hash"')
    for broken in (content[:cut], content[:cell] + b'"hush"' + content[cell + 6 :], content.replace(b"\n },\n", b"\n")):
        with pytest.raises(ValidationError):
            read_plan(broken)
