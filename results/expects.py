"""Judging what a spec expects of its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchbrief.compiler.plan import Expect, Plan
from benchbrief.results.store import Row, Store


@dataclass(frozen=True)
class Verdict:
    """`holds` is None when it can't be known, for want of a result. `origin` is its line in the spec."""

    text: str
    label: str
    holds: bool | None
    detail: str
    origin: str


def evaluate(plan: Plan, store: Store) -> list[Verdict]:
    """A verdict for each of the plan's expectations. One that fails anywhere does not hold. Raises RunnerError."""
    return [_verdict(expect, store) for expect in plan.expects]


def _verdict(expect: Expect, store: Store) -> Verdict:
    rows = store.query(expect.query)
    holds = _holds(rows)
    return Verdict(expect.text, expect.label, holds, _detail(expect, rows, holds), str(expect.origin))


def _holds(rows: Sequence[Row]) -> bool | None:
    if any(row.value == 0 for row in rows):
        return False
    if not rows or any(row.value is None for row in rows):
        return None
    return True


def _detail(expect: Expect, rows: Sequence[Row], holds: bool | None) -> str:
    dims = expect.query.dims
    if not rows:
        return "there is no result to judge it by"
    if not dims:
        return {True: "holds", False: "does not hold", None: rows[0].reason or "not measured"}[holds]
    if holds:
        return f"holds for all {len(rows)} of {', '.join(dims)}"
    of_interest = [row for row in rows if (row.value == 0 if holds is False else row.value is None)]
    places = [", ".join(f"{d} {_text(k)}" for d, k in zip(dims, row.keys, strict=True)) for row in of_interest[:3]]
    more = f" and {len(of_interest) - 3} more" if len(of_interest) > 3 else ""
    where = f"{len(of_interest)} of {len(rows)}: {'; '.join(places)}{more}"
    return f"not for {where}" if holds is False else f"not known for {where} ({of_interest[0].reason})"


def _text(key: object) -> str:
    return f"{key:g}" if isinstance(key, float) else str(key)
