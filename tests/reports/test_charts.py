"""Tests the contents of a drawn chart, read back from its SVG."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET  # our own drawings
from dataclasses import replace

import pytest

from benchbrief.compiler.briefs.colours import mixed
from benchbrief.reports.charts import chart as chart_axes
from benchbrief.reports.charts import chart_texts
from benchbrief.reports.charts.chart import PALE, PALETTE, Chart, ChartPoint, Trace, XAxis, text_width
from benchbrief.reports.charts.chart_layout import Margins, Plot, arrange
from benchbrief.reports.charts.draw_chart import draw, margins_beside
from tests.reports.gallery import WORKLOADS, floating
from tests.support.drawn_once import CONVERTER

SVG = "{http://www.w3.org/2000/svg}"
THREADS = XAxis("Threads", "log", ticks=(1, 2, 4, 8))


def trace(name: str, *values: float | None, mark: str = "line", color: int | None = 0, **more: bool) -> Trace:
    xs = [1, 2, 4, 8] if mark in ("line", "curve") else range(len(values))
    points = tuple(ChartPoint(float(x), y, label=f"{x:g}") for x, y in zip(xs, values, strict=True))
    return Trace(name, mark, points, color, **more)  # type: ignore[arg-type]  # the mark is one of the four


def bar(name: str, *values: float | None, color: int = 0) -> Trace:
    return trace(name, *values, mark="bar", color=color)


def drawn(chart: Chart, width: int = 600, height: int = 240) -> ET.Element:
    svg = draw([chart], width, height, "Inter", CONVERTER).svg
    assert "NaN" not in svg
    assert "undefined" not in svg
    assert "http://" not in svg.replace("http://www.w3.org/", "")
    root = ET.fromstring(svg)  # noqa: S314  # our own drawing
    assert (root.get("width"), root.get("height")) == (str(width), str(height))
    return root


def texts(root: ET.Element) -> list[str]:
    return ["".join(t.itertext()) for t in root.iter(f"{SVG}text")]


def filled(root: ET.Element, color: str) -> list[str]:
    return [p.get("d", "") for p in root.iter(f"{SVG}path") if p.get("fill") == color]


def bars_of(root: ET.Element, color: str) -> list[tuple[float, float]]:
    """Return the top and the height of each bar. A bar above the plot area is a sample in the legend."""
    found = [re.match(r"M[-\d.]+,([-\d.]+)h[\d.]+v([\d.]+)h", d) for d in filled(root, color)]
    sizes = [(float(m[1]), float(m[2])) for m in found if m]
    return [(top, height) for top, height in sizes if top >= 0]


def lines(root: ET.Element, color: str) -> list[str]:
    found = [p for p in root.iter(f"{SVG}path") if p.get("stroke") == color and p.get("stroke-width") == "2"]
    return [p.get("d", "") for p in found if "L" in p.get("d", "")]


def test_the_axes_carry_their_titles_with_units_and_readable_ticks() -> None:
    root = drawn(Chart((trace("A", 8e3, 12e3, 15e3, 16e3),), THREADS, "Throughput (ops/s)"))
    found = texts(root)
    assert "Throughput (ops/s)" in found
    assert "Threads" in found
    assert {"0", "5,000", "10,000", "15,000", "20,000"} <= set(found)
    assert {"1", "2", "4", "8"} <= set(found)


def test_text_stays_text_in_the_font_of_the_page() -> None:
    root = drawn(Chart((trace("A", 1, 2, 3, 4),), THREADS, "Latency (ms)"))
    assert {t.get("font-family") for t in root.iter(f"{SVG}text")} == {"Inter"}


def test_labels_can_not_become_markup() -> None:
    hostile = "<script>alert('x')</script>&\""
    root = drawn(
        Chart((bar(hostile, 1, 2), bar("B", 2, 1, color=1)), XAxis(hostile, "category", ("a", hostile)), hostile)
    )
    assert list(root.iter(f"{SVG}script")) == []
    assert "".join(texts(root)).count("<script>alert('x')</script>") == 4


def test_a_missing_point_leaves_a_gap_in_its_line() -> None:
    whole, broken = (
        drawn(Chart((trace("A", 1, 2, third, 4), trace("B", 9, 9, 9, 9, color=1)), THREADS, "y"))
        for third in (3.0, None)
    )
    assert lines(whole, PALETTE[0])[0].count("L") == 3
    assert lines(broken, PALETTE[0])[0].count("L") == 1
    assert len(filled(broken, PALETTE[0])) == len(filled(whole, PALETTE[0])) - 1


def test_bars_stand_on_zero() -> None:
    root = drawn(Chart((bar("A", 90, 100), bar("B", 95, 99, color=1)), XAxis("", "category", ("a", "b")), "y"))
    assert len(bars_of(root, PALETTE[0])) == 2
    assert len({round(top + height, 1) for top, height in bars_of(root, PALETTE[0])}) == 1
    assert "0" in texts(root)


def test_a_missing_bar_is_not_drawn_as_zero() -> None:
    root = drawn(Chart((bar("A", 90, None), bar("B", 1, 1, color=1)), XAxis("", "category", ("a", "b")), "y"))
    assert len(bars_of(root, PALETTE[0])) == 1
    assert len(bars_of(root, PALETTE[1])) == 2


def test_two_axes_have_their_own_scales_on_one_grid() -> None:
    line = trace("Ratio", 28, 33, mark="bar", color=None, right=True)
    ratio = Trace(line.name, "line", line.points, None, right=True)
    chart = Chart((bar("HDD", 5, 6), bar("NVMe", 150, 198, color=1), ratio), XAxis("Threads", "category", ("48", "96")),
                  "Power efficiency (ops/s/W)", "Improvement (ratio)")  # fmt: skip
    found = texts(drawn(chart))
    assert {"Power efficiency (ops/s/W)", "Improvement (ratio)", "HDD", "NVMe", "Ratio"} <= set(found)
    assert {"200", "40"} <= set(found)


def test_a_curve_labels_its_points() -> None:
    points = tuple(ChartPoint(x, y, label) for x, y, label in ((8e3, 0.3, "1"), (12e3, 0.5, "2"), (15e3, 1.1, "4")))
    root = drawn(Chart((Trace("Disk", "curve", points, 0),), XAxis("Throughput (ops/s)", "linear"), "p99 (ms)"))
    assert {"1", "2", "4", "Throughput (ops/s)"} <= set(texts(root))


def test_the_last_tick_of_the_x_axis_is_not_cut_off() -> None:
    points = tuple(ChartPoint(x, 1.0, "1") for x in (100.0, 5900.0))
    root = drawn(Chart((Trace("A", "curve", points, 0),), XAxis("x", "linear"), "y"), 317, 212)
    (label,) = [t for t in root.iter(f"{SVG}text") if "".join(t.itertext()) == "6,000"]
    group = next(g for g in root.iter(f"{SVG}g") if "translate" in g.get("transform", ""))
    left, x = (float(re.findall(r"[-0-9.]+", e.get("transform", ""))[0]) for e in (group, label))
    assert left + x + chart_axes.text_width("6,000", 10.5) / 2 <= 317


def test_an_interval_is_drawn_as_a_band() -> None:
    points = tuple(ChartPoint(float(x), 10.0 * x, low=9.0 * x, high=11.0 * x) for x in (1, 2, 4))
    root = drawn(Chart((Trace("A", "line", points, 0),), XAxis("Threads", "log", ticks=(1, 2, 4)), "y"))
    assert [p for p in root.iter(f"{SVG}path") if p.get("opacity") == "0.16"]


def test_a_rule_is_drawn_dashed_with_its_name() -> None:
    rule = Trace("limit", "rule", (ChartPoint(0.0, 12.0),), None)
    root = drawn(Chart((trace("A", 10, 11, 12, 13), rule), THREADS, "y"))
    assert [e for e in root.iter(f"{SVG}line") if e.get("stroke-dasharray")]
    assert "limit" in texts(root)


def test_a_logarithmic_axis_has_powers_for_ticks() -> None:
    found = texts(drawn(Chart((trace("A", 0.02, 0.3, 4, 9),), THREADS, "p99 (ms)", log_y=True)))
    assert {"0.01", "0.1", "1", "10"} <= set(found)


def test_a_curve_may_have_two_logarithmic_axes_and_a_gap() -> None:
    points = (
        ChartPoint(100.0, 0.1, "1"),
        ChartPoint(0.0, None, "2"),
        ChartPoint(1e3, 1.0, "4"),
        ChartPoint(1e4, 10.0, "8"),
    )
    root = drawn(Chart((Trace("A", "curve", points, 0),), XAxis("ops/s", "log"), "p99 (ms)", log_y=True))
    ticks = {"".join(t.itertext()): t for t in root.iter(f"{SVG}text")}
    left, middle, right = (
        float(re.findall(r"[-0-9.]+", ticks[name].get("transform", ""))[0]) for name in ("100", "1,000", "10,000")
    )
    assert left == 0
    assert middle == pytest.approx(right / 2)


def test_the_right_axis_may_be_logarithmic_beside_a_linear_left_one_even_of_bars() -> None:
    slots = XAxis("Threads", "category", ("1", "2", "4", "8"))
    line = trace("B", 0.02, 0.3, 4, 9, color=1, right=True)
    in_slots = replace(line, points=tuple(replace(p, x=float(i)) for i, p in enumerate(line.points)))
    for x, left, right in ((THREADS, trace("A", 20, 40, 60, 80), line), (slots, bar("A", 20, 40, 60, 80), in_slots)):
        found = texts(drawn(Chart((left, right), x, "ops/s", "p99 (ms)", log_y_right=True)))
        assert {"0", "20", "80", "0.01", "0.1", "1", "10"} <= set(found)


def test_names_of_lines_stand_at_their_ends_where_they_are_apart_and_in_a_legend_where_not() -> None:
    apart = drawn(Chart((trace("Left", 1, 2, 3, 4), trace("Right", 5, 6, 7, 9, color=1)), THREADS, "y"))
    close = drawn(Chart((trace("Left", 1, 2, 3, 4), trace("Right", 5, 6, 7, 4.1, color=1)), THREADS, "y"))

    def weight(root: ET.Element) -> str | None:
        return next(t.get("font-weight") for t in root.iter(f"{SVG}text") if "".join(t.itertext()) == "Left")

    assert weight(apart) == "600"
    assert weight(close) != "600"


@pytest.mark.parametrize(
    "values", [(0.0, 0.0, 0.0, 0.0), (-3.0, 1.0, 2.0, 4.0), (1e-9, 2e-9, 3e-9, 1e-8), (1e12, 1.0, 2.0, 3.0)]
)
def test_odd_values_are_drawn(values: tuple[float, ...]) -> None:
    assert texts(drawn(Chart((trace("A", *values),), THREADS, "y")))


def test_a_single_point_is_drawn() -> None:
    chart = Chart(
        (Trace("A", "line", (ChartPoint(4.0, 10.0),), 0),), XAxis("Threads", "linear", ticks=(4,)), "y (ops/s)"
    )
    assert "4" in texts(drawn(chart))


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0, 24e3], ("0", "5,000", "10,000", "15,000", "20,000", "25,000")),
        ([0.3, 1.1], ("0.00", "0.25", "0.50", "0.75", "1.00", "1.25")),
        ([34.9], ("0", "10", "20", "30", "40")),
        ([1.2e7], ("0", "2.5M", "5.0M", "7.5M", "10.0M", "12.5M")),
        ([-4.0, 4.0], ("−4", "−2", "0", "2", "4")),
        ([7000.0], ("0", "2,000", "4,000", "6,000", "8,000")),
    ],
)
def test_ticks_are_round_and_start_at_zero(values: list[float], labels: tuple[str, ...]) -> None:
    assert chart_axes.nice_ticks(values).labels() == labels


def test_place_labels_keeps_them_off_each_other() -> None:
    area = chart_axes.Box(0, 0, 300, 200)
    labels = [chart_axes.Label("16", 100, 100), chart_axes.Label("32", 104, 101)]
    first, second = chart_axes.place_labels(labels, 10, area, [[(100, 100)], [(104, 101)]])
    assert first is not None
    assert second is not None
    assert first != second


def test_a_label_with_no_room_at_all_is_left_out() -> None:
    labels = [chart_axes.Label("1024", 100, 100)] * 20
    assert None in chart_axes.place_labels(labels, 10, chart_axes.Box(0, 0, 300, 200), [[(100, 100)]])


def test_points_of_several_curves_that_lie_together_have_one_label() -> None:
    values = {"A": (1.0, 2.0, 3.0, 4.0), "B": (1.01, 2.01, 3.01, 4.01), "C": (4.0, 8.0, 9.0, None)}
    curves = tuple(trace(name, *of_one, mark="curve") for name, of_one in values.items())
    plot = Plot(Chart(curves, XAxis("Throughput", "linear"), "p99 (ms)"), 600, 240)
    labels = [(text.text, text.series) for text in chart_texts.texts(plot) if text.inside]
    assert sorted(labels, key=str) == [*((key, of) for key in ("1", "2", "4") for of in (2, None)), ("8", None)]


def test_of_curves_with_the_same_points_one_has_labels_at_its_ends() -> None:
    values = {"A": (1.0, 2.0, 3.0, 4.0), "B": (1.0, 8.0, 9.0, 9.5)}
    curves = tuple(trace(name, *of_one, mark="curve") for name, of_one in values.items())
    plot = Plot(Chart(curves, XAxis("Throughput", "linear"), "p99 (ms)"), 600, 240)
    labels = [(text.text, text.series) for text in chart_texts.texts(plot) if text.inside]
    assert labels == [("1", None), ("8", None)]


def test_a_label_that_is_not_needed_covers_no_line() -> None:
    area, crowd = (
        chart_axes.Box(0, 0, 200, 200),
        [(float(x), float(y)) for x in range(60, 141, 4) for y in (90, 100, 110)],
    )
    for needed, lines in ((True, [crowd]), (False, [[(100.0, 100.0)]]), (False, [crowd])):
        (place,) = chart_axes.place_labels([chart_axes.Label("1024", 100, 100, needed)], 10, area, lines)
        assert (place is None) == (not needed and lines == [crowd])


def test_numbers_are_inside_all_bars_if_a_line_would_strike_one_through() -> None:
    bars = tuple(ChartPoint(float(at), y, text=f"{y:g}") for at, y in enumerate((100.0, 96.0, 80.0)))
    made = Trace("A", "bar", bars, 0), Trace("Highest", "rule", (ChartPoint(0.0, 100.0),), None)
    plot = Plot(Chart(made, XAxis("", "category", ("a", "b", "c")), "%"), 317, 212)
    inks = {text.text: text.color for text in chart_texts.texts(plot) if text.series == 0}
    assert inks == dict.fromkeys(("100", "96", "80"), chart_axes.PAPER)


@pytest.mark.parametrize("name", ["Reads", "A name that is too long to stand below a bar of this drawing " * 3])
def test_a_bar_that_may_be_longer_or_shorter_has_an_arrow(name: str) -> None:
    known, axis = bar("A", 5, 6), XAxis("", "category", (name, f"{name}!"))
    arrows = []
    for bound in ("", "at_least", "at_most"):
        made = replace(known, points=(replace(known.points[0], bound=bound), known.points[1]))
        paths = drawn(Chart((made,), axis, "y")).iter(f"{SVG}path")
        arrows.append([p.get("stroke") for p in paths if p.get("stroke-width") == "1.2"])
    assert arrows == [[], [chart_axes.INK], [chart_axes.PAPER]]


def test_each_panel_labels_the_ends_of_a_curve_that_it_draws() -> None:
    axis = XAxis("Throughput", "linear")
    panels = (
        (trace("A", 1.0, 2.0, None, None, mark="curve"), trace("B", 3.0, 4.0, None, None, mark="curve")),
        (trace("A", *[None] * 4, mark="curve"), trace("B", 3.0, 4.0, None, None, mark="curve")),
        (trace("Limit", 3.0, mark="rule"),),
    )
    charts = [Chart(each, axis, "p99 (ms)", heading=f"Panel {at}") for at, each in enumerate(panels)]
    labels = [[text.text for text in chart_texts.texts(each.plot) if text.inside] for each in arrange(charts, 800, 240)]
    assert labels == [["1", "2"], ["1", "2"], []]


def test_grid_lines_keep_off_the_numbers_of_bars_where_another_step_does() -> None:
    assert chart_axes.ticks_of_bars([117, 111], [117, 111]).values == (0, 50, 100, 150)
    assert chart_axes.ticks_of_bars([100, 40], [100, 40]) == chart_axes.nice_ticks([100, 40])


def test_a_series_that_is_compared_with_is_drawn_below_the_one_in_colour() -> None:
    own, grey = trace("Own", 1, 2, 3, 4), replace(trace("Other", 1, 2, 3, 4), given="#7a7a7a")
    svg = draw([Chart((own, grey), THREADS, "y")], 600, 240, "Inter", CONVERTER).svg
    assert svg.index('data-series="1"') < svg.index('data-series="0"')


def test_a_bar_for_the_worse_is_pale_in_its_colour() -> None:
    change = bar("Change", 40, -6)
    better, worse = change.points
    change = replace(change, points=(better, replace(worse, worse=True)))
    root = drawn(Chart((change,), XAxis("", "category", ("a", "b")), "%"))
    fills = (PALETTE[0], mixed(PALETTE[0], PALE))
    bars = [p for p in root.iter(f"{SVG}path") if p.get("fill") in fills]
    assert [(p.get("fill"), p.get("stroke")) for p in bars] == [(fills[0], None), (fills[1], PALETTE[0])]


@pytest.mark.parametrize("name", ["Reads", "A name that is too long to stand below a bar of this drawing " * 3])
def test_bars_in_a_broken_line_are_pale_in_one_and_so_is_their_sample(name: str) -> None:
    bars = (bar("A", 5, 6), replace(bar("Doubted", 9, 7, color=1), dashed=True))
    root = drawn(Chart(bars, XAxis("", "category", (name, f"{name}!")), "y"))
    marks = [p for p in root.iter(f"{SVG}path") if p.get("fill") == mixed(PALETTE[1], PALE)]
    assert [(p.get("fill-opacity"), p.get("stroke-dasharray")) for p in marks] == [(None, "5,3")] * 3
    assert {p.get("stroke-dasharray") for p in root.iter(f"{SVG}path") if p.get("fill") == PALETTE[0]} == {None}


def test_the_number_within_a_pale_bar_is_dark() -> None:
    spread = tuple(ChartPoint(float(at), 90.0, low=80.0, high=100.0, text="90") for at in range(4))
    inks = []
    for dashed in (False, True):
        made = Trace("A", "bar", spread, 0, dashed=dashed)
        plot = Plot(Chart((made,), XAxis("", "category", ("a", "b", "c", "d")), "y"), 130, 240)
        inks.append({text.color for text in chart_texts.texts(plot) if text.series == 0})
    assert inks == [{chart_axes.PAPER}, {chart_axes.INK}]


def test_a_number_is_beside_an_interval_that_reaches_far_above_its_bar() -> None:
    point = ChartPoint(0.0, 90.0, low=50.0, high=130.0, text="90")
    made = Trace("A", "bar", (point,), 0)
    plot = Plot(Chart((made,), XAxis("", "category", ("a",)), "y"), 400, 240)
    (number,) = (text for text in chart_texts.texts(plot) if text.series == 0)
    end = plot.y_pixel(made)(90.0)
    assert end - 10 < number.y < end
    assert number.x + text_width("90", number.size) / 2 < plot.spread_at(made, point) - 2


def test_figures_side_by_side_know_whether_one_legend_does_for_both() -> None:
    axis = XAxis("", "category", ("a", "b"))
    charts = [Chart((bar("A", 1, 2), bar(name, 2, 1, color=1)), axis, "y") for name in ("B", "B", "C")]
    same, other = (margins_beside([[charts[0]], [each]]) for each in charts[1:])
    assert (same.shared_legend, other.shared_legend) == (True, False)
    assert "A" not in texts(drawn_beside(charts[1], same))
    assert "A" in texts(drawn_beside(charts[1], replace(same, shared_legend=False)))


def drawn_beside(chart: Chart, least: Margins) -> ET.Element:
    return ET.fromstring(draw([chart], 317, 212, "Inter", CONVERTER, least).svg)  # noqa: S314  # our own drawing


def test_a_level_across_bars_has_its_name_at_its_right_end() -> None:
    level = Trace("best", "rule", (ChartPoint(0.0, 2.0),), None)
    plot = Plot(Chart((bar("A", 1, 2), level), XAxis("", "category", ("a", "b")), "y"), 317, 212)
    (name,) = (text for text in chart_texts.texts(plot) if text.text == "best")
    assert (name.x, name.y) == (plot.width + 5, plot.y_pixel(level)(2.0))
    assert plot.right > 12


@pytest.mark.parametrize("at", [1.0, 45.0, 95.0])
@pytest.mark.parametrize("name", ["1X", "The most of any other", "A level with a name " * 9])
def test_the_name_of_a_level_through_lying_ranges_stays_in_the_drawing(at: float, name: str) -> None:
    level = Trace(name, "rule", (ChartPoint(0.0, at),), None)
    plot = Plot(Chart((floating("A", [(8, 37), (30, 100), None]), level), WORKLOADS, "x"), 400, 240)
    assert plot.flat
    (shown,) = (text for text in chart_texts.texts(plot) if text.series == 1)
    wide = text_width(shown.text, shown.size)
    left = shown.x - wide * (shown.align == "right")
    assert -plot.left <= left <= left + wide <= plot.width + plot.right
    assert "…" in shown.text or shown.text == name


def test_ranges_with_several_levels_stand_so_that_each_has_its_name() -> None:
    levels = (Trace(f"Level {at}", "rule", (ChartPoint(0.0, at),), None) for at in (30.0, 32.0))
    assert not Plot(Chart((floating("A", [(8, 37), (30, 95), None]), *levels), WORKLOADS, "x"), 400, 240).flat


def test_a_few_bars_are_no_slabs() -> None:
    chart = Chart((bar("A", 65), bar("B", 70, color=1)), XAxis("", "category", ("Reads",)), "%")
    found = [re.match(r"M[-\d.]+,[-\d.]+h([\d.]+)v", d) for d in filled(drawn(chart), PALETTE[0])]
    assert 40 < max(float(each[1]) for each in found if each) <= 64


def test_names_are_below_bars_only_if_they_are_whole_and_different_and_else_in_the_legend() -> None:
    axis = XAxis("", "category", ("Reads",), alone=True)
    settings = [f"synchronous_commit={each}" for each in ("off", "on", "local", "remote_apply")]
    for names, has_legend in ((settings, True), (("Off", "On"), False), (("Off", "Off"), True)):
        plot = Plot(Chart(tuple(bar(name, 7, color=at) for at, name in enumerate(names)), axis, "%"), 400, 240)
        assert (plot.names_of_bars == [], [each.name for each in plot.legend]) == (
            has_legend,
            [*names] if has_legend else [],
        )


def test_a_legend_begins_at_the_left_edge_beside_a_figure_with_wider_numbers() -> None:
    chart = Chart((trace("A", 1, 2, 3, 4), trace("B", 1, 2, 3, 4, color=1)), THREADS, "y")
    plot = Plot(chart, 317, 212, least=Margins(left=90, beside=True))
    assert plot.left == 90
    assert min(item.x for item in plot.legend) == -90


def test_an_ideal_that_leaves_the_plot_area_at_once_is_not_in_the_legend() -> None:
    ideal = trace("Ideal", 500, 600, 700, 800, color=None, dashed=True, ideal=True)
    lines = (trace("A", 1, 2, 3, 4), trace("B", 1, 2, 3, 4, color=1))
    at_the_edge = trace("Ideal", 4, 600, 700, 800, color=None, dashed=True, ideal=True)
    assert "Ideal" not in texts(drawn(Chart((*lines, at_the_edge), THREADS, "y")))
    for shown in (ideal, trace("Ideal", 1, 600, 700, 800, color=None, dashed=True, ideal=True)):
        assert ("Ideal" in texts(drawn(Chart((*lines, shown), THREADS, "y")))) is (shown is not ideal)


def test_curves_have_their_values_alone_on_the_x_axis() -> None:
    points = tuple(ChartPoint(x, y) for x, y in ((16_000.0, 1.0), (42_000.0, 30.0)))
    chart = Chart((Trace("A", "curve", points, 0),), XAxis("Throughput (ops/s)", "linear"), "Latency (ms)")
    low, high = Plot(chart, 600, 240).x_domain
    assert (low, high) == (15_000, 45_000)
