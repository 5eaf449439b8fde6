"""Numbers that are missing in a text, and data of figures that nobody measured here."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from benchbrief.compiler import plan as p
from benchbrief.reports.build import build
from benchbrief.reports.values import belonging
from benchbrief.reports.view import TextView, figures_of
from benchbrief.reports.words import CATALOGUES
from benchbrief.results import schema as s
from tests.reports import briefs
from tests.reports import world as w

SOURCE = s.SourceRow(w.RUN, "table", "A brief", "Example Ltd", None, None, None, "cited", "a.csv", "0" * 64, 1)


@pytest.mark.parametrize("mark", ["simulated", "imported", ""])
def test_the_data_of_a_figure_say_in_each_row_what_was_not_measured_here(mark: str) -> None:
    world, report = briefs.quickstart()
    rows = [row._replace(simulated=mark == "simulated") if isinstance(row, s.RunRow) else row for row in world.rows()]
    rows += [SOURCE] if mark == "imported" else []
    view = build(world.plan(report), w.make_store(rows), report, CATALOGUES["en"])
    for figure in figures_of(view.blocks):
        head, *lines = list(csv.reader(StringIO(figure.csv)))
        assert head[-1] == (mark or "cells")
        assert lines
        assert all((line[-1] == "true") == bool(mark) for line in lines)


@pytest.mark.parametrize(
    ("unit", "follows", "found"),
    [
        ("1", "X as many", "X"),
        ("1", "-fold growth", "-fold"),
        ("1", " times", ""),
        ("1", "Xylophones", ""),
        ("ops/s", "\u00a0ops/s at most", "\u00a0ops/s"),
        ("ops/s", " ops/s.", " ops/s"),
        ("ops/s", " ops/s/node", ""),
        ("s", " servers", ""),
    ],
)
def test_what_belongs_to_a_number_is_its_unit_or_what_is_joined_to_it(unit: str, follows: str, found: str) -> None:
    assert belonging(unit, follows) == found


def test_a_missing_number_in_a_text_is_a_dash_and_a_footnote_without_its_unit() -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    nothing = p.Value(query=w.query("SELECT NULL::DOUBLE AS value", (), "1", "x"), format=".0f")
    report = w.report("A report", p.TextElement(prose=p.Prose(parts=("It is ", nothing, "X as fast."))))
    view = build(world.plan(report), world.store(), report, CATALOGUES["en"])
    (block,) = view.blocks
    assert isinstance(block, TextView)
    assert '\u2013</a><sup>\xa0<a href="#note-1" role="doc-noteref">1</a></sup> as fast.' in block.html
