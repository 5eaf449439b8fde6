"""Published values in the place of numbers that the imported figures do not give.

A source often has a metric and not its parts: a range over a ramp, or a gain. Where an expression of the report is
that metric (`compiler.plan.Quote`), its value is the published one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchbrief.compiler.planning.plan import Cell, Quote
from benchbrief.compiler.units import parse_unit

DIMENSIONS = ("experiment", "hardware", "workload", "threads", "target", "phase")
"""The possible dimensions of a published value, columns of the store's table `published`."""
Keys = Mapping[str, str | float]


@dataclass(frozen=True)
class PublishedValue:
    """A row of the store's table `published`."""

    metric: str
    bound: str
    at: Keys
    value: float
    unit: str

    def in_unit(self, unit: str) -> float:
        """Return the value in another unit, with its published digits: 45 % is 0.45, and stays 45 in %."""
        if unit == self.unit:
            return self.value
        return float(f"{self.value * parse_unit(self.unit).factor / parse_unit(unit).factor:.12g}")


def published_values(rows: Iterable[Sequence[Any]]) -> tuple[PublishedValue, ...]:
    """Return the values from rows of metric, bound, value, unit, and `DIMENSIONS`."""
    found = []
    for metric, bound, value, unit, *keys in rows:
        at = {
            dim: key if isinstance(key, str) else float(key)
            for dim, key in zip(DIMENSIONS, keys, strict=True)
            if key is not None
        }
        found.append(PublishedValue(str(metric), str(bound), at, float(value), str(unit)))
    return tuple(found)


def quoted_values(
    quote: Quote, dims: Sequence[str], unit: str, published: Sequence[PublishedValue], cells: Sequence[Cell]
) -> dict[tuple[str | float, ...], float]:
    """Return the source's values of `quote`, in `unit`, by its keys of `dims`."""
    rows = [each.at for each in published if each.metric == quote.metric and all(dim in each.at for dim in dims)]
    wanted = {tuple(at[dim] for dim in dims) for at in rows}
    found = {keys: _value(quote, dict(zip(dims, keys, strict=True)), unit, published, cells) for keys in wanted}
    return {keys: value for keys, value in found.items() if value is not None}


def _value(
    quote: Quote, row: Keys, unit: str, published: Sequence[PublishedValue], cells: Sequence[Cell]
) -> float | None:
    """Return the published value at the keys `row`, in `unit`; None where the source has none.

    A lowest or highest value over dimensions that the source distinguishes needs every planned part: the lowest over
    all workloads needs the lowest of each workload.
    """
    place: dict[str, str | float] = {dim: _key(key) for dim, key in quote.at.items()}
    place.update(row)
    bounds = {quote.bound, "value"} if quote.over else {quote.bound}
    fitting = [
        each
        for each in published
        if each.metric == quote.metric
        and each.bound in bounds
        and all(each.at.get(dim) == key for dim, key in place.items())
        and set(each.at) - set(place) <= set(quote.over)
    ]
    apart = sorted({dim for each in fitting for dim in each.at} - set(place))
    found = {tuple(each.at.get(dim) for dim in apart): each.in_unit(unit) for each in fitting}
    planned = _planned(apart, place, cells) if apart else {()}
    # A remark on the whole ("30 times, or more") is no part, and hides none.
    parts = {keys: value for keys, value in found.items() if keys in planned or None not in keys}
    if not parts or parts.keys() != planned:
        return None
    value = (max if quote.bound == "high" else min)(parts.values())
    return -value if quote.negated else value


def _planned(dims: Sequence[str], place: Keys, cells: Sequence[Cell]) -> set[tuple[str | float | None, ...]]:
    """Return the keys of these dimensions in the planned cells at `place`."""
    there = [cell for cell in cells if all(_of(cell, dim) == key for dim, key in place.items() if hasattr(cell, dim))]
    return {tuple(_of(cell, dim) for dim in dims) for cell in there}


def _of(cell: Cell, dim: str) -> str | float | None:
    value = getattr(cell, dim, None)
    return None if value is None else _key(value)


def _key(value: str | float) -> str | float:
    return value if isinstance(value, str) else float(value)
