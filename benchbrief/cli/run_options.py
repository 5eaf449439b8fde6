"""The arguments and options that several commands about a run share."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from benchbrief.cli.terminal import fail, warn
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import first_of

if TYPE_CHECKING:
    from benchbrief.model.events import Failing, Simulated
    from benchbrief.model.extension_spec import Format
    from benchbrief.model.plan import Plan
    from benchbrief.results.store.store import Store

F = TypeVar("F", bound=Callable[..., Any])


def with_options(function: F, *options: Callable[[Any], Any]) -> F:
    """Add these options to a command. Its help lists them in this order."""
    for option in reversed(options):
        function = option(function)
    return function


OUT = Path("bench-out")
"""The default folder of runs."""


def run_name(run_dir: Path) -> str:
    """Return the shortest way to name a run on the command line: its name, or its folder if that is outside the usual
    one."""
    return run_dir.name if run_dir.parent == OUT else shlex.quote(str(run_dir))


def out_option(function: F) -> F:
    """Add `--out FOLDER`, the folder of the runs, to a command."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path),
        default=OUT,
        show_default=True,
        help="Folder that holds the runs.",
    )(function)


def run_argument(function: F) -> F:
    """An optional RUN: a run's name, the start of its name, its folder, or `imported` or `simulated` for the last run
    of that kind. The default is the last measured run."""
    return click.argument("run", required=False, shell_complete=complete_run)(function)


def metrics_option(function: F) -> F:
    """Add `--openmetrics FILE` to a command. The file is kept up to date during a run."""
    return click.option(
        "--openmetrics",
        "metrics",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Keep FILE up to date in OpenMetrics text, for node_exporter's textfile collector.",
    )(function)


def chosen_run(out: Path, run: str | None, option: str = "") -> Path:
    """Return the run's directory. `option` is the option that names a run, for the hint of an error. Raises RunnerError
    if there is no such run."""
    from benchbrief.results.runs.find_runs import find_run, last_run

    return find_run(out, run) if run else last_run(out, option)


def open_results(run_dir: Path) -> Store:
    """Return the run's results, brought up to date with its journal. Warns if damaged tables were rebuilt, or if
    someone changed the journal.

    Raises RunnerError.
    """
    from benchbrief.results.open_store import fresh_store, store_warnings

    results = fresh_store(run_dir)
    for text in store_warnings(results):
        warn(text)
    return results


def complete_run(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    out = Path(ctx.params.get("out") or OUT)
    names = sorted(path.parent.name for path in out.glob("*/plan.json"))
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def wait_option(function: F) -> F:
    """Add `--wait` to a command. With it, the command waits for hosts that another run claims."""
    return click.option("--wait", is_flag=True, help="Wait for hosts that another run holds.")(function)


class _SchedulerName(click.ParamType[str]):
    """The name of an installed scheduler. Schedulers are looked up only when the option is used."""

    name = "scheduler"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from benchbrief.compiler.registry import SCHEDULER_SPECS
        from benchbrief.dsl.diagnostics.suggest import did_you_mean

        known = SCHEDULER_SPECS.names
        if value not in known:
            guess = did_you_mean(value, known)
            hint = f"did you mean {guess}?" if guess else f"there are: {', '.join(known)}"
            self.fail(f"no scheduler is called {value!r}; {hint}", param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from benchbrief.compiler.registry import SCHEDULER_SPECS

        return [CompletionItem(name) for name in SCHEDULER_SPECS.names if name.startswith(incomplete)]


def scheduler_options(function: F) -> F:
    """Add `--on SCHEDULER` and `--job-option` (repeatable) to a command."""
    function = click.option(
        "--job-option",
        "job_options",
        multiple=True,
        metavar="NAME=VALUE",
        help="Ask for this with each job, such as time=4:00:00. It beats the spec. Repeatable.",
    )(function)
    return click.option(
        "--on",
        "scheduler",
        type=_SchedulerName(),
        metavar="SCHEDULER",
        help="Run each lane as a job of this scheduler; `bench extensions` lists those of other packages.",
    )(function)


def label_of(scheduler: str) -> str:
    from benchbrief.compiler.registry import SCHEDULER_SPECS

    spec = SCHEDULER_SPECS.usable(scheduler)
    return spec.label if spec else scheduler


SIMULATED = "simulated: no host is reached and no tool is run; the numbers are a queueing model's, not measurements"
SHORT = "simulated, nothing was measured"
IMPORTED = "imported, not measured here"
_SHOWN = 8
"""The most hosts to list when a named host is not found."""


class Share(click.ParamType[float]):
    """An option whose value is a share, written as `0.05` or `5%` and converted to a number from 0 to 1."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            self.fail(f"{value!r} is not a share: write 0.05 or 5%", param, ctx)
        return share


class _HostShare(click.ParamType[tuple[str, float]]):
    """A pattern of hosts, and a share of their jobs, such as `db-*=5%`. Without a share, as in `db-3.lab`, all jobs
    count."""

    name = "host[=share]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        if isinstance(value, tuple):
            return value
        pattern, equals, share = str(value).rpartition("=")
        return (pattern, Share().convert(share, param, ctx)) if equals else (share, 1.0)


def simulate_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--simulate` and its options to a command. They are passed on as `simulated`, which is None for a
    real run."""

    @wraps(function)
    def command(
        *words: Any,
        simulate: bool,
        seed: int | None,
        errors: float | None,
        failing: tuple[tuple[str, float], ...],
        **more: Any,
    ) -> Any:
        return function(*words, simulated=_simulation(simulate, seed, errors, failing), **more)

    return with_options(
        command,
        click.option("--simulate", is_flag=True, help="Simulate the hosts: nothing is measured."),
        click.option("--seed", type=int, metavar="N", help="Make other numbers.  [default: 0]"),
        click.option("--errors", type=Share(), metavar="SHARE", help="Let this share of the operations fail."),
        click.option(
            "--failing",
            type=_HostShare(),
            multiple=True,
            metavar="HOST[=SHARE]",
            help="Let jobs on hosts like `db-*` fail. Repeatable.",
        ),
    )


def _simulation(
    simulate: bool, seed: int | None, errors: float | None, failing: tuple[tuple[str, float], ...]
) -> Simulated | None:
    """Return the requested simulation, or None for a real run. Raises UsageError for simulation options without
    `--simulate`."""
    if not simulate:
        others = {"--seed": seed, "--errors": errors, "--failing": failing or None}
        for name in (name for name, value in others.items() if value is not None):
            raise click.UsageError(f"{name} is for simulated hosts: say --simulate too")
        return None
    from benchbrief.model.events import Failing, Simulated

    hosts: tuple[Failing, ...] = tuple(Failing(pattern=pattern, share=share) for pattern, share in failing)
    return Simulated(seed=seed or 0, errors=errors or 0.0, failing=hosts)


def require_runnable(plan: Plan, spec: Path | str, simulated: Simulated | None) -> None:
    """Raise Stop or a RunnerError if a plan has nothing to run or can't be run."""
    from benchbrief.runners.world.world_choice import world_for

    if not plan.cells:
        raise fail(f"{spec} has no cell to run", "add an experiment to it", ExitCode.SPEC_WRONG)
    world_for(simulated).refuse(plan)
    refuse_unknown_hosts(simulated, plan)


def formats_of(plan: Plan) -> tuple[Format, ...]:
    """Return the formats that the reports of a plan ask for."""
    return tuple(kind for report in plan.reports for kind in report.formats)


def require_libraries(formats: tuple[Format, ...]) -> None:
    """Stop before doing any work if a library for one of the formats is missing."""
    if not formats:
        return
    from benchbrief.reports.brief_error import ReportError
    from benchbrief.reports.office.office_formats import OFFICE_FORMATS

    for kind in formats:
        if kind in OFFICE_FORMATS:
            try:
                OFFICE_FORMATS[kind].require_library()
            except ReportError as error:
                raise fail(str(error), error.hint) from error


@contextmanager
def removed_unbegun(run_dir: Path) -> Iterator[None]:
    """Remove a run's folder if the run ends before anything has started."""
    from benchbrief.runners.errors import HostBusy, NoHost, NoTool, OneMachine

    try:
        yield
    except (HostBusy, NoHost, NoTool, OneMachine):
        shutil.rmtree(run_dir, ignore_errors=True)
        raise


def refuse_unknown_hosts(simulated: Simulated | None, plan: Plan) -> None:
    """Raise Stop with a message if a `--failing` pattern matches no host of the plan."""
    if simulated is None or not simulated.failing:
        return
    sides = dict.fromkeys((cell.hardware, cell.load_hosts) for cell in plan.cells)
    known = sorted({host for group, load in sides for host in (*plan.hardware[group].hosts, *load)})
    for each in simulated.failing:
        if not any(fnmatchcase(host, each.pattern) for host in known):
            there = f"there are {first_of(known, _SHOWN)}"
            raise fail(f"--failing {each.pattern}: no host of the spec is like it", there)
