"""Searches for knees during a run: which point is the knee, which cells are no longer needed, and which cells wait.

All decisions follow from the journal's records about the cells (their throughput and latency), so that a resumed run
decides like the interrupted run. A point counts only if each of its repeats is good. Its throughput is the mean of the
repeats' throughputs. Its latency is the highest of the repeats' latencies, as percentiles are not averaged. The knee is
the last point before one at which latency has risen by `rise` or more while throughput has gained less than `gain`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from itertools import pairwise

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model import histogram as h
from benchbrief.model.measurement import Measurement, Operation
from benchbrief.model.message import figure
from benchbrief.model.plan import Cell, Experiment, Knee, KneeSearch, Plan
from benchbrief.model.points import Curve
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import CellHistory, RunRecord
from benchbrief.runners.errors import NoKnee, RunnerError
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.seams import Stopping

_SLICE_S = 0.5
"""How often a waiting lane checks whether the run must stop, in seconds."""


def knee_of(points: Sequence[j.SearchPoint], search: KneeSearch) -> float | None:
    """Return the first point, in rising order, whose next point meets the knee criterion, or None if there is none."""
    for here, after in pairwise(points):
        risen = after.latency_s >= here.latency_s * (1 + search.rise)
        if risen and after.ops_per_s < here.ops_per_s * (1 + search.gain):
            return here.point
    return None


def latency_of(measurement: Measurement, statistic: str) -> float | None:
    """Return a latency statistic of all operations together, in seconds. Uses intended latency if the tool reports it.

    Percentiles come from the merged histograms. If a tool only prints percentiles, which can't be merged, returns the
    highest one among the operations. Returns None if the tool does not report the statistic.
    """
    whole = [op for op in measurement.operations if op.phase is None and op.count]
    done = [op for op in whole if op.kind == "intended"] or [op for op in whole if op.kind == "service"]
    # A tool that counts the halves of a read-modify-write as operations leaves the read-modify-write out of totals.
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
        # Interpolation inside a bucket must not exceed the largest latency, if the tool prints it.
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
    """Return the search that a cell belongs to. The cell's experiment must have a search."""
    return Knee(**Curve.of(cell)._asdict())


def point_of(cell: Cell, experiment: Experiment) -> float | None:
    return cell.target if experiment.axis == "target" else cell.threads


def load_text(knee: float, axis: str) -> str:
    """Format a knee, such as `96 threads`, `1 thread` or `20,000 ops/s`."""
    number = figure(knee, ",.0f")
    return say.load_target(n=number) if axis == "target" else say.load_threads(n=number)


@dataclass
class _Search:
    """One search. `verdicts` has the verdicts on good cells. `spared` has the repeats that a point does not need.

    `failure` is the reason why the search can't be decided.
    """

    experiment: Experiment
    criterion: KneeSearch
    key: Knee
    cells: list[Cell] = field(default_factory=list)
    verdicts: dict[str, j.CellEnded] = field(default_factory=dict)
    spared: set[str] = field(default_factory=set)
    failure: str = ""
    ended: j.SearchEnded | None = None

    def points(self) -> list[j.SearchPoint]:
        """Return the points in order, up to but not including the first point with a repeat that has not succeeded."""
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
        """Return why the search has no point. Returns "" if it has a knee, may still find one, or has a point to use
        without a knee."""
        if self.failure:
            return say.knee_unknown(experiment=self.experiment.name, what=self.failure)
        return _no_knee(self) if self.ended and self.ended.knee is None and self.criterion.otherwise is None else ""


class Searches:
    """The searches in a run, shared by its lanes. The cells of one search are in one lane, in rising order.

    `record` is the run so far, and `done` has the ids of the cells that have succeeded or are not needed. `tell` writes
    to the journal.
    """

    def __init__(self, plan: Plan, record: RunRecord, done: set[str], tell: Callable[[j.AnyRecord], None]) -> None:
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
        for cell_id, search in self._by_cell.items():
            history = record.cells.get(cell_id, CellHistory())
            if history.ended is not None and cell_id in done:
                search.verdicts[cell_id] = history.ended
            if history.skipped is not None:
                search.spared.add(cell_id)
        for key, search in self._by_key.items():
            search.ended = record.searches.get(key)
        for search in self._by_key.values():
            for cell_id, verdict in search.verdicts.items() if search.ended is None else ():
                if verdict.ops_per_s is None or verdict.latency_s is None:
                    self._failed(search, say.latency_not_noted(latency=search.criterion.latency, cell=cell_id))
            self._decide(search)  # the run may have been cut off before it recorded what it found
            if not search.failure and search.ended is None and all(cell.id in done for cell in search.cells):
                self._failed(search, say.search_undecided())  # no further result will come
            if search.failure:
                self._tell(j.Remark(at=now(), severity="warning", text=search.unknown, origin=search.origin))

    def criterion(self, cell: Cell) -> KneeSearch | None:
        """Return the criterion of the cell's search, or None for a cell outside a search."""
        search = self._by_cell.get(cell.id)
        return search.criterion if search else None

    def not_needed(self, cell: Cell) -> str:
        """Return why a cell need not be measured, or "" if it must be."""
        search = self._by_cell.get(cell.id)
        if search is None or search.ended is None or search.ended.knee is None:
            return ""
        return say.knee_found(load=load_text(search.ended.knee, search.ended.axis))

    def refuse_undecided(self, cell: Cell) -> None:
        """Raise RunnerError if the cell's search can no longer be decided. Measuring the cell would then be useless."""
        search = self._by_cell.get(cell.id)
        if search is not None and search.failure:
            raise RunnerError(say.search_stopped(what=search.failure))

    def ended(self, cell: Cell, verdict: j.CellEnded) -> None:
        """Record a cell's verdict. Call it once the verdict is in the journal."""
        search = self._by_cell.get(cell.id)
        if search is None:
            return
        if verdict.status == "failed":
            self._failed(search, say.cell_failed(cell=cell.id))
        elif verdict.ops_per_s is None or verdict.latency_s is None:
            self._failed(
                search, say.latency_not_given(tool=cell.tool.driver, latency=search.criterion.latency, cell=cell.id)
            )
        else:
            search.verdicts[cell.id] = verdict
            self._decide(search)

    def skipped(self, cell: Cell) -> None:
        """Record that a point does not need this repeat, so that its other repeats may decide."""
        search = self._by_cell.get(cell.id)
        if search is not None and search.ended is None:
            search.spared.add(cell.id)
            self._decide(search)

    def awaits(self, cell: Cell) -> bool:
        """Return whether the cell takes a number from a search that has not ended."""
        needed = (self._by_key[key] for key in (cell.threads_from, cell.target_from) if key)
        return any(not (search.ended or search.failure) for search in needed)

    def resolved(self, cell: Cell, stopping: Stopping) -> Cell | None:
        """Wait for the searches, and return the cell with the threads and target that they found.

        Returns None if the run must stop before the searches end. Raises RunnerError if a knee is unknown, or too small
        for the load generators.
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
        """Raise NoKnee if the found number is so small that one of the load generators would get no share of it."""
        hosts = len(cell.load_hosts)
        if knee is not None and found is not None and found < hosts:
            raise NoKnee(
                say.knee_too_small(experiment=knee.experiment, load=load_text(found, axis), hosts=hosts),
                say.hint_search_from(experiment=knee.experiment, n=hosts),
            )

    def _awaited(self, key: Knee, stopping: Stopping) -> float | None:
        search = self._by_key[key]
        with self._changed:
            while not (search.ended or search.failure):
                if stopping.is_set():
                    return None
                self._changed.wait(_SLICE_S)
        if search.unknown or search.ended is None:
            kind = RunnerError if search.failure else NoKnee
            raise kind(search.unknown, say.hint_search(origin=search.origin))
        return search.criterion.otherwise if search.ended.knee is None else search.ended.knee

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
            at=now(),
            experiment=key.experiment,
            hardware=key.hardware,
            workload=key.workload,
            levels=key.levels,
            axis=axis,
            knee=knee,
            points=tuple(points),
        )
        self._tell(ended)
        if knee is None:
            text = say.because(why=_no_knee(search), what=_without_knee(search))
            self._tell(j.Remark(at=now(), severity="warning", text=text, origin=search.origin))
        with self._changed:
            search.ended = ended
            self._changed.notify_all()


def _without_knee(search: _Search) -> str:
    """Return a text about a search without a knee. It advises to search further, or names the load that later cells use
    instead."""
    otherwise = search.criterion.otherwise
    if otherwise is None:
        return say.search_further()
    return say.without_knee(load=load_text(otherwise, search.experiment.axis))


def _key(record: j.SearchEnded) -> Knee:
    return Knee(**Curve.of(record)._asdict())


def _no_knee(search: _Search) -> str:
    last, key = load_text(search.experiment.points[-1], search.experiment.axis), search.key
    where = {"hardware": key.hardware, "workload": key.levels.behind(key.workload)}
    return say.no_knee_up_to(experiment=key.experiment, load=last, **where)
