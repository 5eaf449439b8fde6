"""The options of the commands that use a shared store."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from benchbrief.cli.terminal import one_line

F = TypeVar("F", bound=Callable[..., Any])
STORE = "BENCHBRIEF_STORE"
"""The variable with the address of the store that runs are pushed to."""
ADDRESS = "s3://BUCKET/PREFIX, file:///FOLDER or a folder"


def from_option(function: F) -> F:
    """`--from URL`, a shared store."""
    return click.option("--from", "url", metavar="URL", help=f"A shared store: {ADDRESS}.")(function)


@contextmanager
def byte_progress(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """On a terminal, show how far something is. Yields what is called with what is done and all of it."""
    if quiet or not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(one_line(what), total=None)
        yield lambda done, all_: shown.update(task, completed=done, total=all_)


@contextmanager
def run_progress(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """On a terminal, show how many runs are read. Yields what is called with how many are done, and all."""
    if quiet or not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, all_: shown.update(task, completed=done, total=all_)


def size_text(size: int) -> str:
    """Return a number of bytes for people."""
    amount, units = float(size), ["B", "kB", "MB", "GB", "TB"]
    while amount >= 999.5 and len(units) > 1:
        amount /= 1000
        del units[0]
    return f"{amount:.3g} {units[0]}"
