"""Following the lanes of a run, which are jobs of a scheduler, by their folders."""

from __future__ import annotations

import heapq
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchbrief.dsl.bench_error import BenchError, ExitCode
from benchbrief.progress.follow_run import CODES, Followed, Follower, JournalTail, Looks
from benchbrief.runners.execution.live_numbers import Reading, read_live
from benchbrief.runners.fleet.lane_results import folders_in
from benchbrief.runners.fleet.scheduler import scheduler_named
from benchbrief.runners.fleet.submitted_run import is_driven, name_of_jobs, submitted_run
from benchbrief.runners.journal import events as j
from benchbrief.runners.journal.journal_file import JOURNAL, is_being_written, last_record

_ASK_EVERY_S = 5.0
"""How often a scheduler is asked whether it has jobs of the run."""


@dataclass
class LaneTails:
    """The records of all lanes as they are added, without the starts and ends of each lane."""

    run_dir: Path
    ends: dict[str, j.RunEnded | None] = field(default_factory=dict)
    """How each lane has ended, by its folder's name; None for one that goes on."""
    _tails: dict[Path, JournalTail] = field(default_factory=dict)

    def new(self) -> list[j.AnyRecord]:
        """Raises RunnerError for a line that is no record."""
        found: list[list[j.AnyRecord]] = []
        for folder in folders_in(self.run_dir):
            found.append([])
            tail = self._tails.setdefault(folder, JournalTail(folder / JOURNAL))
            for record in tail.new():
                if isinstance(record, j.RunStarted | j.RunEnded):
                    self.ends[folder.name] = record if isinstance(record, j.RunEnded) else None
                elif not isinstance(record, j.TimeEstimated):
                    found[-1].append(record)
        return list(heapq.merge(*found, key=lambda record: record.at))  # each lane in its order, whatever its clocks

    def readings(self) -> tuple[Reading, ...]:
        found = [read_live(folder) for folder in self._tails if is_being_written(folder)]
        return tuple(reading for live in found if live is not None for reading in live.readings)


@dataclass
class LanesFollower(Looks):
    """As `Follower`, for a run whose lanes are jobs: it goes on while its controller, a lane or a job does."""

    run_dir: Path
    _tails: LaneTails = field(init=False)
    _asked_at: float = float("-inf")
    _has_jobs: bool = True

    def __post_init__(self) -> None:
        self._tails = LaneTails(self.run_dir)

    def look(self) -> Followed:
        driven = is_driven(self.run_dir)
        goes_on = driven or self._lanes_go_on() or self._jobs_are_there()
        records = self._tails.new()
        live = read_live(self.run_dir)
        if goes_on:
            phase = live.phase if driven and live is not None and live.phase != "ended" else "running"
            return Followed(records, self._tails.readings(), phase)
        end = last_record(self.run_dir / JOURNAL)
        if not isinstance(end, j.RunEnded) or end.status == "interrupted":
            if live is not None and live.phase == "ended" and live.exit_code is not None:
                return Followed(records, (), "ended", ExitCode(live.exit_code))
            return Followed(records, (), "gone", ExitCode.INTERRUPTED)
        is_ours = live is not None and live.phase == "ended" and live.at >= end.at  # or it was merged later
        code = live.exit_code if live is not None and is_ours else None
        return Followed([*records, end], (), "ended", CODES[end.status] if code is None else ExitCode(code))

    def _lanes_go_on(self) -> bool:
        return any(is_being_written(folder) for folder in folders_in(self.run_dir))

    def _jobs_are_there(self) -> bool:
        if time.monotonic() - self._asked_at >= _ASK_EVERY_S:
            self._asked_at = time.monotonic()
            submitted = submitted_run(self.run_dir)
            with suppress(BenchError):  # a scheduler that is silent has its jobs still
                jobs = scheduler_named(submitted.scheduler).jobs(name_of_jobs(self.run_dir)) if submitted else []
                self._has_jobs = any(job.is_live for job in jobs)
        return self._has_jobs


def follower_of(run_dir: Path) -> Follower | LanesFollower:
    return Follower(run_dir) if submitted_run(run_dir) is None else LanesFollower(run_dir)
