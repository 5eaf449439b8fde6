"""The options of the commands that use a shared store."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import click

from benchbrief.cli.option_groups import F
from benchbrief.cli.terminal import one_line

STORE = "BENCHBRIEF_STORE"
"""The variable with the address of the store that runs are pushed to."""
ADDRESS = "s3://BUCKET/PREFIX, file:///FOLDER or a folder"


def from_option(function: F) -> F:
    """`--from URL`, a shared store."""
    return click.option("--from", "url", metavar="URL", help=f"A shared store: {ADDRESS}.")(function)


def byte_progress(what: str, *, quiet: bool) -> AbstractContextManager[Callable[[int, int], None]]:
    """On a terminal, show how far something is. Yields what is called with the bytes that are done, and all of them."""
    return _progress(one_line(what), quiet, "DownloadColumn", "TransferSpeedColumn")


def run_progress(what: str, *, quiet: bool = False) -> AbstractContextManager[Callable[[int, int], None]]:
    """On a terminal, show how many runs are read. Yields what is called with how many are done, and all."""
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
    """Return a number of bytes for people."""
    amount, units = float(size), ["B", "kB", "MB", "GB", "TB"]
    while amount >= 999.5 and len(units) > 1:
        amount /= 1000
        del units[0]
    return f"{amount:.3g} {units[0]}"
