"""Lays out a chart in pixels: the size of the plot area, the ticks and the legend."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts import chart as chart_axes
from benchbrief.reports.charts.chart import (
    INK,
    NARROWEST,
    SMALL,
    SOFT,
    TEXT,
    Chart,
    ChartPoint,
    Ticks,
    Trace,
    text_width,
    tick_labels,
)
from benchbrief.reports.text.line_ends import phrases
from benchbrief.reports.text.number_format import NBSP, locale

_ROW = 18  # pixels from one row of the legend to the next
LINE = 13  # and from one line of a label or a heading to the next
NUMBER, BRACKET, NOTE = 14, 26, 30  # above a bar, for its number, each bracket and notes
ARROW = 14.0  # and for the arrow of a bar that may be longer
RING, NEAR = 5.0, 8.0
"""Half the width in pixels that a bar's interval or repeats take, and how far they may reach beyond the bar's end below
the bar's number, which is then still read at the bar's height."""
_MOST_POINTED_AT = 3
"""The most marks that get labels with arrows. If there are more, the legend names them."""
_NEAR = 2 / 3
"""If all ratios lie between this number and its inverse, their axis has 1 in its middle."""
SLOT_GAP, BAR_GAP = 0.28, 0.06  # shares of a category's slot, and of a bar's, that stay empty
_WIDEST_BAR = 64.0
"""The largest width of a bar in pixels. A few very wide bars would look like slabs."""
_CROPPED = 0.25
"""The x axis of curves need not begin at zero. It begins near the smallest value if that is more than this share of the
largest."""


@dataclass(frozen=True)
class LegendItem:
    """An item of a legend. `series` is the index of the trace in its chart. `name` may be shortened."""

    trace: Trace
    series: int
    name: str
    x: float
    y: float


@dataclass(frozen=True)
class Frame:
    """The frame of one of several panels: the space at its sides, the sides that have axis numbers, and the number of
    lines in its heading."""

    left: float
    right: float
    numbers: frozenset[Literal["left", "right"]]
    lines: int = 1


@dataclass(frozen=True)
class Margins:
    """The pixels around a plot area. With `beside`, another figure is next to this one, so both name their lines in a
    legend even if there is room at the ends of the lines. With `shared_legend`, the other figure has the same legend
    and shows it for both.
    """

    left: float = 0.0
    right: float = 0.0
    top: float = 0.0
    bottom: float = 0.0
    headroom: float = 0.0
    beside: bool = False
    shared_legend: bool = False


NO_MARGINS = Margins()


def common_margins(plots: Iterable[Plot]) -> Margins:
    """Return the largest margins of these plots, so that all plot areas have the same size, and whether the plots share
    a legend."""
    upright = [plot for plot in plots if not plot.flat]
    if not upright:
        return NO_MARGINS
    around = ((plot.left, plot.right, plot.top, plot.bottom, plot.headroom) for plot in upright)
    left, right, top, bottom, headroom = map(max, zip(*around, strict=True))
    legends = {tuple((each.name, each.trace.mark, each.trace.paint) for each in plot.legend) for plot in upright}
    shared = len(upright) > 1 and len(legends) == 1 and legends != {()}
    return Margins(left, right, top, bottom, headroom, beside=True, shared_legend=shared)


@dataclass
class Plot:
    """The sizes in pixels of a plot area and its surroundings. With a `frame`, the plot is one of several panels.
    `least` is the least free space around the plot area, which depends on the drawing beside it."""

    chart: Chart
    outer_width: float
    outer_height: float
    frame: Frame | None = None
    least: Margins = NO_MARGINS
    y: Ticks = field(init=False)
    y_right: Ticks | None = field(init=False)
    legend: tuple[LegendItem, ...] = field(init=False, default=())
    direct: bool = field(init=False)
    foot: float = field(init=False, default=0.0)
    above: float = field(init=False, default=0.0)
    """How many pixels the texts above the plot area are moved up. This makes them level with the texts of the figure
    beside it, if that figure has higher brackets."""

    def __post_init__(self) -> None:
        chart = self.chart
        self.has_bars = any(t.stands_in_slot for t in chart.traces)
        bars = {t.right for t in chart.traces if t.mark == "bar"}
        left = [t for t in chart.sharing if not t.right]
        self.y = self._ticks(left, chart.reach.left, log=chart.log_y and False not in bars)
        right = [t for t in chart.sharing if t.right]
        log_right = chart.log_y_right and True not in bars
        self.y_right = self._right_ticks(right, log=log_right) if right else None
        # no value, no logarithm
        self.log_y, self.log_y_right = self.y.log, self.y_right is not None and self.y_right.log
        self.flat = self._lies_flat()
        if self.flat:
            self._lie_flat()
            return
        self.left = 9 + self.widest(self.y)
        self.right = 12.0
        if self.y_right:
            self.right = 9 + self.widest(self.y_right)
        elif self.named_at_end:
            self.right = 12 + text_width(self.named_at_end.name, SMALL)
        self.left, self.right = max(self.least.left, self.left), max(self.least.right, self.right)
        if chart.x.kind != "category":  # half of the last tick's label extends beyond the plot area
            self.width = self.outer_width - self.left - self.right
            last = max(text_width(label, TEXT) for label in chart_axes.tick_labels(self.x_ticks))
            self.right = max(self.right, last / 2 + 2)
        if self.frame:
            self.left, self.right = self.frame.left, self.frame.right
        self.width = self.outer_width - self.left - self.right
        named = self.names_of_bars or self._wrapped(self.width)
        self.category_lines = max((len(lines) for lines in named), default=1)
        self.bottom = 8.0 + 13 * self.category_lines + (16 if chart.x.written_title and not self.frame else 0)
        self.foot = self._room_below_bars()
        self.bottom += self.foot
        self.top = 24.0 + LINE * (self.frame.lines - 1 if self.frame else 0)
        self.height = self.outer_height - self.top - self.bottom
        self.headroom = self._room_for_brackets()
        self.direct = not self.frame and not self.least.beside and self._direct_labels_fit()
        if self.direct:
            self.right = 12 + max(text_width(t.name, TEXT) for t in chart.traces)
        elif not self.frame and needs_legend(chart):
            items = legend(
                chart,
                self.outer_width,
                -float(math.ceil(self.left)),
                -16 - self.headroom,
                lambda trace: (
                    self.is_pointed_at(trace)
                    or not self.shows(trace)
                    or (trace.stands_in_slot and bool(self.names_of_bars))
                ),
            )
            self.legend = items if len(items) > 1 else ()
            self.top += _ROW * rows_of(self.legend)
        self.top += self.headroom
        self.left = max(self.least.left, float(math.ceil(self.left)))
        self.right = max(self.least.right, float(math.ceil(self.right)))
        self.above = above = max(0.0, self.least.headroom - self.headroom)
        shown = () if self.least.shared_legend else self.legend
        self.legend = tuple(replace(item, y=item.y - above) for item in shown)
        self.top, self.bottom = max(self.least.top, self.top + above), max(self.least.bottom, self.bottom)
        self.width = round(self.outer_width - self.left - self.right, 1)
        self.height = round(self.outer_height - self.top - self.bottom, 1)

    def _lies_flat(self) -> bool:
        """Return whether the bars are drawn horizontally. This is so for a single series of ranges, unless the ranges
        lie around 1 or have several levels. It is also so for bars whose categories' names would be cut off below
        upright bars.
        """
        chart = self.chart
        alone = not (self.frame or self.y_right or chart.notes) and chart.x.kind == "category"
        if not alone or not self.in_slots:
            return False
        marks = [t.mark for t in chart.traces]
        if marks.count("range") == len(self.in_slots) == 1 and {*marks} <= {"range", "rule"} and not self.is_even:
            if len(self.levels) > 1 or any(p.upright for t in self.levels for p in t.points):
                return False
            return self.flat_height() <= self.outer_height
        if not {*marks} <= {"bar", "range", "bracket"}:
            return False
        wrapped = zip(chart.x.categories, self._wrapped(self.outer_width - 60), strict=True)
        cut = any("…" in line and "…" not in name for name, lines in wrapped for line in lines)
        return cut and self.flat_height() <= self.outer_height

    def flat_height(self) -> float:
        """Return the pixels that horizontal bars need."""
        lines = max(map(len, self.flat_names()))
        return 80 + len(self.chart.x.categories) * max(13 * lines + 6, 14 * len(self.in_slots) + 6)

    def flat_names(self) -> list[list[str]]:
        """Return the names of categories, split into lines, for the left side of horizontal bars."""
        return [wrap(name, 0.4 * self.outer_width, 4) for name in self.chart.x.categories]

    def _lie_flat(self) -> None:
        chart = self.chart
        self.headroom, self.direct, self.category_lines = LINE * bool(self.levels), False, 1
        self.left = float(math.ceil(12 + max(text_width(line, TEXT) for lines in self.flat_names() for line in lines)))
        numbers = [text for t in self.in_slots for text in self.flat_texts_of(t)]
        beside = sum(16 + self.widest_label(t) for t in chart.traces if t.mark == "bracket")
        self.right = float(math.ceil(14 + max(text_width(number, self.flat_size) for number in numbers) + beside))
        self.top, self.bottom = 24.0 + self.headroom, 24.0
        if needs_legend(chart) and not self.levels:
            self.legend = legend(chart, self.outer_width, -self.left, -16)
            self.top += _ROW * rows_of(self.legend)
        self.width = round(self.outer_width - self.left - self.right, 1)
        self.height = round(self.outer_height - self.top - self.bottom, 1)

    def flat_texts_of(self, trace: Trace) -> list[str]:
        """Return the number at each point of a trace of horizontal bars."""
        return [point.text if trace.mark == "bar" else point.label for point in trace.points]

    @property
    def flat_size(self) -> float:
        """The size of the numbers at horizontal bars, which are larger where ranges stand alone."""
        return TEXT if any(t.mark == "range" for t in self.in_slots) else SMALL

    @property
    def levels(self) -> tuple[Trace, ...]:
        """The rules: straight lines across the plot area, each at a single value."""
        return tuple(t for t in self.chart.traces if t.mark == "rule")

    @staticmethod
    def widest_label(trace: Trace) -> float:
        return max((text_width(p.label, TEXT) * 1.08 for p in trace.points), default=0.0)

    @property
    def flat_numbers(self) -> bool:
        """Whether horizontal bars are thick enough for their numbers."""
        thick = self.height / len(self.chart.x.categories) * (1 - self.slot_gap) / len(self.in_slots)
        return thick >= SMALL

    @property
    def base(self) -> float | None:
        """The value with an emphasised line in the plot area: "no difference", or zero if some values are negative."""
        return 1.0 if self.is_even else 0.0 if self.y.low < 0 and not self.y.log else None

    @property
    def base_pixel(self) -> float:
        """The distance in pixels of the base line from the top."""
        return chart_axes.linear((self.y.low, self.y.high), (self.height, 0.0))(self.base or 0.0)

    def _ticks(self, traces: Sequence[Trace], reached: Sequence[float], *, log: bool) -> Ticks:
        values = [*_extent(traces), *reached]
        above = [v for v in values if log and v > 0]
        self.is_even = bool(self.chart.even and values and not above) and all(_NEAR < v < 1 / _NEAR for v in values)
        if above:
            return chart_axes.log_ticks(above, 10)
        if self.is_even:
            return chart_axes.ticks_around_one(values)
        bars = [p.y for t in traces if t.mark == "bar" for p in t.points if p.y is not None and not p.spread]
        return chart_axes.ticks_of_bars(values, [*bars, *reached]) if bars else chart_axes.nice_ticks(values)

    def _right_ticks(self, traces: Sequence[Trace], *, log: bool) -> Ticks:
        values = [*_extent(traces), *self.chart.reach.right]
        if log and (above := [v for v in values if v > 0]):
            return chart_axes.log_ticks(above, 10)
        return chart_axes.matching_ticks(values, len(self.y.values) - 1)

    def y_pixel(self, trace: Trace) -> Callable[[float], float]:
        ticks = self.y_right if trace.right and self.y_right else self.y
        pixels = (0.0, self.width) if self.flat else (self.height, 0.0)
        return chart_axes.linear((ticks.low, ticks.high), pixels, self.log_y_right if trace.right else self.log_y)

    def x_pixel(self) -> Callable[[float], float]:
        if self.chart.x.kind == "category":
            slot = self.width / len(self.chart.x.categories)
            return lambda index: slot * (index + 0.5)
        return chart_axes.linear(self.x_domain, (0.0, self.width), self.chart.x.kind == "log")

    @property
    def x_values(self) -> list[float]:
        drawn = [(t.mark, p) for t in self.chart.sharing for p in t.points]
        known = [(mark, p) for mark, p in drawn if p.y is not None or mark in ("line", "bar")]
        refused = [mark.x for t in self.chart.sharing for mark in t.refused]
        return [*(p.x for mark, p in known if p.upright or mark != "rule"), *refused, *self.chart.reach.x]

    @property
    def x_ticks(self) -> tuple[float, ...]:
        wanted = self.chart.x.ticks
        if not wanted or len(wanted) > 14:
            if self.chart.x.kind == "log":
                return self._log_ticks().values
            return self._round_ticks().values
        pixel = self.x_pixel()
        kept: list[float] = []
        for value, label in reversed(list(zip(wanted, chart_axes.tick_labels(wanted), strict=True))):
            if not kept or pixel(kept[-1]) - pixel(value) > text_width(label, TEXT) + 8:
                kept.append(value)
        return tuple(reversed(kept))

    @property
    def x_domain(self) -> tuple[float, float]:
        low, high = min(self.x_values), max(self.x_values)
        if self.chart.x.kind == "log" and not self.chart.x.ticks:
            ticks = self._log_ticks()
            return ticks.low, ticks.high
        if self.chart.x.kind == "log":
            return (low / 1.12, high * 1.12)
        if self.chart.x.kind == "steps":
            return (low - 0.3, high + 0.3)
        if not self.chart.x.ticks:
            ticks = self._round_ticks()
            return ticks.low, ticks.high
        if low < 0.5 * high:
            return (0.0, high * 1.03)
        margin = (high - low or 1.0) * 0.05
        return (low - margin, high + margin)

    def _log_ticks(self) -> Ticks:
        """For a ramp's points, return powers of two if their labels are short. For measured values, return powers of
        ten."""
        ramp = bool(self.chart.x.ticks)
        return chart_axes.log_ticks(self.x_values, 2 if ramp and max(self.x_values) < 5000 else 10)

    def _round_ticks(self) -> Ticks:
        wanted, low, high = max(3, int(self.width / 80)), min(self.x_values), max(self.x_values)
        if all(t.mark == "curve" for t in self.chart.sharing) and _CROPPED * high < low < high:
            return chart_axes.ticks_between(low, high, wanted)
        return chart_axes.nice_ticks(self.x_values, wanted)

    def wrapped_categories(self) -> list[list[str]]:
        return self._wrapped(self.width)

    def _wrapped(self, width: float) -> list[list[str]]:
        names = self.chart.x.categories
        return [wrap(name, width / len(names) - 4) for name in names]

    @cached_property
    def names_of_bars(self) -> list[list[str]]:
        """The names of the only bars, split into lines, if these replace the only category and the legend. All of them
        are different and whole, or there are none. This is decided once, before the legend is made."""
        if not self.chart.x.alone or self.frame or len(self.in_slots) < 2:
            return []
        left, right = self.bar(self.in_slots[0], 0)
        names = ["".join(trace.name.split()) for trace in self.in_slots]
        found = [wrap(trace.name, right - left - 4) for trace in self.in_slots]
        shown = ["".join("".join(lines).split()) for lines in found]
        return found if shown == names and len({*names}) == len(names) else []

    @staticmethod
    def widest(ticks: Ticks) -> float:
        return max(text_width(label, TEXT) for label in ticks.labels())

    def _room_for_brackets(self) -> float:
        """Return the pixels needed above the plot area for numbers, brackets and notes over the highest bar."""
        brackets = sum(t.mark == "bracket" for t in self.chart.traces)
        if not brackets and not (self.has_bars and (self.chart.notes or not self.y_right)):
            return 0.0
        highest = max(
            (v for t in self.chart.sharing if t.stands_in_slot for p in t.points for v in p.extent), default=0.0
        )
        free = (self.y.high - highest) / (self.y.high - self.y.low) * self.height
        arrow = ARROW * any(p.is_open for t in self.in_slots for p in t.points)
        needed = NUMBER + 2 + arrow + BRACKET * brackets + NOTE * min(1, len(self.chart.notes)) - free
        return min(max(0.0, math.ceil(needed)), 0.45 * self.height)

    def _room_below_bars(self) -> float:
        """Return the pixels needed below the plot area for the number of the lowest bar. The names of the categories
        come below this number."""
        lowest = min(
            (v for t in self.chart.sharing if t.mark == "bar" for p in t.points for v in p.extent), default=0.0
        )
        if lowest >= 0:
            return 0.0
        free = (lowest - self.y.low) / (self.y.high - self.y.low) * (self.outer_height - 24.0 - self.bottom)
        return max(0.0, math.ceil(NUMBER - free))

    @cached_property
    def in_slots(self) -> tuple[Trace, ...]:
        """The traces that are drawn side by side in the slot of a category."""
        return tuple(t for t in self.chart.traces if t.stands_in_slot)

    def is_pointed_at(self, trace: Trace) -> bool:
        """Return whether a mark is named by a label with an arrow, instead of in the legend."""
        marks = [t for t in self.chart.traces if t.mark == "rule" and any(p.y is not None for p in t.points)]
        return not self.frame and not self.direct and len(marks) <= _MOST_POINTED_AT and any(t is trace for t in marks)

    @cached_property
    def named_at_end(self) -> Trace | None:
        """The only level line across bars, if its name is short enough to be written at the line's right end."""
        rules = [t for t in self.chart.traces if t.mark == "rule"]
        level = len(rules) == 1 and all(p.y is not None and not p.upright for p in rules[0].points)
        if not level or self.frame or not self.has_bars or text_width(rules[0].name, SMALL) > 0.15 * self.outer_width:
            return None
        return rules[0]

    def shows(self, trace: Trace) -> bool:
        """Return whether any part of a trace is visible. An ideal may be outside the plot area from its first point."""
        return not trace.ideal or any(p.y is not None and p.y < self.y.high for p in trace.points)

    def place(self, trace: Trace) -> int:
        """Return a trace's index among the traces in a slot."""
        return next(place for place, one in enumerate(self.in_slots) if one is trace)

    @property
    def bars_have_numbers(self) -> bool:
        bars = [t for t in self.chart.traces if t.mark == "bar"]
        return bool(bars) and self.y_right is None and self._fit_bars(self.number_at(p) for t in bars for p in t.points)

    def number_at(self, point: ChartPoint) -> str:
        """Return a bar's number as text. If the bars are too narrow, the % is left out, because the axis has it."""
        short = point.text.removesuffix("%").rstrip(NBSP)
        bars = [t for t in self.chart.traces if t.mark == "bar"]
        whole = short == point.text or not self.chart.left.endswith("(%)")
        return point.text if whole or self._fit_bars(p.text for t in bars for p in t.points) else short

    def _fit_bars(self, texts: Iterable[str]) -> bool:
        if self.flat:  # the texts are beside their bars
            return True
        width = self.width / max(1, len(self.chart.x.categories)) * (1 - self.slot_gap) / max(1, len(self.in_slots))
        return all(text_width(text, SMALL) < width + 3 for text in texts)

    @property
    def slot_gap(self) -> float:
        """The share of a category's slot that stays empty. It grows if bars would otherwise be too wide."""
        slot = (self.height if self.flat else self.width) / max(1, len(self.chart.x.categories))
        return max(SLOT_GAP, 1 - _WIDEST_BAR * max(1, len(self.in_slots)) / slot)

    def bar(self, trace: Trace, index: float) -> tuple[float, float]:
        """Return the left and right edges of a bar in the category `index`. They agree with the renderer's band
        scales."""
        place, of = self.place(trace), len(self.in_slots)
        slot = (self.height if self.flat else self.width) / len(self.chart.x.categories)
        room = slot * (1 - self.slot_gap)
        step = room / (of - BAR_GAP)
        left = slot * (index + self.slot_gap / 2) + step * place
        return left, left + step * (1 - BAR_GAP)

    def overshoot(self, trace: Trace, point: ChartPoint) -> float:
        """Return by how many pixels the interval or the repeats of an upright bar reach beyond its end."""
        y, value = self.y_pixel(trace), point.y or 0.0
        out = 1 if value < 0 else -1
        return max((0.0, *(out * (y(each) - y(value)) for each in point.spread)))

    @cached_property
    def spreads_aside(self) -> bool:
        """Whether intervals and repeats are drawn at the right of their bars, because some reach far beyond the ends of
        their bars. The bars' numbers are then beside them, for which all bars must have room."""
        bars = [t for t in self.chart.traces if t.mark == "bar" and not self.flat]
        spread = [(t, p) for t in bars for p in t.points if p.spread and p.y is not None]
        if not any(self.overshoot(t, p) > NEAR for t, p in spread) or not self.bars_have_numbers:
            return False
        left, right = self.bar(bars[0], 0)
        room = right - left - self._from_edge(right - left) - RING
        return all(text_width(self.number_at(p), SMALL) < room for _, p in spread)

    def spread_at(self, trace: Trace, point: ChartPoint) -> float:
        """Return where the interval or the repeats of an upright bar are drawn."""
        first, last = self.bar(trace, point.x)
        return last - self._from_edge(last - first) if self.spreads_aside else (first + last) / 2

    @staticmethod
    def _from_edge(width: float) -> float:
        """Return how far from the right edge of a bar of this width its interval is."""
        return max(RING, 0.2 * width)

    def _direct_labels_fit(self) -> bool:
        """Return whether the names fit at the right ends of lines, because they are few, short and far enough apart."""
        traces = self.chart.traces
        upright = any(p.upright for t in traces for p in t.points)
        if self.y_right or upright or len(traces) < 2 or any(t.mark not in ("line", "rule") for t in traces):
            return False
        if max(text_width(t.name, TEXT) for t in traces) > 0.26 * self.outer_width:
            return False
        lines = [t for t in traces if t.mark == "line"]
        last_x = max((p.x for t in lines for p in t.points), default=0.0)
        ends = [t.points[-1] for t in traces if t.points]
        if any(t.points[-1].x != last_x for t in lines if t.points) or any(p.y is None for p in ends):
            return False
        pixel = self.y_pixel(traces[0])
        if any(p.y is not None and p.y > self.y.high for p in ends):
            return False
        return len(ends) == len(traces) and chart_axes.are_spaced([pixel(p.y) for p in ends if p.y is not None], 13)


def needs_legend(chart: Chart) -> bool:
    """Return whether the chart needs a legend. A single series is named by its axis."""
    return len(chart.traces) > 1


def legend(
    chart: Chart,
    width: float,
    left: float,
    below: float,
    left_out: Callable[[Trace], bool] = lambda _: False,
) -> tuple[LegendItem, ...]:
    """Return the items of the legend, in rows that begin at `left` and are about `width` wide. `below` is where the
    last row ends."""
    items: list[LegendItem] = []
    x, row = 0.0, 0
    for series, trace in enumerate(chart.traces):
        if left_out(trace):
            continue
        name = shorten(trace.name, width - 24)
        needed = 24 + text_width(name, TEXT) + 16
        if x and x + needed > width + 16:
            x, row = 0.0, row + 1
        items.append(LegendItem(trace, series, name, x + left, float(_ROW * row)))
        x += needed
    return tuple(replace(item, y=item.y + below - _ROW * (row + 1)) for item in items)


def rows_of(items: Sequence[LegendItem]) -> int:
    return len({item.y for item in items})


def shorten(text: str, width: float, size: float = TEXT) -> str:
    """Shorten a text with an ellipsis in its middle, because names often differ at their ends.

    Drops whole words if there are enough of them, or else characters.
    """
    if text_width(text, size) <= width:
        return text
    most = int(width / (NARROWEST * size)) + 1  # the words or characters that can fit: a text may be much longer
    words = text.split(" ")
    for kept in range(min(len(words) - 1, most), 1, -1):
        last = max(1, kept // 3)
        found = " ".join((*words[: kept - last], "…", *words[-last:]))
        if text_width(found, size) <= width:
            return found
    for kept in range(min(len(text) - 1, most), 1, -1):
        head = text[: kept - kept // 3].rstrip() + "…" + text[len(text) - kept // 3 :].lstrip()
        if text_width(head, size) <= width:
            return head
    return "…"


def heading_lines(text: str, width: float) -> list[str]:
    """Return the heading of a panel, on two lines if needed. The type is bold.

    A word that is wider than the panel continues on the next line, so that there may be a third line.
    """
    room = width / 1.08
    parted = " ".join(" ".join(_fitting(word, room)) for word in text.split(" "))
    return wrap(parted, room, 2 if parted == text else 3)


def _fitting(word: str, width: float) -> list[str]:
    """Split a word that is wider than a line. It is split after a `-`, `_`, `/` or `.` if possible, and otherwise with
    a hyphen.

    After three splits, the rest stays whole, because a heading has at most three lines.
    """
    found: list[str] = []
    while len(found) < 3 and text_width(word, TEXT) > width and not _BROKEN_ANYWHERE.search(word):
        most = 1
        while most < len(word) and text_width(word[: most + 1] + "-", TEXT) <= width:
            most += 1
        own = max(word.rfind(stroke, 1, most) for stroke in "-_/.") + 1
        at = own if own > most / 3 else most
        found.append(word[:at] + ("" if at == own else "-"))
        word = word[at:]
    return [*found, word]


_BROKEN_ANYWHERE = re.compile(r"[\u2e80-\u9fff\uff00-\uffef]")


_BEYOND = 2.0
"""To show a line for comparison, such as an ideal, an axis may extend to this many times the largest measured value."""


def _extent(traces: Sequence[Trace]) -> list[float]:
    """Return the values that an axis must show. If an ideal's values are so large that they would squeeze the others
    against the axis, they are left out."""
    shown = [(t, v) for t in traces if t.mark != "bracket" for p in t.points if not p.upright for v in p.extent]
    measured = max((v for t, v in shown if not t.ideal), default=0.0)
    return [v for t, v in shown if not t.ideal or measured <= 0 or v <= _BEYOND * measured]


def wrap(text: str, width: float, lines: int = 3) -> list[str]:
    """Break a label at blanks and between Japanese phrases into lines that fit and are about equally long. In a text
    without blanks, a phrase that is wider than a line breaks between any two characters."""
    parts = phrases(text)
    if " " not in text:
        parts = [each for part in parts for each in ([part] if text_width(part, TEXT) <= width else part)]
    found = _filled(parts, width, lines)
    if len(found) > 1:
        room = (width * share / 20 for share in range(10, 20))
        tried = (_filled(parts, narrower, lines) for narrower in room)
        fitting = (each for each in tried if len(each) == len(found) and _widest(each) <= width)
        found = next(fitting, found)
    return [shorten(line.strip(), max(width, 3 * TEXT)) for line in found]


def _widest(lines: Iterable[str]) -> float:
    return max(text_width(line.rstrip(), TEXT) for line in lines)


def _filled(parts: Iterable[str], width: float, lines: int) -> list[str]:
    found = [""]
    for part in parts:
        if found[-1] and len(found) < lines and text_width((found[-1] + part).rstrip(), TEXT) > width:
            found.append("")
        found[-1] += part
    return found


@dataclass(frozen=True)
class ChartText:
    """A text of a chart. `series` is the index of the series that it names, if any."""

    text: str
    x: float
    y: float
    align: str
    color: str
    size: float = TEXT
    bold: bool = False
    series: int | None = None
    inside: bool = False
    """Whether the text is placed among the marks. It then has an edge in the colour of the paper, which keeps it
    readable."""
    within: bool = False
    """Whether the text is within a bar, whose colour it is readable on."""


def _short_title(title: str, width: float) -> str:
    """Return an axis's title. If it is too wide, leave out the hardware, workload or level that it names, and shorten
    the rest."""
    named = re.fullmatch(rf"(.+?){re.escape(locale().listed(('', '')))}.*?( \([^()]+\))?", title)
    if named and text_width(title, TEXT) > width:
        title = named[1] + (named[2] or "")
    return shorten(title, width)


def axis_titles(chart: Chart, width: float, left: float, y: float) -> list[ChartText]:
    """Return the titles of the left and the right axis. They are above the plot area, where they can be horizontal,
    from `left` on and within `width`."""
    right = shorten(chart.right_title, width / 2 if chart.left else width) if chart.right else ""
    room = width - (text_width(right, TEXT) + 12 if right else 0)
    found = [ChartText(_short_title(chart.left_title, room), left, y, "left", SOFT)]
    if right:
        found.append(ChartText(right, left + width, y, "right", SOFT))
    return found


def legend_texts(items: Sequence[LegendItem]) -> list[ChartText]:
    return [
        ChartText(item.name, item.x + (17 if item.trace.stands_in_slot else 24), item.y, "left", INK) for item in items
    ]


def darken_for_text(color: str) -> str:
    """Darken the colour to a contrast of 4.5 to 1 on white (WCAG 2.2, 1.4.3)."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    while 1.05 / (_luminance(channels) + 0.05) < 4.5:
        channels = [c * 0.95 for c in channels]
    return "#" + "".join(f"{round(c * 255):02x}" for c in channels)


def _luminance(channels: Sequence[float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


_GAP = 16.0  # pixels between neighbours
_NARROWEST_PANEL = 150.0


@dataclass(frozen=True)
class Panel:
    """A plot with the position of its upper left corner in the drawing. The first panel also has the figure's own texts
    and its legend."""

    plot: Plot
    x: float = 0.0
    y: float = 0.0
    texts: tuple[ChartText, ...] = ()
    legend: tuple[LegendItem, ...] = ()


def columns_for(panels: int, width: float) -> int:
    most = max(1, int(width / _NARROWEST_PANEL))
    return min(most, panels if panels <= 3 else 2 if panels == 4 else 3)


def rows_for(panels: int, width: float) -> int:
    return math.ceil(panels / columns_for(panels, width))


def arrange(charts: Sequence[Chart], width: float, height: float, least: Margins = NO_MARGINS) -> tuple[Panel, ...]:
    """Return the position of each chart. Several charts share one range of values and have plot areas of the same size.
    A single chart has margins of at least `least`."""
    if len(charts) == 1 and not charts[0].heading:
        return (Panel(Plot(charts[0], width, height, least=least)),)
    shared = [
        replace(chart, beside=tuple(t for other in charts if other is not chart for t in other.traces))
        for chart in charts
    ]
    first = shared[0]
    alone = Plot(first, width, height, Frame(0, 0, frozenset()))
    left = math.ceil(9 + alone.widest(alone.y))
    right = math.ceil(9 + alone.widest(alone.y_right)) if alone.y_right else 12.0
    if first.x.kind != "category":  # half of the last tick's label extends beyond the plot area
        right = max(right, math.ceil(max(text_width(label, TEXT) for label in tick_labels(alone.x_ticks)) / 2 + 2))
    columns, rows = columns_for(len(charts), width), rows_for(len(charts), width)
    gap = max(_GAP, _labels_between(alone))
    inner = round((width - left - right - gap * (columns - 1)) / columns, 1)
    lines = max(len(heading_lines(chart.heading, inner)) for chart in shared)
    items = legend(first, width, -left, 0.0) if needs_legend(first) else ()
    head = 22.0 + _ROW * rows_of(items)
    foot = 16.0 if first.x.written_title else 0.0
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
    if title := first.x.written_title:
        written.append(ChartText(title, (width - left - right) / 2, height - head - top - 7, "center", SOFT))
    panels[0] = replace(panels[0], texts=tuple(written), legend=moved)
    return tuple(panels)


def _labels_between(plot: Plot) -> float:
    """Return the pixels needed between plot areas for a blank and for the halves of tick labels that extend beyond the
    ends."""
    if plot.chart.x.kind == "category":
        return 0.0
    labels = tick_labels(plot.x_ticks)
    return math.ceil((text_width(labels[0], TEXT) + text_width(labels[-1], TEXT)) / 2 + 8)
