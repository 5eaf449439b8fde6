"""`bench rebuild`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from benchbrief.run_options import chosen_run, out_option, run_argument
from benchbrief.terminal import ExitCode, Stop, warn


@click.command(
    epilog="""
\b
Examples:
  bench rebuild
  bench rebuild 20260301-101500-brief
  bench rebuild --json | jq -r '.problems[]'
"""
)
@run_argument
@out_option
@click.option("--json", "as_json", is_flag=True, help="Print what was built as JSON.")
def command(run: str | None, out: Path, as_json: bool) -> None:
    """Build the Parquet tables and the DuckDB file of RUN again from its journal and raw outputs.

    Ends with code 3 when a raw output is gone or was changed: what was read from it is missing in the tables.
    """
    from benchbrief.results.store import open_store, rebuild

    run_dir = chosen_run(out, run)
    rebuild(run_dir)
    with open_store(run_dir) as results:
        lost = [str(text) for (text,) in results.sql("SELECT DISTINCT text FROM notes WHERE severity = 'error'").rows]
    if as_json:
        told = {"run": run_dir.name, "store": str(run_dir / "store"), "problems": lost}
        click.echo(json.dumps(told, indent=1, ensure_ascii=False))
    else:
        click.echo(run_dir / "store")
        for text in lost:
            warn(text)
    if lost:
        raise Stop(ExitCode.CELL_FAILED)
