"""From where to where a term's value can lie at all, whatever is measured, by interval arithmetic over its parts.

A rate, a time or a share is never below 0, so that `new / old - 1` is never below -1. From R. E. Moore, "Interval
Analysis" (1966): the range holds every value, and may be wider than the values.
"""

from __future__ import annotations

import math
from itertools import product

from benchbrief.compiler.metrics.typing.terms import (
    AxisValue,
    Fact,
    Measure,
    Number,
    Operation,
    Reduction,
    Spread,
    Term,
)
from benchbrief.compiler.units import parse_unit

Range = tuple[float, float]
ANY: Range = (-math.inf, math.inf)
NEVER_BELOW_0: Range = (0.0, math.inf)
_AMONG = frozenset({"mean", "median", "min", "max", "first", "last", "list", "saturation"})
"""Reductions whose values lie among those that they reduce."""
_SIZES = frozenset({"count", "sd", "onset", "knee", "saturation.target", "usl.peak_load"})
"""Reductions to a number of points, a width, or a place on an axis."""
_TEMPERATURE = parse_unit("degC").dimension


def value_range(term: Term) -> Range:
    """Return the lowest and the highest value in base units; infinite where there is none.

    Of our own measures, only temperatures may be below 0. One of another package may be, too: who uses the range looks
    at the values."""
    match term:
        case Number():
            return term.value, term.value
        case Measure():
            return ANY if term.unit == _TEMPERATURE else NEVER_BELOW_0
        case AxisValue():
            return NEVER_BELOW_0
        case Fact():
            values = [value for _, value in term.values]
            return (min(values), max(values)) if values else ANY
        case Spread():
            return value_range(term.operand)
        case Reduction() if term.function in _AMONG:
            return value_range(term.operand)
        case Reduction(function="sum") if value_range(term.operand)[0] >= 0:
            return NEVER_BELOW_0
        case Reduction() if term.function in _SIZES or term.function.endswith("_se"):
            return NEVER_BELOW_0
        case Operation(operator="half_width"):
            return NEVER_BELOW_0
        case Operation(operator="p_value" | "p_value of percentiles"):
            return 0.0, 1.0
        case Operation():
            return _of_operation(term.operator, [value_range(operand) for operand in term.operands])
        case _:
            return ANY


def _of_operation(operator: str, of: list[Range]) -> Range:
    match operator, of:
        case "-", [(low, high)]:
            return -high, -low
        case "+", [(a, b), (c, d)]:
            return a + c, b + d
        case "-", [(a, b), (c, d)]:
            return a - d, b - c
        case "*", [left, right]:
            return _hull([0.0 if 0.0 in pair else pair[0] * pair[1] for pair in product(left, right)])
        case "/", [left, (low, high)] if low >= 0:  # a value over 0 is a missing one
            return _hull([_quotient(end, divisor) for end in left for divisor in (low, high)])
        case _:
            return ANY


def _quotient(end: float, divisor: float) -> float:
    if divisor == 0:
        return math.copysign(math.inf, end) if end else 0.0
    return 0.0 if math.isinf(divisor) else end / divisor


def _hull(ends: list[float]) -> Range:
    return min(ends), max(ends)
