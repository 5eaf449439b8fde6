"""Follows another process's run through its journal and its controller's `live.json`."""

from __future__ import annotations

import heapq
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Literal

from benchbrief.dsl.bench_error import BenchError, ExitCode
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.events import RECORD, ReportMade
from benchbrief.progress.run_view import LiveRun
from benchbrief.results.runs.run_summary import CellState
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.execution.live_numbers import JobReading, Live, load_of, measures_of, read_live
from benchbrief.runners.fleet.lane_results import folders_in
from benchbrief.runners.fleet.scheduler import scheduler_named
from benchbrief.runners.fleet.submitted_run import is_driven, name_of_jobs, submitted_run
from benchbrief.runners.journal.controller_clock import now_in_run
from benchbrief.runners.journal.journal_file import JOURNAL, START, is_being_written, last_record, read_whole
from benchbrief.runners.plain_files import open_plain

LOOK_S = 0.5
"""Seconds between two looks at a journal."""
_BEGIN_S = 15.0
"""If a run's journal has not started after this many seconds, its controller is considered gone."""
_SURE_S = 1.5
"""If no process holds a journal for this many seconds, its controller is considered gone. (A controller that is
starting may pause between two files.)"""

CODES = {"done": ExitCode.DONE, "failed": ExitCode.CELL_FAILED, "interrupted": ExitCode.INTERRUPTED}
"""A run's exit code for each status in its journal. Expectations are judged only later."""

Phase = Literal["running", "tables", "reports", "ended", "gone"]


class JournalTail:
    """Reads a journal's new records. An incomplete line is left for the next look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._chain = START
        self._read = 0
        self._lines = 0

    def new(self) -> list[j.AnyRecord]:
        """Return the records since the last look. Raises RunnerError for an invalid line."""
        try:
            with open_plain(self._path) as file:
                file.seek(self._read)
                text = file.readall()
        except FileNotFoundError:
            return []
        whole = text[: text.rfind(b"\n") + 1]
        records: list[j.AnyRecord] = []
        for line in whole.splitlines(keepends=True):
            self._lines += 1
            content, self._chain = read_whole(line, self._chain, self._path, self._lines)
            try:
                record = RECORD.validate_json(content)
            except ValueError:
                raise RunnerError(
                    f"{self._path}:{self._lines} is not a journal record",
                    "the file was changed, or is written by a newer benchbrief",
                ) from None
            if not isinstance(record, ReportMade):
                records.append(record)
        self._read += len(whole)
        return records


@dataclass(frozen=True)
class Followed:
    """The result of one look at a run: new records, current numbers, and the state of its controller.

    Once the run has ended or its controller is gone, `code` is the run's exit code.
    """

    records: Sequence[j.AnyRecord]
    readings: Sequence[JobReading] = ()
    phase: Phase = "running"
    code: ExitCode | None = None


class RunFollower(ABC):
    """Looks at a run repeatedly until the run has ended."""

    @abstractmethod
    def look(self) -> Followed:
        """Return the events since the last look."""

    def looks(self) -> Iterator[Followed]:
        """Yield looks until the run has ended. The first look has all earlier records, and the last look has the exit
        code."""
        while True:
            found = self.look()
            yield found
            if found.code is not None:
                return
            time.sleep(LOOK_S)


@dataclass
class Follower(RunFollower):
    run_dir: Path
    _start: j.RunStarted | None = None
    _end: j.RunEnded | None = None
    _driven: bool = False
    _unheld_since: float | None = None
    _tail: JournalTail = field(init=False)

    def __post_init__(self) -> None:
        self._tail = JournalTail(self.run_dir / JOURNAL)

    def look(self) -> Followed:
        # The order matters: a controller writes all its records before it lets go of the journal.
        held = is_being_written(self.run_dir)
        live = read_live(self.run_dir)
        records = self._tail.new()
        for record in records:
            if isinstance(record, j.RunStarted):
                self._start, self._end, self._driven = record, None, True
            elif isinstance(record, j.RunEnded):
                self._end = record
            elif isinstance(record, j.HeldOutBegan):
                self._end = None
        if held:
            self._unheld_since = None
            return Followed(records, live.readings if live is not None else ())
        phase, code = self._unheld(live)
        return Followed(records, (), phase, code)

    def _unheld(self, live: Live | None) -> tuple[Phase, ExitCode | None]:
        """Return the state of a run whose journal no process holds: it has ended, its brief is being made, or its
        controller is gone."""
        if self._end is not None:
            if live is not None and live.at >= self._end.at - 1:
                if live.phase == "ended" and live.exit_code is not None:
                    return "ended", _code(live.exit_code)
                if live.controller_lives(now_in_run(self._start)):
                    return ("tables" if live.phase == "running" else live.phase), None
            return "ended", CODES[self._end.status]
        now = time.monotonic()
        if self._unheld_since is None:
            self._unheld_since = now
        if now - self._unheld_since < (_SURE_S if self._driven else _BEGIN_S):
            return "running", None
        return "gone", ExitCode.INTERRUPTED


def _code(number: int) -> ExitCode:
    try:
        return ExitCode(number)
    except ValueError:
        return ExitCode.CELL_FAILED


_ASK_EVERY_S = 5.0
"""How many seconds to wait before asking a scheduler again whether it still has jobs of the run."""


@dataclass
class LaneTails:
    """The new records of all lanes, except each lane's start and end."""

    run_dir: Path
    ends: dict[str, j.RunEnded | None] = field(default_factory=dict)
    """How each lane ended, by its folder's name, or None for a lane that is still running."""
    _tails: dict[Path, JournalTail] = field(default_factory=dict)

    def new(self) -> list[j.AnyRecord]:
        """Return the records of all lanes since the last look. Raises RunnerError for an invalid line."""
        found: list[list[j.AnyRecord]] = []
        for folder in folders_in(self.run_dir):
            found.append([])
            tail = self._tails.setdefault(folder, JournalTail(folder / JOURNAL))
            for record in tail.new():
                if isinstance(record, j.RunStarted | j.RunEnded):
                    self.ends[folder.name] = record if isinstance(record, j.RunEnded) else None
                elif not isinstance(record, j.TimeEstimated):
                    found[-1].append(record)
        return list(heapq.merge(*found, key=lambda record: record.at))  # a lane's own records keep their order

    def readings(self) -> tuple[JobReading, ...]:
        found = [read_live(folder) for folder in self._tails if is_being_written(folder)]
        return tuple(reading for live in found if live is not None for reading in live.readings)


@dataclass
class LanesFollower(RunFollower):
    """Follows a run whose lanes are jobs, as long as its controller, a lane or a job is running."""

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
        is_ours = live is not None and live.phase == "ended" and live.at >= end.at  # otherwise it was merged later
        code = live.exit_code if live is not None and is_ours else None
        return Followed([*records, end], (), "ended", CODES[end.status] if code is None else ExitCode(code))

    def _lanes_go_on(self) -> bool:
        return any(is_being_written(folder) for folder in folders_in(self.run_dir))

    def _jobs_are_there(self) -> bool:
        if time.monotonic() - self._asked_at >= _ASK_EVERY_S:
            self._asked_at = time.monotonic()
            submitted = submitted_run(self.run_dir)
            with suppress(BenchError):  # if the scheduler does not answer, assume that its jobs still exist
                jobs = scheduler_named(submitted.scheduler).jobs(name_of_jobs(self.run_dir)) if submitted else []
                self._has_jobs = any(job.is_live for job in jobs)
        return self._has_jobs


def follower_of(run_dir: Path) -> Follower | LanesFollower:
    return Follower(run_dir) if submitted_run(run_dir) is None else LanesFollower(run_dir)


_ENDED: tuple[CellState, ...] = ("ok", "failed", "refused", "no_room", "skipped")

FIELDS = {
    "cell_started": ("cell", "attempt"),
    "cell_resumed": ("cell", "attempt", "step", "began_at", "away_since"),
    "cell_ended": ("cell", "attempt", "status", "ops_per_s", "reason", "origin"),
    "cell_skipped": ("cell", "reason", "no_room"),
    "search_ended": ("experiment", "hardware", "workload", "levels", "axis", "knee"),
    "point_chosen": ("experiment", "hardware", "workload", "levels", "axis", "point", "number", "why"),
    "held_out_began": ("claim", "folder", "attempt", "places", "points", "value"),
    "remark": ("severity", "text", "cell", "origin"),
    "run_ended": ("status", "message"),
}
"""The fields to show for each type of record. An empty text becomes null."""


def event(view: LiveRun, record: j.AnyRecord) -> dict[str, object] | None:
    """Describe a journal record. Returns None if it does not matter to watchers."""
    base: dict[str, object] = {"event": record.type, "at": record.at, "run": view.run_id}
    match record.type:
        case "run_started":
            return {**base, "total": view.total, "resumed": record.resumed}
        case "promise_ended":
            found = record.model_dump(mode="json", exclude={"type", "at"})
            return {**base, **found, "sustained": record.sustained}
        case "measuring_ended":
            return {**base, **record.model_dump(mode="json", exclude={"type", "at"})}
    fields = FIELDS.get(record.type)
    return {**base, **{name: _shown(getattr(record, name)) for name in fields}} if fields else None


def _shown(value: object) -> object:
    return None if value == "" else list(value) if isinstance(value, tuple) else value


def present(view: LiveRun, followed: Followed, now: float) -> dict[str, object]:
    """Describe the current state. Times and latencies are in seconds; null means unknown."""
    measures = measures_of(followed.readings)
    return {
        "event": "present",
        "at": now,
        "run": view.run_id,
        "simulated": bool(view.start and view.start.simulated),
        "phase": followed.phase,
        "total": view.total,
        **{state: view.of(state) for state in _ENDED},
        "elapsed_s": view.elapsed_s(now),
        "remaining_s": view.remaining_s(now),
        "running": [
            {
                "cell": name,
                "step": cell.step or None,
                "step_s": now - cell.step_began if cell.step else None,
                "step_planned_s": cell.step_s if cell.step else None,
                "ops_per_s": load.ops_per_s if (load := load_of(name, followed.readings)) else None,
                "loaded_in_s": view.load_left_s(name, load, now),
                "latency_s": load.latency_s if load else None,
                "latency_of": (load.latency_of or None) if load else None,
            }
            for name, cell in view.running.items()
        ],
        "hosts": {host: {"step": step or None, **measures.get(host, {})} for host, step in view.hosts().items()},
    }
