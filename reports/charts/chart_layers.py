"""Draws the layers of a chart in Vega-Lite's form: lines, bars, rules, confidence intervals, texts and legends.

`chart_layout.py` computes all positions. Text stays text. Only this module uses altair, and only for notebooks, because
importing altair takes as long as drawing eight figures.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from benchbrief.compiler.briefs.colours import mixed
from benchbrief.reports.charts import chart as chart_axes
from benchbrief.reports.charts.bar_marks import (
    Arrow,
    Bracket,
    arrows_at_bars,
    arrows_into_bars,
    brackets,
    floating_bars,
    ink_on,
)
from benchbrief.reports.charts.chart import (
    DASHED,
    GRID,
    INK,
    PALE,
    PAPER,
    SOFT,
    TEXT,
    Chart,
    Ticks,
    Trace,
    text_width,
)
from benchbrief.reports.charts.chart_layout import (
    BAR_GAP,
    LINE,
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
"""The largest width of a text in pixels. No figure is wider. Without this limit, the converter would take minutes for
thousands of characters."""
_TITLE = 30
"""The pixels for a chart's own title. On a page, the title is written beside the figure instead."""
_CROSS = "M-0.8,-0.8L0.8,0.8M-0.8,0.8L0.8,-0.8"
Layer = dict[str, Any]
"""A part of a chart, such as its lines or its texts, in the form that Vega-Lite reads."""
Encoding = dict[str, Any]
"""The channels of a layer, each showing a field of the rows or a fixed value."""
_PIXELS: Encoding = {name: {"field": name, "type": "quantitative", "scale": None, "axis": None} for name in ("x", "y")}
"""The encoding of fields `x` and `y` whose values are already pixels."""
_DASHED = {"strokeWidth": 1.5, "strokeDash": [5, 3]}
_ORDER = {"field": "order", "type": "quantitative"}
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"


def panel_spec(panel: Panel, font: str) -> Layer:
    """Return a panel in Vega-Lite's form."""
    plot = panel.plot
    return {
        "$schema": _SCHEMA,
        "layer": _layers(panel),
        "resolve": {"scale": {"y": "independent"}},
        "width": plot.width,
        "height": plot.height,
        "padding": {"left": plot.left, "right": plot.right, "top": plot.top, "bottom": plot.bottom},
        "autosize": "none",
        "config": {"font": font, "aria": False, "background": PAPER, "view": {"stroke": None}},
    }


def altair_chart(charts: Sequence[Chart], width: int, height: int, font: str, title: str) -> LayerChart | ConcatChart:
    """Return an altair chart of the drawing that `draw_chart.py` makes, with a title. It is one chart, or several
    panels side by side."""
    import altair

    panels = [_nameless(panel_spec(panel, font)) for panel in arrange(charts, width, height)]
    first, head = panels[0], {"text": title, "anchor": "start"}
    if len(panels) == 1:
        padding = {**first["padding"], "top": first["padding"]["top"] + _TITLE}
        return altair.LayerChart.from_dict(writable({**first, "padding": padding, "title": head}), validate=False)
    parts = [{key: panel[key] for key in ("layer", "resolve", "width", "height")} for panel in panels]
    whole = {"concat": parts, "columns": columns_for(len(panels), width), "config": first["config"], "title": head}
    return altair.ConcatChart.from_dict(writable(whole), validate=False)


def _nameless(layer: Layer) -> Layer:
    """Return the layer without the names of its series, since panels of one drawing must not share names."""
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
        for series, trace in sorted(traces, key=lambda pair: (not pair[1].stands_in_slot, not pair[1].is_grey)):
            if trace.mark == "bar":
                drawn += _named(_bar(plot, trace, x, y), series)
            elif trace.mark == "range":
                boxes = [(bar.left, bar.top, bar.right, bar.bottom) for bar in floating_bars(plot, trace)]
                drawn += [*_named([_rectangles(boxes, _bar_look(trace))], series), _empty(x, y)]
            elif trace.mark == "bracket":
                drawn += _named(_bracket(plot, trace), series)
            elif trace.mark in ("line", "curve", "slope"):
                drawn += _named(_line(plot, trace, x, y, low), series)
            elif trace.mark == "rule":
                drawn += _named(_rule(plot, trace, y), series)
        if not drawn:  # the left axis of a figure whose series are all on the right one
            drawn = [_empty(x, y)]
        groups.append({"layer": drawn})
    groups += [*_base_line(plot), *_open_marks(plot)]
    items = (*plot.legend, *panel.legend)
    samples = [sample for item in items for sample in _legend_sample(item)]
    written, labels = texts_and_labels(plot)
    arrows = _arrow_paths(arrow for label in labels for arrow in label.arrows)
    return [
        *_paper(written, brackets(plot)),
        *groups,
        {"layer": [*arrows, *samples, *_write([*written, *panel.texts])]},
    ]


def _flat_layers(panel: Panel) -> list[Layer]:
    """Return horizontal bars, in pixels, over the grid lines of their axis."""
    plot = panel.plot
    value = plot.y_pixel(plot.in_slots[0])
    grid = [{"x": value(tick), "y": 0.0, "y2": plot.height} for tick in plot.y.values]
    upright = {**_PIXELS, "y2": {"field": "y2"}}
    written = texts_and_labels(plot)[0]
    layers = [_layer(grid, "rule", {"color": GRID, "strokeWidth": 0.8}, upright), *_paper(written, beside=0.0)]
    over = list(flat_brackets(plot))
    for series, trace in enumerate(plot.chart.traces):
        if trace.stands_in_slot:
            boxes = list(rectangles(plot, trace))
            drawn = [_rectangles([box for point, box in boxes if not point.worse], _bar_look(trace))]
            if worse := [box for point, box in boxes if point.worse]:
                drawn.append(_rectangles(worse, _bar_look(trace, worse=True)))
            ends = [
                {"x": value(point.low), "x2": value(point.high), "y": (box[1] + box[3]) / 2}
                for point, box in rectangles(plot, trace)
                if point.low is not None and point.high is not None
            ]
            whiskers = _layer(ends, "rule", {"color": INK, "strokeWidth": 1}, {**_PIXELS, "x2": {"field": "x2"}})
            drawn += [whiskers] if ends else []
            rings = [
                {"x": value(one), "y": (box[1] + box[3]) / 2, "order": order, "of": of}
                for of, (point, box) in enumerate(rectangles(plot, trace))
                for order, one in enumerate(point.repeats)
            ]
            drawn += _joined_rings(rings) if rings else []
            drawn += _bound_arrows(plot, trace)
        elif trace.mark == "rule":
            levels = [{"x": value(p.y), "y": -LINE, "y2": plot.height} for p in trace.points if p.y is not None]
            drawn = [_layer(levels, "rule", {"color": trace.paint, **_DASHED}, upright)]
        else:
            rows = [
                {"x": x, "y": y, "order": order, "of": of}
                for of, b in enumerate(one for one in over if one.trace is trace)
                for order, (x, y) in enumerate(((b.x - 5, b.top), (b.x, b.top), (b.x, b.bottom), (b.x - 5, b.bottom)))
            ]
            drawn = [_path(rows)] if rows else []
        layers += _named(drawn, series)
    zero = {"x": 0.0 if plot.y.log else value(plot.base or 0.0), "y": 0.0, "y2": plot.height}
    layers.append(_layer([zero], "rule", {"color": SOFT, "strokeWidth": 1}, upright))
    samples = [sample for item in plot.legend for sample in _legend_sample(item)]
    return [{"layer": layers}, {"layer": [*samples, *_write(written)]}]


def _bound_arrows(plot: Plot, trace: Trace) -> list[Layer]:
    """Return the arrows at bars whose true values may be larger, and those in bars whose true values may be smaller."""
    within = INK if trace.dashed else ink_on(trace.paint)
    return [*_arrow_paths(arrows_at_bars(plot, trace)), *_arrow_paths(arrows_into_bars(plot, trace), within)]


def _arrow_paths(arrows: Iterable[Arrow], ink: str = INK) -> list[Layer]:
    """Return arrows from a start to a tip, each a thin line with a head made of two strokes."""
    rows = []
    for of, (start, tip) in enumerate(arrows):
        back = math.atan2(start[1] - tip[1], start[0] - tip[0])
        head = [(tip[0] + 6 * math.cos(back + turn), tip[1] + 6 * math.sin(back + turn)) for turn in (0.45, -0.45)]
        path = (start, tip, head[0], tip, head[1])
        rows += [{"x": x, "y": y, "order": order, "of": of} for order, (x, y) in enumerate(path)]
    return [_path(rows, ink)] if rows else []


def _layer(rows: Sequence[Mapping[str, Any]], mark: str, look: Mapping[str, Any], encoding: Encoding) -> Layer:
    return {"data": {"values": list(rows)}, "mark": {"type": mark, **look}, "encoding": encoding}


def _where(condition: str, layer: Layer) -> Layer:
    """Return the layer with only those rows that meet a condition."""
    return {**layer, "transform": [{"filter": condition}]}


def _path(rows: Sequence[dict[str, Any]], ink: str = INK) -> Layer:
    """Return thin lines through pixels, with one line for each value of the field `of`."""
    look = {"color": ink, "strokeWidth": 1.2, "strokeJoin": "round"}
    return _layer(rows, "line", look, {**_PIXELS, "order": _ORDER, "detail": {"field": "of", "type": "nominal"}})


def _paper(texts: Sequence[ChartText], over: Sequence[Bracket] = (), beside: float = 2.0) -> list[Layer]:
    """Return paper-coloured boxes behind brackets and behind the texts that are among the marks. The boxes hide grid
    lines, but no marks. They are wider than their texts by `beside` pixels on each side."""
    rows = [(each.left - 3, each.y - 4, each.right + 3, each.y + 8) for each in over if each.left < each.right]
    for text in (each for each in texts if each.inside):
        width = text_width(text.text, text.size) * (1.08 if text.bold else 1.0)
        left = text.x - width * {"left": 0.0, "center": 0.5, "right": 1.0}[text.align]
        rows.append((left - beside, text.y - text.size / 2 - 1, left + width + beside, text.y + text.size / 2 + 1))
    return [_rectangles(rows, {"color": PAPER})] if rows else []


def _empty(x: Encoding, y: Encoding) -> Layer:
    """Return a layer that has only axes."""
    return _layer((), "point", {}, {"x": x, "y": y})


def _base_line(plot: Plot) -> list[Layer]:
    """If the x axis does not lie at the bottom of the plot area, return the line to draw in its place."""
    if plot.base is None:
        return []
    line = {"x": 0.0, "y": plot.base_pixel, "x2": plot.width}
    look = {"color": SOFT, "strokeWidth": 1} if plot.base else {"color": INK, "strokeWidth": 1.5}
    return [_layer([line], "rule", look, {**_PIXELS, "x2": {"field": "x2"}})]


def _open_marks(plot: Plot) -> list[Layer]:
    """Return small marks inside the x axis for unmeasured candidates."""
    low, high = plot.x_domain
    marks = [{"px": plot.x_pixel()(value)} for value in plot.chart.x.open if low <= value <= high]
    if not marks:
        return []
    ends = {"y": {"value": plot.height - 5}, "y2": {"value": plot.height}}
    return [_layer(marks, "rule", {"color": SOFT, "strokeWidth": 0.8}, {"x": {**_PIXELS["x"], "field": "px"}, **ends})]


def _named(layers: Sequence[Layer], series: int) -> list[Layer]:
    """Return the layers with the names of their series, which become the names of groups in the SVG (see `_svg`)."""
    return [{**layer, "name": f"s{series}{chr(97 + index)}"} for index, layer in enumerate(layers)]


def _x_encoding(plot: Plot) -> Encoding:
    look = {
        "title": None,
        "labelColor": SOFT,
        "labelFontSize": TEXT,
        "labelPadding": 5,
        "labelLimit": 0,
        "labelFlush": False,
        "domain": plot.base is None,
        "domainColor": SOFT,
        "tickColor": SOFT,
        "tickSize": 4,
        "grid": False,
    }
    scale: dict[str, Any]
    if plot.chart.x.kind == "category":
        axis = {**look, "labels": False, "ticks": False}  # `texts` writes these, and wraps long ones
        scale = {"domain": [str(i) for i in range(len(plot.chart.x.categories))]}
        gap = plot.slot_gap
        scale |= {"paddingInner": gap, "paddingOuter": gap / 2} if plot.has_bars else {"padding": 0.5}
        return {"field": "x", "type": "ordinal", "scale": scale, "axis": axis}
    ticks = plot.x_ticks
    labels = {"labelExpr": _lookup(ticks, chart_axes.tick_labels(ticks)), "labelOverlap": False}
    kind = "log" if plot.chart.x.kind == "log" else "linear"
    scale = {"type": kind, "domain": list(plot.x_domain), "nice": False, "zero": False}
    return {"field": "x", "type": "quantitative", "scale": scale, "axis": {**look, "values": list(ticks), **labels}}


def _y_encoding(ticks: Ticks, field: str, *, right: bool, log: bool, numbers: bool) -> Encoding:
    axis = {
        "title": None,
        "orient": "right" if right else "left",
        "values": list(ticks.values),
        "labelExpr": _lookup(ticks.values, ticks.labels()),
        "labelColor": SOFT,
        "labelFontSize": TEXT,
        "labels": numbers,
        "labelPadding": 5,
        "labelOverlap": False,
        "domain": False,
        "ticks": False,
        "grid": not right,
        "gridColor": GRID,
        "gridWidth": 0.8,
    }
    scale = {"type": "log" if log else "linear", "domain": [ticks.low, ticks.high], "nice": False, "zero": False}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis}


def _lookup(values: Sequence[float], labels: Sequence[str]) -> str:
    """Return an expression for a tick's text. With it, this module chooses the labels, and not the renderer's
    locale."""
    return f"{json.dumps(labels)}[indexof({json.dumps(list(values))}, datum.value)]"


def _inside(plot: Plot, trace: Trace) -> Trace:
    """Cut an ideal off where it leaves the plot area. Other traces stay unchanged, because the axis covers all their
    values."""
    ticks = plot.y_right if trace.right and plot.y_right else plot.y
    if not trace.ideal or ticks.log:
        return trace
    log = plot.chart.x.kind == "log"
    known = [point for point in trace.points if point.y is not None]
    kept = list(takewhile(lambda point: (point.y or 0.0) <= ticks.high, known))
    if kept and len(kept) < len(known):
        one, other = kept[-1], known[len(kept)]
        part = (ticks.high - (one.y or 0.0)) / ((other.y or 0.0) - (one.y or 0.0))
        low, high = (math.log(p.x) if log else p.x for p in (one, other))
        at = low + part * (high - low)
        kept.append(replace(other, x=math.exp(at) if log else at, y=ticks.high))
    return replace(trace, points=tuple(kept))


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
            "worse": p.worse,
        }
        for i, p in enumerate(trace.points)
    ]


def _line(plot: Plot, trace: Trace, x: Encoding, y: Encoding, low: Encoding) -> list[Layer]:
    trace = _inside(plot, trace)
    rows = _rows(trace, category=plot.chart.x.kind == "category")
    at = {"x": x, "y": y}
    layers = []
    if any(p.low is not None for p in trace.points):
        layers.append(_layer(rows, "area", {"color": trace.paint, "opacity": 0.16}, {**at, **_from(low)}))
    layers += _repeats(trace, at, [{"x": row["x"]} for row in rows])
    if not trace.loose:
        look = {"color": trace.paint, "strokeWidth": 2, "strokeDash": list(trace.dash), "strokeJoin": "round"}
        layers.append(_layer(rows, "line", {**look, "invalid": "break-paths-filter-domains"}, {**at, "order": _ORDER}))
    if trace.has_points:
        look = {"filled": True, "fill": trace.paint, "stroke": PAPER, "strokeWidth": 1, "opacity": 1}
        point = _layer(rows, "point", {**look, "size": 90 if trace.loose else 58, "shape": trace.shape}, at)
        layers.append(_where("isValid(datum.y) && !datum.late", point))
    if any(p.hollow and p.y is not None for p in trace.points):
        layers.append(_where("isValid(datum.y) && datum.hollow", _layer(rows, "point", _hollow(trace, 48), at)))
    if any(p.late and p.y is not None for p in trace.points):
        layers.append(_where("isValid(datum.y) && datum.late", _layer(rows, "point", _cross(trace, 64), at)))
    return [*layers, *_refused(plot, trace)]


def _hollow(trace: Trace, size: float) -> dict[str, Any]:
    look = {"fill": PAPER, "stroke": trace.paint, "strokeWidth": 1.8, "shape": trace.shape}
    return {"filled": True, "opacity": 1, "size": size, **look}


def _cross(trace: Trace, size: float) -> dict[str, Any]:
    look = {"stroke": trace.paint, "strokeWidth": 1.8, "shape": _CROSS}
    return {"filled": False, "opacity": 1, "size": size, **look}


def _refused(plot: Plot, trace: Trace) -> list[Layer]:
    """Return marks just above the x axis at the rates without a value: hollow points for broken promises, and crosses
    for rates that the load generator could not offer."""
    x, found = plot.x_pixel(), []
    for beyond in (False, True):
        marks = [{"px": x(mark.x)} for mark in trace.refused if mark.beyond == beyond]
        if marks:
            look = (_cross if beyond else _hollow)(trace, 48)
            found.append(
                _layer(marks, "point", look, {"x": {**_PIXELS["x"], "field": "px"}, "y": {"value": plot.height - 6}})
            )
    return found


def _repeats(trace: Trace, at: Encoding, places: Sequence[dict[str, Any]]) -> list[Layer]:
    """Return small rings for the values of single repeats, at their points."""
    rows = [{**at, "y": value} for at, point in zip(places, trace.points, strict=True) for value in point.repeats]
    return [_layer(rows, "point", _ring(trace.paint), at)] if rows else []


def _ring(ink: str) -> dict[str, Any]:
    return {
        "filled": True,
        "fill": PAPER,
        "stroke": ink,
        "strokeWidth": 1.2,
        "size": 36,
        "opacity": 1,
        "shape": "circle",
    }


def _joined_rings(rows: Sequence[dict[str, Any]]) -> list[Layer]:
    """Return the rings of bars' repeats. A thin line joins those of one bar, so that they are seen to belong to it."""
    return [_path(rows), _layer(rows, "point", _ring(INK), _PIXELS)]


def _bar(plot: Plot, trace: Trace, x: Encoding, y: Encoding) -> list[Layer]:
    """Return the bars of one series, placed beside the bars of other series."""
    place, of = plot.place(trace), len(plot.in_slots)
    rows = [{**row, "series": str(place)} for row in _rows(trace, category=True)]
    scale = {"domain": [str(i) for i in range(of)], "paddingInner": BAR_GAP}
    at = {"x": x, "y": y, "xOffset": {"field": "series", "type": "nominal", "scale": scale}}
    layers = [_layer([row for row in rows if not row["worse"]], "bar", _bar_look(trace), at)]
    if worse := [row for row in rows if row["worse"]]:
        layers.append(_layer(worse, "bar", _bar_look(trace, worse=True), at))
    pixel = plot.y_pixel(trace)
    ends = [
        {"x": plot.spread_at(trace, point), "y": pixel(point.low), "y2": pixel(point.high)}
        for point in trace.points
        if point.low is not None and point.high is not None
    ]
    if ends:
        layers.append(_layer(ends, "rule", {"color": INK, "strokeWidth": 1}, {**_PIXELS, "y2": {"field": "y2"}}))
    rings = [
        {"x": plot.spread_at(trace, point), "y": pixel(value), "order": order, "of": of}
        for of, point in enumerate(trace.points)
        for order, value in enumerate(point.repeats)
    ]
    layers += _joined_rings(rings) if rings else []
    return [*layers, *_bound_arrows(plot, trace)]


def _bar_look(trace: Trace, *, worse: bool = False) -> dict[str, Any]:
    """Return the look of a series' bars, or of those that are a change for the worse."""
    if not (trace.dashed or worse):
        return {"color": trace.paint}
    outline = {"stroke": trace.paint, "strokeWidth": 1.2, **({"strokeDash": list(DASHED)} if trace.dashed else {})}
    return {"fill": mixed(trace.paint, PALE), **outline}


def _rectangles(boxes: Sequence[tuple[float, float, float, float]], look: Mapping[str, Any]) -> Layer:
    """Return rectangles given by their left, top, right and bottom edges in pixels."""
    rows = [dict(zip(("x", "y", "x2", "y2"), box, strict=True)) for box in boxes]
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    return _layer(rows, "rect", {**look, "cornerRadius": 2}, {**_PIXELS, **ends})


def _from(low: Encoding) -> Encoding:
    """Return the channels for both ends of an interval, given the channel of the lower one."""
    return {"y": low, "y2": {"field": "high"}}


def _bracket(plot: Plot, trace: Trace) -> list[Layer]:
    found = [each for each in brackets(plot) if each.trace is trace and each.left < each.right]
    rows = [
        {"x": x, "y": y, "order": order, "of": of}
        for of, each in enumerate(found)
        for order, (x, y) in enumerate(
            ((each.left, each.y + 5), (each.left, each.y), (each.right, each.y), (each.right, each.y + 5))
        )
    ]
    return [_path(rows)] if rows else []


def _rule(plot: Plot, trace: Trace, y: Encoding) -> list[Layer]:
    """Return a line across the plot area or, for an upright point, a line that rises from the x axis."""
    layers = []
    look = {"color": trace.paint, **_DASHED}
    for point in trace.points:
        if point.y is None:
            continue
        if point.upright:
            ends = {"y": {"value": 0}, "y2": {"value": plot.height}}
            layers.append(_layer([{}], "rule", look, {"x": {"value": plot.x_pixel()(point.x)}, **ends}))
        else:
            layers.append(_layer([{"y": point.y}], "rule", look, {"y": y}))
    return layers


def _write(texts: Sequence[ChartText]) -> list[Layer]:
    """Return a single layer for all texts of each kind, because every layer takes time."""
    kinds: dict[tuple[str, float, bool, int | None, bool], list[ChartText]] = {}
    for text in sorted(texts, key=lambda each: each.inside):
        kinds.setdefault((text.align, text.size, text.bold, text.series, text.inside), []).append(text)
    found = []
    for index, ((align, size, bold, series, inside), some) in enumerate(kinds.items()):
        rows, shown = [_datum(text) for text in some], {"text": {"field": "text", "type": "nominal"}, **_PIXELS}
        look = {"align": align, "baseline": "middle", "fontSize": size, "fontWeight": 600 if bold else 400}
        name = f"{'t' if series is None else f's{series}'}t{index}"
        if inside:
            edge = {"color": PAPER, "stroke": PAPER, "strokeWidth": 3, "strokeJoin": "round"}
            found.append({**_layer(rows, "text", {**look, **edge}, shown), "name": f"{name}e"})
        color = {"field": "color", "type": "nominal", "scale": None, "legend": None}
        found.append({**_layer(rows, "text", look, {**shown, "color": color}), "name": name})
    return found


def _datum(text: ChartText) -> dict[str, Any]:
    return {"text": shorten(text.text, _WIDEST, text.size), "x": text.x, "y": text.y, "color": text.color}


def _legend_sample(item: LegendItem) -> list[Layer]:
    trace = item.trace
    x, y = {"value": item.x}, {"value": item.y}
    if trace.mark == "bracket":
        corners = ((0, 4), (0, -2), (18, -2), (18, 4))
        return [
            _path([{"x": item.x + dx, "y": item.y + dy, "order": n, "of": 0} for n, (dx, dy) in enumerate(corners)])
        ]
    if trace.stands_in_slot:
        ends = {"y": {"value": item.y - 5}, "x2": {"value": item.x + 12}, "y2": {"value": item.y + 5}}
        return [_layer([{}], "rect", _bar_look(trace), {"x": x, **ends})]
    look = {"color": trace.paint, "strokeWidth": 2, "strokeDash": list(trace.dash)}
    line = _layer([{}], "rule", look, {"x": x, "x2": {"value": item.x + 18}, "y": y})
    sample = [] if trace.loose else [line]
    if trace.mark != "rule" and trace.has_points:
        look = {"filled": True, "fill": trace.paint, "size": 70 if trace.loose else 46, "opacity": 1}
        sample.append(_layer([{}], "point", {**look, "shape": trace.shape}, {"x": {"value": item.x + 9}, "y": y}))
    return sample
