"""A run as the site shows it: what it is, its values with their repeats, and its briefs. Kept as JSON beside the pages.

The values are those of `results/history/series_rows.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from benchbrief.results.compare.comparison import Better, Point, Values
from benchbrief.results.history.series_cache import SeriesTable
from benchbrief.results.history.series_rows import SeriesRow, canonical, schema
from benchbrief.results.store.searched_doubts import Bound, Doubt

DATA_VERSION = 5
"""Raised with every change of what is kept of a run: all are then read again."""
Key = str | float
Suite = tuple[str, str, str]
"""Spec, profile and origin."""
_ORDER = ("experiment", "hardware", "workload", "threads", "target")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RunValue(_Part):
    """A quantity at a point: the value over all repeats, and each of theirs. None is missing, for a `reason`."""

    quantity: str
    label: str
    unit: str
    better: Better
    percentile: bool
    point: dict[str, Key]
    value: float | None
    reason: str
    repeats: tuple[float, ...]
    definition: str
    environment: str
    control: bool = False
    reused_from: str = ""
    bound: Bound = ""
    decided: bool = True

    @property
    def values(self) -> Values:
        doubt = Doubt(self.bound, self.decided)
        return Values(self.value, self.repeats, self.percentile, self.reason, doubt=doubt)

    @property
    def at(self) -> Point:
        return in_order(self.point)

    def without(self, dim: str) -> Point:
        return tuple((name, key) for name, key in self.at if name != dim)


def in_order(point: Mapping[str, str | float | None]) -> Point:
    return tuple((dim, point[dim]) for dim in _ORDER if dim in point)


class Brief(_Part):
    """A file of a report of the run: its path in the run's folder, and its SHA-256 as the journal has it."""

    path: str
    sha256: str
    problem: str = ""


class SiteRun(_Part):
    """`state` is done, failed or interrupted. `good`, `failed` and `planned` are cells. `facts` are by environment.

    A run that can't be read has a `problem`, and nothing else that counts.
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
    """The labels of each, by key."""
    tags: tuple[str, ...] = ()
    values: tuple[RunValue, ...] = ()
    facts: dict[str, dict[str, str]] = {}
    briefs: tuple[Brief, ...] = ()
    problem: str = ""

    @property
    def labels(self) -> dict[str, str]:
        return {**self.workloads, **self.hardware}

    @property
    def suite(self) -> Suite:
        """Return what runs have in common that are one series: the spec, its profile, and the origin."""
        return self.spec, self.profile, self.origin


def values_of(rows: Iterable[SeriesRow | Mapping[str, Any]]) -> tuple[tuple[RunValue, ...], dict[str, dict[str, str]]]:
    """Return the values of a run's series rows, and the facts of their environments."""
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
                "point": json.loads(row["point"]),
                "value": None,
                "reason": "",
                "repeats": [],
            }
        if row["repeat"] is None:
            found |= {"value": row["value"], "reason": row["reason"]}
        elif row["value"] is not None:
            found["repeats"].append(row["value"])
    return tuple(RunValue(**each) for each in made.values()), facts


def run_details(rows: Iterable[SeriesRow | Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the rows say of the run itself; {} without rows."""
    for each in rows:
        row: Mapping[str, Any] = each._asdict() if isinstance(each, SeriesRow) else each
        at = row["measured_at"]
        names = ("title", "spec", "profile", "origin", "revision")
        return {**{name: row[name] for name in names}, "at": at.timestamp() if isinstance(at, datetime) else 0.0}
    return {}


def read_kept(path: Path) -> SiteRun | None:
    """Return a run that the site keeps; None where it must be read again."""
    try:
        found = SiteRun.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
    return found if found.version == DATA_VERSION else None


@contextmanager
def kept_series(runs: Sequence[SiteRun]) -> Iterator[SeriesTable]:
    """Yield the values over all repeats of runs that have some."""
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
        of_value |= {"point": canonical(each.point), "facts": facts[each.environment]}
        yield SeriesRow(run_id=run.id, measured_at=at, repeat=None, **of_run, **of_value)
