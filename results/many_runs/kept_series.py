"""The values that a site keeps of its runs, as the table that series are read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime

from benchbrief.results.history.series_cache import SeriesTable
from benchbrief.results.history.series_rows import SeriesRow, canonical, schema
from benchbrief.results.many_runs.kept_runs import RunValue, SiteRun


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
