"""The Parquet files of a run for a shared store: its tables, and the answers of its `measure` and `metric` views.

A view of one run would mix several, so that its rows are kept as they are computed for the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from benchbrief.compiler.metrics.sql.sql_text import sql_name
from benchbrief.results.building.build_store import STORE
from benchbrief.results.store.store import Store
from benchbrief.results.store.store_schema import TABLES
from benchbrief.results.store_errors import ResultsError

_VIEWS = (
    "SELECT schema_name, view_name FROM duckdb_views() "
    "WHERE NOT internal AND schema_name IN ('measure', 'metric') ORDER BY ALL"
)


WriteTable = Callable[[Path, Path], None]
"""Writes a Parquet file, at the second path, of the run whose folder is the first."""


def write_partition(results: Store, folder: Path, more: Mapping[str, WriteTable]) -> dict[str, Path]:
    """Write the views of an open store, and `more` tables, to Parquet files in `folder`. Returns these and the store's
    own tables, by their names. Raises RunnerError, OSError.

    A view that has no answer is left out: its metric needs what this run lacks.
    """
    import pyarrow.parquet as pq

    store = results.run_dir / STORE
    found = {table: store / f"{table}.parquet" for table in TABLES if (store / f"{table}.parquet").is_file()}
    for schema, view in results.sql(_VIEWS).rows:
        path = folder / f"{len(found)}.parquet"
        try:
            with (
                results.batches(f"FROM {sql_name(schema, view)} ORDER BY ALL") as batches,  # the same file at each push
                pq.ParquetWriter(path, batches.schema, compression="zstd") as writer,
            ):
                for batch in batches:
                    writer.write_batch(batch)
        except ResultsError:
            continue
        found[f"{schema}.{view}"] = path
    for name, write in more.items():
        found[name] = folder / f"{name}.parquet"
        write(results.run_dir, found[name])
    return found
