from __future__ import annotations

import math
import shlex
from dataclasses import replace
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from benchbrief.cli.run_options import OUT, SIMULATED, chosen_run, complete_run, out_option, run_name, wait_option
from benchbrief.cli.terminal import exit_codes
from benchbrief.dsl.bench_error import BenchError, ExitCode
from benchbrief.progress.finished_run import Finished
from benchbrief.progress.run_progress import Progress
from benchbrief.running.run_output import report_end

_FORMER_JOB_S = 900.0
"""How many seconds a restarted job of a scheduler waits for the earlier job to end. A claim without a sign of life
expires earlier than that."""


def _complete_lane(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For shell completion, return the lanes of the run named before, each with its hardware."""
    from benchbrief.runners.fleet.lane_folder import hardware_by_lane

    try:
        lanes = hardware_by_lane(chosen_run(Path(ctx.params.get("out") or OUT), ctx.params.get("run")))
    except BenchError:
        return []
    numbers = [CompletionItem(str(at), help=", ".join(hardware)) for at, hardware in enumerate(lanes, start=1)]
    names = [CompletionItem(key) for hardware in lanes for key in hardware]
    return [item for item in (*numbers, *names) if item.value.startswith(incomplete)]


@click.command(
    epilog="""
\b
Examples:
  bench lane nightly 1                       the first lane of the run
  bench lane nightly nvme                    the lane of this hardware
  bench lane nightly 1 --into /scratch/one   into a folder of its own
  bench lane nightly 2 --wait --quiet        wait for hosts of another run

`bench plan SPEC --into nightly` makes the run and begins nothing; `bench merge nightly` makes one run of its lanes.
Build servers and schedulers start one process for each lane, which needs nothing of the others (docs/fleets.md).

The same command goes on where the lane was, also after a SIGKILL. When all its cells are good, it does nothing and ends
with 0. Ctrl-C and SIGTERM stop what runs on the hosts, and keep what was measured. A second start beside one that goes
on is refused with code 2.

"""
    + exit_codes(ExitCode.DONE, ExitCode.USAGE, ExitCode.CELL_FAILED, ExitCode.BRIEF_NOT_MADE, ExitCode.INTERRUPTED)
)
@click.argument("run", shell_complete=complete_run)
@click.argument("lane", shell_complete=_complete_lane)
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Keep the results there.  [default: lanes/RUN-lane-N in the run's folder]",
)
@out_option
@wait_option
@click.option("--requeued", is_flag=True, hidden=True)
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def command(
    run: str, lane: str, into: Path | None, out: Path, wait: bool, requeued: bool, quiet: bool, as_json: bool
) -> None:
    """Run one LANE of RUN, by its number or its hardware, as `bench plan` shows them. Other processes may run other
    lanes.

    RUN is a folder that `bench plan SPEC --into FOLDER` has made.
    """
    from benchbrief.pipeline import run_lane
    from benchbrief.runners.fleet.lane_folder import chosen_lane, folder_of_lane, refuse_driven_as_one
    from benchbrief.runners.journal.run_folder import simulation_of

    run_dir = chosen_run(out, run)
    refuse_driven_as_one(run_dir)
    chosen = chosen_lane(run_dir, lane)
    folder = folder_of_lane(run_dir, chosen, into)
    progress = Progress(quiet=quiet)
    if simulation_of(folder):
        progress.note(SIMULATED)
    wait_s = math.inf if wait else _FORMER_JOB_S if requeued else 0.0
    finished = run_lane(folder, progress, wait_s=wait_s)
    again = f"bench lane {run_name(run_dir)} {chosen.number}" + (f" --into {shlex.quote(str(into))}" if into else "")
    merge = f"bench merge {run_name(run_dir)}" + (f" {shlex.quote(str(into))}" if into else "")
    report_end(replace(finished, next_steps=_next(finished, again, merge)), report=False, as_json=as_json)


def _next(finished: Finished, again: str, merge: str) -> tuple[tuple[str, str], ...]:
    if finished.status == "interrupted":
        return (("go on with", again),)
    merged = ("when all lanes have ended, make one run of them with", merge)
    return (("try the failed cells again with", again), merged) if finished.failed else (merged,)
