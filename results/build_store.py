"""Builds the store: Parquet tables and a DuckDB file over them, completely or not at all.

Everything is written to `store/.building` under a lock that only builders take, and renamed into place at the end. All
tables of one build carry the build's id. A reader that opens the store between two renames therefore notices the
mixture, and reads again.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import time
import types
import typing
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbrief.compiler.metrics.lower_to_sql import sql_text
from benchbrief.dsl.bench_error import FULL, how_to_mend
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.budgets import strictest_level
from benchbrief.model.plan import Plan
from benchbrief.model.version import benchbrief_version
from benchbrief.results.store.measure_views import create_measures, create_views, planned_metrics
from benchbrief.results.store.store_schema import (
    SCHEMA_VERSION,
    TABLES,
    HistogramBucket,
    MetaRow,
    OperationRow,
    SampleBlock,
    SampleRow,
    SentenceRow,
    Sentences,
)
from benchbrief.results.store_errors import NoRoom, ResultsError
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.atomic_files import sha256_of
from benchbrief.runners.journal.journal_file import JOURNAL, has_begun, is_locked
from benchbrief.runners.journal.run_folder import HELD_OUT, require_journal
from benchbrief.runners.plain_files import own_folder, read_plain

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from benchbrief.results.ingest.run_evidence import Evidence

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class StoreManifest:
    """The manifest of a store. `build` is the id in all tables of one build. `files` maps file names to
    their SHA-256."""

    build: str
    files: dict[str, str]

    def lists(self, names: Iterable[str]) -> bool:
        """Return whether the manifest has all the named files. A store of another version of benchbrief has other
        files."""
        return self.files.keys() >= set(names)

    def problem(self, store: Path, names: Iterable[str]) -> str:
        """Return the problem with the first of the named files that has changed, or "" if none has changed. Raises
        OSError."""
        for name in names:
            try:
                found = sha256_of(store / name)
            except FileNotFoundError:
                return f"{name} is missing"
            if found != self.files.get(name):
                return f"{name} is not as it was built"
        return ""


def write_store_manifest(folder: Path, build: str, names: Iterable[str]) -> None:
    """Write the manifest of the named files into the folder that contains them. Raises OSError."""
    files = {name: sha256_of(folder / name) for name in names}
    text = json.dumps({"build": build, "files": files}, indent=1) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def read_store_manifest(store: Path) -> StoreManifest | None:
    """Read the manifest. Returns None if it is missing or damaged. Raises OSError for other failures."""
    try:
        content = json.loads(read_plain(store / MANIFEST))
        return StoreManifest(
            str(content["build"]), {str(name): str(digest) for name, digest in content["files"].items()}
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


STORE = "store"
DATABASE = "results.duckdb"
BUILD = b"benchbrief.build"
PARQUET = tuple(f"{table}.parquet" for table in TABLES)
FILES = (*PARQUET, DATABASE)
_BUILDING = ".building"
_LOCK = ".lock"
_LOCK_TIMEOUT_S = 120.0
_GROUP = 100_000
"""The number of rows and histogram buckets in a row group."""
_BATCH = 10_000
"""The most rows and histogram buckets to hold as Python objects, which take ten times the memory of Arrow's columns."""
_DATABASE_MEMORY = "128MB"
"""DuckDB's memory limit while it copies the tables. This is the amount that DuckDB recommends for one thread. With more
memory, copying 3.6 million samples is no faster."""
_ROOM = 16 << 20
"""The bytes that a database needs in addition to its tables: a block for each column, and one for each view's text."""
_FREE_SPACE = "free some space, then `bench rebuild`"


def rebuild(
    run_dir: Path,
    plan: Plan | None = None,
    evidence: Evidence | None = None,
    is_needed: Callable[[], bool] = lambda: True,
) -> bool:
    """Rebuild a run's store from its journal and raw outputs. Returns whether the store was built. Raises RunnerError,
    NoRoom.

    `plan` and `evidence` are the run's own, if the caller has already read them. `is_needed` is called once no other
    process is building the store. So if two pushes of a run start at the same time, only one of them builds the store.
    """
    store = run_dir / STORE
    if evidence is None and not has_begun(run_dir / JOURNAL):
        require_journal(run_dir)
        raise ResultsError(f"{run_dir.name} has no results: it never began", f"begin it: bench resume {run_dir.name}")
    try:
        with _builder(store) as building:
            if not is_needed():
                return False
            from benchbrief.results.ingest.run_evidence import read_evidence

            build = _write_tables(evidence or read_evidence(run_dir, plan), building)
            _write_database(building)
            write_store_manifest(building, build, FILES)
            for name in (*FILES, MANIFEST):  # the manifest comes last: readers ignore the tables until it is there
                (building / name).replace(store / name)
            _build_held_out(run_dir, building)
    except OSError as error:
        if error.errno in FULL:
            raise NoRoom(f"{store} can't be written: {os.strerror(error.errno)}", _FREE_SPACE) from error
        message = f"{error.filename or store} can't be written: {error.strerror}"
        raise ResultsError(message, how_to_mend(error) or "check its permissions") from error
    return True


def build_tables(run_dir: Path, folder: Path) -> None:
    """Build only the Parquet tables, in an empty folder outside the run. The run's own store is not changed."""
    from benchbrief.results.ingest.run_evidence import read_evidence

    build = _write_tables(read_evidence(run_dir), folder)
    write_store_manifest(folder, build, PARQUET)


def _build_held_out(run_dir: Path, building: Path) -> None:
    """Build the tables of each run of held-out repeats, in that run's own folder.

    This is skipped for a run that has not begun, that has missing or changed raw outputs, or whose tables have no room
    on the disk. Readers then build its tables elsewhere.
    """
    from benchbrief.results.runs.kept_files import check_raw_outputs, held_out_runs

    for folder in held_out_runs(run_dir).values() if (run_dir / HELD_OUT).exists() else ():
        with suppress(RunnerError, OSError):
            kept = own_folder(folder, STORE)
            shutil.rmtree(kept, ignore_errors=True)
            if has_begun(folder / JOURNAL) and not check_raw_outputs(folder).problems:
                made = building / folder.name
                made.mkdir()
                build_tables(folder, made)
                made.rename(kept)


@contextmanager
def _builder(store: Path) -> Iterator[Path]:
    """Yield an empty directory for building, to one process at a time. Afterwards, remove the directory with its
    contents."""
    own_folder(store.parent, store.name).mkdir(parents=True, exist_ok=True)
    lock = os.open(store / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    building = store / _BUILDING
    try:
        _wait_for(lock, store)
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir()
        yield building
    finally:
        shutil.rmtree(building, ignore_errors=True)
        os.close(lock)


def is_building(store: Path) -> bool:
    """Return whether another process is building the store right now."""
    return is_locked(store / _LOCK)


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
            time.sleep(0.02)  # between two checks of the lock


def _write_tables(evidence: Evidence, building: Path) -> str:
    """Write the tables. Returns the id of the build."""
    from benchbrief.results.ingest.ingest_run import ingest

    build = uuid.uuid4().hex
    writers = {row: _TableWriter(building / f"{name}.parquet", row, build) for name, row in TABLES.items()}
    try:
        meta = MetaRow(
            SCHEMA_VERSION,
            build,
            benchbrief_version(),
            evidence.journal_bytes,
            evidence.journal_sum,
            strictest_level(evidence.plan),
        )
        writers[MetaRow].add(meta)
        sentences = Sentences()
        for row in ingest(evidence):
            if isinstance(row, SampleBlock):
                writers[SampleRow].add_columns(row.columns)
                continue
            writers[type(row)].add(row)
            sentences.add(row)
        for sentence in sentences.rows(evidence.run_id):
            writers[SentenceRow].add(sentence)
    finally:
        for writer in writers.values():
            writer.close()
        _give_back()
    return build


def _give_back() -> None:
    """Give memory that Arrow has freed back to the system, because DuckDB could not use it otherwise."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


class _TableWriter:
    """Writes a Parquet file in row groups, so that a long run's samples need not fit in memory."""

    def __init__(self, path: Path, row: type[tuple[object, ...]], build: str) -> None:
        import pyarrow.parquet as pq

        self._schema = arrow_schema(row).with_metadata({BUILD: build.encode()})
        self._writer: pq.ParquetWriter = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[tuple[object, ...]] = []
        self._columns: list[list[object]] = [[] for _ in self._schema]
        """The values of earlier rows, as one list for each column. These rows precede the rows in `_rows`."""
        self._rows_size = 0
        """The number of rows and histogram buckets in `_rows` and `_columns`."""
        self._batches: list[pa.RecordBatch] = []
        self._batches_size = 0

    def add(self, row: tuple[object, ...]) -> None:
        self._rows.append(row)
        self._rows_size += 1
        if isinstance(row, OperationRow):
            self._rows_size += len(row.histogram or ())
        self._keep_bounded()

    def add_columns(self, columns: Sequence[Sequence[object]]) -> None:
        """Add rows that are given as columns of equal length."""
        self._turn_rows()
        self._extend(columns)
        self._rows_size += len(columns[0])
        self._keep_bounded()

    def _keep_bounded(self) -> None:
        if self._rows_size >= _BATCH:
            self._pack()
            if self._batches_size >= _GROUP:
                self._write()

    def _turn_rows(self) -> None:
        if self._rows:
            self._extend(tuple(zip(*self._rows, strict=True)))
            self._rows.clear()

    def _extend(self, columns: Sequence[Sequence[object]]) -> None:
        for column, values in zip(self._columns, columns, strict=True):
            column.extend(values)

    def _pack(self) -> None:
        import pyarrow as pa

        self._turn_rows()
        arrays = [_array(column, field.type) for column, field in zip(self._columns, self._schema, strict=True)]
        self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        self._batches_size += self._rows_size
        for column in self._columns:
            column.clear()
        self._rows_size = 0

    def _write(self) -> None:
        import pyarrow as pa

        self._writer.write_table(pa.Table.from_batches(self._batches, schema=self._schema))
        self._batches.clear()
        self._batches_size = 0

    def close(self) -> None:
        if self._rows_size:
            self._pack()
        if self._batches:
            self._write()
        self._writer.close()


def _array(column: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return the values as an Arrow array. Histograms are flattened first, because they have by far the most values."""
    import pyarrow as pa

    if not pa.types.is_list(kind):
        return pa.array(column, type=kind)
    ends = [0]
    buckets: list[HistogramBucket] = []
    for histogram in column:
        buckets += histogram or ()
        ends.append(len(buckets))
    fields = list(kind.value_type)
    parts = zip(*buckets, strict=True) if buckets else ((),) * len(fields)
    values = [pa.array(part, type=field.type) for part, field in zip(parts, fields, strict=True)]
    flat = pa.StructArray.from_arrays(values, fields=fields)
    missing = pa.array([histogram is None for histogram in column], type=pa.bool_())
    return pa.ListArray.from_arrays(pa.array(ends, type=pa.int32()), flat, type=kind, mask=missing)


@cache
def arrow_schema(row: type[tuple[object, ...]]) -> pa.Schema:
    """Return a column for each field of a named tuple. The column has the field's type, and is nullable if the field is
    optional."""
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
    """Write a self-contained DuckDB file with copies of the tables, and the views over them."""
    import duckdb

    path = building / DATABASE
    # By default DuckDB takes four fifths of the machine's memory, and each thread holds its own row groups. Copying is
    # mostly compression, so a second thread gains little. What does not fit goes to the disk.
    sparing = {"threads": 1, "temp_directory": str(building / "spilled")}
    try:
        try:
            _copy_tables(building, path, {**sparing, "memory_limit": _DATABASE_MEMORY})
        except (duckdb.OutOfMemoryException, duckdb.TransactionException):
            # A row group of large histograms has to fit in memory, however much that takes.
            path.unlink(missing_ok=True)
            _copy_tables(building, path, sparing)
    except (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException) as error:
        raise OSError(_why_unwritable(building), str(error), str(path)) from error


def _why_unwritable(building: Path) -> int:
    """Try to allocate a file as large as the tables, and return the errno if that fails. Return EIO if there is enough
    room.

    DuckDB's exceptions do not carry an errno.
    """
    size = sum((building / f"{table}.parquet").stat().st_size for table in TABLES) + _ROOM
    try:
        with (building / f"{DATABASE}.room").open("wb") as file:
            if not hasattr(os, "posix_fallocate"):  # on macOS
                return errno.EIO if shutil.disk_usage(building).free >= size else errno.ENOSPC
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        return error.errno or errno.EIO
    return errno.EIO


def _copy_tables(building: Path, path: Path, settings: dict[str, Any]) -> None:
    import duckdb

    # A process has its databases in memory ready sooner than one in a file: tests open some before they need them.
    with duckdb.connect(":memory:", config=settings) as connection:
        connection.execute(f"ATTACH {sql_text(path)} AS results; USE results")
        connection.execute("BEGIN TRANSACTION")  # otherwise each table is synced to the disk separately
        for table in TABLES:
            connection.execute(f"CREATE TABLE {table} AS FROM {parquet_scan(building / f'{table}.parquet')}")
        create_measures(connection)
        connection.execute("COMMIT")
        connection.execute("SET enable_external_access = false")  # the metrics' SQL is that of the run's plan
        create_views(connection, planned_metrics(connection))
        connection.execute("CHECKPOINT")  # errors at the end of the connection are silent
        connection.execute("USE memory; DETACH results")


def parquet_scan(path: Path) -> str:
    """Return SQL that reads one Parquet file."""
    return f"read_parquet({sql_text(path.absolute())})"
