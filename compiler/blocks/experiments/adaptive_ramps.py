"""Adaptive ramps: `adaptive(1..512, points: 9)`, whose points the run chooses between two ends.

The candidates are fixed in the plan, so that each has its cells with their hashes. They lie at equal ratios: at least
`PER_DOUBLING` to a doubling, and at least `FEWEST_STEPS` steps in all, before they are rounded. Which of them are
measured is decided by the rule of `runners/scheduling/next_point.py`.
"""

from __future__ import annotations

import math

from benchbrief.compiler.blocks.experiments import schedule_errors
from benchbrief.compiler.blocks.values import structure_errors, value_errors
from benchbrief.compiler.blocks.values.shapes import Number
from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.planning import plan
from benchbrief.dsl.syntax import ast

PER_DOUBLING = 4
FEWEST_STEPS = 32
_DIGITS = 3
"""The significant digits of a candidate between the ends."""
_SLACK = 1e-9
ADAPTIVE_ARGUMENTS = ("points",)
FEWEST_POINTS = 3
"""Both ends and the middle: fewer show no bend."""
_USAGE = {
    "threads": "`adaptive(1..512, points: 9)`",
    "target": "`adaptive(1k ops/s..100k ops/s, points: 9)`",
}
_POINTS = Number("", "9", plain=True, integer=True, minimum=1.0, maximum=1000.0)


def read_adaptive(
    key: str, call: ast.Call, shape: Number, reader: Reader
) -> tuple[tuple[float, ...], plan.Adaptive] | None:
    """Return the candidates and how many of them are measured; None after a mistake, which is reported."""
    unknown = next((a.key for a in call.arguments if a.key and a.key.text not in ADAPTIVE_ARGUMENTS), None)
    if unknown is not None:
        known = ADAPTIVE_ARGUMENTS
        reader.findings.add(structure_errors.UnknownArgument(unknown.span, "adaptive", unknown.text, known))
        return None
    match call.arguments:
        case [
            ast.Argument(key=None, value=ast.Binary(operator="..") as ends),
            ast.Argument(key=ast.Name(text="points"), value=written),
        ]:
            pass
        case _:
            why = "takes two ends and `points:`"
            reader.findings.add(structure_errors.BadArgument(call.span, "adaptive", why, _USAGE[key]))
            return None
    first, last = (reader.quantity(key, end, shape) for end in (ends.left, ends.right))
    count = reader.quantity("points", written, _POINTS)
    if first is None or last is None or count is None:
        return None
    if last.value <= first.value:
        same = last.value == first.value
        why = f"both its ends are {first.value:g}" if same else f"it runs from {first.value:g} down to {last.value:g}"
        reader.findings.add(value_errors.EmptyRamp(ends.span, key, why, "the smaller number first"))
        return None
    found = candidates(first.value, last.value)
    if count.value < FEWEST_POINTS:
        reader.findings.add(schedule_errors.TooFewAdaptivePoints(written.span, int(count.value), FEWEST_POINTS))
        return None
    if count.value > len(found):
        at, most = written.span, len(found)
        few = schedule_errors.TooFewCandidates(at, key, int(count.value), most, first.value, last.value)
        reader.findings.add(few)
        return None
    return found, plan.Adaptive(points=int(count.value))


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
