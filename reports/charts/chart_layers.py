"""The layers of a chart, as altair writes them: lines, bars, rules, confidence intervals, texts and legends.

`chart_layout.py` computes all places. Text stays text. Only this module uses altair.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchbrief.reports.charts import chart as chart_axes
from benchbrief.reports.charts.arrow_labels import ArrowLabel
from benchbrief.reports.charts.bar_marks import brackets, floating_bars
from benchbrief.reports.charts.chart import GRID, INK, PAPER, SOFT, TEXT, Chart, Ticks, Trace
from benchbrief.reports.charts.chart_layout import (
    BAR_GAP,
    SLOT_GAP,
    ChartText,
    LegendItem,
    Panel,
    Plot,
    arrange,
    columns_for,
    shorten,
)
from benchbrief.reports.charts.chart_texts import texts_and_labels
from benchbrief.reports.charts.flat_bars import flat_brackets, rectangles
from benchbrief.reports.text.html_markup import writable

if TYPE_CHECKING:
    from altair import ConcatChart, LayerChart

_WIDEST = 1200.0
"""The most pixels of a text, wider than any figure. The converter takes minutes for thousands of characters."""
_TITLE = 30
"""Pixels for a chart's own title, which a page writes beside its figure."""
_CROSS = "M-0.8,-0.8L0.8,0.8M-0.8,0.8L0.8,-0.8"
Layer = dict[str, Any]
"""A layer in Vega-Lite's form."""


def _altair() -> Any:
    """Import the library late, for a fast start, and without its types, which list fifty forms of each argument."""
    import altair

    return altair


def panel_spec(panel: Panel, font: str) -> Layer:
    """Return a panel in Vega-Lite's form.

    altair writes each layer, and this function joins them: altair's own composition copies their contents over and
    over, and its checks of each part cost as much again, for shapes that the tests draw.
    """
    from altair.utils.schemapi import debug_mode

    plot = panel.plot
    with debug_mode(False):
        layers = _layers(panel)
    return {
        "$schema": _altair().SCHEMA_URL,
        "layer": layers,
        "resolve": {"scale": {"y": "independent"}},
        "width": plot.width,
        "height": plot.height,
        "padding": {"left": plot.left, "right": plot.right, "top": plot.top, "bottom": plot.bottom},
        "autosize": "none",
        "config": {"font": font, "aria": False, "background": PAPER, "view": {"stroke": None}},
    }


def altair_chart(charts: Sequence[Chart], width: int, height: int, font: str, title: str) -> LayerChart | ConcatChart:
    """Return the drawing of `draw_chart.py` as an altair chart with a title: one, or panels side by side."""
    import altair

    panels = [_nameless(panel_spec(panel, font)) for panel in arrange(charts, width, height)]
    first, head = panels[0], {"text": title, "anchor": "start"}
    if len(panels) == 1:
        padding = {**first["padding"], "top": first["padding"]["top"] + _TITLE}
        return altair.LayerChart.from_dict(writable({**first, "padding": padding, "title": head}), validate=False)
    parts = [{key: panel[key] for key in ("layer", "resolve", "width", "height")} for panel in panels]
    whole = {"concat": parts, "columns": columns_for(len(panels)), "config": first["config"], "title": head}
    return altair.ConcatChart.from_dict(writable(whole), validate=False)


def _nameless(layer: Layer) -> Layer:
    """Return the layer without the names that mark its series: panels of one drawing must not share them."""
    inner = {"layer": [_nameless(each) for each in layer["layer"]]} if "layer" in layer else {}
    return {**{key: value for key, value in layer.items() if key != "name"}, **inner}


def _layers(panel: Panel) -> list[Layer]:
    plot = panel.plot
    chart = plot.chart
    if plot.flat:
        return _flat_layers(panel)
    x = _x_encoding(plot)
    groups = []
    for right, ticks in ((False, plot.y), (True, plot.y_right)):
        if ticks is None:
            continue
        log = plot.log_y_right if right else plot.log_y
        numbers = plot.frame is None or ("right" if right else "left") in plot.frame.numbers
        y, low = (_y_encoding(ticks, name, right=right, log=log, numbers=numbers) for name in ("y", "low"))
        traces = [(series, t) for series, t in enumerate(chart.traces) if t.right == right]
        drawn: list[Layer] = []
        for series, trace in sorted(traces, key=lambda pair: not pair[1].stands_in_slot):
            if trace.mark == "bar":
                drawn += _named(_bar(plot, trace, x, y, low), series)
            elif trace.mark == "range":
                boxes = [(bar.left, bar.top, bar.right, bar.bottom) for bar in floating_bars(plot, trace)]
                drawn += [*_named([_rectangles(boxes, trace.paint)], series), _empty(x, y)]
            elif trace.mark == "bracket":
                drawn += _named(_bracket(plot, trace), series)
            elif trace.mark in ("line", "curve", "slope"):
                drawn += _named(_line(plot, trace, x, y, low), series)
            elif trace.mark == "rule":
                drawn += _named(_rule(plot, trace, y), series)
        if not drawn:  # the left axis of a figure whose series are all on the right one
            drawn = [_empty(x, y)]
        groups.append({"layer": drawn})
    groups += _open_marks(plot)
    items = (*plot.legend, *panel.legend)
    samples = [_written(sample) for item in items for sample in _legend_sample(item)]
    written, labels = texts_and_labels(plot)
    return [*groups, {"layer": [*_arrows(labels), *samples, *_write([*written, *panel.texts])]}]


def _flat_layers(panel: Panel) -> list[Layer]:
    """Return lying bars, in pixels, over the lines of their axis."""
    alt = _altair()
    plot = panel.plot
    value = plot.y_pixel(plot.in_slots[0])
    grid = [{"x": value(tick), "y": 0.0, "y2": plot.height} for tick in plot.y.values]
    lines = alt.Chart(alt.Data(values=grid)).mark_rule(color=GRID, strokeWidth=0.8)
    layers = [_written(lines.encode(**_pixels(), y2=alt.Y2(field="y2")))]
    over = list(flat_brackets(plot))
    for series, trace in enumerate(plot.chart.traces):
        if trace.stands_in_slot:
            drawn = [_rectangles([box for _, box in rectangles(plot, trace)], trace.paint)]
            ends = [
                {"x": value(point.low), "x2": value(point.high), "y": (box[1] + box[3]) / 2}
                for point, box in rectangles(plot, trace)
                if point.low is not None and point.high is not None
            ]
            whiskers = alt.Chart(alt.Data(values=ends)).mark_rule(color=INK, strokeWidth=1)
            drawn += [whiskers.encode(**_pixels(), x2=alt.X2(field="x2"))] if ends else []
        else:
            rows = [
                {"x": x, "y": y, "order": order, "of": of}
                for of, b in enumerate(one for one in over if one.trace is trace)
                for order, (x, y) in enumerate(((b.x - 5, b.top), (b.x, b.top), (b.x, b.bottom), (b.x - 5, b.bottom)))
            ]
            drawn = [_path(rows)] if rows else []
        layers += _named(drawn, series)
    zero = alt.Chart(alt.Data(values=[{"x": value(0.0) if not plot.y.log else 0.0, "y": 0.0, "y2": plot.height}]))
    layers.append(_written(zero.mark_rule(color=SOFT, strokeWidth=1).encode(**_pixels(), y2=alt.Y2(field="y2"))))
    samples = [_written(sample) for item in plot.legend for sample in _legend_sample(item)]
    return [{"layer": layers}, {"layer": [*samples, *_write(texts_and_labels(plot)[0])]}]


def _arrows(labels: Sequence[ArrowLabel]) -> list[Layer]:
    """Return the arrows of labels: a thin line, and a head of two strokes."""
    rows = []
    for of, (start, tip) in enumerate(arrow for label in labels for arrow in label.arrows):
        back = math.atan2(start[1] - tip[1], start[0] - tip[0])
        head = [(tip[0] + 6 * math.cos(back + turn), tip[1] + 6 * math.sin(back + turn)) for turn in (0.45, -0.45)]
        path = (start, tip, head[0], tip, head[1])
        rows += [{"x": x, "y": y, "order": order, "of": of} for order, (x, y) in enumerate(path)]
    return [_written(_path(rows))] if rows else []


def _path(rows: Sequence[dict[str, Any]]) -> Any:
    """Return thin lines through pixels, one for each value of `of`."""
    alt = _altair()
    line = alt.Chart(alt.Data(values=list(rows))).mark_line(color=INK, strokeWidth=1.2, strokeJoin="round")
    order = alt.Order(field="order", type="quantitative")
    return line.encode(**_pixels(), order=order, detail=alt.Detail(field="of", type="nominal"))


def _empty(x: Any, y: Any) -> Layer:
    """Return a layer with axes alone."""
    alt = _altair()
    return _written(alt.Chart(alt.Data(values=[])).mark_point().encode(x=x, y=y))


def _open_marks(plot: Plot) -> list[Layer]:
    """Return small marks inside the x axis, at candidates that were not measured."""
    alt = _altair()
    low, high = plot.x_domain
    marks = [{"px": plot.x_pixel()(value)} for value in plot.chart.x.open if low <= value <= high]
    if not marks:
        return []
    rules = alt.Chart(alt.Data(values=marks)).mark_rule(color=SOFT, strokeWidth=0.8)
    x = alt.X(field="px", type="quantitative", scale=None, axis=None)
    return [_written(rules.encode(x=x, y=alt.YValue(plot.height - 5), y2=alt.Y2Value(plot.height)))]


def _written(layer: Any, name: str = "") -> Layer:
    found: Layer = layer.to_dict(validate=False, context={"top_level": False})
    return {**found, "name": name} if name else found


def _named(layers: list[Any], series: int) -> list[Layer]:
    """Return layers whose groups in the SVG name the series: see `_svg`."""
    return [_written(layer, f"s{series}{chr(97 + index)}") for index, layer in enumerate(layers)]


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
        axis = alt.Axis(**look, labels=False, ticks=False)  # `texts` writes these, and wraps long ones
        domain = [str(i) for i in range(len(plot.chart.x.categories))]
        if plot.has_bars:
            scale = alt.Scale(domain=domain, paddingInner=SLOT_GAP, paddingOuter=SLOT_GAP / 2)
        else:
            scale = alt.Scale(domain=domain, padding=0.5)
        return alt.X(field="x", type="ordinal", scale=scale, axis=axis)
    ticks = plot.x_ticks
    axis = alt.Axis(
        **look, values=list(ticks), labelExpr=_lookup(ticks, chart_axes.tick_labels(ticks)), labelOverlap=False
    )
    scale = alt.Scale(
        type="log" if plot.chart.x.kind == "log" else "linear", domain=list(plot.x_domain), nice=False, zero=False
    )
    return alt.X(field="x", type="quantitative", scale=scale, axis=axis)


def _y_encoding(ticks: Ticks, field: str, *, right: bool, log: bool, numbers: bool) -> Any:
    alt = _altair()
    axis = alt.Axis(
        title=None,
        orient="right" if right else "left",
        values=list(ticks.values),
        labelExpr=_lookup(ticks.values, ticks.labels()),
        labelColor=SOFT,
        labelFontSize=TEXT,
        labels=numbers,
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
    """Return an expression for a tick's text: labels are written here, not by the renderer's locale."""
    return f"{json.dumps(labels)}[indexof({json.dumps(list(values))}, datum.value)]"


def _rows(trace: Trace, *, category: bool) -> list[dict[str, Any]]:
    return [
        {
            "x": str(int(p.x)) if category else p.x,
            "y": p.y,
            "low": p.low,
            "high": p.high,
            "order": i,
            "hollow": p.hollow,
            "late": p.late,
        }
        for i, p in enumerate(trace.points)
    ]


def _line(plot: Plot, trace: Trace, x: Any, y: Any, low: Any) -> list[Any]:
    alt = _altair()
    base = alt.Chart(alt.Data(values=_rows(trace, category=plot.chart.x.kind == "category"))).encode(x=x, y=y)
    layers = []
    if any(p.low is not None for p in trace.points):
        layers.append(base.mark_area(color=trace.paint, opacity=0.16).encode(y=low, y2=alt.Y2(field="high")))
    layers += _repeats(trace, base, [{"x": row["x"]} for row in _rows(trace, category=plot.chart.x.kind == "category")])
    if not trace.loose:
        line = base.mark_line(
            color=trace.paint,
            strokeWidth=2,
            strokeDash=list(trace.dash),
            strokeJoin="round",
            invalid="break-paths-filter-domains",
        )
        layers.append(line.encode(order=alt.Order(field="order", type="quantitative")))
    if trace.has_points:
        layers.append(
            base.transform_filter("isValid(datum.y) && !datum.late").mark_point(
                filled=True,
                fill=trace.paint,
                stroke=PAPER,
                strokeWidth=1,
                size=90 if trace.loose else 58,
                opacity=1,
                shape=trace.shape,
            )
        )
    if any(p.hollow and p.y is not None for p in trace.points):
        hollow = base.transform_filter("isValid(datum.y) && datum.hollow")
        layers.append(hollow.mark_point(**_hollow(trace, 48)))
    if any(p.late and p.y is not None for p in trace.points):
        layers.append(base.transform_filter("isValid(datum.y) && datum.late").mark_point(**_cross(trace, 64)))
    return [*layers, *_refused(plot, trace)]


def _hollow(trace: Trace, size: float) -> dict[str, Any]:
    look = {"fill": PAPER, "stroke": trace.paint, "strokeWidth": 1.8, "shape": trace.shape}
    return {"filled": True, "opacity": 1, "size": size, **look}


def _cross(trace: Trace, size: float) -> dict[str, Any]:
    look = {"stroke": trace.paint, "strokeWidth": 1.8, "shape": _CROSS}
    return {"filled": False, "opacity": 1, "size": size, **look}


def _refused(plot: Plot, trace: Trace) -> list[Any]:
    """Return marks inside the x axis for rates without a value: hollow points for broken promises, and crosses for
    rates beyond the load generator."""
    alt = _altair()
    x, found = plot.x_pixel(), []
    for beyond in (False, True):
        marks = [{"px": x(mark.x)} for mark in trace.refused if mark.beyond == beyond]
        if marks:
            at = {
                "x": alt.X(field="px", type="quantitative", scale=None, axis=None),
                "y": alt.YValue(plot.height - 6),
            }
            base = alt.Chart(alt.Data(values=marks))
            found.append(base.mark_point(**(_cross if beyond else _hollow)(trace, 48)).encode(**at))
    return found


def _repeats(trace: Trace, base: Any, places: Sequence[dict[str, Any]], ink: str = "") -> list[Any]:
    """Return small rings at the values of single repeats, at the places of their points."""
    alt = _altair()
    rows = [{**at, "y": value} for at, point in zip(places, trace.points, strict=True) for value in point.repeats]
    if not rows:
        return []
    found = base.properties(data=alt.Data(values=rows))
    return [
        found.mark_point(filled=False, stroke=ink or trace.paint, strokeWidth=1, size=18, opacity=1, shape="circle")
    ]


def _bar(plot: Plot, trace: Trace, x: Any, y: Any, low: Any) -> list[Any]:
    """Return the bars of one series beside those of the others."""
    alt = _altair()
    place, of = plot.place(trace), len(plot.in_slots)
    rows = [{**row, "series": str(place)} for row in _rows(trace, category=True)]
    scale = alt.Scale(domain=[str(i) for i in range(of)], paddingInner=BAR_GAP)
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, xOffset=alt.XOffset("series:N", scale=scale))
    layers: list[Any] = [base.mark_bar(color=trace.paint)]
    if any(row["low"] is not None for row in rows):
        layers.append(base.mark_rule(color=INK, strokeWidth=1).encode(y=low, y2=alt.Y2(field="high")))
    layers += _repeats(trace, base, [{"x": row["x"], "series": str(place)} for row in rows], ink=INK)
    return layers


def _rectangles(boxes: Sequence[tuple[float, float, float, float]], color: str) -> Any:
    """Return rectangles from their left, top, right and bottom pixels."""
    alt = _altair()
    rows = [dict(zip(("x", "y", "x2", "y2"), box, strict=True)) for box in boxes]
    ends = {"x2": alt.X2(field="x2"), "y2": alt.Y2(field="y2")}
    return alt.Chart(alt.Data(values=rows)).mark_rect(color=color, cornerRadius=2).encode(**_pixels(), **ends)


def _pixels() -> dict[str, Any]:
    """Return the places of fields `x` and `y` that are pixels."""
    alt = _altair()
    return {
        "x": alt.X(field="x", type="quantitative", scale=None, axis=None),
        "y": alt.Y(field="y", type="quantitative", scale=None, axis=None),
    }


def _bracket(plot: Plot, trace: Trace) -> list[Any]:
    found = [each for each in brackets(plot) if each.trace is trace and each.left < each.right]
    rows = [
        {"x": x, "y": y, "order": order, "of": of}
        for of, each in enumerate(found)
        for order, (x, y) in enumerate(
            ((each.left, each.y + 5), (each.left, each.y), (each.right, each.y), (each.right, each.y + 5))
        )
    ]
    return [_path(rows)] if rows else []


def _rule(plot: Plot, trace: Trace, y: Any) -> list[Any]:
    """Return a line across the plot area, or, for an upright point, one on the x axis."""
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


def _write(texts: Sequence[ChartText]) -> list[Layer]:
    """Return one layer for all texts of a kind: each layer costs time."""
    alt = _altair()
    kinds: dict[tuple[str, float, bool, int | None, bool], list[ChartText]] = {}
    for text in sorted(texts, key=lambda each: each.inside):
        kinds.setdefault((text.align, text.size, text.bold, text.series, text.inside), []).append(text)
    found = []
    for index, ((align, size, bold, series, inside), some) in enumerate(kinds.items()):
        base = alt.Chart(alt.Data(values=[_datum(text) for text in some])).encode(
            text=alt.Text(field="text", type="nominal"), **_pixels()
        )
        look = {"align": align, "baseline": "middle", "fontSize": size, "fontWeight": 600 if bold else 400}
        name = f"{'t' if series is None else f's{series}'}t{index}"
        if inside:
            edge = base.mark_text(**look, color=PAPER, stroke=PAPER, strokeWidth=3, strokeJoin="round")
            found.append(_written(edge, f"{name}e"))
        color = alt.Color(field="color", type="nominal", scale=None, legend=None)
        found.append(_written(base.mark_text(**look).encode(color=color), name))
    return found


def _datum(text: ChartText) -> dict[str, Any]:
    return {"text": shorten(text.text, _WIDEST, text.size), "x": text.x, "y": text.y, "color": text.color}


def _legend_sample(item: LegendItem) -> list[Any]:
    alt = _altair()
    trace, base = item.trace, alt.Chart(alt.Data(values=[{}]))
    x, y = alt.XValue(item.x), alt.YValue(item.y)
    if trace.mark == "bracket":
        corners = ((0, 4), (0, -2), (18, -2), (18, 4))
        return [
            _path([{"x": item.x + dx, "y": item.y + dy, "order": n, "of": 0} for n, (dx, dy) in enumerate(corners)])
        ]
    if trace.stands_in_slot:
        ends = {"x2": alt.X2Value(item.x + 12), "y2": alt.Y2Value(item.y + 5)}
        return [base.mark_rect(color=trace.paint).encode(x=x, y=alt.YValue(item.y - 5), **ends)]
    line = base.mark_rule(color=trace.paint, strokeWidth=2, strokeDash=list(trace.dash))
    sample: list[Any] = [] if trace.loose else [line.encode(x=x, x2=alt.X2Value(item.x + 18), y=y)]
    if trace.mark != "rule" and trace.has_points:
        point = base.mark_point(
            filled=True, fill=trace.paint, size=70 if trace.loose else 46, opacity=1, shape=trace.shape
        )
        sample.append(point.encode(x=alt.XValue(item.x + 9), y=y))
    return sample
