from __future__ import annotations

from pathlib import Path

import click

from benchbrief.cli.run_options import chosen_run, complete_run, out_option
from benchbrief.cli.terminal import ENDS, exit_codes
from benchbrief.cli.verdict_files import require_writable, verdict_options
from benchbrief.progress.run_progress import Progress
from benchbrief.running.run_output import report_end


@click.command(
    epilog="""
\b
Examples:
  bench merge nightly                     the lanes in nightly/lanes
  bench merge nightly artifacts/*         and those that ran elsewhere
  bench merge nightly --no-report --json

Lanes can be merged in any order, while others go on, and again: the same folders give the same run. A lane that ran
more than once counts once: the folder with the most finished cells, or of equals the one that was started last. The run
and its brief name the others.

It ends as `bench run` does, and with 130 while lanes are missing or not whole. Other commands treat the merged run as
any other.

"""
    + exit_codes(*(code for code in ENDS if code != 1))
)
@click.argument("run", shell_complete=complete_run)
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[LANE]...")
@out_option
@click.option("--no-report", is_flag=True, help="Keep the results, render nothing.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@verdict_options
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def command(
    run: str,
    folders: tuple[Path, ...],
    out: Path,
    no_report: bool,
    quiet: bool,
    junit: Path | None,
    markdown: Path | None,
    as_json: bool,
) -> None:
    """Merge the lanes of RUN that `bench lane` has run into one run, and make its brief.

    LANE is the folder of a lane. Lanes in the run's own folder need not be named.
    """
    from benchbrief.pipeline import merge_run

    require_writable(junit, markdown)
    finished = merge_run(chosen_run(out, run), folders, Progress(quiet=quiet), report=not no_report)
    report_end(finished, report=not no_report, as_json=as_json, junit=junit, markdown=markdown)
