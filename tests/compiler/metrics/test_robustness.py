"""Tests that every expression or report is either lowered to SQL that runs, or refused with an explanation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchbrief.compiler.briefs.lower_report import lower
from benchbrief.compiler.frontend.scope import Scope
from benchbrief.compiler.metrics.expressions import FUNCTIONS
from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from benchbrief.model.plan import DIMENSIONS
from tests.compiler.metrics.measured import generate, run, scope_of
from tests.compiler.metrics.plans import queries

HERE = Path(__file__).parent
WORLDS = ("world", "curves", "offered", "specs/offered_load")

WORDS = st.sampled_from(
    [
        *("throughput", "latency.p99", "latency.mean", "errors", "cpu", "disk.read", "disk.utilisation", "power"),
        *("energy", "nodes", "price", "threads", "target", "phase", "repeat", "time", "node", "hardware", "gain"),
        *(
            "steady",
            "saturation",
            "settled",
            "cost",
            "offered",
            "warm",
            "r5",
            "insert",
            "best",
            "eco",
            "old",
            "a",
            "c",
            "f",
            "read",
            "update",
            "one",
            "two",
            "nope",
            "latency",
            "disk",
        ),
    ]
)
DIMS = st.sampled_from([*DIMENSIONS, "nope"])
NUMBERS = st.sampled_from(["0", "1", "2", "96", "5 %", "3 ms", "10 ops/s", "2 USD/h", "1 furlong", "1e300"])


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from("+ - * / < > == and or".split())  # noqa: SIM905
    arguments = st.one_of(WORDS, NUMBERS, st.builds("{}: {}".format, DIMS, st.one_of(WORDS, NUMBERS)))
    functions = st.sampled_from(["range", "nope", *FUNCTIONS])
    return st.one_of(
        st.builds("({} {} {})".format, inner, operators, inner),
        st.builds("-{}".format, inner),
        st.builds("(not {})".format, inner),
        st.builds("({})[{}]".format, inner, arguments),
        st.builds("({})[{}, {}]".format, inner, arguments, arguments),
        st.builds("{}({} over {})".format, functions, inner, DIMS),
        st.builds("{}({} over {}, {})".format, functions, inner, DIMS, DIMS),
        st.builds("{}({} over {}, when {})".format, functions, inner, DIMS, inner),
        st.builds("{}({} over {}, at: {})".format, functions, inner, DIMS, st.one_of(WORDS, NUMBERS)),
    )


EXPRESSIONS = st.recursive(st.one_of(WORDS, NUMBERS), _compound, max_leaves=6)
OPTIONS = st.sampled_from(
    [
        "",
        ", color hardware",
        ", color workload",
        ", axis right",
        ", dashed",
        ", log x",
        ', label "x"',
        ", band",
        ", color hardware, band confidence",
    ]
)
ELEMENTS = st.one_of(
    st.builds('text = "{{{}:.1f}}"'.format, EXPRESSIONS),
    st.builds('text = "{{range({} over threads):.0%}}"'.format, EXPRESSIONS),
    st.builds('figure "F" {{ line = {} by {}{} }}'.format, EXPRESSIONS, DIMS, OPTIONS),
    st.builds('figure "F" {{ bars = [{}, {}] by {}{} }}'.format, EXPRESSIONS, EXPRESSIONS, DIMS, OPTIONS),
    st.builds('figure "F" {{ curve = {}, {} along {}{} }}'.format, EXPRESSIONS, EXPRESSIONS, DIMS, OPTIONS),
    st.builds('figure "F" {{ line = {} by {}{} mark = {} }}'.format, EXPRESSIONS, DIMS, OPTIONS, EXPRESSIONS),
    st.builds('table "T" {{ rows = {} columns = {} by {} }}'.format, DIMS, EXPRESSIONS, DIMS),
    st.builds('table "T" {{ rows = [{}, {}] columns = {} }}'.format, EXPRESSIONS, EXPRESSIONS, DIMS),
    st.builds('callout "C" {{ rows = {} column "X" = "{{{}:.1f}}" }}'.format, DIMS, EXPRESSIONS),
    st.builds("formula it for {}".format, WORDS),
)
REPORTS = st.builds(
    'metric it = {}\nreport r "R" {{\n each {} {{ {} }}\n {}\n}}'.format, EXPRESSIONS, DIMS, ELEMENTS, ELEMENTS
)


@cache
def world(name: str) -> tuple[Scope, duckdb.DuckDBPyConnection]:
    scope = scope_of(HERE / f"{name}.bench")
    return scope, generate(scope, seed=1, missing=0.1, zeros=0.05, seconds=2).connect()


@pytest.mark.long
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(WORLDS), REPORTS)
def test_any_report_is_lowered_or_explained(name: str, text: str) -> None:
    scope, connection = world(name)
    try:
        tree = parse(Source("<test>", text))
    except SpecError:
        return
    metrics = [found for found in tree.declarations if isinstance(found, ast.Metric)]
    reports = [found for found in tree.declarations if isinstance(found, ast.Block)]
    lowered = lower(replace(scope, metrics=(*scope.metrics, *metrics), reports=tuple(reports)))
    for query in queries((lowered.metrics, lowered.expects, lowered.reports)):
        run(connection, query)
    for diagnostic in lowered.diagnostics:
        assert diagnostic.summary
        assert diagnostic.help
        assert diagnostic.span is not None
