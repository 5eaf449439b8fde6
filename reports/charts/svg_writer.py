"""Writes a panel of `chart_layers.py` as SVG, as Vega draws it, without Vega's half second of start.

It knows the part of Vega-Lite that `chart_layers.py` uses: each encoding says its own scale, and each place is final.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from benchbrief.reports.charts.chart import PAPER

_Layer = Mapping[str, Any]
_Row = Mapping[str, Any]
_Scale = Callable[[Any], float]
_Place = Callable[[_Row], float | None]
_NUMBER = re.compile(r"-?[0-9.]+")
_SHAPES = {
    "square": "M-1,-1h2v2h-2Z",
    "diamond": "M-1,0L0,-1L1,0L0,1Z",
    "triangle-up": "M0,-.866L-1,.866L1,.866Z",
    "triangle-down": "M0,.866L-1,-.866L1,-.866Z",
    "triangle-right": "M.866,0L-.866,-1L-.866,1Z",
    "triangle-left": "M-.866,0L.866,-1L.866,1Z",
    "cross": "M-1,-.4L-1,.4L-.4,.4L-.4,1L.4,1L.4,.4L1,.4L1,-.4L.4,-.4L.4,-1L-.4,-1L-.4,-.4Z",
}
"""Paths that reach 1 from their middle."""


def write_svg(panel: _Layer) -> str:
    """Return the drawing. `data-series` on a group is the series in the name of its layer, as in `s3a`."""
    room, plot = panel["padding"], (panel["width"], panel["height"])
    width, height = (_n(plot[0] + room["left"] + room["right"]), _n(plot[1] + room["top"] + room["bottom"]))
    groups = [layer.get("layer", [layer]) for layer in panel["layer"]]
    font = panel["config"]["font"]
    inner = (
        # Lines of one pixel fill one pixel.
        _tag("g", {"transform": "translate(0.5,0.5)"}, "".join(_axes(groups, plot, font))),
        *(_layer(layer, plot, font) for group in groups for layer in group if layer["data"]["values"]),
    )
    size = f'width="{width}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" version="1.1" {size} viewBox="0 0 {width} {height}">'
        f'<rect {size} fill="{PAPER}"/>'
        f'<g fill="none" stroke-miterlimit="10" transform="translate({_n(room["left"])},{_n(room["top"])})">'
        f"{''.join(inner)}</g></svg>"
    )


def _axes(groups: Sequence[Sequence[_Layer]], plot: tuple[float, float], font: str) -> Iterator[str]:
    """Yield the grid, the x axis, and the y axes of the groups that have one."""
    first = {
        index: {
            axis: layer["encoding"][axis]
            for layer in reversed(group)
            for axis in ("x", "y")
            if layer["encoding"].get(axis, {}).get("axis")
        }
        for index, group in enumerate(groups)
    }
    width, height = plot
    ys = [(found["y"]["axis"], _scale(found["y"], (height, 0.0))) for found in first.values() if "y" in found]
    for axis, scale in ys:
        if axis["grid"]:
            look = {"stroke": axis["gridColor"], "stroke-width": axis["gridWidth"]}
            at = [_round(scale(value)) for value, _ in _ticks(axis, scale, height)]
            yield _group(_line(0, y, width, 0, look) for y in at)
    for encoding in [found["x"] for found in first.values() if "x" in found][:1]:
        yield _x_axis(encoding, plot, font)
    for axis, scale in ys:
        if axis["labels"]:
            right = axis["orient"] == "right"
            x = width + axis["labelPadding"] if right else -axis["labelPadding"]
            look = {"text-anchor": "start" if right else "end", **_type(axis, font)}
            size = axis["labelFontSize"]
            yield _group(
                _text(text, x, scale(value) + _middle(size), look) for value, text in _ticks(axis, scale, height)
            )


def _x_axis(encoding: _Layer, plot: tuple[float, float], font: str) -> str:
    axis, (width, height) = encoding["axis"], plot
    inner = []
    if axis.get("labels", True):
        scale = _scale(encoding, (0.0, width))
        ticks = [(scale(value), text) for value, text in _ticks(axis, scale, width)]
        tick = {"stroke": axis["tickColor"], "stroke-width": 1}
        inner += [_line(_round(x), height, 0, axis["tickSize"], tick) for x, _ in ticks]
        size = axis["labelFontSize"]
        y = height + axis["tickSize"] + axis["labelPadding"] + _round(0.79 * size)
        look = {"text-anchor": "middle", **_type(axis, font)}
        inner += [_text(text, x, y, look) for x, text in ticks]
    domain = {"stroke": axis["domainColor"], "stroke-width": 1}
    return _group([*inner, _line(0, height, width, 0, domain)])


def _ticks(axis: _Layer, scale: _Scale, length: float) -> list[tuple[float, str]]:
    """Return the ticks on the axis, each with its text, which an expression picks from a list."""
    texts = json.JSONDecoder().raw_decode(axis["labelExpr"])[0]
    return [
        (value, text) for value, text in zip(axis["values"], texts, strict=True) if 0 <= _round(scale(value)) <= length
    ]


def _type(axis: _Layer, font: str) -> dict[str, Any]:
    return {"font-family": font, "font-size": f"{_n(axis['labelFontSize'])}px", "fill": axis["labelColor"]}


def _layer(layer: _Layer, plot: tuple[float, float], font: str) -> str:
    """Return the group of a layer's marks."""
    mark, encoding, rows = layer["mark"], layer["encoding"], layer["data"]["values"]
    places = _Places(encoding, plot)
    name = layer.get("name", "")
    series = name[1 : len(name.rstrip("0123456789")) - 1] if name.startswith("s") else ""
    return _group(_MARKS[mark["type"]](mark, encoding, rows, places, font), series)


class _Places:
    """Where the channels of a layer are, in pixels of the plot area."""

    def __init__(self, encoding: _Layer, plot: tuple[float, float]) -> None:
        width, height = plot
        self.x = _place(encoding.get("x"), (0.0, width))
        self.y = _place(encoding.get("y"), (height, 0.0))
        self.x2 = _place(encoding.get("x2"), (0.0, width))
        self.y2 = _place(_with_scale(encoding.get("y2"), encoding.get("y")), (height, 0.0))
        self.width, self.height = plot
        self.band = 0.0
        if "xOffset" in encoding:
            slots, beside = encoding["x"], encoding["xOffset"]
            slot = _band(slots["scale"], width)
            bar = _band(beside["scale"], slot.band)
            self.band = bar.band
            self.x = lambda row: slot.start(row[slots["field"]]) + bar.start(row[beside["field"]]) + bar.band / 2


def _with_scale(second: _Layer | None, first: _Layer | None) -> _Layer | None:
    return {**(first or {}), **second} if second and "field" in second else second


def _place(encoding: _Layer | None, pixels: tuple[float, float]) -> _Place | None:
    if encoding is None:
        return None
    if "value" in encoding:
        value = float(encoding["value"])
        return lambda _row: value
    field = encoding["field"]
    scale = _scale(encoding, pixels) if encoding["scale"] else float
    log = (encoding["scale"] or {}).get("type") == "log"

    def place(row: _Row) -> float | None:
        value = row.get(field)
        return None if value is None or (log and value <= 0) else scale(value)

    return place


def _scale(encoding: _Layer, pixels: tuple[float, float]) -> _Scale:
    """Return the pixel of a value. A category's is its middle."""
    spec = encoding["scale"]
    if encoding["type"] == "ordinal":
        bands = _band(spec, pixels[1])
        return lambda name: bands.start(name) + bands.band / 2
    (low, high), (begin, end) = spec["domain"], pixels
    on = math.log if spec["type"] == "log" else float
    first, span = on(low), on(high) - on(low)

    def place(value: float) -> float:
        share = (on(value) - first) / span
        return float(begin * (1 - share) + end * share)

    return place


class _band:  # noqa: N801  # a scale, used like the functions beside it
    """Equal slots for names, with gaps between them and at the ends, in shares of a step."""

    def __init__(self, scale: _Layer, width: float) -> None:
        names = scale["domain"]
        inner, outer = scale.get("paddingInner", 1.0), scale.get("paddingOuter", scale.get("padding", 0.0))
        space = len(names) - inner + 2 * outer
        step = width / space if space > 0 else width
        self.band = step * (1 - inner)
        first = (width - step * (len(names) - inner)) / 2
        self._starts: dict[str, float] = {name: first + step * index for index, name in enumerate(names)}

    def start(self, name: str) -> float:
        return self._starts[name]


def _lines(mark: _Layer, encoding: _Layer, rows: Sequence[_Row], places: _Places, _font: str) -> Iterator[str]:
    order = encoding["order"]["field"]
    known = [(_xy(row, places)) for row in sorted(rows, key=lambda row: row[order])]
    d = "".join(
        f"M{'L'.join(f'{_n(x)},{_n(y)}' for x, y in stretch)}{'' if len(stretch) > 1 else 'Z'}"
        for stretch in _stretches(known)
    )
    look = {"stroke": mark["color"], "stroke-width": mark["strokeWidth"], "stroke-linejoin": mark["strokeJoin"]}
    yield _tag("path", {"d": d, **look, **_dash(mark)})


def _area(mark: _Layer, _encoding: _Layer, rows: Sequence[_Row], places: _Places, _font: str) -> Iterator[str]:
    known = [
        (x, y, y2) if (x := _at(places.x, row)) is not None and (y := _at(places.y, row)) is not None
        and (y2 := _at(places.y2, row)) is not None else None
        for row in rows
    ]  # fmt: skip
    d = "".join(
        f"M{'L'.join(f'{_n(x)},{_n(y)}' for x, y, _ in stretch)}"
        f"L{'L'.join(f'{_n(x)},{_n(y2)}' for x, _, y2 in reversed(stretch))}Z"
        for stretch in _stretches(known)
    )
    yield _tag("path", {"d": d, "fill": mark["color"], "opacity": mark["opacity"]})


def _stretches(found: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield what is known without a gap."""
    for known, some in groupby(found, key=lambda each: each is not None):
        if known:
            yield list(some)


def _xy(row: _Row, places: _Places) -> tuple[float, float] | None:
    x, y = _at(places.x, row), _at(places.y, row)
    return None if x is None or y is None else (x, y)


def _at(place: _Place | None, row: _Row) -> float | None:
    return place(row) if place else None


def _points(mark: _Layer, _encoding: _Layer, rows: Sequence[_Row], places: _Places, _font: str) -> Iterator[str]:
    look = {"d": _symbol(mark["shape"], mark["size"]), "fill": mark.get("fill"), "stroke": mark.get("stroke"),
            "stroke-width": mark.get("strokeWidth", 2), "opacity": mark["opacity"]}  # fmt: skip
    for row in rows:
        if at := _xy(row, places):
            yield _tag("path", {"transform": f"translate({_n(at[0])},{_n(at[1])})", **look})


def _bars(mark: _Layer, _encoding: _Layer, rows: Sequence[_Row], places: _Places, _font: str) -> Iterator[str]:
    """Yield bars from zero, or from the foot of a scale without a zero."""
    y = _encoding["y"]
    scale = _scale(y, (places.height, 0.0))
    low, high = y["scale"]["domain"]
    foot = scale(0.0) if y["scale"]["type"] != "log" and low <= 0 <= high else places.height
    for row in rows:
        if at := _xy(row, places):
            left, top = at[0] - places.band / 2, min(at[1], foot)
            yield _rectangle(left, top, places.band, abs(at[1] - foot), mark)


def _rectangles(mark: _Layer, _encoding: _Layer, rows: Sequence[_Row], places: _Places, _font: str) -> Iterator[str]:
    for row in rows:
        x, y, x2, y2 = (_at(place, row) for place in (places.x, places.y, places.x2, places.y2))
        if x is not None and y is not None and x2 is not None and y2 is not None:
            yield _rectangle(min(x, x2), min(y, y2), abs(x2 - x), abs(y2 - y), mark)


def _rectangle(left: float, top: float, width: float, height: float, mark: _Layer) -> str:
    d = f"M{_n(left)},{_n(top)}h{_n(width)}v{_n(height)}h{_n(-width)}Z"
    return _tag("path", {"d": d, "fill": mark["color"]})


def _rules(mark: _Layer, _encoding: _Layer, rows: Sequence[_Row], places: _Places, _font: str) -> Iterator[str]:
    """Yield lines; one without an x goes across the plot area."""
    look = {"stroke": mark["color"], "stroke-width": mark["strokeWidth"], **_dash(mark)}
    for row in rows:
        x, y = (_at(places.x, row) if places.x else 0.0), _at(places.y, row)
        x2 = _at(places.x2, row) if places.x2 else x if places.x else places.width
        y2 = _at(places.y2, row) if places.y2 else y
        if x is not None and y is not None and x2 is not None and y2 is not None:
            yield _line(x, y, x2 - x, y2 - y, look)


def _texts(mark: _Layer, encoding: _Layer, rows: Sequence[_Row], places: _Places, font: str) -> Iterator[str]:
    size, field = mark["fontSize"], encoding["text"]["field"]
    anchor = {"left": "start", "right": "end"}.get(mark.get("align", "center"), "middle")
    look = {"text-anchor": anchor, "font-family": font, "font-size": f"{_n(size)}px"}
    if "fontWeight" in mark:
        look["font-weight"] = mark["fontWeight"]
    for row in rows:
        if at := _xy(row, places):
            y = at[1] + mark.get("dy", 0) + _middle(size)
            yield _text(
                row[field],
                at[0],
                y,
                {**look, "fill": row[encoding["color"]["field"]] if "color" in encoding else mark["color"]},
            )


_MARKS: dict[str, Callable[[_Layer, _Layer, Sequence[_Row], _Places, str], Iterator[str]]] = {
    "line": _lines, "area": _area, "point": _points, "bar": _bars, "rect": _rectangles, "rule": _rules, "text": _texts,
}  # fmt: skip


def _symbol(shape: str, size: float) -> str:
    """Return the path of a symbol: by name, or one that reaches about 1 from its middle."""
    r = math.sqrt(size) / 2
    if shape == "circle":
        n = _n(r)
        return f"M{n},0A{n},{n},0,1,1,-{n},0A{n},{n},0,1,1,{n},0"
    return _NUMBER.sub(lambda found: _n(float(found[0]) * r), _SHAPES.get(shape, shape))


def _dash(mark: _Layer) -> dict[str, str]:
    return {"stroke-dasharray": ",".join(map(_n, mark["strokeDash"]))} if "strokeDash" in mark else {}


def _line(x: float, y: float, across: float, down: float, look: Mapping[str, Any]) -> str:
    return _tag("line", {"transform": f"translate({_n(x)},{_n(y)})", "x2": _n(across), "y2": _n(down), **look})


def _text(text: str, x: float, y: float, look: Mapping[str, Any]) -> str:
    return _tag("text", {"transform": f"translate({_n(x)},{_n(y)})", **look}, escape(text))


def _middle(size: float) -> float:
    """Return how far below its middle a text's foot is."""
    return _round(0.3 * size)


def _group(inner: Iterable[str], series: str = "") -> str:
    return _tag("g", {"data-series": series or None}, "".join(inner))


def _tag(name: str, attributes: Mapping[str, Any], inner: str | None = None) -> str:
    head = name + "".join(f" {key}={quoteattr(str(value))}" for key, value in attributes.items() if value is not None)
    return f"<{head}/>" if inner is None else f"<{head}>{inner}</{name}>"


def _round(value: float) -> float:
    """Return the nearest whole number, and of two the greater, as scripts in browsers do."""
    return math.floor(value + 0.5)


def _n(value: float) -> str:
    """Return a number with up to three places. Raises ValueError for one that is not finite."""
    if not math.isfinite(value):
        raise ValueError(f"a place at {value}")
    return repr(round(value, 3) + 0.0).removesuffix(".0")
