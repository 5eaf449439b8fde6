"""Repeats that end when the mean is known well enough: which cells are not needed any more.

All is decided by what the journal says of the cells, so that a resumed run decides as the interrupted one did: the
repeats of a point count in the plan's order, and end behind the first that satisfies the rule (`plan.Confident`)
together with those before it. A failed repeat counts for nothing, but is waited for no longer.

Measured by turns (`interleaved`), the hardware of one lane ends together, behind the first round after which all of it
is confident: otherwise drift would fall on the one that goes on alone. Hardware on hosts of its own has a lane of its
own, takes no turns with any other, and decides for itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from benchbrief.compiler.plan import Cell, Confident, Experiment, Plan
from benchbrief.runners import journal as j
from benchbrief.runners.confidence import half_width
from benchbrief.runners.sharing import lanes


@dataclass
class _Repeats:
    """The repeats of one point on one hardware, in the plan's order. `verdicts` are those of cells that have ended."""

    cells: list[Cell] = field(default_factory=list)
    verdicts: dict[str, j.CellEnded] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)

    @property
    def taken_out(self) -> bool:
        """Whether no repeat is needed, as a search is over before this point."""
        return self.cells[0].id in self.skipped

    def rates(self, count: int) -> list[float] | None:
        """Throughputs of the good ones among the first so many; None as long as not all of those have ended."""
        first = [self.verdicts.get(cell.id) for cell in self.cells[:count]]
        if None in first:
            return None
        return [each.ops_per_s for each in first if each and each.status == "ok" and each.ops_per_s is not None]


@dataclass
class _Group:
    """What ends together: the repeats of a point on each hardware that takes turns. `end`: how many were needed."""

    experiment: Experiment
    rule: Confident
    repeats: dict[str, _Repeats] = field(default_factory=dict)
    """By hardware."""
    end: int | None = None
    told: bool = False

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
        """Why the repeats after `end` are not needed."""
        widths = [half_width(each.rates(self.end or 0) or []) for each in self.repeats.values() if not each.taken_out]
        widest = max((width for width in widths if width is not None), default=0.0)
        return (
            f"after {self.end} repeats the 95 % confidence interval of the mean throughput was within ±{widest:.1%}, "
            f"and {100 * self.rule.within:g} % was asked for"
        )

    def unconfident(self) -> Iterator[str]:
        """What is to be told of hardware whose repeats are all done, and not close enough to each other."""
        most = self.experiment.repeats
        for hardware, each in self.repeats.items():
            rates = each.rates(most)
            if rates is None or self._confident(rates):
                continue
            width = half_width(rates)
            found = "is not known" if width is None else f"is within ±{width:.1%}"
            yield (
                f"{each.cells[0].id.rpartition('/')[0]} on {hardware}: after {len(rates)} good repeats the 95 % "
                f"confidence interval of the mean throughput {found}, and {100 * self.rule.within:g} % was asked for"
            )


class RepeatsUntil:
    """The repeats of a run that may end early, shared by its lanes; those of one group are in one lane of the plan.

    `records` is the journal so far, in which the cells of `done` are good or not needed; `tell` writes to it.
    """

    def __init__(
        self, plan: Plan, records: Iterable[j.AnyRecord], done: set[str], tell: Callable[[j.AnyRecord], None]
    ) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        """A resumption has lanes of the cells left, so that those of one group may be in several."""
        self._groups: dict[tuple[object, ...], _Group] = {}
        self._of: dict[str, tuple[_Group, _Repeats]] = {}
        self._sort(plan)
        for record in records:
            if isinstance(record, j.CellEnded) and record.cell in done and record.cell in self._of:
                self._of[record.cell][1].verdicts[record.cell] = record
            elif isinstance(record, j.CellSkipped) and record.cell in self._of:
                self._of[record.cell][1].skipped.add(record.cell)
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
                if experiment.confident is None:
                    continue
                # A knee that is yet to be found is one point of the plan, though another number on each hardware.
                by = number if experiment.order == "interleaved" else cell.hardware
                place = (cell.experiment, by, cell.workload, cell.threads, cell.target)
                group = self._groups.setdefault(place, _Group(experiment, experiment.confident))
                repeats = group.repeats.setdefault(cell.hardware, _Repeats())
                repeats.cells.append(cell)
                self._of[cell.id] = group, repeats

    def not_needed(self, cell: Cell) -> str:
        """Why a cell need not be measured; "" when it must."""
        if cell.id not in self._of:
            return ""
        group, repeats = self._of[cell.id]
        with self._lock:
            if group.end is None or cell.id in [each.id for each in repeats.cells[: group.end]]:
                return ""
            return group.reason()

    def skipped(self, cell: Cell) -> None:
        """Take note of a cell that is not run, be it for a search that is over."""
        if cell.id in self._of:
            with self._lock:
                self._of[cell.id][1].skipped.add(cell.id)

    def ended(self, cell: Cell, verdict: j.CellEnded) -> None:
        """Take note of how a cell ended for good; call it once the verdict is in the journal."""
        if cell.id not in self._of:
            return
        group, repeats = self._of[cell.id]
        with self._lock:
            repeats.verdicts[cell.id] = verdict
            group.decide()
            over = group.end is None and not group.told and self._all_ended(group)
            texts = tuple(group.unconfident()) if over else ()
            group.told = group.told or bool(texts)
        for text in texts:
            origin = str(group.experiment.origin)
            self._tell(j.Remark(at=time.time(), severity="warning", text=text, origin=origin))

    @staticmethod
    def _all_ended(group: _Group) -> bool:
        most = group.experiment.repeats
        return all(each.taken_out or each.rates(most) is not None for each in group.repeats.values())
