"""Tests that changes by other programs to a RocksDB database are noticed, between cells and during one. Uses real
db_bench."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.extensions.engines.rocksdb.rocksdb import RocksDB
from benchbrief.extensions.engines.rocksdb.tests.test_linked_snapshots import RECORDS, db_bench, hashes, overwritten
from benchbrief.model.engine_spec import Reset
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.hosts.host_connections import HostPool
from tests.support import cells


def loaded(path: Path, reset: Reset, benchmark: str = "readrandom") -> tuple[RocksDB, CellContext]:
    """Return an engine with a reading workload, on a data set that db_bench has just loaded."""
    database = cells.rocksdb(path).model_copy(update={"reset": reset})
    workload = cells.db_bench(benchmark, RECORDS).model_copy(update={"writes": benchmark != "readrandom"})
    context = cells.context(workload, database)
    engine = RocksDB(context.plan, context.database, context.hardware, HostPool(context.plan))
    engine.start()
    engine.reset(context.cell)
    db_bench(path, "fillseq", "flush")
    engine.loaded(context.cell, RECORDS)
    return engine, context


def changed_log(path: Path) -> None:
    """Write so little that it stays in RocksDB's log."""
    db_bench(path, "overwrite", use_existing_db=1, num=10)


def without_current(path: Path) -> None:
    (path / "CURRENT").unlink()


def with_cut_table(path: Path) -> None:
    cut(next(path.glob("*.sst")))


def cut(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(1000)


def test_cells_that_read_use_the_same_data_set_again(tmp_path: Path) -> None:
    engine, context = loaded(tmp_path, "after_writes")
    for _ in range(2):
        assert engine.holds(context.cell)
        assert engine.doubt(context.cell) == ""
        engine.begin(context.cell)
        db_bench(tmp_path, "readrandom", use_existing_db=1, reads=100)
        engine.finish(context.cell)
    db_bench(tmp_path, "readrandom", use_existing_db=1, reads=100)
    assert engine.holds(context.cell), "somebody who reads changes nothing"
    db_bench(tmp_path, "readrandom", use_existing_db=1, reads=100, cache_size=1 << 20, max_background_jobs=3)
    assert engine.holds(context.cell), "nor with other settings"


@pytest.mark.parametrize("reset", ["after_writes", "reuse"])
@pytest.mark.parametrize("harm", [overwritten, changed_log, without_current, with_cut_table])
def test_what_somebody_else_did_to_the_files_is_reported_and_the_data_are_loaded_again(
    harm: Callable[[Path], None], reset: Reset, tmp_path: Path
) -> None:
    engine, context = loaded(tmp_path, reset)
    engine.begin(context.cell)
    db_bench(tmp_path, "readrandom", use_existing_db=1, reads=100)
    engine.finish(context.cell)
    harm(tmp_path)
    assert not engine.holds(context.cell)
    assert "is not as the last cell left it" in engine.doubt(context.cell)
    engine.reset(context.cell)
    assert engine.doubt(context.cell) == "", "it is said once"


@pytest.mark.long
def test_cells_that_write_leave_other_files_and_nobody_wonders(tmp_path: Path) -> None:
    engine, context = loaded(tmp_path, "reuse", "overwrite")
    for _ in range(2):
        assert engine.holds(context.cell)
        engine.begin(context.cell)
        overwritten(tmp_path)
        assert engine.doubt(context.cell) == "", "a cell that was interrupted left any files"
        engine.finish(context.cell)
        assert engine.doubt(context.cell) == ""
    engine, context = loaded(tmp_path, "after_writes", "overwrite")
    engine.begin(context.cell)
    overwritten(tmp_path)
    engine.finish(context.cell)
    assert not engine.holds(context.cell)
    overwritten(tmp_path)
    assert engine.doubt(context.cell) == "", "it is loaded again anyway"


@pytest.mark.parametrize("reset", ["after_writes", "snapshot", "links"])
def test_a_table_that_is_cut_during_a_cell_fails_it(reset: Reset, tmp_path: Path) -> None:
    engine, context = loaded(tmp_path, reset)
    engine.begin(context.cell)
    with_cut_table(tmp_path)
    with pytest.raises(BadOutput, match=r"was changed during this measurement, .*\.sst in .* has another size or time"):
        engine.finish(context.cell)
    assert engine.holds(context.cell) == (reset == "snapshot"), "the others share the file, or would use it again"


def test_copies_are_brought_back_only_when_they_are_whole(tmp_path: Path) -> None:
    engine, context = loaded(tmp_path, "snapshot", "overwrite")
    before = hashes(tmp_path)
    engine.begin(context.cell)
    overwritten(tmp_path)
    engine.finish(context.cell)
    assert engine.holds(context.cell)
    engine.restore(context.cell)
    after = hashes(tmp_path)
    assert {name: after.get(name) for name in before if "BENCHBRIEF." not in name} == {
        name: digest for name, digest in before.items() if "BENCHBRIEF." not in name
    }
    cut(next((tmp_path / "BENCHBRIEF.snapshot").glob("*.sst")))
    assert not engine.holds(context.cell)
    assert "is not whole: its files are not those that were kept after the load" in engine.doubt(context.cell)
