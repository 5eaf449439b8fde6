"""Handles Ctrl-C, SIGTERM and a closed terminal during a run."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from benchbrief.cli.run_options import run_name
from benchbrief.cli.terminal import end_request, last_words, one_line, silence_what_is_closed
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import first_of
from benchbrief.progress.run_progress import Progress

if TYPE_CHECKING:
    from benchbrief.runners.session import Underway

_NAMED = 5
"""The most jobs to name. Further jobs are only counted."""


@contextmanager
def stop_on_signals(progress: Progress, run_dir: Path, underway: Underway | None = None) -> Iterator[threading.Event]:
    """Yield an event that the first SIGINT, SIGTERM or SIGHUP sets. A second signal ends the process at once.

    At the first signal, the jobs in `underway` that the run still waits for are shown. At the second signal, the jobs
    that it leaves behind are shown. Signals that are ignored stay ignored, because a process under `nohup` has to
    survive its terminal.
    """
    stopping = threading.Event()
    # A note may wait for the terminal, which must not delay the handler of the second signal. A handler may put into
    # such a queue (https://docs.python.org/3/library/queue.html#queue.SimpleQueue.put).
    notes: SimpleQueue[str | None] = SimpleQueue()

    def stop(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            silence_what_is_closed()
            if stopping.is_set():  # a terminal that is closed may send it twice
                return
        if stopping.is_set():
            _end_at_once(progress, run_dir, underway)
        stopping.set()
        notes.put("stopping what runs; the same again ends at once, and leaves it running")
        if underway:
            underway.tell = notes.put
            for text in underway.waited():
                notes.put(f"waiting for {text}")

    def tell() -> None:
        for text in iter(notes.get, None):
            progress.note(text)

    teller = threading.Thread(target=tell, name="teller", daemon=True)
    teller.start()
    handled = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in handled}
    if end_request().is_made:  # the signal came before these handlers were set
        stopping.set()
    try:
        yield stopping
    finally:
        notes.put(None)
        teller.join()
        if underway:
            underway.tell = None
        for number, handler in before.items():
            signal.signal(number, handler)


_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _end_at_once(progress: Progress, run_dir: Path, underway: Underway | None) -> NoReturn:
    # An exception would close the journal while the lanes, which are threads, still write to it.
    try:
        progress.leave_terminal()
        last_words(_left_behind(run_dir, underway.jobs() if underway else []))
    finally:
        os._exit(ExitCode.INTERRUPTED)


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Make SIGTERM end the command like Ctrl-C, so that it releases its claims. `bench stop` sends SIGTERM."""
    before = signal.getsignal(signal.SIGTERM)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, end_request().on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _left_behind(run_dir: Path, jobs: list[str]) -> str:
    """Name the jobs that keep running after this process, and tell the user how to end them."""
    what = f"left running: {first_of(jobs, _NAMED)}; " if jobs else ""
    run = run_name(run_dir)
    text = f"{what}what was measured is kept; go on with: bench resume {run}, or clear its hosts with: bench stop {run}"
    return f"{one_line(text)}\n"
