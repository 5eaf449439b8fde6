"""Tests that lines with a single point become bars, and that an ideal does not flatten the measured values."""

from __future__ import annotations

from benchbrief.reports.charts.build_figure import drawing
from benchbrief.reports.charts.chart import Chart
from benchbrief.reports.charts.chart_layout import Plot
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.words.brief_words import words
from tests.reports import world as w

HARDWARE = {"hdd": "HDD", "nvme": "NVMe"}


def made(*threads: int, rates: dict[str, float], ideal: float = 0.0) -> Chart:
    world = w.World(HARDWARE, {"a": "A load"}, threads)
    rows = ", ".join(f"('{name}', {t}, {rates[name]!r})" for name in rates for t in threads)
    table = f"SELECT * FROM (VALUES {rows}) AS t (hardware, threads, value)"  # noqa: S608  # made up
    line = w.query(table, ("hardware", "threads"), "ops/s", "throughput", [w.read("throughput")])
    series = [w.series("line", line, "Throughput", "threads", color_dim="hardware")]
    if ideal:
        of = ", ".join(f"({t}, {ideal * t!r})" for t in threads)
        query = w.query(f"SELECT * FROM (VALUES {of}) AS t (threads, value)", ("threads",), "ops/s", "i")  # noqa: S608  # made up
        series.append(w.series("line", query, "ideal", "threads", dashed=True))
    figure = w.figure("F", *series, by={"threads": w.keys(threads), "hardware": w.keys(HARDWARE)})
    (chart,) = drawing(figure, Results(world.plan(), world.store(), words("en"))).charts
    return chart


def test_lines_of_one_point_become_bars() -> None:
    marks = [
        [trace.mark for trace in made(*threads, rates={"hdd": 10.0, "nvme": 30.0}).traces] for threads in ((4,), (4, 8))
    ]
    assert marks == [["bar", "bar"], ["line", "line"]]


def test_an_ideal_does_not_stand_beside_bars() -> None:
    chart = made(4, rates={"hdd": 10.0, "nvme": 30.0}, ideal=2.0)
    assert [trace.name for trace in chart.traces] == ["HDD", "NVMe"]


def test_a_single_line_stays_a_point_and_is_named_by_its_axis() -> None:
    chart = made(4, rates={"hdd": 10.0})
    assert [trace.mark for trace in chart.traces if any(p.y is not None for p in trace.points)] == ["line"]


def test_an_ideal_far_above_leaves_the_plot_area() -> None:
    near, far = (Plot(made(1, 8, rates={"hdd": 10.0, "nvme": 30.0}, ideal=ideal), 600, 240) for ideal in (5.0, 1000.0))
    assert near.y.high >= 40
    assert far.y.high <= 40
    assert not far.direct, "no name stands beyond the plot area"
