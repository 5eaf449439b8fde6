from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Unpack

import click

from benchbrief.cli.run_options import out_option
from benchbrief.cli.sections import RUN_FILES, SectionedCommand
from benchbrief.cli.terminal import ENDS, exit_codes, fail
from benchbrief.cli.verdict_files import require_writable
from benchbrief.progress.run_progress import Progress
from benchbrief.running.lanes import follow_and_report
from benchbrief.running.run_output import EndingOptions, ending_options, run_and_report


@click.command(
    cls=SectionedCommand,
    sections={"Files and stores": RUN_FILES},
    epilog="""
\b
Examples:
  bench resume
  bench resume 20260301-101500-brief

"""
    + exit_codes(*ENDS, fails="an `expect` does not hold"),
)
@click.argument("run", required=False)
@out_option
@ending_options
def command(
    run: str | None,
    out: Path,
    **asked: Unpack[EndingOptions],
) -> None:
    """Continue RUN (its name, the start of it, or its folder): finished cells are kept, failed ones are tried again.

    Without RUN, continues the last interrupted run of the folder. Jobs that still run on the hosts, or that have ended
    there meanwhile, are picked up. Other interrupted cells are run again. If the run is on a scheduler, its jobs there
    are waited for, and missing jobs are submitted.
    """
    from benchbrief.results.runs.find_runs import find_run, imported_from, last_interrupted
    from benchbrief.runners.fleet.submitted_run import submitted_run

    run_dir = find_run(out, run) if run else last_interrupted(out)
    if imported_from(run_dir):
        raise fail(f"{run_dir.name} was imported: there is nothing to go on with", "measure with `bench run SPEC`")
    require_writable(asked["junit"], asked["markdown"])
    progress = Progress(quiet=asked["quiet"])
    _warn_of_changed_files(run_dir, progress)
    if submitted_run(run_dir) is not None:
        follow_and_report(run_dir, progress, asked)
    else:
        run_and_report(run_dir, progress, asked)


def _warn_of_changed_files(run_dir: Path, progress: Progress) -> None:
    """Warn of spec files that have changed since the run was planned."""
    from benchbrief.runners.journal.run_folder import load_plan

    spec = load_plan(run_dir).spec
    changed = []
    for name, sha256 in spec.files.items():
        with suppress(OSError):  # the file may be missing, as the run has its own plan
            if hashlib.sha256(Path(name).read_bytes()).hexdigest() != sha256:
                changed.append(name)
    if changed:
        progress.warn(
            f"{' and '.join(changed)} changed since the run began, which goes on as it was planned; "
            f"for what it says now: bench run {spec.name}"
        )
