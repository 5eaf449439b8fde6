"""Metrics of what searches for a promise found, such as `price / sustained`: between which values they lie.

The runs of a search disagree between two rates (`promises.kept_to` and `broken_from`). A metric is computed with each
search at the lower of its rates, and again with one search after another at the upper one: that shows which end makes
it larger. With each search at its worse, then at its better end, it has its own two ends. They are exact where the
metric rises all along, or falls all along, with each search, as those of products, quotients, sums and extremes do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchbrief.compiler.planning.plan import Plan, Query
from benchbrief.results.store.searched_doubts import Answering, Keys, Place, values_at

UNBOUNDED = "what its searches leave open is not known"
_LEAST = 5e-324
"""In place of a rate of 0, by which nothing can be divided."""
_SEARCHES = (
    "SELECT experiment, hardware, workload, kept_to, broken_from FROM main.promises WHERE kind IS NOT NULL ORDER BY ALL"
)
_Search = tuple[Place, tuple[float, float]]


def is_searched(query: Query) -> bool:
    """Return whether a query reads what searches found."""
    return any(read.view == "sustained" for read in query.reads or ())


def why_not_judged(query: Query, plans: Sequence[Plan], names: Sequence[str]) -> str:
    """Return why a metric that reads what searches found can't be judged in two plans; "" where it can."""
    named = [read.keys.get("experiment") for read in query.reads or () if read.view == "sustained"]
    read = (name for name in plans[0].experiments if any(keys is None or name in keys for keys in named))
    return why_mixed(query) or next(filter(None, (other_promise(name, plans, names) for name in read)), "")


def why_mixed(query: Query) -> str:
    """Return that a query reads what searches found and measures that each repeat has; "" where it does not."""
    others = dict.fromkeys(read.measure for read in query.reads or () if read.view != "sustained")
    if not others:
        return ""
    return f"it has a rate that was searched for and {', '.join(others)} of repeats: no interval here covers both"


def other_promise(experiment: str, plans: Sequence[Plan], names: Sequence[str]) -> str:
    """Return that two plans, called `names`, search for different promises in an experiment; "" where they do not."""
    one, other = (each.promise if (each := plan.experiments.get(experiment)) else None for plan in plans)
    if one is None or other is None or one.is_same(other):
        return ""
    return f"another promise: {one.text} in {names[0]}, {other.text} in {names[1]}"


def searched_bounds(store: Answering, query: Query) -> Mapping[Keys, tuple[float, float]]:
    """Return the least and the largest value of a metric by its keys, as far as its searches say. Either may be
    infinite. Keys whose values can't be computed are left out."""
    searches = list(_searches(store))

    def values(rates: Iterable[float]) -> Mapping[Keys, float]:
        return values_at(store, query.sql, dict(zip((place for place, _ in searches), rates, strict=True)))

    lowest = values(ends[0] for _, ends in searches)
    rising: dict[Keys, list[bool]] = {keys: [] for keys in lowest}
    for moved in range(len(searches)):
        ends = [each[number == moved] for number, (_, each) in enumerate(searches)]
        for keys, value in values(ends).items():
            rising[keys].append(value > lowest[keys])
    found: dict[Keys, tuple[float, float]] = {}
    for signs in {tuple(each) for each in rising.values()}:
        low, high = (
            values(ends[up == best] for up, (_, ends) in zip(signs, searches, strict=True)) for best in (False, True)
        )
        for keys, each in rising.items():
            if tuple(each) == signs and not math.isnan(low[keys]) and not math.isnan(high[keys]):
                found[keys] = low[keys], high[keys]
    return found


def _searches(store: Answering) -> Iterator[_Search]:
    for experiment, hardware, workload, kept_to, broken_from in store.sql(_SEARCHES).rows:
        if kept_to is not None or broken_from is not None:
            ends = kept_to or _LEAST, math.inf if broken_from is None else broken_from
            yield (experiment, hardware, workload), ends
