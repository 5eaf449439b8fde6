"""The numbers that a run states, with their repeats, in a form for comparison with another run: each claim's number,
and each expectation's verdict. For a run without claims and expectations, see `stated_quantities.py`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from benchbrief.model.budgets import LEVEL, looks_at, strictest_level
from benchbrief.model.node import Node
from benchbrief.model.plan import Claim, Dimension, DimKey, Expect, Plan, Query, key_text
from benchbrief.results.analysis.claim_verdicts import ClaimVerdict
from benchbrief.results.analysis.expectation_verdicts import Read, is_number, judge
from benchbrief.results.analysis.held_out_repeats import at_place

_PLAIN = ("", "1", "%")
"""The units of numbers that are ratios or shares."""


class ValueAt(Node):
    """A value at a place: over all repeats, and of each repeat."""

    place: str = ""
    value: float | None
    repeats: tuple[float, ...] = ()


class StatedNumber(Node):
    """A number that a run states in a claim or an expectation, or shows in its brief. `expression` distinguishes
    numbers of the same name.

    If the number is the worst of several values, it promises a bound, and a number beyond the bound is better than
    stated: `bound` is `low` if it promises at least its value, and `high` if it promises at most its value. `exact`
    means that the number is made only of sizes, counts and declared values. If its repeats are all equal, any change is
    due to the measured thing. `is_relative` means that the number compares values from one run, so another machine's
    number can be compared with it. `no_difference` is the value that means "no difference". `is_said` is whether a
    brief may state the number. `holds` and `decided` are the verdict on an expectation. `level` is the confidence level
    of each interval.
    """

    kind: Literal["claim", "expect", "number"]
    name: str
    sentence: str = ""
    expression: str
    unit: str
    values: tuple[ValueAt, ...] = ()
    percentile: bool = False
    exact: bool = False
    bound: Literal["", "low", "high"] = ""
    is_relative: bool = False
    no_difference: float | None = None
    is_said: bool = True
    holds: bool | None = None
    decided: bool | None = None
    level: float = LEVEL


def state_claim(verdict: ClaimVerdict, sentence: str, read: Read, plan: Plan) -> StatedNumber:
    """Return the number that a claim states. The number has no value if the claim's value is missing."""
    claim, found = verdict.claim, list[float]()
    if verdict.held is not None:
        found = list(verdict.held.values)
    elif claim.repeats is not None and verdict.value is not None:
        found = list(at_place(claim.repeats, verdict.at, read))
    known = verdict.value is not None and math.isfinite(verdict.value)
    at = ValueAt(place=named_place(verdict.at), value=verdict.value if known else None, repeats=tuple(found))
    return StatedNumber(
        kind="claim",
        name=claim.name,
        sentence=sentence,
        expression=_expression(claim),
        unit=claim.points.unit,
        values=(at,),
        percentile=_is_percentile(claim.points),
        exact=claim.points.exact,
        bound=_promised(verdict),
        is_relative=claim.no_difference is not None,
        no_difference=claim.no_difference,
        is_said=verdict.is_said,
        level=strictest_level(plan),
    )


def _expression(claim: Claim) -> str:
    """Return a text that identifies a claim's number. It is the same in all versions of benchbrief. The highest and the
    lowest value of the same points are two different numbers."""
    return f"{claim.bound} of {claim.points.text}" if claim.bound else claim.points.text


def _promised(verdict: ClaimVerdict) -> Literal["", "low", "high"]:
    """Return whether a claim's number is a "low" or a "high" bound, or "" if it is neither.

    It is a bound if the claim states the worst of several values, or if the load generator was the bottleneck. If the
    metric has no better direction, values further from "no difference" count as better.
    """
    claim, better = verdict.claim, verdict.claim.better
    if better is None and claim.no_difference is not None and verdict.value is not None:
        better = "higher" if verdict.value >= claim.no_difference else "lower"
    if better is None:
        return ""
    promised: Literal["low", "high"] = "low" if better == "higher" else "high"
    return promised if verdict.at_least or claim.bound == promised else ""


def state_expectations(plan: Plan, read: Read) -> Iterator[StatedNumber]:
    """Yield each expectation of the spec, with its verdict and the numbers on its measured side."""
    for expect in plan.expects:
        found = judge(expect, read, looks_at(plan, expect))
        side = _measured_side(expect)
        number = expect.sides[side] if side is not None else None
        yield StatedNumber(
            kind="expect",
            name=expect.label or expect.text,
            sentence=expect.text,
            expression=expect.text,
            unit=number.unit if number else "",
            values=tuple(_values(expect, side, read)) if side is not None else (),
            percentile=number is not None and _is_percentile(number),
            exact=number is not None and number.exact,
            is_relative=_is_relative(expect),
            holds=found.holds,
            decided=found.decided,
            level=strictest_level(plan),
        )


def _measured_side(expect: Expect) -> int | None:
    """Return the first side that is measured, or None if neither is."""
    return next((at for at, side in enumerate(expect.sides) if side.reads != () and not is_number(side)), None)


def _is_relative(expect: Expect) -> bool:
    measured = [side for side in expect.sides if side.reads != () and not is_number(side)]
    return len(measured) == 2 or (len(measured) == 1 and is_ratio(measured[0]))


def is_ratio(query: Query) -> bool:
    """Return whether a value compares values that were measured in one run."""
    return bool(query.divides) and query.unit in _PLAIN


def _values(expect: Expect, side: int, read: Read) -> Iterator[ValueAt]:
    return values_of(expect.sides[side], expect.repeats[side] if expect.repeats else None, read)


def values_of(query: Query, repeats: Query | None, read: Read) -> Iterator[ValueAt]:
    """Yield the value at each place, with the values of its repeats."""
    of_repeats = list(_rows(repeats, read)) if repeats else []
    for keys, value in _rows(query, read):
        there = (found for at, found in of_repeats if found is not None and _covers(at, keys))
        yield ValueAt(place=named_place(keys), value=value, repeats=tuple(there))


def _rows(query: Query, read: Read) -> Iterator[tuple[Mapping[Dimension, DimKey | None], float | None]]:
    for row, value in read(query):
        known = value is not None and math.isfinite(value)
        yield dict(zip(query.dims, row, strict=True)), value if known else None


def _covers(at: Mapping[Dimension, DimKey | None], keys: Mapping[Dimension, DimKey | None]) -> bool:
    return at.get("repeat") is not None and all(at.get(dim) == key for dim, key in keys.items())


def named_place(keys: Mapping[Dimension, DimKey | None]) -> str:
    """Return a place as text, without the dimensions that do not vary there."""
    return ", ".join(f"{dim} {key_text(key)}" for dim, key in keys.items() if key is not None)


def _is_percentile(query: Query) -> bool:
    return any(read.view == "latency" and read.statistic.startswith("p") for read in query.reads or ())


def distinct_numbers(stated: Iterable[StatedNumber]) -> int:
    """Return how many numbers are judged together. If two claims state one number in two languages, it counts once."""
    return len({(each.kind, each.expression) for each in stated})
