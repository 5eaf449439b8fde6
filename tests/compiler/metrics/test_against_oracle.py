"""Tests that every lowering gives what the expression means, according to an independent evaluator."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchbrief.compiler.briefs.lower_report import lower
from benchbrief.compiler.frontend.scope import Scope
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from benchbrief.model import plan
from benchbrief.model.units import parse_unit
from tests.compiler.metrics.measured import Measured, generate, run, scope_of
from tests.compiler.metrics.oracle import Oracle

WORLD = Path(__file__).parent / "world.bench"


@cache
def world() -> Scope:
    return scope_of(WORLD)


def lowered(expr: str) -> tuple[ast.Expr, plan.Query]:
    """Lower the metric `it = expr` together with those of the world."""
    tree = parse(Source("<test>", f"metric it = {expr}"))
    metric = tree.declarations[0]
    assert isinstance(metric, ast.Metric)
    scope = replace(world(), metrics=(*world().metrics, metric))
    lowered = lower(scope)
    metrics, diagnostics = lowered.metrics, lowered.diagnostics
    errors = [diagnostic.summary for diagnostic in diagnostics if diagnostic.severity == "error"]
    assert not errors, (expr, errors)
    return metric.expr, next(found.query for found in metrics if found.name == "it")


def agree(expr: str, seed: int, missing: float, zeros: float = 0.0) -> None:
    tree, query = lowered(expr)
    measured, connection = results(seed, missing, zeros)
    expected = Oracle(measured).table(tree, query.dims)
    found = run(connection, query)
    assert found.keys() == expected.keys(), f"{expr}\n{query.sql}"
    factor = parse_unit(query.unit).factor
    for key, value in expected.items():
        assert same(found[key], value, factor), f"{expr} at {key}: SQL {found[key]}, meant {value}\n{query.sql}"


@cache
def results(seed: int, missing: float, zeros: float) -> tuple[Measured, duckdb.DuckDBPyConnection]:
    measured = generate(world(), seed, missing=missing, zeros=zeros, seconds=3)
    return measured, measured.connect()


def same(found: float | None, expected: object, factor: float) -> bool:
    assert expected is None or isinstance(expected, float)
    meant, got = of_numbers(expected), of_numbers(None if found is None else found * factor)
    if got is None or meant is None:
        return got is meant
    return math.isclose(got, meant, rel_tol=1e-9, abs_tol=1e-9)


def of_numbers(value: float | None) -> float | None:
    """Return the value, or None if it is above 1e15. A value that large means that its divisor is 0 apart from rounding
    errors."""
    return None if value is None or abs(value) > 1e15 else value


CASES = [
    "throughput",
    "throughput[eco]",
    "throughput[a, threads: 2]",
    "throughput[eco, a, threads: 4]",
    "throughput[read]",
    "throughput[update]",
    "throughput[hardware: old, operation: read]",
    "throughput[repeat: 2]",
    "throughput[phase: 2]",
    "errors",
    "latency.p99[read]",
    "latency.p999[update, old]",
    "latency.mean[read]",
    "cpu",
    "cpu.utilisation",
    "disk.read + disk.write",
    "cpu[eco] / cpu.utilisation[old]",
    "nodes",
    "price * 2",
    "nodes[eco] * throughput[eco] / throughput[old]",
    "throughput / nodes",
    "throughput / price",
    "throughput[eco] / throughput[old] - 1",
    "1 - latency.mean[read, eco] / latency.mean[read, old]",
    "throughput / (threads * throughput[threads: 1])",
    "max(throughput over threads)",
    "min(throughput over threads, workload)",
    "mean(throughput over hardware)",
    "sum(throughput over hardware, workload, threads)",
    "median(throughput over threads)",
    "first(throughput over threads)",
    "last(throughput over threads)",
    "count(throughput over threads)",
    "max(throughput over threads) / max(throughput over threads, hardware)",
    "max(throughput[eco] / throughput[old] over threads)",
    "max(throughput over threads, when threads > 1)",
    "max(throughput over threads, when throughput > 500 ops/s)",
    "min(throughput over threads, when not (latency.p99[read] > 500 s or errors < 200))",
    "sum(throughput over threads, when threads > 1 and threads < 8)",
    "max(throughput[eco] over threads, when threads > 1000)",
    "count(throughput over threads, when throughput > 500 ops/s)",
    "count(throughput over threads, when latency.p99[read] > 500 s)",
    "count(cpu over time, when cpu > 500 cores)",
    "mean(throughput over repeat)",
    "max(throughput over repeat) - min(throughput over repeat)",
    "max(latency.p99[read] over repeat)",
    "mean(throughput over phase)",
    "max(throughput[read] over phase, threads)",
    "sum(throughput over operation)",
    "mean(cpu over time)",
    "mean(cpu over node)",
    "max(cpu over node, time)",
    "max(cpu over time, threads)",
    "count(cpu over time, threads)",
    "median(cpu over time)",
    "last(cpu over time)",
    "mean(disk.read + disk.write over time)",
    "mean(cpu / disk.read over time)",
    "throughput / mean(cpu over node)",
    "mean(throughput / cpu over time)",
    "max(cpu over time, when cpu > 500 cores)",
    "mean(cpu.utilisation over node, time)",
    "max(cpu over time, hardware)",
    "sum(cpu over repeat)",
    "gain",
    "gain[a]",
    "gain[threads: 2]",
    "best[eco] / best[old]",
    "(throughput / max(throughput over hardware))[eco]",
    "(throughput[eco] / throughput)[old]",
    "-throughput",
    "-(throughput - 2 * throughput[eco])",
    "throughput - (throughput[eco] - throughput[old])",
    "throughput / (throughput / throughput[eco])",
    "2 / 3",
    "throughput / 0",
    "threads",
    "max(threads over threads)",
]


@pytest.mark.parametrize("expr", CASES)
@pytest.mark.parametrize(("missing", "zeros"), [(0.0, 0.0), (0.25, 0.1)], ids=["whole", "gaps"])
def test_sql_gives_what_the_expression_means(expr: str, missing: float, zeros: float) -> None:
    agree(expr, seed=len(expr) % 4, missing=missing, zeros=zeros)


@pytest.mark.parametrize("when", ["", ", when threads < 4", ", when throughput > 1 ops/s"])
def test_a_count_of_nothing_measured_is_not_known(when: str) -> None:
    agree(f"count(throughput over threads{when})", seed=0, missing=1.0, zeros=0.0)


# --- random expressions: each strategy gives a text and the dimensions that are still free ---

Shape = tuple[str, frozenset[str]]
MEASURED = frozenset({"hardware", "workload", "threads"})
ATOMS = {
    "ops/s": ("throughput", "throughput[read]"),
    "s": ("latency.p99[read]", "latency.mean[read]", "latency.max[read]"),
    "cores": ("cpu",),
    "B/s": ("disk.read", "disk.write"),
    "": ("errors", "cpu.utilisation"),
}
KEYS = {"hardware": ("eco", "old"), "workload": ("a",), "threads": ("threads: 1", "threads: 2")}


@st.composite
def expressions(draw: st.DrawFn, unit: str, depth: int = 3) -> Shape:
    """Return a Hypothesis strategy for expressions whose values are in `unit`."""
    forms = ["atom"] if depth == 0 else ["atom", "sum", "scaled", "index", "reduce", "reduce", "when"]
    match draw(st.sampled_from(forms)):
        case "atom":
            return draw(st.sampled_from(ATOMS[unit])), MEASURED
        case "sum":
            left, right = (draw(expressions(unit, depth - 1)) for _ in range(2))
            return f"({left[0]} {draw(st.sampled_from('+-'))} {right[0]})", left[1] | right[1]
        case "scaled":
            one = draw(expressions(unit, depth - 1))
            same_unit = draw(st.sampled_from(list(ATOMS)))
            above, below = (draw(expressions(same_unit, depth - 1)) for _ in range(2))
            return f"({one[0]} * {above[0]} / {below[0]})", one[1] | above[1] | below[1]
        case "index":
            inner, dims = draw(expressions(unit, depth - 1))
            free = sorted(dims & KEYS.keys())
            if not free:
                return inner, dims
            dim = draw(st.sampled_from(free))
            return f"({inner})[{draw(st.sampled_from(KEYS[dim]))}]", dims - {dim}
        case form:
            inner, dims = draw(expressions(unit, depth - 1))
            if not dims:
                return inner, dims
            over = draw(st.lists(st.sampled_from(sorted(dims)), min_size=1, max_size=2, unique=True))
            function = draw(st.sampled_from(["max", "min", "mean", "sum", "median"]))
            when = ", when threads < 4" if form == "when" and "threads" in over else ""
            return f"{function}({inner} over {', '.join(over)}{when})", dims - set(over)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    shape=st.sampled_from(sorted(ATOMS)).flatmap(expressions),
    seed=st.integers(0, 7),
    missing=st.sampled_from([0.0, 0.0, 0.2]),
)
def test_sql_gives_what_a_random_expression_means(shape: Shape, seed: int, missing: float) -> None:
    agree(shape[0], seed, missing, zeros=missing / 4)


@pytest.mark.parametrize("condition", ["throughput > 500 ops/s", "errors < 200", "latency.p99[read] > 500 s"])
def test_points_of_an_axis_go_by_each_hardware_and_workload_of_the_condition(condition: str) -> None:
    """Multiplying the axis by a measure with the value 1 changes nothing. Here, the measure is divided by itself."""
    _, connection = results(3, 0.0, 0.0)
    _, bare = lowered(f"max(threads over threads, when {condition})")
    _, measured = lowered(f"max(threads * (throughput / throughput) over threads, when {condition})")
    found = run(connection, bare)
    assert bare.dims == measured.dims == ("hardware", "workload")
    assert found == run(connection, measured)
    assert any(value is not None for value in found.values())
