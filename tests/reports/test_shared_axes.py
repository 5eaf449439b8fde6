"""Tests that figures of the same measure have the same axes."""

# ruff: noqa: S608  # the SQL is over made-up values

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.charts.build_figure import finished, sketched
from benchbrief.reports.charts.chart import NO_REACH, Reach
from benchbrief.reports.charts.chart_layout import Plot
from benchbrief.reports.charts.shared_axes import shared_reach
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.words.brief_words import CATALOGUES, words
from tests.reports import world as w

THREADS = (1, 2, 4)
WORLD = w.World({"hdd": "HDD", "nvme": "NVMe"}, {"a": "Sessions"}, THREADS)


def figure(*values: float, unit: str = "s", label: str = "p99", mark: str = "line", **more: object) -> p.FigureElement:
    rows = ", ".join(f"({t}, {value!r}::DOUBLE)" for t, value in zip(THREADS, values, strict=True))
    query = w.query(
        f"SELECT * FROM (VALUES {rows}) AS t (threads, value)", ("threads",), unit, "made", [], divides=True
    )
    return w.figure("F", w.series(mark, query, label, "threads"), by={"threads": w.keys(THREADS)}, **more)


def axes(figures: Sequence[p.FigureElement], language: str = "en") -> list[tuple[float, float, str]]:
    """Return the ends of each figure's left axis, and the axis title."""
    results = Results(WORLD.plan(), WORLD.store(), words(language))
    sketches = {place: sketched(each, results) for place, each in enumerate(figures)}
    shared: Mapping[int, Reach] = shared_reach(sketches)
    found = []
    for place, sketch in sketches.items():
        (chart,) = finished(sketch, results, reach=shared.get(place, NO_REACH)).charts
        plot = Plot(chart, 657, 240)
        found.append((plot.y.low, plot.y.high, chart.left))
    return found


def test_two_figures_of_a_measure_have_one_axis_in_one_unit() -> None:
    assert axes([figure(0.2, 0.3, 0.6), figure(0.9, 1.1, 1.4)]) == [(0.0, 1.5, "p99 (s)")] * 2
    assert axes([figure(0.2, 0.3, 0.6)]) == [(0.0, 600.0, "p99 (ms)")]


def test_the_place_that_a_label_names_parts_no_measure() -> None:
    first, second = axes([figure(2, 3, 6, label="p99, Sessions"), figure(9, 9, 9, label="p99, Inserts")])
    assert first[:2] == second[:2] == (0.0, 10.0)


def test_bars_in_a_broken_line_share_the_axis_of_their_measure() -> None:
    doubted = figure(0.2, 0.3, 0.6, mark="bar")
    doubted = doubted.model_copy(update={"series": (doubted.series[0].model_copy(update={"dashed": True}),)})
    assert axes([figure(0.9, 1.1, 1.4, mark="bar"), doubted]) == [(0.0, 1.5, "p99 (s)")] * 2


@pytest.mark.parametrize(
    "other",
    [figure(9, 9, 9, label="p50"), figure(9, 9, 9, unit="ops/s"), figure(9, 9, 9, log_y=True), figure(99, 99, 99),
     figure(9, 9, 9, free_axes=True)],
    ids=["measure", "unit", "scale", "size", "free"],
)  # fmt: skip
def test_figures_that_differ_keep_their_own_axes(other: p.FigureElement) -> None:
    alone = axes([figure(2, 3, 6)])
    assert axes([figure(2, 3, 6), other])[:1] == alone


def test_ratios_near_one_have_it_in_the_middle_of_their_axis_and_bars_begin_at_zero() -> None:
    assert axes([figure(0.98, 1.01, 1.04, unit="", label="Ratio")]) == [(0.9, 1.1, "Ratio")]
    assert axes([figure(0.98, 1.01, 2.04, unit="", label="Ratio")])[0][0] == 0.0
    assert axes([figure(0.98, 1.01, 1.04, unit="", label="Ratio", mark="bar")])[0][0] == 0.0


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_line_of_no_difference_is_named(language: str) -> None:
    from benchbrief.reports.charts.chart_texts import texts

    results = Results(WORLD.plan(), WORLD.store(), words(language))
    near, far = (
        [text.text for text in texts(Plot(finished(sketched(each, results), results).charts[0], 657, 240))]
        for each in (figure(0.98, 1.01, 1.04, unit="", label="Ratio"), figure(3, 4, 5, unit="", label="Ratio"))
    )
    assert CATALOGUES[language]["no_difference"] in near
    assert CATALOGUES[language]["no_difference"] not in far
