"""The texts of a chart with their places in pixels: titles, legend, and names and numbers beside points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchbrief.reports.charts import chart_axes
from benchbrief.reports.charts.chart import INK, SMALL, SOFT, TEXT, Chart
from benchbrief.reports.charts.chart_axes import Box, text_width
from benchbrief.reports.charts.chart_layout import LINE, LegendItem, Plot, heading_lines, shorten


@dataclass(frozen=True)
class Text:
    """`series`: the one that it names, if any."""

    text: str
    x: float
    y: float
    align: str
    color: str
    size: float = TEXT
    bold: bool = False
    series: int | None = None


def texts(plot: Plot) -> list[Text]:
    chart = plot.chart
    found = [] if plot.frame else axis_titles(chart, plot.outer_width, -plot.left, -15)
    if chart.heading:
        lines = heading_lines(chart.heading, plot.width)
        for above, line in enumerate(reversed(lines)):
            found.append(Text(line, 0, -13 - LINE * above, "left", INK, bold=True))
    if chart.x.title and not plot.frame:
        found.append(Text(chart.x.title, plot.width / 2, plot.height + plot.bottom - 7, "center", SOFT))
    x = plot.x_pixel()
    for index, lines_of_label in enumerate(plot.wrapped_categories()):
        for row, line in enumerate(lines_of_label):
            found.append(Text(line, x(index), plot.height + 13 + 13 * row, "center", SOFT))
    found += legend_texts(plot.legend)
    for series, trace in enumerate(chart.traces) if plot.direct else ():
        end = trace.points[-1]
        if end.y is not None:
            at = plot.width if trace.mark == "rule" else x(end.x) + 3
            y = plot.y_pixel(trace)(end.y)
            found.append(Text(trace.name, at + 5, y, "left", darken_for_text(trace.paint), bold=True, series=series))
    return [*found, *_point_labels(plot)]


def axis_titles(chart: Chart, width: float, left: float, y: float) -> list[Text]:
    """Return titles above the plot area, from `left` on and as wide as `width`, so that nobody has to turn the head."""
    right = shorten(chart.right, width / 2 if chart.left else width) if chart.right else ""
    room = width - (text_width(right, TEXT) + 12 if right else 0)
    found = [Text(shorten(chart.left, room), left, y, "left", SOFT)]
    if right:
        found.append(Text(right, left + width, y, "right", SOFT))
    return found


def legend_texts(items: Sequence[LegendItem]) -> list[Text]:
    return [Text(item.name, item.x + (17 if item.trace.mark == "bar" else 24), item.y, "left", INK) for item in items]


def _point_labels(plot: Plot) -> list[Text]:
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
        Text(text, px + place.dx, py + place.dy, place.align, darken_for_text(trace.paint), SMALL, series=series)
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
