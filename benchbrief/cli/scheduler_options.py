"""The options of a command that gives lanes to a scheduler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from benchbrief.runners.fleet.scheduler import SCHEDULERS

F = TypeVar("F", bound=Callable[..., Any])


def scheduler_options(function: F) -> F:
    """`--on SCHEDULER`, and `--job-option` (repeatable)."""
    function = click.option(
        "--job-option",
        "job_options",
        multiple=True,
        metavar="NAME=VALUE",
        help="With --on: ask the scheduler for this with each job.  [partition=nvme, time=4:00:00]",
    )(function)
    return click.option(
        "--on",
        "scheduler",
        type=click.Choice(sorted(SCHEDULERS)),
        help="Run each lane as a job of this scheduler.",
    )(function)
