"""Computes the meaning of expressions point by point from the syntax tree. This is slow, but simple, and unlike the
SQL.

`value(expr, at)` is the number at one combination of keys. Nothing is joined: each leaf of the tree looks up its own
value.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import cast

from benchbrief.compiler.frontend.scope import ExperimentKey
from benchbrief.dsl.syntax import ast
from benchbrief.model.units import parse_unit
from tests.compiler.metrics import curve_rules
from tests.compiler.metrics.measured import Cell, Measured

At = Mapping[str, object]
Names = frozenset[str]
SAMPLED = {"node", "time"}
ON_DEMAND = {
    "throughput": {"phase", "repeat", "operation"},
    "latency": {"phase", "repeat", "operation"},
    "errors": {"phase", "repeat"},
    "sample": {"repeat", "node", "time"},
}
LATENCY = {"p999": "p99.9", "p9999": "p99.99"}


class Oracle:
    def __init__(self, measured: Measured) -> None:
        self.m = measured
        self.scope = measured.scope
        self.metrics = {metric.name.text: metric.expr for metric in self.scope.metrics}
        self.hardware = {alias: hw.key for hw in self.scope.hardware for alias in (*hw.aliases, hw.key)}
        self.workloads = {workload.key for workload in self.scope.workloads}
        self.operations = {op for workload in self.scope.workloads for op in workload.operations}
        axes = {str(one.axis) for one in self.scope.experiments}
        (self.axis,) = axes

    def table(self, expr: ast.Expr, dims: tuple[str, ...]) -> dict[tuple[object, ...], object]:
        """Return every planned combination of `dims` with its value."""
        return {
            tuple(at[dim] for dim in dims): self.value(expr, at)
            for at in self.combinations(dims, {})
            if not dims or self.planned(expr, at)
        }

    def combinations(self, dims: tuple[str, ...], at: At) -> Iterator[dict[str, object]]:
        for keys in product(*(self.keys(dim) for dim in dims)):
            yield {**at, **dict(zip(dims, keys, strict=True))}

    def keys(self, dim: str) -> Sequence[object]:
        e = self.scope.experiments
        match dim:
            case "hardware":
                return [hw.key for hw in self.scope.hardware]
            case "workload":
                return sorted(self.workloads)
            case "operation":
                return sorted(self.operations)
            case "threads" | "target":
                return sorted({point for one in e if one.axis == dim for point in one.points})
            case "phase":
                return list(range(1, max(one.phases for one in e) + 1))
            case "repeat":
                return list(range(1, max(one.repeats for one in e) + 1))
            case "node":
                return sorted({key[2] for key in self.m.sample})
            case "time":
                return sorted({key[3] for key in self.m.sample})
            case _:
                raise AssertionError(dim)

    # --- which dimensions ---

    def dims(self, expr: ast.Expr, demanded: Names = frozenset(), fixed: Names = frozenset()) -> set[str]:
        match expr:
            case ast.Quantity():
                return set()
            case ast.Binary():
                return self.dims(expr.left, demanded, fixed) | self.dims(expr.right, demanded, fixed)
            case ast.Unary():
                return self.dims(expr.operand, demanded, fixed)
            case ast.Index():
                return self.dims(expr.base, demanded, fixed | set(self.fix(expr, {})))
            case ast.Call():
                over = {name.text for name in expr.over}
                return self.dims(expr.arguments[0].value, demanded | over, fixed - over) - over
            case _:
                word = "".join(expr.span.text.split())
                if word in self.metrics:
                    return self.dims(self.metrics[word], demanded, fixed)
                if word == self.axis:
                    return {word} - fixed
                if word == "steady":
                    return ({"hardware", "workload", self.axis, "phase"} | (demanded & {"repeat"})) - fixed
                if self.is_fact(word):
                    return {"hardware"} - fixed
                return ({"hardware", "workload", self.axis} | (demanded & ON_DEMAND[self.kind(word)])) - fixed

    def is_fact(self, word: str) -> bool:
        return word == "nodes" or any(word in hw.facts for hw in self.scope.hardware)

    def kind(self, word: str) -> str:
        stem = word.partition(".")[0]
        return stem if stem in ON_DEMAND else "sample"

    def fix(self, expr: ast.Index, at: At) -> dict[str, object]:
        """Add the index's own keys to those that are already fixed, and return them."""
        fixed = dict(at)
        for argument in expr.arguments:
            word = "".join(argument.value.span.text.split())
            if argument.key is not None:
                fixed[argument.key.text] = float(word) if word[0].isdigit() else self.hardware.get(word, word)
            elif word in self.hardware:
                fixed["hardware"] = self.hardware[word]
            else:
                fixed["workload" if word in self.workloads else "operation"] = word
        return fixed

    # --- which points ---

    def experiment(self, word: str, at: At) -> ExperimentKey | None:
        """Return the experiment that plans a measure at these keys."""
        probe = word.partition(".")[0]
        for one in self.scope.experiments:
            workload = next(w for w in self.scope.workloads if w.key == at["workload"])
            if at["hardware"] not in one.hardware or at["workload"] not in one.workloads:
                continue
            if self.axis in at and at[self.axis] not in one.points:
                continue
            if self.kind(word) == "sample" and probe not in one.probes:
                continue
            by_operation = "operation" in at and self.kind(word) in ("throughput", "latency")
            if by_operation and at["operation"] not in workload.operations:
                continue
            if "phase" in at and (one.phases == 1 or cast(int, at["phase"]) > one.phases):
                continue
            if "repeat" in at and cast(int, at["repeat"]) > one.repeats:
                continue
            return one
        return None

    def planned(self, expr: ast.Expr, at: At) -> bool:
        match expr:
            case ast.Quantity():
                return True
            case ast.Binary():
                return self.planned(expr.left, at) and self.planned(expr.right, at)
            case ast.Unary():
                return self.planned(expr.operand, at)
            case ast.Index():
                return self.planned(expr.base, self.fix(expr, at))
            case ast.Call():
                if not self.dims(expr, frozenset(), frozenset(at)) and not self.dims(expr) & set(at):
                    return True  # a single number counts even when it is missing
                return any(True for _ in self.points(expr, at))
            case _:
                word = "".join(expr.span.text.split())
                if word in self.metrics:
                    return self.planned(self.metrics[word], at)
                if word == self.axis:
                    return at[word] in self.keys(word)
                if word == "steady":
                    return self.experiment("throughput", in_total(at)) is not None
                if self.is_fact(word):
                    return word == "nodes" or self.fact(word, at) is not None
                return self.experiment(word, at) is not None

    def points(self, call: ast.Call, at: At) -> Iterator[dict[str, object]]:
        operand = call.arguments[0].value
        for point in self.combinations(tuple(name.text for name in call.over), at):
            if self.planned(operand, point):
                yield point

    # --- which value ---

    def value(self, expr: ast.Expr, at: At) -> object:
        match expr:
            case ast.Quantity():
                return parse_unit(expr.unit).to_base(expr.value)
            case ast.Binary():
                return self.binary(expr.operator, self.value(expr.left, at), self.value(expr.right, at))
            case ast.Unary():
                inner = self.value(expr.operand, at)
                if inner is None:
                    return None
                return not inner if expr.operator == "not" else -cast(float, inner)
            case ast.Index():
                return self.value(expr.base, self.fix(expr, at))
            case ast.Call():
                return self.reduced(expr, at)
            case _:
                word = "".join(expr.span.text.split())
                if word in self.metrics:
                    return self.value(self.metrics[word], at)
                if word == self.axis:
                    return float(cast(float, at[word]))
                if word == "steady":
                    return self.steady(at)
                return self.fact(word, at) if self.is_fact(word) else self.leaf(word, at)

    def binary(self, operator: str, left: object, right: object) -> object:
        if operator == "and":  # three-valued: what is known to fail decides
            return False if left is False or right is False else None if None in (left, right) else True
        if operator == "or":
            return True if left is True or right is True else None if None in (left, right) else False
        if left is None or right is None:
            return None
        a, b = cast(float, left), cast(float, right)
        match operator:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "/":
                return a / b if b else None
            case _:
                return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[operator]

    def steady(self, at: At) -> bool | None:
        at = in_total(at)
        phase = int(cast(float, at["phase"]))
        one = self.experiment("throughput", at)
        phases = range(1, one.phases + 1) if one else ()
        return curve_rules.steady([self.leaf("throughput", {**at, "phase": each}) for each in phases])[phase - 1]

    def read_off(self, call: ast.Call, at: At) -> object:
        """Return a number that is read off a whole curve."""
        points = list(self.points(call, at))
        operand = call.arguments[0].value
        values = [cast("float | None", self.value(operand, point)) for point in points]
        axis = [cast(float, point[call.over[0].text]) for point in points]
        match call.function.text:
            case "knee":
                return curve_rules.knee(axis, values)
            case "time_to_steady":
                (length,) = {one.phase_s for one in self.scope.experiments if one.phases > 2}
                return curve_rules.time_to_steady(values, length)
            case _:
                ratio = cast(float, self.value(call.arguments[1].value, {})) if len(call.arguments) > 1 else 0.95
                totals = [self.leaf("throughput", in_total(self.fixed(operand, point))) for point in points]
                return curve_rules.saturation(axis, values, totals, ratio)

    def fixed(self, expr: ast.Expr, at: At) -> At:
        """Return the given keys and those that the indices around a measure fix."""
        return self.fixed(expr.base, self.fix(expr, at)) if isinstance(expr, ast.Index) else at

    def agreed(self, expr: ast.Expr) -> At:
        """Return the keys, by dimension, that an expression's measures have in common. A side that is the axis or a
        fact has no say in this."""
        if isinstance(expr, ast.Binary):
            left, right = self.agreed(expr.left), self.agreed(expr.right)
            one_sided = {
                self.axis,
                *(word for word in (expr.left.span.text, expr.right.span.text) if self.is_fact(word)),
            }
            if expr.left.span.text in one_sided or expr.right.span.text in one_sided:
                return {**left, **right}
            return {dim: key for dim, key in left.items() if right.get(dim) == key}
        return self.fixed(expr, {})

    def reduced(self, call: ast.Call, at: At) -> object:
        if call.function.text in ("knee", "saturation", "time_to_steady"):
            return self.read_off(call, at)
        over = [name.text for name in call.over]
        bare = isinstance(call.arguments[0].value, (ast.Name, ast.Attr))
        if call.function.text == "mean" and over == ["time"] and call.when is None and bare:
            return self.value(call.arguments[0].value, {dim: key for dim, key in at.items() if dim != "time"})
        if SAMPLED & set(over) and set(over) - SAMPLED:
            inner = [name for name in call.over if name.text in SAMPLED]
            outer = [name for name in call.over if name.text not in SAMPLED]
            operand = call.arguments[0].value
            values = []
            for point in self.combinations(tuple(name.text for name in outer), at):
                if self.planned(operand, {**point, **{name.text: self.keys(name.text)[0] for name in inner}}):
                    nested = ast.Call(call.span, call.function, call.arguments, tuple(inner), None)
                    values.append(self.reduced(nested, point))
            function = "sum" if call.function.text == "count" else call.function.text
            return None if None in values or not values else aggregate(function, cast("list[float]", values))
        values, measured = [], False
        for point in self.points(call, at):
            measured = measured or (
                call.function.text == "count" and self.value(call.arguments[0].value, point) is not None
            )
            if call.when is not None:
                holds = self.value(call.when, {**self.agreed(call.arguments[0].value), **point})
                if holds is None and not SAMPLED & set(over):
                    return None
                if not holds:
                    continue
            values.append(self.value(call.arguments[0].value, point))
        if SAMPLED & set(over) or call.function.text == "count":
            values = [value for value in values if value is not None]
        if None in values:
            return None
        if not values:
            return 0.0 if measured else None  # of nothing measured, not even a count is known
        return aggregate(call.function.text, cast("list[float]", values))

    def fact(self, word: str, at: At) -> float | None:
        hardware = next(hw for hw in self.scope.hardware if hw.key == at["hardware"])
        if word == "nodes":
            return float(hardware.nodes)
        return hardware.facts[word].value if word in hardware.facts else None

    def leaf(self, word: str, at: At) -> float | None:
        one = self.experiment(word, at)
        if one is None:
            return None
        repeats = [cast(int, at["repeat"])] if "repeat" in at else range(1, one.repeats + 1)
        point = cast(float, at[self.axis])
        threads, target = (int(point), None) if self.axis == "threads" else (32, float(point))
        hardware, workload = cast(str, at["hardware"]), cast(str, at["workload"])
        cells: list[Cell] = [(one.key, hardware, workload, threads, target, repeat) for repeat in repeats]
        phase = cast("int | None", at.get("phase"))
        kind = self.kind(word)
        if kind == "latency":
            statistic = LATENCY.get(word.partition(".")[2], word.partition(".")[2])
            where = (cells[0], phase, cast(str, at["operation"]), statistic)
            return self.m.latency.get(where) if "repeat" in at else self.m.merged.get(where)
        if kind == "throughput":
            operation = cast(str, at.get("operation", "all"))
            values = [self.m.throughput.get((cell, phase, operation)) for cell in cells]
        elif kind == "errors":
            values = [self.m.errors.get((cell, phase)) for cell in cells]
        else:
            values = [self.sampled(word, cell, at) for cell in cells]
        lined_up = kind == "sample" and ("time" in at or "node" in at)
        if None in values and not lined_up:
            return None
        return mean([value for value in values if value is not None])

    def sampled(self, word: str, cell: Cell, at: At) -> float | None:
        found: dict[str, dict[int, float]] = {}
        for (measure, of, node, time), value in self.m.sample.items():
            if measure == word and of == cell:
                found.setdefault(node, {})[time] = value
        if "node" in at:
            found = {node: times for node, times in found.items() if node == at["node"]}
        if "time" in at:
            at_time = [times.get(cast(int, at["time"])) for times in found.values()]
            values = [] if None in at_time else [value for value in at_time if value is not None]
        else:
            values = [math.fsum(times.values()) / len(times) for times in found.values()]
        return mean(values) if word.endswith(".utilisation") else math.fsum(values) if values else None


def in_total(at: At) -> At:
    """Return the keys without the operation, which are the keys of all operations together."""
    return {dim: key for dim, key in at.items() if dim != "operation"}


def mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def aggregate(function: str, values: list[float]) -> float:
    match function:
        case "max":
            return max(values)
        case "min":
            return min(values)
        case "sum":
            return math.fsum(values)
        case "mean":
            return math.fsum(values) / len(values)
        case "median":
            return statistics.median(values)
        case "first":
            return values[0]
        case "last":
            return values[-1]
        case "count":
            return float(len(values))
        case _:
            raise AssertionError(function)
