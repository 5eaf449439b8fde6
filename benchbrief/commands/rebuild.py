"""`bench rebuild`."""

from __future__ import annotations

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
"""
)
@run_argument
@out_option
def command(run: str | None, out: Path) -> None:
    """Build the Parquet tables and the DuckDB file of RUN again from its journal and raw outputs.

    Ends with code 3 when a raw output is gone or was changed: what was read from it is missing in the tables.
    """
    from benchbrief.results.store import open_store, rebuild

    run_dir = chosen_run(out, run)
    rebuild(run_dir)
    click.echo(run_dir / "store")
    with open_store(run_dir) as results:
        lost = [str(text) for (text,) in results.sql("SELECT DISTINCT text FROM notes WHERE severity = 'error'").rows]
    for text in lost:
        warn(text)
    if lost:
        raise Stop(ExitCode.CELL_FAILED)
