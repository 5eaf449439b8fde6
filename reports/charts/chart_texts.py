"""The texts in and around the plot area of a chart: names along its axes, and numbers and labels at its marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchbrief.reports.charts import chart as chart_axes
from benchbrief.reports.charts.bar_marks import brackets, numbers_at_bars
from benchbrief.reports.charts.chart import INK, SMALL, SOFT, Box
from benchbrief.reports.charts.chart_layout import LINE, ChartText, Plot, axis_titles, heading_lines, legend_texts


def texts(plot: Plot) -> list[ChartText]:
    chart = plot.chart
    found = [] if plot.frame else axis_titles(chart, plot.outer_width, -plot.left, -15 - plot.headroom)
    if chart.heading:
        lines = heading_lines(chart.heading, plot.width)
        for above, line in enumerate(reversed(lines)):
            found.append(ChartText(line, 0, -13 - plot.headroom - LINE * above, "left", INK, bold=True))
    if chart.x.title and not plot.frame:
        found.append(ChartText(chart.x.title, plot.width / 2, plot.height + plot.bottom - 7, "center", SOFT))
    x = plot.x_pixel()
    for index, lines_of_label in enumerate(plot.wrapped_categories()):
        for row, line in enumerate(lines_of_label):
            found.append(ChartText(line, x(index), plot.height + 13 + 13 * row, "center", SOFT))
    found += legend_texts(plot.legend)
    for series, trace in enumerate(chart.traces) if plot.direct else ():
        end = trace.points[-1]
        if end.y is not None:
            at = plot.width if trace.mark == "rule" else x(end.x) + 3
            y = plot.y_pixel(trace)(end.y)
            found.append(
                ChartText(trace.name, at + 5, y, "left", darken_for_text(trace.paint), bold=True, series=series)
            )
    among = [*_point_labels(plot), *numbers_at_bars(plot), *(each.text for each in brackets(plot))]
    return [*found, *(replace(text, inside=True) for text in among)]


def _point_labels(plot: Plot) -> list[ChartText]:
    curves = [(series, t) for series, t in enumerate(plot.chart.traces) if t.mark == "curve"]
    x = plot.x_pixel()
    lines, named = [], []
    for series, trace in curves:
        y = plot.y_pixel(trace)
        shown = [(p, x(p.x), y(p.y)) for p in trace.points if p.y is not None]
        lines.append([(px, py) for _, px, py in shown])
        named += [(series, trace, p.label, px, py) for p, px, py in shown if p.label]
    area = Box(-4, -4, plot.width + plot.right, plot.height)
    places = chart_axes.place_labels(
        [chart_axes.Label(text, px, py) for _, _, text, px, py in named], SMALL, area, lines
    )
    return [
        ChartText(text, px + place.dx, py + place.dy, place.align, darken_for_text(trace.paint), SMALL, series=series)
        for (series, trace, text, px, py), place in zip(named, places, strict=True)
        if place is not None
    ]


def darken_for_text(color: str) -> str:
    """Return the colour, darkened to a contrast of 4.5 to 1 on white (WCAG 2.2, 1.4.3)."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    while 1.05 / (_luminance(channels) + 0.05) < 4.5:
        channels = [c * 0.95 for c in channels]
    return "#" + "".join(f"{round(c * 255):02x}" for c in channels)


def _luminance(channels: Sequence[float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
