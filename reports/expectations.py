"""What the spec expects of its results: each condition with its verdict, and with the numbers that decide it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from benchbrief.compiler.plan import Expect, Query
from benchbrief.reports.source import Results
from benchbrief.reports.values import automatic, scale_for, with_unit
from benchbrief.results.expects import is_number

_SHOWN = 3
"""More places than these are counted only."""


@dataclass(frozen=True)
class Judged:
    """`numbers` tells the places that decide, with the values compared there; "" when there are none."""

    expect: Expect
    verdict: Literal["holds", "fails", "unknown"]
    numbers: str


def judged(results: Results) -> list[Judged]:
    return [_judged(expect, results) for expect in results.plan.expects]


def told(one: Judged, results: Results) -> str:
    """`throughput > 10k ops/s: does not hold (First folder, threads 4: throughput = 8,200 ops/s)`."""
    verdict = results.words[f"d_expect_{one.verdict}"]
    return f"{one.expect.text}{results.words['colon']}{verdict}" + (
        results.words["aside"].format(text=one.numbers) if one.numbers else ""
    )


def _judged(expect: Expect, results: Results) -> Judged:
    rows = results.rows(expect.query)
    values = list(rows.values()) or [None]
    verdict: Literal["holds", "fails", "unknown"] = (
        "fails" if 0.0 in values else "unknown" if None in values else "holds"
    )
    decides = {"fails": 0.0, "unknown": None, "holds": 1.0}[verdict]
    dims: tuple[str, ...] = expect.query.dims
    places = [dict(zip(dims, keys, strict=True)) for keys, value in rows.items() if value == decides]
    shown = [text for place in places[:_SHOWN] if (text := _place(expect, place, results))]
    more = [results.words["expect_more"].format(n=len(places) - _SHOWN)] if shown and len(places) > _SHOWN else []
    return Judged(expect, verdict, results.words["semicolon"].join((*shown, *more)))


def _place(expect: Expect, place: dict[str, str | float], results: Results) -> str:
    where = results.words.locale.listed(_key(dim, key, results) for dim, key in place.items())
    sides = results.words.locale.listed(_sides(expect, place, results))
    return results.words["colon"].join(part for part in (where, sides) if part)


def _sides(expect: Expect, place: dict[str, str | float], results: Results) -> Iterator[str]:
    """A side that is a number as it stands in the spec says nothing new."""
    for side in expect.sides:
        value = None if is_number(side) else results.at(side, **place)
        if value is not None:
            yield f"{side.text} = {_quantity(value, side)}"


def _quantity(value: float, query: Query) -> str:
    scale = scale_for([value], query.unit)
    return with_unit(automatic(scale(value)), scale.unit)


def _key(dim: str, key: str | float, results: Results) -> str:
    if dim == "hardware" and (hardware := results.plan.hardware.get(str(key))):
        return hardware.label
    if dim == "workload" and (workload := results.plan.workloads.get(str(key))):
        return workload.label
    return f"{dim} {automatic(key) if isinstance(key, float) else key}"
