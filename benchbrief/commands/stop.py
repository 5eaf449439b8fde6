"""`bench stop`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.pipeline import said
from benchbrief.progress import Progress
from benchbrief.run_options import out_option, run_argument
from benchbrief.spec_options import compile_or_stop, spec_options
from benchbrief.terminal import ExitCode, Stop, exit_codes, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORDS = {
    "stopped": "its controller has stopped it",
    "cleaned": "its controller was gone; ended here",
    "ended": "it had ended before",
}


@click.command(
    epilog="""
\b
Examples:
  bench stop                          the run that goes on, else the last that was left by its controller
  bench stop 20260301-101500-brief
  bench stop --strays brief.bench     end what dead controllers left on the hosts of a spec

Ends with code 3 when a host could not be cleaned up: it is named, and the same command can be given again.

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
    """End RUN and leave nothing of it on its hosts; `bench resume` can go on with it.

    A run that goes on is asked to stop, as by Ctrl-C, and waited for. One whose controller is gone is ended from here:
    its jobs are ended with all that they started, and what lies on its hosts is removed. Without RUN, where another
    than the one that goes on could be meant, nothing is ended, and they are listed.
    """
    if spec is not None:
        if run is not None:
            raise click.UsageError("--strays is for the hosts of a spec, whichever run: leave RUN out")
        _end_strays(spec, profile, params, as_json=as_json)
        return
    from benchbrief.results.runs import find_run, last_unended
    from benchbrief.runners.stopping import stop_run

    run_dir = find_run(out, run) if run else last_unended(out)
    done = stop_run(run_dir, Progress(quiet=quiet).note)
    if as_json:
        told = {"run": run_dir.name, "directory": str(run_dir), "how": done.how, "jobs_ended": done.jobs}
        click.echo(json.dumps({**told, "not_cleaned": _reasons(done.unclean)}, indent=1, ensure_ascii=False))
    else:
        jobs = f"; {done.jobs} of its jobs still ran" if done.jobs else ""
        click.echo(f"{run_dir.name}: {_WORDS[done.how]}{jobs}")
        _tell_unclean(done.unclean, f"bench stop {said(run_dir)}")
    if done.unclean:
        raise Stop(ExitCode.CELL_FAILED)


def _end_strays(spec: Path, profile: str | None, params: dict[str, str], *, as_json: bool) -> None:
    from benchbrief.runners.strays import end_strays

    ended, unclean = end_strays(compile_or_stop(spec, profile, params).plan)
    if as_json:
        strays = [{"host": each.host, "what": each.what} for each in ended]
        click.echo(json.dumps({"ended": strays, "not_cleaned": _reasons(unclean)}, indent=1, ensure_ascii=False))
    else:
        for each in ended:
            click.echo(printable(f"{each.host}: ended {each.what}"))
        if not ended and not unclean:
            click.echo("no strays")
        _tell_unclean(unclean, f"bench stop --strays {shlex.quote(str(spec))}")
    if unclean:
        raise Stop(ExitCode.CELL_FAILED)


def _reasons(unclean: Mapping[str, Exception]) -> list[dict[str, str]]:
    return [{"host": host, "reason": str(error)} for host, error in unclean.items()]


def _tell_unclean(unclean: Mapping[str, Exception], again: str) -> None:
    for error in unclean.values():
        click.echo(printable(f"  not cleaned up: {error}"), err=True)
    if unclean:
        click.echo(f"once they can be reached, type: {again}", err=True)
