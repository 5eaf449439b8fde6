"""Pushes a run to a shared store, now or as soon as the store can be reached."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchbrief.dsl.bench_error import BenchError
from benchbrief.history.object_stores.object_store import StoreAway, StoreFull, StoreRefuses
from benchbrief.history.series_rows import write_series
from benchbrief.history.shared_store.push_and_pull import Push, Pushed, push_run
from benchbrief.history.shared_store.run_manifest import QueuedPush, dequeue, enqueue, queued
from benchbrief.history.shared_store.shared_store import open_store
from benchbrief.history.shared_store.signatures import sign
from benchbrief.results.runs.find_runs import list_runs
from benchbrief.results.store_errors import ResultsError


def push_now(
    run_dir: Path,
    asked: QueuedPush,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
    caution: Callable[[str], None] = lambda _text: None,
) -> Pushed:
    """Push a run. If the store can't accept it now, queue the push in the run's folder, to be tried again.

    Raises RunnerError, OSError.
    """
    signed = partial(sign, key=Path(asked.key)) if asked.key else None
    push = Push(tags=asked.tags, sign=signed, progress=progress, more={"series": write_series})
    try:
        pushed = push_run(run_dir, open_store(asked.url), push)
    except (StoreAway, StoreFull, StoreRefuses) as error:
        enqueue(run_dir, asked)
        forget = f"bench push --forget {shlex.quote(asked.url)}"
        error.hint = (
            f"{error.hint}; the push is kept, and tried again by: bench push --queued, or forgotten by: {forget}"
        )
        raise
    dequeue(run_dir, asked.url)
    for text in push.cautions:
        caution(text)
    return pushed


def push_or_explain(run_dir: Path, url: str) -> str:
    """Push a run that has just ended. If the push fails, return the reason instead of raising an error, because a
    problem of the store must not make a measurement fail. Otherwise, return ""."""
    asked = QueuedPush(url)
    try:
        push_now(run_dir, asked)
    except (BenchError, OSError) as error:
        hint = error.hint if isinstance(error, BenchError) else ""
        return f"not pushed: {error}" + (f" ({hint})" if hint else "")
    except Exception as error:
        enqueue(run_dir, asked)
        return f"not pushed, and kept for `bench push --queued`: {type(error).__name__}"
    return ""


def queued_pushes(out: Path) -> list[tuple[Path, QueuedPush]]:
    """Return the queued pushes in a folder of runs, with their runs. Raises RunnerError, OSError."""
    return [(run_dir, each) for run_dir in list_runs(out) for each in queued(run_dir)]


def forget_pushes(out: Path, url: str, run_dir: Path | None = None) -> list[Path]:
    """Drop the queued pushes to a store, in a folder of runs or in one run. Returns the runs of these pushes.

    Raises RunnerError, for example if no push to that store is queued, and OSError.
    """
    waiting = queued_pushes(out) if run_dir is None else [(run_dir, each) for each in queued(run_dir)]
    found = [(run, each.url) for run, each in waiting if each.url.rstrip("/") == url.rstrip("/")]
    if not found:
        others = ", ".join(dict.fromkeys(each.url for _, each in waiting))
        hint = f"those that wait are to {others}" if others else f"no push waits in {run_dir or out} at all"
        raise ResultsError(f"no push to {url} waits", hint)
    for run, exactly in found:
        dequeue(run, exactly)
    return [run for run, _ in found]
