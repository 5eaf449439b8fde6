from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.cli.run_options import chosen_run, open_results, out_option
from benchbrief.cli.store_options import from_option
from benchbrief.cli.terminal import fail, one_line, show, show_data, show_json_text, show_lines, warn
from benchbrief.dsl.diagnostics.plain_amounts import plural

if TYPE_CHECKING:
    from benchbrief.history.shared_store.shared_query import SharedResults
    from benchbrief.results.store.store import Store


@click.command(
    epilog="""
\b
Examples:
  bench query "SHOW ALL TABLES"
  bench query "FROM metric.cost"               a metric of the spec
  bench query "SELECT hardware, threads, mean, cv FROM measure.spread"
  bench query --csv "FROM cells" > cells.csv
  bench query --run 20260301 --parquet samples.parquet "FROM samples"
  bench query --from s3://lab/nightly "FROM cells WHERE run >= '202603'"
"""
)
@click.argument("sql")
@click.option("--run", "-r", help="A run's name, the start of it, or its folder; the last run by default.")
@out_option
@from_option
@click.option("--all", "every", is_flag=True, help="Of a shared store, read simulated and imported runs too.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows as CSV; a formula of a spreadsheet becomes text.")
@click.option("--parquet", type=click.Path(path_type=Path), metavar="FILE", help="Write the rows to a Parquet file.")
def command(
    sql: str,
    run: str | None,
    out: Path,
    url: str | None,
    every: bool,
    as_json: bool,
    as_csv: bool,
    parquet: Path | None,
) -> None:
    """Query the results of a run in SQL (DuckDB's). Read-only; latencies are in seconds, sizes in bytes.

    On a terminal, numbers have four digits, and the heads of columns have the unit. JSON, CSV and Parquet keep the
    stored numbers. Rows of a simulated run have a column `simulated`, and rows of an imported run a column `imported`.

    With --from, each table and view covers all runs of a shared store and has a column `run`. The table `manifests` has
    a row for each run. To choose runs, use conditions on `run` (=, IN, <, >=) or --run. Runs that were not measured are
    left out, unless no others fit, or --all is given.
    """
    from benchbrief.results.query import mark_of, to_csv, to_json, to_parquet, to_text, units_of, with_mark

    asked = [name for name, wanted in (("--json", as_json), ("--csv", as_csv), ("--parquet", parquet)) if wanted]
    if len(asked) > 1:
        raise fail(f"{' and '.join(asked)} are two formats for one answer", "leave out all but one")
    with _opened(run, out, url, every=every) as results:
        if parquet is not None:
            rows = to_parquet(results, sql, parquet)
            _caution(results, sql, url)
            show(f"{parquet}: {plural(rows, 'row')}")
            return
        answer = results.sql(sql)
        table = with_mark(answer, mark_of(results))
        units = () if as_csv or as_json or url else units_of(table, sql, results)
        _caution(results, sql, url)
    if as_csv:
        show_data(to_csv(table).encode())
    elif as_json:
        show_json_text(to_json(table))
    else:
        show_lines(f"{to_text(table, units)}\n")


def _opened(
    run: str | None, out: Path, url: str | None, *, every: bool
) -> AbstractContextManager[Store | SharedResults]:
    """Open the results of a run, or of the runs in a shared store. Raises RunnerError."""
    if url is None:
        if every:
            raise click.UsageError("--all is for a shared store: say --from too")
        return open_results(chosen_run(out, run, "--run "))
    from benchbrief.history.shared_store import shared_query
    from benchbrief.history.shared_store.shared_store import open_store

    store = open_store(url)
    return shared_query.open_results(store, [store.find(run).id] if run else None, every=every)


def _caution(results: Store | SharedResults, sql: str, url: str | None) -> None:
    from benchbrief.results.store.measure_views import bounded_metrics

    for text in results.cautions:
        warn(one_line(text))
    names = [] if url else bounded_metrics(sql, results.sql)
    if names:
        warn(f"{', '.join(names)}: some values are bounds, or not decided, as the columns `bound` and `decided` say")
