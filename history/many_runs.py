"""The source of a site's runs: a folder of runs, or a store that a team shares."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from benchbrief.dsl.bench_error import BenchError
from benchbrief.history.series_cache import MOST_OF_A_SERIES, SeriesTable, series_in
from benchbrief.history.series_rows import (
    SERIES,
    SeriesRow,
    canonical,
    coded,
    labels_in,
    labels_of,
    reason_of,
    rows_in,
    schema,
)
from benchbrief.model.message import Said
from benchbrief.model.plan import DIMENSIONS, DimKey
from benchbrief.model.planned_cells import planned_cells
from benchbrief.model.points import POINT, PointKeys, place_of
from benchbrief.reports.data.numbers_file import OF_DISCLOSURE
from benchbrief.results.compare.comparison import Better, PointValues
from benchbrief.results.open_store import unchanged_store
from benchbrief.results.runs.find_runs import require_folder, run_state, unreadable_runs
from benchbrief.results.runs.kept_files import recorded_files
from benchbrief.results.store.searched_doubts import Bound, Doubt
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.journal.atomic_files import sha256_of
from benchbrief.runners.journal.journal_file import JOURNAL
from benchbrief.runners.journal.run_folder import PLAN, load_plan
from benchbrief.runners.plain_files import read_plain

if TYPE_CHECKING:
    from benchbrief.history.shared_store.run_manifest import RunManifest
    from benchbrief.history.shared_store.shared_store import SharedStore

DATA_VERSION = 8
"""The version of the data that the site keeps about a run. Raise it with every change of these data, so that all runs
are read again."""
Suite = tuple[str, str, str]
"""What all runs of a suite share: the spec, the profile and the origin."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RunValue(_Part):
    """A quantity at a point: the value over all repeats, and the value of each repeat. `reason` says why a value is
    None."""

    quantity: str
    label: str
    unit: str
    better: Better
    percentile: bool
    point: dict[str, DimKey]
    value: float | None
    reason: Said
    repeats: tuple[float, ...]
    definition: str
    environment: str
    control: bool = False
    reused_from: str = ""
    bound: Bound = ""
    decided: bool = True
    by_ratio: bool = False

    @property
    def values(self) -> PointValues:
        doubt = Doubt(self.bound, self.decided)
        return PointValues(self.value, self.repeats, self.percentile, self.reason, doubt=doubt)

    @property
    def at(self) -> PointKeys:
        return in_order(self.point)

    def without(self, dim: str) -> PointKeys:
        return tuple((name, key) for name, key in self.at if name != dim)


def in_order(point: Mapping[str, str | float | None]) -> PointKeys:
    """Return a point's keys in a fixed order. Leaves out dimensions that no cell has, such as the operation."""
    dims = [dim for dim in point if dim in POINT or dim not in DIMENSIONS]
    return tuple((dim, point[dim]) for dim in sorted(dims, key=place_of))


class BriefFile(_Part):
    """A file of one of the run's reports: its path in the run's folder, and its SHA-256 according to the journal."""

    path: str
    sha256: str
    problem: str = ""


class SiteRun(_Part):
    """A run as a site shows it.

    `state` is done, failed or interrupted. `good`, `failed` and `planned` count cells. `facts` are by environment. If a
    run can't be read, `problem` says why, and its other fields mean nothing.
    """

    version: int = DATA_VERSION
    id: str
    stamp: str
    title: str = ""
    spec: str = ""
    profile: str = ""
    origin: str = "measured"
    revision: str = ""
    at: float = 0.0
    state: str = ""
    good: int = 0
    failed: int = 0
    planned: int = 0
    hardware: dict[str, str] = {}
    workloads: dict[str, str] = {}
    levels: dict[str, str] = {}
    """The labels of levels and factors by key, such as `codec=lz4` for a level and `codec=` for its factor. `hardware`
    and `workloads` map keys to labels, too."""
    tags: tuple[str, ...] = ()
    values: tuple[RunValue, ...] = ()
    facts: dict[str, dict[str, str]] = {}
    briefs: tuple[BriefFile, ...] = ()
    problem: str = ""

    @property
    def labels(self) -> dict[str, str]:
        return {**self.workloads, **self.hardware, **self.levels}

    @property
    def suite(self) -> Suite:
        """Return the spec, the profile and the origin, which all runs of a series share."""
        return self.spec, self.profile, self.origin


def values_of(rows: Iterable[SeriesRow | Mapping[str, Any]]) -> tuple[tuple[RunValue, ...], dict[str, dict[str, str]]]:
    """Return the values in a run's series rows, and the facts of their environments."""
    made: dict[tuple[str, str], dict[str, Any]] = {}
    facts: dict[str, dict[str, str]] = {}
    for each in rows:
        row: Mapping[str, Any] = each._asdict() if isinstance(each, SeriesRow) else each
        if row["environment"] not in facts:
            facts[row["environment"]] = json.loads(row["facts"])
        found = made.get((row["quantity"], row["point"]))
        if found is None:
            found = made[row["quantity"], row["point"]] = {
                **{name: row[name] for name in ("quantity", "label", "unit", "better", "percentile")},
                **{name: row[name] for name in ("definition", "environment", "control", "reused_from")},
                "bound": row.get("bound", ""),
                "decided": row.get("decided", True),
                "by_ratio": row.get("by_ratio", False),
                "point": json.loads(row["point"]),
                "value": None,
                "reason": "",
                "repeats": [],
            }
        if row["repeat"] is None:
            found |= {"value": row["value"], "reason": reason_of(row["reason"], row.get("message", ""))}
        elif row["value"] is not None:
            found["repeats"].append(row["value"])
    return tuple(RunValue(**each) for each in made.values()), facts


def run_details(rows: Iterable[SeriesRow | Mapping[str, Any]]) -> dict[str, Any]:
    """Return the details of the run itself in these rows, or {} if there are no rows."""
    for each in rows:
        row: Mapping[str, Any] = each._asdict() if isinstance(each, SeriesRow) else each
        at = row["measured_at"]
        names = ("title", "spec", "profile", "origin", "revision")
        return {**{name: row[name] for name in names}, "at": at.timestamp() if isinstance(at, datetime) else 0.0}
    return {}


def read_kept(path: Path) -> SiteRun | None:
    """Return a run as the site kept it, or None if the run must be read again."""
    try:
        found = SiteRun.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
    return found if found.version == DATA_VERSION else None


@contextmanager
def kept_series(runs: Sequence[SiteRun]) -> Iterator[SeriesTable]:
    """Yield a table of the values over all repeats, from the runs that the site kept."""
    import duckdb
    import pyarrow as pa

    plain = [pa.field(each.name, pa.string()) if pa.types.is_dictionary(each.type) else each for each in schema()]
    columns = zip(*(row for run in runs for row in _rows(run)), strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, plain, strict=True)]
    with closing(duckdb.connect(":memory:")) as connection:
        connection.register("series", pa.table(arrays, schema=pa.schema(plain)))
        yield SeriesTable(connection, {}, {})


def _rows(run: SiteRun) -> Iterator[SeriesRow]:
    facts = {key: canonical(found) for key, found in run.facts.items()}
    of_run = {name: getattr(run, name) for name in ("title", "spec", "profile", "origin", "revision")}
    at = datetime.fromtimestamp(run.at, UTC)
    for each in run.values:
        of_value = {name: getattr(each, name) for name in SeriesRow._fields if name in RunValue.model_fields}
        of_value |= {"point": canonical(each.point), "facts": facts[each.environment], "message": coded(each.reason)}
        yield SeriesRow(run_id=run.id, measured_at=at, repeat=None, **of_run, **of_value)


SHOWN = (".html", ".pdf")
"""The types of report files that a site shows."""
_CHANGED = "it is not the file that the run's journal names"
PARTED = "its brief or its disclosure is not shown"
MOST_PROCESSES = 4
_ALONE = 8
"""How many runs one process reads alone. With more runs, further processes are started, which takes a second."""


class RunPlace(Protocol):
    @property
    def name(self) -> str: ...
    def stamps(self) -> Mapping[str, str]:
        """Return, for each run, a text that changes when the run does. Raises RunnerError."""
        ...

    def read(self, runs: Sequence[str]) -> Iterator[SiteRun]:
        """Yield each run. A run that can't be read carries the reason. Raises RunnerError if the place can't be
        reached."""
        ...

    def fetch(self, run: SiteRun, brief: BriefFile, into: Path) -> None:
        """Copy a file of a run's brief to the path `into`. Raises RunnerError, OSError."""
        ...


class FolderOfRuns:
    def __init__(self, out: Path) -> None:
        self.out = out

    @property
    def name(self) -> str:
        return str(self.out)

    def stamps(self) -> Mapping[str, str]:
        require_folder(self.out)
        found = {}
        for journal in self.out.glob(f"*/{JOURNAL}"):
            try:
                state = journal.stat()
                plan = (journal.parent / PLAN).stat().st_mtime_ns if (journal.parent / PLAN).exists() else 0
            except OSError as error:
                found[journal.parent.name] = f"{error.strerror}"
            else:
                found[journal.parent.name] = f"{state.st_size} {state.st_mtime_ns} {plan}"
        for lost in self.out.glob(f"*/{PLAN}"):
            found.setdefault(lost.parent.name, "without a journal")
        return found | {path.name: error.message for path, error in unreadable_runs(self.out)}

    def read(self, runs: Sequence[str]) -> Iterator[SiteRun]:
        folders = [(str(self.out / run), stamp) for run, stamp in zip(runs, map(self.stamps().get, runs), strict=True)]
        count = min(os.cpu_count() or 1, MOST_PROCESSES)
        if len(runs) <= _ALONE or count == 1:
            yield from map(_read_folder, folders)
            return
        with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
            yield from pool.map(_read_folder, folders, chunksize=8)

    def fetch(self, run: SiteRun, brief: BriefFile, into: Path) -> None:
        _copy(self.out / run.id / brief.path, brief, into)


def _read_folder(of: tuple[str, str | None]) -> SiteRun:
    """Read a run's folder. A problem is recorded in the run, and does not stop the making of the site."""
    run_dir, stamp = Path(of[0]), of[1] or ""
    try:
        plan = load_plan(run_dir)
        state = run_state(run_dir)
        if state == "running":
            return SiteRun(id=run_dir.name, stamp=f"{stamp} running", problem="it goes on")
        with unchanged_store(run_dir) as store:
            rows = list(rows_in(run_dir, plan, store))
            cells = dict(store.sql("SELECT status, count(*) FROM main.cells GROUP BY status").rows)
            left_out = store.sql("SELECT cell_id FROM main.cells WHERE status = 'skipped'").rows
        values, facts = values_of(rows)
        return SiteRun(
            id=run_dir.name,
            stamp=stamp,
            **{"title": Path(plan.spec.name).name, "spec": Path(plan.spec.name).name, **run_details(rows)},
            state=state,
            good=cells.get("ok", 0),
            failed=cells.get("failed", 0),
            planned=planned_cells(plan, (cell for (cell,) in left_out)),
            **labels_of(plan),
            values=values,
            facts=facts,
            briefs=_in_pairs(_briefs(run_dir)),
        )
    except (BenchError, OSError, ValueError, KeyError) as error:
        message = error.message if isinstance(error, BenchError) else str(error) or type(error).__name__
        may_be_read_later = isinstance(error.__cause__ or error, PermissionError)
        return SiteRun(id=run_dir.name, stamp="unread" if may_be_read_later else stamp, problem=message)


def _briefs(run_dir: Path) -> Iterator[BriefFile]:
    """Yield the files of the run's reports in its folder, as they were when last made."""
    for path, digest in recorded_files(run_dir / JOURNAL).items():
        if path.endswith(SHOWN) and _is_inside(path):
            try:
                yield BriefFile(path=path, sha256=digest, problem=_changed(sha256_of(run_dir / path, run_dir), digest))
            except FileNotFoundError:
                continue
            except OSError as error:
                yield BriefFile(path=path, sha256=digest, problem=error.strerror)


def _changed(found: str, recorded: str | None) -> str:
    return "" if found == recorded else _CHANGED


def _in_pairs(files: Iterable[BriefFile]) -> tuple[BriefFile, ...]:
    """Return the files. If a brief has a problem, its disclosure gets a problem as well, and vice versa, because the
    two files link to each other."""
    found = tuple(files)
    there = {each.path for each in found}
    bad = {_brief_of(each) for each in found if each.problem or _brief_of(each) not in there}
    return tuple(
        each.model_copy(update={"problem": PARTED}) if not each.problem and _brief_of(each) in bad else each
        for each in found
    )


def _brief_of(file: BriefFile) -> str:
    return OF_DISCLOSURE.sub("", file.path)


def _is_inside(path: str) -> bool:
    return not Path(path).is_absolute() and ".." not in Path(path).parts


def _copy(file: Path, brief: BriefFile, into: Path) -> None:
    """Copy a file if its digest is unchanged. Raises ResultsError, OSError."""
    content = read_plain(file)
    if hashlib.sha256(content).hexdigest() != brief.sha256:
        raise ResultsError(f"{file} was changed while the site was made", "make the site again")
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_bytes(content)


class StoreOfRuns:
    def __init__(self, store: SharedStore) -> None:
        self.store = store

    @property
    def name(self) -> str:
        return str(self.store.url)

    def stamps(self) -> Mapping[str, str]:
        return self.store.stamps()

    def read(self, runs: Sequence[str]) -> Iterator[SiteRun]:
        left = dict.fromkeys(runs)
        stamps = self.stamps()
        for manifest in self.store.manifests(runs):
            left.pop(manifest.id, None)
            yield self._read(manifest, stamps.get(manifest.id, ""))
        for run in left:
            # It is read again each time, as a later benchbrief may be able to read it.
            yield SiteRun(id=run, stamp="unread", problem=self.store.unread.get(run, "its manifest is gone"))

    def _read(self, manifest: RunManifest, stamp: str) -> SiteRun:
        """Read a run. A problem is recorded in the run, and does not stop the making of the site."""
        from benchbrief.history.object_stores.object_store import StoreAway, StoreFull, StoreRefuses

        run = SiteRun(
            id=manifest.id,
            stamp=stamp,
            title=manifest.title,
            spec=Path(manifest.spec).name,
            profile=manifest.profile or "",
            origin=manifest.origin,
            at=manifest.measured_at,
            state=manifest.state,
            good=manifest.cells.good,
            failed=manifest.cells.failed,
            planned=manifest.cells.total,
            hardware={key: key for key in manifest.hardware},
            tags=manifest.tags,
        )
        try:
            with tempfile.TemporaryDirectory(prefix="benchbrief-site-") as passing:
                table, problem = series_in(
                    self.store.fetch(manifest, SERIES, Path(passing), MOST_OF_A_SERIES), manifest.id
                )
                if table is None:
                    return run.model_copy(update={"problem": problem})
                briefs = _in_pairs(self._briefs(manifest, Path(passing)))
            rows = table.to_pylist()
            values, facts = values_of(rows)
            known = {"values": values, "facts": facts, "briefs": briefs, **labels_in(table.schema.metadata)}
            return SiteRun(**{**dict(run), **known, "revision": run_details(rows).get("revision", "")})
        except (StoreAway, StoreFull, StoreRefuses):
            raise
        except (BenchError, ValueError, KeyError, TypeError, RecursionError) as error:
            message = error.message if isinstance(error, BenchError) else "its series file can't be read"
            return run.model_copy(update={"problem": message})

    def _briefs(self, manifest: RunManifest, passing: Path) -> Iterator[BriefFile]:
        """Yield the files of the run's reports. A file has a problem if it differs from the one that the journal names.
        Raises RunnerError."""
        shown = {path: file for path, file in manifest.briefs.items() if path.endswith(SHOWN)}
        recorded = recorded_files(self.store.fetch(manifest, JOURNAL, passing)) if shown else {}
        for path, file in shown.items():
            yield BriefFile(path=path, sha256=file.sha256, problem=_changed(file.sha256, recorded.get(path)))

    def fetch(self, run: SiteRun, brief: BriefFile, into: Path) -> None:
        (manifest,) = self.store.manifests([run.id])
        into.parent.mkdir(parents=True, exist_ok=True)
        self.store.fetch(manifest, brief.path, into)


def run_place(place: str) -> RunPlace:
    """Return the runs at a URL or in a folder. The folder may hold a shared store. Raises RunnerError."""
    from benchbrief.history.shared_store.shared_store import MARKER, open_store

    if "://" in place or (Path(place) / MARKER).is_file():
        return StoreOfRuns(open_store(place))
    return FolderOfRuns(Path(place))
