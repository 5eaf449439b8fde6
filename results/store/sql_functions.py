"""The statistics that a plan's SQL may call: Python functions in DuckDB, made when a query first needs one.

    bench_half_width(values)            half the width of the mean's confidence interval, at the run's level
    bench_p_value(a, b, percentile)     how likely so large a difference is if there is none
    bench_usl(loads, rates, field)      a number of the Universal Scalability Law fitted to a ramp

`values`, `a`, `b`, `loads` and `rates` are lists; an unknown result is NULL.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from benchbrief.results.statistics.scalability import NoFit, fit_usl
from benchbrief.results.statistics.significance import correct_p_value, p_value
from benchbrief.runners.measurement.confidence_interval import mean_interval

if TYPE_CHECKING:
    import duckdb

PREFIX = "bench_"
_List: TypeAlias = list[float | None] | None


def _half_width(level: float, values: _List) -> float | None:
    low, high = mean_interval(_known(values) or (), level)
    return None if low is None or high is None else (high - low) / 2


def _p_value(level: float, a: _List, b: _List, percentile: bool) -> float | None:
    left, right = _known(a), _known(b)
    found = None if left is None or right is None else p_value(left, right, percentile=percentile)
    return None if found is None else correct_p_value(found, level)


def _usl(loads: _List, rates: _List, field: str) -> float | None:
    x, y = _known(loads), _known(rates)
    fitted = NoFit("") if x is None or y is None else fit_usl(x, y)
    found = None if isinstance(fitted, NoFit) else getattr(fitted, field)
    return found if found is not None and math.isfinite(found) else None


def _known(values: _List) -> list[float] | None:
    """Return the list when no value is missing."""
    if values is None:
        return None
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None


_FUNCTIONS: dict[str, tuple[Callable[..., float | None], list[Any]]] = {
    "bench_half_width": (_half_width, ["DOUBLE[]"]),
    "bench_p_value": (_p_value, ["DOUBLE[]", "DOUBLE[]", "BOOLEAN"]),
    "bench_usl": (_usl, ["DOUBLE[]", "DOUBLE[]", "VARCHAR"]),
}


def register(connection: duckdb.DuckDBPyConnection, level: float) -> None:
    """Register the functions with a connection, once for each. `level` is that of each interval over repeats."""
    from duckdb.func import FunctionNullHandling

    by_level: dict[str, Callable[..., float | None]] = {
        "bench_half_width": partial(_half_width, level),
        "bench_p_value": partial(_p_value, level),
    }
    for name, (function, parameters) in _FUNCTIONS.items():
        called = by_level.get(name, function)
        connection.create_function(name, called, parameters, "DOUBLE", null_handling=FunctionNullHandling.SPECIAL)
