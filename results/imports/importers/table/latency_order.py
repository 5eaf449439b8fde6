"""Whether a source's latency statistics are in an order that one measurement can have."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from benchbrief.compiler.measure_catalogue import KINDS
from benchbrief.results.imports.import_manifest import CellValue

_MEAN = 50.5
"""A place between the ends: the mean can be below or above any percentile."""
_ENDS = {"min": 0.0, "mean": _MEAN, "max": 101.0}


def out_of_order(values: Iterable[CellValue]) -> tuple[CellValue, CellValue] | None:
    """Return the lower and the higher statistic of which the higher has the smaller value; None if none has."""
    by_phase: dict[tuple[str, int | None], list[CellValue]] = {}
    for value in values:
        if KINDS[value.measure].view == "latency":
            by_phase.setdefault((value.operation, value.phase), []).append(value)
    for each in by_phase.values():
        ranked = sorted(((_rank(value), value) for value in each), key=lambda pair: pair[0])
        percentiles = [value for rank, value in ranked if rank != _MEAN]
        ends = [value for rank, value in ranked if rank in _ENDS.values()]
        for lower, higher in (*pairwise(percentiles), *pairwise(ends)):
            if lower.value > higher.value:
                return lower, higher
    return None


def _rank(value: CellValue) -> float:
    statistic = KINDS[value.measure].statistic
    return _ENDS[statistic] if statistic in _ENDS else float(statistic.removeprefix("p"))
