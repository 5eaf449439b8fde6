"""The options and progress bars of the commands that use a shared store, and the environment variable with the store's
address."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import click

from benchbrief.cli.run_options import OUT, F, with_options
from benchbrief.cli.terminal import one_line

if TYPE_CHECKING:
    from benchbrief.history.read_series import FoundSeries

STORE = "BENCHBRIEF_STORE"
"""The environment variable with the address of the store that runs are pushed to."""
ADDRESS = "s3://BUCKET/PREFIX, file:///FOLDER or a folder"


def from_option(function: F) -> F:
    """Add `--from URL`, the address of a shared store, to a command."""
    return click.option("--from", "url", metavar="URL", help=f"A shared store: {ADDRESS}.")(function)


def byte_progress(what: str, *, quiet: bool) -> AbstractContextManager[Callable[[int, int], None]]:
    """Show progress in bytes on a terminal. Yields a function to call with the number of bytes done so far, and with
    the total."""
    return _progress(one_line(what), quiet, "DownloadColumn", "TransferSpeedColumn")


def run_progress(what: str, *, quiet: bool = False) -> AbstractContextManager[Callable[[int, int], None]]:
    """Show on a terminal how many runs have been read. Yields a function to call with the number of runs read so far,
    and with the total."""
    return _progress(what, quiet, "MofNCompleteColumn")


@contextmanager
def _progress(what: str, quiet: bool, *columns: str) -> Iterator[Callable[[int, int], None]]:
    if quiet or not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich import progress
    from rich.console import Console

    shown = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        *(getattr(progress, c)() for c in columns),
    )
    with progress.Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, all_: bar.update(task, completed=done, total=all_)


def size_text(size: int) -> str:
    """Return a number of bytes in readable form."""
    amount, units = float(size), ["B", "kB", "MB", "GB", "TB"]
    while amount >= 999.5 and len(units) > 1:
        amount /= 1000
        del units[0]
    return f"{amount:.3g} {units[0]}"


class History(TypedDict):
    place: str
    where: tuple[tuple[str, str], ...]
    tag: str
    spec: str
    origin: str
    across: tuple[str, ...]
    verdicts: Path


class _Where(click.ParamType[tuple[str, str]]):
    """A filter such as `hardware=nvme`, parsed into a dimension and a key."""

    name = "dim=key"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        dim, equals, key = str(value).partition("=")
        if not equals or not dim.strip() or not key.strip():
            self.fail(f"{value!r} is not DIM=KEY, such as hardware=nvme or threads=8", param, ctx)
        return dim.strip(), key.strip()


def trend_rules(function: F) -> F:
    """Add `--across` and `--verdicts` to a command."""
    across = click.option(
        "--across",
        multiple=True,
        metavar="FACT",
        help="This fact is what is tested, so runs that differ in it stay one series: 'database version', "
        "'tool NAME.*'. Repeatable.",
    )
    verdicts = click.option(
        "--verdicts",
        type=click.Path(path_type=Path, dir_okay=False),
        default=Path("bench-verdicts.toml"),
        show_default=True,
        metavar="FILE",
        help="What people decided about changes; keep it in git.",
    )
    return across(verdicts(function))


def history_options(function: F) -> F:
    """Add `--from`, `--where`, `--tag`, `--spec`, `--origin`, `--across` and `--verdicts` to a command."""
    return with_options(
        function,
        click.option(
            "--from",
            "--out",  # as other commands call a folder of runs
            "place",
            default=str(OUT),
            show_default=True,
            metavar="STORE",
            help="A folder of runs, or a shared store such as s3://bucket/prefix.",
        ),
        click.option(
            "--where",
            type=_Where(),
            multiple=True,
            metavar="DIM=KEY",
            help="Only these points: hardware=nvme, threads=8, workload='read*'. Repeatable.",
        ),
        click.option("--tag", default="", metavar="TAG", help="Only runs that were pushed with this tag."),
        click.option("--spec", default="", metavar="NAME", help="Only runs of the spec file with this name."),
        click.option(
            "--origin",
            type=click.Choice(("measured", "simulated", "imported")),
            default="measured",
            show_default=True,
            metavar="ORIGIN",
            help="Runs that were measured, simulated or imported.",
        ),
        trend_rules,
    )


def read_history(asked: History, quantities: tuple[str, ...]) -> FoundSeries:
    """Return the chosen series, with progress shown on a terminal. Raises RunnerError."""
    from benchbrief.history.read_series import SeriesChoice, read_series
    from benchbrief.history.series_cache import open_series, run_source

    where: dict[str, tuple[str, ...]] = {}
    for dim, key in asked["where"]:
        where[dim] = (*where.get(dim, ()), key)
    choice = SeriesChoice(quantities, where, asked["tag"], asked["spec"], asked["origin"], asked["across"])  # type: ignore[arg-type]  # one of the choices
    with run_progress("reading runs") as progress, open_series(run_source(asked["place"]), progress) as table:
        return read_series(table, choice)
