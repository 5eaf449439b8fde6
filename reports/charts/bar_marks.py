"""Places the marks on bars: numbers, brackets over compared bars, and floating bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbrief.compiler.briefs.colours import contrast_on_white
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import INK, PAPER, SMALL, TEXT, ChartPoint, Trace, text_width
from benchbrief.reports.charts.chart_layout import ARROW, BRACKET, NUMBER, ChartText, Plot

_FLOATING = 16.0
"""The largest width of a floating bar in pixels."""
_FOOT = 18.0
"""The height in pixels of the space for a number at the foot of a bar."""
_STRUCK = 5.5
"""The distance in pixels from a number's middle within which a line would strike the number through."""
_ARROW = ARROW - 3
"""The length in pixels of the arrow at a bar that may be longer."""
_LEAST_CONTRAST = 3.0
"""The least contrast between a white number and its bar."""


@dataclass(frozen=True)
class Bracket:
    """A line above bars, from the middle of the first to the middle of the last, with a number above it. Over a single
    bar, there is only the number."""

    trace: Trace
    point: ChartPoint
    left: float
    right: float
    y: float

    @property
    def text(self) -> ChartText:
        return ChartText(self.point.label, (self.left + self.right) / 2, self.y - 8, "center", INK, TEXT, bold=True)


def brackets(plot: Plot) -> list[Bracket]:
    """Return the brackets to draw. Left out are those without a number, without bars below them, or without enough room
    beside the previous one."""
    found: list[Bracket] = []
    shown = plot.bars_have_numbers or any(t.mark == "range" for t in plot.in_slots)
    for level, trace in enumerate(t for t in plot.chart.traces if t.mark == "bracket"):
        free = -plot.left
        for point in (p for p in trace.points if p.label):
            tops = list(_tops(plot, None if trace.over_all else point.x))
            half = text_width(point.label, TEXT) * 1.08 / 2  # the type is bold
            middles = [middle for middle, _ in tops]
            if not tops or (min(middles) + max(middles)) / 2 - half < free:
                continue
            y = min(top for _, top in tops) - 8 - (NUMBER if shown else 2) - BRACKET * level
            found.append(Bracket(trace, point, min(middles), max(middles), y))
            free = (min(middles) + max(middles)) / 2 + half + 4
    return found


def _tops(plot: Plot, slot: float | None) -> Iterator[tuple[float, float]]:
    """Yield the middle and the upper end of each bar in a slot, or of all bars if `slot` is None."""
    for trace in plot.in_slots:
        y = plot.y_pixel(trace)
        for point in trace.points:
            if point.y is not None and slot in (None, point.x):
                left, right = plot.bar(trace, point.x)
                foot = () if plot.y.log else (0.0,)
                yield (left + right) / 2, min(y(v) for v in (*foot, *point.extent))


@dataclass(frozen=True)
class FloatingBar:
    """A bar from `bottom` to `top`, both in pixels from the top of the plot area."""

    point: ChartPoint
    left: float
    right: float
    top: float
    bottom: float


def floating_bars(plot: Plot, trace: Trace) -> list[FloatingBar]:
    y, found = plot.y_pixel(trace), []
    for point in trace.points:
        if point.y is None or point.end is None:
            continue
        first, last = plot.bar(trace, point.x)
        middle, half = (first + last) / 2, min(_FLOATING, last - first) / 2
        top, bottom = sorted((y(point.y), y(point.end)))
        if bottom - top < 3:  # equal ends are a line
            top, bottom = (top + bottom) / 2 - 1.5, (top + bottom) / 2 + 1.5
        found.append(FloatingBar(point, middle - half, middle + half, top, bottom))
    return found


def numbers_at_bars(plot: Plot) -> Iterator[ChartText]:
    """Yield the numbers at both ends of floating bars. If the numbers of all other bars fit without touching intervals
    and repeats, yield these, too."""
    shown = plot.bars_have_numbers
    levels = [plot.y_pixel(t)(p.y) for t in plot.levels for p in t.points if p.y is not None and not p.upright]
    for series, trace in enumerate(plot.chart.traces):
        if trace.mark == "bar" and shown:
            y = plot.y_pixel(trace)
            for point in trace.points:
                if point.y is not None:
                    first, last = plot.bar(trace, point.x)
                    middle, spread = (first + last) / 2, [abs(y(v) - y(0.0)) for v in point.spread]
                    if not point.repeats and spread and stands_at_foot(abs(y(point.y) - y(0.0)), spread, _FOOT):
                        at, ink = y(0.0) + (_FOOT / 2 if point.y < 0 else -_FOOT / 2), ink_within(trace, point)
                    else:
                        above, ink = 10 if spread else 6 + ARROW * point.is_open, INK
                        at = y(min(point.extent)) + above if point.y < 0 else y(max(point.extent)) - above
                        if any(abs(at - level) < _STRUCK for level in levels):  # the number goes inside the bar
                            inside = y(point.y) + (-_FOOT / 2 if point.y < 0 else _FOOT / 2)
                            if not spread and abs(y(point.y) - y(0.0)) > _FOOT:
                                at, ink = inside, ink_within(trace, point)
                    yield ChartText(plot.number_at(point), middle, at, "center", ink, SMALL, series=series)
        elif trace.mark == "range":
            yield from _ends(plot, series, trace)


def arrows_at_bars(plot: Plot, trace: Trace) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield the start and the tip of an arrow at the end of each bar whose true value may lie beyond it."""
    y = plot.y_pixel(trace)
    for point in (p for p in trace.points if p.is_open):
        if point.y is None or trace.mark != "bar":
            continue
        middle, end = sum(plot.bar(trace, point.x)) / 2, y(point.y)
        if plot.flat:
            yield (end, middle), (end + (-_ARROW if point.y < 0 else _ARROW), middle)
        else:
            yield (middle, end), (middle, end + (_ARROW if point.y < 0 else -_ARROW))


def stands_at_foot(length: float, spread: Sequence[float], room: float) -> bool:
    """Return whether a bar's number fits at the bar's foot, below the interval or the repeats. Above them, the number
    would seem to belong to them."""
    return min(length, *spread) > room


def ink_within(trace: Trace, point: ChartPoint) -> str:
    """Return the colour of a number within a bar: dark on a pale bar, and otherwise as `ink_on` chooses it."""
    return INK if trace.is_pale(point) else ink_on(trace.paint)


def ink_on(paint: str) -> str:
    """Return the colour of a number on a bar of this colour: white if the contrast is enough, or else dark."""
    return PAPER if contrast_on_white(paint) >= _LEAST_CONTRAST else INK


def _ends(plot: Plot, series: int, trace: Trace) -> Iterator[ChartText]:
    """Yield the numbers of each floating bar's ends: both above the bar, or one at each end if the bars are
    too narrow."""
    drawn = floating_bars(plot, trace)
    room = plot.width / len(plot.chart.x.categories)
    if len(plot.in_slots) > 1:  # bars of one category are closer than categories
        first, last = plot.bar(trace, 0)
        room = last - first
    together = all(text_width(bar.point.label, SMALL) < room - 4 for bar in drawn)
    all_bars = [bar for one in plot.in_slots if one.mark == "range" for bar in floating_bars(plot, one)]
    for bar in drawn:
        middle = (bar.left + bar.right) / 2
        low, high = bar.point.ends
        if together:
            yield ChartText(bar.point.label, middle, bar.top - 7, "center", INK, SMALL, series=series)
            continue
        low_fits = bar.bottom + 13 < plot.height and text_width(low, SMALL) < room - 2
        if low != high and not low_fits and _has_room_above(bar, all_bars):
            yield ChartText(bar.point.label, middle, bar.top - 7, "center", INK, SMALL, series=series)
            continue
        if text_width(high, SMALL) < room - 2:
            yield ChartText(high, middle, bar.top - 7, "center", INK, SMALL, series=series)
        if low != high and low_fits:
            yield ChartText(low, middle, bar.bottom + 7, "center", INK, SMALL, series=series)


def _has_room_above(bar: FloatingBar, bars: Sequence[FloatingBar]) -> bool:
    """Return whether both numbers of a bar fit above it without touching the other bars and their numbers."""

    def middle(of: FloatingBar) -> float:
        return (of.left + of.right) / 2

    own = text_width(bar.point.label, SMALL)
    return all(
        abs(middle(bar) - middle(one)) > (own + text_width(one.point.label, SMALL)) / 2 + 2
        or not one.top - 16 < bar.top - 7 < one.bottom + 16
        for one in bars
        if middle(one) != middle(bar)
    )
