"""Ending a run from outside: its controller is asked to, and where there is none, its hosts are cleaned up."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from benchbrief.runners import journal as j
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.history import records_of
from benchbrief.runners.hosts import CONTROLLER
from benchbrief.runners.journal_io import JOURNAL, Journal, is_being_written, read_journal
from benchbrief.runners.locks import release_all
from benchbrief.runners.rundir import load_plan, run_name
from benchbrief.runners.worlds import world_of

_LOOK_EVERY_S = 0.1
_SAY_EVERY_S = 10.0


@dataclass(frozen=True)
class Stopped:
    """`how`: its controller stopped it; it had none and was ended here; it had ended before, and its hosts are clean.

    `jobs` that still ran were ended here. `unclean` are the hosts that could not be cleaned up, each with the reason.
    """

    how: Literal["stopped", "cleaned", "ended"]
    jobs: int = 0
    unclean: dict[str, Exception] = field(default_factory=dict)


def stop_run(run_dir: Path, say: Callable[[str], None]) -> Stopped:
    """End a run, and leave nothing of it on its hosts. `say` is told what is waited for. Raises RunnerError."""
    if is_being_written(run_dir):
        _ask(run_dir, say)
        if isinstance(_last(run_dir), j.RunEnded):
            return Stopped("stopped")
    return _clean_up(run_dir)


def _last(run_dir: Path) -> j.AnyRecord | None:
    records = records_of(run_dir)
    return records[-1] if records else None


def _ask(run_dir: Path, say: Callable[[str], None]) -> None:
    """Ask the run's controller to stop, and wait until it has.

    Not by SIGINT: a shell starts what goes into its background (`bench run ... &` in a script) with that ignored.
    """
    pid = _controller(run_dir)
    if pid is None:
        raise RunnerError(
            f"{run_dir.name} is driven by a process that is not to be found here",
            "Is it of another user or machine? Stop it there.",
        )
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    except PermissionError:
        raise RunnerError(f"process {pid} drives {run_dir.name}, and is another user's", "Ask them.") from None
    started = said = time.monotonic()
    say(f"asked process {pid} to stop")
    while is_being_written(run_dir):
        time.sleep(_LOOK_EVERY_S)
        now = time.monotonic()
        if now - said > _SAY_EVERY_S:
            said = now
            say(f"process {pid} is still stopping after {now - started:.0f} s; `kill -9 {pid}`, then the same again")


def _controller(run_dir: Path) -> int | None:
    """The process that writes the run's journal: who reads it has it open too, and a number in it may be old."""
    journal = (run_dir / JOURNAL).resolve()
    if sys.platform != "linux":
        starts = [record for record in records_of(run_dir) if isinstance(record, j.RunStarted)]
        return starts[-1].controller_pid if starts else None
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if link.readlink() == journal:
                info = (link.parent.parent / "fdinfo" / link.name).read_text()
                flags = next(line for line in info.splitlines() if line.startswith("flags:"))
                if int(flags.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY:
                    return int(link.parts[2])
    return None


def _clean_up(run_dir: Path) -> Stopped:
    """End the jobs of a run without a controller, remove what it left on its hosts, and end its journal."""
    plan = load_plan(run_dir)
    journal = Journal(run_dir)  # so that nobody resumes it meanwhile
    try:
        records = read_journal(run_dir / JOURNAL)
        with world_of(run_dir, records).hosts(plan, run_name(run_dir)) as hosts:
            jobs, unclean = release_all(hosts, [*plan.hosts, CONTROLLER.id])
        begun = any(isinstance(record, j.RunStarted) for record in records)
        ended = not begun or isinstance(records[-1], j.RunEnded)
        if not ended:
            message = "ended by `bench stop`, as its controller was gone"
            journal.write(j.RunEnded(at=time.time(), status="interrupted", message=message))
        return Stopped("ended" if ended else "cleaned", jobs, unclean)
    finally:
        journal.close()
