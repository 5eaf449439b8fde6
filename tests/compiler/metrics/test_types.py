"""Tests the dimensions and units that the compiler finds, and numbers that other tests do not cover."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchbrief.compiler.briefs.lower_report import lower
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from tests.compiler.metrics.lowering import lowered, metric, world
from tests.compiler.metrics.measured import Cell, Measured, cells_of, generate, run, scope_of

OFFERED = scope_of(Path(__file__).parent / "specs" / "offered_load.bench")


@pytest.mark.parametrize(
    ("expr", "dims", "unit"),
    [
        ("throughput", "hardware workload threads", "ops/s"),
        ("throughput[eco]", "workload threads", "ops/s"),
        ("throughput[eco, a, threads: 2]", "", "ops/s"),
        ("throughput[one]", "hardware workload threads", "ops/s"),
        ("latency.p99[read]", "hardware workload threads", "s"),
        ("errors", "hardware workload threads", ""),
        ("cpu", "hardware workload threads", "cores"),
        ("cpu.utilisation", "hardware workload threads", ""),
        ("disk.read", "hardware workload threads", "B/s"),
        ("disk.reads", "hardware workload threads", "1/s"),
        ("nodes", "hardware", "nodes"),
        ("price", "hardware", "USD/h"),
        ("throughput / cpu", "hardware workload threads", "ops/s/core"),
        ("price / throughput", "hardware workload threads", "USD/op"),
        ("max(throughput over threads)", "hardware workload", "ops/s"),
        ("max(throughput over threads) / throughput[eco]", "hardware workload threads", ""),
        ("count(throughput over threads)", "hardware workload", ""),
        ("mean(cpu over time)", "hardware workload threads", "cores"),
        ("max(throughput over operation)", "hardware workload threads", "ops/s"),
        ("in % = throughput[eco] / throughput[old]", "workload threads", "%"),
        ("in MB/s = disk.read", "hardware workload threads", "MB/s"),
        ("in ms = latency.p99[read]", "hardware workload threads", "ms"),
        ("in USD/Mop = price / throughput", "hardware workload threads", "USD/Mop"),
        ("gain - 5 %", "workload threads", "%"),
        ("mean(gain over threads)", "workload", "%"),
        ("gain * 2", "workload threads", "%"),
        ("throughput / (threads * throughput[threads: 1])", "hardware workload threads", ""),
    ],
)
def test_an_expression_has_these_dimensions_and_this_unit(expr: str, dims: str, unit: str) -> None:
    query = metric(expr)
    assert (query.dims, query.unit) == (tuple(dims.split()), unit)


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        ("in USD/Mop = price / throughput", 2 / 3600 / 500 * 1e6),
        ("in USD/h = price", 2.0),
        ("in USD/month = price + 73 USD/month", 2 * 730 + 73),
        ("in USD = price * 1 year * 3", 2 * 8760 * 3),
        ("in Mop/USD = throughput / price", 500 * 3600 / 2 / 1e6),
        ("price / (1 USD/h)", 2.0),
    ],
)
def test_money_is_reckoned_in_its_own_units(expr: str, value: float) -> None:
    measured = powered()
    with measured.connect() as connection:
        found = run(connection, metric(expr, measured.scope))
    answers = [answer for key, answer in found.items() if key[0] == "eco"]
    assert answers
    assert all(answer == pytest.approx(value) for answer in answers)


@pytest.mark.parametrize(
    ("expr", "dims"),
    [
        ("throughput", "experiment hardware workload threads target"),
        ("throughput[offered]", "hardware workload target"),
        ("throughput[ramp]", "hardware workload threads"),
        ("throughput[threads: 16]", "hardware workload"),
        ("throughput[threads: 32]", "hardware workload"),
        ("throughput[target: 200 ops/s]", "hardware workload"),
        ("throughput[r6g]", "workload target"),
    ],
)
def test_the_ramps_in_sight_depend_on_what_is_fixed(expr: str, dims: str) -> None:
    assert metric(expr, OFFERED).dims == tuple(dims.split())


def test_a_thread_count_picks_the_closed_loop_cells_only() -> None:
    measured = generate(OFFERED, seed=1)
    closed = next(cell for cell in measured.cells if cell[0] == "ramp" and cell[3] == 32)
    with measured.connect() as connection:
        found = run(connection, metric("throughput[threads: 32, r5]", OFFERED))
    assert found == {("f",): pytest.approx(measured.throughput[closed, None, "all"])}


def test_an_offered_load_is_the_mean_of_its_repeats() -> None:
    measured = generate(OFFERED, seed=2)
    cells: list[Cell] = [("offered", "r6g", "f", 32, 10_000.0, repeat) for repeat in (1, 2)]
    mean = sum(measured.throughput[cell, None, "all"] for cell in cells) / 2
    with measured.connect() as connection:
        found = run(connection, metric("throughput[offered, r6g]", OFFERED))
    assert found["f", 10_000.0] == pytest.approx(mean)
    assert set(found) == {("f", 200.0), ("f", 10_000.0), ("f", 50_000.0)}


def powered() -> Measured:
    """Return measurements of two nodes with a constant power of 100 W and 150 W, sampled at seconds 0, 1, 2 and 3 of
    each cell."""
    scope = world()
    sampled = tuple(replace(one, probes=(*one.probes, "power")) for one in scope.experiments)
    scope = replace(scope, experiments=sampled)
    measured = Measured(scope, cells_of(scope))
    for cell in measured.cells:
        for second in range(4):
            measured.sample["power", cell, "n1", second] = 100.0
            measured.sample["power", cell, "n2", second] = 150.0
        measured.sample["energy", cell, "n1", 0] = 400.0
        measured.sample["energy", cell, "n2", 0] = 600.0
        measured.throughput[cell, None, "all"] = 500.0
    return measured


@pytest.mark.parametrize(
    ("expr", "value", "unit"),
    [
        ("power", 250.0, "W"),
        ("mean(power over node)", 125.0, "W"),
        ("max(power over node, time)", 150.0, "W"),
        ("energy", 1000.0, "J"),
        ("max(energy over node)", 600.0, "J"),
        ("throughput / power", 2.0, "ops/s/W"),
        ("in op/J = throughput / power", 2.0, "op/J"),
        ("in Wh = energy", 1000 / 3600, "Wh"),
        ('power[node: "n1"]', 100.0, "W"),
    ],
)
def test_power_and_energy_of_the_nodes(expr: str, value: float, unit: str) -> None:
    measured = powered()
    query = metric(expr, measured.scope)
    assert query.unit == unit
    with measured.connect() as connection:
        found = run(connection, query)
    assert len(found) == 3 * 3 + 2 * 3 + 2 * 2  # hardware by threads, of each experiment
    assert all(each == pytest.approx(value) for each in found.values())


def test_a_moment_without_every_node_is_no_cluster_sum() -> None:
    measured = powered()
    for cell in measured.cells:
        del measured.sample["power", cell, "n2", 3]
    with measured.connect() as connection:
        lowest = run(connection, metric("min(power over time)", measured.scope))
    assert set(lowest.values()) == {250.0}


def test_text_in_a_key_stays_text() -> None:
    measured = powered()
    query = metric("""power[node: "n1' OR '1'='1"]""", measured.scope)
    assert "'n1'' OR ''1''=''1'" in query.sql
    with measured.connect() as connection:
        assert set(run(connection, query).values()) == {None}


def test_an_expectation_is_one_zero_or_unknown() -> None:
    scope = replace(OFFERED, expects=())
    measured = generate(scope, seed=1)
    dropped: Cell = ("ramp", "r5", "f", 16, None, 1)
    del measured.throughput[dropped, None, "all"]
    text = """
    expect max(throughput[ramp, r5, threads: 32] over workload) > 0
    expect "is fast" throughput[ramp, r5, f, threads: 32] > 1M ops/s
    expect min(throughput[ramp] over threads, hardware, workload) > 0
    """
    tree = parse(Source("<test>", text))
    expects = tuple(found for found in tree.declarations if isinstance(found, ast.Expect))
    lowered = lower(replace(scope, expects=expects))
    lowered_expects, diagnostics = lowered.expects, lowered.diagnostics
    assert {found.code for found in diagnostics} == {"W0401"}, "the closed-loop ramp is measured once"
    with measured.connect() as connection:
        found = [run(connection, expect.query)[()] for expect in lowered_expects]
        right = [run(connection, expect.sides[1])[()] for expect in lowered_expects]
    assert found == [1.0, 0.0, None]
    assert [expect.label for expect in lowered_expects][1] == "is fast"
    assert right == [0.0, 1e6, 0.0]
    assert [side.text for side in lowered_expects[1].sides] == ["throughput[ramp, r5, f, threads: 32]", "1M ops/s"]


def test_a_declared_quantity_stands_in_where_nothing_is_sampled() -> None:
    scope = world()
    hardware = tuple(replace(hw, facts={**hw.facts, "power": hw.facts["price"]}) for hw in scope.hardware[:2])
    query = metric("power", replace(scope, hardware=(*hardware, *scope.hardware[2:])))
    assert query.dims == ("hardware",)


def test_a_point_that_a_profile_leaves_out_is_missing_with_a_warning() -> None:
    scope = replace(world(), profile="smoke")
    metrics, _, codes = lowered("metric it = throughput[eco, a, threads: 96]", scope)
    assert codes == ["W0702"]
    with generate(scope, seed=1).connect() as connection:
        assert run(connection, metrics["it"]) == {(): None}


def test_each_mistake_is_reported_once_however_often_it_is_met() -> None:
    _, _, codes = lowered("metric bad = nope\nmetric one = bad + bad\nmetric two = one[eco] * bad")
    assert codes == ["E0701"]
