"""Histories for tests, made of runs that have only series."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchbrief.history import series_cache
from benchbrief.history.read_series import FoundSeries, SeriesChoice, read_series
from benchbrief.history.series_cache import Fetched, SeriesTable, open_series
from benchbrief.history.series_rows import SERIES, SeriesRow, canonical, schema

FIRST_NIGHT = datetime(2026, 1, 1, 2, tzinfo=UTC)
NOW = datetime(2027, 6, 1, tzinfo=UTC)


def a_row(night: int, value: float | None, run_id: str = "", **more: Any) -> SeriesRow:
    """Return the value of one night. `point` and `facts` are given as objects, and become JSON."""
    facts = more.pop("facts", {"kernel": "6.1"})
    point = more.pop("point", {"hardware": "nvme", "threads": 4})
    row = SeriesRow(
        run_id=run_id or f"night-{night:04d}",
        measured_at=FIRST_NIGHT + timedelta(days=night),
        title="Nightly",
        spec="nightly.bench",
        profile="",
        origin="measured",
        revision="",
        quantity="throughput",
        label="",
        unit="ops/s",
        better="higher",
        percentile=False,
        point=canonical(point),
        repeat=None,
        value=value,
        reason="" if value is not None else "the tool died",
        definition="as ever",
        environment=canonical(facts),
        facts=canonical(facts),
        control=False,
        reused_from="",
    )
    return row._replace(**more)


def write_rows(path: Path, rows: Sequence[SeriesRow]) -> None:
    kinds = schema()
    columns = zip(*rows, strict=True)
    pq.write_table(
        pa.table([pa.array(column, kind) for column, kind in zip(columns, kinds.types, strict=True)], schema=kinds),
        path,
    )


@dataclass
class Runs:
    """A source of runs for tests. `read` has the names of the runs that have been fetched, in order."""

    rows: list[SeriesRow]
    name: str = "tests"
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    broken: Mapping[str, bytes] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)

    def stamps(self) -> Mapping[str, str]:
        names = dict.fromkeys([*(row.run_id for row in self.rows), *self.broken])
        return {name: self.versions.get(name, "1") for name in names}

    def fetch(self, runs: Sequence[str], into: Path) -> Iterator[Fetched]:
        for run in runs:
            self.read.append(run)
            if run in self.broken:
                (into / SERIES).write_bytes(self.broken[run])
            else:
                write_rows(into / SERIES, [row for row in self.rows if row.run_id == run])
            yield Fetched(run, into / SERIES, self.tags.get(run, ()))


@contextmanager
def opened(runs: Runs) -> Iterator[SeriesTable]:
    with open_series(runs) as table:
        yield table


def found(
    rows: Sequence[SeriesRow], choice: SeriesChoice | None = None, tags: Mapping[str, tuple[str, ...]] | None = None
) -> FoundSeries:
    """Return the series in these rows. They are read from one file, as from a merged cache, because fetching each run
    would take ten times as long."""
    entries = {row.run_id: series_cache._Entry("1", SERIES, [*(tags or {}).get(row.run_id, ())], "") for row in rows}
    with tempfile.TemporaryDirectory() as folder:
        if rows:
            write_rows(Path(folder, SERIES), sorted(rows, key=lambda row: row.run_id))
        return read_series(series_cache._table(Path(folder), entries), choice or SeriesChoice(), NOW)


def point_of(row: SeriesRow) -> Any:
    return json.loads(row.point)
