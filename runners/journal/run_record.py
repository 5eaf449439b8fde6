"""A run's journal, folded once into a record that executor, store, reports and commands share.

A large fleet's journal does not fit into memory, so the record keeps the places of what may be large."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchbrief.model import events as j
from benchbrief.model.cell_history import (
    CellHistory,
    CellTimes,
    Left,
    Pauses,
    Progressed,
    is_candidate_left_out,
    is_refused,
)
from benchbrief.model.events import Place
from benchbrief.model.plan import Knee, Plan
from benchbrief.model.text import Text
from benchbrief.runners.journal.journal_file import JOURNAL, each_record, whole_bytes

_OF_PLACE = re.compile(r"(?:filesystem|device|disks|mount|free space) of (.+)")


def merge_facts(earlier: Mapping[str, str], later: Mapping[str, str]) -> dict[str, str]:
    """Return the later facts, and the earlier ones of places that were not checked again, named as in
    `host_facts.py`.

    A run checks only the places of the cells that it has yet to measure. A resumed run, or one with reused results,
    has measured at other places, too.
    """
    again = {found[1] for name in later if (found := _OF_PLACE.fullmatch(name))}
    kept = {
        name: value for name, value in earlier.items() if (found := _OF_PLACE.fullmatch(name)) and found[1] not in again
    }
    if not kept:
        return dict(later)
    disks = {f"disk {disk}" for name, value in kept.items() if name.startswith("disks of ") for disk in value.split()}
    kept = {name: value for name, value in earlier.items() if name in disks} | kept
    facts = {name: value for name, value in (kept | dict(later)).items() if name != "filesystem"}
    types = {value for name, value in facts.items() if name.startswith("filesystem of ")}
    return facts | ({"filesystem": types.pop()} if len(types) == 1 else {})


_OfCell = j.CellStarted | j.CellReused | j.CellResumed | j.CellEnded | j.CellSkipped
NOWHERE = Place(Path(), 0, 0)
"""The place of a record that is in no file."""


@dataclass(frozen=True)
class LeftBehind:
    """What the last controller of a run may have left on its hosts.

    `attempts` have no verdict. `engines` are the databases whose facts it read, and `resumed` the cells that it took
    over from a controller before it.
    """

    attempts: tuple[Left, ...] = ()
    engines: frozenset[str] = frozenset()
    resumed: frozenset[str] = frozenset()


@dataclass
class RunRecord:
    """What a run's journal says. Each record that follows extends it.

    `hosts` and `engines` have the last facts of each; of a host, by place. `tools` has the tool last found for each
    host and driver, and `tool_paths` every place where one was found. `remarks` has those of each cell's last attempt
    (None: of the run), in order of time. `warm` has the last attempt of each cell that no cool-down has followed, in
    order. `pauses` are the times in which nothing ran, `last_at` is the time of the last record, and `size` how much of
    the journal was read, in bytes.
    """

    starts: list[j.RunStarted] = field(default_factory=list)
    end: j.RunEnded | None = None
    """The last verdict on the run, unless it was resumed after that."""
    cells: dict[str, CellHistory] = field(default_factory=dict)
    given: list[j.HostsGiven] = field(default_factory=list)
    nodes: dict[str, str] = field(default_factory=dict)
    """The node that each host was given last."""
    hosts: dict[str, j.HostFacts] = field(default_factory=dict)
    engines: dict[str, j.EngineFacts] = field(default_factory=dict)
    tools: dict[tuple[str, str], j.ToolFound] = field(default_factory=dict)
    tool_paths: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    remarks: dict[str | None, list[j.Remark]] = field(default_factory=dict)
    reused: dict[str, j.CellReused] = field(default_factory=dict)
    searches: dict[Knee, j.SearchEnded] = field(default_factory=dict)
    choices: dict[tuple[str, tuple[str, ...], str], dict[float, j.PointChosen]] = field(default_factory=dict)
    """The points that each ramp or search chose, in their order: by experiment, hardware and workload."""
    chosen: set[tuple[tuple[str, tuple[str, ...], str], float, str]] = field(default_factory=set)
    """Each choice of a ramp or search: its point, and the code of its reason. A search chooses a point for several."""
    estimated: j.TimeEstimated | None = None
    """What the run was expected to take when it began."""
    promises: dict[Knee, j.PromiseEnded] = field(default_factory=dict)
    """What each search for a promise has found."""
    published: list[j.PublishedValue] = field(default_factory=list)
    warm: dict[str, int] = field(default_factory=dict)
    retried: set[str] = field(default_factory=set)
    """Cells that were tried again after a failed attempt. An interrupted attempt does not count."""
    times: CellTimes = field(default_factory=CellTimes)
    pauses: Pauses = field(default_factory=Pauses)
    last_at: float | None = None
    size: int = 0
    _failed: set[str] = field(default_factory=set)
    _left: dict[str, Left] = field(default_factory=dict)
    _engines_now: set[str] = field(default_factory=set)
    _resumed_now: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, records: Iterable[j.AnyRecord]) -> RunRecord:
        found = cls()
        for record in records:
            found.add(NOWHERE, record)
        return found

    @property
    def knees(self) -> dict[Knee, float | None]:
        """Return what each finished search has found."""
        return {search: record.knee for search, record in self.searches.items()}

    @property
    def skipped(self) -> int:
        """Return how many cells were not needed, without candidates that adaptive ramps and searches did not choose."""
        skipped = (each.skipped for each in self.cells.values() if each.skipped is not None and not each.no_room)
        return sum(not is_candidate_left_out(reason) and not is_refused(reason) for reason in skipped)

    @property
    def refused(self) -> int:
        """Return how many cells of searches failed, as their numbers were refused."""
        return sum(is_refused(each.skipped) for each in self.cells.values())

    @property
    def not_chosen(self) -> set[str]:
        """Return the cells of candidates that adaptive ramps and searches did not choose."""
        return {name for name, each in self.cells.items() if is_candidate_left_out(each.skipped)}

    @property
    def unrepeated(self) -> int:
        """Return how many repeats a budget had no room for."""
        return sum(each.skipped is not None and each.no_room == "repeat" for each in self.cells.values())

    @property
    def left_behind(self) -> LeftBehind:
        """Return what the last controller may have left on its hosts."""
        left = tuple(replace(deepcopy(each), until=self.last_at or 0.0) for each in self._left.values())
        return LeftBehind(left, frozenset(self._engines_now), frozenset(self._resumed_now))

    def finished(self, plan: Plan) -> set[str]:
        """Return the plan's cells whose last verdict is good, and those not needed.

        A verdict counts only for the definition of the cell that it was given for.
        """
        return {cell.id for cell in plan.cells if cell.id in self.cells and cell.hash in self.cells[cell.id].good}

    def elapsed_s(self, until: float) -> float:
        """Return the seconds that the run has gone on for, without its pauses."""
        return until - self.starts[0].at - self.pauses.seconds if self.starts else 0.0

    def add(self, place: Place, record: j.AnyRecord) -> None:
        self.times.add(record)
        match record:
            case j.RunStarted():
                self._start(record)
            case _ if isinstance(record, _OfCell):
                self._add_to_cell(record)
            case _ if isinstance(record, Progressed):
                self._add_to_attempt(place, record)
            case j.Remark():
                self.remarks.setdefault(record.cell, []).append(record)
                if record.cell in self._left:
                    self._left[record.cell].said.add(record.text)
            case j.HostsGiven():
                self.given.append(record)
                self.nodes = {**self.nodes, **record.nodes}
            case j.HostFacts():
                before = self.hosts.get(record.host)
                facts = merge_facts(before.facts, record.facts) if before else record.facts
                self.hosts[record.host] = record.model_copy(update={"facts": facts})
            case j.EngineFacts():
                self.engines[record.database] = record
                self._engines_now.add(record.database)
            case j.ToolFound():
                self.tools[record.host, record.driver] = record
                self.tool_paths.setdefault((record.host, record.driver), set()).add(record.path)
            case j.SearchEnded():
                search = Knee(experiment=record.experiment, hardware=record.hardware, workload=record.workload)
                self.searches[search] = record
            case j.PromiseEnded():
                search = Knee(experiment=record.experiment, hardware=record.hardware, workload=record.workload)
                self.promises[search] = record
            case j.PointChosen():
                self.choices.setdefault(record.ramp, {}).setdefault(record.point, record)
                why = record.why.code if isinstance(record.why, Text) else record.why
                self.chosen.add((record.ramp, record.point, why))
            case j.TimeEstimated():
                self.estimated = record
            case j.PublishedValue():
                self.published.append(record)
        self.end = record if isinstance(record, j.RunEnded) else self.end
        if not (isinstance(record, j.RunEnded) and record.gone):
            self.last_at = record.at
        self.size = max(self.size, place.at + place.length)

    def _start(self, record: j.RunStarted) -> None:
        if self.starts and self.last_at is not None:
            self.pauses.away(self.last_at, record.at)
        self.starts.append(record)
        self.end = None
        self.remarks[None] = [remark for remark in self.remarks.get(None, ()) if not remark.passing]
        self._engines_now.clear()
        self._resumed_now.clear()

    def _add_to_cell(self, record: _OfCell) -> None:
        cell = record.cell
        match record:
            case j.CellStarted():
                self._history(cell).start(record, self.nodes)
                self.remarks.pop(cell, None)
                if cell in self._failed:
                    self.retried.add(cell)
                self.warm.pop(cell, None)
                self.warm[cell] = record.attempt
                self._left[cell] = Left(cell, record.attempt, self.starts[-1] if self.starts else None)
            case j.CellReused():
                self.reused[cell] = record
                self.warm.pop(cell, None)
            case j.CellResumed():
                self._resumed_now.add(cell)
            case j.CellEnded():
                self._history(cell).end(record)
                if record.status == "failed":
                    self._failed.add(cell)
                self._left.pop(cell, None)
            case j.CellSkipped():
                self._history(cell).skip(record)
                self._left.pop(cell, None)

    def _add_to_attempt(self, place: Place, record: Progressed) -> None:
        cell = record.cell
        if isinstance(record, j.StepStarted):
            self._history(cell).step = record.step
        elif isinstance(record, j.StepEnded):
            if record.step == "cool_down":
                self.warm.pop(cell, None)
        elif not isinstance(record, j.CounterReading):
            if isinstance(record, j.JobCollected):
                self.pauses.collected(record)
            elif isinstance(record, j.ClockRead):
                self.pauses.read(record)
            self._history(cell).kept.setdefault(record.attempt, []).append(place)
        left = self._left.get(cell)
        if left is not None and left.attempt == record.attempt:
            left.add(record)

    def _history(self, cell: str) -> CellHistory:
        return self.cells.setdefault(cell, CellHistory())


def read_run(run_dir: Path) -> RunRecord:
    """Read a run's journal; without one, nothing began. Raises RunnerError when it can't be read."""
    path, found = run_dir / JOURNAL, RunRecord()
    if path.exists():
        whole = whole_bytes(path, path.stat().st_size)
        for place, record in each_record(path, whole):
            found.add(place, record)
        found.size = whole
    return found
