from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from benchbrief.cli.run_options import (
    formats_of,
    out_option,
    removed_unbegun,
    require_libraries,
    require_runnable,
    scheduler_options,
    simulate_options,
)
from benchbrief.cli.sections import RUN_FILES, SCHEDULER, SIMULATION, SectionedCommand
from benchbrief.cli.spec_options import budget_option, compile_or_stop, spec_options
from benchbrief.cli.terminal import ENDS, exit_codes, fail
from benchbrief.cli.verdict_files import require_writable
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.progress.earlier_results import Retake, look_for_earlier, refuse_small_budgets
from benchbrief.progress.run_progress import Progress
from benchbrief.running.lanes import submit_and_report
from benchbrief.running.run_output import EndingOptions, ending_options, run_and_report

if TYPE_CHECKING:
    from benchbrief.model.events import Simulated
    from benchbrief.model.plan import Plan


@click.command(
    cls=SectionedCommand,
    sections={"Schedulers": SCHEDULER, "Simulated hosts": SIMULATION, "Files and stores": RUN_FILES},
    epilog="""
\b
Examples:
  bench run brief.bench --profile smoke --param records=10k
  bench run brief.bench --budget 12h      repeats go where they decide most
  bench run brief.bench --simulate        the whole way, in seconds
  bench run brief.bench --on slurm --job-option time=4:00:00
  bench run brief.bench --junit out.xml --markdown "$GITHUB_STEP_SUMMARY"

Cells that an earlier run of the folder measured well are taken from it, if their definition, hosts and tools are the
same. Ctrl-C stops the running tools, and `bench resume` goes on. `bench watch` follows the run from another shell.

--simulate reaches no host and runs no tool: throughput and latency come from a queueing model. Everything that comes of
it is marked as simulated, no `expect` counts, and no later run takes anything from it.

--on gives the lanes of the plan to a scheduler, in a folder that all nodes see, and measures all cells
(docs/fleets.md). If the controller is killed, the jobs go on, and `bench resume` finds them.

"""
    + exit_codes(*ENDS, fails="an `expect` does not hold"),
)
@click.argument("spec", type=click.Path(path_type=Path))
@spec_options
@budget_option
@out_option
@simulate_options
@click.option("--fresh", is_flag=True, help="Measure all cells; take none from earlier runs.")
@scheduler_options
@ending_options
def command(
    spec: Path,
    profile: str | None,
    params: dict[str, str],
    budget: float | None,
    out: Path,
    simulated: Simulated | None,
    fresh: bool,
    scheduler: str | None,
    job_options: tuple[str, ...],
    **asked: Unpack[EndingOptions],
) -> None:
    """Run SPEC on its hosts, keep every result, and render its brief as PDF and HTML."""
    require_writable(asked["junit"], asked["markdown"])
    if job_options and scheduler is None:
        raise click.UsageError("--job-option is for the jobs of a scheduler: say --on too")
    if scheduler and asked["metrics"]:
        raise click.UsageError("--openmetrics is of one controller: `bench status --openmetrics` shows all lanes")
    progress = Progress(quiet=asked["quiet"])
    _refuse_a_run(spec, out)
    checked = compile_or_stop(spec, profile, params, budget_s=budget)
    found = sum(each.severity == "warning" for each in checked.diagnostics)
    warned = [f"the spec has {plural(found, 'warning')}: bench check {shlex.quote(str(spec))}"] if found else []
    require_libraries(() if asked["no_report"] else formats_of(checked.plan))
    run_dir, retake = _made(spec, checked.plan, out, simulated, fresh or scheduler is not None, progress)
    del checked  # a large fleet's spec takes more memory than the run
    if scheduler:
        submit_and_report(run_dir, scheduler, job_options, progress, asked, warned)
        return
    with removed_unbegun(run_dir):
        run_and_report(run_dir, progress, asked, warned, retake)


def _refuse_a_run(spec: Path, out: Path) -> None:
    """Raise Stop with a message if a run is given instead of a spec."""
    from benchbrief.cli.run_options import run_name
    from benchbrief.runners.journal.run_folder import PLAN, load_plan

    found = next((path for path in (spec, out / spec) if (path / PLAN).is_file()), None)
    if found is not None and not spec.is_file():
        again = shlex.quote(load_plan(found).spec.name)
        raise fail(
            f"`{spec}` is a run, and no spec",
            f"go on with it: `bench resume {run_name(found)}`; run its spec anew: `bench run {again}`",
            ExitCode.SPEC_WRONG,
        )


def _made(
    spec: Path, plan: Plan, out: Path, simulated: Simulated | None, fresh: bool, progress: Progress
) -> tuple[Path, Retake | None]:
    """Make a new run. Return its directory, and a Retake for choosing earlier results again. The Retake is None if the
    run reuses no results."""
    from benchbrief.comparing.git_files import revision_of
    from benchbrief.runners.journal.run_folder import create_run

    require_runnable(plan, spec, simulated)
    files = {name: Path(name).read_bytes() for name in plan.spec.files}
    revision = revision_of(spec, map(Path, files))
    if fresh or simulated:
        refuse_small_budgets(plan, out, simulated=simulated is not None, progress=progress)
        return create_run(out, plan, files, simulated=simulated, revision=revision), None
    with progress.doing("looking at what was measured before"):
        taken = look_for_earlier(plan, out)
    known = {each.cell.id for each in taken.carried}
    refuse_small_budgets(plan, out, simulated=False, progress=progress, taken=known)
    run_dir = create_run(out, plan, files, taken.begin, revision=revision)
    taken.show(progress)
    return run_dir, Retake(out, taken.found)
