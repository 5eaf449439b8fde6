"""Shows in a figure how a run chose its loads: the candidates, the kept and broken promises, and the rates that were
found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from benchbrief.model import plan
from benchbrief.model.plan import DimKey
from benchbrief.model.points import Curve
from benchbrief.model.precision import magnitude
from benchbrief.model.units import parse_unit
from benchbrief.reports.charts.chart import ChartPoint, RefusedPlace, Trace, XKind
from benchbrief.reports.charts.document_colours import Colour, DocumentColours
from benchbrief.reports.charts.drawn_series import Detail, DrawnSeries, event_rules
from benchbrief.reports.data.measure_labels import readable_label
from benchbrief.reports.data.place_labels import system_label
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.text.number_format import points, quantity
from benchbrief.reports.words.brief_words import Words
from benchbrief.results.analysis.promised_rates import Promised, RateRuns

LOST = 10.0
"""A limit can't be read on a linear axis if the largest value is more than this many times the limit."""
_PLAIN = re.compile(r"[a-z_][a-z0-9_.]*(\[[^\[\]]*\])*")
"""Matches a measure or a metric's name that is not part of a computation."""


def chosen_ramp(
    figure: plan.FigureElement, dim: str | None, results: Results
) -> Literal["adaptive", "searched"] | None:
    """Return how a run chose the points of the figure's x axis, or None if the run did not choose them."""
    if dim not in ("threads", "target"):
        return None
    behind = (cell.experiment for s in figure.series if s.x_dim == dim for cell in results.cells_behind(s.query))
    experiments = [results.plan.experiments[name] for name in dict.fromkeys(behind)]
    if any(each.promise is not None and each.axis == dim for each in experiments):
        return "searched"
    return "adaptive" if any(each.adaptive is not None and each.axis == dim for each in experiments) else None


def not_chosen(planned: Sequence[plan.LabelledKey], drawn: Sequence[plan.LabelledKey]) -> tuple[float, ...]:
    """Return the candidates that are not drawn."""
    kept = {key.value for key in drawn}
    return tuple(float(key.value) for key in planned if key.value not in kept)


def with_verdicts(
    trace: Trace,
    series: plan.Series,
    keys: Sequence[plan.LabelledKey],
    where: Mapping[str, DimKey],
    kind: XKind,
    results: Results,
) -> Trace:
    """Return a line over searched rates with the search's verdicts, which are shown at the line's points and at rates
    without a value."""
    if series.x_dim != "target" or trace.mark != "line" or kind == "category":
        return trace
    behind = _behind(series, where, results)
    runs: dict[float, list[RateRuns]] = {}
    for each in _promised(behind, results):
        for rate in each.rates:
            runs.setdefault(rate.rate, []).append(rate)
    verdicts = {
        rate: RateRuns(rate, *map(sum, zip(*(r[1:] for r in of), strict=True))).verdict for rate, of in runs.items()
    }
    shown = {key.value for key, point in zip(keys, trace.points, strict=True) if point.y is not None}
    marked = tuple(
        replace(point, hollow=verdict == "broken", late=verdict == "beyond")
        for key, point in zip(keys, trace.points, strict=True)
        for verdict in [verdicts.get(float(key.value))]
    )
    refused = tuple(
        RefusedPlace(rate, beyond=verdict == "beyond")
        for rate, verdict in sorted(verdicts.items())
        if verdict in ("broken", "beyond") and rate not in shown
    )
    return replace(trace, points=marked, refused=refused)


def with_rules(
    figure: plan.FigureElement,
    panels: Sequence[plan.LabelledKey | None],
    drawn: Sequence[DrawnSeries],
    results: Results,
    notes: dict[str, None],
    colours: DocumentColours,
) -> list[DrawnSeries]:
    """Return the series of a figure panel by panel. Each panel also gets its events, its promises' limits and the rates
    that were found.

    A figure without any value gets none of these rules.
    """
    if not any(d.has_values for d in drawn):
        return list(drawn)
    notes |= dict.fromkeys(_notes_on_verdicts(drawn, results.words))
    rules = [*event_rules(figure, panels, results), *_limit_rules(figure, panels, results)]
    together = [*drawn, *rules, *_found_rules(figure, panels, results, notes, colours)]
    order = list(dict.fromkeys(d.panel for d in together))
    return sorted(together, key=lambda d: order.index(d.panel))


def round_rates(values: Sequence[float]) -> tuple[float, ...]:
    """Return the round numbers between the ends of a logarithmic axis, such as 1k, 2k, 5k, 10k."""
    low, high = min(values, default=1.0), max(values, default=1.0)
    powers = range(magnitude(low), magnitude(high) + 1)
    found = tuple(rate for power in powers for n in (1, 2, 5) if low <= (rate := n * 10.0**power) <= high)
    return found if len(found) > 1 else (low, high)


def _notes_on_verdicts(drawn: Sequence[DrawnSeries], words: Words) -> Iterator[str]:
    """Yield the meaning of hollow points, of crosses and of the marks on the x axis."""
    if any(p.hollow and p.y is not None for d in drawn for p in d.trace.points):
        yield words["promise_points"]
    if any(p.late and p.y is not None for d in drawn for p in d.trace.points):
        yield words["promise_late"]
    for beyond in (False, True):
        if any(mark.beyond == beyond for d in drawn for mark in d.trace.refused):
            yield words["promise_beyond" if beyond else "promise_refused"]


def _limit_rules(
    figure: plan.FigureElement, panels: Sequence[plan.LabelledKey | None], results: Results
) -> Iterator[DrawnSeries]:
    """Yield a level line in each panel for every limit that a promise sets on a drawn measure."""
    for panel in panels:
        found: dict[tuple[float, str], DrawnSeries] = {}
        for line in _lines(figure):
            factor = parse_unit(line.query.unit).factor
            for name, *_ in _behind(line, _at(figure, panel), results):
                rule = results.plan.experiments[name].promise
                for limit in rule.limits if rule else ():
                    if not _measures(line.query, limit, results.plan):
                        continue
                    value = limit.most / factor
                    wording = results.words["promise_limit"].format(value=quantity(value, line.query.unit))
                    label = readable_label(line.label, results.words)
                    drawn = _rule(line, line.query, wording, ChartPoint(0.0, value), None, panel, label)
                    found.setdefault((limit.most, line.axis), drawn)
        yield from found.values()


def _found_rules(
    figure: plan.FigureElement,
    panels: Sequence[plan.LabelledKey | None],
    results: Results,
    notes: dict[str, None],
    colours: DocumentColours,
) -> Iterator[DrawnSeries]:
    """For each rate that was found, yield an upright line in each panel. The notes name the searches without a result.

    Several panels share the legend of the first one, so the notes give their rates.
    """
    missing: dict[str, None] = {}
    for panel in panels:
        found: dict[Curve, tuple[plan.Series, Promised]] = {}
        for line in _lines(figure):
            for each in _promised(_behind(line, _at(figure, panel), results), results):
                found.setdefault(each.curve, (line, each))
        alone = panel is None and len(found) == 1
        for line, each in found.values():
            name = _found(each, results, alone=alone)
            if each.sustained is None:
                reason = results.words.said(each.reason) or results.words["no_reason"]
                notes[results.words["no_mark"].format(name=name, reasons=reason)] = None
                continue
            if panel is not None:
                missing[name] = None
                name = results.words["promise_found"]
            query = line.query.model_copy(update={"unit": "ops/s", "dims": ()})
            point = ChartPoint(each.sustained, each.sustained, upright=True)
            yield _rule(line, query, name, point, _colour(line, each, colours), panel, name)
    if missing:
        notes[results.words["promise_found_at"].format(rates=results.words["semicolon"].join(missing))] = None


def low_limits(drawn: Sequence[DrawnSeries]) -> set[bool]:
    """Return the axes that have a limit too far below the largest value for a linear scale. True means the right
    axis."""
    found = set()
    for right in (False, True):
        levels = [d for d in drawn if d.trace.right == right and not d.upright]
        limits = [p.y for d in levels if d.named for p in d.trace.points if p.y]
        values = [p.y for d in levels for p in d.trace.points if p.y is not None]
        if limits and max(values) > LOST * min(limits):
            found.add(right)
    return found


def _lines(figure: plan.FigureElement) -> list[plan.Series]:
    return [each for each in figure.series if each.x_dim == "target" and each.mark == "line"]


def _at(figure: plan.FigureElement, panel: plan.LabelledKey | None) -> dict[str, DimKey]:
    return {figure.panel_dim: panel.value} if panel is not None and figure.panel_dim else {}


def _behind(line: plan.Series, where: Mapping[str, DimKey], results: Results) -> dict[Curve, None]:
    """Return the experiments, hardware and workloads behind a line."""
    cells = results.cells_behind(line.query, **where)
    return dict.fromkeys(Curve.of(cell) for cell in cells)


def _promised(places: Mapping[Curve, None], results: Results) -> list[Promised]:
    return [each for each in results.promises if each.curve in places]


def _measures(query: plan.Query, limit: plan.PromiseLimit, of: plan.Plan) -> bool:
    """Return whether a query is exactly the measure that the promise limits, and not something computed from it."""
    metrics = {metric.name: metric.query.text for metric in of.metrics}
    text = query.text
    while text in metrics and metrics[text] != text:
        text = metrics[text]
    if not query.reads or len(query.reads) != 1 or not _PLAIN.fullmatch(text):
        return False
    (read,) = query.reads
    if limit.measure == "errors":
        return read.view == "errors" and "operation" not in {*read.keys, *query.dims}
    operation = read.keys.get("operation")
    known = read.view, read.statistic, read.counted != "service"
    return known == ("latency", limit.statistic, True) and operation == (limit.operation,)


def _rule(
    line: plan.Series,
    query: plan.Query,
    name: str,
    point: ChartPoint,
    colour: Colour | None,
    panel: plan.LabelledKey | None,
    label: str,
) -> DrawnSeries:
    rule = line.model_copy(update={"mark": "rule", "query": query, "color_dim": None, "band": False})
    right = rule.axis == "right" and not point.upright
    detail = Detail("", None, point.y, None, None, 0, ())
    trace = Trace(name, "rule", (point,), colour.place if colour else None, right, given=colour.given if colour else "")
    return DrawnSeries(rule, label, trace, (detail,), panel.label if panel else "", named=True)


def _colour(line: plan.Series, each: Promised, colours: DocumentColours) -> Colour | None:
    """Return the colour of the hardware, workload or level that gives the line its colour, or None if the line's colour
    has no meaning."""
    dim = line.color_dim or ""
    key = each.curve.keys.get(dim)
    return None if key is None else colours.of_key.get((dim, key))


def _found(each: Promised, results: Results, *, alone: bool) -> str:
    words, plan_ = results.words, results.plan
    several = len({other.workload for other in results.promises if other.experiment == each.experiment}) > 1
    labels = [system_label(each, results), *([plan_.workloads[each.workload].label] if several else [])]
    name = words["promise_found"] if alone else words.locale.listed([words["promise_found"], *labels])
    if each.sustained is None:
        return name
    return words["promise_rate"].format(name=name, rate=each.doubt.mark + points([each.sustained]))
