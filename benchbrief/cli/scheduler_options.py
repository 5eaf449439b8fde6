"""The options of a command that gives lanes to a scheduler."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from benchbrief.cli.option_groups import F


class _SchedulerName(click.ParamType[str]):
    """The name of an installed scheduler. They are looked for only where the option is used."""

    name = "scheduler"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from benchbrief.compiler.extensions.registry import SCHEDULER_SPECS
        from benchbrief.dsl.diagnostics.suggest import did_you_mean

        known = SCHEDULER_SPECS.names
        if value not in known:
            guess = did_you_mean(value, known)
            hint = f"did you mean {guess}?" if guess else f"there are: {', '.join(known)}"
            self.fail(f"no scheduler is called {value!r}; {hint}", param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from benchbrief.compiler.extensions.registry import SCHEDULER_SPECS

        return [CompletionItem(name) for name in SCHEDULER_SPECS.names if name.startswith(incomplete)]


def scheduler_options(function: F) -> F:
    """`--on SCHEDULER`, and `--job-option` (repeatable)."""
    function = click.option(
        "--job-option",
        "job_options",
        multiple=True,
        metavar="NAME=VALUE",
        help="With --on: ask the scheduler for this with each job, before what the spec says.  [time=4:00:00]",
    )(function)
    return click.option(
        "--on",
        "scheduler",
        type=_SchedulerName(),
        metavar="SCHEDULER",
        help="Run each lane as a job of this scheduler, such as slurm.",
    )(function)


def label_of(scheduler: str) -> str:
    from benchbrief.compiler.extensions.registry import SCHEDULER_SPECS

    spec = SCHEDULER_SPECS.usable(scheduler)
    return spec.label if spec else scheduler
