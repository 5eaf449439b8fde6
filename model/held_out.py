"""Held-out repeats of a claim of an extreme: which cells they measure again, and how long that takes.

The highest of many noisy points is too high: it was chosen for its noise. So the point that won is measured again,
after all the rest, and the claim takes these repeats alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.fingerprint import digest
from benchbrief.model.plan import Cell, Claim, Dimension, DimKey, HeldOut, Plan, Read
from benchbrief.model.points import Point

Place = Mapping[Dimension, DimKey | None]
"""Where an extreme was found: the key of each dimension that it was taken over."""

_ADVISED = ((1, 3), (3, 4), (10, 5), (40, 6))
"""Up to how many claims which number of held-out repeats shows four in five differences of 10 % where both sides have
noise of 2 %, by Student's t with Bonferroni's correction: `benchmarks/README.md` has the simulation."""
_MOST_ADVISED = 7


def advised_times(claims: int) -> int:
    """Return how many held-out repeats each of several claims of a brief should have."""
    return next((times for most, times in _ADVISED if claims <= most), _MOST_ADVISED)


def number_of(claim: Claim) -> str:
    """Return what tells the number of a claim from others: claims in two languages are sentences about one number."""
    return claim.number.query.sql if claim.number else claim.name


def number_digest(claim: Claim) -> str:
    """Return what a journal keeps of a number that was measured again: it, and where its extremes were looked for."""
    extremes = [each.points.sql for each in claim.held_out.extremes] if claim.held_out else []
    return hashlib.sha256("\n".join((number_of(claim), *extremes)).encode()).hexdigest()


def claims_held_out(claims: Iterable[Claim]) -> dict[str, Claim]:
    """Return the claim whose held-out repeats each claim takes, by name: of several about one number, the first."""
    first: dict[tuple[str, int], Claim] = {}
    return {
        claim.name: first.setdefault((number_of(claim), claim.held_out.times), claim)
        for claim in claims
        if claim.held_out
    }


def numbers_held_out(plan: Plan) -> list[Claim]:
    """Return the claims whose held-out repeats are measured: one for each number."""
    return list({claim.name: claim for claim in claims_held_out(plan.claims).values()}.values())


@dataclass(frozen=True)
class _Part:
    """What reads of a claim are at: the place of their extreme, or wherever they are fixed."""

    reads: tuple[Read, ...]
    place: Place

    def has(self, keys: Place) -> bool:
        return any(reads_at(read, self.place, keys) for read in self.reads)


def reads_at(read: Read, place: Place, keys: Place) -> bool:
    """Return whether a read at the place of an extreme is of the cells with these keys. Where it is fixed, the place
    does not move it."""
    return read.covers(keys) and all(keys.get(dim) == key for dim, key in place.items() if _moves(dim, read))


WITHIN_CELLS = ("phase", "operation", "node", "time")
"""The dimensions along which one cell has several values."""


def _moves(dim: Dimension, read: Read) -> bool:
    """Return whether a read is of other cells at another key of the dimension."""
    return dim not in read.keys and dim not in WITHIN_CELLS


def cells_held_out(
    plan: Plan, claim: Claim, rule: HeldOut, places: Sequence[Place], cells: Iterable[Cell]
) -> list[Cell]:
    """Return those of the cells that a claim reads where its extremes were found: `places`, one for each of them. The
    other parts of a computed value are read where they are fixed."""
    parts = [_Part(each.points.reads or (), place) for each, place in zip(rule.extremes, places, strict=True)]
    of_extremes = [read for part in parts for read in part.reads]
    parts.append(_Part(tuple(read for read in claim.points.reads or () if read not in of_extremes), {}))
    unvaried = dict.fromkeys(plan.factors)
    return [cell for cell in cells if any(part.has({**unvaried, **Point.of(cell).keys}) for part in parts)]


def held_out_cells(cells: Iterable[Cell], times: int) -> tuple[Cell, ...]:
    """Return the held-out repeats of the points of these cells, in turns, so that drift affects both sides alike. Their
    numbers go on from those of the plan, so that no result is ever taken for one of theirs."""
    points: dict[Point, list[Cell]] = {}
    for cell in cells:
        points.setdefault(Point.of(cell), []).append(cell)
    return tuple(_again(theirs, number) for number in range(1, times + 1) for theirs in points.values())


def _again(repeats: Sequence[Cell], number: int) -> Cell:
    first = repeats[0]
    path, _, _ = first.id.rpartition("/")
    named = {"id": f"{path}/h{number}", "hash": digest([first.hash, "held out", number])}
    return first.model_copy(update={**named, "repeat": max(cell.repeat for cell in repeats) + number})


def held_out_s(plan: Plan, claim: Claim, cells: Iterable[Cell]) -> float:
    """Return how many seconds the held-out repeats of a claim take, at most, on the group of hosts with these cells of
    the plan: of each side of a comparison, the longest point that may win."""
    rule = claim.held_out
    if rule is None:
        return 0.0
    unvaried = dict.fromkeys(plan.factors)
    at = [({**unvaried, **Point.of(cell).keys}, cell) for cell in cells]
    sides = {(_cell_keys(read), each.points.dims): read for each in rule.extremes for read in each.points.reads or ()}
    known = {keys for keys, _ in sides}
    others = (read for read in claim.points.reads or () if _cell_keys(read) not in known)
    sides |= {(_cell_keys(read), ()): read for read in others}
    return rule.times * sum(
        _longest_s(read, [dim for dim in dims if _moves(dim, read)], at) for (_, dims), read in sides.items()
    )


def _cell_keys(read: Read) -> tuple[tuple[Dimension, tuple[str | float, ...]], ...]:
    """Return at which cells a read is fixed: throughput and latency of the same cells are measured together."""
    return tuple((dim, keys) for dim, keys in read.keys.items() if dim not in WITHIN_CELLS)


def _longest_s(read: Read, moving: Sequence[Dimension], at: Iterable[tuple[Place, Cell]]) -> float:
    """Return the longest time of what is read at one place: one repeat of each of its points."""
    found: dict[tuple[DimKey | None, ...], dict[Point, float]] = {}
    for keys, cell in at:
        if read.covers(keys):
            points, point = found.setdefault(tuple(keys.get(dim) for dim in moving), {}), Point.of(cell)
            points[point] = max(points.get(point, 0.0), sum(step.seconds for step in cell.steps))
    return max((sum(points.values()) for points in found.values()), default=0.0)
