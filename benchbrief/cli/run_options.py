"""The arguments and options of every command that looks at a finished or running run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from benchbrief.cli.option_groups import F
from benchbrief.cli.run_names import OUT
from benchbrief.cli.terminal import warn

if TYPE_CHECKING:
    from benchbrief.results.store.store import Store


def out_option(function: F) -> F:
    """`--out FOLDER`, the folder that holds the runs."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path),
        default=OUT,
        show_default=True,
        help="Folder that holds the runs.",
    )(function)


def run_argument(function: F) -> F:
    """An optional RUN: a run's name, the start of it, its folder, or `imported` or `simulated` for the last one of
    these; the last run that was measured when left out."""
    return click.argument("run", required=False, shell_complete=complete_run)(function)


def metrics_option(function: F) -> F:
    """`--openmetrics FILE`, kept up to date while a run goes on."""
    return click.option(
        "--openmetrics",
        "metrics",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Keep FILE up to date in OpenMetrics text (a .prom file for node_exporter's textfile collector).",
    )(function)


def chosen_run(out: Path, run: str | None, option: str = "") -> Path:
    """The run's directory. `option` is what stands before a run's name on the command line. Raises RunnerError when
    there is none."""
    from benchbrief.results.runs.find_runs import find_run, last_run

    return find_run(out, run) if run else last_run(out, option)


def open_results(run_dir: Path) -> Store:
    """The run's results as its journal has them now. Warns when its tables were damaged, and were built again, or when
    its journal was changed.

    Raises RunnerError.
    """
    from benchbrief.results.building.open_store import fresh_store, store_warnings

    results = fresh_store(run_dir)
    for text in store_warnings(results):
        warn(text)
    return results


def complete_run(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    out = Path(ctx.params.get("out") or OUT)
    names = sorted(path.parent.name for path in out.glob("*/plan.json"))
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def wait_option(function: F) -> F:
    """`--wait`, for hosts that another run holds."""
    return click.option("--wait", is_flag=True, help="Wait for hosts that another run holds.")(function)
