"""Answers SQL over the runs of a shared store. Tables and views are the same as for a single run, with an additional
column `run`.

A table is read only for the runs that the query asks for: DuckDB passes the conditions on `run` to `_Table`, which
reads only the manifests and files of these runs.

Simulated and imported runs are left out, unless all runs are asked for, or a condition on `run` names only such runs.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow.fs import LocalFileSystem

from benchbrief.compiler.metrics.lower_to_sql import sql_name
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.history.object_stores.file_objects import FileObjects
from benchbrief.history.object_stores.object_store import NoObject, SharedStoreError, StoreDamaged
from benchbrief.history.shared_store.run_manifest import RunManifest, table_key
from benchbrief.history.shared_store.shared_store import SharedStore
from benchbrief.results.build_store import arrow_schema
from benchbrief.results.store.measure_views import create_measures
from benchbrief.results.store.store_schema import TABLES
from benchbrief.results.store.user_query import QueryAnswer, ask, ask_in_batches
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.journal.atomic_files import sha256_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_SERIES = "series"
_METRIC = re.compile(r"metric\.\w+")
_MOST_AT_ONCE = 2 << 30
"""The largest size of a row group in bytes, before compression. pyarrow holds a whole row group in memory."""


def is_known(name: str) -> bool:
    """Return whether a name belongs to a table, a `measure` view or a run's series, or may belong to a metric."""
    return name == _SERIES or _METRIC.fullmatch(name) is not None or known_columns(name) is not None


def known_columns(name: str) -> pa.Schema | None:
    """Return the columns of a table or a `measure` view, or None for series and metrics, whose columns depend on the
    spec."""
    return arrow_schema(TABLES[name]) if name in TABLES else _views().get(name)


def usual_columns(found: Iterable[pa.Schema]) -> pa.Schema:
    """Return all columns of several tables with the same name. Each column gets its most frequent type, so an unusual
    table of one run changes nothing for the others."""
    kinds: dict[str, Counter[pa.DataType]] = {}
    for schema in found:
        for field in schema:
            kinds.setdefault(field.name, Counter())[field.type] += 1
    return pa.schema([pa.field(name, types.most_common(1)[0][0]) for name, types in kinds.items()])


@cache
def _views() -> Mapping[str, pa.Schema]:
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        for table, row in TABLES.items():
            connection.register("rows_of", arrow_schema(row).empty_table())
            connection.execute(f"CREATE TABLE {sql_name(table)} AS FROM rows_of")
        create_measures(connection)
        names = connection.execute("SELECT view_name FROM duckdb_views() WHERE schema_name = 'measure'").fetchall()
        return {
            f"measure.{view}": connection.sql(f"FROM {sql_name('measure', view)}").to_arrow_table().schema
            for (view,) in names
        }


def why_unlike(name: str, fragment: ds.ParquetFileFragment) -> str:
    """Return why a file can't be the table with this name, or "" if it can.

    It can't be that table if a column has a type of another kind, or if a row group is larger than any row group that
    benchbrief writes. Only the end of the file is read. Raises pa.ArrowException, OSError.
    """
    fragment.ensure_complete_metadata()
    known = known_columns(name)
    for each in [known] if known is not None else _views().values():
        if why := why_of_another_kind(fragment.physical_schema, each):
            return why
    largest = max((group.total_byte_size for group in fragment.row_groups), default=0)
    return f"{largest:,} bytes of it are to be read at once" if largest > _MOST_AT_ONCE else ""


def why_of_another_kind(found: pa.Schema, known: pa.Schema) -> str:
    """Compare the types of columns with those of the known columns with the same names. Return a sentence on the first
    column whose type is of a different kind, or "" if there is none."""
    types = {field.name: field.type for field in known}
    for field in found:
        kind = types.get(field.name)
        if kind is not None and _kind(field.type) != _kind(kind):
            return f"its column {field.name[:80]!r} is {str(field.type)[:80]}, and not {kind}"
    return ""


def _kind(of: pa.DataType) -> str:
    """Return the kind of a type. Values of one type can be cast to any other type of the same kind."""
    if pa.types.is_dictionary(of):
        return _kind(of.value_type)
    if pa.types.is_integer(of) or pa.types.is_floating(of):
        return "number"
    return "text" if pa.types.is_string(of) or pa.types.is_large_string(of) else of.__class__.__name__


@dataclass
class TableFile:
    """A file with a table of a run. The columns of the table have been checked."""

    run: str
    table: str
    fragment: ds.ParquetFileFragment
    is_whole: bool = False
    """Whether the file was read to its end."""

    def why_unreadable(self) -> str:
        if not self.is_whole:
            try:
                for _ in self.fragment.to_batches(schema=known_columns(self.table)):
                    continue
            except (pa.ArrowException, OSError) as error:
                return first_line(error)
            self.is_whole = True
        return ""


def unreadable(run: str, table: str, why: str) -> StoreDamaged:
    return StoreDamaged(f"run {run} is left out of {table}: its file can't be read: {why}", "push the run again")


def first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


_VIEW = re.compile(r'\b(metric|measure)\s*\.\s*(?:"((?:[^"]|"")+)"|(\w+))', re.IGNORECASE)
_LISTING = {"show", "information_schema", "duckdb_tables", "duckdb_views", "duckdb_columns"}
_BLOCK = 100
"""How many runs to load, or to compare with a query's condition, in one block. The blocks are in the order of the runs'
names."""
_ASKED_FOR_COLUMNS = 8
"""How many of the newest runs to search for columns that this version of benchbrief does not know."""
_WORD = re.compile(r"\w+")


class SharedResults:
    """Answers SQL over the runs of a store, as `Store` does for one run. Use `open_results` to make one. Only one
    thread may use it."""

    def __init__(self, store: SharedStore, folder: Path, runs: Iterable[str] | None, *, every: bool) -> None:
        import duckdb

        self._partitions = _Partitions(store, folder, runs, every=every)
        self._connection = duckdb.connect(":memory:")
        self._known: set[str] = set()
        self._connection.execute("CREATE SCHEMA measure; CREATE SCHEMA metric")
        for setting in (
            "python_enable_replacements = false",
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            self._connection.execute(f"SET {setting}")

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
        """Warnings about the completeness of the last answer."""
        return self._partitions.cautions()

    def sql(self, text: str) -> QueryAnswer:
        """Return the answer to a query. Files that turn out to be unreadable are left out. Raises ResultsError."""
        import duckdb

        self._prepare(text)
        with self._plainly():
            try:
                return ask(self._connection, text)
            except (ResultsError, duckdb.Error):  # the latter where the table of metrics is not offered either
                if self._partitions.leave_out_unreadable():
                    return self.sql(text)
                if self._partitions.error is not None:
                    raise
        self._offer_each(self._partitions.names())  # so that the error lists the existing tables
        with self._plainly():
            return ask(self._connection, text)

    @contextmanager
    def batches(self, text: str) -> Iterator[pa.RecordBatchReader]:
        """Yield the answer to a query as Arrow batches. Raises ResultsError. If a file can't be read to its end, the
        error comes after the caller has received a part of the answer."""
        self._prepare(text)
        with self._plainly():
            try:
                with self._asked(text) as batches:
                    yield batches
            except Exception as error:
                if not self._partitions.leave_out_unreadable():
                    raise
                raise self._partitions.problems()[-1] from error

    def _asked(self, text: str) -> AbstractContextManager[pa.RecordBatchReader]:
        return ask_in_batches(self._connection, text)

    def _prepare(self, text: str) -> None:
        """Register only the tables named in the statement, because checking every table takes longer than most answers
        do.

        Raises SharedStoreError.
        """
        named = [f"{schema.lower()}.{quoted.replace(chr(34) * 2, chr(34)) or plain}"
                 for schema, quoted, plain in _VIEW.findall(text)]  # fmt: skip
        words = {word.lower() for word in _WORD.findall(text)}
        if "manifests" in words and "manifests" not in self._known:
            self._known.add("manifests")
            self._connection.register("manifests", self._partitions.listing())
        if words & _LISTING:
            named += self._partitions.names()
        self._offer_each((*named, *words & {*TABLES, "series"}))

    def _offer_each(self, names: Iterable[str]) -> None:
        for name in dict.fromkeys(names):
            if is_known(name) and name not in self._known and (schema := self._partitions.schema_of(name)) is not None:
                self._offer(name, schema)

    def _offer(self, name: str, schema: pa.Schema) -> None:
        self._known.add(name)
        above, _, view = name.rpartition(".")
        source = f"of_{len(self._known)}"
        self._connection.register(source, _Table(self._partitions, name, schema))
        self._connection.execute(f"CREATE VIEW {sql_name(above or 'main', view)} AS FROM {sql_name('temp', source)}")

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        """If the store raised an error inside the block, raise that error instead of DuckDB's."""
        self._partitions.error = None
        try:
            yield
        except Exception:
            if self._partitions.error is not None:
                raise self._partitions.error from None
            raise


class _Partitions:
    """The files of the runs that a query needs."""

    def __init__(self, store: SharedStore, folder: Path, runs: Iterable[str] | None, *, every: bool) -> None:
        self._store, self._folder, self._every = store, folder, every
        self._chosen = None if runs is None else set(runs)
        self._manifests: dict[str, RunManifest | None] = {}
        self._used: dict[str, RunManifest] = {}
        self._left_out: set[str] = set()
        self._files: dict[tuple[str, str], TableFile | None] = {}
        """The requested tables, by run and name, or None for a table that can't be read."""
        self.error: Exception | None = None

    @cached_property
    def _runs(self) -> dict[str, int]:
        """The newest revision of each requested run."""
        revisions = self._store.revisions()
        return {run: its[-1] for run, its in revisions.items() if self._chosen is None or run in self._chosen}

    def read(self, name: str, schema: pa.Schema, condition: ds.Expression | None) -> ds.Dataset:
        """Return a table with the rows of all runs that may meet the condition. Only the part of the condition that
        concerns runs is used for this choice. Raises SharedStoreError."""
        fitting = self._fitting(schema, condition)
        manifests = [each for each in self._load(fitting) if name in each.tables]
        measured = [each for each in manifests if each.origin == "measured"]
        if measured and not self._every and self._chosen is None:
            self._left_out.update(each.id for each in manifests if each.origin != "measured")
            manifests = measured
        self._used.update((each.id, each) for each in manifests)
        files = [each for each in self._store.at_once(lambda each: self._file(each, name), manifests) if each]
        if known_columns(name) is None or name in _views():
            files = [each for each in files if not self._left_out_as(each, schema)]
        return ds.FileSystemDataset(
            [each.fragment for each in files], schema, ds.ParquetFileFormat(), LocalFileSystem()
        )

    def _fitting(self, schema: pa.Schema, condition: ds.Expression | None) -> list[str]:
        if condition is None:
            return list(self._runs)
        runs, run = list(self._runs), ds.field("run")
        # Whole blocks first, because checking each of thousands of runs would take most of a query's time.
        blocks = {str(at): runs[at : at + _BLOCK] for at in range(0, len(runs), _BLOCK)}
        bounds = {name: (run >= block[0]) & (run <= block[-1]) for name, block in blocks.items()}
        some = [each for name in _left(bounds, schema, condition) for each in blocks[name]]
        return _left({each: run == each for each in some}, schema, condition)

    def _load(self, runs: Iterable[str]) -> list[RunManifest]:
        missing = [run for run in runs if run not in self._manifests]
        if missing:
            self._manifests.update(dict.fromkeys(missing))
            self._manifests.update(
                (each.id, each) for each in self._store.newest((run, self._runs[run]) for run in missing)
            )
        return [found for run in runs if (found := self._manifests[run]) is not None]

    def _file(self, manifest: RunManifest, name: str) -> TableFile | None:
        """Return a table of a run. If the table can't be read, add the error to the store's problems, and return
        None."""
        of = manifest.id, name
        if of not in self._files:
            try:
                self._files[of] = self._read(manifest, name)
            except (StoreDamaged, NoObject) as error:
                self._files[of] = None
                self._store.problems.append(error)
        return self._files[of]

    def _read(self, manifest: RunManifest, name: str) -> TableFile:
        """Fetch a table of a run, and check that it is the one that was pushed. Raises StoreDamaged,
        SharedStoreError."""
        stored = manifest.tables[name]
        key = table_key(manifest.id, name, stored.sha256)
        if isinstance(self._store.objects, FileObjects):
            root = self._store.objects.root
            path = root / key
            try:
                if path.lstat().st_size != stored.size or sha256_of(path, root) != stored.sha256:
                    raise StoreDamaged(f"{path} is not what was pushed", "push the run again, elsewhere")
            except FileNotFoundError as error:
                raise StoreDamaged(f"{self._store.url} has lost {key}", "push the run again") from error
            except OSError as error:
                raise StoreDamaged(f"{path} can't be read: {error.strerror}", "push the run again") from error
        else:
            path = self._folder / stored.sha256
            if not path.exists():
                self._store.fetch_object(key, stored, path)
        fragment = ds.ParquetFileFormat().make_fragment(
            str(path), LocalFileSystem(), partition_expression=ds.field("run") == manifest.id
        )
        try:
            why = why_unlike(name, fragment)
        except (pa.ArrowException, OSError) as error:
            why = first_line(error)
        if why:
            raise unreadable(manifest.id, name, why)
        return TableFile(manifest.id, name, fragment)

    def _left_out_as(self, file: TableFile, schema: pa.Schema) -> bool:
        """Leave out a file if its columns differ from those of the other runs. Returns whether it was left out."""
        why = why_of_another_kind(file.fragment.physical_schema, schema)
        if why:
            self._files[file.run, file.table] = None
            self._store.problems.append(unreadable(file.run, file.table, why))
        return bool(why)

    def leave_out_unreadable(self) -> bool:
        """Read each requested file to its end, and leave out files that fail. Returns whether any file failed."""
        found = False
        for of, file in self._files.items():
            if file is not None and (why := file.why_unreadable()):
                self._files[of] = None
                self._store.problems.append(unreadable(file.run, file.table, why))
                found = True
        return found

    def problems(self) -> list[SharedStoreError]:
        return self._store.problems

    def schema_of(self, name: str) -> pa.Schema | None:
        """Return the columns of a table, or None if no run has the table.

        These are the columns that this version of benchbrief knows. The columns of a metric or a series come from the
        newest runs that have it. A view also has columns for the factors of the newest runs.
        """
        known = known_columns(name)
        if known is not None and name in _views():
            return with_factors_of(known, [each.fragment.physical_schema for each in self._newest_of_specs(name)])
        files = list(islice(self._newest_files(name), 1 if known is not None else _ASKED_FOR_COLUMNS))
        if not files:
            return None
        return _with_run(usual_columns(each.fragment.physical_schema for each in files) if known is None else known)

    def _newest_files(self, name: str) -> Iterator[TableFile]:
        newest = sorted(self._runs, reverse=True)
        for at in range(0, len(newest), _BLOCK):
            for each in self._load(newest[at : at + _BLOCK]):
                if name in each.tables and (file := self._file(each, name)):
                    yield file

    def _newest_of_specs(self, name: str) -> Iterator[TableFile]:
        """Yield a table of the newest run of each spec, searching only the newest runs that have the table."""
        newest, specs = sorted(self._runs, reverse=True), set[str]()
        for at in range(0, len(newest), _BLOCK):
            for each in self._load(newest[at : at + _BLOCK]):
                if each.spec not in specs and name in each.tables and (file := self._file(each, name)):
                    specs.add(each.spec)
                    yield file
            if specs:
                return

    def names(self) -> list[str]:
        """Return the tables and views of the newest run that can be read. Raises SharedStoreError if there is no such
        run."""
        for run in sorted(self._runs, reverse=True):
            for manifest in self._load([run]):
                return [name for name in manifest.tables if is_known(name)]
        raise SharedStoreError(f"no run in {self._store.url}", f"push one: bench push --to {self._store.url}")

    def listing(self) -> pa.Table:
        """Return a table with one row for each run."""
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
        found = [str(problem) for problem in self._store.problems]
        others = [each.id for each in self._used.values() if each.origin != "measured"]
        if self._left_out:
            found.append(f"{len(self._left_out):,} simulated or imported runs are left out; --all reads them too")
        if others and len(others) < len(self._used):
            found.append(f"{len(others):,} of the {len(self._used):,} runs that were read are simulated or imported")
        return found


class _Table(ds.Dataset):  # type: ignore[misc]  # pyarrow has no types
    """Supplies a table's rows to DuckDB, which calls `schema`, and then `scanner` with the columns and a condition."""

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


def _left(said: Mapping[str, ds.Expression], schema: pa.Schema, condition: ds.Expression) -> list[str]:
    """Return the names of the files whose rows may meet the condition, without opening a file. `said` maps a file's
    name to an expression that is true for all of its rows."""
    kind, files = ds.ParquetFileFormat(), LocalFileSystem()
    named = [kind.make_fragment(name, files, partition_expression=expression) for name, expression in said.items()]
    return [each.path for each in ds.FileSystemDataset(named, schema, kind, files).get_fragments(filter=condition)]


def with_factors_of(known: pa.Schema, found: Sequence[pa.Schema]) -> pa.Schema | None:
    """Return the columns of a view, with further columns for the factors of the runs. Returns None if there are no
    runs."""
    if not found:
        return None
    usual = (each for each in usual_columns(found) if each.name not in known.names)
    factors = [each for each in usual if each.name.isidentifier() and _kind(each.type) in ("text", "number")]
    at = known.get_field_index("workload") + 1
    return _with_run(pa.schema([*known][:at] + factors + [*known][at:]))


def _with_run(schema: pa.Schema) -> pa.Schema:
    """Return the columns with `run` in front. All others may be NULL, because some runs may lack them."""
    nullable = [field.with_nullable(True) for field in schema if field.name != "run"]
    return pa.schema([pa.field("run", pa.string()), *nullable])


@contextmanager
def open_results(
    store: SharedStore, runs: Iterable[str] | None = None, *, every: bool = False
) -> Iterator[SharedResults]:
    """Yield the results of the `runs` of a store, or by default of all its runs. With `every`, simulated and imported
    runs are included.

    Raises SharedStoreError.
    """
    with tempfile.TemporaryDirectory(prefix="benchbrief-query-") as folder:
        results = SharedResults(store, Path(folder), runs, every=every)
        try:
            yield results
        finally:
            results.close()
