"""Places the marks on bars: numbers, brackets over compared bars, and floating bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbrief.compiler.briefs.colours import contrast_on_white
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import INK, PAPER, SMALL, TEXT, ChartPoint, Trace, text_width
from benchbrief.reports.charts.chart_layout import ARROW, BRACKET, NEAR, NUMBER, RING, ChartText, Plot

_FLOATING = 16.0
"""The largest width of a floating bar in pixels."""
_FOOT = 18.0
"""The height in pixels of the space for a number at the foot of a bar."""
_STRUCK = 5.5
"""The distance in pixels from a number's middle within which a line would strike the number through."""
_ABOVE, _CLEAR = 6.0, 8.0
"""The distances in pixels that a number keeps from its bar's end below it, and from a line below it."""
_ARROW, _INSET, _HEAD = ARROW - 3, 4.0, 6.0
"""The length in pixels of the arrow at a bar that may be longer or shorter, the distance of the latter from the bar's
ends, and the least length of an arrow."""
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
    """Yield the numbers at both ends of floating bars and, if there is room for all of them, those of the other
    bars."""
    shown = plot.bars_have_numbers
    within = shown and _are_within(plot)
    for series, trace in enumerate(plot.chart.traces):
        if trace.mark == "bar" and shown:
            known = (point for point in trace.points if point.y is not None)
            yield from (_number(plot, trace, point, series, within=within) for point in known)
        elif trace.mark == "range":
            yield from _ends(plot, series, trace)


def _number(plot: Plot, trace: Trace, point: ChartPoint, series: int, *, within: bool) -> ChartText:
    """Return a bar's number. It is at the bar's end, above or `within` the bar. If an interval or repeats reach far
    beyond the end, it is beside them or, without room there, at the bar's foot: above them, it would be read at the
    wrong height."""
    y, value = plot.y_pixel(trace), point.y or 0.0
    (first, last), out = plot.bar(trace, point.x), 1 if value < 0 else -1
    text, middle, end, foot = plot.number_at(point), (first + last) / 2, y(value), y(0.0)
    over, spread = plot.overshoot(trace, point), [abs(y(v) - foot) for v in point.spread]
    if plot.spreads_aside and point.spread:
        middle, end = (first + plot.spread_at(trace, point) - RING) / 2, end + out * _ABOVE
    elif within or (over > NEAR and stands_at_foot(abs(end - foot), spread, _FOOT)):
        at = end - out * _FOOT / 2 if within else foot + out * _FOOT / 2
        return ChartText(text, middle, at, "center", ink_within(trace, point), SMALL, series=series, within=True)
    else:
        end += out * (over + (10 if spread else _ABOVE + ARROW * point.is_open))
        struck = (level for level in _levels(plot) if _ABOVE - _CLEAR < out * (level - y(value)) < _ABOVE + _STRUCK)
        end = next((level + out * _CLEAR for level in struck), end)
    return ChartText(text, middle, end, "center", INK, SMALL, series=series)


def _are_within(plot: Plot) -> bool:
    """Return whether all bars have their numbers within, because a line would strike through a number above its bar.
    All bars must be long enough."""
    found = False
    for trace in (t for t in plot.chart.traces if t.mark == "bar"):
        y = plot.y_pixel(trace)
        for point in (p for p in trace.points if p.y is not None):
            end, foot = y(point.y or 0.0), y(0.0)
            if point.spread or point.bound or abs(end - foot) <= _FOOT:
                return False
            above = ((level - end) * (1 if end > foot else -1) for level in _levels(plot))
            found |= any(_ABOVE - _CLEAR < each < _ABOVE + _STRUCK for each in above)
    return found


def _levels(plot: Plot) -> list[float]:
    """Return the heights in pixels of the straight lines across a chart."""
    return [plot.y_pixel(t)(p.y) for t in plot.levels for p in t.points if p.y is not None and not p.upright]


Arrow = tuple[tuple[float, float], tuple[float, float]]
"""The start and the tip of an arrow in pixels."""


def arrows_at_bars(plot: Plot, trace: Trace) -> Iterator[Arrow]:
    """Yield an arrow at the end of each bar whose true value may lie beyond it."""
    for point in (p for p in trace.points if p.is_open):
        yield from _arrow(plot, trace, point, 0.0, _ARROW)


def arrows_into_bars(plot: Plot, trace: Trace) -> Iterator[Arrow]:
    """Yield an arrow within each bar whose true value may lie short of its end. A very short bar has none."""
    for point in (p for p in trace.points if p.is_capped and p.y is not None):
        length = abs(plot.y_pixel(trace)(point.y or 0.0) - plot.y_pixel(trace)(0.0))
        if length > 2 * _INSET + _HEAD:
            yield from _arrow(plot, trace, point, -_INSET, -min(_INSET + _ARROW, length - _INSET))


def _arrow(plot: Plot, trace: Trace, point: ChartPoint, start: float, tip: float) -> Iterator[Arrow]:
    """Yield the arrow of a bar from one distance to another beyond the bar's end."""
    if point.y is None or trace.mark != "bar":
        return
    middle, end = sum(plot.bar(trace, point.x)) / 2, plot.y_pixel(trace)(point.y)
    out = (1 if plot.flat else -1) * (-1 if point.y < 0 else 1)
    ends = (end + out * start, end + out * tip)
    (one, other) = ((at, middle) if plot.flat else (middle, at) for at in ends)
    yield one, other


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
