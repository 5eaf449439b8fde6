"""`bench rebuild`."""

from __future__ import annotations

from pathlib import Path

import click

from benchbrief.run_options import chosen_run, out_option, run_argument


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
    """Build the Parquet tables and the DuckDB file of RUN again from its journal and raw outputs."""
    from benchbrief.results.store import rebuild

    run_dir = chosen_run(out, run)
    rebuild(run_dir)
    click.echo(run_dir / "store")
