"""Places labels with arrows so that they cover as little as possible. The labels are notes at points, and the names of
knees, promises and other marks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.bar_marks import brackets, floating_bars
from benchbrief.reports.charts.chart import INK, SMALL, SOFT, Box, ChartPoint, Trace, text_width
from benchbrief.reports.charts.chart_layout import NUMBER, ChartText, Plot, darken_for_text, wrap

_LINE = 12.0
"""The distance in pixels between the lines of a label."""
_GRID = 4
"""The distance in pixels between the positions that are tried, and the size of a cell in the grid of costs."""
_WIDEST = 170.0
_TEXT, _MARK, _BAR = 100.0, 20.0, 12.0
"""The costs of covering a cell of the grid that contains a text, a line or point, or a bar."""

_Spot = tuple[float, float]


@dataclass(frozen=True)
class ArrowLabel:
    """A text of one or more lines, with arrows that each lead from the edge of the text to a tip."""

    lines: tuple[ChartText, ...]
    arrows: tuple[tuple[_Spot, _Spot], ...]


@dataclass(frozen=True)
class _Wanted:
    """A label to be placed. Each of its `targets` is a point, or a line whose nearest point becomes the tip of an
    arrow."""

    text: str
    color: str
    targets: tuple[tuple[_Spot, _Spot], ...]
    series: int | None
    gap: float
    """The distance in pixels between an arrow's tip and its target, which keeps the arrow off the target's marker."""


def arrow_labels(plot: Plot, texts: Sequence[ChartText]) -> list[ArrowLabel]:
    """Return the labels of a chart, placed where they cover the least. `texts` are the texts already in the chart."""
    wanted = [*_notes(plot), *_marks(plot)]
    if not wanted:
        return []
    covered = _Covered(plot, texts)
    found = []
    for each in wanted:
        lines = [line for line in wrap(each.text, min(_WIDEST, plot.width * 0.45), 4) if line]
        width = max((text_width(line, SMALL) for line in lines), default=0.0)
        box = covered.best(width, _LINE * len(lines), each)
        found.append(_placed(each, lines, box))
        covered.add(box, _TEXT)
    return found


def _placed(wanted: _Wanted, lines: Sequence[str], box: Box) -> ArrowLabel:
    middle = (box.left + box.right) / 2
    texts = tuple(
        ChartText(
            line, middle, box.top + _LINE * (i + 0.5), "center", wanted.color, SMALL, series=wanted.series, inside=True
        )
        for i, line in enumerate(lines)
    )
    arrows = []
    for target in wanted.targets:
        tip = _nearest(target, ((box.left + box.right) / 2, (box.top + box.bottom) / 2))
        start = (min(max(tip[0], box.left), box.right), min(max(tip[1], box.top), box.bottom))
        length = math.dist(start, tip)
        if length > wanted.gap + 4:
            share = (length - wanted.gap) / length
            arrows.append((start, (start[0] + (tip[0] - start[0]) * share, start[1] + (tip[1] - start[1]) * share)))
    return ArrowLabel(texts, tuple(arrows))


def _nearest(target: tuple[_Spot, _Spot], spot: _Spot) -> _Spot:
    (x0, y0), (x1, y1) = target
    return (min(max(spot[0], min(x0, x1)), max(x0, x1)), min(max(spot[1], min(y0, y1)), max(y0, y1)))


def _notes(plot: Plot) -> Iterator[_Wanted]:
    x = plot.x_pixel()
    for note in plot.chart.notes:
        spots: dict[_Spot, float] = {}
        for trace, point in ((trace := plot.chart.traces[place], trace.points[i]) for place, i in note.points):
            y = plot.y_pixel(trace)
            if point.y is None:
                continue
            if trace.stands_in_slot:
                spots[_above_bar(plot, trace, point)] = 2.0
            else:
                spots[x(point.x), y(point.y)] = 6.0
        if spots:
            yield _Wanted(note.text, INK, tuple((spot, spot) for spot in spots), None, max(spots.values()))


def _above_bar(plot: Plot, trace: Trace, point: ChartPoint) -> _Spot:
    """Return the position above a bar and above its number and brackets."""
    left, right = plot.bar(trace, point.x)
    over = [each for each in brackets(plot) if each.left <= right and each.right >= left]
    if over:
        highest = min(over, key=lambda each: each.y)
        return highest.text.x, highest.text.y - 7
    top = min(plot.y_pixel(trace)(v) for v in (0.0 if trace.mark == "bar" else point.extent[0], *point.extent))
    return (left + right) / 2, top - (NUMBER if trace.mark == "range" or plot.bars_have_numbers else 0)


def _marks(plot: Plot) -> Iterator[_Wanted]:
    """Yield the names of marks that are not in the legend, including the line for "no difference"."""
    x = plot.x_pixel()
    if plot.is_even and not (plot.frame and "left" not in plot.frame.numbers):
        at = plot.base_pixel
        yield _Wanted(plot.chart.even, SOFT, (((2.0, at), (plot.width - 2.0, at)),), None, 1.0)
    for series, trace in enumerate(plot.chart.traces):
        if not plot.is_pointed_at(trace) or trace is plot.named_at_end:
            continue
        y = plot.y_pixel(trace)
        (point,) = (each for each in trace.points if each.y is not None)
        if point.upright:
            line = ((x(point.x), 2.0), (x(point.x), plot.height - 2.0))
        else:
            line = ((2.0, y(point.y or 0.0)), (plot.width - 2.0, y(point.y or 0.0)))
        yield _Wanted(trace.name, darken_for_text(trace.paint), (line,), series, 1.0)


class _Covered:
    """The cost of covering each cell of the plot area."""

    def __init__(self, plot: Plot, texts: Sequence[ChartText]) -> None:
        self.top = -plot.headroom
        self.columns = max(1, int(plot.width / _GRID))
        self.rows = max(1, int((plot.height - self.top) / _GRID))
        self.costs = [[0.0] * self.columns for _ in range(self.rows)]
        for trace in plot.chart.traces:
            for box, cost in _boxes(plot, trace):
                self.add(box, cost)
        for text in texts:
            width = text_width(text.text, text.size) * (1.08 if text.bold else 1)
            left = text.x - {"left": 0.0, "center": width / 2, "right": width}[text.align]
            self.add(Box(left - 2, text.y - text.size / 2, left + width + 2, text.y + text.size / 2), _TEXT)

    def add(self, box: Box, cost: float) -> None:
        top, bottom = (int((edge - self.top) / _GRID) for edge in (box.top, box.bottom))
        rows = range(max(0, top), min(self.rows, bottom + 1))
        columns = range(max(0, int(box.left / _GRID)), min(self.columns, int(box.right / _GRID) + 1))
        for row in rows:
            of_row = self.costs[row]
            for column in columns:
                of_row[column] = max(of_row[column], cost)

    def best(self, width: float, height: float, wanted: _Wanted) -> Box:
        """Return the best position for a label: near its targets, covering as little as possible, and with arrows that
        cross as few texts as possible."""
        wide = min(self.columns, math.ceil((width + 4) / _GRID))
        high = min(self.rows, math.ceil((height + 2) / _GRID))
        sums = self._sums()
        choices = []
        for row in range(0, self.rows - high + 1, 2):
            above, below = sums[row], sums[row + high]
            for column in range(0, self.columns - wide + 1, 2):
                cost = below[column + wide] - above[column + wide] - below[column] + above[column]
                left, top = column * _GRID + 2.0, row * _GRID + self.top + 1
                middle = (left + width / 2, top + height / 2)
                away = 0.0
                for target in wanted.targets:
                    x, y = _nearest(target, middle)
                    across = max(0.0, abs(x - middle[0]) - width / 2)
                    down = max(0.0, abs(y - middle[1]) - height / 2)
                    apart = math.hypot(across, down)
                    away += abs(apart - 22.0) * 0.15 + (10.0 if apart < wanted.gap + 8 else 0.0)
                choices.append((cost + away, left, top))
        choices.sort()
        ranked = (
            (cost + self._crossed(left, top, width, height, wanted), left, top) for cost, left, top in choices[:60]
        )
        _, left, top = min(ranked, default=(0.0, 2.0, 0.0))
        return Box(left, top, left + width, top + height)

    def _crossed(self, left: float, top: float, width: float, height: float, wanted: _Wanted) -> float:
        """Return the cost of the texts that the arrows of a label would cross from this position."""
        cost = 0.0
        for target in wanted.targets:
            tip = _nearest(target, (left + width / 2, top + height / 2))
            start = (min(max(tip[0], left), left + width), min(max(tip[1], top), top + height))
            steps = max(1, int(math.dist(start, tip) / _GRID))
            for step in range(1, steps):
                x, y = (a + (b - a) * step / steps for a, b in zip(start, tip, strict=True))
                row, column = int((y - self.top) / _GRID), int(x / _GRID)
                if 0 <= row < self.rows and 0 <= column < self.columns:
                    cost += self.costs[row][column] >= _TEXT
        return cost * _TEXT

    def _sums(self) -> list[list[float]]:
        """For each cell, return the sum of the costs above and to the left of it."""
        sums = [[0.0] * (self.columns + 1)]
        for row in self.costs:
            above, total, of_row = sums[-1], 0.0, [0.0]
            for column, cost in enumerate(row):
                total += cost
                of_row.append(above[column + 1] + total)
            sums.append(of_row)
        return sums


def _boxes(plot: Plot, trace: Trace) -> Iterator[tuple[Box, float]]:
    """Yield the boxes that a trace covers, with the cost of covering each."""
    x, y = plot.x_pixel(), plot.y_pixel(trace)
    if trace.mark == "rule":
        for point in (each for each in trace.points if each.y is not None):
            at = x(point.x) if point.upright else y(point.y or 0.0)
            yield (
                Box(at - 2, 0.0, at + 2, plot.height) if point.upright else Box(0.0, at - 2, plot.width, at + 2),
                _MARK,
            )
        return
    if trace.mark == "bracket":
        for each in (one for one in brackets(plot) if one.trace is trace):
            yield Box(each.left, each.y - 1, each.right, each.y + 5), _MARK
        return
    if trace.mark == "range":
        for bar in floating_bars(plot, trace):
            yield Box(bar.left, bar.top, bar.right, bar.bottom), _BAR
        return
    known = [(point, x(point.x), y(point.y)) for point in trace.points if point.y is not None]
    for point, px, py in known:
        if trace.mark == "bar":
            left, right = plot.bar(trace, point.x)
            yield Box(left, min(py, y(0.0)), right, max(py, y(0.0))), _BAR
            if point.low is not None and point.high is not None:
                at = plot.spread_at(trace, point)
                yield Box(at - 2, y(point.high), at + 2, y(point.low)), _MARK
        else:
            yield Box(px - 6, py - 6, px + 6, py + 6), _MARK
    if trace.mark in ("line", "curve", "slope") and not trace.loose:
        yield from _along([(px, py) for _, px, py in known])


def _along(line: Sequence[_Spot]) -> Iterator[tuple[Box, float]]:
    for (x0, y0), (x1, y1) in pairwise(line):
        steps = max(1, int(math.dist((x0, y0), (x1, y1)) / _GRID))
        for step in range(steps):
            px, py = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
            yield Box(px - 2, py - 2, px + 2, py + 2), _MARK
