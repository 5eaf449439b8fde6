"""Held-out repeats for claims about an extreme: which cells they measure again, and for how long.

The highest of many noisy points is too high, because it was chosen partly for its noise. So the winning point is
measured again, after everything else, and the claim uses only these repeats.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.fingerprint import digest
from benchbrief.model.plan import Cell, Claim, Dimension, DimKey, HeldOut, Plan, Read
from benchbrief.model.points import Point

Place = Mapping[Dimension, DimKey | None]
"""The place where an extreme was found: a key for each dimension over which it was taken."""

_ADVISED = ((1, 3), (3, 4), (10, 5), (40, 6))
"""The advised numbers of held-out repeats, as pairs: up to this many claims, this many repeats are enough.

With these repeats, four in five differences of 10 % are found if both sides have noise of 2 %, by Student's t with
Bonferroni's correction (simulated in `benchmarks/README.md`).
"""
_MOST_ADVISED = 7


def advised_times(claims: int) -> int:
    """Return how many held-out repeats to advise for each claim of a brief with several claims."""
    return next((times for most, times in _ADVISED if claims <= most), _MOST_ADVISED)


def number_of(claim: Claim) -> str:
    """Return an identifier of a claim's number. Claims in two languages may be sentences about the same number."""
    return claim.number.query.sql if claim.number else claim.name


def number_digest(claim: Claim) -> str:
    """Return a digest that identifies a held-out number in a journal. It covers the number, and the points from which
    its extremes were chosen."""
    extremes = [each.points.sql for each in claim.held_out.extremes] if claim.held_out else []
    return hashlib.sha256("\n".join((number_of(claim), *extremes)).encode()).hexdigest()


def claims_held_out(claims: Iterable[Claim]) -> dict[str, Claim]:
    """Map each claim's name to the claim whose held-out repeats it uses. This is the first claim about the same number
    with equally many held-out repeats."""
    first: dict[tuple[str, int], Claim] = {}
    return {
        claim.name: first.setdefault((number_of(claim), claim.held_out.times), claim)
        for claim in claims
        if claim.held_out
    }


def numbers_held_out(plan: Plan) -> list[Claim]:
    """Return the claims whose held-out repeats are measured, one for each number."""
    return list({claim.name: claim for claim in claims_held_out(plan.claims).values()}.values())


@dataclass(frozen=True)
class _Part:
    """The reads of a claim that share the place of one extreme. For the reads that depend on no extreme, the place is
    empty."""

    reads: tuple[Read, ...]
    place: Place

    def has(self, keys: Place) -> bool:
        return any(reads_at(read, self.place, keys) for read in self.reads)


def reads_at(read: Read, place: Place, keys: Place) -> bool:
    """Return whether a read covers the cells with these keys, if an extreme was found at `place`. A dimension that the
    read itself fixes may differ from `place`."""
    return read.covers(keys) and all(keys.get(dim) == key for dim, key in place.items() if _moves(dim, read))


WITHIN_CELLS = ("phase", "operation", "node", "time")
"""The dimensions along which one cell has several values."""


def _moves(dim: Dimension, read: Read) -> bool:
    """Return whether the read covers different cells at a different key of the dimension."""
    return dim not in read.keys and dim not in WITHIN_CELLS


def cells_held_out(
    plan: Plan, claim: Claim, rule: HeldOut, places: Sequence[Place], cells: Iterable[Cell]
) -> list[Cell]:
    """Return the cells that a claim reads at the places of its extremes. `places` has one place for each extreme. The
    other parts of a computed value are read at their fixed places."""
    parts = [_Part(each.points.reads or (), place) for each, place in zip(rule.extremes, places, strict=True)]
    of_extremes = [read for part in parts for read in part.reads]
    parts.append(_Part(tuple(read for read in claim.points.reads or () if read not in of_extremes), {}))
    unvaried = dict.fromkeys(plan.factors)
    return [cell for cell in cells if any(part.has({**unvaried, **Point.of(cell).keys}) for part in parts)]


def held_out_cells(cells: Iterable[Cell], times: int) -> tuple[Cell, ...]:
    """Return the held-out repeats of these cells' points. They alternate between the points, so that drift affects both
    sides alike. Their repeat numbers follow the plan's, so that they can't be confused with other results."""
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
    """Return how many seconds a claim's held-out repeats may take at most on these cells' group of hosts. For each side
    of a comparison, the point that takes longest is assumed to win."""
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
    """Return the keys that decide which cells a read covers. Reads with the same keys, such as throughput and latency,
    need the same cells, which are measured once."""
    return tuple((dim, keys) for dim, keys in read.keys.items() if dim not in WITHIN_CELLS)


def _longest_s(read: Read, moving: Sequence[Dimension], at: Iterable[tuple[Place, Cell]]) -> float:
    """Return the longest time for one repeat of all points that a read covers at one place."""
    found: dict[tuple[DimKey | None, ...], dict[Point, float]] = {}
    for keys, cell in at:
        if read.covers(keys):
            points, point = found.setdefault(tuple(keys.get(dim) for dim in moving), {}), Point.of(cell)
            points[point] = max(points.get(point, 0.0), sum(step.seconds for step in cell.steps))
    return max((sum(points.values()) for points in found.values()), default=0.0)
