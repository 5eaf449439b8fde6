"""Writing the store: Parquet tables and a DuckDB file over them, whole or not at all.

Everything is written to `store/.building`, under a lock that only builders take, and renamed into place at the end. All
tables of one build carry its id, so that a reader that came in between the renames sees that, and looks again.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import time
import types
import typing
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import benchbrief
from benchbrief.compiler.plan import Plan
from benchbrief.results.errors import ResultsError
from benchbrief.results.schema import SCHEMA_VERSION, TABLES, VIEWS, HistogramBucket, MetaRow, OperationRow
from benchbrief.runners.errors import DiskFull

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from benchbrief.results.evidence import Evidence

STORE = "store"
DATABASE = "results.duckdb"
BUILD = b"benchbrief.build"
_BUILDING = ".building"
_LOCK = ".lock"
_LOCK_TIMEOUT_S = 120.0
_GROUP = 100_000
"""Rows and histogram buckets of a row group."""
_BATCH = 10_000
"""Rows and histogram buckets held as Python's objects, which take ten times as much memory as Arrow's columns."""
_DATABASE_MEMORY = "128MB"
"""For copying the tables: DuckDB's own advice for a thread. 3.6 million samples are copied in it as fast as in more."""
_FREE_SPACE = "free some space, then `bench rebuild`"


def rebuild(run_dir: Path, plan: Plan | None = None) -> Path:
    """Build a run's store again from its journal and raw outputs; its folder. Raises RunnerError, DiskFull.

    `plan` is the run's own, when it has been read before.
    """
    store = run_dir / STORE
    try:
        with _builder(store) as building:
            from benchbrief.results.evidence import read_evidence  # late: a reader of a built store needs no runners

            _write_tables(read_evidence(run_dir, plan), building)
            _write_database(building)
            for table in TABLES:
                (building / f"{table}.parquet").replace(store / f"{table}.parquet")
            (building / DATABASE).replace(store / DATABASE)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"{store} can't be written: {os.strerror(error.errno)}", _FREE_SPACE) from error
        message = f"{error.filename or store} can't be written: {error.strerror}"
        raise ResultsError(message, "check its permissions") from error
    return store


def build_tables(run_dir: Path, folder: Path) -> None:
    """The Parquet tables alone, in an empty folder elsewhere: what a run's own store has is left as it is."""
    from benchbrief.results.evidence import read_evidence

    _write_tables(read_evidence(run_dir), folder)


@contextmanager
def _builder(store: Path) -> Iterator[Path]:
    """An empty directory to build in, held by one process at a time; it goes away with all that is left in it."""
    store.mkdir(parents=True, exist_ok=True)
    lock = os.open(store / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    building = store / _BUILDING
    try:
        _wait_for(lock, store)
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir()
        yield building
    finally:
        shutil.rmtree(building, ignore_errors=True)
        os.close(lock)


def _wait_for(lock: int, store: Path) -> None:
    deadline = time.monotonic() + _LOCK_TIMEOUT_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise ResultsError(
                    f"another process has been building {store} for {_LOCK_TIMEOUT_S:.0f} s",
                    "wait for it, then try again",
                ) from None
            time.sleep(0.02)  # between two looks at the lock


def _write_tables(evidence: Evidence, building: Path) -> None:
    from benchbrief.results.ingest import ingest

    build = uuid.uuid4().hex
    writers = {row: _TableWriter(building / f"{name}.parquet", row, build) for name, row in TABLES.items()}
    try:
        meta = MetaRow(SCHEMA_VERSION, build, benchbrief.__version__, evidence.journal_bytes)
        writers[MetaRow].add(meta)
        for row in ingest(evidence):
            writers[type(row)].add(row)
    finally:
        for writer in writers.values():
            writer.close()
        _give_back()


def _give_back() -> None:
    """Arrow keeps what it has freed, which DuckDB, the next to need memory, has no use of."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


class _TableWriter:
    """A Parquet file written in row groups, so that a long run's samples need not be held together."""

    def __init__(self, path: Path, row: type[tuple[object, ...]], build: str) -> None:
        import pyarrow.parquet as pq

        self._schema = arrow_schema(row).with_metadata({BUILD: build.encode()})
        self._writer: pq.ParquetWriter = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[tuple[object, ...]] = []
        self._rows_size = 0
        self._batches: list[pa.RecordBatch] = []
        self._batches_size = 0

    def add(self, row: tuple[object, ...]) -> None:
        self._rows.append(row)
        self._rows_size += 1
        if isinstance(row, OperationRow):
            self._rows_size += len(row.histogram or ())
        if self._rows_size >= _BATCH:
            self._pack()
            if self._batches_size >= _GROUP:
                self._write()

    def _pack(self) -> None:
        import pyarrow as pa

        columns = zip(*self._rows, strict=True)
        arrays = [pa.array(column, type=field.type) for column, field in zip(columns, self._schema, strict=True)]
        self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        self._batches_size += self._rows_size
        self._rows.clear()
        self._rows_size = 0

    def _write(self) -> None:
        import pyarrow as pa

        self._writer.write_table(pa.Table.from_batches(self._batches, schema=self._schema))
        self._batches.clear()
        self._batches_size = 0

    def close(self) -> None:
        if self._rows:
            self._pack()
        if self._batches:
            self._write()
        self._writer.close()


def arrow_schema(row: type[tuple[object, ...]]) -> pa.Schema:
    """The columns of a named tuple: its field's types, optional ones being nullable."""
    import pyarrow as pa

    fields = []
    for name, hint in typing.get_type_hints(row).items():
        options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        (kind,) = (option for option in options if option is not types.NoneType)
        fields.append(pa.field(name, _arrow_type(kind), nullable=types.NoneType in options))
    return pa.schema(fields)


def _arrow_type(kind: Any) -> pa.DataType:
    import pyarrow as pa

    if kind == tuple[HistogramBucket, ...]:
        return pa.list_(pa.struct(list(arrow_schema(HistogramBucket))))
    return {bool: pa.bool_(), str: pa.string(), int: pa.int64(), float: pa.float64(), datetime: pa.timestamp("us")}[
        kind
    ]


def _write_database(building: Path) -> None:
    """A DuckDB file that stands alone: the tables copied in, with the views over them."""
    import duckdb

    path = building / DATABASE
    # By default DuckDB takes four fifths of the machine's memory, and each thread holds row groups of its own. Copying
    # is mostly compression, so a second thread gains little; what does not fit is put on the disk.
    sparing = {"threads": 1, "temp_directory": str(building / "spilled")}
    try:
        try:
            _copy_tables(building, path, {**sparing, "memory_limit": _DATABASE_MEMORY})
        except (duckdb.OutOfMemoryException, duckdb.TransactionException):
            # A row group of large histograms, which is held as a whole, takes what it takes.
            path.unlink(missing_ok=True)
            _copy_tables(building, path, sparing)
    except (duckdb.IOException, duckdb.TransactionException) as error:
        # DuckDB's exceptions carry no errno.
        code = errno.ENOSPC if "No space left" in str(error) else errno.EIO
        raise OSError(code, str(error), str(path)) from error


def _copy_tables(building: Path, path: Path, settings: dict[str, Any]) -> None:
    import duckdb

    with duckdb.connect(str(path), config=settings) as connection:
        for table in TABLES:
            connection.execute(f"CREATE TABLE {table} AS FROM {parquet_scan(building / f'{table}.parquet')}")
        connection.execute(VIEWS)


def parquet_scan(path: Path) -> str:
    """SQL that reads one Parquet file."""
    return f"read_parquet({sql_text(path.absolute())})"


def sql_text(value: object) -> str:
    """A text in SQL."""
    return "'" + str(value).replace("'", "''") + "'"
