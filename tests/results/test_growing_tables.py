"""Tests tables in memory that grow with a run. At each look, they must have the same numbers as newly built tables."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchbrief.model import events as j
from benchbrief.model.measurement import Operation
from benchbrief.results.open_store import rebuilt_store
from benchbrief.results.runs.interim_results import GrowingTables
from benchbrief.results.store.store import Store
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.journal.journal_file import read_run
from tests.results.making import T0, RunMaker, a_cell, a_plan, measurement

VIEWS = ("throughput", "latency", "errors", "spread", "sample", "mean")
CELLS = [a_cell(threads=threads, repeat=repeat) for repeat in (1, 2, 3) for threads in (1, 2)]


def numbers(store: Store) -> dict[str, list[tuple[object, ...]]]:
    return {view: sorted(store.sql(f"FROM measure.{view}").rows, key=repr) for view in VIEWS}


@pytest.mark.long
def test_each_look_has_the_numbers_of_tables_that_are_built_anew(tmp_path: Path) -> None:
    plan = a_plan(CELLS)
    run = RunMaker(tmp_path / "run", plan)
    tables = GrowingTables(run.run_dir, plan, samples=True)
    for count, cell in enumerate(CELLS):
        if count == 3:
            run.failed(cell, "no such device")
        elif count == 5:
            run.write(j.CellSkipped(at=T0, cell=cell.id, hash=cell.hash, reason="enough"))
        else:
            run.ok(cell, {"load-1": measurement([Operation("read", 100 + count)])})
        with tables.store(read_run(run.run_dir)) as grown, rebuilt_store(run.run_dir) as built:
            assert numbers(grown) == numbers(built)
            assert (grown.level, grown.simulated) == (built.level, built.simulated)
            begun = {each.threads for each in CELLS[: count + 1]}
            planned = [row[3:] for row in built.sql("FROM measure.cells").rows]
            done = [(each.threads, None, each.repeat) for each in CELLS[: count + 1] if count < 5 or each != CELLS[5]]
            so_far = [row for row in planned if row in done or row[0] not in begun]
            assert [row[3:] for row in grown.sql("FROM measure.cells").rows] == so_far, "without repeats to come"


class _Found(RunMaker):
    """A run whose cells begin with the load that a search has found."""

    def write(self, record: j.AnyRecord) -> None:
        found = isinstance(record, j.CellStarted)
        super().write(record.model_copy(update={"threads": 64}) if found else record)


def test_a_point_that_its_cells_have_left_has_no_rows(tmp_path: Path) -> None:
    cells = [a_cell(threads=None, repeat=repeat) for repeat in (1, 2)]
    plan = a_plan(cells)
    run = _Found(tmp_path / "run", plan)
    tables = GrowingTables(run.run_dir, plan, samples=False)
    for cell in cells:
        run.ok(cell, {"load-1": measurement([Operation("read", 100)])})
        with tables.store(read_run(run.run_dir)) as grown, rebuilt_store(run.run_dir) as built:
            assert numbers(grown) == numbers(built)


def test_only_points_that_have_changed_are_read_again(tmp_path: Path) -> None:
    plan = a_plan(CELLS)
    run = RunMaker(tmp_path / "run", plan)
    tables = GrowingTables(run.run_dir, plan, samples=False)
    run.ok(CELLS[0], {"load-1": measurement([Operation("read", 100)])})
    with tables.store(read_run(run.run_dir)) as first:
        known = first.sql("FROM measure.throughput").rows
    shutil.rmtree(run.run_dir / "raw")
    run.ok(CELLS[1], {"load-1": measurement([Operation("read", 100)])})
    with tables.store(read_run(run.run_dir)) as second:
        rows = second.sql("FROM measure.throughput").rows
    assert set(known) < set(rows)


def test_a_refusal_of_the_database_is_an_error_of_the_results(tmp_path: Path) -> None:
    plan = a_plan(CELLS)
    run = RunMaker(tmp_path / "run", plan)
    with (
        pytest.raises(ResultsError, match="nowhere"),
        GrowingTables(run.run_dir, plan, samples=False).store(read_run(run.run_dir)) as store,
    ):
        store.sql("FROM nowhere")
