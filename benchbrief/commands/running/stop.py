from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.cli.run_options import out_option, run_argument, run_name
from benchbrief.cli.spec_options import compile_or_stop, spec_options
from benchbrief.cli.terminal import Stop, exit_codes, one_line, show, show_json
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.progress.run_progress import Progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchbrief.runners.stop_run import Stopped

_WORDS = {
    "stopped": "stopped by its own controller, which leaves nothing on its hosts",
    "cleaned": "its controller had gone, so it was stopped from here",
    "ended": "it had ended before",
}


@click.command(
    epilog="""
\b
Examples:
  bench stop                          the run that goes on, or was left
  bench stop 20260301-101500-brief
  bench stop --strays brief.bench     what dead controllers left on its hosts

A host that could not be cleaned up is named, and the code is 3. Give the same command again.

"""
    + exit_codes(ExitCode.DONE, ExitCode.SPEC_WRONG, ExitCode.USAGE, ExitCode.CELL_FAILED)
)
@run_argument
@out_option
@click.option(
    "--strays",
    "spec",
    metavar="SPEC",
    type=click.Path(path_type=Path),
    help="End the jobs and claims of dead controllers on the hosts of SPEC, whichever run they are of.",
)
@spec_options
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def command(
    run: str | None,
    out: Path,
    spec: Path | None,
    profile: str | None,
    params: dict[str, str],
    quiet: bool,
    as_json: bool,
) -> None:
    """Stop RUN, keep what it has measured, and leave nothing of it on its hosts; `bench resume` can continue it.

    A run in progress is asked to stop, as by Ctrl-C, and waited for. If its controller is gone, this command ends its
    jobs with everything that they started, and removes and lists what they left on the hosts. If the run is on a
    scheduler, its jobs are cancelled and waited for.

    The run may have been moved. A copy of a run has no claim to what the original has started. If RUN is left out, and
    several runs could be meant, they are listed, and nothing is ended.
    """
    if spec is not None:
        if run is not None:
            raise click.UsageError("--strays is for the hosts of a spec, whichever run: leave RUN out")
        _end_strays(spec, profile, params, as_json=as_json)
        return
    from benchbrief.results.runs.find_runs import find_run, last_unended
    from benchbrief.runners.stop_run import stop_any_run
    from benchbrief.running.lanes import merge_so_far

    run_dir = find_run(out, run) if run else last_unended(out)
    done = stop_any_run(run_dir, Progress(quiet=quiet).note)
    merge_so_far(run_dir)
    if as_json:
        document = {
            "run": run_dir.name,
            "directory": str(run_dir),
            "how": done.how,
            "jobs_ended": done.jobs,
            "ended": [{"host": host, "what": left.what} for host, left in done.found],
            "copied_from": done.copied_from,
            "not_cleaned": _reasons(done.unclean),
        }
        show_json(document)
    else:
        show(f"{run_dir.name}: {_WORDS[done.how]}{_what_was_left(done)}")
        for host, left in done.found:
            show(f"  {host}: {left.ended}")
        if done.copied_from:
            original = one_line(shlex.quote(done.copied_from))
            show(f"  it is a copy, and its original's jobs are not its own; to stop those: bench stop {original}")
        _show_unclean(done.unclean, f"bench stop {run_name(run_dir)}")
        if done.how != "ended":
            show(f"what it has measured is kept; go on with: bench resume {run_name(run_dir)}")
    if done.unclean:
        raise Stop(ExitCode.CELL_FAILED)


def _what_was_left(done: Stopped) -> str:
    """Describe everything that was found on the hosts, so that users can see whether a job was there."""
    if done.how == "stopped":
        return ""
    if not done.found:
        return "" if done.unclean else "; nothing of it was found on its hosts"
    claims = sum(left.is_claim for _, left in done.found)
    processes = sum(left.kind == "process" for _, left in done.found)
    removed = len(done.found) - done.jobs - claims - processes
    parts = (
        f"ended {plural(done.jobs, 'job')}" if done.jobs else "",
        f"ended {plural(processes, 'process', 'processes')} that its jobs had left" if processes else "",
        f"removed what {plural(removed, 'job')} had left" if removed else "",
        f"released {plural(claims, 'claim')}" if claims else "",
    )
    return f"; {', '.join(part for part in parts if part)}"


def _end_strays(spec: Path, profile: str | None, params: dict[str, str], *, as_json: bool) -> None:
    from benchbrief.runners.hosts.orphans import end_strays

    ended, unclean = end_strays(compile_or_stop(spec, profile, params).plan)
    if as_json:
        strays = [{"host": each.host, "what": each.what} for each in ended]
        show_json({"ended": strays, "not_cleaned": _reasons(unclean)})
    else:
        for each in ended:
            show(f"{each.host}: {each.ended}")
        if not ended and not unclean:
            show("no dead controller left a job or a claim on the hosts of the spec")
        _show_unclean(unclean, f"bench stop --strays {shlex.quote(str(spec))}")
    if unclean:
        raise Stop(ExitCode.CELL_FAILED)


def _reasons(unclean: Mapping[str, Exception]) -> list[dict[str, str]]:
    return [{"host": host, "reason": str(error)} for host, error in unclean.items()]


def _show_unclean(unclean: Mapping[str, Exception], again: str) -> None:
    for error in unclean.values():
        show(one_line(f"  not cleaned up: {error}"), err=True)
    if unclean:
        show(f"once the hosts can be reached, type: {again}", err=True)
