"""Ends the repeats of a point when the mean is known well enough. Decides which cells are no longer needed.

All decisions follow from the journal's records about the cells, so that a resumed run decides like the interrupted run.
The repeats of a point count in the plan's order. They end after the first repeat that, together with those before it,
satisfies the rule (`plan.Confident`). A failed repeat does not count, and is not waited for.

If repeats are measured in turns (`interleaved`), the hardware groups and the levels of one lane end together, after the
first round in which all of them are confident. Otherwise drift would affect only the one that continues alone. A
hardware group on separate hosts has its own lane, takes no turns, and decides for itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import field

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.budgets import is_budgeted
from benchbrief.model.message import PrintedNumber, share_figure
from benchbrief.model.plan import Cell, Confident, Experiment, Levels, Plan
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import CellHistory, RunRecord
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.scheduling.confidence_interval import half_width
from benchbrief.runners.scheduling.parallel_lanes import lanes


@dataclass
class _Repeats:
    """The repeats of one point on one hardware group, at one level of each factor, in the plan's order. `verdicts` has
    the verdicts on those that have ended."""

    cells: list[Cell] = field(default_factory=list)
    verdicts: dict[str, j.CellEnded] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)

    @property
    def taken_out(self) -> bool:
        """Return whether the search ended before this point, which then needs no repeat."""
        return self.cells[0].id in self.skipped

    def rates(self, count: int) -> list[float] | None:
        """Return the throughputs of the good repeats among the first `count` repeats, or None until all of these have
        ended."""
        first = [self.verdicts.get(cell.id) for cell in self.cells[:count]]
        if None in first:
            return None
        return [each.ops_per_s for each in first if each and each.status == "ok" and each.ops_per_s is not None]


@dataclass
class _Group:
    """The repeats of one point on all hardware groups and levels that are measured in turns. They all end after the
    same number of repeats, `end`, which is None until it is known."""

    experiment: Experiment
    rule: Confident
    repeats: dict[tuple[str, Levels], _Repeats] = field(default_factory=dict)
    """The repeats of the point, by hardware and levels."""
    end: int | None = None
    is_announced: bool = False

    def decide(self) -> None:
        going_on = [each for each in self.repeats.values() if not each.taken_out]
        for count in range(self.rule.at_least, self.experiment.repeats) if self.end is None and going_on else ():
            rates = [each.rates(count) for each in going_on]
            if None in rates:
                return
            if all(self._confident(each) for each in rates if each is not None):
                self.end = count
                return

    def _confident(self, rates: list[float]) -> bool:
        width = half_width(rates)
        return len(rates) >= self.rule.at_least and width is not None and width <= self.rule.within

    def reason(self) -> str:
        """Return why the repeats after `end` are not needed."""
        widths = [half_width(each.rates(self.end or 0) or []) for each in self.repeats.values() if not each.taken_out]
        widest = max((width for width in widths if width is not None), default=0.0)
        return say.repeats_enough(n=self.end, width=share_figure(widest, 1), wanted=self._wanted)

    def unconfident(self) -> Iterator[str]:
        """Yield remarks about hardware groups that have had all their repeats, but whose values are still not close
        enough to one another."""
        most = self.experiment.repeats
        for (hardware, _), each in self.repeats.items():
            rates = each.rates(most)
            if rates is None or self._confident(rates):
                continue
            width = half_width(rates)
            about = {"point": each.cells[0].id.rpartition("/")[0], "hardware": hardware, "n": len(rates)}
            about["wanted"] = self._wanted
            if width is None:
                yield say.repeats_unknown(**about)
            else:
                yield say.repeats_wide(**about, width=share_figure(width, 1))

    @property
    def _wanted(self) -> PrintedNumber:
        return PrintedNumber(self.rule.within, f"{100 * self.rule.within:g} %")


class RepeatsUntil:
    """The repeats of a run that may end early, shared by its lanes. All repeats of a group are in one lane of the plan.

    `record` is the run so far, and `done` has the ids of its cells that succeeded or were not needed. `tell` writes to
    the journal.
    """

    def __init__(self, plan: Plan, record: RunRecord, done: set[str], tell: Callable[[j.AnyRecord], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        """Guards the repeats, as several lanes may use this object at the same time."""
        self._groups: dict[tuple[object, ...], _Group] = {}
        self._of: dict[str, tuple[_Group, _Repeats]] = {}
        self._sort(plan)
        for cell_id, (_, repeats) in self._of.items():
            history = record.cells.get(cell_id, CellHistory())
            if history.ended is not None and cell_id in done:
                repeats.verdicts[cell_id] = history.ended
            if history.skipped is not None:
                repeats.skipped.add(cell_id)
        for group in self._groups.values():
            for each in group.repeats.values():
                if each.skipped and not each.taken_out:
                    group.end = next(n for n, cell in enumerate(each.cells) if cell.id in each.skipped)
            group.decide()

    def _sort(self, plan: Plan) -> None:
        if not any(experiment.confident for experiment in plan.experiments.values()):
            return
        for number, lane in enumerate(lanes(plan.cells)):
            for cell in lane:
                experiment = plan.experiments[cell.experiment]
                if experiment.confident is None or is_budgeted(plan, experiment):  # budgets decide on those
                    continue
                # A knee that is not found yet is one point of the plan, although its value differs between hardware.
                by = number if experiment.order == "interleaved" else (cell.hardware, cell.levels)
                place = (cell.experiment, by, cell.workload, cell.threads, cell.target)
                group = self._groups.setdefault(place, _Group(experiment, experiment.confident))
                repeats = group.repeats.setdefault((cell.hardware, cell.levels), _Repeats())
                repeats.cells.append(cell)
                self._of[cell.id] = group, repeats

    def not_needed(self, cell: Cell) -> str:
        """Return why a cell need not be measured, or "" if it must be."""
        if cell.id not in self._of:
            return ""
        group, repeats = self._of[cell.id]
        with self._lock:
            if group.end is None or cell.id in [each.id for each in repeats.cells[: group.end]]:
                return ""
            return group.reason()

    def skipped(self, cell: Cell) -> None:
        """Record that a cell is not run, for example because its search is over."""
        if cell.id in self._of:
            with self._lock:
                self._of[cell.id][1].skipped.add(cell.id)

    def ended(self, cell: Cell, verdict: j.CellEnded) -> None:
        """Record a cell's final verdict. Call it once the verdict is in the journal."""
        if cell.id not in self._of:
            return
        group, repeats = self._of[cell.id]
        with self._lock:
            repeats.verdicts[cell.id] = verdict
            group.decide()
            over = group.end is None and not group.is_announced and self._all_ended(group)
            texts = tuple(group.unconfident()) if over else ()
            group.is_announced = group.is_announced or bool(texts)
        for text in texts:
            origin = str(group.experiment.origin)
            self._tell(j.Remark(at=now(), severity="warning", text=text, origin=origin))

    @staticmethod
    def _all_ended(group: _Group) -> bool:
        most = group.experiment.repeats
        return all(each.taken_out or each.rates(most) is not None for each in group.repeats.values())
