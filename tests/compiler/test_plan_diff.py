"""Tests the description of the differences between each pair of specs in `diffs/`, and rules for all differences."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.compiler.explain.explain_diff import as_dict, explain_diff
from benchbrief.compiler.planning.plan_diff import PlanDiff, diff
from benchbrief.dsl.source import display_width
from benchbrief.model.plan import Plan
from tests.compiler.test_expand import OTHER, SAME, SPEC, plan_of
from tests.support.longer import one_in
from tests.support.plans import compile_spec

FOLDER = Path(__file__).parent / "diffs"
CASES = sorted(path for path in FOLDER.iterdir() if path.is_dir())


def difference(case: Path) -> PlanDiff:
    before, after = (compile_spec(case / f"{name}.bench") for name in ("before", "after"))
    named = after.model_copy(update={"spec": after.spec.model_copy(update={"name": "brief.bench"})})
    return diff(before, named)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_a_difference_is_worded_as_in_its_golden(case: Path, golden: Callable[[Path, str], None]) -> None:
    text = explain_diff(difference(case), "run 20260301-brief")
    golden(case / "told.txt", text + "\n")
    assert all(display_width(line) <= 100 for line in text.splitlines())


@pytest.mark.parametrize("case", one_in(4, CASES), ids=lambda path: path.name)
def test_colours_change_nothing_but_the_colours(case: Path) -> None:
    found = difference(case)
    coloured = explain_diff(found, "a run", color=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == explain_diff(found, "a run")


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_every_cell_of_both_plans_is_in_the_difference_once(case: Path) -> None:
    found = difference(case)
    assert [each.cell.id for each in found.cells if each.kind != "gone"] == [cell.id for cell in found.after.cells]
    older = [each.was.id for each in found.cells if each.was]
    older += [each.cell.id for each in found.cells if each.kind == "gone"]
    assert sorted(older) == sorted(cell.id for cell in found.before.cells)
    assert all(each.parts for each in found.cells if each.kind == "changed")
    assert all(not each.parts for each in found.cells if each.kind != "changed")


def test_a_stored_plan_compares_as_the_plan_that_it_was(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    stored = Plan.model_validate_json(plan.model_dump_json())
    assert not diff(stored, plan).differs


@pytest.mark.parametrize("change", SAME.values(), ids=list(SAME))
def test_a_change_that_only_names_things_changes_no_cell(tmp_path: Path, change: tuple[str, str]) -> None:
    found = diff(plan_of(tmp_path), plan_of(tmp_path, SPEC, change))
    assert {each.kind for each in found.cells} == {"same"}


@pytest.mark.parametrize("change", OTHER.values(), ids=list(OTHER))
def test_a_change_that_matters_is_named(tmp_path: Path, change: tuple[str, str]) -> None:
    found = diff(plan_of(tmp_path), plan_of(tmp_path, SPEC, change))
    changed = [each for each in found.cells if each.kind == "changed"]
    assert changed
    assert all(each.parts for each in changed)
    text = explain_diff(found, "before")
    assert " -> " in " ".join(text.split())
    assert "None" not in text
    assert "{" not in text.replace("{env", "").replace("{secret", "")


def test_two_workloads_that_swap_their_names_are_the_same_cells(tmp_path: Path) -> None:
    swap = (("workload w ", "workload x "), ("workload v ", "workload w "), ("workload x ", "workload v "))
    found = diff(plan_of(tmp_path), plan_of(tmp_path, SPEC, *swap))
    assert {each.kind for each in found.cells} == {"same"}
    assert all(each.renamed for each in found.cells)


def test_the_difference_as_data_has_base_units_and_the_users(tmp_path: Path) -> None:
    found = diff(plan_of(tmp_path), plan_of(tmp_path, SPEC, ("1 min", "20 min")))
    document = json.loads(json.dumps(as_dict(found)))
    assert document["differs"] is True
    (part,) = document["cells"][0]["parts"]
    assert part == {
        "part": "measure",
        "before": 60.0,
        "after": 1200.0,
        "before_text": "1 min",
        "after_text": "20 min",
    }


def test_another_criterion_of_a_search_is_a_difference_though_every_cell_is_the_same() -> None:
    found = difference(FOLDER / "criterion")
    assert {each.kind for each in found.cells if each.cell.experiment == "find"} == {"same"}
    document = json.loads(json.dumps(as_dict(found)))
    find = next(each for each in document["searches"] if each["experiment"] == "find")
    assert [(part["part"], part["before_text"], part["after_text"]) for part in find["parts"]] == [
        ("search.latency", "p99", "p50"),
        ("search.gain", "3 %", "5 %"),
    ]
    assert diff(found.before, found.before).searches == ()
    only = diff(found.before, found.before.model_copy(update={"experiments": found.after.experiments}))
    assert only.differs
