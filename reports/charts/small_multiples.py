"""Small multiples: panels side by side on shared axes, under one legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from benchbrief.reports.charts.chart import SOFT, TEXT, Chart
from benchbrief.reports.charts.chart_axes import text_width, tick_labels
from benchbrief.reports.charts.chart_layout import Frame, LegendItem, Plot, heading_lines, legend, needs_legend, rows_of
from benchbrief.reports.charts.chart_texts import Text, axis_titles, legend_texts

_GAP = 16.0  # pixels between neighbours
_ROW = 18


@dataclass(frozen=True)
class Panel:
    """A plot with its upper left corner on the drawing. The first one has the figure's own texts and legend too."""

    plot: Plot
    x: float = 0.0
    y: float = 0.0
    texts: tuple[Text, ...] = ()
    legend: tuple[LegendItem, ...] = ()


def columns_for(panels: int) -> int:
    return panels if panels <= 3 else 2 if panels == 4 else 3


def rows_for(panels: int) -> int:
    return math.ceil(panels / columns_for(panels))


def arrange(charts: Sequence[Chart], width: float, height: float) -> tuple[Panel, ...]:
    """Return the place of each chart. Several share the extent of all traces, and have plot areas of one size."""
    if len(charts) == 1 and not charts[0].heading:
        return (Panel(Plot(charts[0], width, height)),)
    shared = [
        replace(chart, beside=tuple(t for other in charts if other is not chart for t in other.traces))
        for chart in charts
    ]
    alone = Plot(shared[0], width, height, Frame(0, 0, frozenset()))
    left = math.ceil(9 + alone.widest(alone.y))
    right = math.ceil(9 + alone.widest(alone.y_right)) if alone.y_right else 12.0
    columns, rows = columns_for(len(charts)), rows_for(len(charts))
    gap = max(_GAP, _labels_between(alone))
    inner = round((width - left - right - gap * (columns - 1)) / columns, 1)
    lines = max(len(heading_lines(chart.heading, inner)) for chart in shared)
    first = shared[0]
    items = legend(first, width, -left, 0.0) if needs_legend(first) else ()
    head, foot = 22.0 + _ROW * rows_of(items), 16.0 if first.x.title else 0.0
    each = (height - head - foot) / rows
    panels = []
    for index, chart in enumerate(shared):
        row, column = divmod(index, columns)
        ends_row = column == columns - 1 or index == len(shared) - 1
        sides: tuple[Literal["left", "right"], ...] = ("left",) if column == 0 else ()
        frame = Frame(
            left if column == 0 else 0.0,
            right if ends_row else 0.0,
            frozenset((*sides, *(("right",) if ends_row else ()))),
            lines,
        )
        plot = Plot(chart, frame.left + inner + frame.right, each, frame)
        x = 0.0 if column == 0 else left + column * (inner + gap)
        panels.append(Panel(plot, round(x, 1), round(head + row * each, 1)))
    top = panels[0].plot.top
    moved = tuple(replace(item, y=item.y - top - 16) for item in items)
    written = [
        *axis_titles(first, width, -left, -top - 8),
        *legend_texts(moved),
    ]
    if first.x.title:
        written.append(Text(first.x.title, (width - left - right) / 2, height - head - top - 7, "center", SOFT))
    panels[0] = replace(panels[0], texts=tuple(written), legend=moved)
    return tuple(panels)


def _labels_between(plot: Plot) -> float:
    """Return the pixels of half tick labels beyond a plot area's ends, with a blank between them."""
    if plot.chart.x.kind == "category":
        return 0.0
    labels = tick_labels(plot.x_ticks)
    return math.ceil((text_width(labels[0], TEXT) + text_width(labels[-1], TEXT)) / 2 + 8)
