"""The queue's interface to benchbrief. The queue keeps its state in files, so that any process can look at it and
cancel jobs."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from bench_queue.locks import is_free, take
from benchbrief.extend.common import RunnerError
from benchbrief.extend.schedulers import (
    Asked,
    Given,
    JobState,
    LaneJob,
    LaneNeeds,
    NodePool,
    PlannedJob,
    ScheduledJob,
    SchedulerRefused,
)

_USUAL = 2


def home() -> Path:
    return Path(os.environ.get("BENCH_QUEUE") or Path.home() / ".cache" / "bench-queue")


class QueueScheduler:
    """The queue as a scheduler: see `benchbrief/runners/fleet/scheduler.py`."""

    def survey(self, needs: Sequence[LaneNeeds]) -> tuple[list[PlannedJob], list[NodePool]]:
        places = max((_places(each) for each in needs), default=_USUAL)
        free = sum(is_free(home() / f"place-{number}") for number in range(places))
        planned = [PlannedJob(each, (f"one of {_places(each)} places",)) for each in needs]
        return planned, [NodePool("this machine", places, places, free, None)]

    def submit(self, job: LaneJob) -> str:
        folder, alive = _new_job(home() / job.name)
        (folder / "lane").write_text(str(job.needs.lane.number))
        lane = ["lane", str(job.run_dir), str(job.needs.lane.number), "--quiet", *(["--wait"] if job.wait else [])]
        places = [str(home() / f"place-{number}") for number in range(_places(job.needs))]
        words = [sys.executable, "-m", "bench_queue.job", str(folder), str(len(places)), *places, *lane]
        try:
            with job.log.open("ab") as log:
                # The process has the lock from its first moment: it is never taken for one that has ended.
                subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[alive], start_new_session=True
                )
        finally:
            os.close(alive)
        return folder.name

    def given(self, asked: Mapping[str, Asked], before: Mapping[str, str], named: Sequence[str]) -> Given:
        raise RunnerError("the queue gives no hosts", "name them in the spec")

    def jobs(self, name: str) -> list[ScheduledJob]:
        # A job with an empty lane file has no process: the process that was creating the job died.
        return [_job(lane.parent) for lane in sorted((home() / name).glob("*/lane")) if lane.read_text()]

    def release(self, job: str) -> None:
        """Do nothing: no job of the queue is ever stuck."""

    def cancel(self, name: str) -> None:
        for job in self.jobs(name):
            folder = home() / name / job.id
            if job.is_live:
                (folder / "cancelled").touch()  # first this: a job checks for it after writing its pid
                with suppress(ProcessLookupError, FileNotFoundError, ValueError):
                    os.kill(int((folder / "pid").read_text()), signal.SIGTERM)


def _places(needs: LaneNeeds) -> int:
    """Return how many lanes may run at once. Raises SchedulerRefused."""
    value = needs.settings.get("places", _USUAL)
    for option in needs.options:
        name, _, value = option.partition("=")
        if name != "places":
            raise SchedulerRefused(f"the queue has no option `{name}`", "it has `places`: --job-option places=4")
    try:
        places = int(value)
    except ValueError:
        places = 0
    if places < 1:
        raise SchedulerRefused(f"`{value}` is no number of places", "--job-option places=4")
    return places


def _new_job(folder: Path) -> tuple[Path, int]:
    """Create the next job's folder. Returns the folder, and the lock that shows that the job is alive."""
    folder.mkdir(parents=True, exist_ok=True)
    number = 1 + max((int(each.name) for each in folder.iterdir()), default=0)
    (folder / str(number)).mkdir()
    alive = take(folder / str(number) / "alive")
    if alive is None:
        raise SchedulerRefused(f"another process uses {folder / str(number)}", "type the same again")
    return folder / str(number), alive


def _job(folder: Path) -> ScheduledJob:
    state: JobState = "running" if (folder / "began").exists() else "waiting"
    if is_free(folder / "alive"):
        state = "ended"
    cancelled = (folder / "cancelled").exists()
    shown = "cancelled" if cancelled and state == "ended" else state
    return ScheduledJob(
        folder.name, int((folder / "lane").read_text()), state, shown, platform.node(), cancelled=cancelled
    )
