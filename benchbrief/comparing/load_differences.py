"""What two contenders were measured with, by the plans: what differs of their load, and of all else that is said."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchbrief.comparing.compare_messages import say, some_of
from benchbrief.compiler.explain.explain_diff import part_name, value_text
from benchbrief.compiler.extensions.registry import TOOL_SPECS
from benchbrief.compiler.planning.plan import Arrivals
from benchbrief.compiler.planning.plan_diff import Part, changed_parts
from benchbrief.results.compare.contender_differences import Difference

if TYPE_CHECKING:
    from benchbrief.compiler.planning.plan import Cell
    from benchbrief.results.compare.comparison import Point
    from benchbrief.results.compare.contender import Contender

_OF_THE_POINT = ("threads", "target", "repeat")
_NAMED = 3


@dataclass(frozen=True)
class Loads:
    """`other` has, by the experiment, the workload and (of whole runs) the hardware, what of their load differs."""

    differences: tuple[Difference, ...]
    other: Mapping[Point, tuple[str, ...]]

    def why_other(self, point: Point) -> str:
        """Why what was measured at a point is not of one load; "" where it is.

        A point of fewer dimensions is of all that it may be made of.
        """
        keys = dict(point)
        found = [names for group, names in self.other.items() if all(keys.get(dim, key) == key for dim, key in group)]
        names = list(dict.fromkeys(name for each in found for name in each))
        if not names:
            return ""
        return say.other_load(said=some_of(names, _NAMED))


def compare_loads(first: Contender, second: Contender) -> Loads:
    """By each experiment and workload that both measured, whatever their experiments are called: a metric that does not
    tell experiments apart is of all of them. The load's differences stand first."""
    found: dict[bool, dict[Difference, None]] = {True: {}, False: {}}
    ours, theirs = _groups(first), _groups(second)
    # What one side alone has is part of its points that have fewer dimensions, and of none on the other side.
    alone = {group[1:] for group in ours} ^ {group[1:] for group in theirs}
    other = {group: (" on ".join(str(key) for _, key in group) + " in one alone",) for group in sorted(alone, key=str)}
    compared = [(*both, list(_parts(first, both[1], second, both[2]))) for both in _both(ours, theirs)]
    alike = {cell.id for _, *cells, parts in compared if not parts for cell in cells}
    for group, was, cell, parts in compared:
        if was.id in alike and cell.id in alike and was.experiment != cell.experiment:
            continue  # each has its like under another name
        names = []
        for part in parts:
            of_load = part.owner.startswith("workload ")
            found[of_load][_difference(part, cell)] = None
            if of_load:
                names.append(part.name)
        if names:
            other[group] = tuple(dict.fromkeys((*other.get(group, ()), *names)))
    in_order = (sorted(found[of_load], key=lambda each: each.what) for of_load in (True, False))
    return Loads(tuple(each for found in in_order for each in found), other)


def _both(ours: Mapping[Point, Cell], theirs: Mapping[Point, Cell]) -> Iterator[tuple[Point, Cell, Cell]]:
    """What is compared, by the group that it stands at: each experiment with its namesake; one without a namesake, by
    its workload and hardware alone, with all that the other side has of these."""
    for group, was in ours.items():
        if group in theirs:
            yield group, was, theirs[group]
    for group, was in ours.items():
        for namesake, cell in theirs.items():
            if group[1:] == namesake[1:] and (group not in theirs or namesake not in ours):
                yield group[1:], was, cell


def _groups(side: Contender) -> dict[Point, Cell]:
    """A cell of each experiment, workload and hardware: but for the point and the repeat, it is as the others."""
    found: dict[Point, Cell] = {}
    for cell in side.plan.cells:
        group: Point = (("experiment", cell.experiment), ("workload", cell.workload))
        if side.hardware is None:
            group = (*group, ("hardware", cell.hardware))
        elif cell.hardware != side.hardware:
            continue
        found.setdefault(group, cell)
    return found


def _parts(first: Contender, was: Cell, second: Contender, cell: Cell) -> Iterator[Part]:
    for found in changed_parts(first.plan, was, second.plan, cell):
        part = _with_defaults(found, _arrivals(first, was), _arrivals(second, cell))
        if part.before == part.after:
            continue
        if part.name.partition(".")[0] in _OF_THE_POINT and not part.owner:
            continue
        # Of two hardware groups, the hosts and what stands on them are what is compared.
        if second.hardware is None or not part.owner.startswith(("hardware ", "database ")):
            yield part


def _arrivals(side: Contender, cell: Cell) -> Arrivals:
    """Return how the load of a cell is spaced: as its experiment says, or in the usual way of its tool."""
    spec = TOOL_SPECS.usable(cell.tool.driver)
    usual = spec.arrivals[0] if spec and spec.arrivals and cell.target is not None else "closed"
    return side.plan.experiments[cell.experiment].arrivals or Arrivals(kind=usual)


def _with_defaults(part: Part, ours: Arrivals, theirs: Arrivals) -> Part:
    """Return the part with the default where a side does not say a setting of its arrivals."""
    _, is_setting, name = part.name.partition("arrivals.")
    if part.owner or not is_setting:
        return part
    before, after = (
        getattr(own, name) if said is None else said for said, own in ((part.before, ours), (part.after, theirs))
    )
    return replace(part, before=before, after=after)


def _difference(part: Part, cell: Cell) -> Difference:
    before, after = (value_text(part, value) if value is not None else "" for value in (part.before, part.after))
    if before == after:  # what sets them apart has no words of its own
        before, after = json.dumps(part.before), json.dumps(part.after)
    of = "" if part.owner or part.name.startswith("tool") else f"experiment {cell.experiment}."
    return Difference(f"{of}{part_name(part)}", before, after)
