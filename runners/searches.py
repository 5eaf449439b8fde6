"""Knee searches as they go on: which point is the knee, which cells are not needed any more, and who waits for what.

All is decided by what the journal says of the cells (their throughput and latency), so that a resumed run decides as
the interrupted one did. A point counts when each of its repeats is good: by their mean throughput, and by the highest
of their latencies (percentiles are not averaged). The knee is the last point before one where latency has risen by
`rise` or more while throughput has gained less than `gain`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

from benchbrief.compiler.plan import Cell, Experiment, Knee, KneeSearch, Plan
from benchbrief.runners import histogram as h
from benchbrief.runners import journal as j
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.measurement import Measurement, Operation

_SLICE_S = 0.5
"""How often a waiting lane looks whether the run is to stop."""


class Flag(Protocol):
    """What a `threading.Event` is to who looks at it."""

    def is_set(self) -> bool: ...


def knee_of(points: Sequence[j.SearchPoint], search: KneeSearch) -> float | None:
    """The first point, in rising order, that fulfils the criterion together with the next; None when none does."""
    for here, after in pairwise(points):
        risen = after.latency_s >= here.latency_s * (1 + search.rise)
        if risen and after.ops_per_s < here.ops_per_s * (1 + search.gain):
            return here.point
    return None


def latency_of(measurement: Measurement, statistic: str) -> float | None:
    """A statistic of all operations together, in seconds: by intended start where the tool tells it (an offered load).

    Percentiles are those of the merged histograms. Where a tool only prints percentiles, which can't be merged, it is
    the highest of any operation. None when the tool does not give it.
    """
    whole = [op for op in measurement.operations if op.phase is None and op.count]
    done = [op for op in whole if op.kind == "intended"] or [op for op in whole if op.kind == "service"]
    # A tool that counts a read-modify-write's halves as operations of their own counts it in no total.
    counted = {op.operation for op in whole if op.kind == "service" and op.in_total}
    done = [op for op in done if op.operation in counted]
    if not done:
        return None
    if statistic == "mean":
        means = [op.mean_s * op.count for op in done if op.mean_s is not None]
        return sum(means) / sum(op.count for op in done) if len(means) == len(done) else None
    if statistic == "max":
        return _highest(op.max_s for op in done)
    percent = float(statistic.removeprefix("p"))
    histograms = [op.histogram for op in done if op.histogram and op.histogram.buckets]
    if len(histograms) == len(done):
        # Inside a bucket it is interpolated; the largest latency, where the tool says it, is the limit of that.
        highest = _highest(op.max_s for op in done)
        value = h.percentile(h.merge(histograms), percent)
        return value if highest is None else min(value, highest)
    return _highest(_printed(op, percent) for op in done)


def _printed(op: Operation, percent: float) -> float | None:
    if op.histogram and op.histogram.buckets:
        return h.percentile(op.histogram, percent)
    return dict(op.printed).get(percent)


def _highest(values: Iterable[float | None]) -> float | None:
    every = list(values)
    known = [value for value in every if value is not None]
    return max(known) if len(known) == len(every) else None


def key_of(cell: Cell) -> Knee:
    """The search that a cell of a searching experiment belongs to."""
    return Knee(experiment=cell.experiment, hardware=cell.hardware, workload=cell.workload)


def point_of(cell: Cell, experiment: Experiment) -> float | None:
    return cell.target if experiment.axis == "target" else cell.threads


def shown(knee: float, axis: str) -> str:
    """`96 threads`, `1 thread`, `20,000 ops/s`."""
    return f"{knee:,.0f} " + ("ops/s" if axis == "target" else "threads" if knee != 1 else "thread")


@dataclass
class _Search:
    """One search. `verdicts` are those of good cells, `spared` the repeats that the point could do without; `failure`
    is why it can't be decided."""

    experiment: Experiment
    criterion: KneeSearch
    key: Knee
    cells: list[Cell] = field(default_factory=list)
    verdicts: dict[str, j.CellEnded] = field(default_factory=dict)
    spared: set[str] = field(default_factory=set)
    failure: str = ""
    ended: j.SearchEnded | None = None

    def points(self) -> list[j.SearchPoint]:
        """The points from the first on of which every repeat is good."""
        found: list[j.SearchPoint] = []
        for point in self.experiment.points:
            of_point = [
                cell for cell in self.cells if point_of(cell, self.experiment) == point and cell.id not in self.spared
            ]
            good = [self.verdicts[cell.id] for cell in of_point if cell.id in self.verdicts]
            rates = [one.ops_per_s for one in good if one.ops_per_s is not None]
            latencies = [one.latency_s for one in good if one.latency_s is not None]
            if not of_point or not len(of_point) == len(rates) == len(latencies):
                break
            found.append(j.SearchPoint(point=point, ops_per_s=sum(rates) / len(rates), latency_s=max(latencies)))
        return found

    @property
    def origin(self) -> str:
        return str(self.experiment.origin)

    @property
    def unknown(self) -> str:
        """Why there is no knee; "" when there is one, or may be."""
        if self.failure:
            return f"the knee of {self.experiment.name} is not known, as {self.failure}"
        return _no_knee(self) if self.ended and self.ended.knee is None else ""


class Searches:
    """The searches of a run, shared by its lanes; the cells of one search are in one lane, in rising order.

    `records` is the journal so far, in which the cells of `done` are good; `tell` writes to it.
    """

    def __init__(
        self, plan: Plan, records: Iterable[j.AnyRecord], done: set[str], tell: Callable[[j.AnyRecord], None]
    ) -> None:
        self._changed = threading.Condition()
        self._tell = tell
        self._by_key: dict[Knee, _Search] = {}
        self._by_cell: dict[str, _Search] = {}
        for cell in plan.cells:
            experiment = plan.experiments[cell.experiment]
            if experiment.search is not None:
                key = key_of(cell)
                search = self._by_key.setdefault(key, _Search(experiment, experiment.search, key))
                search.cells.append(cell)
                self._by_cell[cell.id] = search
        for record in records:
            if isinstance(record, j.CellEnded) and record.cell in done and record.cell in self._by_cell:
                self._by_cell[record.cell].verdicts[record.cell] = record
            elif isinstance(record, j.CellSkipped) and record.cell in self._by_cell:
                self._by_cell[record.cell].spared.add(record.cell)
            elif isinstance(record, j.SearchEnded) and (found := self._by_key.get(_key(record))):
                found.ended = record
        for search in self._by_key.values():
            for cell_id, verdict in search.verdicts.items() if search.ended is None else ():
                if verdict.ops_per_s is None or verdict.latency_s is None:
                    self._failed(search, f"no {search.criterion.latency} latency was noted of {cell_id}")
            self._decide(search)  # the run may have been cut off before it said what it had found
            if not search.failure and search.ended is None and all(cell.id in done for cell in search.cells):
                self._failed(search, "the results that it has do not decide it")  # and no other will come
            if search.failure:
                self._tell(j.Remark(at=time.time(), severity="warning", text=search.unknown, origin=search.origin))

    def criterion(self, cell: Cell) -> KneeSearch | None:
        """Of the cell's search; None for a cell of no search."""
        search = self._by_cell.get(cell.id)
        return search.criterion if search else None

    def not_needed(self, cell: Cell) -> str:
        """Why a cell need not be measured; "" when it must."""
        search = self._by_cell.get(cell.id)
        if search is None or search.ended is None or search.ended.knee is None:
            return ""
        return f"the knee was found at {shown(search.ended.knee, search.ended.axis)}"

    def refuse_undecided(self, cell: Cell) -> None:
        """Raises RunnerError for a cell whose search can't be decided any more: it would be measured for nothing."""
        search = self._by_cell.get(cell.id)
        if search is not None and search.failure:
            raise RunnerError(f"not run: its search can't go on, as {search.failure}")

    def ended(self, cell: Cell, verdict: j.CellEnded) -> None:
        """Take note of how a cell ended; call it once the verdict is in the journal."""
        search = self._by_cell.get(cell.id)
        if search is None:
            return
        if verdict.status == "failed":
            self._failed(search, f"{cell.id} failed")
        elif verdict.ops_per_s is None or verdict.latency_s is None:
            self._failed(search, f"{cell.tool.driver} gave no {search.criterion.latency} latency in {cell.id}")
        else:
            search.verdicts[cell.id] = verdict
            self._decide(search)

    def skipped(self, cell: Cell) -> None:
        """Take note of a repeat that a point can do without: the others may decide it."""
        search = self._by_cell.get(cell.id)
        if search is not None and search.ended is None:
            search.spared.add(cell.id)
            self._decide(search)

    def resolved(self, cell: Cell, stopping: Flag) -> Cell | None:
        """The cell with the threads and the target that searches have found for it, once they are over.

        None when the run is to stop before. Raises RunnerError when a knee is not known, or too small for
        the load hosts.
        """
        threads, target = cell.threads, cell.target
        if cell.threads_from:
            knee = self._awaited(cell.threads_from, stopping)
            threads = None if knee is None else int(knee)
        if cell.target_from:
            target = self._awaited(cell.target_from, stopping)
        if (cell.threads_from and threads is None) or (cell.target_from and target is None):
            return None
        self._hold_to_hosts(cell, cell.threads_from, threads, "threads")
        self._hold_to_hosts(cell, cell.target_from, target, "target")
        return cell.model_copy(update={"threads": threads, "target": target})

    @staticmethod
    def _hold_to_hosts(cell: Cell, knee: Knee | None, found: float | None, axis: str) -> None:
        """Raises RunnerError when a load generator would have no part of what was found."""
        hosts = len(cell.load_hosts)
        if knee is not None and found is not None and found < hosts:
            raise RunnerError(
                f"the knee of {knee.experiment}, {shown(found, axis)}, can't be split over {hosts} load generators",
                f"let {knee.experiment} search from {hosts} on, or give the client fewer hosts",
            )

    def _awaited(self, key: Knee, stopping: Flag) -> float | None:
        search = self._by_key[key]
        with self._changed:
            while not (search.ended or search.failure):
                if stopping.is_set():
                    return None
                self._changed.wait(_SLICE_S)
        if search.unknown or search.ended is None:
            raise RunnerError(search.unknown, f"it is searched for at {search.origin}")
        return search.ended.knee

    def _failed(self, search: _Search, why: str) -> None:
        with self._changed:
            search.failure = search.failure or why
            self._changed.notify_all()

    def _decide(self, search: _Search) -> None:
        if search.ended is not None:
            return
        points, axis = search.points(), search.experiment.axis
        knee = knee_of(points, search.criterion)
        if knee is None and len(points) < len(search.experiment.points):
            return
        key = search.key
        ended = j.SearchEnded(
            at=time.time(),
            experiment=key.experiment,
            hardware=key.hardware,
            workload=key.workload,
            axis=axis,
            knee=knee,
            points=tuple(points),
        )
        self._tell(ended)
        if knee is None:
            text = f"{_no_knee(search)}: let it search further, by a larger `to:`"
            self._tell(j.Remark(at=time.time(), severity="warning", text=text, origin=search.origin))
        with self._changed:
            search.ended = ended
            self._changed.notify_all()


def _key(record: j.SearchEnded) -> Knee:
    return Knee(experiment=record.experiment, hardware=record.hardware, workload=record.workload)


def _no_knee(search: _Search) -> str:
    last = shown(search.experiment.points[-1], search.experiment.axis)
    return f"{search.key.experiment} found no knee up to {last} (on {search.key.hardware}, with {search.key.workload})"
