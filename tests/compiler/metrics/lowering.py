"""Lowers a few lines together with the declarations of `world.bench`."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from benchbrief.compiler.briefs.lower_report import lower
from benchbrief.compiler.frontend.scope import Scope
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from benchbrief.model import plan

WORLD = Path(__file__).parent / "world.bench"


@cache
def world() -> Scope:
    from tests.compiler.metrics.measured import scope_of

    return scope_of(WORLD)


def lowered(text: str, scope: Scope | None = None) -> tuple[dict[str, plan.Query], tuple[plan.Report, ...], list[str]]:
    """Return metrics by name, reports, and the codes of mistakes."""
    tree = parse(Source("<test>", text))
    scope = scope or world()
    scope = replace(
        scope,
        metrics=(*scope.metrics, *(found for found in tree.declarations if isinstance(found, ast.Metric))),
        reports=tuple(found for found in tree.declarations if isinstance(found, ast.Block)),
    )
    lowered = lower(scope)
    metrics, reports, diagnostics = lowered.metrics, lowered.reports, lowered.diagnostics
    return {metric.name: metric.query for metric in metrics}, reports, [found.code for found in diagnostics]


def metric(expr: str, scope: Scope | None = None) -> plan.Query:
    """Return the query of a correct metric, declared as `expr` or as `in unit = expr`."""
    text = expr if expr.startswith("in ") else f"= {expr}"
    metrics, _, codes = lowered(f"metric it {text}", scope)
    assert not [code for code in codes if code.startswith("E")], codes
    return metrics["it"]


def element(body: str, scope: Scope | None = None, warns: tuple[str, ...] = ()) -> plan.Element:
    """Return the only element of a correct report."""
    found = report(body, scope, warns).elements
    assert len(found) == 1
    return found[0]


def report(body: str, scope: Scope | None = None, warns: tuple[str, ...] = ()) -> plan.Report:
    _, reports, codes = lowered(f'report it "It" {{\n{body}\n}}', scope)
    assert tuple(codes) == warns
    return reports[0]
