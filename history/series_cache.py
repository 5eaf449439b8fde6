"""The series of all runs of a source, cached on this machine so that only new runs need to be read.

An index lists the runs in each file, with the state in which each run was read. The files are Parquet, sorted by
quantity, so that one quantity of thousands of runs can be read without the other quantities. A file's name is the hash
of its bytes. If a file is damaged, its runs are read again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, get_args

from benchbrief.compiler.metrics.lower_to_sql import sql_name, sql_text
from benchbrief.history.series_rows import (
    READABLE,
    SERIES,
    SERIES_VERSION,
    VERSION_KEY,
    SeriesRow,
    reason_of,
    schema,
    write_series,
)
from benchbrief.results.runs.find_runs import require_folder, run_state, unreadable_runs
from benchbrief.results.store.searched_doubts import Bound
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.atomic_files import write_durably
from benchbrief.runners.journal.journal_file import JOURNAL
from benchbrief.runners.journal.run_folder import PLAN

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from benchbrief.history.shared_store.shared_store import SharedStore


def user_cache(kind: str, place: str) -> Path:
    """Return the path of the cache for a place, such as the address of a store. The path may not exist."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "benchbrief" / kind
    return base / hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:32]


MOST_OF_A_SERIES = 256 << 20
"""The largest allowed size of a series file, in bytes."""
_MOST_ROWS = 2_000_000
_MOST_BYTES = 1 << 30
"""The largest allowed size of a series file's columns in memory, in bytes."""
_MOST_LETTERS = 1 << 16
_LARGEST = 1e60
"""The largest allowed value, in any unit. It keeps a sum of many squares finite."""
_OPTIONAL = {"better", "repeat", "value"}
_YEAR_9999_US = 253_402_300_800_000_000
_ALLOWED = {
    "better": (None, "higher", "lower"),
    "bound": get_args(Bound),
    "origin": ("measured", "simulated", "imported"),
}


def series_in(path: Path, run_id: str) -> tuple[pa.Table | None, str]:
    """Return the contents of a series file. If the file does not belong to this run and version, return the reason
    instead."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
            if file.metadata.num_rows > _MOST_ROWS or sum(group.total_byte_size for group in groups) > _MOST_BYTES:
                return None, "its series file has more than any run has"
            table = file.read()
    except (pa.ArrowException, OSError):
        return None, "its series file can't be read"
    version = (table.schema.metadata or {}).get(VERSION_KEY)
    if version in [str(each).encode() for each in READABLE]:
        table = _with_defaults(table)
    elif version != str(SERIES_VERSION).encode():
        return None, "its series file has another version: push the run again"
    if not table.schema.equals(schema()):
        return None, "its series file has other columns"
    try:
        table.validate(full=True)
        problem = _problem(table, run_id)
    except (pa.ArrowException, ValueError, RecursionError):
        problem = "has texts that can't be read"
    return (None, f"its series file {problem}") if problem else (table, "")


def _with_defaults(table: pa.Table) -> pa.Table:
    """Return the table of a run that an earlier version pushed, with the missing columns added."""
    import pyarrow as pa

    defaults = SeriesRow._field_defaults
    for name in defaults.keys() - set(table.column_names):
        column = pa.array([defaults[name]] * table.num_rows, schema().field(name).type)
        table = table.append_column(name, column)
    return table.select(SeriesRow._fields) if set(SeriesRow._fields) <= set(table.column_names) else table


def _problem(table: pa.Table, run_id: str) -> str:
    """Return the problem with the values, or "" if there is no problem. Raises ValueError, RecursionError."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in SeriesRow._fields:
        column = table.column(name)
        if column.null_count and name not in _OPTIONAL:
            return f"lacks values of {name}"
        if pa.types.is_dictionary(column.type):
            found = column.unique().to_pylist()
            if any(text is not None and len(text) > _MOST_LETTERS for text in found):
                return f"has a text of {name} that is too long"
            if name == "run_id" and set(found) - {run_id}:
                return "is of another run"
            if name in _ALLOWED and set(found) - set(_ALLOWED[name]):
                return f"has another {name} than there is"
            if name == "message":
                for text in found:
                    reason_of("", text)
            if name in ("point", "facts") and not all(_is_plain(json.loads(text), name == "facts") for text in found):
                return f"has {name} of another form"
    sizes = pc.abs(table.column("value").drop_null())
    if not pc.all(
        pc.or_(pc.equal(sizes, 0.0), pc.and_(pc.greater(sizes, 1 / _LARGEST), pc.less(sizes, _LARGEST))),
        min_count=0,
    ).as_py():
        return "has values that nothing measures: NaN, infinite, or of another size than any unit has"
    times = pc.min_max(table.column("measured_at").cast(pa.int64())).as_py()
    if times["min"] is not None and not 0 <= times["min"] <= times["max"] < _YEAR_9999_US:
        return "has times that no clock shows"
    return ""


def _is_plain(found: Any, texts_only: bool) -> bool:
    """Return whether the value is an object that contains only texts and finite numbers or, with `texts_only`, only
    texts."""
    return isinstance(found, Mapping) and all(
        isinstance(value, str) or (not texts_only and type(value) in (int, float) and math.isfinite(value))
        for value in found.values()
    )


class Fetched(NamedTuple):
    """A run's series file, or the reason why there is none. `is_final` means that another attempt would have the same
    outcome."""

    run_id: str
    path: Path | None
    tags: tuple[str, ...] = ()
    problem: str = ""
    is_final: bool = True


class RunSource(Protocol):
    @property
    def name(self) -> str:
        """Return a name that is different for each source."""

    def stamps(self) -> Mapping[str, str]:
        """Return, for each run, a text that changes when the run's results do. Raises RunnerError."""

    def fetch(self, runs: Sequence[str], into: Path) -> Iterator[Fetched]:
        """Write each run's series file to a folder, and yield the file. Raises RunnerError if the source can't be
        reached."""


class RunFolder:
    """A folder of runs on this machine. Series are computed from the runs' tables."""

    def __init__(self, out: Path) -> None:
        self.out = out

    @property
    def name(self) -> str:
        return str(self.out.resolve())

    def stamps(self) -> Mapping[str, str]:
        require_folder(self.out)
        found = {}
        for plan in self.out.glob(f"*/{PLAN}"):
            try:
                journal = (plan.parent / JOURNAL).stat()
            except OSError:
                continue  # it never began
            found[plan.parent.name] = f"{journal.st_size} {journal.st_mtime_ns}"
        return found | {path.name: error.message for path, error in unreadable_runs(self.out)}

    def fetch(self, runs: Sequence[str], into: Path) -> Iterator[Fetched]:
        for run in runs:
            run_dir = self.out / run
            if run_state(run_dir) == "running":
                yield Fetched(run, None, problem="it goes on", is_final=False)
                continue
            try:
                write_series(run_dir, into / SERIES)
            except RunnerError as error:
                may_be_read_later = isinstance(error.__cause__, PermissionError)
                yield Fetched(run, None, problem=error.message, is_final=not may_be_read_later)
            else:
                yield Fetched(run, into / SERIES)


class RunStore:
    """A shared store. Each run was pushed together with its series."""

    def __init__(self, store: SharedStore) -> None:
        self.store = store

    @property
    def name(self) -> str:
        return self.store.url

    def stamps(self) -> Mapping[str, str]:
        return self.store.stamps()

    def fetch(self, runs: Sequence[str], into: Path) -> Iterator[Fetched]:
        from benchbrief.history.object_stores.object_store import NoObject, StoreDamaged

        left = dict.fromkeys(runs)
        for manifest in self.store.manifests(runs):
            left.pop(manifest.id, None)
            try:
                path = self.store.fetch(manifest, SERIES, into, MOST_OF_A_SERIES)
            except (StoreDamaged, NoObject) as error:  # this does not change until the run is pushed again
                yield Fetched(manifest.id, None, manifest.tags, error.message)
            else:
                yield Fetched(manifest.id, path, manifest.tags)
        for run in left:
            problem = self.store.unread.get(run, "its manifest is gone")
            yield Fetched(run, None, problem=problem, is_final=False)


def run_source(place: str) -> RunSource:
    """Return the source of the runs at a URL or in a folder. The folder may hold a shared store.

    Raises RunnerError.
    """
    from benchbrief.history.shared_store.shared_store import MARKER, open_store

    if "://" in place or (Path(place) / MARKER).is_file():
        return RunStore(open_store(place))
    return RunFolder(Path(place))


_INDEX = "index.json"
_INDEX_VERSION = f"{SERIES_VERSION}.2"
"""The version of the index. Raise the number after the point if rows that this machine computed must be read again, but
pushed rows need not."""
_LOCK = ".lock"
_IN_A_FILE = 500
"""How many runs to read before entering them in the index. A reader that is stopped loses at most this many."""
_MOST_FILES = 24
_MEMORY = "256MB"


class _Entry(NamedTuple):
    """A cache entry for a run, with the state that the run had when it was read. If the run has no series, `file` is ""
    and `problem` gives the reason."""

    stamp: str
    file: str
    tags: list[str]
    problem: str


class SeriesTable(NamedTuple):
    """The rows of `SeriesRow` in the DuckDB table `series`, file by file, limited to the runs in `tags`."""

    connection: duckdb.DuckDBPyConnection
    tags: Mapping[str, frozenset[str]]
    """The tags of each run in the table."""
    problems: Mapping[str, str]
    """The reasons why runs are not in the table, by run."""


@contextmanager
def open_series(source: RunSource, progress: Callable[[int, int], None] | None = None) -> Iterator[SeriesTable]:
    """Yield the series of all runs. New and changed runs are read first. Raises RunnerError.

    `progress` is called with the number of runs read so far, and with the total number of runs to read.
    """
    with _folder(source.name) as folder:
        index = _read_index(folder)
        current = _update(folder, index, source, progress)
        yield _table(folder, current)


@contextmanager
def _folder(name: str) -> Iterator[Path]:
    """Yield the cache folder of a source, to one process at a time. If the folder is not writable, yield a temporary
    folder."""
    folder = user_cache("series", name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        with tempfile.TemporaryDirectory(prefix="benchbrief-series-") as passing:
            yield Path(passing)
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(lock)


def _read_index(folder: Path) -> dict[str, _Entry]:
    """Return the known runs, or {} if there is no index of this version."""
    try:
        index = json.loads((folder / _INDEX).read_bytes())
        found = (
            {run: _Entry(*entry) for run, entry in index["runs"].items()} if index["version"] == _INDEX_VERSION else {}
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    files = {path.name for path in folder.glob("*.parquet") if _name_of(path) == path.name}
    return {run: entry for run, entry in found.items() if not entry.file or entry.file in files}


def _name_of(path: Path) -> str:
    """Return the name that a file must have, or "" if the file can't be read."""
    try:
        with path.open("rb") as file:
            return f"{hashlib.file_digest(file, 'sha256').hexdigest()[:32]}.parquet"
    except OSError:
        return ""


def _write_index(folder: Path, runs: Mapping[str, _Entry]) -> None:
    write_durably(folder / _INDEX, json.dumps({"version": _INDEX_VERSION, "runs": runs}).encode())


def _update(
    folder: Path, known: Mapping[str, _Entry], source: RunSource, progress: Callable[[int, int], None] | None
) -> dict[str, _Entry]:
    stamps = source.stamps()
    current = {run: entry for run, entry in known.items() if stamps.get(run) == entry.stamp}
    new = sorted(run for run in stamps if run not in current)
    passing: dict[str, _Entry] = {}
    for begin in range(0, len(new), _IN_A_FILE):
        batch = new[begin : begin + _IN_A_FILE]
        read, final = _read(folder, batch, stamps, source)
        current |= {run: entry for run, entry in read.items() if run in final}
        passing |= {run: entry for run, entry in read.items() if run not in final}
        _write_index(folder, current)
        if progress:
            progress(begin + len(batch), len(new))
    if current != known and not new:
        _write_index(folder, current)
    files = {entry.file for entry in current.values() if entry.file}
    if len(files) > _MOST_FILES:
        current = _merged(folder, current, files)
    for path in folder.glob("*.parquet"):
        if path.name not in {entry.file for entry in current.values()}:
            path.unlink(missing_ok=True)
    return current | passing


def _read(
    folder: Path, runs: list[str], stamps: Mapping[str, str], source: RunSource
) -> tuple[dict[str, _Entry], set[str]]:
    """Read some runs into one file. Returns their entries, and the names of runs that need not be asked for again."""
    import pyarrow as pa

    read: dict[str, _Entry] = {}
    final: set[str] = set()
    filled: set[str] = set()
    tables: list[pa.Table] = []
    with tempfile.TemporaryDirectory(prefix="benchbrief-series-") as passing:
        for fetched in source.fetch(runs, Path(passing)):
            problem, table = fetched.problem, None
            if fetched.path is not None:
                table, problem = series_in(fetched.path, fetched.run_id)
                fetched.path.unlink(missing_ok=True)
            if table is not None:
                tables.append(table)
                filled.update([fetched.run_id] if table.num_rows else [])
            read[fetched.run_id] = _Entry(stamps[fetched.run_id], "", sorted(fetched.tags), problem)
            if fetched.is_final:
                final.add(fetched.run_id)
    if tables:
        name = _write(folder, pa.concat_tables(tables))
        read |= {run: read[run]._replace(file=name) for run in filled}
    return read, final


def _write(folder: Path, table: pa.Table) -> str:
    """Write a table, sorted by quantity and point, and return the file's name, which is the hash of its bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = [pa.field(each.name, pa.string()) if pa.types.is_dictionary(each.type) else each for each in table.schema]
    ordered = table.cast(pa.schema(plain)).sort_by([("quantity", "ascending"), ("point", "ascending")])
    temporary = folder / f"{uuid.uuid4().hex}.part"
    pq.write_table(ordered, temporary, compression="zstd", row_group_size=50_000)
    return _finished(temporary)


def _finished(temporary: Path) -> str:
    name = _name_of(temporary)
    temporary.replace(temporary.with_name(name))
    return name


def _merged(folder: Path, runs: Mapping[str, _Entry], files: set[str]) -> dict[str, _Entry]:
    """Merge all files into one sorted file, without holding them in memory."""
    kept = [(run, entry.file) for run, entry in runs.items() if entry.file]
    with closing(_connected(folder, sorted(files))) as connection:
        _keep(connection, kept)
        temporary = folder / f"{uuid.uuid4().hex}.part"
        connection.execute(
            f"COPY (FROM series ORDER BY quantity, point, measured_at) TO {sql_text(temporary)} "  # our own file
            "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 50000)"
        )
    name = _finished(temporary)
    merged = {run: entry._replace(file=name) if entry.file else entry for run, entry in runs.items()}
    _write_index(folder, merged)
    return merged


def _table(folder: Path, runs: Mapping[str, _Entry]) -> SeriesTable:
    kept = [(run, entry.file) for run, entry in runs.items() if entry.file]
    connection = _connected(folder, sorted({file for _, file in kept}))
    _keep(connection, kept)
    tags = {run: frozenset(entry.tags) for run, entry in runs.items() if entry.file}
    return SeriesTable(connection, tags, {run: entry.problem for run, entry in runs.items() if entry.problem})


def _connected(folder: Path, files: list[str]) -> duckdb.DuckDBPyConnection:
    """Return a database with the view `every`. It has all rows in the files, including outdated rows of changed
    runs."""
    import duckdb

    connection = duckdb.connect(":memory:", config={"memory_limit": _MEMORY})
    if files:
        paths = ", ".join(sql_text(folder / file) for file in files)
        connection.execute(f"CREATE VIEW every AS FROM read_parquet([{paths}], filename = true)")
    else:
        empty: Any = schema().empty_table()
        connection.register("none", empty)
        connection.execute("CREATE VIEW every AS SELECT *, '' AS filename FROM none")
    return connection


def _keep(connection: duckdb.DuckDBPyConnection, kept: list[tuple[str, str]]) -> None:
    """Make the view `series`: the rows of `every` from the current file of each run."""
    # DuckDB makes the table: from a list, pyarrow needs pandas, which may not be installed.
    pairs = [[run for run, _ in kept], [file for _, file in kept]]
    connection.execute("CREATE TABLE kept AS SELECT unnest(?) AS run, unnest(?) AS file", pairs)
    columns = ", ".join(sql_name("every", name) for name in SeriesRow._fields)
    connection.execute(
        f"CREATE VIEW series AS SELECT {columns} FROM every JOIN kept "  # noqa: S608  # our own names
        "ON kept.run = every.run_id AND kept.file = parse_filename(every.filename)"
    )
