"""Tests that a few repeats are drawn individually, and that the numbers in one figure are written in the same way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.charts.build_figure import Drawing, drawing
from benchbrief.reports.charts.chart_layout import Plot
from benchbrief.reports.charts.draw_chart import draw
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.words.brief_words import words
from benchbrief.results.store.searched_doubts import Doubt
from tests.reports import world as w
from tests.reports.gallery import CASES
from tests.support.drawn_once import CONVERTER

RING = re.compile(r'<path [^>]*d="M3,0A[^>]*>')


def made(repeats: int, mark: str = "line") -> Drawing:
    sql = "SELECT threads, repeat, value FROM measure.throughput WHERE operation = 'all'"
    each = w.query(sql, ("threads", "repeat"), "ops/s", "throughput")
    world = w.World({"disk": "Disk"}, {"a": "A"}, repeats=repeats)
    series = w.series(mark, w.throughput("threads"), "Throughput", "threads", band=True, repeats=each)
    figure: p.FigureElement = w.figure("F", series, by={"threads": w.keys([1, 2, 4])})
    return drawing(figure, Results(world.plan(), world.store(), words("en")))


@pytest.mark.parametrize("mark", ["line", "bar"])
def test_two_repeats_are_drawn_and_make_no_interval(mark: str) -> None:
    found = made(2, mark)
    points = found.charts[0].traces[0].points
    assert [point.repeats for point in points] == [(1000.0, 1040.0), (2000.0, 2080.0), (4000.0, 4160.0)]
    assert all(point.low is None for point in points)
    assert (found.key, found.notes) == ("Small rings: the two repeats of each point", ())
    svg = draw(found.charts, 600, 240, "Inter", CONVERTER).svg
    rings = RING.findall(svg)
    assert len(rings) == 6
    assert all('fill="#ffffff"' in ring for ring in rings), "they are seen on bars, too"


@pytest.mark.parametrize(("factor", "rings"), [(1.0, (4000.0, 4160.0)), (0.9, ())])
def test_repeats_of_a_highest_value_are_drawn_only_where_they_are_of_its_point(
    factor: float, rings: tuple[float, ...]
) -> None:
    """A bar that is a tenth lower is below both repeats. So it can't be at the point where the repeats have their
    highest values."""
    of = "FROM measure.throughput WHERE operation = 'all'"
    sql = f"SELECT hardware, {factor} * avg(value) AS value {of} AND threads = 4 GROUP BY ALL"
    best = w.query(sql, ("hardware",), "ops/s", "max(throughput over threads)", [w.read("throughput")])
    sql = f"SELECT hardware, repeat, max(value) AS value {of} GROUP BY ALL"
    each = w.query(sql, ("hardware", "repeat"), "ops/s", "throughput")
    world = w.World({"disk": "Disk"}, {"a": "A"}, repeats=2)
    series = w.series("bar", best, "Throughput", "hardware", repeats=each)
    figure: p.FigureElement = w.figure("F", series, by={"hardware": w.keys({"disk": "Disk"})})
    found = drawing(figure, Results(world.plan(), world.store(), words("en")))
    assert [point.repeats for point in found.charts[0].traces[0].points] == [rings]
    assert any("maybe at another" in text or "may be at another" in text for text in (found.key, *found.notes))


def test_two_repeats_are_drawn_at_lying_bars_too() -> None:
    (chart,), width, height = CASES["flat_bars"]
    bar, *others = chart.traces
    twice = replace(bar, points=tuple(replace(p, repeats=(p.y or 0.0, (p.y or 0.0) + 1)) for p in bar.points))
    svg = draw([replace(chart, traces=(twice, *others))], width, height, "Inter", CONVERTER).svg
    assert len(RING.findall(svg)) == 2 * len(bar.points)


def test_a_curve_on_a_logarithmic_axis_leaves_out_what_is_zero_on_it() -> None:
    sql = "SELECT threads, value - 1000 AS value FROM measure.throughput WHERE operation = 'all'"
    x = w.query(sql, ("threads",), "ops/s", "throughput")
    curve = w.series("curve", w.throughput("threads"), "Throughput", "threads", x_query=x, x_label="Gain")
    world = w.World({"disk": "Disk"}, {"a": "A"}, repeats=1)
    figure: p.FigureElement = w.figure("F", curve, by={"threads": w.keys([1, 2, 4])}, log_x=True)
    found = drawing(figure, Results(world.plan(), world.store(), words("en")))
    (chart,) = found.charts
    assert chart.x.kind == "log"
    assert [point.y is None for point in chart.traces[0].points] == [True, False, False]
    assert found.notes == ("One point is zero or less and can't stand on a logarithmic axis.",)


@pytest.mark.parametrize("repeats", [1, 2, 3])
def test_a_point_has_the_sign_of_its_doubt_with_and_without_an_interval(
    monkeypatch: pytest.MonkeyPatch, repeats: int
) -> None:
    monkeypatch.setattr(Results, "doubt", lambda *_: Doubt("at_least"))
    (chart,) = made(repeats).charts
    assert {point.mark for point in chart.traces[0].points} == {"≥ "}


def test_a_curve_has_the_sign_of_its_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Results, "doubt", lambda *_: Doubt("at_least"))
    x = w.query("SELECT threads, threads AS value FROM measure.throughput", ("threads",), "ops/s", "x")
    curve = w.series("curve", w.throughput("threads"), "Throughput", "threads", x_query=x, x_label="Threads")
    world = w.World({"disk": "Disk"}, {"a": "A"}, repeats=1)
    figure: p.FigureElement = w.figure("F", curve, by={"threads": w.keys([1, 2, 4])})
    found = drawing(figure, Results(world.plan(), world.store(), words("en")))
    assert {point.mark for point in found.charts[0].traces[0].points} == {"≥ "}


@pytest.mark.parametrize(("mark", "named"), [("line", "Shaded bands"), ("bar", "Whiskers")])
def test_three_repeats_make_an_interval_that_the_note_names_as_it_is_drawn(mark: str, named: str) -> None:
    found = made(3, mark)
    points = found.charts[0].traces[0].points
    assert all(point.low is not None and point.repeats == () for point in points)
    assert [note.partition(":")[0] for note in found.notes] == [named]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((9500.0, 12200.0), ["9,500", "12,200"]),
        ((818.3, 21531.25), ["818.3", "21,531.3"]),
        ((0.5, 12.25), ["0.50", "12.25"]),
        ((3.0, 4.0, 0.0), ["3", "4", "0"]),
        ((-27.3, 79.0), ["−27.30", "79.00"]),
    ],
)
def test_the_numbers_at_bars_are_written_as_in_tables(values: tuple[float, ...], texts: list[str]) -> None:
    assert [point.text for point in bars(values, 657).chart.traces[0].points] == texts


def test_bars_without_room_have_no_numbers() -> None:
    assert bars((818.3, 21531.25), 657).bars_have_numbers
    assert not bars((818.3, 21531.25), 110).bars_have_numbers


def bars(values: Sequence[float], width: float) -> Plot:
    """Return a figure that shows these values as bars."""
    rows = {str(i): value for i, value in enumerate(values)}
    query = w.table_of(rows, "workload", "ops/s", "throughput")
    figure = w.figure(
        "F", w.series("bar", query, "Throughput", "workload"), by={"workload": w.keys({k: k for k in rows})}
    )
    world = w.World({"ssd": "SSD"}, {key: key for key in rows})
    (chart,) = drawing(figure, Results(world.plan(), world.store(), words("en"))).charts
    return Plot(chart, width, 240)
