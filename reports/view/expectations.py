"""The expectations of a spec: each condition with its verdict, and with the numbers that decide it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from benchbrief.compiler.planning.plan import Expect
from benchbrief.reports.text.number_format import automatic, quantity
from benchbrief.reports.view.report_data import Results
from benchbrief.results.analysis.expectation_verdicts import is_number

_MOST_DIGITS = 15
_SHOWN = 3
"""The most shown places; further ones are counted."""


@dataclass(frozen=True)
class Judged:
    """`numbers` are the deciding places, with their compared values; "" when there are none."""

    expect: Expect
    verdict: Literal["holds", "fails", "unknown"]
    numbers: str


def judged(results: Results) -> list[Judged]:
    return [_judged(expect, results) for expect in results.plan.expects]


def told(one: Judged, results: Results) -> str:
    """Return `throughput > 10k ops/s: does not hold (First folder, threads 4: throughput = 8,200 ops/s)`."""
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
    """Return the sides, with enough digits to distinguish them. A literal number is left out."""
    known = [(side, value) for side in expect.sides if (value := results.at(side, **place)) is not None]
    for digits in range(_MOST_DIGITS + 1):
        texts = [quantity(value, side.unit, significant=digits) for side, value in known]
        if len(set(texts)) == len({value for _, value in known}):
            break
    yield from (f"{side.text} = {text}" for (side, _), text in zip(known, texts, strict=True) if not is_number(side))


def _key(dim: str, key: str | float, results: Results) -> str:
    if dim == "hardware" and (hardware := results.plan.hardware.get(str(key))):
        return hardware.label
    if dim == "workload" and (workload := results.plan.workloads.get(str(key))):
        return workload.label
    return f"{dim} {automatic(key) if isinstance(key, float) else key}"
