"""`bench resume`."""

from __future__ import annotations

from pathlib import Path

import click

from benchbrief.pipeline import OUT
from benchbrief.progress import Progress
from benchbrief.run_options import metrics_option, wait_option
from benchbrief.run_output import run_and_tell
from benchbrief.terminal import ENDS, exit_codes


@click.command(
    epilog="""
\b
Examples:
  bench resume
  bench resume 20260301-101500-brief

"""
    + exit_codes(*ENDS)
)
@click.argument("run", required=False)
@click.option(
    "--out", type=click.Path(path_type=Path), default=OUT, show_default=True, help="Folder that holds the runs."
)
@click.option("--no-report", is_flag=True, help="Keep the results, render nothing.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@wait_option
@metrics_option
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def command(
    run: str | None, out: Path, no_report: bool, quiet: bool, wait: bool, metrics: Path | None, as_json: bool
) -> None:
    """Go on with RUN (its name, the start of it, or its folder): finished cells are kept, failed ones are tried again.

    Without RUN, the last interrupted run of the folder.
    """
    from benchbrief.results.runs import find_run, last_interrupted

    run_dir = find_run(out, run) if run else last_interrupted(out)
    run_and_tell(run_dir, Progress(quiet=quiet), report=not no_report, as_json=as_json, metrics=metrics, wait=wait)
