"""Charts as vector SVG: lines, grouped bars, two axes, latency-throughput curves, rules, confidence intervals.

Where everything stands comes from `layout.py`; altair draws it. Text stays text, in the page's own font. The one module
that knows altair.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from benchbrief.reports import axes
from benchbrief.reports.axes import Ticks, text_width
from benchbrief.reports.layout import (
    GRID,
    INK,
    PAPER,
    SMALL,
    SOFT,
    TEXT,
    Chart,
    LegendItem,
    Plot,
    Text,
    Trace,
    texts,
)


def _altair() -> Any:
    """The library, imported late for a fast start, and without its types: they know each argument's fifty forms."""
    import altair

    return altair


def draw(chart: Chart, width: int, height: int, font: str) -> str:
    """The chart as an SVG document of `width` x `height` pixels. It has at least one point with a value."""
    import vl_convert

    alt = _altair()
    plot = Plot(chart, width, height)
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


# --- drawing -----------------------------------------------------------------------------------------------------


def _layers(plot: Plot) -> list[Any]:
    alt = _altair()
    chart = plot.chart
    x = _x_encoding(plot)
    groups = []
    for right, ticks in ((False, plot.y), (True, plot.y_right)):
        if ticks is None:
            continue
        log = plot.log_y_right if right else plot.log_y
        y, low = (_y_encoding(ticks, name, right=right, log=log) for name in ("y", "low"))
        traces = [t for t in chart.traces if t.right == right]
        drawn: list[Any] = []
        bars = [t for t in traces if t.mark == "bar"]
        if bars:
            drawn += _bars(plot, bars, x, y, low)
        for trace in traces:
            if trace.mark in ("line", "curve"):
                drawn += _line(plot, trace, x, y, low)
            elif trace.mark == "rule":
                drawn += _rule(plot, trace, y)
        if not drawn:  # the left axis of a figure whose series all stand on the right one
            drawn = [alt.Chart(alt.Data(values=[])).mark_point().encode(x=x, y=y)]
        groups.append(alt.layer(*drawn))
    samples = [sample for item in plot.legend for sample in _legend_sample(item)]
    return [*groups, alt.layer(*samples, *_write(texts(plot)))]


def _x_encoding(plot: Plot) -> Any:
    alt = _altair()
    look = {
        "title": None,
        "labelColor": SOFT,
        "labelFontSize": TEXT,
        "labelPadding": 5,
        "labelLimit": 0,
        "labelFlush": False,
        "domainColor": SOFT,
        "tickColor": SOFT,
        "tickSize": 4,
        "grid": False,
    }
    if plot.chart.x.kind == "category":
        axis = alt.Axis(**look, labels=False, ticks=False)  # written in `texts`, where long ones are wrapped
        domain = [str(i) for i in range(len(plot.chart.x.categories))]
        if plot.has_bars:
            scale = alt.Scale(domain=domain, paddingInner=0.28, paddingOuter=0.14)
        else:
            scale = alt.Scale(domain=domain, padding=0.5)
        return alt.X(field="x", type="ordinal", scale=scale, axis=axis)
    ticks = plot.x_ticks
    axis = alt.Axis(**look, values=list(ticks), labelExpr=_lookup(ticks, axes.tick_labels(ticks)), labelOverlap=False)
    scale = alt.Scale(
        type="log" if plot.chart.x.kind == "log" else "linear", domain=list(plot.x_domain), nice=False, zero=False
    )
    return alt.X(field="x", type="quantitative", scale=scale, axis=axis)


def _y_encoding(ticks: Ticks, field: str, *, right: bool, log: bool) -> Any:
    alt = _altair()
    axis = alt.Axis(
        title=None,
        orient="right" if right else "left",
        values=list(ticks.values),
        labelExpr=_lookup(ticks.values, ticks.labels()),
        labelColor=SOFT,
        labelFontSize=TEXT,
        labelPadding=5,
        labelOverlap=False,
        domain=False,
        ticks=False,
        grid=not right,
        gridColor=GRID,
        gridWidth=0.8,
    )
    scale = alt.Scale(type="log" if log else "linear", domain=[ticks.low, ticks.high], nice=False, zero=False)
    return alt.Y(field=field, type="quantitative", scale=scale, axis=axis)


def _lookup(values: Sequence[float], labels: Sequence[str]) -> str:
    """An expression that gives a tick's text: labels are written here, not by the renderer's locale."""
    return f"{json.dumps(labels)}[indexof({json.dumps(list(values))}, datum.value)]"


def _rows(trace: Trace, *, category: bool) -> list[dict[str, Any]]:
    return [
        {"x": str(int(p.x)) if category else p.x, "y": p.y, "low": p.low, "high": p.high, "order": i}
        for i, p in enumerate(trace.points)
    ]


def _line(plot: Plot, trace: Trace, x: Any, y: Any, low: Any) -> list[Any]:
    alt = _altair()
    base = alt.Chart(alt.Data(values=_rows(trace, category=plot.chart.x.kind == "category"))).encode(x=x, y=y)
    layers = []
    if any(p.low is not None for p in trace.points):
        layers.append(base.mark_area(color=trace.paint, opacity=0.16).encode(y=low, y2=alt.Y2(field="high")))
    dash = [5, 3] if trace.dashed else [1, 0]
    if not trace.loose:
        line = base.mark_line(
            color=trace.paint, strokeWidth=2, strokeDash=dash, strokeJoin="round", invalid="break-paths-filter-domains"
        )
        layers.append(line.encode(order=alt.Order(field="order", type="quantitative")))
    if trace.loose or (len(trace.points) <= 40 and not trace.dashed):  # a line through time needs no points
        layers.append(
            base.transform_filter("isValid(datum.y)").mark_point(
                filled=True,
                fill=trace.paint,
                stroke=PAPER,
                strokeWidth=1,
                size=90 if trace.loose else 58,
                opacity=1,
                shape=trace.shape,
            )
        )
    return layers


def _bars(plot: Plot, bars: Sequence[Trace], x: Any, y: Any, low: Any) -> list[Any]:
    alt = _altair()
    rows = [
        {**row, "series": str(i), "color": t.paint, "text": _bar_text(row["y"])}
        for i, t in enumerate(bars)
        for row in _rows(t, category=True)
    ]
    offset = alt.XOffset(
        field="series", type="nominal", scale=alt.Scale(domain=[str(i) for i in range(len(bars))], paddingInner=0.06)
    )
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, xOffset=offset)
    layers: list[Any] = [
        base.mark_bar().encode(color=alt.Color(field="color", type="nominal", scale=None, legend=None))
    ]
    if any(row["low"] is not None for row in rows):
        layers.append(base.mark_rule(color=INK, strokeWidth=1).encode(y=low, y2=alt.Y2(field="high")))
    bar_width = plot.width / len(plot.chart.x.categories) * 0.72 / len(bars)
    crowded = plot.y_right is not None or any(row["low"] is not None for row in rows)
    if not crowded and all(text_width(row["text"], SMALL) < bar_width + 3 for row in rows):
        label = base.mark_text(dy=-6, fontSize=SMALL, color=INK, baseline="middle")
        layers.append(
            label.transform_filter("isValid(datum.y) && datum.y >= 0").encode(
                text=alt.Text(field="text", type="nominal")
            )
        )
    return layers


def _bar_text(value: float | None) -> str:
    if value is None:
        return ""
    size = abs(value)
    if size >= 1e4:
        return axes.tick_labels([float(f"{value:.3g}")])[0]
    return f"{value:,.0f}" if size >= 100 or value == int(value) else f"{value:.1f}" if size >= 10 else f"{value:.3g}"


def _rule(plot: Plot, trace: Trace, y: Any) -> list[Any]:
    """A line across the plot area, or, for an upright point, one that stands on the x axis."""
    alt = _altair()
    layers = []
    look = {"color": trace.paint, "strokeWidth": 1.5, "strokeDash": [5, 3]}
    for point in trace.points:
        if point.y is None:
            continue
        if point.upright:
            rule = alt.Chart(alt.Data(values=[{}])).mark_rule(**look)
            x = alt.XValue(plot.x_pixel()(point.x))
            layers.append(rule.encode(x=x, y=alt.YValue(0), y2=alt.Y2Value(plot.height)))
        else:
            layers.append(alt.Chart(alt.Data(values=[{"y": point.y}])).mark_rule(**look).encode(y=y))
    return layers


def _write(texts: Sequence[Text]) -> list[Any]:
    """One layer for all texts of a kind: each layer costs altair some 10 ms."""
    alt = _altair()
    kinds: dict[tuple[str, float, bool], list[Text]] = {}
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


def _legend_sample(item: LegendItem) -> list[Any]:
    alt = _altair()
    trace, base = item.trace, alt.Chart(alt.Data(values=[{}]))
    x, y = alt.XValue(item.x), alt.YValue(item.y)
    if trace.mark == "bar":
        ends = {"x2": alt.X2Value(item.x + 12), "y2": alt.Y2Value(item.y + 5)}
        return [base.mark_rect(color=trace.paint).encode(x=x, y=alt.YValue(item.y - 5), **ends)]
    dash = [5, 3] if trace.dashed or trace.mark == "rule" else [1, 0]
    line = base.mark_rule(color=trace.paint, strokeWidth=2, strokeDash=dash)
    sample: list[Any] = [] if trace.loose else [line.encode(x=x, x2=alt.X2Value(item.x + 18), y=y)]
    if trace.mark != "rule" and not trace.dashed:
        point = base.mark_point(
            filled=True, fill=trace.paint, size=70 if trace.loose else 46, opacity=1, shape=trace.shape
        )
        sample.append(point.encode(x=alt.XValue(item.x + 9), y=y))
    return sample
