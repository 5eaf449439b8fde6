"""Tests charts of slides that are more than plain bars and lines, in the file that PowerPoint opens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pptx
import pytest
from pptx.enum.dml import MSO_LINE
from pptx.oxml.ns import qn
from pptx.util import Pt

from benchbrief.compiler.briefs.colours import mixed
from benchbrief.reports.charts.chart import PALETTE, Chart, ChartPoint, Trace, XAxis
from benchbrief.reports.charts.native_charts import native_charts
from benchbrief.reports.data.native_chart import NativeSeries
from benchbrief.reports.office.slide_charts import add_charts, can_draw
from benchbrief.reports.office.slide_masters import Area, rgb
from tests.reports.gallery import WORKLOADS, bars, curve, floating, in_slots, line

_AREA = Area(40, 100, 800, 380)


def drawn(*traces: Trace) -> tuple[Any, Any]:
    """Draw a chart of these traces on a new slide, and return the slide and its chart."""
    charts = native_charts([Chart(traces, WORKLOADS, "Throughput (ops/s)")])
    assert can_draw(charts)
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    add_charts(slide, charts, _AREA, "What the figure shows", "Figure 1", "#000000")
    return slide, next(shape.chart for shape in slide.shapes if shape.has_chart)


def test_a_range_goes_from_its_lowest_value_to_its_highest() -> None:
    pairs = ((200, 300), (150, 400), (2, 3))
    _, chart = drawn(floating("HDD", pairs), floating("NVMe", pairs, 1))
    columns, lines = chart.plots
    lowest, spans, _ = columns.series
    free = (None,) * 2
    assert tuple(lowest.values) == (None, 200, 200, *free, 150, 150, *free, 2, 2, None)
    assert tuple(spans.values) == (None, 100, None, *free, 250, None, *free, 1, None, None)
    assert [tuple(each.values)[5] for each in lines.series] == [150, 400]
    assert lines.series[1].points[9].data_label.text_frame.text == "2X to 3X"  # for which there is no room below


def test_ranges_of_one_series_lie_flat_with_their_texts_and_a_level_beside_them() -> None:
    level = Trace("1X: HDD", "rule", (ChartPoint(0.0, 1.0),), None)
    slide, chart = drawn(floating("Ratio", ((20, 30), None, (2, 3))), level)
    (columns,) = chart.plots
    before, spans, after = columns.series
    assert [tuple(each.values) for each in (before, spans)] == [(20, None, 2), (10, None, 1)]
    texts = [after.points[place].data_label.text_frame.text.strip() for place in (0, 2)]
    assert texts == ["20X to 30X", "2X to 3X"]
    assert chart.category_axis.reverse_order  # the first one is at the top
    group = next(shape for shape in slide.shapes if shape.name == "1X: HDD")
    line, name = group.shapes
    assert (name.text_frame.text, line.left > slide.shapes[0].left) == ("1X: HDD", True)
    assert not [shape for shape in slide.shapes if shape.has_text_frame and "Ratio" in shape.text_frame.text]  # no key


def test_a_chart_without_a_heading_has_no_title_to_print() -> None:
    _, chart = drawn(bars("HDD", (110, 80, 90)))
    assert chart._chartSpace.chart.find(qn("c:title")) is None
    assert chart._chartSpace.chart.autoTitleDeleted.val  # or else programs print the name of the series


def test_an_axis_ends_where_the_page_s_figure_ends() -> None:
    _, chart = drawn(bars("HDD", (110, 80, 90)), bars("NVMe", (30, 487, 95), 1))
    assert (chart.value_axis.minimum_scale, chart.value_axis.maximum_scale) == (0, 600)
    assert chart.value_axis.major_unit == 200


def test_a_bracket_stands_above_its_bars() -> None:
    ratios = tuple(ChartPoint(float(at), 2.0, f"{at + 2}X") for at in range(3))
    slide, chart = drawn(
        bars("HDD", (10, 20, 30)), bars("NVMe", (20, 60, 120), 1), Trace("Ratio", "bracket", ratios, 2)
    )
    assert [series.name for series in chart.plots[0].series] == ["HDD", "NVMe"]
    key, *groups = [shape for shape in slide.shapes if shape.shape_type is not None and "Ratio" in shape.name]
    assert [key.name, *(group.name for group in groups)] == ["Ratio", "Ratio 2X", "Ratio 3X", "Ratio 4X"]
    assert [shape.text_frame.text for shape in key.shapes] == ["", "Ratio"]  # with a bracket before it
    tops = [group.top for group in groups]
    assert tops == sorted(tops, reverse=True)  # the bars rise
    assert all(Pt(_AREA.top) <= top for top in tops)


def test_a_reference_line_goes_through_no_number() -> None:
    level = Trace("Highest", "rule", (ChartPoint(0.0, 100.0),), None)
    _, chart = drawn(bars("HDD", (96, 60, 70)), bars("NVMe", (100, 91, 100), 1), level)
    columns, lines = chart.plots
    assert [series.name for series in lines.series] == ["Highest"]
    assert {str(series.data_labels.position) for series in columns.series} == {"INSIDE_END (3)"}


def test_a_reference_line_has_its_name_at_its_end_and_not_in_the_key() -> None:
    slide, chart = drawn(bars("HDD", (96, 60, 70)), Trace("Highest", "rule", (ChartPoint(0.0, 100.0),), None))
    label = chart.plots[1].series[0].points[2].data_label._dLbl
    assert label.find(qn("c:showSerName")).get("val") == "1"
    assert float(label.find(f".//{qn('c:x')}").get("val")) > 0.1  # half a slot away
    assert not [shape.name for shape in slide.shapes if shape.has_text_frame and "Highest" in shape.text_frame.text]


def test_lines_have_their_values_at_both_ends_without_touching() -> None:
    _, chart = drawn(in_slots(line("HDD", (300, 200, 326.7))), in_slots(line("NVMe", (90, 80, 325.1), 1)))
    labels = [[series.points[at].data_label for series in chart.plots[0].series] for at in (0, 2)]
    assert [str(each.position) for ends in labels for each in ends] == ["LEFT (-4131)"] * 2 + ["RIGHT (-4152)"] * 2
    forms = [each._dLbl.find(qn("c:numFmt")).get("formatCode") for each in labels[1]]
    assert forms == ["#,##0"] * 2  # with three digits
    down = float(labels[1][1]._dLbl.find(f".//{qn('c:y')}").get("val")) * _AREA.height
    assert down > 12


def test_curves_have_labels_at_their_first_and_last_points_if_they_have_the_same_ones() -> None:
    pairs = ((10_000, 2), (20_000, 5), (30_000, 20))
    steep = curve("NVMe", [(x / 4, y * 2) for x, y in pairs], 1)
    charts = native_charts([Chart((curve("HDD", pairs), steep), XAxis("Throughput", "linear"), "Latency", log_y=True)])
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    add_charts(slide, charts, _AREA, "What the figure shows", "Figure 1", "#000000")
    chart = next(shape.chart for shape in slide.shapes if shape.has_chart)
    labels = [series.points[at].data_label for series in chart.plots[0].series for at in range(3)]
    assert [each.text_frame.text if each.has_text_frame else "" for each in labels] == ["1", "", "4"] * 2
    assert chart.value_axis.maximum_scale == charts[0].ticks[-1] == 50  # as the page's axis, and not 100


def test_repeats_are_rings_on_their_bars() -> None:
    plain = bars("HDD", (10, 20, 30))
    slide, chart = drawn(replace(plain, points=(replace(plain.points[0], repeats=(8, 12)), *plain.points[1:])))
    _, *rings = next(shape for shape in slide.shapes if hasattr(shape, "shapes")).shapes  # on a line
    assert [ring.name for ring in rings] == ["HDD 8", "HDD 12"]
    assert rings[0].top > rings[1].top
    label = chart.plots[0].series[0].points[0].data_label
    assert str(label.position).startswith("INSIDE_BASE"), "above the rings it would be read at their height"


def test_bounds_have_their_texts_and_an_arrow() -> None:
    plain = bars("HDD", (2, 1.5, 1.8))
    texts = ("2.0 or more", "1.5", "up to 1.8")
    points = [replace(point, text=text) for point, text in zip(plain.points, texts, strict=True)]
    points[0] = replace(points[0], bound="at_least")
    slide, chart = drawn(replace(plain, points=tuple(points)))
    arrow = next(shape for shape in slide.shapes if shape.name == "HDD Session store")
    assert arrow.line._ln.find(qn("a:tailEnd")).get("type") == "arrow"
    shown = [chart.plots[0].series[0].points[at].data_label.text_frame.text for at in range(3)]
    assert shown == list(texts)


def test_a_change_for_the_worse_is_a_pale_bar() -> None:
    plain = bars("Change", (10, -20, 30))
    points = tuple(replace(point, worse=(point.y or 0) < 0) for point in plain.points)
    _, chart = drawn(replace(plain, points=points))
    (series,) = chart.plots[0].series
    fills = [series.points[at].format.fill for at in range(2)]
    assert fills[1].fore_color.rgb == rgb("#cce3f0")
    assert fills[0].type is None  # as the whole series


def test_bars_in_a_broken_line_are_pale_in_one_and_so_is_their_sign() -> None:
    slide, chart = drawn(bars("HDD", (96, 60, 70)), replace(bars("Doubted", (100, 91, 100), 1), dashed=True))
    solid, broken = (series.format for series in chart.plots[0].series)
    assert (broken.line.dash_style, solid.line.dash_style) == (MSO_LINE.DASH, None)
    assert solid.fill.fore_color.rgb == rgb(PALETTE[0])
    assert broken.fill.fore_color.rgb == rgb(mixed(PALETTE[1], 0.8))
    assert any("□ Doubted" in shape.text_frame.text for shape in slide.shapes if shape.has_text_frame)


def test_a_range_below_zero_is_a_picture() -> None:
    """Office programs stack values below 0 separately, so they would draw a range from -5 to 8 up to 13."""
    points = tuple(ChartPoint(float(at), -5.0, "-5 to 8", end=8.0, ends=("-5", "8")) for at in range(3))
    assert not can_draw(native_charts([Chart((Trace("HDD", "range", points, 0),), WORKLOADS, "Change (%)")]))


def test_bars_that_are_all_zero_are_drawn() -> None:
    _, chart = drawn(bars("Errors", (0, 0, 0)))
    assert tuple(chart.plots[0].series[0].values) == (0, 0, 0)


@pytest.mark.parametrize(("values", "level"), [((1.0, 1.0), True), ((1.0, 2.0), False), ((None, None), False)])
def test_a_broken_line_is_a_level_if_it_has_one_known_value(values: tuple[float | None, ...], *, level: bool) -> None:
    assert NativeSeries("Limit", "line", "#0072b2", values, dashed=True).is_level is level
