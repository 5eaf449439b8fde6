"""The layers of a chart in Vega-Lite's form: lines, bars, rules, confidence intervals, texts and legends.

`chart_layout.py` computes all places. Text stays text. `draw_svg.py` draws what is used here, and altair shows it in
notebooks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from benchbrief.reports.charts import chart_axes
from benchbrief.reports.charts.chart import GRID, INK, PAPER, SMALL, SOFT, TEXT, Chart, Trace
from benchbrief.reports.charts.chart_axes import Ticks
from benchbrief.reports.charts.chart_layout import BAR_GAP, SLOT_GAP, LegendItem, Plot, shorten
from benchbrief.reports.charts.chart_texts import Text, texts
from benchbrief.reports.charts.small_multiples import Panel, arrange, columns_for
from benchbrief.reports.text.writable_text import writable

if TYPE_CHECKING:
    from altair import ConcatChart, LayerChart

_WIDEST = 1200.0
"""Pixels of a text, beyond any figure."""
_TITLE = 30
"""Pixels for a chart's own title, which a page writes beside its figure."""
_CROSS = "M-0.8,-0.8L0.8,0.8M-0.8,0.8L0.8,-0.8"
Layer = dict[str, Any]
"""A layer in Vega-Lite's form."""


def panel_spec(panel: Panel, font: str) -> Layer:
    """Return a panel in Vega-Lite's form."""
    plot = panel.plot
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",  # a name: nothing is fetched
        "layer": _layers(panel),
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
    x = _x_encoding(plot)
    groups: list[Layer] = []
    for right, ticks in ((False, plot.y), (True, plot.y_right)):
        if ticks is None:
            continue
        log = plot.log_y_right if right else plot.log_y
        numbers = plot.frame is None or ("right" if right else "left") in plot.frame.numbers
        y, low = (_y_encoding(ticks, name, right=right, log=log, numbers=numbers) for name in ("y", "low"))
        traces = [(series, t) for series, t in enumerate(chart.traces) if t.right == right]
        drawn: list[Layer] = []
        bars = [(series, t) for series, t in traces if t.mark == "bar"]
        for place, (series, trace) in enumerate(bars):
            drawn += _named(_bar(plot, trace, place, len(bars), x, y, low), series)
        for series, trace in traces:
            if trace.mark in ("line", "curve"):
                drawn += _named(_line(plot, trace, x, y, low), series)
            elif trace.mark == "rule":
                drawn += _named(_rule(plot, trace, y), series)
        if not drawn:  # the left axis of a figure whose series are all on the right one
            drawn = [_layer([], {"type": "point"}, x=x, y=y)]
        groups.append({"layer": drawn})
    groups += _open_marks(plot)
    samples = [sample for item in (*plot.legend, *panel.legend) for sample in _legend_sample(item)]
    return [*groups, {"layer": [*samples, *_write([*texts(plot), *panel.texts])]}]


def _layer(rows: Iterable[Layer], mark: Layer, **encoding: Layer) -> Layer:
    return {"data": {"values": list(rows)}, "mark": mark, "encoding": encoding}


def _at(pixel: float) -> Layer:
    return {"value": pixel}


def _pixel_of(field: str) -> Layer:
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}


def _open_marks(plot: Plot) -> list[Layer]:
    """Return small marks inside the x axis, at candidates that were not measured."""
    low, high = plot.x_domain
    marks = [{"px": plot.x_pixel()(value)} for value in plot.chart.x.open if low <= value <= high]
    if not marks:
        return []
    look = {"type": "rule", "color": SOFT, "strokeWidth": 0.8}
    return [_layer(marks, look, x=_pixel_of("px"), y=_at(plot.height - 5), y2=_at(plot.height))]


def _named(layers: list[Layer], series: int) -> list[Layer]:
    """Return layers whose groups in the drawing name the series."""
    return [{**layer, "name": f"s{series}{chr(97 + index)}"} for index, layer in enumerate(layers)]


def _x_encoding(plot: Plot) -> Layer:
    axis: Layer = {
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
    scale: Layer
    if plot.chart.x.kind == "category":
        axis |= {"labels": False, "ticks": False}  # `texts` writes these, and wraps long ones
        gaps = {"paddingInner": SLOT_GAP, "paddingOuter": SLOT_GAP / 2} if plot.has_bars else {"padding": 0.5}
        scale = {"domain": [str(i) for i in range(len(plot.chart.x.categories))], **gaps}
        return {"field": "x", "type": "ordinal", "scale": scale, "axis": axis}
    ticks = plot.x_ticks
    axis |= {
        "values": list(ticks),
        "labelExpr": _lookup(ticks, chart_axes.tick_labels(ticks)),
        "labelOverlap": False,
    }
    scale = _scale("log" if plot.chart.x.kind == "log" else "linear", plot.x_domain)
    return {"field": "x", "type": "quantitative", "scale": scale, "axis": axis}


def _y_encoding(ticks: Ticks, field: str, *, right: bool, log: bool, numbers: bool) -> Layer:
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
    scale = _scale("log" if log else "linear", (ticks.low, ticks.high))
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis}


def _scale(kind: str, domain: Sequence[float]) -> Layer:
    return {"type": kind, "domain": list(domain), "nice": False, "zero": False}


def _lookup(values: Sequence[float], labels: Sequence[str]) -> str:
    """Return an expression for a tick's text: labels are written here, not by the renderer's locale."""
    return f"{json.dumps(labels)}[indexof({json.dumps(list(values))}, datum.value)]"


def _rows(trace: Trace, *, category: bool) -> list[Layer]:
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


def _line(plot: Plot, trace: Trace, x: Layer, y: Layer, low: Layer) -> list[Layer]:
    rows = _rows(trace, category=plot.chart.x.kind == "category")
    known = [row for row in rows if row["y"] is not None]
    layers = []
    if any(p.low is not None for p in trace.points):
        area = {"type": "area", "color": trace.paint, "opacity": 0.16}
        layers.append(_layer(rows, area, x=x, y=low, y2={"field": "high"}))
    layers += _repeats(trace, [{"x": row["x"]} for row in rows], trace.paint, x=x, y=y)
    if not trace.loose:
        line = {
            "type": "line",
            "color": trace.paint,
            "strokeWidth": 2,
            "strokeDash": list(trace.dash),
            "strokeJoin": "round",
            "invalid": "break-paths-filter-domains",
        }
        layers.append(_layer(rows, line, x=x, y=y, order={"field": "order", "type": "quantitative"}))
    if trace.has_points:
        look = {"fill": trace.paint, "stroke": PAPER, "strokeWidth": 1, "shape": trace.shape}
        mark = {"type": "point", "filled": True, "size": 90 if trace.loose else 58, "opacity": 1, **look}
        layers.append(_layer((row for row in known if not row["late"]), mark, x=x, y=y))
    if hollow := [row for row in known if row["hollow"]]:
        layers.append(_layer(hollow, _hollow(trace, 48), x=x, y=y))
    if late := [row for row in known if row["late"]]:
        layers.append(_layer(late, _cross(trace, 64), x=x, y=y))
    return [*layers, *_refused(plot, trace)]


def _hollow(trace: Trace, size: float) -> Layer:
    look = {"fill": PAPER, "stroke": trace.paint, "strokeWidth": 1.8, "shape": trace.shape}
    return {"type": "point", "filled": True, "opacity": 1, "size": size, **look}


def _cross(trace: Trace, size: float) -> Layer:
    look = {"stroke": trace.paint, "strokeWidth": 1.8, "shape": _CROSS}
    return {"type": "point", "filled": False, "opacity": 1, "size": size, **look}


def _refused(plot: Plot, trace: Trace) -> list[Layer]:
    """Return the marks inside the x axis of rates without a value: hollow points, and crosses for the generator's."""
    x, found = plot.x_pixel(), []
    for beyond in (False, True):
        marks = [{"px": x(mark.x)} for mark in trace.refused if mark.beyond == beyond]
        if marks:
            look = (_cross if beyond else _hollow)(trace, 48)
            found.append(_layer(marks, look, x=_pixel_of("px"), y=_at(plot.height - 6)))
    return found


def _repeats(trace: Trace, places: Sequence[Layer], ink: str, **encoding: Layer) -> list[Layer]:
    """Return small rings at the values of single repeats, at the places of their points."""
    rows = [{**at, "y": value} for at, point in zip(places, trace.points, strict=True) for value in point.repeats]
    ring = {"type": "point", "filled": False, "stroke": ink, "strokeWidth": 1, "size": 18, "opacity": 1}
    return [_layer(rows, {**ring, "shape": "circle"}, **encoding)] if rows else []


def _bar(plot: Plot, trace: Trace, place: int, of: int, x: Layer, y: Layer, low: Layer) -> list[Layer]:
    """Return the bars of one series, the `place`-th of `of` side by side."""
    rows = [
        {**row, "series": str(place), "text": text}
        for row, text in zip(_rows(trace, category=True), plot.bar_texts(trace), strict=True)
    ]
    scale = {"domain": [str(i) for i in range(of)], "paddingInner": BAR_GAP}
    beside = {"x": x, "xOffset": {"field": "series", "type": "nominal", "scale": scale}}
    layers = [_layer(rows, {"type": "bar", "color": trace.paint}, y=y, **beside)]
    if any(row["low"] is not None for row in rows):
        ends = {"y": low, "y2": {"field": "high"}}
        layers.append(_layer(rows, {"type": "rule", "color": INK, "strokeWidth": 1}, **ends, **beside))
    layers += _repeats(trace, [{"x": row["x"], "series": row["series"]} for row in rows], INK, y=y, **beside)
    if plot.bars_have_numbers:
        known = [row for row in rows if row["y"] is not None]
        for some, dy in (([r for r in known if r["y"] >= 0], -6), ([r for r in known if r["y"] < 0], 7)):
            if some:
                look = {"type": "text", "dy": dy, "fontSize": SMALL, "color": INK, "baseline": "middle"}
                layers.append(_layer(some, look, y=y, text={"field": "text", "type": "nominal"}, **beside))
    return layers


def _rule(plot: Plot, trace: Trace, y: Layer) -> list[Layer]:
    """Return a line across the plot area, or, for an upright point, one on the x axis."""
    look = {"type": "rule", "color": trace.paint, "strokeWidth": 1.5, "strokeDash": [5, 3]}
    x = plot.x_pixel()
    return [
        _layer([{}], look, x=_at(x(point.x)), y=_at(0), y2=_at(plot.height))
        if point.upright
        else _layer([{"y": point.y}], look, y=y)
        for point in trace.points
        if point.y is not None
    ]


def _write(texts: Sequence[Text]) -> list[Layer]:
    """Return one layer for all texts of a kind."""
    kinds: dict[tuple[str, float, bool, int | None], list[Text]] = {}
    for text in texts:
        kinds.setdefault((text.align, text.size, text.bold, text.series), []).append(text)
    layers = []
    for index, ((align, size, bold, series), some) in enumerate(kinds.items()):
        look = {
            "type": "text",
            "align": align,
            "baseline": "middle",
            "fontSize": size,
            "fontWeight": 600 if bold else 400,
        }
        color = {"field": "color", "type": "nominal", "scale": None, "legend": None}
        layer = _layer(
            map(_datum, some),
            look,
            text={"field": "text", "type": "nominal"},
            x=_pixel_of("px"),
            y=_pixel_of("py"),
            color=color,
        )
        layers.append({**layer, "name": f"{'t' if series is None else f's{series}'}t{index}"})
    return layers


def _datum(text: Text) -> Layer:
    return {"text": shorten(text.text, _WIDEST, text.size), "px": text.x, "py": text.y, "color": text.color}


def _legend_sample(item: LegendItem) -> list[Layer]:
    trace, x, y = item.trace, _at(item.x), _at(item.y)
    if trace.mark == "bar":
        ends = {"x2": _at(item.x + 12), "y2": _at(item.y + 5)}
        return [_layer([{}], {"type": "rect", "color": trace.paint}, x=x, y=_at(item.y - 5), **ends)]
    line = {"type": "rule", "color": trace.paint, "strokeWidth": 2, "strokeDash": list(trace.dash)}
    sample = [] if trace.loose else [_layer([{}], line, x=x, x2=_at(item.x + 18), y=y)]
    if trace.mark != "rule" and trace.has_points:
        look = {"fill": trace.paint, "size": 70 if trace.loose else 46, "opacity": 1, "shape": trace.shape}
        sample.append(_layer([{}], {"type": "point", "filled": True, **look}, x=_at(item.x + 9), y=y))
    return sample
