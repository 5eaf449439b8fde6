"""Plans a `figure` with bars, lines, curves and marks. Each visual channel shows one dimension, and each axis has one
unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Literal, cast

from benchbrief.compiler.blocks.values import described
from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.briefs.element_queries import (
    FixedKeys,
    better_side,
    examples,
    in_brackets,
    is_change,
    label_of,
    ordered,
    plan_keys,
    query,
    query_of_repeats,
    quote_of,
    typed_at,
    without_single_keys,
)
from benchbrief.compiler.briefs.plan_prose import (
    Body,
    claim_named,
    element_title,
    ends_of_range,
    option_format,
    option_title,
    option_word,
    prose,
    read_body,
    split_options,
)
from benchbrief.compiler.frontend.declarations import text_of
from benchbrief.compiler.frontend.structure_errors import WrongType
from benchbrief.compiler.measure_catalogue import SAMPLED
from benchbrief.compiler.metrics import metric_errors
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.compiler.metrics.indexing import index, point
from benchbrief.compiler.metrics.terms import (
    Fixed,
    Measure,
    Reduction,
    SpreadTerm,
    Term,
    Typed,
    fix,
    has_repeats,
    leaves,
    planned_keys,
)
from benchbrief.compiler.problems import CompileProblem, Findings
from benchbrief.dsl.formatter import is_point_note
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.plan import Dimension, DimKey
from benchbrief.model.units import DIMENSIONLESS, Unit, base_unit, parse_unit

FigureAxis = Literal["left", "right", "x"]
SeriesMark = Literal["line", "bar", "curve", "rule", "range", "slope", "bracket"]


@dataclass(frozen=True)
class PlannedSeries:
    """A series before it is converted for the plan. `along` names its axis. A curve plots one expression against
    another: `x` is the one on the horizontal axis."""

    mark: SeriesMark
    expr: ast.Expr
    typed: Typed
    high: tuple[ast.Expr, Typed] | None
    """The upper end of a range. `typed` is then its lower end."""
    label: plan.Label
    along: ast.Name | None
    color: ast.Name | None
    x: tuple[ast.Expr, Typed] | None
    axis: Literal["left", "right"]
    dashed: bool
    estimated: ast.Option | None
    format: str
    repeats: Typed | None
    """The value of each repeat, for a band and for bars of a repeated measurement."""
    band: bool
    quote: plan.Quote | None
    high_quote: plan.Quote | None

    @property
    def x_dim(self) -> Dimension | None:
        return self.along.text if self.along else None

    @property
    def color_dim(self) -> Dimension | None:
        return self.color.text if self.color else None


@dataclass
class FigureAxes:
    """The unit of each axis, and the place of the first series on it, which decides the unit."""

    units: dict[FigureAxis, tuple[Unit, Span]] = field(default_factory=dict)

    def unit(self, typer: Typer, axis: FigureAxis, typed: Typed, span: Span) -> Unit | None:
        """Return the unit of a series on `axis`, or None if the series can't be converted to it."""
        unit, first = self.units.setdefault(axis, (typed.unit, span))
        if unit.dimension == typed.unit.dimension:
            return unit
        here, there = (f"`{u.text}`" if u.text else "a plain number" for u in (typed.unit, unit))
        return typer.refuse(wrong.AxisUnits(span, first, here, there))


def lowered_series(
    typer: Typer, drawn: list[PlannedSeries], panel: ast.Name | None
) -> tuple[tuple[plan.Series, ...], dict[Dimension, tuple[DimKey, ...]]] | None:
    keys: dict[Dimension, tuple[DimKey, ...]] = {}
    for one in (each for each in drawn if each.mark != "bracket"):  # brackets add no bars
        for dim in (one.x_dim, one.color_dim, panel.text if panel else None):
            if dim is not None and dim not in SAMPLED and dim in one.typed.term.dims:
                found = {*keys.get(dim, ()), *(planned_keys(one.typed.term, dim) or ())}
                keys[dim] = ordered(typer, dim, found)
    axes = FigureAxes()
    series = [_plan_series(typer, one, axes, keys, drawn) for one in drawn]
    if any(one is None for one in series):
        return None
    for one in drawn:
        points = keys.get(one.x_dim, ()) if one.x_dim else ()
        if one.mark in ("line", "curve", "slope") and one.along is not None and len(points) == 1:
            only = str(plan_keys(typer, cast(Dimension, one.x_dim), points)[0].label)
            typer.report(wrong.SinglePoint(one.along.span, one.along.text, only))
    return tuple(one for one in series if one is not None), keys


def _plan_series(
    typer: Typer,
    one: PlannedSeries,
    axes: FigureAxes,
    keys: Mapping[Dimension, tuple[DimKey, ...]],
    drawn: list[PlannedSeries],
) -> plan.Series | None:
    typed, x_dim = one.typed, one.x_dim
    if one.mark == "bracket":  # a bracket is on no axis
        made = query(typer, typed.term, typed.unit, one.expr, one.quote)
        return plan.Series(mark="bracket", query=made, label=one.label, x_dim=x_dim, format=one.format)
    if one.mark == "rule":
        x_dim = _across(typer, typed, drawn)
        if x_dim is not None:  # a mark on the x axis always has the axis's unit
            return plan.Series(
                mark="rule",
                query=query(typer, typed.term, _unit_of_keys(typer, x_dim), one.expr),
                label=one.label,
                x_dim=x_dim,
                color_dim=one.color_dim,
                dashed=one.dashed,
            )
    elif x_dim is not None and x_dim not in typed.term.dims:
        beside = tuple(d.typed.term for d in drawn if x_dim in d.typed.term.dims) if x_dim in SAMPLED else ()
        typed = replace(typed, term=SpreadTerm(typed.term, x_dim, keys.get(x_dim, ()), beside))
    estimated = _estimated(typer, one, keys)
    if estimated is None:
        return None
    unit = axes.unit(typer, one.axis, typed, one.expr.span)
    x_query, x_label = None, cast(plan.Label, "")
    if one.x is not None:
        x_unit = axes.unit(typer, "x", one.x[1], one.x[0].span)
        if x_unit is None:
            return None
        x_query = query(typer, one.x[1].term, x_unit, one.x[0])
        x_label = label_of(typer, one.x[0])
    if unit is None:
        return None
    of_repeats = query if one.band else query_of_repeats
    repeats = of_repeats(typer, one.repeats.term, unit, one.expr) if one.repeats else None
    return plan.Series(
        mark=one.mark,
        query=query(typer, typed.term, unit, one.expr, one.quote),
        high=query(typer, one.high[1].term, unit, one.high[0], one.high_quote) if one.high else None,
        label=one.label,
        format=one.format,
        x_dim=x_dim,
        x_query=x_query,
        x_label=x_label,
        color_dim=one.color_dim,
        axis=one.axis,
        dashed=one.dashed,
        estimated=estimated,
        band=one.band,
        repeats=repeats,
        better=better_side(typer, one.expr) if one.mark == "bar" else None,
    )


def _estimated(typer: Typer, one: PlannedSeries, keys: Mapping[Dimension, tuple[DimKey, ...]]) -> bool | DimKey | None:
    """Return True if all values of a series are estimates, and False if none is. If only one colour has estimates,
    return its key. Return None after a mistake."""
    if one.estimated is None or one.estimated.value is one.estimated.word:
        return one.estimated is not None
    if one.color_dim and one.color_dim in typer.scope.axis_units:
        found = point(typer, one.typed.term, one.color_dim, one.estimated.value)
        return found and found[1]
    named = [str(key) for key in keys.get(one.color_dim, ())] if one.color_dim else []
    return option_word(typer, {"estimated": one.estimated}, "estimated", (*named,))


def _unit_of_keys(typer: Typer, dim: Dimension) -> Unit:
    """Return the unit of a dimension's keys, which is the base unit for a factor."""
    unit = parse_unit(typer.scope.axis_units[dim])
    return unit if unit.factor == 1 else Unit(unit.dimension, 1.0, base_unit(unit.dimension))


def _across(typer: Typer, typed: Typed, drawn: list[PlannedSeries]) -> Dimension | None:
    """Return the dimension of the x axis that a mark is placed on, found by the mark's unit. Return None for a mark in
    the unit of the values."""
    place = _place(typed.term)
    if place is not None and any(other.x_dim == place for other in drawn):
        return place
    if typed.term.unit == DIMENSIONLESS:
        return None
    for other in drawn:
        if other.mark in ("line", "bar") and other.x_dim and other.x_dim in typer.scope.axis_units:
            unit = parse_unit(typer.scope.axis_units[other.x_dim]).dimension
            on_axis = [d for d in drawn if d.mark != "rule" and d.typed.term.unit == typed.term.unit]
            if unit == typed.term.unit and (not on_axis or other.x_dim == "target"):
                return other.x_dim
    return None


def _place(term: Term) -> Dimension | None:
    """If a number is a point along a dimension, return this dimension (for a knee, the dimension of its ramp). Return
    None for other numbers."""
    match term:
        case Reduction(function="knee"):
            return term.over[0]
        case Reduction(function="max" | "min" | "median" | "mean"):
            return _place(term.operand)
        case _:
            return None


_MARKS: Mapping[str, SeriesMark] = {
    "line": "line",
    "bars": "bar",
    "curve": "curve",
    "slope": "slope",
    "bracket": "bracket",
    "mark": "rule",
}
_LAST = ("bracket", "mark")
_LAST_MARKS = ("bracket", "rule")
"""Marks that are drawn over other series, and read after them."""
_OPTIONS = ("color", "axis", "label", "dashed", "estimated", "band", "log", "format")
_OPTIONS_OF: Mapping[str, tuple[str, ...]] = {"bracket": ("label", "format")}
_USAGE = {
    "line": "`line = throughput by threads, color hardware`",
    "bars": "`bars = max(throughput over threads) by workload, color hardware`",
    "curve": "`curve = throughput, latency.p99[read] along threads, color hardware`",
    "slope": "`slope = latency.p99[read][threads: 96] by hardware, color workload`",
    "bracket": "`bracket = gain[threads: 96] by workload`",
    "mark": "`mark = 10 ms`",
}


def figure(typer: Typer, block: ast.Block, place: FixedKeys) -> plan.FigureElement | None:
    known = (*_MARKS, "multiples", "axes", "claim", "note")
    pointing = [item for item in block.body if is_point_note(item)]
    block = replace(block, body=tuple(item for item in block.body if item not in pointing)) if pointing else block
    body = read_body(typer, block, known, repeated=tuple(_MARKS))
    titled = element_title(typer, block, place)
    note = body.string("note")
    words = prose(typer, note, place) if note else None
    named = claim_named(typer, body.values("claim")[0]) if body.values("claim") else None
    said = None if named else body.string("claim")
    claim = plan.Prose(parts=(named,)) if named else prose(typer, said, place) if said else None
    attributes = [item for item in block.body if isinstance(item, ast.Attribute) and item.key.text in _MARKS]
    if not attributes:
        if body.said(*_MARKS) or any(isinstance(it, ast.Block) or it.key.text not in known for it in block.body):
            return None  # a misspelt or unknown one, which is reported
        return typer.refuse(wrong.EmptyElement(block.keyword.span, "figure", _USAGE["line"]))
    free = _has_free_axes(typer, body)
    logs: dict[str, Span] = {}
    panel = _panel(typer, body)
    if panel is None and body.said("multiples"):
        return None  # its free dimensions would cause further mistakes
    failed = titled is None or (note is not None and words is None) or (said is not None and claim is None)
    made_of: dict[int, list[PlannedSeries]] = {}
    for attribute in sorted(attributes, key=lambda each: each.key.text in _LAST):
        beside = [one for series in made_of.values() for one in series]
        found = _series(typer, attribute, place, logs, beside, panel)
        failed = failed or found is None
        made_of[id(attribute)] = found or []
    drawn = [one for attribute in attributes for one in made_of[id(attribute)]]
    if failed or titled is None or not _one_axis(typer, drawn) or not _fits_panels(typer, panel, drawn):
        return None
    _check_logs(typer, drawn, logs)
    made = lowered_series(typer, drawn, panel)
    if made is None:
        return None
    series, keys = made
    notes = [_point_note(typer, item, place, drawn) for item in pointing if isinstance(item, ast.Attribute)]
    if None in notes:
        return None
    return plan.FigureElement(
        title=titled[0],
        heading=titled[1],
        claim=claim,
        series=series,
        keys={dim: plan_keys(typer, dim, found) for dim, found in keys.items()},
        log_x="x" in logs,
        log_y="y left" in logs,
        log_y_right="y right" in logs,
        free_axes=free,
        panel_dim=panel.text if panel else None,
        point_notes=tuple(one for one in notes if one is not None),
        note=words,
    )


def _point_note(
    typer: Typer, note: ast.Attribute, place: FixedKeys, drawn: Sequence[PlannedSeries]
) -> plan.PointNote | None:
    """Return a note with an arrow to certain points. The points belong to the first series that has them. Return None
    after a mistake."""
    call = note.values[0]
    shown = [one for one in drawn if one.along is not None and one.mark not in _LAST_MARKS]
    text = prose(typer, note.label, place) if note.label else None
    if not isinstance(call, ast.Call) or text is None:
        return None
    if not shown:
        return typer.refuse(wrong.NoPointsForNote(call.span))
    found: list[tuple[Findings, Fixed | None]] = []
    before = typer.findings
    for one in shown:
        typer.findings = Findings()
        made = index(typer, one.typed.term, ast.Index(call.span, one.expr, call.arguments))
        found.append((typer.findings, made and made[1]))
    typer.findings = before
    findings, at = next(((own, at) for own, at in found if at is not None), found[0])
    typer.findings.include(findings)
    if at is None:
        return None
    if missing := [str(one.x_dim) for one in shown if one.x_dim not in dict(at)]:
        return typer.refuse(
            wrong.NoteWithoutPlace(call.span, missing[0], *examples(typer, shown[0].typed.term, missing[:1]))
        )
    return plan.PointNote(text=text, at=dict(at))


def _panel(typer: Typer, body: Body) -> ast.Name | None:
    """Return the dimension of the panels, or None if there are no panels or after a mistake."""
    values = body.values("multiples")
    if not values:
        return None
    value = values[0]
    if isinstance(value, ast.Name) and len(values) == 1:
        if value.text not in SAMPLED:
            return value if _is_dimension(typer, value) else None
        found = f"`{value.text}`, whose values are known from the results alone"
    else:
        found = described(value) if len(values) == 1 else "more than one value"
    return typer.refuse(WrongType(values[-1].span, "multiples", "a dimension such as `workload`", found))


def _has_free_axes(typer: Typer, body: Body) -> bool:
    """Return whether the figure's axes may differ from those of other figures that show the same measure."""
    values = body.values("axes")
    if not values or (len(values) == 1 and isinstance(values[0], ast.Name) and values[0].text == "free"):
        return bool(values)
    found = described(values[0]) if len(values) == 1 else "more than one value"
    typer.report(WrongType(values[-1].span, "axes", "the word `free`", found))
    return False


def _fits_panels(typer: Typer, panel: ast.Name | None, drawn: Sequence[PlannedSeries]) -> bool:
    """Return whether any series has the panels' dimension, and report the panels if none has."""
    if panel is None:
        return True
    if not any(panel.text in one.typed.term.dims for one in drawn):
        first = drawn[0]
        typer.report(metric_errors.DimensionAbsent(panel.span, text_of(first.expr), panel.text, first.typed.term.dims))
        return False
    return True


def _wrong_axis(
    attribute: ast.Attribute, exprs: Sequence[ast.Expr], by: ast.By | None, color: ast.Name | None
) -> CompileProblem | None:
    """Return the mistake in the `by` or `along` of a series."""
    word = attribute.key.text
    wanted = {"curve": "along", "mark": ""}.get(word, "by")
    if word == "bracket" and exprs and by is None:
        return None  # the bracket is over all bars of the figure
    stray = exprs[-1] if len(exprs) > 1 and isinstance(exprs[-2], ast.By) else None
    if stray is not None and (mistake := _misplaced_log(stray)):
        return mistake
    said = by.keyword if by else ""
    if not exprs or said != wanted:
        return wrong.NoAxis(attribute.values[0].span, word, _USAGE[word], keyword=wanted, instead_of=said)
    if by is None or len(by.dimensions) == 1:
        return None
    first, second = by.dimensions[:2]
    by_color = f"write `by {first.text}, color {second.text}`" if color is None else ""
    instead = by_color or f"show `{second.text}` in panels with `multiples = {second.text}`"
    return wrong.TwoAxes(second.span, first.span, second.text, first.text, instead)


def _series(
    typer: Typer,
    attribute: ast.Attribute,
    place: FixedKeys,
    logs: dict[str, Span],
    beside: Sequence[PlannedSeries],
    panel: ast.Name | None,
) -> list[PlannedSeries] | None:
    """Return the series of one attribute, or None after a mistake. `beside` are the series that the figure already
    has."""
    word = attribute.key.text
    exprs, options, known = split_options(typer, attribute.values, _OPTIONS_OF.get(word, _OPTIONS))
    found = {
        option_word(typer, {"log": option}, "log", ("x", "y")): option.word.span.to(option.value.span)
        for option in options.values()
        if option.word.text == "log"
    }
    axis: Literal["left", "right"] = (
        "right" if option_word(typer, options, "axis", ("left", "right")) == "right" else "left"
    )
    logs.update({f"y {axis}" if log == "y" else log: span for log, span in found.items() if log})
    label = option_title(typer, options, "label", place)
    color = _color(typer, options)
    if not known or ("label" in options and label is None) or ("color" in options and color is None):
        return None
    by = exprs[-1] if exprs and isinstance(exprs[-1], ast.By) else None
    if mistake := _wrong_axis(attribute, exprs, by, color) or _without_bars(attribute, beside):
        return typer.refuse(mistake)
    along = by.dimensions[0] if by else None
    if along is not None and not _is_dimension(typer, along):
        return None
    twice = next((name for name in (along, color) if panel and name and name.text == panel.text), None)
    if panel and twice:
        return typer.refuse(wrong.TwiceShown(panel.span, twice.span, panel.text))
    if along and color and along.text == color.text:
        return typer.refuse(wrong.TwiceShown(color.span, along.span, color.text, "colours", "the axis"))
    subject = by.subject if by else exprs[-1]
    items = (*exprs[:-1], *(subject.items if isinstance(subject, ast.List) else (subject,)))
    x: ast.Expr | None = None
    if word == "curve":
        if len(items) != 2:
            return typer.refuse(wrong.NoAxis(attribute.values[0].span, word, _USAGE[word], len(items)))
        x, *items_left = items
        items = tuple(items_left)
    if word == "mark" and color is None:
        color = _color_of_marks(typer, items, place, beside)
    shown = tuple(name.text for name in (along, color, panel) if name)
    around = _keys_shown(beside) if word == "mark" else ()
    free = panel is None
    ends = [ends_of_range(item) if word == "bars" else () for item in items]
    lows = [found[0] if found else item for item, found in zip(items, ends, strict=True)]
    kind = "bracket" if word == "bracket" else "figure"
    typed = [_shown(typer, item, place, shown, around, panels=free, kind=kind) for item in lows]
    good = None not in typed
    highs = [_shown(typer, found[1], place, shown, panels=free) if found and good else None for found in ends]
    x_typed = _shown(typer, x, place, shown, panels=free) if x else None
    if None in typed or (x is not None and x_typed is None):
        return None
    repeats = [_repeated(typer, item, place, shown, word, options) for item in items]
    if "band" in options and None in repeats:
        return None
    formats = [option_format(typer, options, one) for one in typed if one is not None]
    if None in formats or any(found and high is None for found, high in zip(ends, highs, strict=True)):
        return None
    what = [found[0].arguments[0].value if found else item for item, found in zip(items, ends, strict=True)]
    shares = [is_change(typer, item) for item in what]
    names = [label or label_of(typer, item) for item in what]
    alike = Counter(names)
    return [
        PlannedSeries(
            mark="range" if end else _MARKS[word],
            expr=low,
            typed=replace(one, display=written[1])
            if word == "bracket"
            else _in_per_cent(one)
            if end and share
            else one,
            high=(end[1], high) if high else None,
            label=label or (own if alike[own] == 1 else label_of(typer, item, exact=True)),
            along=along,
            color=color,
            x=(x, x_typed) if x is not None and x_typed else None,
            axis=axis,
            dashed="dashed" in options,
            estimated=options.get("estimated"),
            format=written[0] or ("+.0%" if share and (end or word == "bracket") else ""),
            repeats=repeated,
            band="band" in options,
            quote=quote_of(typer, low, place),
            high_quote=quote_of(typer, end[1], place) if end else None,
        )
        for item, low, end, own, one, high, share, written, repeated in zip(
            what, lows, ends, names, typed, highs, shares, formats, repeats, strict=True
        )
        if one is not None and written is not None
    ]


def _in_per_cent(share: Typed) -> Typed:
    return share if share.display is not None else replace(share, display=parse_unit("%"))


def _without_bars(attribute: ast.Attribute, drawn: Sequence[PlannedSeries]) -> CompileProblem | None:
    """If a figure has a bracket but no bars, return that mistake. Otherwise, return None."""
    if attribute.key.text != "bracket" or any(one.mark in ("bar", "range") for one in drawn):
        return None
    return wrong.NoBars(attribute.key.span)


def _shown(
    typer: Typer,
    expr: ast.Expr,
    place: FixedKeys,
    shown: tuple[Dimension, ...],
    around: Fixed = (),
    *,
    panels: bool = False,
    kind: str = "figure",
) -> Typed | None:
    """Return the expression reduced to the dimensions of the figure, or None after a mistake.

    Each other dimension is fixed at its only key, or at its key in `around`, which comes from the surrounding
    expression. `panels` says whether small multiples could show a dimension that is left over.
    """
    typed = typed_at(typer, expr, place, shown)
    if typed is None:
        return None
    typed, left = without_single_keys(typed, shown)
    for dim, key in around:
        if dim in left and key in (planned_keys(typed.term, dim) or ()):
            typed, left = without_single_keys(Typed(fix(typed.term, dim, key), typed.display), shown)
    if left:
        keys = examples(typer, typed.term, left)
        return typer.refuse(wrong.DimensionFree(expr.span, kind, left, keys, panels, in_brackets(expr)))
    return typed


def _keys_shown(drawn: Sequence[PlannedSeries]) -> Fixed:
    """Return the fixed keys that all series of a figure share. The figure's marks are fixed to the same keys."""
    measures = [leaf for one in drawn for leaf in leaves(one.typed.term) if isinstance(leaf, Measure)]
    found: list[tuple[Dimension, DimKey]] = []
    factors = dict.fromkeys(dim for measure in measures for dim in measure.runs.factors)
    for dim in ("hardware", "workload", "experiment", *factors):
        keys = {key for measure in measures for key in measure.runs.keys(dim)}
        found += [(dim, key) for key in keys if len(keys) == 1]
    return tuple(found)


def _color_of_marks(
    typer: Typer, items: Sequence[ast.Expr], place: FixedKeys, drawn: Sequence[PlannedSeries]
) -> ast.Name | None:
    """Return the dimension that colours the series, if each mark also has that dimension. Each colour then has its own
    mark."""
    typed = [typed_at(typer, item, place) for item in items]
    names = {one.color.text: one.color for one in drawn if one.color}
    return next((name for dim, name in names.items() if all(one and dim in one.term.dims for one in typed)), None)


def _repeated(
    typer: Typer,
    expr: ast.Expr,
    place: FixedKeys,
    shown: tuple[Dimension, ...],
    word: str,
    options: Mapping[str, ast.Option],
) -> Typed | None:
    """Return the expression with a value for each repeat, if a band or bars with several repeats need it. Otherwise, or
    after a mistake, return None."""
    if "band" not in options:
        return _of_repeated_bar(typer, expr, place, shown) if word == "bars" and not ends_of_range(expr) else None
    option = options["band"]
    if not isinstance(option.value, ast.Name) or option.value.text not in ("band", "confidence"):
        return typer.refuse(wrong.BadOption(option.value.span, "band", described(option.value), "`band confidence`"))
    if word not in ("line", "bars") or ends_of_range(expr):
        word = "range" if word == "bars" else word
        return typer.refuse(
            wrong.BadOption(option.word.span, "band", f"drawn beside a {word}", "it after a line or bars")
        )
    typed = _shown(typer, expr, place, (*shown, "repeat"))
    if typed is None:
        return None
    if "repeat" not in typed.term.dims:
        found = f"drawn around `{text_of(expr)}`, which has no repeats"
        return typer.refuse(wrong.BadOption(option.word.span, "band", found, "it after a measured value, or remove it"))
    if planned_keys(typed.term, "repeat") == (1,):
        typer.report(wrong.BandOfSingleRuns(option.word.span, text_of(expr)))
    return typed


def _of_repeated_bar(typer: Typer, expr: ast.Expr, place: FixedKeys, shown: tuple[Dimension, ...]) -> Typed | None:
    """Return the expression with a value for each repeat of a bar, to show how far the repeats scatter. Return None if
    there is only one repeat."""
    if "repeat" in shown:
        return None
    typed = _shown(typer, expr, place, (*shown, "repeat"))
    return typed if typed and has_repeats(typed.term) else None


def _check_logs(typer: Typer, drawn: Sequence[PlannedSeries], logs: Mapping[str, Span]) -> None:
    """Report each logarithmic scale that is used with bars or on an axis without positive numbers."""
    marks = {one.mark for one in drawn}
    along = next((one.along.text for one in drawn if one.along), "")
    for scale, span in logs.items():
        found = ""
        if scale != "x" and any((one.mark, f"y {one.axis}") == ("bar", scale) for one in drawn):
            found, usage = "drawn below bars, which begin at zero", "`line` in place of `bars`"
        elif scale == "x" and "bar" in marks:
            found, usage = "used with bars: their axis has no scale", "`line` in place of `bars`"
        elif scale == "x" and "curve" not in marks and not _is_above_zero(typer, along):
            numbers = " or ".join(f"`{dim}`" for dim in ("threads", "target", *typer.scope.numeric_factors))
            found, usage = f"drawn by `{along}`", f"it where the axis has numbers above zero: {numbers}"
        if found:
            typer.report(wrong.BadOption(span, f"log {scale[0]}", found, usage))


def _is_above_zero(typer: Typer, dim: str) -> bool:
    """Return whether all keys of a dimension are numbers above zero."""
    if dim in typer.scope.numeric_factors:
        return all(not isinstance(key, str) and key > 0 for key in typer.runs.keys(dim))
    return dim in ("threads", "target")


def _misplaced_log(expr: ast.Expr) -> CompileProblem | None:
    """Return the mistake in `logy`, `log` alone, or `log x y` (which parses as a product), or None for anything
    else."""
    match expr:
        case ast.Name(text="logx" | "logy" as word):
            return wrong.UnknownOption(expr.span, "option", word, (f"log {word[-1]}",))
        case ast.Name(text="log"):
            return wrong.BadOption(expr.span, "log", "written without an axis", "`log x` or `log y`, or both")
        case ast.Binary(operator="x", left=ast.Name(text="log")):
            return wrong.BadOption(expr.span, "log", "set for two axes at once", "", "log x, log y")
    return None


def _color(typer: Typer, options: Mapping[str, ast.Option]) -> ast.Name | None:
    option = options.get("color")
    if option is None:
        return None
    if not isinstance(option.value, ast.Name):
        found = f"`{text_of(option.value)}`"
        return typer.refuse(wrong.BadOption(option.value.span, "color", found, "a dimension: `color hardware`"))
    return option.value if _is_dimension(typer, option.value) else None


def _is_dimension(typer: Typer, name: ast.Name) -> bool:
    if name.text in typer.scope.dimensions:
        return True
    typer.report(metric_errors.UnknownDimension(name.span, "dimension", name.text, typer.scope.dimensions))
    return False


def _one_axis(typer: Typer, drawn: list[PlannedSeries]) -> bool:
    """Return whether all series share one axis, and whether the dimension of each visual channel occurs in at least one
    series."""
    first = next((d for d in drawn if d.along), None)
    for one in drawn:
        if first is None or one.along is None or first.along is None:
            continue
        if one.along.text != first.along.text or (one.mark == "curve") != (first.mark == "curve"):
            mixed = (one.mark == "curve") != (first.mark == "curve")
            here, there = ("" if mixed and d.mark == "curve" else str(d.x_dim) for d in (one, first))
            typer.report(wrong.TwoAxes(one.along.span, first.along.span, here, there))
            return False
    good = True
    for one in drawn:
        for name, dim in ((one.along, one.x_dim), (one.color, one.color_dim)):
            others = any(dim in other.typed.term.dims for other in drawn)
            # A value that is constant along the axis fits beside a series that varies.
            constant_is_fine = name is one.along and one.mark in ("bar", "line", "range") and others
            if name is None or dim is None or dim in one.typed.term.dims or constant_is_fine:
                continue
            typer.report(metric_errors.DimensionAbsent(name.span, text_of(one.expr), dim, one.typed.term.dims))
            good = False
        if one.x is not None and one.along is not None and one.x_dim not in one.x[1].term.dims:
            x_text, dims = text_of(one.x[0]), one.x[1].term.dims
            typer.report(metric_errors.DimensionAbsent(one.along.span, x_text, one.along.text, dims))
            good = False
    return good
