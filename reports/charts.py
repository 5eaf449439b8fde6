"""Charts as vector SVG: lines, grouped bars, two axes, latency-throughput curves, rules, confidence intervals.

The layout (margins, ticks, places of labels) comes from `axes.py`; altair draws it. Text stays text, in the page's own
font. Colours are Okabe and Ito's (jfly.uni-koeln.de/color), ordered so that neighbours also differ in lightness; point
shapes tell the series apart where colour does not print.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from benchbrief.reports import axes
from benchbrief.reports.axes import Box, Ticks, text_width

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#7A7A00", "#5D3A9B")
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "circle", "square")
INK, SOFT, GRID, PAPER = "#1d2a35", "#55626e", "#dfe4e8", "#ffffff"
TEXT, SMALL = 10.5, 9.5  # pixels: 8 and 7 points on paper
_ROW = 17  # pixels from one row of the legend to the next


@dataclass(frozen=True)
class Point:
    """`x` is a number, or the index of a category. `y` None is a gap. `low` and `high`: a confidence interval."""

    x: float
    y: float | None
    label: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Trace:
    """One series. `color` is its place in the palette; None draws it in the ink of the text."""

    name: str
    mark: Literal["line", "bar", "curve", "rule"]
    points: tuple[Point, ...]
    color: int | None
    right: bool = False
    dashed: bool = False

    @property
    def paint(self) -> str:
        return INK if self.color is None else PALETTE[self.color % len(PALETTE)]

    @property
    def shape(self) -> str:
        return "diamond" if self.color is None else SHAPES[self.color % len(SHAPES)]


@dataclass(frozen=True)
class XAxis:
    """`category`: one slot for each of `categories`; `steps`: whole numbers; `log` and `linear`: numbers.

    `ticks` are the values to mark, where there are few enough; empty: round numbers.
    """

    title: str
    kind: Literal["category", "steps", "log", "linear"]
    categories: tuple[str, ...] = ()
    ticks: tuple[float, ...] = ()


@dataclass(frozen=True)
class Chart:
    """Titles name the quantity and its unit. Values are in the units the titles name."""

    traces: tuple[Trace, ...]
    x: XAxis
    left: str
    right: str = ""
    log_y: bool = False


def draw(chart: Chart, width: int, height: int, font: str) -> str:
    """The chart as an SVG document of `width` x `height` pixels. It has at least one point with a value."""
    import altair as alt
    import vl_convert

    plot = _Plot(chart, width, height)
    spec = (
        alt.layer(*_layers(plot))
        .resolve_scale(y="independent")
        .properties(
            width=plot.width,
            height=plot.height,
            padding={"left": plot.left, "right": plot.right, "top": plot.top, "bottom": plot.bottom},
            autosize="none",
        )
        .configure(font=font, aria=False, background=PAPER)
        .configure_view(stroke=None)
        .to_dict(validate=False)  # 10 ms a chart, for a shape that the tests draw
    )
    svg: str = vl_convert.vegalite_to_svg(spec)
    return re.sub(r"\s+(?:class|role|aria-[a-z]+|pointer-events)=\"[^\"]*\"", "", svg)


# --- layout ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _LegendItem:
    trace: Trace
    x: float
    y: float


@dataclass
class _Plot:
    """Sizes of the plot area and what stands around it, all in pixels."""

    chart: Chart
    outer_width: int
    outer_height: int
    y: Ticks = field(init=False)
    y_right: Ticks | None = field(init=False)
    legend: tuple[_LegendItem, ...] = field(init=False, default=())
    direct: bool = field(init=False)

    def __post_init__(self) -> None:
        chart = self.chart
        self.has_bars = any(t.mark == "bar" for t in chart.traces)
        self.log_y = chart.log_y and not self.has_bars
        self.y = self._ticks([t for t in chart.traces if not t.right])
        right = [t for t in chart.traces if t.right]
        self.y_right = axes.matching_ticks(_extent(right), len(self.y.values) - 1) if right else None
        self.left = 9 + max(text_width(label, TEXT) for label in self.y.labels())
        self.right = 12.0
        if self.y_right:
            self.right = 9 + max(text_width(label, TEXT) for label in self.y_right.labels())
        self.category_lines = max((len(lines) for lines in self._wrapped(self.outer_width)), default=1)
        self.bottom = 8 + 13 * self.category_lines + (16 if chart.x.title else 0)
        self.top = 24.0
        self.height = self.outer_height - self.top - self.bottom
        self.direct = self._direct_labels_fit()
        if self.direct:
            self.right = 12 + max(text_width(t.name, TEXT) for t in chart.traces)
        elif len(chart.traces) > 1 or chart.traces[0].mark == "curve":
            self.legend, rows = self._legend()
            self.top += _ROW * rows
        self.left, self.right = round(self.left, 1), round(self.right, 1)
        self.width = round(self.outer_width - self.left - self.right, 1)
        self.height = round(self.outer_height - self.top - self.bottom, 1)

    def _ticks(self, traces: Sequence[Trace]) -> Ticks:
        values = _extent(traces)
        if self.log_y and values:
            return axes.log_ticks([v for v in values if v > 0], 10)
        return axes.nice_ticks(values)

    def y_pixel(self, trace: Trace) -> Callable[[float], float]:
        ticks = self.y_right if trace.right and self.y_right else self.y
        return axes.linear((ticks.low, ticks.high), (self.height, 0.0), self.log_y and not trace.right)

    def x_pixel(self) -> Callable[[float], float]:
        if self.chart.x.kind == "category":
            slot = self.width / len(self.chart.x.categories)
            return lambda index: slot * (index + 0.5)
        return axes.linear(self.x_domain, (0.0, self.width), self.chart.x.kind == "log")

    @property
    def x_values(self) -> list[float]:
        return [p.x for t in self.chart.traces if t.mark != "rule" for p in t.points if p.y is not None or p.x]

    @property
    def x_ticks(self) -> tuple[float, ...]:
        wanted = self.chart.x.ticks
        if not wanted or len(wanted) > 14:
            if self.chart.x.kind == "log":
                return axes.log_ticks(self.x_values, 2 if max(self.x_values) < 5000 else 10).values
            return self._round_ticks().values
        pixel = self.x_pixel()
        kept: list[float] = []
        for value, label in reversed(list(zip(wanted, axes.tick_labels(wanted), strict=True))):
            if not kept or pixel(kept[-1]) - pixel(value) > text_width(label, TEXT) + 8:
                kept.append(value)
        return tuple(reversed(kept))

    @property
    def x_domain(self) -> tuple[float, float]:
        low, high = min(self.x_values), max(self.x_values)
        if self.chart.x.kind == "log":
            return (low / 1.12, high * 1.12)
        if self.chart.x.kind == "steps":
            return (low - 0.3, high + 0.3)
        if not self.chart.x.ticks:
            ticks = self._round_ticks()
            return ticks.low, ticks.high
        return (0.0, high * 1.03) if low < 0.5 * high else (low - (high - low or 1) * 0.05, high + (high - low or 1) * 0.05)

    def _round_ticks(self) -> Ticks:
        return axes.nice_ticks(self.x_values, max(3, int(self.width / 80)))

    def wrapped_categories(self) -> list[list[str]]:
        return self._wrapped(self.width)

    def _wrapped(self, width: float) -> list[list[str]]:
        names = self.chart.x.categories
        return [_wrap(name, width / len(names) - 6) for name in names]

    def _direct_labels_fit(self) -> bool:
        """Names at the right ends of lines, where they are few, short and apart."""
        traces = self.chart.traces
        if self.y_right or len(traces) < 2 or any(t.mark not in ("line", "rule") for t in traces):
            return False
        if max(text_width(t.name, TEXT) for t in traces) > 0.26 * self.outer_width:
            return False
        lines = [t for t in traces if t.mark == "line"]
        last_x = max((p.x for t in lines for p in t.points), default=0.0)
        ends = [t.points[-1] for t in traces if t.points]
        if any(t.points[-1].x != last_x for t in lines if t.points) or any(p.y is None for p in ends):
            return False
        pixel = self.y_pixel(traces[0])
        return len(ends) == len(traces) and axes.spread([pixel(p.y) for p in ends if p.y is not None], 13)

    def _legend(self) -> tuple[tuple[_LegendItem, ...], int]:
        items: list[_LegendItem] = []
        x, row = 0.0, 0
        for trace in self.chart.traces:
            needed = 24 + text_width(trace.name, TEXT) + 16
            if x and x + needed > self.outer_width + 16:
                x, row = 0.0, row + 1
            items.append(_LegendItem(trace, x - self.left, float(_ROW * row)))
            x += needed
        rows = row + 1
        moved = [_LegendItem(i.trace, i.x, i.y - _ROW * rows - 16) for i in items]
        return tuple(moved), rows


def _extent(traces: Sequence[Trace]) -> list[float]:
    return [v for t in traces for p in t.points for v in (p.y, p.low, p.high) if v is not None]


def _wrap(text: str, width: float, lines: int = 3) -> list[str]:
    """Break a label at blanks (between any characters where there are none) into lines that fit."""
    parts = re.findall(r"\S+\s*", text) if " " in text else list(text)
    found = [""]
    for part in parts:
        if found[-1] and len(found) < lines and text_width((found[-1] + part).rstrip(), TEXT) > width:
            found.append("")
        found[-1] += part
    return [line.strip() for line in found]


# --- drawing -----------------------------------------------------------------------------------------------------


def _layers(plot: _Plot) -> list[Any]:
    import altair as alt

    chart = plot.chart
    x = _x_encoding(plot)
    groups = []
    for right, ticks in ((False, plot.y), (True, plot.y_right)):
        if ticks is None:
            continue
        y = _y_encoding(ticks, right=right, log=plot.log_y and not right)
        traces = [t for t in chart.traces if t.right == right]
        drawn: list[Any] = []
        bars = [t for t in traces if t.mark == "bar"]
        if bars:
            drawn += _bars(plot, bars, x, y)
        for trace in traces:
            if trace.mark in ("line", "curve"):
                drawn += _line(trace, x, y)
            elif trace.mark == "rule":
                drawn += _rule(plot, trace, y)
        if not drawn:  # the left axis of a figure whose series all stand on the right one
            drawn = [alt.Chart(alt.Data(values=[])).mark_point().encode(x=x, y=y)]
        groups.append(alt.layer(*drawn))
    samples = [sample for item in plot.legend for sample in _legend_sample(item)]
    return [*groups, alt.layer(*samples, *_write(_texts(plot)))]


def _x_encoding(plot: _Plot) -> Any:
    import altair as alt

    look = {"title": None, "labelColor": SOFT, "labelFontSize": TEXT, "labelPadding": 5, "labelLimit": 0,
            "labelFlush": False, "domainColor": SOFT, "tickColor": SOFT, "tickSize": 4, "grid": False}  # fmt: skip
    if plot.chart.x.kind == "category":
        axis = alt.Axis(**look, labels=False, ticks=False)  # written in _texts, where long ones are wrapped
        domain = [str(i) for i in range(len(plot.chart.x.categories))]
        if plot.has_bars:
            scale = alt.Scale(domain=domain, paddingInner=0.28, paddingOuter=0.14)
        else:
            scale = alt.Scale(domain=domain, padding=0.5)
        return alt.X(field="x", type="ordinal", scale=scale, axis=axis)
    ticks = plot.x_ticks
    axis = alt.Axis(**look, values=list(ticks), labelExpr=_lookup(ticks), labelOverlap=False)
    scale = alt.Scale(type="log" if plot.chart.x.kind == "log" else "linear", domain=list(plot.x_domain), nice=False,
                      zero=False)  # fmt: skip
    return alt.X(field="x", type="quantitative", scale=scale, axis=axis)


def _y_encoding(ticks: Ticks, *, right: bool, log: bool) -> Any:
    import altair as alt

    axis = alt.Axis(
        title=None, orient="right" if right else "left", values=list(ticks.values), labelExpr=_lookup(ticks.values),
        labelColor=SOFT, labelFontSize=TEXT, labelPadding=5, labelOverlap=False, domain=False, ticks=False,
        grid=not right, gridColor=GRID, gridWidth=0.8,
    )  # fmt: skip
    scale = alt.Scale(type="log" if log else "linear", domain=[ticks.low, ticks.high], nice=False, zero=False)
    return alt.Y(field="y", type="quantitative", scale=scale, axis=axis)


def _lookup(values: Sequence[float]) -> str:
    """An expression that gives a tick's text: labels are written here, not by the renderer's locale."""
    return f"{json.dumps(axes.tick_labels(values))}[indexof({json.dumps(list(values))}, datum.value)]"


def _rows(trace: Trace, *, category: bool) -> list[dict[str, Any]]:
    return [
        {"x": str(int(p.x)) if category else p.x, "y": p.y, "low": p.low, "high": p.high, "order": i}
        for i, p in enumerate(trace.points)
    ]


def _line(trace: Trace, x: Any, y: Any) -> list[Any]:
    import altair as alt

    base = alt.Chart(alt.Data(values=_rows(trace, category=x.type == "ordinal"))).encode(x=x, y=y)
    layers = []
    if any(p.low is not None for p in trace.points):
        layers.append(base.mark_area(color=trace.paint, opacity=0.16).encode(y=_at(y, "low"), y2=alt.Y2(field="high")))
    dash = [5, 3] if trace.dashed else [1, 0]
    layers.append(
        base.mark_line(
            color=trace.paint, strokeWidth=2, strokeDash=dash, strokeJoin="round", invalid="break-paths-filter-domains"
        ).encode(order=alt.Order(field="order", type="quantitative"))
    )
    if len(trace.points) <= 40:  # a line through time needs no points
        layers.append(
            base.transform_filter("isValid(datum.y)").mark_point(
                filled=True, fill=trace.paint, stroke=PAPER, strokeWidth=1, size=58, opacity=1, shape=trace.shape
            )
        )
    return layers


def _at(y: Any, name: str) -> Any:
    other = y.copy()
    other.field = name
    return other


def _bars(plot: _Plot, bars: Sequence[Trace], x: Any, y: Any) -> list[Any]:
    import altair as alt

    rows = [
        {**row, "series": str(i), "color": t.paint, "text": _bar_text(row["y"])}
        for i, t in enumerate(bars)
        for row in _rows(t, category=True)
    ]
    offset = alt.XOffset(field="series", type="nominal", scale=alt.Scale(domain=[str(i) for i in range(len(bars))], paddingInner=0.06))
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, xOffset=offset)
    layers: list[Any] = [base.mark_bar().encode(color=alt.Color(field="color", type="nominal", scale=None, legend=None))]
    if any(row["low"] is not None for row in rows):
        layers.append(base.mark_rule(color=INK, strokeWidth=1).encode(y=_at(y, "low"), y2=alt.Y2(field="high")))
    bar_width = plot.width / len(plot.chart.x.categories) * 0.72 / len(bars)
    crowded = plot.y_right is not None or any(row["low"] is not None for row in rows)
    if not crowded and all(text_width(row["text"], SMALL) < bar_width + 3 for row in rows):
        label = base.mark_text(dy=-6, fontSize=SMALL, color=INK, baseline="middle")
        layers.append(label.transform_filter("isValid(datum.y) && datum.y >= 0").encode(text=alt.Text(field="text", type="nominal")))
    return layers


def _bar_text(value: float | None) -> str:
    if value is None:
        return ""
    size = abs(value)
    if size >= 1e4:
        return axes.tick_labels([float(f"{value:.3g}")])[0]
    return f"{value:,.0f}" if size >= 100 or value == int(value) else f"{value:.1f}" if size >= 10 else f"{value:.3g}"


def _rule(plot: _Plot, trace: Trace, y: Any) -> list[Any]:
    import altair as alt

    layers = []
    for point in trace.points:
        if point.y is not None:
            base = alt.Chart(alt.Data(values=[{"y": point.y}])).encode(y=y)
            layers.append(base.mark_rule(color=trace.paint, strokeWidth=1.5, strokeDash=[5, 3]))
            if not plot.direct and not plot.legend:
                name = base.mark_text(align="right", dy=-7, color=_readable(trace.paint), fontSize=TEXT)
                layers.append(name.encode(text=alt.TextValue(trace.name), x=alt.XValue(plot.width)))
    return layers


@dataclass(frozen=True)
class _Text:
    text: str
    x: float
    y: float
    align: str
    color: str
    size: float = TEXT
    bold: bool = False


def _texts(plot: _Plot) -> list[_Text]:
    """Titles, legend, and names and numbers beside points, at places worked out beforehand."""
    chart = plot.chart
    found = [_Text(chart.left, -plot.left, -15, "left", SOFT)]
    if chart.right:
        found.append(_Text(chart.right, plot.width + plot.right, -15, "right", SOFT))
    if chart.x.title:
        found.append(_Text(chart.x.title, plot.width / 2, plot.height + plot.bottom - 7, "center", SOFT))
    x = plot.x_pixel()
    for index, lines_of_label in enumerate(plot.wrapped_categories()):
        for row, line in enumerate(lines_of_label):
            found.append(_Text(line, x(index), plot.height + 13 + 13 * row, "center", SOFT))
    for item in plot.legend:
        found.append(_Text(item.trace.name, item.x + (17 if item.trace.mark == "bar" else 24), item.y, "left", INK))
    for trace in chart.traces if plot.direct else ():
        end = trace.points[-1]
        if end.y is not None:
            at = plot.width if trace.mark == "rule" else x(end.x) + 3
            y = plot.y_pixel(trace)(end.y)
            found.append(_Text(trace.name, at + 5, y, "left", _readable(trace.paint), bold=True))
    return [*found, *_point_labels(plot)]


def _point_labels(plot: _Plot) -> list[_Text]:
    curves = [t for t in plot.chart.traces if t.mark == "curve"]
    x = plot.x_pixel()
    lines, named = [], []
    for trace in curves:
        y = plot.y_pixel(trace)
        shown = [(p, x(p.x), y(p.y)) for p in trace.points if p.y is not None]
        lines.append([(px, py) for _, px, py in shown])
        named += [(trace, p.label, px, py) for p, px, py in shown if p.label]
    area = Box(-4, -4, plot.width + plot.right, plot.height)
    places = axes.place_labels([axes.Label(text, px, py) for _, text, px, py in named], SMALL, area, lines)
    return [
        _Text(text, px + place.dx, py + place.dy, place.align, _readable(trace.paint), SMALL)
        for (trace, text, px, py), place in zip(named, places, strict=True)
    ]


def _write(texts: Sequence[_Text]) -> list[Any]:
    """One layer for all texts of a kind: each layer costs altair some 10 ms."""
    import altair as alt

    kinds: dict[tuple[str, float, bool], list[_Text]] = {}
    for text in texts:
        kinds.setdefault((text.align, text.size, text.bold), []).append(text)
    return [
        alt.Chart(alt.Data(values=[{"text": t.text, "px": t.x, "py": t.y, "color": t.color} for t in some]))
        .mark_text(align=align, baseline="middle", fontSize=size, fontWeight=600 if bold else 400)
        .encode(
            text=alt.Text(field="text", type="nominal"),
            x=alt.X(field="px", type="quantitative", scale=None, axis=None),
            y=alt.Y(field="py", type="quantitative", scale=None, axis=None),
            color=alt.Color(field="color", type="nominal", scale=None, legend=None),
        )
        for (align, size, bold), some in kinds.items()
    ]


def _legend_sample(item: _LegendItem) -> list[Any]:
    import altair as alt

    trace, base = item.trace, alt.Chart(alt.Data(values=[{}]))
    x, y = alt.XValue(item.x), alt.YValue(item.y)
    if trace.mark == "bar":
        ends = {"x2": alt.X2Value(item.x + 12), "y2": alt.Y2Value(item.y + 5)}
        return [base.mark_rect(color=trace.paint).encode(x=x, y=alt.YValue(item.y - 5), **ends)]
    dash = [5, 3] if trace.dashed or trace.mark == "rule" else [1, 0]
    line = base.mark_rule(color=trace.paint, strokeWidth=2, strokeDash=dash)
    sample: list[Any] = [line.encode(x=x, x2=alt.X2Value(item.x + 18), y=y)]
    if trace.mark != "rule":
        point = base.mark_point(filled=True, fill=trace.paint, size=46, opacity=1, shape=trace.shape)
        sample.append(point.encode(x=alt.XValue(item.x + 9), y=y))
    return sample


def _readable(color: str) -> str:
    """The colour, darkened until text in it has a contrast of 4.5 to 1 on white (WCAG 2.2, 1.4.3)."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    while 1.05 / (_luminance(channels) + 0.05) < 4.5:
        channels = [c * 0.95 for c in channels]
    return "#" + "".join(f"{round(c * 255):02x}" for c in channels)


def _luminance(channels: Sequence[float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
