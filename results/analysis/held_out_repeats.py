"""Held-out repeats of a run's claims: the point of each claim's extreme, and the values from measuring it again.

These repeats are kept as separate runs below the run's folder, so that no table, figure or mean of the run includes
them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.events import HeldOutBegan
from benchbrief.model.held_out import Place, claims_held_out, number_digest
from benchbrief.model.plan import Claim, Extreme, Plan, Query
from benchbrief.model.points import Point
from benchbrief.results.analysis.cautions import busy_generators, limited_points
from benchbrief.results.analysis.expectation_verdicts import Read, reading
from benchbrief.results.open_store import rebuilt_store, unchanged_store
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.journal_file import last_held_out
from benchbrief.runners.journal.run_folder import held_out_folder, load_plan


@dataclass(frozen=True)
class Winner:
    """The places where a claim's extremes were found, one for each extreme. `points` is the number of compared points,
    and `value` is the claim's value when they were found."""

    places: tuple[Place, ...]
    points: int
    value: float


@dataclass(frozen=True)
class HeldOutRepeats:
    """The held-out repeats of a claim. `times` repeats were requested, and `values` are from the good ones. `attempt`
    counts how often held-out repeats were measured for the claim; 0 means never. `busy` are the points where the load
    generator may have been the bottleneck.
    """

    times: int
    attempt: int = 0
    winner: Winner | None = None
    value: float | None = None
    values: tuple[float, ...] = ()
    busy: frozenset[Point] = frozenset()


def winner_of(claim: Claim, read: Read) -> Winner | None:
    """Return where a claim's extremes are according to the run's ordinary repeats, or None if an extreme is missing."""
    if claim.held_out is None:
        return None
    found = [_best(each, read) for each in claim.held_out.extremes]
    known = [each for each in found if each is not None]
    places = tuple(place for place, _ in known)
    value = next(at_place(claim.points, places[0] if claim.bound else {}, read), None) if known else None
    if value is None or len(known) < len(found):
        return None
    return Winner(places, sum(points for _, points in known), value)


def _best(extreme: Extreme, read: Read) -> tuple[Place, int] | None:
    """Return the place of an extreme, and the number of points that were compared to find it."""
    rows = [(keys, value) for keys, value in read(extreme.points) if value is not None and math.isfinite(value)]
    if not rows:
        return None
    keys, _ = (max if extreme.bound == "high" else min)(rows, key=lambda row: row[1])
    return dict(zip(extreme.points.dims, keys, strict=True)), len(rows)


def same_claim(claim: Claim, began: HeldOutBegan) -> bool:
    """Return whether the record belongs to this claim, and not to an earlier claim of the same name."""
    return began.sha256 == number_digest(claim)


def held_out_repeats(run_dir: Path, plan: Plan, *, afresh: bool = False) -> dict[str, HeldOutRepeats]:
    """Return the held-out repeats of each claim that asks for them, by the claim's name.

    They are read from the tables beside the measurements. If these have changed, or if `afresh` is set, they are
    computed from the measurements themselves. Repeats in a run that can't be read count as failed. Raises RunnerError
    if the run's own journal can't be read.
    """
    measured = claims_held_out(plan.claims)
    found = _repeats_of(run_dir, {claim.name: claim for claim in measured.values()}.values(), afresh=afresh)
    return {name: found[claim.name] for name, claim in measured.items()}


def _repeats_of(run_dir: Path, claims: Iterable[Claim], *, afresh: bool) -> dict[str, HeldOutRepeats]:
    asked = [(claim, claim.held_out) for claim in claims if claim.held_out]
    began = last_held_out(run_dir) if asked else {}
    found: dict[str, HeldOutRepeats] = {}
    for claim, rule in asked:
        found[claim.name] = HeldOutRepeats(rule.times)
        of = began.get(claim.name)
        if of is not None and same_claim(claim, of):
            winner = Winner(of.places, of.points, of.value)
            found[claim.name] = HeldOutRepeats(rule.times, of.attempt, winner)
            opened = rebuilt_store if afresh else partial(unchanged_store, checked=True)
            with suppress(RunnerError), opened(held_out_folder(run_dir, of.folder)) as store:
                place = winner.places[0] if claim.bound else {}
                values = tuple(at_place(rule.repeats, place, reading(store)))
                whole = next(at_place(claim.points, place, reading(store)), None)
                plan = load_plan(store.run_dir)
                busy = limited_points(plan, busy_generators(plan, store))
                value = _value(claim, values, whole)
                found[claim.name] = HeldOutRepeats(rule.times, of.attempt, winner, value, values, busy)
    return found


def _value(claim: Claim, values: Sequence[float], whole: float | None) -> float | None:
    """Return the claim's number. If the store has no number because a repeat failed, return the mean of the other
    repeats."""
    if whole is not None or not values:
        return whole
    if claim.points.by_ratio and min(values) > 0:
        return math.exp(math.fsum(map(math.log, values)) / len(values))
    return math.fsum(values) / len(values)


def at_place(query: Query, place: Place, read: Read) -> Iterator[float]:
    """Yield the known values of a query at a place. Dimensions that only the query or only the place has may have any
    key."""
    for row, value in read(query):
        keys = dict(zip(query.dims, row, strict=True))
        if value is not None and math.isfinite(value) and all(keys.get(dim, key) == key for dim, key in place.items()):
            yield value
