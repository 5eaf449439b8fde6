"""Opens a run's store, building it first if it is missing, damaged, or of another version.

No file is held open or locked. Small tables are copied, and large ones are read from their Parquet files as needed.
"""

from __future__ import annotations

import os
import shlex
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.compiler.metrics.lower_to_sql import sql_text
from benchbrief.dsl.bench_error import FULL
from benchbrief.results.build_store import (
    BUILD,
    FILES,
    MANIFEST,
    PARQUET,
    STORE,
    StoreManifest,
    build_tables,
    is_building,
    parquet_scan,
    read_store_manifest,
    rebuild,
)
from benchbrief.results.result_messages import say
from benchbrief.results.store.measure_views import create_measures
from benchbrief.results.store.store import Store
from benchbrief.results.store.store_schema import SCHEMA_VERSION, TABLES
from benchbrief.results.store_errors import NoRoom, ResultsError
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.journal_file import JOURNAL, has_grown, sum_at
from benchbrief.runners.plain_files import own_folder

if TYPE_CHECKING:
    import duckdb

_KEPT_FREE = "8MB"
"""How much freed memory DuckDB keeps for itself. By default, it would keep 128 MB, which is a lot in addition to large
answers."""
_LARGE = 1 << 20
"""The size in bytes above which a table's file is read only as needed, since tables take about 20 times as much in
memory."""
_SETTLE_S = 5.0
"""How long a reader waits, in seconds, for a builder that is renaming its files."""


class _Unusable(Exception):
    """Raised when the store's files are missing, damaged, or of another version."""


class _Damaged(_Unusable):
    """Raised when a file is not the file that was built."""


def open_store(run_dir: Path) -> Store:
    """Return a run's store, built first if it is missing, damaged, or of another version. Raises RunnerError."""
    import duckdb

    store, seen = run_dir / STORE, _last_build(run_dir)
    try:
        return _opened(run_dir, store)
    except (_Unusable, duckdb.Error, OSError) as error:
        problem = str(error) if isinstance(error, _Damaged) else ""
    rebuild(run_dir, is_needed=lambda: _last_build(run_dir) == seen)
    try:
        found = _opened(run_dir, store)
    except (_Unusable, duckdb.Error, OSError) as error:
        why = str(error).splitlines()[0]
        raise ResultsError(f"{store} can't be read, although it was just built: {why}") from error
    found.mended = problem
    return found


def _opened(run_dir: Path, store: Path) -> Store:
    """Open the store. Raises _Unusable, OSError, duckdb.Error."""
    import duckdb

    deadline = time.monotonic() + _SETTLE_S
    while True:
        own_folder(store.parent, store.name)
        building, manifest = is_building(store), read_store_manifest(store)
        # one thread, as several add floats in another order each time, and a brief's bytes would differ
        connection = duckdb.connect(":memory:", config={"allocator_flush_threshold": _KEPT_FREE, "threads": 1})
        try:
            if manifest is None:
                damaged = (store / MANIFEST).exists()
                raise _Damaged(f"{MANIFEST} can't be read") if damaged else _Unusable("it has no manifest")
            _load(connection, store, manifest)
            return Store(connection, run_dir)
        except (_Unusable, duckdb.Error, OSError):
            connection.close()
            settled = not building and not is_building(store) and read_store_manifest(store) == manifest
            if settled or time.monotonic() > deadline:
                raise
        time.sleep(0.005)  # a builder renames its files, so try again


@contextmanager
def rebuilt_store(run_dir: Path) -> Iterator[Store]:
    """Yield a store built outside the run's folder, from the run's journal and raw outputs. Raises RunnerError."""
    with tempfile.TemporaryDirectory(prefix="benchbrief-") as folder:
        try:
            build_tables(run_dir, Path(folder))
        except OSError as error:
            if error.errno not in FULL:
                raise
            why = f"{folder} has no room for the tables of {run_dir.name}: {os.strerror(error.errno)}"
            raise NoRoom(why, "free some space there, or name another folder in TMPDIR") from error
        with _opened(run_dir, Path(folder)) as store:
            store.is_rebuilt = True
            yield store


def fresh_store(run_dir: Path) -> Store:
    """Return the store as `open_store` does. If the journal has grown, as during a run, rebuild the store first."""
    seen, store = _last_build(run_dir), open_store(run_dir)
    if not _is_outgrown(store):
        return store
    store.close()
    built = rebuild(run_dir, is_needed=lambda: _last_build(run_dir) == seen)
    grown = open_store(run_dir)
    if not built and _is_outgrown(grown):  # the other process began before the journal grew
        grown.close()
        rebuild(run_dir)
        grown = open_store(run_dir)
    grown.mended = grown.mended or store.mended
    return grown


def _last_build(run_dir: Path) -> str:
    """Return the build id of a run's tables, or "" if none can be read."""
    try:
        manifest = read_store_manifest(run_dir / STORE)
    except OSError:
        return ""
    return manifest.build if manifest else ""


@contextmanager
def unchanged_store(run_dir: Path, *, grown_too: bool = False, checked: bool = False) -> Iterator[Store]:
    """Yield a store without changing the run. Its tables are the run's own, if possible.

    Tables are built elsewhere if the run's own can't be used, if the journal has grown (unless `grown_too` is set), or,
    with `checked`, if the journal or a raw output was changed. Raises RunnerError.
    """
    import duckdb

    from benchbrief.results.runs.kept_files import check_raw_outputs

    try:
        found = _opened(run_dir, run_dir / STORE)
    except (_Unusable, duckdb.Error, OSError):
        found = None
    if found is not None:
        with found:
            is_current = grown_too or not _is_outgrown(found)
            if checked and is_current:
                is_current = not any(store_warnings(found)) and not check_raw_outputs(run_dir).problems
            if is_current:
                yield found
                return
    with rebuilt_store(run_dir) as built:
        yield built


def _is_outgrown(store: Store) -> bool:
    """Return whether the run's journal has grown since the tables were built."""
    ((journal_bytes,),) = store.sql("SELECT journal_bytes FROM meta").rows
    return has_grown(store.run_dir / JOURNAL, journal_bytes)


def store_warnings(store: Store) -> Iterator[str]:
    """Yield warnings about a run's tables: they were damaged, or the journal has changed since they were built.

    Raises RunnerError.
    """
    run_dir = store.run_dir
    if store.mended:
        yield f"the tables of {run_dir} were damaged ({store.mended}), and are built again from what was measured"
    ((journal_bytes, journal_sum),) = store.sql("SELECT journal_bytes, journal_sum FROM meta").rows
    try:
        unchanged = not journal_bytes or sum_at(run_dir / JOURNAL, journal_bytes) == journal_sum
        problem = "" if unchanged else f"{run_dir / JOURNAL} was changed after it was written"
    except RunnerError as error:
        problem = error.message
    if problem:
        verify = f"bench verify {shlex.quote(str(run_dir))}"
        yield f"{problem}; the numbers are of the journal as it was: `{verify}` shows what changed"


def store_problem(run_dir: Path) -> str:
    """Return the problem with a run's tables or the DuckDB file beside them, or "" if both are unchanged.

    A missing store, or a store of a different version, is not a problem, because it is built when needed. Raises
    OSError.
    """
    store = own_folder(run_dir, STORE)
    manifest = read_store_manifest(store)
    if manifest is not None:
        return manifest.problem(store, FILES) if manifest.lists(PARQUET) else ""
    if (store / MANIFEST).exists():
        return f"{MANIFEST} can't be read"
    return say.file_missing(path=MANIFEST) if any(store.glob("*.parquet")) else ""


def _load(connection: duckdb.DuckDBPyConnection, store: Path, manifest: StoreManifest) -> None:
    """Load the tables into an in-memory database, and lock the database. Raises _Unusable if a file is not the one that
    was built."""
    paths = {table: store / f"{table}.parquet" for table in TABLES}
    if not manifest.lists(PARQUET):
        raise _Unusable("it has the tables of another version")
    if problem := manifest.problem(store, PARQUET):
        raise _Damaged(problem)
    large = [path for path in paths.values() if path.stat().st_size > _LARGE]
    for table, path in paths.items():
        kind = "VIEW" if path in large else "TABLE"
        connection.execute(f"CREATE {kind} {table} AS FROM {parquet_scan(path)}")
    ((version,),) = connection.execute("SELECT schema_version FROM meta").fetchall()
    if version != SCHEMA_VERSION:
        raise _Unusable(f"it has version {version} of the tables, not {SCHEMA_VERSION}")
    if _build_of(connection, paths.values()) != manifest.build.encode():
        raise _Damaged("its files belong to different builds")
    create_measures(connection)
    connection.execute(f"SET allowed_paths = [{', '.join(sql_text(path.absolute()) for path in large)}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET lock_configuration = true")


def _build_of(connection: duckdb.DuckDBPyConnection, paths: Iterable[Path]) -> bytes | None:
    """Return the build id that all files have, or None if they have different ones."""
    files = ", ".join(sql_text(path.absolute()) for path in paths)
    builds = connection.execute(
        f"SELECT DISTINCT value FROM parquet_kv_metadata([{files}]) WHERE key = '{BUILD.decode()}'"  # noqa: S608 - our own file names, quoted
    ).fetchall()
    return builds[0][0] if len(builds) == 1 else None
