"""Tests steady states, knees and saturation: the SQL agrees with the rules, on data that cover all cases of the
rules."""

from __future__ import annotations

import random
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
from tests.compiler.metrics import curve_rules
from tests.compiler.metrics.lowering import lowered, metric
from tests.compiler.metrics.measured import Cell, Measured, cells_of, generate, put, run, scope_of
from tests.compiler.metrics.oracle import Oracle
from tests.support.longer import one_in

HERE = Path(__file__).parent
PHASED = [
    "mean(throughput over phase, when steady)",
    "mean(throughput over phase, when not steady)",
    "count(throughput over phase, when steady)",
    "max(latency.p99[read] over phase, when steady)",
    "mean(throughput[read] over phase, when steady)",
    "mean(throughput over phase, when steady)[read]",
    "min(throughput over phase, when steady or throughput > 500 ops/s)",
    "mean(throughput over phase, repeat, when steady)",
    "sum(throughput over phase, threads, when steady)",
    "mean(throughput[eco] over phase, when steady)",
    "mean(throughput[eco, read] / threads over phase, when steady)",
    "mean(throughput[eco] / throughput[old] over phase, when steady[eco] and steady[old])",
    "mean(throughput[eco] over phase, when steady[old])",
    "max(throughput[a] over threads, when steady[phase: 6])",
    "settled",
    "settled[a, threads: 2]",
    "settled[read, eco]",
    "gain",
    "gain[update]",
    "time_to_steady(throughput over phase)",
    "time_to_steady(throughput[read] over phase)",
    "time_to_steady(latency.mean[update] over phase)",
    "time_to_steady(throughput / threads over phase)[eco]",
    "max(time_to_steady(throughput over phase) over hardware)",
    "max(time_to_steady(throughput over phase) over repeat)",
    "time_to_steady(throughput[eco] / throughput[old] over phase)",
]
RAMPS = [
    "knee(throughput over threads)",
    "knee(throughput[read] over threads)",
    "knee(latency.p99[read] over threads)",
    "knee(throughput over threads)[eco]",
    "knee(throughput[eco, f] / throughput[old, f] over threads)",
    "max(knee(throughput[f] over threads) over hardware)",
    "max(knee(throughput[f] over threads) over repeat)",
    "count(throughput over threads, when threads <= knee(throughput over threads))",
]
OFFERED = [
    "saturation(throughput over target)",
    "saturation(throughput over target, at: 60 %)",
    "saturation(throughput over target, at: 1)",
    "saturation(throughput[insert] over target)",
    "saturation(throughput[read] over target, at: 70 %)",
    "saturation(throughput over target)[update]",
    "max(saturation(throughput over target) over repeat)",
    "saturation",
    "saturation[fill]",
    "gain",
    "gain[insert]",
    "gain[read]",
    "price / saturation",
    "throughput[insert] / target",
    "knee(throughput over target)",
    "knee(throughput[insert] over target)",
]


@cache
def scope(name: str) -> Scope:
    return scope_of(HERE / f"{name}.bench")


@cache
def shaped(name: str, seed: int, missing: float) -> tuple[Measured, duckdb.DuckDBPyConnection]:
    """Make measurements that warm up to a level, rise to a limit, or follow the load up to a limit."""
    rng = random.Random(seed)  # noqa: S311  # test data
    measured = generate(scope(name), seed, missing)
    experiments = {one.key: one for one in measured.scope.experiments}
    operations = {workload.key: ("all", *workload.operations) for workload in measured.scope.workloads}
    measured.throughput.clear()
    for cell in measured.cells:
        limit, noise, lag = rng.uniform(200, 900), rng.choice([0.0, 0.02, 0.08, 0.2]), rng.randrange(0, 6)
        offered = cell[4] if cell[4] is not None else limit * (1 - 0.7 ** cell[3])
        phases = experiments[cell[0]].phases
        for phase in [None, *(range(1, phases + 1) if phases > 1 else ())]:
            for operation in operations[cell[2]]:
                warm = 0.5 if phase is not None and phase <= lag else 1.0
                value = min(offered, limit) * warm * (1 + rng.uniform(-noise, noise))
                put(measured.throughput, (cell, phase, operation), None if rng.random() < missing else round(value, 3))
    return measured, measured.connect()


@cache
def of_spec(name: str, expr: str) -> tuple[ast.Metric, plan.Query]:
    """Return a metric's tree and its query. Neither depends on measurements."""
    tree = parse(Source("<test>", f"metric it = {expr}")).declarations[0]
    assert isinstance(tree, ast.Metric)
    lowered = lower(replace(scope(name), metrics=(*scope(name).metrics, tree)))
    metrics, diagnostics = lowered.metrics, lowered.diagnostics
    assert not [found.summary for found in diagnostics if found.severity == "error"], expr
    return tree, next(found.query for found in metrics if found.name == "it")


def agree(name: str, expr: str, seed: int, missing: float) -> set[object]:
    """Check that the SQL gives the same answers as the rules, and return the answers."""
    measured, connection = shaped(name, seed, missing)
    tree, query = of_spec(name, expr)
    found = run(connection, query)
    expected = Oracle(measured).table(tree.expr, query.dims)
    assert found.keys() == expected.keys(), f"{expr}\n{query.sql}"
    factor = parse_unit(query.unit).factor
    for key, value in expected.items():
        number = pytest.approx(float(value) / factor, rel=1e-9) if isinstance(value, int | float) else None
        assert found[key] == number, f"{expr} at {key}\n{query.sql}"
    return set(found.values())


CASES = [*(("curves", e) for e in (*PHASED, *RAMPS)), *(("offered", e) for e in OFFERED)]


WORLDS = tuple(enumerate((*[0.0] * 6, 0.05, 0.2)))


@pytest.mark.parametrize("worlds", [WORLDS[::3], pytest.param(WORLDS, marks=pytest.mark.long)], ids=["some", "all"])
@pytest.mark.parametrize(("name", "expr"), one_in(3, CASES))
def test_sql_reads_off_a_curve_what_the_rule_says(name: str, expr: str, worlds: tuple[tuple[int, float], ...]) -> None:
    answers = set[object]()
    for seed, missing in worlds:
        answers |= agree(name, expr, seed, missing)
    if worlds is WORLDS:
        assert len(answers) > 1, "the data reach more than one answer"
        assert None in answers


@pytest.mark.long
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=st.sampled_from(CASES), seed=st.integers(8, 31), missing=st.sampled_from([0.0, 0.02]))
def test_sql_and_the_rules_agree_on_any_measurements(case: tuple[str, str], seed: int, missing: float) -> None:
    agree(*case, seed, missing)


# --- by hand ---


def phases(*values: float | None) -> Measured:
    """Return measurements that have the same throughputs by phase in every cell."""
    measured = Measured(scope("curves"), cells_of(scope("curves")))
    for cell in measured.cells:
        for phase, value in enumerate(values, start=1):
            put(measured.throughput, (cell, phase, "all"), value)
    return measured


def answer(expr: str, measured: Measured) -> float | None:
    with measured.connect() as connection:
        return run(connection, metric(expr, measured.scope))[()]


@pytest.mark.parametrize(
    ("values", "minutes", "mean"),
    [
        ((100, 100, 100, 100, 100, 100), 0, 100),
        ((50, 100, 102, 98, 101, 99), 10, 100),
        ((10, 40, 80, 99, 100, 101), 30, 100),
        ((10, 20, 40, 60, 99, 100), None, None),  # two phases are too few to tell
        ((50, 95, 100, 105, 100, 100), 10, 100),
        ((50, 50, 50, 95, 100, 105), 30, 100),  # just within 10 %
        ((50, 50, 50, 94, 100, 106), None, None),  # a drift of 12 %
        ((110, 90, 100, 100, 110, 90), 0, 100),  # just within 20 %, and no drift
        ((111, 89, 100, 100, 89, 111), None, None),  # jumps of 22 %, to the end
        ((111, 89, 100, 100, 90, 110), 20, 100),
        ((0, 0, 0, 0, 0, 0), None, None),  # of nothing, there are no shares
        ((50, 100, None, 100, 100, 100), None, None),  # what is missing may have been steady or not
        ((None, 100, 100, 100, 100, 100), None, None),
    ],
)
def test_the_steady_state_begins_with_the_first_phase_from_which_on_the_rule_holds(
    values: tuple[float | None, ...], minutes: float | None, mean: float | None
) -> None:
    measured = phases(*values)
    assert answer("in min = time_to_steady(throughput[a, eco, threads: 1] over phase)", measured) == minutes
    found = answer("mean(throughput[a, eco, threads: 1] over phase, when steady)", measured)
    assert found == (None if mean is None else pytest.approx(mean))


def curve(*values: float | None) -> Measured:
    """Return measurements with a throughput for each point of the ramp: 1, 2, 4, 8, 16, 32 threads."""
    measured = Measured(scope("curves"), cells_of(scope("curves")))
    for cell in measured.cells:
        if cell[0] == "ramp":
            put(measured.throughput, (cell, None, "all"), values[[1, 2, 4, 8, 16, 32].index(cell[3])])
    return measured


@pytest.mark.parametrize(
    ("values", "knee"),
    [
        ((100, 190, 360, 640, 700, 710), 8),
        ((100, 190, 360, 640, 300, 100), 8),
        ((10, 20, 40, 80, 160, 320), None),  # a straight line has none
        ((1, 2, 5, 20, 90, 320), None),  # nor has what bends the other way
        ((500, 500, 500, 500, 500, 500), None),
        ((600, 500, 400, 300, 200, 100), None),  # below the first point, if anywhere
        ((100, 190, None, 640, 700, 710), None),
    ],
)
def test_the_knee_lies_highest_above_the_straight_line(values: tuple[float | None, ...], knee: float | None) -> None:
    query = metric("knee(throughput[f, eco] over threads)", scope("curves"))
    assert (query.dims, query.unit) == ((), "")
    assert answer("knee(throughput[f, eco] over threads)", curve(*values)) == knee


def test_of_two_points_as_high_the_knee_is_the_first() -> None:
    heights = [1, 2, 4, 8, 16, 32]
    values = [31 * (point - 1) / 31 + (10 if point in (4, 8) else 0) for point in heights]
    assert answer("knee(throughput[f, eco] over threads)", curve(*values)) == 4


def test_the_knee_of_the_kneedle_paper_s_curve_comes_out() -> None:
    """The curve is y = 5 - 1 / (x + 0.1) at ten points from 0 to 1. Its knee is at 0.22."""
    xs = [n / 9 for n in range(10)]
    assert curve_rules.knee(xs, [5 - 1 / (x + 0.1) for x in xs]) == pytest.approx(2 / 9)


def offered(achieved: dict[float, float]) -> Measured:
    measured = Measured(scope("offered"), cells_of(scope("offered")))
    for cell in measured.cells:
        for operation, share in (("all", 1.0), ("read", 0.5), ("insert", 1.0)):
            put(measured.throughput, (cell, None, operation), achieved[cell[4] or 0.0] * share)
    return measured


@pytest.mark.parametrize(
    ("achieved", "saturation"),
    [
        ((100, 200, 400, 800), None),  # it kept up to the end
        ((99, 197, 390, 760), None),  # 95 % is kept up
        ((99, 197, 390, 759), 759),
        ((100, 200, 380, 350), 380),  # the best, although it is before the collapse
        ((100, 150, 400, 800), None),  # a dip is no saturation
        ((83, 166, 330, 520), 520),  # never kept up
    ],
)
def test_a_saturation_is_only_claimed_where_the_ramp_ends_beyond_it(
    achieved: tuple[float, ...], saturation: float | None
) -> None:
    measured = offered(dict(zip((100, 200, 400, 800), achieved, strict=True)))
    assert answer("saturation(throughput[a, eco] over target)", measured) == saturation
    half = None if saturation is None else saturation / 2
    assert answer("saturation(throughput[a, eco, read] over target)", measured) == half, "judged by the total"


def test_another_ratio_judges_otherwise() -> None:
    measured = offered({100: 100, 200: 200, 400: 390, 800: 700})
    assert answer("saturation(throughput[a, eco] over target, at: 80 %)", measured) is None
    assert answer("saturation(throughput[a, eco] over target)", measured) == 700


def test_a_number_that_was_not_reached_says_so() -> None:
    assert metric("gain", scope("offered")).absent == ("no_saturation",)
    assert metric("gain", scope("curves")).absent == ("no_steady",)
    assert metric("max(knee(throughput over threads) over hardware)", scope("curves")).absent == ("no_knee",)
    assert metric("max(throughput over threads)", scope("curves")).absent == ()


def test_a_condition_that_no_point_fulfils_says_so() -> None:
    found = metric("max(throughput over threads, when throughput > 1M ops/s)", scope("curves"))
    assert found.absent == ("none_fulfils",)
    steady = metric("mean(throughput over phase, when steady)", scope("curves"))
    assert steady.absent == ("no_steady",)


# --- operations and names ---


def test_an_operation_that_one_workload_performs_leaves_one_number() -> None:
    _, reports, codes = lowered(
        """report it "It" { text = "{gain[insert]:+.0f} and {saturation[insert, eco]:.0f}"
        figure "F" { line = throughput[insert] by target, color hardware } }""",
        scope("offered"),
    )
    assert not codes
    text, figure = reports[0].elements
    assert isinstance(text, plan.TextElement)
    assert [part.query.dims for part in text.prose.parts if isinstance(part, plan.Value)] == [(), ()]
    assert isinstance(figure, plan.FigureElement)
    assert figure.series[0].query.dims == ("hardware", "target")


def test_an_operation_that_several_workloads_perform_leaves_the_workload_free() -> None:
    _, _, codes = lowered('report it "It" { text = "{gain[read]:+.0f}" }', scope("offered"))
    assert codes == ["E0730"]


def test_an_index_reaches_the_measures_inside_a_metric() -> None:
    measured = offered({100: 100, 200: 200, 400: 300, 800: 300})
    for cell in list(measured.throughput):
        if cell[0][1] == "eco" and cell[2] == "insert":
            measured.throughput[cell] *= 2
    assert answer("gain[insert, fill]", measured) == pytest.approx(100)


def test_along_the_targets_stand_only_the_points_of_offered_load() -> None:
    both = scope_of(HERE / "specs" / "offered_load.bench")
    assert metric("saturation(throughput over target)", both).dims == ("hardware", "workload")
    assert metric("max(throughput over threads)", both).dims == ("hardware", "workload")
    measured = generate(both, seed=1)
    closed: list[Cell] = [cell for cell in measured.cells if cell[0] == "ramp"]
    with measured.connect() as connection:
        found = run(connection, metric("max(throughput over threads)", both))
    assert found == {("r5", "f"): pytest.approx(max(measured.throughput[cell, None, "all"] for cell in closed))}
