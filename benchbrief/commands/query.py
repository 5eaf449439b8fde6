"""`bench query`."""

from __future__ import annotations

from pathlib import Path

import click

from benchbrief.cli.run_options import chosen_run, open_results, out_option
from benchbrief.cli.terminal import fail, show, show_data, show_json_text, show_lines
from benchbrief.compiler.plain_amounts import counted


@click.command(
    epilog="""
\b
Examples:
  bench query "SELECT hardware, threads, mean, cv FROM measure.spread WHERE phase IS NULL AND operation = 'all'"
  bench query "SHOW ALL TABLES"
  bench query --csv "FROM cells" > cells.csv
  bench query "FROM metric.cost"                       a metric of the spec
  bench query --run 20260301 --parquet samples.parquet "FROM samples"
"""
)
@click.argument("sql")
@click.option("--run", "-r", help="A run's name, the start of it, or its folder; the last run by default.")
@out_option
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows as CSV; a formula of a spreadsheet becomes text.")
@click.option("--parquet", type=click.Path(path_type=Path), metavar="FILE", help="Write the rows to a Parquet file.")
def command(sql: str, run: str | None, out: Path, as_json: bool, as_csv: bool, parquet: Path | None) -> None:
    """Ask the results of a run in SQL (DuckDB's). Read-only; latencies are in seconds, sizes in bytes.

    On a terminal, numbers have four digits, and columns of one unit have it in their heads, times and shares in a
    readable one. JSON, CSV and Parquet keep the stored numbers.

    Of a simulated run, every row has `simulated`, of an imported one, `imported`.
    """
    from benchbrief.results.query.column_units import units_of
    from benchbrief.results.query.export import mark_of, marked, to_csv, to_json, to_parquet, to_text

    asked = [name for name, wanted in (("--json", as_json), ("--csv", as_csv), ("--parquet", parquet)) if wanted]
    if len(asked) > 1:
        raise fail(f"{' and '.join(asked)} are two formats for one answer", "leave out all but one")
    with open_results(chosen_run(out, run, "--run ")) as results:
        if parquet is not None:
            rows = to_parquet(results, sql, parquet)
            show(f"{parquet}: {counted(rows, 'row', 'rows')}")
            return
        answer = results.sql(sql)
        table = marked(answer, mark_of(results))
        units = () if as_csv or as_json else units_of(table, sql, results)
    if as_csv:
        show_data(to_csv(table).encode())
    elif as_json:
        show_json_text(to_json(table))
    else:
        show_lines(f"{to_text(table, units)}\n")
