"""Adaptive ramps: `adaptive(1..512, points: 9)`, whose points the run chooses between two ends.

The candidates are fixed in the plan, so that each has its cells with their hashes. They lie at equal ratios: at least
`PER_DOUBLING` to a doubling, and at least `FEWEST_STEPS` steps in all, before they are rounded. Which of them are
measured is decided by the rule of `runners/scheduling/next_point.py`.
"""

from __future__ import annotations

import math
from dataclasses import replace

from benchbrief.compiler.blocks.experiments import schedule_errors
from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.frontend import structure_errors, value_errors
from benchbrief.compiler.planning import plan
from benchbrief.compiler.shapes.value_shapes import Number
from benchbrief.dsl.syntax import ast

PER_DOUBLING = 4
FEWEST_STEPS = 32
_DIGITS = 3
"""The significant digits of a candidate between the ends."""
_SLACK = 1e-9
ADAPTIVE_ARGUMENTS = ("points",)
FEWEST_POINTS = 3
"""Both ends and the middle: fewer show no bend."""
_USUAL_POINTS = 9
_USAGE = {"threads": "`adaptive(1..512, points: 9)`", "target": "`adaptive(1k ops/s..100k ops/s, points: 9)`"}
_POINTS = Number("", "9", plain=True, integer=True, minimum=1.0, maximum=1000.0)


def read_adaptive(
    key: str, call: ast.Call, shape: Number, reader: Reader
) -> tuple[tuple[float, ...], plan.Adaptive] | None:
    """Return the candidates and how many of them are measured; None after a mistake, which is reported."""
    unknown = next((a.key for a in call.arguments if a.key and a.key.text not in ADAPTIVE_ARGUMENTS), None)
    if unknown is not None:
        known = ADAPTIVE_ARGUMENTS
        return reader.refuse(structure_errors.UnknownArgument(unknown.span, "adaptive", unknown.text, known))
    match call.arguments:
        case [
            ast.Argument(key=None, value=ast.Binary(operator="..") as ends),
            ast.Argument(key=ast.Name(text="points"), value=written),
        ]:
            pass
        case _:
            why = "takes two ends and `points:`"
            mended = _mended(call)
            usage = f"`{mended}`" if mended else _USAGE[key]
            return reader.refuse(structure_errors.BadArgument(call.span, "adaptive", why, usage, mended))
    first = reader.quantity(key, ends.left, lowest(shape))
    last = reader.quantity(key, ends.right, shape)
    count = reader.quantity("points", written, _POINTS)
    if first is None or last is None or count is None:
        return None
    if last.value <= first.value:
        same = last.value == first.value
        why = f"both its ends are {first.value:g}" if same else f"it runs from {first.value:g} down to {last.value:g}"
        usage = "two numbers that differ" if same else "the smaller number first"
        return reader.refuse(value_errors.EmptyRamp(ends.span, key, why, usage))
    found = candidates(first.value, last.value)
    if count.value < FEWEST_POINTS:
        texts = (ends.left.span.text, ends.right.span.text)
        return reader.refuse(
            schedule_errors.TooFewAdaptivePoints(
                written.span, key, int(count.value), FEWEST_POINTS, _usual(len(found)), texts
            )
        )
    if count.value > len(found):
        at, most = written.span, len(found)
        return reader.refuse(schedule_errors.TooFewCandidates(at, key, int(count.value), most, first.value, last.value))
    return found, plan.Adaptive(points=int(count.value))


def lowest(shape: Number) -> Number:
    """Return the shape of a ramp's first number, whose example no last number is below."""
    return replace(shape, example=f"1 {shape.unit}" if not shape.plain else "1")


def _mended(call: ast.Call) -> str | None:
    """Return the call as it was meant, where its ends are written."""
    values = [argument.value for argument in call.arguments if argument.key is None]
    if len(values) == 2:
        first, last = (value.span.text for value in values)
    elif len(values) == 1 and isinstance(values[0], ast.Binary) and values[0].operator == "..":
        first, last = (value.span.text for value in (values[0].left, values[0].right))
    else:
        return None
    named = {argument.key.text: argument.value.span.text for argument in call.arguments if argument.key is not None}
    whole = first.isdecimal() and last.isdecimal() and 0 < int(first) < int(last)
    usual = _usual(len(candidates(int(first), int(last)))) if whole else _USUAL_POINTS
    return f"adaptive({first}..{last}, points: {named.get('points', usual)})"


def _usual(candidates: int) -> int:
    """Return as many points as one may well measure of so many candidates."""
    return min(candidates, max(FEWEST_POINTS, min(_USUAL_POINTS, candidates // 2)))


def candidates(first: float, last: float) -> tuple[float, ...]:
    """Return the whole numbers that an adaptive ramp may measure, in rising order, with both ends."""
    doublings = math.log2(last / first)
    each = max(PER_DOUBLING, math.ceil(FEWEST_STEPS / doublings - _SLACK))
    steps = math.ceil(each * doublings - _SLACK)
    between = (_rounded(first * (last / first) ** (i / steps)) for i in range(1, steps))
    return tuple(dict.fromkeys((first, *(point for point in between if first < point < last), last)))


def _rounded(point: float) -> float:
    digits = _DIGITS - 1 - math.floor(math.log10(point))
    return float(round(point, min(0, digits)))
