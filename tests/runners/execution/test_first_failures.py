"""Tests which cells are still tried after the first cells on a hardware have failed in the same way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchbrief.model.plan import Cell, Levels
from benchbrief.runners.errors import BadOutput, ConnectionLost, OptionRefused, RunnerError
from benchbrief.runners.execution.retries import FirstFailures
from tests.support.plans import compile_text

SPEC = """
hardware a { hosts = "a.lab" }
hardware b { hosts = "b.lab" }
database rocks { engine = rocksdb  path = "/data/db"  tool = db_bench }
workload w from db_bench.readrandom { records = 1k }
experiment e { hardware = [a, b]  workloads = w  threads = 1  measure = 3 s  repeats = 5 }
"""


@pytest.fixture
def cells(tmp_path: Path) -> list[Cell]:
    """Return five cells of `a`, then five of `b`."""
    return list(compile_text(SPEC, tmp_path).cells)


def is_refused(known: FirstFailures, cell: Cell) -> bool:
    return known.why_not(cell) is not None


def after(cells: list[Cell], *errors: RunnerError, done: tuple[Cell, ...] = ()) -> FirstFailures:
    known = FirstFailures(cells, done)
    for cell, error in zip(cells, errors, strict=False):
        known.failed(cell, error, str(error))
    return known


def failure(cell: Cell, count: int = 1) -> BadOutput:
    return BadOutput(f"{cell.id} ended with nothing, {count} times")


def test_the_fourth_like_failure_is_not_tried_and_other_hardware_is(cells: list[Cell]) -> None:
    assert not is_refused(after(cells, *(failure(cell) for cell in cells[:2])), cells[2])
    known = after(cells, *(failure(cell) for cell in cells[:3]))
    assert is_refused(known, cells[3])
    assert not is_refused(known, cells[5])


def test_another_reason_or_a_good_cell_lets_all_be_tried(cells: list[Cell]) -> None:
    assert not is_refused(after(cells, failure(cells[0]), failure(cells[1]), BadOutput("another")), cells[3])
    assert not is_refused(after(cells[1:], *map(failure, cells[1:4]), done=(cells[0],)), cells[4])
    known = after(cells, *map(failure, cells[:3]))
    known.good(cells[3])
    assert not is_refused(known, cells[4])


def test_a_lost_host_is_no_reason_to_try_no_more(cells: list[Cell]) -> None:
    assert not is_refused(after(cells, *(ConnectionLost("gone") for _ in range(4))), cells[4])


def test_what_the_plan_makes_fail_stays_the_plans_fault(cells: list[Cell]) -> None:
    known = after(cells, *(OptionRefused("no such option") for _ in range(3)))
    error = known.why_not(cells[3])
    assert error is not None
    assert "the first 3 cells of its workload on its hardware failed alike: no such option" in error.message
    assert error.by_plan


def test_cells_at_other_levels_are_not_blamed_on_the_hardware(cells: list[Cell]) -> None:
    at = [replace(cell, levels=Levels("codec=lz4")) for cell in cells]
    error = after(at, *(OptionRefused("no such option") for _ in range(3))).why_not(at[3])
    assert error is not None
    assert "the first 3 cells of its workload at its levels failed alike: no such option" in error.message


def test_as_many_cells_are_reported_as_decide(cells: list[Cell]) -> None:
    """The error counts only the three failures that decide. Further cells may have failed by then: those in progress on
    other lanes, or earlier ones at higher loads."""
    error = after(cells, *(OptionRefused("no such option") for _ in range(4))).why_not(cells[4])
    assert error is not None
    assert "the first 3 cells of its workload on its hardware failed alike" in error.message


@pytest.fixture
def ramp(tmp_path: Path) -> list[Cell]:
    """Return three repeats of a cell at each of 512, 256, 128 and 64 threads."""
    text = SPEC.replace("threads = 1 ", "threads = [512, 256, 128, 64] ").replace("repeats = 5", "repeats = 3")
    return list(compile_text(text, tmp_path).cells)[:12]


def test_one_point_alone_says_nothing_of_the_others(ramp: list[Cell]) -> None:
    assert {cell.threads for cell in ramp[:3]} == {512}
    assert not is_refused(after(ramp, *map(failure, ramp[:3])), ramp[3])


def test_a_cell_with_less_load_than_all_that_failed_is_tried(ramp: list[Cell]) -> None:
    known = after(ramp, *map(failure, ramp[:7]))
    assert {cell.threads for cell in ramp[:7]} == {512, 256, 128}
    assert is_refused(known, ramp[7])
    assert not is_refused(known, ramp[9])
    known.failed(ramp[9], failure(ramp[9]), str(failure(ramp[9])))
    assert is_refused(known, ramp[10])
