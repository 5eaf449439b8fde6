"""Sets the axes of a chart on a slide: their ends, ticks and positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pptx.enum.chart import XL_TICK_LABEL_POSITION, XL_TICK_MARK
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.util import Pt

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.precision import formatted, magnitude
from benchbrief.reports.charts.chart import GRID, SOFT, nice_ticks, text_width
from benchbrief.reports.data.native_chart import NativeChart, NativeSeries
from benchbrief.reports.office.slide_chart_data import signed
from benchbrief.reports.office.slide_masters import LEAST_PT, Area, rgb
from benchbrief.reports.office.text_fit import BOLDER, JAPANESE, LINE_HEIGHT, lines_of
from benchbrief.reports.text.html_markup import writable

_UNITS, _MOST_TICKS, _SPARE = (1.0, 2.0, 2.5, 5.0, 10.0, 20.0), 5, 1.04
"""The steps of axes as multiples of a power of ten, the most ticks of an axis, and how far an axis extends beyond its
values, as a factor."""
MOST_STEPS = 10
"""The most steps of an x axis that has ticks only at the values."""
_BETWEEN_TICKS = 12.0
_MOST_BESIDE = 130.0
"""Roughly the width of ticks and names of levels beside a chart."""
HEADING_PT, _HEADING_LINE, _OVER_PLOT = 13.0, 17.0, 10.0
"""The type size of a panel's heading, the height of its lines, and the space below it."""
_HEADING_SHARE, _UNDER_NAME = 0.74, 4.0
"""The largest share of a panel's width that a heading takes (programs break lines at about 0.8), and the space below
the name of the x axis."""


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`. Categories are at whole numbers, and their axis extends half a slot beyond the
    first and the last."""

    low: float
    high: float
    log: bool = False

    def share(self, value: float) -> float:
        """Return how far along the axis a value lies, from 0 to 1."""
        low, high, at = map(math.log, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        return (at - low) / (high - low)


@dataclass(frozen=True)
class Scales:
    """The axes of a chart. The x axis is None if the program chooses its ends."""

    x: Scale | None
    y: Scale


@dataclass(frozen=True)
class Plot:
    """The `area` between a chart's axes, where its values are drawn, and the scales of the axes."""

    area: Area
    scales: Scales

    def x(self, value: float) -> float:
        """Return the x coordinate of a value, or of a category with this index."""
        return self.area.left + self.area.width * (self.scales.x.share(value) if self.scales.x else 0.5)

    def y(self, value: float) -> float:
        return self.area.bottom - self.area.height * self.scales.y.share(value)


@dataclass(frozen=True)
class Margins:
    """The space around the plot of a chart. `heading` is for the chart's heading, `over` is for the numbers over its
    bars, and the rest is for its axes."""

    left: float
    right: float
    below: float
    heading: float
    over: float

    @property
    def top(self) -> float:
        return self.heading + self.over


def margins_of(
    chart: NativeChart, area: Area, axis: Scale, points: float, above: float, beside: tuple[float, float]
) -> Margins:
    """Return the space around the plot that a chart needs in an area.

    `above` is the free space needed over the highest bar. `beside` has the width of the names to the right of the plot,
    and the width of the values to the right of its last points.
    """
    low, high = axis.low, axis.high
    written = [10.0**power for power in range(round(math.log10(low)), int(math.log10(high)) + 1)] if axis.log else []
    ticks = max(text_width(formatted(each, ",.6g"), points) for each in (*written, *chart.ticks, low, high)) + 14
    half = (area.width - ticks) / len(chart.categories) / 2 if chart.categories else 0.0
    right = max(8.0 if chart.categories else 26.0, beside[0], beside[1] - half)
    slot = (area.width - ticks - right) / max(1, len(chart.categories))
    lines = max((lines_of(name, slot, points) for name in chart.categories), default=1)
    lines += any(series.mark == "range" for series in chart.series)  # whose categories have places of their own
    below = (lines + bool(chart.x_title)) * points * LINE_HEIGHT + (14 if chart.x_title else 8)
    heading = len(heading_lines(chart, area)) * _HEADING_LINE + _OVER_PLOT
    over = 0.0
    if above and low == 0:
        share = max((value for series in chart.series for value in reach(series)), default=0.0) / high if high else 0.0
        over = max(0.0, (above - (area.height - heading - below) * (1 - share)) / share) if share > 0 else 0.0
    return Margins(ticks, right, below, heading, over)


def largest(margins: Sequence[Margins]) -> Margins:
    """Return the largest space that any of the panels needs on each side, so that all plots get the same size."""
    sides = ("left", "right", "below", "heading", "over")
    return Margins(*(max(getattr(each, side) for each in margins) for side in sides))


def heading_lines(chart: NativeChart, area: Area) -> list[str]:
    """Return the lines of a panel's heading, if it has one."""
    lines: list[str] = []
    for word in chart.heading.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, HEADING_PT) * BOLDER > area.width * _HEADING_SHARE:
            lines.append(word)
        else:
            lines[-1:] = [longer]
    return lines


def place_plot(made: Any, chart: NativeChart, area: Area, scales: Scales, margins: Margins, points: float) -> Plot:
    """Place the axes of a chart within its area, with its heading and the name of its x axis centred on them."""
    width, height = area.width - margins.left - margins.right, area.height - margins.top - margins.below
    inner = Area(area.left + margins.left, area.top + margins.top, width, height)
    lay_out(made._chartSpace.find(f".//{qn('c:plotArea')}"), inner, area)
    middle = margins.left + width / 2
    if lines := heading_lines(chart, area):
        left = middle - max(text_width(line, HEADING_PT) for line in lines) * BOLDER / 2
        top = margins.heading - _OVER_PLOT - len(lines) * _HEADING_LINE
        lay_out(made.chart_title._element, Area(area.left + max(0.0, left), area.top + max(0.0, top), 0.0, 0.0), area)
    if chart.x_title:
        left = middle - text_width(chart.x_title, points) / 2
        top = area.bottom - points * LINE_HEIGHT - _UNDER_NAME
        lay_out(made.category_axis.axis_title._element, Area(area.left + max(0.0, left), top, 0.0, 0.0), area)
    return Plot(inner, scales)


def lay_out(element: Any, place: Area, area: Area) -> None:
    """Set the position of a chart's part within the chart's area. A heading has no size of its own."""
    shares = {"x": (place.left - area.left) / area.width, "y": (place.top - area.top) / area.height}
    inner = ""
    if place.width:
        inner = '<c:layoutTarget val="inner"/>'
        shares |= {"w": place.width / area.width, "h": place.height / area.height}
    said = "".join(f'<c:{name} val="{share:.10g}"/>' for name, share in shares.items())
    for old in element.findall(qn("c:layout")):
        element.remove(old)
    modes = f'{inner}<c:xMode val="edge"/><c:yMode val="edge"/>'
    layout = parse_xml(f"<c:layout {nsdecls('c')}><c:manualLayout>{modes}{said}</c:manualLayout></c:layout>")
    text = element.find(qn("c:tx"))
    if text is None:
        element.insert(0, layout)
    else:
        text.addnext(layout)


def reach(series: NativeSeries) -> list[float]:
    """Return the values that an axis must have room for."""
    repeats = (value for of_point in series.repeats for value in of_point)
    return [v for v in (*series.values, *series.high, *series.ends, *repeats) if v is not None and math.isfinite(v)]


def set_axes(
    made: Any, chart: NativeChart, shared: Sequence[float], xs: Sequence[float], points: float, ink: str, room: float
) -> Scales | None:
    """Set the axes of a chart that is `room` wide. `shared` has the values of all panels, and `xs` has their places on
    the x axis. The axes have room for all of these. Returns the axes, or None if the program chooses the value axis.
    """
    values, categories = made.value_axis, made.category_axis
    values.has_major_gridlines = True
    values.major_gridlines.format.line.color.rgb = rgb(GRID)
    values.format.line.fill.background()
    values.major_tick_mark = categories.major_tick_mark = XL_TICK_MARK.NONE
    categories.format.line.color.rgb = rgb(SOFT)
    categories.has_major_gridlines = False
    if chart.categories and min(shared, default=0.0) < 0:
        categories.tick_label_position = XL_TICK_LABEL_POSITION.LOW  # below the bars, and not on them
    for axis, title in ((values, ""), (categories, chart.x_title)):
        axis.tick_labels.font.size = Pt(points)
        slot = (room - _MOST_BESIDE) / max(1, len(chart.categories))
        if axis is categories and any(_is_cut(name, slot, points) for name in chart.categories):
            axis.tick_labels.font.size = Pt(LEAST_PT)
        axis.has_title = bool(title)
        if title:
            text = axis.axis_title.text_frame
            text.text = writable(title)
            text.paragraphs[0].font.size, text.paragraphs[0].font.bold = Pt(points), False
            if ink:
                text.paragraphs[0].font.color.rgb = rgb(SOFT)
    low, high, unit = _scale(chart, shared)
    most = max(abs(low), abs(high))
    values.tick_labels.number_format = "0.0E+00" if most >= 1e12 or 0 < most < 1e-4 else tick_format((low, unit))
    if most >= 10 and unit >= 1:
        values.tick_labels.number_format = "#,##0" if most < 1e12 else "0.0E+00"
    if low < 0:
        values.tick_labels.number_format = signed(values.tick_labels.number_format, "")
    values.tick_labels.number_format_is_linked = False
    across = Scale(-0.5, len(chart.categories) - 0.5)
    along = across if chart.categories else _scale_x(categories, chart, xs, room)
    if not most:
        return None
    log = chart.log_left and min(shared, default=0.0) > 0
    if log:
        _log(values, 10)
        low, high = _decades(min((*shared, *chart.ticks[:1])), max(shared), 10)
        high = next((tick for tick in chart.ticks[-1:] if max(shared) <= tick < high), high)
    else:
        values.major_unit = unit
    values.minimum_scale, values.maximum_scale = low, high
    return Scales(along, Scale(low, high, log))


def _is_cut(name: str, width: float, points: float) -> bool:
    """Return whether programs would break a Japanese name anywhere, although it has room in small type."""
    is_long = text_width(name, points) > width >= text_width(name, LEAST_PT)
    return is_long and JAPANESE.search(name) is not None


def _scale(chart: NativeChart, shared: Sequence[float]) -> tuple[float, float, float]:
    """Return the ends of the value axis and the step of its ticks. They are those of the brief's own drawing unless
    values lie beyond them."""
    low, high = min(0.0, *shared, 0.0), max(0.0, *shared, 0.0)
    if len(chart.ticks) > 1 and not chart.log_left and chart.ticks[0] <= low and chart.ticks[-1] >= high:
        return chart.ticks[0], chart.ticks[-1], chart.ticks[1] - chart.ticks[0]
    if low == high:
        return 0.0, 0.0, 1.0
    wanted = (high - low) * _SPARE
    power = 10.0 ** magnitude(wanted / _MOST_TICKS)
    unit = next(step * power for step in _UNITS if step * power * _MOST_TICKS >= wanted)
    first = -unit * math.ceil(-low * _SPARE / unit - 1e-9) if low < 0 else 0.0
    return first, unit * math.ceil(high * _SPARE / unit - 1e-9), unit


def tick_format(numbers: Sequence[float]) -> str:
    """Return the number format with as many decimals as any of the numbers needs. A format with optional decimals would
    print 20 as "20."."""
    decimals = max((len(formatted(each, ".6f").rstrip("0").partition(".")[2]) for each in numbers), default=0)
    return "#,##0" + ("." + "0" * decimals if decimals else "")


def _scale_x(axis: Any, chart: NativeChart, xs: Sequence[float], room: float) -> Scale | None:
    """Set the x axis and return it, or None if the program chooses its ends. It has the ticks of the brief's own
    drawing if they fit."""
    shown: Sequence[float] = xs
    found: Scale | None = None
    widest = text_width(formatted(max(xs, default=0.0), ",.6g"), LEAST_PT) + _BETWEEN_TICKS
    if chart.log_x and xs and min(xs) > 0:
        base = 2 if all(math.log2(x).is_integer() for x in xs) else 10
        _log(axis, base)
        shown = _decades(min(xs), max(xs), base)
        found = Scale(*shown, log=True)
    elif xs and (unit := _common_step(xs)):
        axis.major_unit, found = unit, Scale(min(xs), max(xs))
    elif xs and min(xs) >= 0 and max(xs) > 0:
        shown = chart.x_ticks
        drawn = len(shown) > 1 and not chart.log_x and shown[0] <= min(xs) and shown[-1] >= max(xs)
        if not drawn or len(shown) * widest > room:
            shown = nice_ticks(xs, max(1, min(_MOST_TICKS, int(room / widest) - 1))).values
        axis.major_unit, found = shown[1] - shown[0], Scale(shown[0], shown[-1])
    if found:
        axis.minimum_scale, axis.maximum_scale = found.low, found.high
    axis.tick_labels.number_format, axis.tick_labels.number_format_is_linked = tick_format(shown), False
    return found


def _decades(low: float, high: float, base: int) -> tuple[float, float]:
    """Return two powers of the base between which all values lie. They are at least one step apart."""
    first = math.floor(math.log(low, base) + 1e-9)
    return float(base) ** first, float(base) ** max(first + 1, math.ceil(math.log(high, base) - 1e-9))


def _common_step(xs: Sequence[float]) -> int:
    """If the values are a few whole numbers that can all be reached from the lowest in equal steps, return the step, or
    else 0."""
    if not all(x == int(x) and 0 <= x < 1e9 for x in xs):
        return 0
    step = math.gcd(*(int(x - min(xs)) for x in xs))
    return step if step and (max(xs) - min(xs)) / step <= MOST_STEPS else 0


def _log(axis: Any, base: int) -> None:
    axis.major_unit = base
    scaling = axis._element.find(qn("c:scaling"))
    for old in scaling.findall(qn("c:logBase")):
        scaling.remove(old)
    scaling.insert(0, parse_xml(f'<c:logBase {nsdecls("c")} val="{base}"/>'))
