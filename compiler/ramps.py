"""Ramps: the points that `[1, 2, 4]`, `1..16` or `range(1, 64, factor: 2)` stand for, counted before they are made."""

from __future__ import annotations

import math
from collections.abc import Callable

from benchbrief.compiler import structure_errors, value_errors
from benchbrief.compiler.errors import NotSupported
from benchbrief.compiler.schema import EXPERIMENT, Number
from benchbrief.compiler.values import Constant, Reader, described
from benchbrief.dsl import ast
from benchbrief.dsl.source import Span

MAX_POINTS = 1000

THREADS = Number("threads", "96", plain=True, integer=True, minimum=1.0, maximum=100_000.0)
TARGET = Number("ops/s", "20k ops/s", integer=True, minimum=1.0, maximum=2.0**31 - 1)
_SHAPES = {"threads": THREADS, "target": TARGET}
_USAGE = {
    "threads": "`range(1, 64, factor: 2)`, `range(8, 96, step: 8)` or `range(1, 100, steps: 10)`",
    "target": "`range(1k ops/s, 20k ops/s, steps: 20)`",
}
_SLACK = 1e-9
"""A range reaches its end although its last step falls short of it by rounding."""


_Points = list[tuple[float, Span]]
"""Each point with the place that it comes from."""


def read_ramp(key: str, expr: ast.Expr, reader: Reader) -> tuple[float, ...]:
    """The points of `threads` or `target`, in base units and in the order said; none when something was reported."""
    points = _points(key, expr, reader)
    if points is None:
        return ()
    if not points:
        usage = EXPERIMENT.keys[key].shape.wanted
        reader.findings.add(value_errors.EmptyRamp(expr.span, key, "the list is empty", usage))
    seen: set[float] = set()
    for point, span in points:
        if point in seen:
            reader.findings.add(value_errors.SamePoint(span, key, f"{point:g}"))
            return ()
        seen.add(point)
    return tuple(point for point, _ in points)


def _points(key: str, expr: ast.Expr, reader: Reader) -> _Points | None:
    """None when something was reported."""
    match reader.deref(expr):
        case ast.List() as items:
            return _listed(key, items, reader)
        case ast.Binary(operator="..") as dots:
            return _dots(key, dots, reader)
        case ast.Call(function=ast.Name(text="range")) as call:
            return _range(key, call, reader)
        case ast.Call(function=ast.Name(text="knee")) as call:
            _unsupported(call, "a search for the knee", reader)
            return None
        case ast.Attr() as attr:
            _unsupported(attr, "taking a value from another experiment's result", reader)
            return None
        case ast.Quantity() | ast.Unary() | ast.Binary() as number:
            constant = reader.quantity(key, number, _SHAPES[key])
            return None if constant is None else [(constant.value, number.span)]
        case other:
            wanted = EXPERIMENT.keys[key].shape.wanted
            reader.findings.add(structure_errors.WrongType(other.span, key, wanted, described(other)))
            return None


def _listed(key: str, items: ast.List, reader: Reader) -> _Points | None:
    points: _Points = []
    whole = True
    for item in items.items:
        if isinstance(reader.deref(item), ast.List):
            # Lists of lists of lists, each twice the next, would be a ramp without end.
            wanted = EXPERIMENT.keys[key].shape.wanted
            reader.findings.add(structure_errors.WrongType(item.span, key, wanted, "a list in a list"))
            return None
        part = _points(key, item, reader)
        whole = whole and part is not None
        points.extend(part or ())
        if len(points) > MAX_POINTS:
            count = float(len(points))
            reader.findings.add(value_errors.TooManyPoints(items.span, key, count, MAX_POINTS))
            return None
    return points if whole else None


def _unsupported(expr: ast.Expr, what: str, reader: Reader) -> None:
    reader.findings.add(NotSupported(expr.span, what, "give the points: `threads = [1, 2, 4, 8, 16]`"))


def _dots(key: str, expr: ast.Binary, reader: Reader) -> _Points | None:
    first = reader.quantity(key, expr.left, _SHAPES[key])
    last = reader.quantity(key, expr.right, _SHAPES[key])
    if first is None or last is None:
        return None
    return _made(key, expr, first.value, last.value, last.value - first.value, lambda i: first.value + i, reader)


def _range(key: str, call: ast.Call, reader: Reader) -> _Points | None:
    shape = _SHAPES[key]
    positional = [argument.value for argument in call.arguments if argument.key is None]
    named = {argument.key.text: argument.value for argument in call.arguments if argument.key is not None}
    if len(positional) != 2 or len(named) != 1 or not named.keys() <= {"step", "factor", "steps"}:
        why = "takes a first and a last point, and one of `step:`, `factor:` and `steps:`"
        reader.findings.add(structure_errors.BadArgument(call.span, "range", why, _USAGE[key]))
        return None
    first, last = (reader.quantity(key, end, shape) for end in positional)
    [(way, value)] = named.items()
    match way:
        case "step":
            step = reader.quantity("step", value, shape)
        case "factor":
            step = reader.quantity("factor", value, Number("", "2", plain=True, minimum=1.0, above=True))
        case _:
            step = reader.quantity("steps", value, Number("", "25", plain=True, integer=True, minimum=2.0))
    if first is None or last is None or step is None:
        return None
    return _stepped(key, call, first.value, last.value, way, step, reader)


def _stepped(
    key: str, call: ast.Call, first: float, last: float, way: str, step: Constant, reader: Reader
) -> _Points | None:
    match way:
        case "step":
            steps = (last - first) / step.value
            return _made(key, call, first, last, steps, lambda i: first + i * step.value, reader)
        case "factor":
            steps = math.log(last / first) / math.log(step.value)
            return _made(key, call, first, last, steps, lambda i: first * step.value**i, reader)
        case _:
            width = (last - first) / (step.value - 1)
            return _made(key, call, first, last, step.value - 1, lambda i: first + i * width, reader)


def _made(
    key: str,
    expr: ast.Expr,
    first: float,
    last: float,
    steps: float,
    point: Callable[[int], float],
    reader: Reader,
) -> _Points | None:
    """Whole points from `first` on, `steps` of them after it; those that round to the same number are one."""
    if last < first:
        why = f"it runs from {first:g} down to {last:g}"
        reader.findings.add(value_errors.EmptyRamp(expr.span, key, why, "the smaller number first"))
        return None
    if steps >= MAX_POINTS:
        reader.findings.add(value_errors.TooManyPoints(expr.span, key, math.floor(steps) + 1.0, MAX_POINTS))
        return None
    count = math.floor(steps + _SLACK) + 1
    return [(whole, expr.span) for whole in dict.fromkeys(float(round(point(i))) for i in range(count))]
