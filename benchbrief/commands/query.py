"""`bench query`."""

from __future__ import annotations

from pathlib import Path

import click

from benchbrief.run_options import chosen_run, out_option


@click.command(
    epilog="""
\b
Examples:
  bench query "SELECT hardware, workload, threads, value FROM measure.throughput WHERE phase IS NULL"
  bench query "SHOW ALL TABLES"
  bench query --csv "FROM cells" > cells.csv
  bench query --run 20260301 --parquet samples.parquet "FROM samples"
"""
)
@click.argument("sql")
@click.option("--run", "-r", help="A run's name, the start of it, or its folder; the last run by default.")
@out_option
@click.option("--json", "form", flag_value="json", help="Print the rows as JSON.")
@click.option("--csv", "form", flag_value="csv", help="Print the rows as CSV.")
@click.option("--parquet", type=click.Path(path_type=Path), metavar="FILE", help="Write the rows to a Parquet file.")
def command(sql: str, run: str | None, out: Path, form: str | None, parquet: Path | None) -> None:
    """Ask the results of a run in SQL (DuckDB's). Read-only; latencies are in seconds, sizes in bytes.

    Of a simulated run, every row has `simulated`, of an imported one, `imported`.
    """
    from benchbrief.results.export import mark_of, marked, to_csv, to_json, to_parquet, to_text
    from benchbrief.results.store import fresh_store

    with fresh_store(chosen_run(out, run)) as results:
        if parquet is not None:
            rows = to_parquet(results, sql, parquet)
            click.echo(f"{parquet}: {rows} rows")
            return
        table = results.sql(sql)
        table = marked(table, mark_of(results))
    render = {"json": to_json, "csv": to_csv, None: to_text}[form]
    click.echo(render(table), nl=form != "csv")
