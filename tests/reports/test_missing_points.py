"""Tests a figure's footnotes about missing points, lines through time, and marks."""

# ruff: noqa: S608  # the SQL is over made-up values

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchbrief.model import plan as p
from benchbrief.reports.charts.build_figure import Drawing, drawing
from benchbrief.reports.charts.chart_layout import Plot
from benchbrief.reports.charts.drawn_series import figure_csv
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.words.brief_words import words
from tests.reports import world as w

HARDWARE = {"disk": "Disk", "ram": "RAM"}


def over_time(samples: Mapping[str, Sequence[tuple[float | None, float | None]]]) -> Drawing:
    rows = ", ".join(
        f"('{name}', {'NULL' if at is None else at}::DOUBLE, {'NULL' if value is None else value}::DOUBLE)"
        for name, own in samples.items()
        for at, value in own
    )
    sql = f"SELECT * FROM (VALUES {rows}) AS t (hardware, time, value)"
    query = w.query(sql, ("hardware", "time"), "cores", "cpu")
    return drawn(w.series("line", query, "Busy cores", "time", color_dim="hardware"), by={})


def drawn(*series: p.Series, by: Mapping[str, tuple[p.LabelledKey, ...]]) -> Drawing:
    world = w.World(HARDWARE, {"a": "A load"})
    figure = w.figure("F", *series, by={"hardware": w.keys(HARDWARE), **by})
    return drawing(figure, Results(world.plan(), world.store(), words("en")))


def test_series_that_were_sampled_at_other_moments_lack_no_points() -> None:
    found = over_time({"disk": [(0.1, 1.0), (1.1, 1.2), (2.1, 1.1)], "ram": [(0.4, 1.0), (1.4, 1.1), (2.4, 1.3)]})
    assert found.notes == ()
    assert [len(one.trace.points) for one in found.series] == [3, 3]
    assert all(point.y is not None for one in found.series for point in one.trace.points)
    assert len(found.data) == 6


def test_a_line_breaks_where_samples_were_missed_which_is_said_once() -> None:
    found = over_time({"disk": [(float(t), 1.0) for t in (0, 1, 2, 9, 10)], "ram": [(t + 0.3, 2.0) for t in range(11)]})
    assert found.notes == ("A line breaks at one place, where no sample was taken.",)
    assert [point.x for point in found.series[0].trace.points if point.y is None] == [3.0]


def test_a_sample_without_a_value_is_a_missing_point() -> None:
    found = over_time({"disk": [(0.0, 1.0), (1.0, None), (2.0, 1.0)], "ram": [(0.5, 2.0), (1.5, 2.0), (2.5, 2.0)]})
    assert [note.split(" (")[0] for note in found.notes] == ["1 of 6 points are missing and left as gaps"]


def test_a_series_without_any_sample_is_named() -> None:
    found = over_time({"disk": [(0.0, 1.0), (1.0, 1.0)], "ram": [(None, None)]})
    assert [note.split(" (")[0] for note in found.notes] == ["“RAM” has no values"]
    assert "RAM: no values." in found.alt


def test_a_mark_is_no_point() -> None:
    threads = {"threads": w.keys([1, 2, 4])}
    line = w.series(
        "line", w.throughput("hardware", "threads", workload="a"), "Throughput", "threads", color_dim="hardware"
    )
    missing = w.series("rule", w.query("SELECT NULL::DOUBLE AS value", (), "threads", "knee"), "Knee", "threads")
    (note,) = drawn(line, missing, by=threads).notes
    assert note == "“Knee” is not marked (the measurements give no such value)."
    shown = w.series("rule", w.constant(2.0, "threads", "knee"), "Knee", "threads")
    assert drawn(line, shown, by=threads).notes == ()


def test_the_data_of_a_line_through_time_are_its_own_samples() -> None:
    found = over_time({"disk": [(0.1, 1.0), (1.1, 1.2)], "ram": [(0.4, 1.0), (1.4, 1.1)]})
    rows = figure_csv(found.series, w.figure("F", found.series[0].series, by={})).splitlines()
    assert len(rows) == 1 + 4


def test_a_label_is_no_formula_in_the_data_of_a_figure() -> None:
    found = over_time({"disk": [(0.0, -1.0), (1.0, 1.2)]}).series[0]
    hostile = replace(found, trace=replace(found.trace, name="=1+1"))
    _, first, _ = csv.reader(io.StringIO(figure_csv([hostile], w.figure("F", found.series, by={}))))
    assert first[0] == "'=1+1"
    assert "-1.0" in first


def test_a_mark_that_is_missing_leaves_a_logarithmic_axis_as_it_is() -> None:
    threads = {"threads": w.keys([1, 2, 4])}
    line = w.series("line", w.throughput("threads", workload="a", hardware="disk"), "Throughput", "threads")
    knee = w.series("rule", w.query("SELECT NULL::DOUBLE AS value", (), "threads", "knee"), "Knee", "threads")
    (chart,) = drawn(line, knee, by=threads).charts
    assert chart.x.kind == "log"
    assert Plot(chart, 600, 240).x_domain == (1 / 1.12, 4 * 1.12)
