"""Tests that whole specs are lowered without mistakes, and that all their queries run."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from benchbrief.compiler.briefs.lower_report import lower
from benchbrief.compiler.frontend.scope import Scope
from benchbrief.model import plan
from benchbrief.results.build_store import arrow_schema
from benchbrief.results.store.measure_views import create_measures
from benchbrief.results.store.store_schema import TABLES
from tests.compiler.metrics.measured import Measured, cells_of, generate, run, scope_of
from tests.compiler.metrics.plans import elements, queries
from tests.support.longer import longer

SPECS = Path(__file__).parent / "specs"
QUICKSTART = Path(__file__).parents[3] / "examples" / "quickstart.bench"
PATHS = [*sorted(SPECS.glob("*.bench")), QUICKSTART]
SLOW = ("power_efficiency",)


_MAY_BE_UNREACHED = re.compile(r"\b(?:steady|saturation|knee)_1 AS")
"""Functions that may have no result for random numbers, even if no number is missing."""


def scope_named(path: Path) -> Scope:
    scope = scope_of(path)
    if path.stem != "power_efficiency":
        return scope
    return replace(scope, experiments=tuple(replace(one, probes=(*one.probes, "power")) for one in scope.experiments))


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=pytest.mark.long if path.stem in SLOW else ()) for path in PATHS],
)
@pytest.mark.parametrize("missing", [0.0, *longer(0.3)], ids=["whole", "gaps"])
def test_every_query_of_a_spec_runs(path: Path, missing: float) -> None:
    scope = scope_named(path)
    lowered = lower(scope)
    metrics, expects, reports, diagnostics = lowered.metrics, lowered.expects, lowered.reports, lowered.diagnostics
    assert not [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
    assert len(metrics) == len(scope.metrics)
    assert len(expects) == len(scope.expects)
    assert len(reports) == 1
    assert list(elements(reports[0]))
    found = {(query.sql, query.dims): query for query in queries([metrics, expects, reports])}
    assert len(found) > 3
    with generate(scope, seed=1, missing=missing, seconds=2).connect() as connection:
        for query in found.values():
            rows = run(connection, query)
            assert rows
            if not missing and not _MAY_BE_UNREACHED.search(query.sql):
                assert None not in rows.values(), query.text


def test_lowering_is_deterministic() -> None:
    assert lower(scope_of(QUICKSTART)) == lower(scope_of(QUICKSTART))


PUBLISHED = {
    # workload: new ops/s, legacy ops/s, multiplier as printed
    "a": (7120.1, 818.3, "8.7"),
    "b": (10404.4, 1080.4, "9.6"),
    "c": (11455.4, 1347.2, "8.5"),
    "d": (28671.5, 2464.6, "11.6"),
    "f": (6315.0, 794.7, "7.9"),
}


@pytest.fixture(scope="module")
def shrink() -> Measured:
    """Return measurements with the published operations per second at 96 threads, and other numbers at other points."""
    measured = generate(scope_of(SPECS / "cluster_shrink.bench"), seed=3)
    for cell in cells_of(measured.scope):
        if cell[3] == 96:
            new, legacy, _ = PUBLISHED[cell[2]]
            measured.throughput[cell, None, "all"] = new if cell[1] == "eco" else legacy
    return measured


def test_the_published_multipliers_come_out(shrink: Measured) -> None:
    lowered = lower(shrink.scope)
    metrics, reports = lowered.metrics, lowered.reports
    by_name = {metric.name: metric.query for metric in metrics}
    with shrink.connect() as connection:
        multipliers = run(connection, by_name["multiplier"])
        nodes = run(connection, by_name["legacy_nodes"])
        callout = reports[0].elements[0]
        assert isinstance(callout, plan.CalloutElement)
        assert callout.table is not None
        printed = []
        for text in callout.table.lines[0].texts:
            value, suffix = text.parts
            assert isinstance(value, plan.Value)
            printed.append(f"{run(connection, value.query)[()]:{value.format}}{suffix}")
    assert {key: f"{value:.1f}" for key, value in multipliers.items()} == {
        (workload,): row[2] for workload, row in PUBLISHED.items()
    }
    assert printed == ["8.7X", "9.6X", "8.5X", "11.6X", "7.9X"]
    assert by_name["legacy_nodes"].unit == "nodes"
    assert {key: f"{value:.1f}" for key, value in nodes.items()} == {
        ("a",): "26.1",
        ("b",): "28.9",
        ("c",): "25.5",
        ("d",): "34.9",
        ("f",): "23.8",
    }


def test_the_numbers_come_out_of_the_views_of_the_store_as_well(shrink: Measured) -> None:
    metrics = lower(shrink.scope).metrics
    tables: dict[str, list[dict[str, object]]] = {"cells": [], "throughput": []}
    for number, cell in enumerate(shrink.cells):
        names = ("experiment", "hardware", "workload", "threads", "target", "repeat")
        where = {"run_id": "r", "cell_id": str(number), "levels": ""}
        tables["cells"].append({**where, **dict(zip(names, cell, strict=True)), "status": "ok"})
        value = shrink.throughput[cell, None, "all"]
        tables["throughput"].append({**where, "operation": "all", "ops_per_s": value})
    with duckdb.connect() as connection:
        for table, row in TABLES.items():
            filled = [{**dict.fromkeys(row._fields), **found} for found in tables.get(table, [])]  # type: ignore[attr-defined]  # a named tuple
            arrow = pa.Table.from_pylist(filled, schema=arrow_schema(row))
            connection.execute(f"CREATE TABLE {table} AS FROM arrow")
            del arrow  # DuckDB found it by its name
        create_measures(connection)
        multipliers = run(connection, next(metric.query for metric in metrics if metric.name == "multiplier"))
    assert [f"{value:.1f}" for value in multipliers.values()] == [row[2] for row in PUBLISHED.values()]


def test_the_formula_of_the_published_brief_works_through_its_numbers(shrink: Measured) -> None:
    reports = lower(shrink.scope).reports
    formula = reports[0].elements[-1]
    assert isinstance(formula, plan.FormulaElement)
    with shrink.connect() as connection:
        numbers = [f"{run(connection, term.query)[()]:.3g}" for term in formula.terms]
        result = run(connection, formula.result)[()]
    assert formula.name == "Legacy nodes needed"
    assert [term.text for term in formula.terms] == ["nodes, Legacy", "Performance multiplier"]
    assert formula.text.format(*numbers) == "3 × 8.7"
    assert f"{result:.1f}" == "26.1"


def test_the_bars_repeat_a_constant_for_every_workload(shrink: Measured) -> None:
    reports = lower(shrink.scope).reports
    figure = reports[0].elements[2]
    assert isinstance(figure, plan.FigureElement)
    constant, estimated = figure.series
    assert (constant.label, constant.query.unit, constant.query.dims) == ("nodes, 5100 ECO", "nodes", ("workload",))
    assert estimated.query.dims == ("workload",)
    assert [key.value for key in figure.keys["workload"]] == list(PUBLISHED)
    with shrink.connect() as connection:
        assert run(connection, constant.query) == {(workload,): 3.0 for workload in PUBLISHED}
