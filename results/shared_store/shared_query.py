"""SQL over the runs of a shared store: the tables and views of a run, each with the column `run`.

A table is read from the partitions of those runs that the query asks for: DuckDB hands the conditions on `run` to
`_Table`, which reads the manifests and files of these runs only.

Runs that were not measured are left out, unless a condition on `run` names no others, or all are asked for.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow.fs import LocalFileSystem

from benchbrief.results.query.user_query import Table, ask, ask_in_batches
from benchbrief.results.shared_store.file_objects import FileObjects
from benchbrief.results.shared_store.object_store import StoreDamaged
from benchbrief.results.shared_store.run_manifest import Manifest, table_key
from benchbrief.results.shared_store.shared_store import SharedStore
from benchbrief.results.store.build_store import arrow_schema
from benchbrief.results.store.digests import sha256_of
from benchbrief.results.store.measure_views import VIEWS
from benchbrief.results.store.store_schema import TABLES

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


_METRIC = re.compile(r'\bmetric\s*\.\s*(?:"((?:[^"]|"")+)"|(\w+))', re.IGNORECASE)
_WORD = re.compile(r"\w+")
_OWN_VIEWS = "SELECT view_name FROM duckdb_views() WHERE NOT internal AND schema_name = 'measure' ORDER BY ALL"


class SharedResults:
    """Use `open_results`. Answers SQL as a `Store` does, and like it is not safe for several threads."""

    def __init__(self, store: SharedStore, folder: Path, runs: Iterable[str] | None, *, every: bool) -> None:
        import duckdb

        self._partitions = _Partitions(store, folder, runs, every=every)
        self._connection = duckdb.connect(":memory:")
        self._known: set[str] = set()
        self._connection.execute("CREATE SCHEMA measure; CREATE SCHEMA metric")
        self._connection.execute("SET python_enable_replacements = false")
        for name, schema in _schemas().items():
            self._offer(name, schema)
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def close(self) -> None:
        self._connection.close()

    @property
    def simulated(self) -> bool:
        """Whether all runs that were read are simulated."""
        return self._partitions.all_are("simulated")

    @property
    def imported(self) -> bool:
        """Whether all runs that were read are imported."""
        return self._partitions.all_are("imported")

    @property
    def cautions(self) -> list[str]:
        """What limits the last answer."""
        return self._partitions.cautions()

    def sql(self, text: str) -> Table:
        """Raises ResultsError."""
        self._prepare(text)
        with self._plainly():
            return ask(self._connection, text)

    @contextmanager
    def batches(self, text: str) -> Iterator[pa.RecordBatchReader]:
        """Yield the same answer as Arrow batches. Raises ResultsError."""
        self._prepare(text)
        with self._plainly(), self._asked(text) as batches:
            yield batches

    def _asked(self, text: str) -> AbstractContextManager[pa.RecordBatchReader]:
        return ask_in_batches(self._connection, text)

    def _prepare(self, text: str) -> None:
        """Offer what only some statements ask for: the list of runs, metrics, and tables that other rooms make."""
        named = [f"metric.{quoted.replace(chr(34) * 2, chr(34)) or plain}" for quoted, plain in _METRIC.findall(text)]
        words = set(_WORD.findall(text))
        if "manifests" in words and "manifests" not in self._known:
            self._known.add("manifests")
            self._connection.register("manifests", self._partitions.listing())
        for name in (*named, *words & {"series"}):
            if name not in self._known and (schema := self._partitions.schema_of(name)) is not None:
                self._offer(name, schema)

    def _offer(self, name: str, schema: pa.Schema) -> None:
        self._known.add(name)
        above, _, view = name.rpartition(".")
        quoted = view.replace('"', '""')
        source = f"of_{len(self._known)}"
        self._connection.register(source, _Table(self._partitions, name, schema))
        self._connection.execute(f'CREATE VIEW {above or "main"}."{quoted}" AS FROM temp.{source}')

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        """Within this, what was wrong with the store is raised as it is, and not as DuckDB's."""
        self._partitions.error = None
        try:
            yield
        except Exception:
            if self._partitions.error is not None:
                raise self._partitions.error from None
            raise


class _Partitions:
    """The files of the runs that are asked for."""

    def __init__(self, store: SharedStore, folder: Path, runs: Iterable[str] | None, *, every: bool) -> None:
        self._store, self._folder, self._every = store, folder, every
        self._chosen = None if runs is None else set(runs)
        self._manifests: dict[str, Manifest | None] = {}
        self._used: dict[str, Manifest] = {}
        self._left_out: set[str] = set()
        self.error: Exception | None = None

    @cached_property
    def _runs(self) -> dict[str, int]:
        """The runs of the store with their newest revision."""
        revisions = self._store.revisions()
        return {run: its[-1] for run, its in revisions.items() if self._chosen is None or run in self._chosen}

    def read(self, name: str, schema: pa.Schema, condition: ds.Expression | None) -> ds.Dataset:
        """Return a table of those runs that fit the condition as far as it is about them. Raises SharedStoreError."""
        fitting = self._fitting(schema, condition)
        manifests = [each for each in self._load(fitting) if name in each.tables]
        measured = [each for each in manifests if each.origin == "measured"]
        if measured and not self._every and self._chosen is None:
            self._left_out.update(each.id for each in manifests if each.origin != "measured")
            manifests = measured
        self._used.update((each.id, each) for each in manifests)
        kind, files = ds.ParquetFileFormat(), LocalFileSystem()
        paths = list(self._store.at_once(lambda each: self._file(each, name), manifests))
        fragments = [
            kind.make_fragment(path, files, partition_expression=ds.field("run") == each.id)
            for each, path in zip(manifests, paths, strict=True)
        ]
        return ds.FileSystemDataset(fragments, schema, kind, files)

    def _fitting(self, schema: pa.Schema, condition: ds.Expression | None) -> list[str]:
        if condition is None:
            return list(self._runs)
        kind, files = ds.ParquetFileFormat(), LocalFileSystem()
        # No file is opened: Arrow holds the condition against the partition's expression alone.
        fragments = [kind.make_fragment(run, files, partition_expression=ds.field("run") == run) for run in self._runs]
        found = ds.FileSystemDataset(fragments, schema, kind, files).get_fragments(filter=condition)
        return [fragment.path for fragment in found]

    def _load(self, runs: Iterable[str]) -> list[Manifest]:
        missing = [run for run in runs if run not in self._manifests]
        if missing:
            self._manifests.update(dict.fromkeys(missing))
            self._manifests.update(
                (each.id, each) for each in self._store.newest((run, self._runs[run]) for run in missing)
            )
        return [found for run in runs if (found := self._manifests[run]) is not None]

    def _file(self, manifest: Manifest, name: str) -> str:
        stored = manifest.tables[name]
        key = table_key(manifest.id, name, stored.sha256)
        if isinstance(self._store.objects, FileObjects):
            path = self._store.objects.root / key
            try:
                sha256 = sha256_of(path)
            except FileNotFoundError as error:
                raise StoreDamaged(f"{self._store.url} has lost {key}", "push the run again") from error
            if sha256 != stored.sha256:
                raise StoreDamaged(f"{path} is not what was pushed", "push the run again, elsewhere")
            return str(path)
        path = self._folder / stored.sha256
        if not path.exists():
            self._store.fetch_object(key, stored, path)
        return str(path)

    def schema_of(self, name: str) -> pa.Schema | None:
        """Return the columns of a table as the newest run has it; None when no run has it."""
        import pyarrow.parquet as pq

        some = 64
        newest = sorted(self._runs, reverse=True)
        for at in range(0, len(newest), some):
            for each in self._load(newest[at : at + some]):
                if name in each.tables:
                    return _with_run(pq.read_schema(self._file(each, name)))
        return None

    def listing(self) -> pa.Table:
        """Return the runs themselves, a row each."""
        texts, numbers, times = pa.string(), pa.int64(), pa.timestamp("us")
        kinds = {
            "run": texts, "measured_at": times, "pushed_at": times, "title": texts, "spec": texts, "profile": texts,
            "hardware": pa.list_(texts), "state": texts, "good": numbers, "failed": numbers, "total": numbers,
            "origin": texts, "tags": pa.list_(texts), "benchbrief": texts,
        }  # fmt: skip
        rows = [
            (
                each.id, each.measured.replace(tzinfo=None), each.pushed.replace(tzinfo=None), each.title, each.spec,
                each.profile, each.hardware, each.state, each.cells.good, each.cells.failed, each.cells.total,
                each.origin, each.tags, each.benchbrief,
            )
            for each in self._load(list(self._runs))
        ]  # fmt: skip
        columns = zip(*rows, strict=True) if rows else [()] * len(kinds)
        arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds.values(), strict=True)]
        return pa.Table.from_arrays(arrays, names=list(kinds))

    def all_are(self, origin: str) -> bool:
        return bool(self._used) and all(each.origin == origin for each in self._used.values())

    def cautions(self) -> list[str]:
        told = [str(problem) for problem in self._store.problems]
        others = [each.id for each in self._used.values() if each.origin != "measured"]
        if self._left_out:
            told.append(f"{len(self._left_out):,} simulated or imported runs are left out; --all reads them too")
        if others and len(others) < len(self._used):
            told.append(f"{len(others):,} of the {len(self._used):,} runs that were read are simulated or imported")
        return told


class _Table(ds.Dataset):  # type: ignore[misc]  # pyarrow has no types
    """What DuckDB asks for the rows of a table: it calls `schema`, then `scanner` with the columns and a condition."""

    def __init__(self, partitions: _Partitions, name: str, schema: pa.Schema) -> None:  # the base can't be made itself
        self._partitions, self._name, self._schema = partitions, name, schema

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    def scanner(self, **asked: Any) -> ds.Scanner:
        try:
            return self._partitions.read(self._name, self._schema, asked.get("filter")).scanner(**asked)
        except Exception as error:
            self._partitions.error = error
            raise


def _schemas() -> dict[str, pa.Schema]:
    """Return the columns of each table and `measure` view, as this benchbrief has them."""
    import duckdb

    found = {name: arrow_schema(row) for name, row in TABLES.items()}
    with duckdb.connect(":memory:") as connection:
        for name, schema in found.items():
            connection.register("empty", schema.empty_table())
            connection.execute(f"CREATE TABLE {name} AS FROM empty")
        connection.execute(VIEWS)
        for (view,) in connection.execute(_OWN_VIEWS).fetchall():
            found[f"measure.{view}"] = connection.sql(f"FROM measure.{view}").to_arrow_table().schema
    return {name: _with_run(schema) for name, schema in found.items()}


def _with_run(schema: pa.Schema) -> pa.Schema:
    """Return the columns with `run` before them; any may be missing in a run of another version."""
    nullable = [field.with_nullable(True) for field in schema if field.name != "run"]
    return pa.schema([pa.field("run", pa.string()), *nullable])


@contextmanager
def open_results(
    store: SharedStore, runs: Iterable[str] | None = None, *, every: bool = False
) -> Iterator[SharedResults]:
    """Yield the results of a store's runs (of these `runs`). With `every`, simulated and imported ones count as well.

    Raises SharedStoreError.
    """
    with tempfile.TemporaryDirectory(prefix="benchbrief-query-") as folder:
        results = SharedResults(store, Path(folder), runs, every=every)
        try:
            yield results
        finally:
            results.close()
