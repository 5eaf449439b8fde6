"""The scales of a figure's axes, their keys and their titles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from benchbrief.compiler.planning import plan
from benchbrief.reports.charts.drawn_series import Drawn
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.text.number_format import Scale, scale_for, unit_text
from benchbrief.reports.words.locale_formats import locale


def staircase_axis(
    figure: plan.FigureElement, x_dim: str | None, results: Results
) -> tuple[str | None, dict[str, tuple[plan.Key, ...]]]:
    """Return what the x axis shows, and its keys where these are the rates of a staircase's steps in place of their
    numbers. They are when every drawn experiment has the same steps."""
    if x_dim != "phase":
        return x_dim, {}
    names = {cell.experiment for series in figure.series for cell in results.cells_behind(series.query)}
    arrivals = {name: results.plan.experiments[name].arrivals for name in names}
    rates = {each.rates if each and each.kind == "steps" else () for each in arrivals.values()}
    steps = rates.pop() if len(rates) == 1 else ()
    numbers = [float(key.value) for key in figure.keys.get("phase", ())]
    if not steps or not numbers or not {*numbers} <= {*range(1, len(steps) + 1)}:
        return x_dim, {}
    keys = (plan.Key(value=number, label=f"{steps[int(number) - 1]:.12g}") for number in numbers)
    return "target", {"phase": tuple(keys)}


def axis_scale(drawn: Sequence[Drawn]) -> Scale:
    """Return the scale of an axis's values, without marks on the x axis."""
    units = {d.series.query.unit for d in drawn if not d.upright}
    if len(units) != 1:
        return Scale(1.0, "")
    return scale_for([p.y for d in drawn for p in d.trace.points if not p.upright], units.pop())


def in_scale(drawn: Drawn, y: Scale, x: Scale) -> Drawn:
    def opt(value: float | None) -> float | None:
        return None if value is None else y(value)

    points = tuple(
        replace(
            p,
            x=x(p.x),
            y=p.y if p.upright else opt(p.y),
            low=opt(p.low),
            high=opt(p.high),
            repeats=tuple(map(y, p.repeats)),
        )
        for p in drawn.trace.points
    )
    return replace(drawn, trace=replace(drawn.trace, points=points), y=y, x=x)


def label_with_unit(label: str, unit: str) -> str:
    return f"{label} ({unit})" if unit and not label.endswith(f"({unit})") else label


def without_shared_end(label: str, other: str) -> str:
    """Turn `Throughput, Sessions` beside `p99 read latency, Sessions` into `Throughput`: the other axis has the
    rest."""
    comma = locale().listed(("", ""))
    places = (found.start() for found in re.finditer(re.escape(comma), label))
    return next((label[:at] for at in places if other.endswith(label[at:])), label)


def axis_title(drawn: Sequence[Drawn], scale: Scale) -> str:
    drawn = [d for d in drawn if not d.upright]
    main = [d for d in drawn if d.series.color_dim] or drawn
    labels = list(dict.fromkeys(d.label for d in main))
    if len(labels) > 1 and scale.unit:  # the legend names the series; the axis names what it counts
        return scale.unit
    if len({d.series.query.unit for d in drawn}) > 1:
        labels = list(dict.fromkeys(label_with_unit(d.label, unit_text(d.series.query.unit)) for d in drawn))
    return label_with_unit(locale().listed(labels), scale.unit)
