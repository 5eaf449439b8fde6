"""A figure of the plan and its results -> a chart to draw, its data, its alternative text and its footnotes."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from benchbrief.compiler import plan
from benchbrief.reports.alternative import alternative
from benchbrief.reports.chart import Chart, Point, Trace, XAxis, XKind
from benchbrief.reports.drawn import Detail, Drawn
from benchbrief.reports.labels import readable
from benchbrief.reports.locales import locale
from benchbrief.reports.remarks import alike
from benchbrief.reports.signs import may_be_negative
from benchbrief.reports.source import Key, Results
from benchbrief.reports.values import Scale, decimals_for, fixed, key_text, scale_for, unit_text, with_unit
from benchbrief.reports.words import Words, counted
from benchbrief.results.statistics import t_interval

_MOST_REASONS = 3
"""Kinds of reasons for gaps that a footnote tells; the disclosure has all."""
UNIT_OF_DIM = {"target": "ops/s", "time": "s"}


@dataclass(frozen=True)
class Drawing:
    """`charts` are the figure's panels: one, or small multiples; none when there is no value to draw.

    `series` are those of all panels, one panel's after the other's, with what is known of their points.
    """

    charts: tuple[Chart, ...]
    series: tuple[Drawn, ...]
    alt: str
    data_head: tuple[str, ...]
    data: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    key: str = ""
    """What the numbers beside the points of a curve are."""


@dataclass
class _Remarks:
    """What a figure's footnotes are made of, gathered over its traces."""

    notes: dict[str, None] = field(default_factory=dict)
    missing: int = 0
    points: int = 0
    reasons: dict[str, None] = field(default_factory=dict)

    def texts(self, words: Words) -> tuple[str, ...]:
        if not self.missing:
            return tuple(self.notes)
        kinds = [text for _, text, _ in alike(("", reason, 1) for reason in self.reasons)]
        shown = kinds[:_MOST_REASONS]
        if len(kinds) > len(shown):
            shown.append(words["notice_and_more"].format(n=len(kinds) - len(shown)))
        reasons = words["semicolon"].join(shown)
        gap = counted(words, "gap", self.points, reasons=reasons, missing=self.missing)
        return (gap, *self.notes)


def fits_half(figure: plan.FigureElement) -> bool:
    """Whether the figure reads well at half of the page's width."""
    bars = [s for s in figure.series if s.mark == "bar"]
    slots = max((len(_keys(figure, s.x_dim)) for s in bars), default=0)
    side = sum(len(_keys(figure, s.color_dim)) if s.color_dim else 1 for s in bars)
    traces = sum(len(_keys(figure, s.color_dim)) if s.color_dim else 1 for s in figure.series)
    longest = max((len(k.label) for s in bars for k in _keys(figure, s.x_dim)), default=0)
    return slots * side <= 10 and traces <= 4 and slots * longest <= 80


def drawing(figure: plan.FigureElement, results: Results) -> Drawing:
    """Everything about a figure but its place on the page."""
    series = tuple(
        s.model_copy(update={"label": readable(s.label, results.words), "x_label": readable(s.x_label, results.words)})
        for s in figure.series
    )
    figure = figure.model_copy(update={"keys": _all_keys(figure, results), "series": series})
    remarks = _Remarks()
    x_dim = next((s.x_dim for s in figure.series if s.x_dim), None)
    kind = _x_kind(figure, x_dim)
    drawn = [
        d for panel in _panels(figure) for s in figure.series for d in _traces(figure, s, kind, panel, results, remarks)
    ]
    bars = {s.axis for s in figure.series if s.mark == "bar"}  # which start at zero
    log_y, log_y_right = figure.log_y and "left" not in bars, figure.log_y_right and "right" not in bars
    if log_y or log_y_right:
        drawn = _without_non_positive(drawn, results, remarks, {False: log_y, True: log_y_right})
    left = [d for d in drawn if not d.trace.right]
    right = [d for d in drawn if d.trace.right]
    y_scale, y_right = _scale(left), _scale(right)
    curve = next((s for s in figure.series if s.mark == "curve"), None)
    x_unit = curve.x_query.unit if curve and curve.x_query else UNIT_OF_DIM.get(x_dim or "", "")
    x_scale = scale_for([p.x for d in drawn for p in d.trace.points], x_unit) if curve else Scale(1.0, x_unit)
    scaled = tuple(
        _scaled(d, y_right if d.trace.right else y_scale, x_scale if curve else Scale(1.0, "")) for d in drawn
    )
    x_label = figure.x_label or next((s.x_label for s in figure.series if s.x_label), "")
    x_label = x_label or results.words.get(x_dim or "", "")
    x_keys = _keys(figure, x_dim)
    categories = tuple(key_text(k.label, k.value) for k in x_keys) if kind == "category" else ()
    ticks = () if curve or kind == "category" else tuple(float(k.value) for k in x_keys)
    if curve:
        x_label = _without_shared_end(x_label, curve.label)
    axis = XAxis(_with_unit(x_label, x_scale.unit), kind, categories, ticks)
    titles = _title(left, y_scale), _title(right, y_right)
    names = dict.fromkeys(d.panel for d in scaled)
    charts = tuple(
        Chart(tuple(d.trace for d in scaled if d.panel == name), axis, *titles, log_y, log_y_right, name)
        for name in names
    )
    return Drawing(
        charts if any(p.y is not None for d in scaled for p in d.trace.points) else (),
        scaled,
        alternative(charts, scaled, results, x_dim),
        _data_head(charts[0], results, x_dim, figure.panel_dim, curve=curve is not None),
        tuple(_data(scaled, curve=curve is not None, panels=figure.panel_dim is not None)),
        remarks.texts(results.words),
        results.words["point_labels"].format(dim=results.words.get(x_dim, x_dim)) if curve and x_dim else "",
    )


# --- traces ------------------------------------------------------------------------------------------------------


def _all_keys(figure: plan.FigureElement, results: Results) -> dict[str, tuple[plan.Key, ...]]:
    """The figure's keys, and those that only the results know: of time and of nodes."""
    keys = dict(figure.keys)
    for series in figure.series:
        for dim in (series.x_dim, series.color_dim, figure.panel_dim):
            if dim and dim not in figure.keys and dim in series.query.dims:
                place = series.query.dims.index(dim)
                found = {row[place] for row in results.rows(series.query)} | {k.value for k in keys.get(dim, ())}
                if dim == "time":
                    found |= unsampled([v for v in found if not isinstance(v, str)])
                keys[dim] = tuple(
                    plan.Key(value=v, label=v if isinstance(v, str) else f"{v:g}")
                    for v in sorted(found, key=lambda v: (isinstance(v, str), v))
                )
    return {dim: tuple(k for k in of_dim if not _not_needed(figure, dim, k, results)) for dim, of_dim in keys.items()}


def unsampled(seconds: Iterable[float]) -> set[float]:
    """A moment within each gap between these, that lines break there: steps of over 2.5 times the median one."""
    steps = list(pairwise(sorted(seconds)))
    usual = statistics.median(b - a for a, b in steps) if steps else 0.0
    return {a + usual for a, b in steps if b - a > 2.5 * usual}


def _not_needed(figure: plan.FigureElement, dim: str, key: plan.Key, results: Results) -> bool:
    """Whether a search left a point of its ramp out for everything that the figure draws there."""
    if dim not in ("threads", "target"):
        return False
    drawn = [series for series in figure.series if dim in (series.x_dim, series.color_dim)]
    return bool(drawn) and all(results.not_needed(series.query, **{dim: key.value}) for series in drawn)


def _keys(figure: plan.FigureElement, dim: str | None) -> tuple[plan.Key, ...]:
    return figure.keys.get(dim, ()) if dim else ()


def _x_kind(figure: plan.FigureElement, dim: str | None) -> XKind:
    if any(s.mark == "curve" for s in figure.series):
        return "linear"
    keys = _keys(figure, dim)
    if any(s.mark == "bar" for s in figure.series) or any(isinstance(k.value, str) for k in keys) or not keys:
        return "category"
    if dim in ("phase", "repeat"):
        return "steps"
    values = sorted(float(k.value) for k in keys)
    if values[0] <= 0:
        return "linear"
    ratios = [b / a for a, b in pairwise(values)]
    spaced = dim == "threads" and len(ratios) > 1 and min(ratios) >= 1.5
    return "log" if figure.log_x or spaced else "linear"


def _panels(figure: plan.FigureElement) -> Sequence[plan.Key | None]:
    return _keys(figure, figure.panel_dim) or (None,)


def _traces(
    figure: plan.FigureElement,
    series: plan.Series,
    kind: XKind,
    panel: plan.Key | None,
    results: Results,
    remarks: _Remarks,
) -> Iterable[Drawn]:
    coloured = sum(1 for s in figure.series if s.color_dim)
    plain = [s for s in figure.series if not s.color_dim]
    for index, key in enumerate(_keys(figure, series.color_dim) or (None,)):
        if key is None:
            name, color = series.label, (None if coloured else plain.index(series))
            where: dict[str, Key] = {}
        else:
            shown = key_text(key.label, key.value)
            name = shown if coloured == 1 else results.words.locale.listed((series.label, shown))
            color, where = _color(results, series.color_dim or "", key, index), {series.color_dim or "": key.value}
        if panel is not None and figure.panel_dim:
            where = {**where, figure.panel_dim: panel.value}
        keys = () if series.mark == "rule" else _keys(figure, series.x_dim)
        keys = keys or (plan.Key(value=0.0, label=""),)
        points = [_point(series, i, k, where, kind, results) for i, k in enumerate(keys)]
        if series.x_dim in ("threads", "target") and series.mark != "rule":
            kept = [
                (point, k)
                for point, k in zip(points, keys, strict=True)
                if point.y is not None or not results.not_needed(series.query, **where, **{series.x_dim: k.value})
            ]
            points, keys = [point for point, _ in kept], tuple(k for _, k in kept)
        _explain(points, keys, series, where, results, remarks)
        details = tuple(_detail(series, p, k, where, results) for p, k in zip(points, keys, strict=True))
        loose = series.mark == "line" and any(isinstance(k.value, str) for k in keys)
        if series.mark == "rule" and series.x_dim:
            points = [_standing(point, figure, series.x_dim, kind) for point in points]
        trace = Trace(name, series.mark, tuple(points), color, series.axis == "right", series.dashed, loose)
        yield Drawn(series, trace, details, panel.label if panel else "")


def _color(results: Results, dim: str, key: plan.Key, index: int) -> int:
    """The same hardware or workload has the same colour in every figure of a report."""
    known = {"hardware": list(results.plan.hardware), "workload": list(results.plan.workloads)}.get(dim, [])
    return known.index(str(key.value)) if key.value in known else index


def _point(
    series: plan.Series, index: int, key: plan.Key, where: dict[str, Key], kind: XKind, results: Results
) -> Point:
    at = {**where, series.x_dim: key.value} if series.x_dim and series.mark != "rule" else where
    x = float(index) if kind == "category" else float(key.value)
    if series.mark == "curve" and series.x_query:
        x_value, y = results.at(series.x_query, **at), results.at(series.query, **at)
        known = x_value is not None and y is not None
        return Point(x_value or 0.0, y if known else None, key_text(key.label, key.value))
    y = results.at(series.query, **at)
    low, high = (None, None) if y is None else _interval(series, at, y, results)
    return Point(x, y, low=low, high=high)


def _detail(series: plan.Series, point: Point, key: plan.Key, where: dict[str, Key], results: Results) -> Detail:
    along = {series.x_dim: key.value} if series.x_dim and series.mark != "rule" else {}
    behind = [c for c in results.cells_behind(series.query, **where, **along) if c.status == "ok"]
    x = point.x if series.mark == "curve" and point.y is not None else None
    cells = tuple(dict.fromkeys(c.cell_id for c in behind))
    return Detail(
        key_text(key.label, key.value), x, point.y, point.low, point.high, len({c.repeat for c in behind}), cells
    )


def _standing(point: Point, figure: plan.FigureElement, dim: str, kind: XKind) -> Point:
    """A mark on the x axis: its value is the place, between two categories where the axis has those."""
    x = point.y
    if x is not None and kind == "category":
        pairs = enumerate(pairwise(float(k.value) for k in _keys(figure, dim)))
        x = next((i + (x - a) / (b - a) for i, (a, b) in pairs if a <= x <= b), None)
    return Point(x if x is not None else 0.0, point.y if x is not None else None, upright=True)


def _interval(
    series: plan.Series, at: Mapping[str, Key], drawn: float, results: Results
) -> tuple[float, float] | tuple[None, None]:
    """Student's 95 % interval around the value drawn, as wide as the repeats' own values say; None where no two are.

    The value is of all repeats (a ratio of means, a percentile of merged histograms): it need not be their mean.
    """
    if series.repeats is None:
        return None, None
    values = results.spread(series.repeats, **at)
    if len(values) < 2:
        return None, None
    low, high = t_interval(len(values), drawn, statistics.stdev(values))
    if low is None or high is None or may_be_negative(series.query.text, results.plan):
        return low, high  # type: ignore[return-value]  # both are known, or neither
    return max(low, 0.0), high


def _explain(
    points: Sequence[Point],
    keys: Sequence[plan.Key],
    series: plan.Series,
    where: dict[str, Key],
    results: Results,
    remarks: _Remarks,
) -> None:
    """Footnotes for gaps, and for a band that was asked for."""
    along = series.x_dim if series.mark != "rule" else None
    for point, key in zip(points, keys, strict=True):
        remarks.points += 1
        if point.y is None:
            place = {**where, along: key.value} if along else where
            remarks.missing += 1
            remarks.reasons |= dict.fromkeys(results.reasons_missing(series.query, **place))
    if series.band:
        repeated = any(e.repeats > 1 for e in results.plan.experiments.values())
        known = "band" if any(p.low is not None for p in points) else "band_unknown" if repeated else "no_band"
        remarks.notes[results.words[known]] = None


def _without_non_positive(
    drawn: list[Drawn], results: Results, remarks: _Remarks, log: Mapping[bool, bool]
) -> list[Drawn]:
    """The same without the values that a logarithmic axis can't show; `log` says it of the right axis, and the left."""
    dropped = 0
    found = []
    for d in drawn:
        keep = [p if p.y is None or p.y > 0 or not log[d.trace.right] else replace(p, y=None) for p in d.trace.points]
        dropped += sum(1 for a, b in zip(keep, d.trace.points, strict=True) if a is not b)
        found.append(replace(d, trace=replace(d.trace, points=tuple(keep))))
    if dropped:
        remarks.notes[counted(results.words, "not_positive", dropped)] = None
    return found


# --- scales and titles -------------------------------------------------------------------------------------------


def _scale(drawn: Sequence[Drawn]) -> Scale:
    """Of the values on an axis; a mark on the x axis has no part in it."""
    units = {d.series.query.unit for d in drawn if not d.upright}
    if len(units) != 1:
        return Scale(1.0, "")
    return scale_for([p.y for d in drawn for p in d.trace.points if not p.upright], units.pop())


def _scaled(drawn: Drawn, y: Scale, x: Scale) -> Drawn:
    def opt(value: float | None) -> float | None:
        return None if value is None else y(value)

    points = tuple(
        replace(p, x=x(p.x), y=p.y if p.upright else opt(p.y), low=opt(p.low), high=opt(p.high))
        for p in drawn.trace.points
    )
    return replace(drawn, trace=replace(drawn.trace, points=points), y=y, x=x)


def _with_unit(label: str, unit: str) -> str:
    return f"{label} ({unit})" if unit and not label.endswith(f"({unit})") else label


def _without_shared_end(label: str, other: str) -> str:
    """`Throughput, Sessions` beside `p99 read latency, Sessions` -> `Throughput`: the other axis names the rest."""
    comma = locale().listed(("", ""))
    places = (found.start() for found in re.finditer(re.escape(comma), label))
    return next((label[:at] for at in places if other.endswith(label[at:])), label)


def _title(drawn: Sequence[Drawn], scale: Scale) -> str:
    drawn = [d for d in drawn if not d.upright]
    main = [d for d in drawn if d.series.color_dim] or drawn
    labels = list(dict.fromkeys(d.series.label for d in main))
    if len(labels) > 1 and scale.unit:  # the legend names the series; the axis says what it counts
        return scale.unit
    if len({d.series.query.unit for d in drawn}) > 1:
        labels = list(dict.fromkeys(_with_unit(d.series.label, unit_text(d.series.query.unit)) for d in drawn))
    return _with_unit(locale().listed(labels), scale.unit)


# --- words and data ----------------------------------------------------------------------------------------------


def _data_head(
    chart: Chart, results: Results, x_dim: str | None, panel_dim: str | None, *, curve: bool
) -> tuple[str, ...]:
    words = results.words
    y = [title for title in (chart.left, chart.right) if title]
    key = words.get(x_dim or "", "") if curve else chart.x.title
    panel = [words.get(panel_dim, panel_dim)] if panel_dim else []
    return (*panel, words["series"], key, *([chart.x.title] if curve else []), " / ".join(y))


def _data(drawn: Sequence[Drawn], *, curve: bool, panels: bool) -> Iterable[tuple[str, ...]]:
    for d in drawn:
        y_text = _column([p.y for p in d.trace.points])
        x_text = _column([p.x if p.y is not None else None for p in d.trace.points])
        for point, label in zip(d.trace.points, d.labels, strict=True):
            shown = "–" if point.y is None else with_unit(y_text(point.y), d.unit)
            x = ["–" if point.y is None else x_text(point.x)] if curve else []
            yield (*([d.panel] if panels else []), d.trace.name, label, *x, shown)


def _column(values: Sequence[float | None]) -> Callable[[float], str]:
    decimals = decimals_for(values)
    return lambda value: fixed(value, decimals)
