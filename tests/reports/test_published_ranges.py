"""Tests a range published by a source, beside the range computed from the source's figures."""

from __future__ import annotations

import re

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.data.view_model import TableView
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports import world as w
from tests.reports.test_what_is_missing_or_not_measured import SOURCE
from tests.results.making import a_factor


@pytest.mark.parametrize(
    ("bounds", "shown", "computed"),
    [
        ({"low": 1.0, "high": 4.0}, "1 to 4 ops/s", "1,000 ops/s to 4,000 ops/s"),
        ({"value": 2.0}, "2 ops/s", ""),
    ],
)
def test_a_range_over_a_ramp_is_computed_from_the_lowest_and_the_highest_of_it(
    bounds: dict[str, float], shown: str, computed: str
) -> None:
    world = w.World({"disk": "Disk"}, {"a": "A"}, threads=(1, 2, 4))
    report = w.report("R", w.figure("F", w.series("line", w.throughput("threads"), "T", "threads"), by={}))
    query = w.throughput("workload", "threads")
    speed = p.Metric(name="speed", label="Speed", better="higher", query=query, origin=w.HERE)
    plan = world.plan(report).model_copy(update={"metrics": (speed,)})
    keys = (None, None, "a", None, None, None)
    rows = [s.PublishedRow(w.RUN, "speed", bound, *keys, value, "ops/s", "a.csv:5") for bound, value in bounds.items()]
    view = build(plan, w.make_store([*world.rows(), SOURCE, *rows]), report, CATALOGUES["en"])
    (table,) = [block for block in view.blocks if isinstance(block, TableView)]
    cells = [re.sub("<[^>]+>", "", cell.html).replace("\xa0", " ") for cell in table.rows[0].cells]
    assert cells == [shown, *([computed] if computed else [])]


def test_a_published_value_is_named_by_the_label_of_its_level() -> None:
    world = w.World({"disk": "Disk"}, {"a": "A"}, threads=(1,))
    report = w.report("R", w.figure("F", w.series("line", w.throughput("threads"), "T", "threads"), by={}))
    speed = p.Metric(name="speed", label="Speed", better="higher", query=w.throughput("workload"), origin=w.HERE)
    factors = {"codec": a_factor("codec", "none", "lz4"), "vsize": a_factor("vsize", 100.0, 1000.0, unit="B")}
    plan = world.plan(report).model_copy(update={"metrics": (speed,), "factors": factors})
    of = (None, None, "a", None, None, None, 2.0, "ops/s", "a.csv:5", "codec=lz4,vsize=1000")
    rows = [s.PublishedRow(w.RUN, "speed", "value", *of)]
    view = build(plan, w.make_store([*world.rows(), SOURCE, *rows]), report, CATALOGUES["en"])
    (table,) = [block for block in view.blocks if isinstance(block, TableView)]
    assert table.rows[0].head.label == "Speed, A, lz4!, 1000.0!"
