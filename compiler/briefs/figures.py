"""`figure`: bars, lines, curves and marks, with a dimension for each visual channel and one unit for each axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from benchbrief.compiler import plan
from benchbrief.compiler.blocks.structure_errors import WrongType
from benchbrief.compiler.blocks.wrong_values import described
from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.briefs.bodies import Body, option_title, option_word, read_body, split_options
from benchbrief.compiler.briefs.prose import prose, title
from benchbrief.compiler.briefs.queries import (
    Place,
    dimension,
    example_key,
    label_of,
    ordered,
    plan_keys,
    query,
    settled,
    typed_at,
)
from benchbrief.compiler.metrics import metric_errors
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.compiler.metrics.measures import AXIS_UNITS, DIMENSIONS, SAMPLED, Key
from benchbrief.compiler.metrics.terms import Fixed, Measure, Reduction, Spread, Term, fix, leaves, planned_keys
from benchbrief.compiler.metrics.typed import Typed, text_of
from benchbrief.compiler.plan import Dimension
from benchbrief.compiler.units import DIMENSIONLESS, Unit, parse_unit
from benchbrief.dsl import ast
from benchbrief.dsl.source import Span

_MARKS: Mapping[str, Literal["line", "bar", "curve", "rule"]] = {
    "line": "line",
    "bars": "bar",
    "curve": "curve",
    "mark": "rule",
}
_OPTIONS = ("color", "axis", "label", "dashed", "band", "log")
_USAGE = {
    "line": "`line = throughput by threads, color hardware`",
    "bars": "`bars = throughput[threads: 96] by workload, color hardware`",
    "curve": "`curve = throughput, latency.p99[read] along threads, color hardware`",
    "mark": "`mark = 10 ms`",
}
_Axis = Literal["left", "right", "x"]


@dataclass(frozen=True)
class _Drawn:
    """A series before it is lowered. `along` is where its axis was named, `x` the curve's other expression."""

    mark: Literal["line", "bar", "curve", "rule"]
    expr: ast.Expr
    typed: Typed
    label: str
    along: ast.Name | None
    color: ast.Name | None
    x: tuple[ast.Expr, Typed] | None
    axis: Literal["left", "right"]
    dashed: bool
    repeats: Typed | None
    """The same for each repeat, for a band."""

    @property
    def x_dim(self) -> Dimension | None:
        return dimension(self.along.text) if self.along else None

    @property
    def color_dim(self) -> Dimension | None:
        return dimension(self.color.text) if self.color else None


@dataclass
class _Axes:
    """The unit of each axis, from the first series that uses it, and where that is."""

    units: dict[_Axis, tuple[Unit, Span]] = field(default_factory=dict)

    def unit(self, typer: Typer, axis: _Axis, typed: Typed, span: Span) -> Unit | None:
        """The unit in which a series is shown on `axis`; None when it can't be."""
        unit, first = self.units.setdefault(axis, (typed.unit, span))
        if unit.dimension == typed.unit.dimension:
            return unit
        here, there = (f"`{u.text}`" if u.text else "a plain number" for u in (typed.unit, unit))
        typer.findings.add(wrong.AxisUnits(span, here, there, first))
        return None


def figure(typer: Typer, block: ast.Block, place: Place) -> plan.FigureElement | None:
    body = read_body(typer, block, (*_MARKS, "multiples", "claim", "note"), repeated=tuple(_MARKS))
    heading = title(typer, block.label, place, "title") if block.label else ""
    note = body.string("note")
    words = prose(typer, note, place) if note else None
    said = body.string("claim")
    claim = prose(typer, said, place) if said else None
    attributes = [item for item in block.body if isinstance(item, ast.Attribute) and item.key.text in _MARKS]
    if not attributes:
        if body.said(*_MARKS):
            return None  # misspelt, and reported
        typer.findings.add(wrong.EmptyElement(block.keyword.span, "figure", _USAGE["line"]))
        return None
    logs: set[str] = set()
    panel = _panel(typer, body)
    if panel is None and body.said("multiples"):
        return None  # of what is left free, more would seem to be wrong
    failed = heading is None or (note is not None and words is None) or (said is not None and claim is None)
    made_of: dict[ast.Attribute, list[_Drawn]] = {}
    for attribute in sorted(attributes, key=lambda each: each.key.text == "mark"):  # marks go by what is drawn
        beside = [one for series in made_of.values() for one in series]
        found = _series(typer, attribute, place, logs, beside, panel)
        failed = failed or found is None
        made_of[attribute] = found or []
    drawn = [one for attribute in attributes for one in made_of[attribute]]
    if failed or not _one_axis(typer, drawn) or not _fits_panels(typer, panel, drawn):
        return None
    made = _lowered(typer, drawn, panel)
    if made is None:
        return None
    series, keys = made
    return plan.FigureElement(
        title=heading or "",
        claim=claim,
        series=series,
        keys={dim: plan_keys(typer, dim, found) for dim, found in keys.items()},
        log_x="x" in logs,
        log_y="y left" in logs,
        log_y_right="y right" in logs,
        panel_dim=dimension(panel.text) if panel else None,
        note=words,
    )


def _panel(typer: Typer, body: Body) -> ast.Name | None:
    """The dimension that has a panel for each of its keys; None where there is none, or after a mistake."""
    values = body.values("multiples")
    if not values:
        return None
    value = values[0]
    if isinstance(value, ast.Name) and len(values) == 1:
        if value.text not in SAMPLED:
            return value if _is_dimension(typer, value) else None
        found = f"`{value.text}`, whose keys are known from the results alone"
    else:
        found = described(value) if len(values) == 1 else "more than one value"
    typer.findings.add(WrongType(values[-1].span, "multiples", "a dimension such as `workload`", found))
    return None


def _fits_panels(typer: Typer, panel: ast.Name | None, drawn: Sequence[_Drawn]) -> bool:
    """Whether the panels' dimension is one of the values'."""
    if panel is None:
        return True
    if not any(panel.text in one.typed.term.dims for one in drawn):
        first = drawn[0]
        typer.findings.add(
            metric_errors.DimensionAbsent(panel.span, text_of(first.expr), panel.text, first.typed.term.dims)
        )
        return False
    return True


def _series(
    typer: Typer,
    attribute: ast.Attribute,
    place: Place,
    logs: set[str],
    beside: Sequence[_Drawn],
    panel: ast.Name | None,
) -> list[_Drawn] | None:
    """What one attribute draws `beside` what is drawn already; None after a mistake."""
    word = attribute.key.text
    exprs, options, known = split_options(typer, attribute.values, _OPTIONS)
    log = option_word(typer, options, "log", ("x", "y"))
    axis: Literal["left", "right"] = (
        "right" if option_word(typer, options, "axis", ("left", "right")) == "right" else "left"
    )
    logs.update([f"y {axis}" if log == "y" else log] if log else [])
    label = option_title(typer, options, "label", place)
    color = _color(typer, options)
    if not known or ("label" in options and label is None) or ("color" in options and color is None):
        return None
    by = exprs[-1] if exprs and isinstance(exprs[-1], ast.By) else None
    wanted = {"curve": "along", "mark": None}.get(word, "by")
    stray = exprs[-1] if len(exprs) > 1 and isinstance(exprs[-2], ast.By) else None
    if isinstance(stray, ast.Name) and stray.text in ("logx", "logy"):
        typer.findings.add(wrong.UnknownOption(stray.span, "option", stray.text, ("log x", "log y")))
        return None
    if not exprs or (by.keyword if by else None) != wanted:
        typer.findings.add(wrong.NoAxis(attribute.values[0].span, word, _USAGE[word]))
        return None
    if by is not None and len(by.dimensions) > 1:
        first, second = by.dimensions[:2]
        typer.findings.add(wrong.TwoAxes(second.span, second.text, first.text, first.span))
        return None
    along = by.dimensions[0] if by else None
    if along is not None and not _is_dimension(typer, along):
        return None
    for name in (along, color):
        if panel is not None and name is not None and name.text == panel.text:
            typer.findings.add(wrong.TwiceShown(panel.span, panel.text, name.span))
            return None
    subject = by.subject if by else exprs[-1]
    items = (*exprs[:-1], *(subject.items if isinstance(subject, ast.List) else (subject,)))
    x: ast.Expr | None = None
    if word == "curve":
        if len(items) != 2:
            typer.findings.add(wrong.NoAxis(attribute.values[0].span, word, _USAGE[word]))
            return None
        x, *items_left = items
        items = tuple(items_left)
    if word == "mark" and color is None:
        color = _color_of_marks(typer, items, place, beside)
    shown = tuple(dim for name in (along, color, panel) if name and (dim := dimension(name.text)))
    around = _keys_shown(beside) if word == "mark" else ()
    free = panel is None
    typed = [_shown(typer, item, place, shown, around, panels=free) for item in items]
    x_typed = _shown(typer, x, place, shown, panels=free) if x else None
    if None in typed or (x is not None and x_typed is None):
        return None
    repeats = [_repeated(typer, item, place, shown, word, options) for item in items] if "band" in options else []
    if None in repeats:
        return None
    labels = Counter(label_of(typer, item) for item in items)
    return [
        _Drawn(
            mark=_MARKS[word],
            expr=item,
            typed=one,
            label=label or (own if labels[own := label_of(typer, item)] == 1 else text_of(item)),
            along=along,
            color=color,
            x=(x, x_typed) if x is not None and x_typed else None,
            axis=axis,
            dashed="dashed" in options,
            repeats=repeated,
        )
        for item, one, repeated in zip(items, typed, repeats or [None] * len(items), strict=True)
        if one is not None
    ]


def _shown(
    typer: Typer,
    expr: ast.Expr,
    place: Place,
    shown: tuple[Dimension, ...],
    around: Fixed = (),
    *,
    panels: bool = False,
) -> Typed | None:
    """An expression with no dimension but those that the figure shows; of others, it has the keys `around` it.

    `panels`: where one is left, small multiples could show it.
    """
    typed = typed_at(typer, expr, place, shown)
    if typed is None:
        return None
    typed, left = settled(typed, shown)
    for dim, key in around:
        if dim in left and key in (planned_keys(typed.term, dim) or ()):
            typed, left = settled(Typed(fix(typed.term, dim, key), typed.display), shown)
    if left:
        example = example_key(typer, typed.term, left[0])
        typer.findings.add(wrong.DimensionFree(expr.span, "figure", left, example, panels=panels))
        return None
    return typed


def _keys_shown(drawn: Sequence[_Drawn]) -> Fixed:
    """The keys that all series of a figure are at: a mark speaks of what the figure shows."""
    measures = [leaf for one in drawn for leaf in leaves(one.typed.term) if isinstance(leaf, Measure)]
    found: list[tuple[Dimension, Key]] = []
    for dim in ("hardware", "workload", "experiment"):
        keys = {key for measure in measures for key in measure.runs.keys(dim)}
        found += [(dim, key) for key in keys if len(keys) == 1]
    return tuple(found)


def _color_of_marks(typer: Typer, items: Sequence[ast.Expr], place: Place, drawn: Sequence[_Drawn]) -> ast.Name | None:
    """What tells the series of a figure apart, where it tells the marks apart too: one mark for each hardware."""
    typed = [typed_at(typer, item, place) for item in items]
    names = {one.color.text: one.color for one in drawn if one.color}
    return next((name for dim, name in names.items() if all(one and dim in one.term.dims for one in typed)), None)


def _repeated(
    typer: Typer,
    expr: ast.Expr,
    place: Place,
    shown: tuple[Dimension, ...],
    word: str,
    options: Mapping[str, ast.Option],
) -> Typed | None:
    """The expression for each repeat, of which a band is made; None after a mistake."""
    option = options["band"]
    if not isinstance(option.value, ast.Name) or option.value.text not in ("band", "confidence"):
        typer.findings.add(wrong.BadOption(option.value.span, "band", described(option.value), "`band confidence`"))
        return None
    if word not in ("line", "bars"):
        typer.findings.add(
            wrong.BadOption(option.word.span, "band", f"drawn beside a {word}", "it after a line or bars")
        )
        return None
    typed = _shown(typer, expr, place, (*shown, "repeat"))
    if typed is None:
        return None
    if "repeat" not in typed.term.dims:
        dims = tuple(dim for dim in typed.term.dims if dim in shown)
        typer.findings.add(metric_errors.DimensionAbsent(option.word.span, text_of(expr), "repeat", dims))
        return None
    if planned_keys(typed.term, "repeat") == (1,):
        typer.findings.add(wrong.BandOfSingleRuns(option.word.span, text_of(expr)))
    return typed


def _color(typer: Typer, options: Mapping[str, ast.Option]) -> ast.Name | None:
    option = options.get("color")
    if option is None:
        return None
    if not isinstance(option.value, ast.Name):
        found = f"`{text_of(option.value)}`"
        typer.findings.add(wrong.BadOption(option.value.span, "color", found, "a dimension: `color hardware`"))
        return None
    return option.value if _is_dimension(typer, option.value) else None


def _is_dimension(typer: Typer, name: ast.Name) -> bool:
    if dimension(name.text) is not None:
        return True
    typer.findings.add(metric_errors.UnknownDimension(name.span, "dimension", name.text, DIMENSIONS))
    return False


def _one_axis(typer: Typer, drawn: list[_Drawn]) -> bool:
    """Whether all series go along one dimension, with each channel's dimension in at least one of them."""
    first = next((d for d in drawn if d.along), None)
    for one in drawn:
        if first is None or one.along is None or first.along is None:
            continue
        if one.along.text != first.along.text or (one.mark == "curve") != (first.mark == "curve"):
            mixed = (one.mark == "curve") != (first.mark == "curve")
            here, there = ("" if mixed and d.mark == "curve" else str(d.x_dim) for d in (one, first))
            typer.findings.add(wrong.TwoAxes(one.along.span, here, there, first.along.span))
            return False
    good = True
    for one in drawn:
        for name, dim in ((one.along, one.x_dim), (one.color, one.color_dim)):
            others = any(dim in other.typed.term.dims for other in drawn)
            # What does not change along the axis is a constant beside a series that does.
            constant_is_fine = name is one.along and one.mark in ("bar", "line") and others
            if name is None or dim is None or dim in one.typed.term.dims or constant_is_fine:
                continue
            typer.findings.add(metric_errors.DimensionAbsent(name.span, text_of(one.expr), dim, one.typed.term.dims))
            good = False
        if one.x is not None and one.along is not None and one.x_dim not in one.x[1].term.dims:
            x_text, dims = text_of(one.x[0]), one.x[1].term.dims
            typer.findings.add(metric_errors.DimensionAbsent(one.along.span, x_text, one.along.text, dims))
            good = False
    return good


def _lowered(
    typer: Typer, drawn: list[_Drawn], panel: ast.Name | None
) -> tuple[tuple[plan.Series, ...], dict[Dimension, tuple[Key, ...]]] | None:
    keys: dict[Dimension, tuple[Key, ...]] = {}
    for one in drawn:
        for dim in (one.x_dim, one.color_dim, dimension(panel.text) if panel else None):
            if dim is not None and dim not in SAMPLED and dim in one.typed.term.dims:
                found = {*keys.get(dim, ()), *(planned_keys(one.typed.term, dim) or ())}
                keys[dim] = ordered(typer, dim, found)
    axes = _Axes()
    series = [_plan_series(typer, one, axes, keys, drawn) for one in drawn]
    if any(one is None for one in series):
        return None
    for one in drawn:
        points = keys.get(one.x_dim, ()) if one.x_dim else ()
        if one.mark in ("line", "curve") and one.along is not None and len(points) == 1:
            point = str(plan_keys(typer, cast(Dimension, one.x_dim), points)[0].label)
            typer.findings.add(wrong.SinglePoint(one.along.span, one.along.text, point))
    return tuple(one for one in series if one is not None), keys


def _plan_series(
    typer: Typer, one: _Drawn, axes: _Axes, keys: Mapping[Dimension, tuple[Key, ...]], drawn: list[_Drawn]
) -> plan.Series | None:
    typed, x_dim = one.typed, one.x_dim
    if one.mark == "rule":
        x_dim = _across(typed, drawn)
        if x_dim is not None:  # a mark on the x axis has its unit by nature
            return plan.Series(
                mark="rule",
                query=query(typer, typed.term, parse_unit(AXIS_UNITS[x_dim]), text_of(one.expr)),
                label=one.label,
                x_dim=x_dim,
                color_dim=one.color_dim,
                dashed=one.dashed,
            )
    elif x_dim is not None and x_dim not in typed.term.dims:
        typed = replace(typed, term=Spread(typed.term, x_dim, keys.get(x_dim, ())))
    unit = axes.unit(typer, one.axis, typed, one.expr.span)
    x_query, x_label = None, ""
    if one.x is not None:
        x_unit = axes.unit(typer, "x", one.x[1], one.x[0].span)
        if x_unit is None:
            return None
        x_query = query(typer, one.x[1].term, x_unit, text_of(one.x[0]))
        x_label = label_of(typer, one.x[0])
    if unit is None:
        return None
    repeats = query(typer, one.repeats.term, unit, text_of(one.expr)) if one.repeats else None
    return plan.Series(
        mark=one.mark,
        query=query(typer, typed.term, unit, text_of(one.expr)),
        label=one.label,
        x_dim=x_dim,
        x_query=x_query,
        x_label=x_label,
        color_dim=one.color_dim,
        axis=one.axis,
        dashed=one.dashed,
        band=repeats is not None,
        repeats=repeats,
    )


def _across(typed: Typed, drawn: list[_Drawn]) -> Dimension | None:
    """The x dimension that a mark stands on: the one in its unit, unless the values themselves are in it."""
    place = _place(typed.term)
    if place is not None and any(other.x_dim == place for other in drawn):
        return place
    if typed.term.unit == DIMENSIONLESS:
        return None
    for other in drawn:
        if other.mark in ("line", "bar") and other.x_dim is not None and other.x_dim in AXIS_UNITS:
            unit = parse_unit(AXIS_UNITS[other.x_dim]).dimension
            on_axis = [d for d in drawn if d.mark != "rule" and d.typed.term.unit == typed.term.unit]
            if unit == typed.term.unit and (not on_axis or other.x_dim == "target"):
                return other.x_dim
    return None


def _place(term: Term) -> Dimension | None:
    """The dimension of which a number is a point, as a knee is."""
    match term:
        case Reduction(function="knee"):
            return term.over[0]
        case Reduction(function="max" | "min" | "median" | "mean"):
            return _place(term.operand)
        case _:
            return None
