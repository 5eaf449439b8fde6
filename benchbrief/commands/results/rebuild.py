from __future__ import annotations

from pathlib import Path

import click

from benchbrief.cli.run_options import chosen_run, out_option, run_argument
from benchbrief.cli.terminal import Stop, show, show_json, warn
from benchbrief.dsl.bench_error import ExitCode


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

    Ends with code 3 if a raw output is missing or was changed. The numbers from that output are then missing in the
    tables.
    """
    from benchbrief.results.build_store import rebuild
    from benchbrief.results.open_store import open_store

    run_dir = chosen_run(out, run)
    rebuild(run_dir)
    with open_store(run_dir) as results:
        lost = [str(text) for (text,) in results.sql("SELECT DISTINCT text FROM notes WHERE severity = 'error'").rows]
    if as_json:
        document = {"run": run_dir.name, "store": str(run_dir / "store"), "problems": lost}
        show_json(document)
    else:
        show(run_dir / "store")
        for text in lost:
            warn(text)
    if lost:
        raise Stop(ExitCode.CELL_FAILED)
