"""Marks values that are in doubt because they depend on searches for promises: whether a value is only a bound, and
whether its searches decided.

If the highest candidate kept the promise, or the load generator was late at the next candidate, the search's result is
a rate "or more". Then a metric of that rate is a bound, too: a price per operation is "or less". To find the direction,
the metric is computed again with a far higher rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from benchbrief.compiler.metrics.lower_to_sql import sql_text
from benchbrief.model.message import share_figure
from benchbrief.model.plan import DimKey, Levels
from benchbrief.model.points import Curve
from benchbrief.model.rate_search import CONFIDENCE, is_lower_bound
from benchbrief.results.result_messages import say

SUSTAINED = "measure.sustained"
"""The view of searched rates."""
Bound = Literal["", "at_least", "at_most", "open"]
"""Where the true value may lie: at the value itself (""), above it, below it, or on either side."""
_SEARCHES = (
    "SELECT experiment, hardware, workload, levels, sustained, kind, by_generator, sure FROM main.promises "
    "WHERE sustained IS NOT NULL ORDER BY ALL"
)
_BEYOND = 1e6
"""The factor that makes a rate far higher. It is finite, so that the ratio of a rate to itself remains 1."""
_MOVED = 1.1
_FEW = 8
"""The most searches whose rates are changed one by one from the start. If there are more searches, a few queries first
check whether that is needed."""
Keys = tuple[DimKey | None, ...]


class Rows(Protocol):
    @property
    def rows(self) -> Sequence[Sequence[Any]]: ...


class Answering(Protocol):
    """Anything that answers SQL about one run, such as the run's `Store`."""

    def sql(self, text: str) -> Rows: ...


class Doubt(NamedTuple):
    """How far a value that comes from searches is in doubt. `bound` says on which side of the shown value the true
    value may lie. `decided` is false if a search behind the value ended before it was confident."""

    bound: Bound = ""
    decided: bool = True

    def __bool__(self) -> bool:
        return self != KNOWN

    @property
    def mark(self) -> str:
        """Return the sign to show before the value, with a space (as in `≥ 80 ops/s`), or "" if there is no doubt."""
        return f"{_MARKS[self.bound, self.decided]} " if self else ""

    def or_of(self, other: Doubt) -> Doubt:
        """Return the doubt about a value that is computed from two doubtful values."""
        bounds = {self.bound, other.bound} - {""}
        return Doubt(bounds.pop() if len(bounds) == 1 else "open" if bounds else "", self.decided and other.decided)


KNOWN = Doubt()
RANGE = Doubt("open")
"""The doubt about a range if one of its ends is in doubt."""
_MARKS: Mapping[tuple[Bound, bool], str] = {
    ("", False): "≈",
    ("at_least", True): "≥",
    ("at_least", False): "≳",
    ("at_most", True): "≤",
    ("at_most", False): "≲",
    ("open", True): "≈",
    ("open", False): "≈",
}


def explain_marks(found: Iterable[Doubt]) -> str:
    """Explain the signs before some values. Returns "" if none of the values has a sign."""
    return say.doubts_told(confidence=share_figure(CONFIDENCE)) if any(found) else ""


def of_search(kind: str | None, *, by_generator: bool, sure: bool) -> Doubt:
    """Return the doubt about a rate that a search found. The rate is only a lower bound if the highest candidate kept
    the promise (then `kind` is at_least), or if the load generator could not offer the next one (`by_generator`).
    `sure` is whether the search decided with its confidence.
    """
    return Doubt("at_least" if is_lower_bound(kind, by_generator=by_generator) else "", sure)


def doubts(store: Answering, sql: str) -> Mapping[Keys, Doubt]:
    """Return the doubts about a query's values, by their keys. Values that are not in doubt are left out.

    The number of queries is logarithmic in the number of searches. It is linear if a value depends on several searches
    and changes in the same direction whichever half of them is changed.
    """
    if SUSTAINED not in sql:
        return {}
    searches: dict[Curve, Doubt] = {}
    rates: dict[Curve, float] = {}
    for experiment, hardware, workload, levels, rate, kind, by_generator, sure in store.sql(_SEARCHES).rows:
        place = Curve(experiment, hardware, workload, Levels(levels))
        searches[place], rates[place] = of_search(kind, by_generator=by_generator, sure=sure), float(rate)
    if not any(searches.values()):
        return {}
    known = values_at(store, sql, rates)
    found: dict[Keys, Doubt] = {}

    def compare(factors: Mapping[Curve, float], *, bound: bool) -> set[Keys]:
        """Compute the values with the rates multiplied by the factors. Record the values that change, and return their
        keys."""
        differing = set[Keys]()
        moved = values_at(store, sql, {place: rate * factors.get(place, 1.0) for place, rate in rates.items()})
        for keys, value in known.items():
            then = moved.get(keys, math.nan)
            if math.isnan(value) or math.isclose(then, value, rel_tol=1e-9, abs_tol=0.0):
                continue
            side: Bound = "open" if math.isnan(then) else "at_least" if then > value else "at_most"
            found[keys] = found.get(keys, KNOWN).or_of(Doubt(side) if bound else Doubt(decided=False))
            differing.add(keys)
        return differing

    def move(some: Sequence[Curve]) -> set[Keys]:
        # Each by a different factor, so that every ratio of two rates changes.
        return compare({place: _BEYOND * _MOVED**n for n, place in enumerate(some)}, bound=True)

    bounded = [place for place, doubt in searches.items() if doubt.bound]
    one_by_one = len(bounded) <= _FEW
    if not one_by_one:
        on_several, resting = set[Keys](), move(bounded)
        for first, second in _halves(bounded):
            one, other = move(first), move(second)
            on_several |= (resting | one | other) - (one ^ other)
        one_by_one = any(found[keys].bound != "open" for keys in on_several)
    for some in _one_by_one(bounded) if one_by_one else ():
        move(some)
    # Up and down: where the least of several rates counts, only one direction shows it.
    unsure = {place: _MOVED**n for n, (place, doubt) in enumerate(searches.items(), 1) if not doubt.decided}
    for sign in (1, -1) if unsure else ():
        compare({place: factor**sign for place, factor in unsure.items()}, bound=False)
    return found


def _halves(places: Sequence[Curve]) -> Iterator[tuple[list[Curve], list[Curve]]]:
    """Number the searches, and divide them into two halves by each binary digit of their numbers. Any two searches are
    in different halves at least once."""
    for digit in range((len(places) - 1).bit_length()):
        zero, one = ([place for n, place in enumerate(places) if n >> digit & 1 == half] for half in (0, 1))
        yield zero, one


def _one_by_one(places: Sequence[Curve]) -> Iterator[Sequence[Curve]]:
    """Yield each search alone, all searches, and all searches but one. The minimum of several equal rates only moves if
    all of these rates do."""
    yield from ([place] for place in places)
    if len(places) > 1:
        yield places
    if len(places) > 2:
        yield from ([other for other in places if other != place] for place in places)


def values_at(store: Answering, sql: str, rates: Mapping[Curve, float]) -> dict[Keys, float]:
    """Return the values that a query would have if the searches had found these rates. A value may be infinite, or NaN
    if it is missing."""
    typed = "(NULL::VARCHAR, NULL::VARCHAR, NULL::VARCHAR, NULL::VARCHAR, 0.0::DOUBLE)"
    rows = (f"({', '.join(map(sql_text, place))}, '{rate!r}'::DOUBLE)" for place, rate in rates.items())
    # The first row is not a search. It gives the columns their types, even without a rate.
    table = f"(VALUES {', '.join((typed, *rows))}) AS rates(experiment, hardware, workload, levels, value)"
    columns = "experiment, hardware, workload, l.* EXCLUDE (levels), value"
    view = f"(SELECT {columns} FROM {table} JOIN measure.levels AS l USING (levels))"  # noqa: S608  # ours, quoted
    found = store.sql(sql.replace(SUSTAINED, view)).rows
    return {tuple(keys): math.nan if value is None else float(value) for *keys, value in found}
