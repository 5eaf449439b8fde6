"""What is not known of values that rest on searches for a promise: whether they are bounds, and whether the searches
decided.

A search whose highest candidate kept the promise, or whose load generator was late at the next one, tells a rate "or
more". A metric of such a rate is a bound, too: of a price per operation, an upper one. The metric is computed again
with a far higher rate, which shows to which side it goes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from benchbrief.compiler.messages.text import share_figure
from benchbrief.compiler.planning.plan import Query
from benchbrief.compiler.searches.rate_search import CONFIDENCE, is_lower_bound
from benchbrief.results.compare.searched_metrics import Place, is_searched, values_at
from benchbrief.results.messages.result_messages import say
from benchbrief.results.store.store import Key

if TYPE_CHECKING:
    from benchbrief.results.compare.compared_quantities import ReadSide

Bound = Literal["", "at_least", "at_most", "open"]
"""The true value may be larger, or smaller, or either."""
_SEARCHES = (
    "SELECT experiment, hardware, workload, sustained, kind, by_generator, sure FROM main.promises "
    "WHERE sustained IS NOT NULL ORDER BY ALL"
)
_BEYOND = 1e6
"""Far, and not infinite: the ratio of a rate to itself stays 1."""
_MOVED = 1.1
_Keys = tuple[Key, ...]


class Doubt(NamedTuple):
    """What is not known of a value. `decided`: whether its searches decided with their confidence."""

    bound: Bound = ""
    decided: bool = True

    def __bool__(self) -> bool:
        return self != KNOWN

    @property
    def mark(self) -> str:
        """Return the sign that stands before the value wherever it is shown: `≥ 80 ops/s`."""
        return f"{_MARKS[self.bound, self.decided]} " if self else ""

    def or_of(self, other: Doubt) -> Doubt:
        """Return the doubt of a value that rests on two."""
        bounds = {self.bound, other.bound} - {""}
        return Doubt(bounds.pop() if len(bounds) == 1 else "open" if bounds else "", self.decided and other.decided)


KNOWN = Doubt()
RANGE = Doubt("open")
"""Of a range with an end that is in doubt."""
_MARKS: Mapping[tuple[Bound, bool], str] = {
    ("", False): "≈",
    ("at_least", True): "≥",
    ("at_least", False): "≳",
    ("at_most", True): "≤",
    ("at_most", False): "≲",
    ("open", True): "≈",
    ("open", False): "≈",
}


def told(found: Iterable[Doubt]) -> str:
    """Return what the signs before some values mean; "" where none has one."""
    return say.doubts_told(confidence=share_figure(CONFIDENCE)) if any(found) else ""


def of_search(kind: str | None, *, by_generator: bool, sure: bool) -> Doubt:
    """Return the doubt of a rate that a search found."""
    return Doubt("at_least" if is_lower_bound(kind, by_generator=by_generator) else "", sure)


def doubts(store: ReadSide, query: Query) -> Mapping[_Keys, Doubt]:
    """Return the doubts of a query's values by its keys. Values without any are left out."""
    if not is_searched(query):
        return {}
    searches: dict[Place, Doubt] = {}
    rates: dict[Place, float] = {}
    for experiment, hardware, workload, rate, kind, by_generator, sure in store.sql(_SEARCHES).rows:
        place = experiment, hardware, workload
        searches[place], rates[place] = of_search(kind, by_generator=by_generator, sure=sure), float(rate)
    if not any(searches.values()):
        return {}
    known = values_at(store, query, rates)
    found: dict[_Keys, Doubt] = {}

    def compare(moved: Mapping[_Keys, float], *, bound: bool) -> None:
        for keys, value in known.items():
            then = moved.get(keys, math.nan)
            if math.isnan(value) or math.isclose(then, value, rel_tol=1e-9, abs_tol=0.0):
                continue
            side: Bound = "open" if math.isnan(then) else "at_least" if then > value else "at_most"
            found[keys] = found.get(keys, KNOWN).or_of(Doubt(side) if bound else Doubt(decided=False))

    for place, doubt in searches.items():
        if doubt.bound:
            compare(values_at(store, query, {**rates, place: rates[place] * _BEYOND}), bound=True)
    # By factors of their own, so that no ratio of two stays as it is; up and down, as of several the least may count.
    unsure = {place: _MOVED**n for n, (place, doubt) in enumerate(searches.items(), 1) if not doubt.decided}
    for sign in (1, -1) if unsure else ():
        moved = {place: rate * unsure.get(place, 1.0) ** sign for place, rate in rates.items()}
        compare(values_at(store, query, moved), bound=False)
    return found
