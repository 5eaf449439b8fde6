"""Plans a `table` or a `callout`. One side has the keys of a dimension, and the other has expressions or texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.briefs.element_queries import (
    FixedKeys,
    better_side,
    examples,
    in_brackets,
    key_label,
    label_of,
    ordered,
    plan_keys,
    query,
    query_of_repeats,
    quote_of,
    runs_at,
    typed_at,
    without_single_keys,
)
from benchbrief.compiler.briefs.plan_prose import (
    Body,
    element_title,
    fact_text,
    number_terms,
    option_title,
    printed_unit,
    prose,
    read_body,
    split_options,
    title,
)
from benchbrief.compiler.frontend.declarations import text_of
from benchbrief.compiler.measure_catalogue import AXIS_UNITS
from benchbrief.compiler.metrics import metric_errors
from benchbrief.compiler.metrics.curves import holds_percentiles
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.compiler.metrics.terms import Term, Typed, along, fix, has_repeats, planned_keys
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.plan import MOST_COLUMNS, Dimension, DimKey, escaped
from benchbrief.model.units import Unit


def has_contenders(typer: Typer, columns: Sequence[ast.Expr]) -> bool:
    """Return whether the columns can be compared: each is for a hardware group (`... by hardware`), or for a level of a
    factor that no workload uses. Other columns are reported. Workloads and points of a ramp differ in their load, so
    they are not contenders.
    """
    found: list[tuple[ast.Expr, list[str]]] = []
    for value in columns:
        if isinstance(value, ast.By) and value.keyword == "by":
            found.append((value, [name.text for name in value.dimensions]))
        elif isinstance(value, ast.Name) and value.text in typer.scope.dimensions and found:
            found[-1][1].append(value.text)  # `throughput by hardware, threads`
        elif not isinstance(value, ast.Option):
            found.append((value, []))
    contenders = ["hardware", *(factor.key for factor in typer.scope.factors if not factor.of_load)]
    others = [(value, names) for value, names in found if len(names) != 1 or names[0] not in contenders]
    example = contenders[min(1, len(contenders) - 1)]
    for value, names in others:
        by = " and ".join(f"`{name}`" for name in names)
        why = f"is by {by}, and not by `{example}` alone" if names else "does not say what is compared"
        if len(names) == 1 and names[0] in typer.scope.factors_by_name:
            why = f"is by {by}, which changes the load"
        typer.report(wrong.NoContenders(value.span, why, example))
    return not others


def tested(typer: Typer, expr: ast.Expr, typed: Typed, unit: Unit, place: FixedKeys, dim: Dimension) -> plan.Tested:
    """Return how a line is compared with other lines in a test. `typed` is the line's value. If the value is measured
    only once, the result has no `repeats`."""
    shown: tuple[Dimension, ...] = (dim, "repeat")
    demanded = (*shown, *(other for other, _ in place.fixed))
    repeated = typer.side_by_repeat(expr, demanded)
    better = better_side(typer, expr)
    of, percentile = text_of(expr), holds_percentiles(typed.term)
    if repeated is None:
        return plan.Tested(of=of, percentile=percentile, better=better)
    term = along(repeated.term, demanded)
    for other, key in place.fixed:
        term = fix(term, other, key)
    each, left = without_single_keys(Typed(term, repeated.display), shown)
    if left or not has_repeats(each.term):
        return plan.Tested(of=of, percentile=percentile, better=better)
    repeats = query_of_repeats(typer, each.term, unit, expr)
    return plan.Tested(of=of, repeats=repeats, percentile=percentile, better=better)


def _precedence(typer: Typer, dim: Dimension) -> int:
    """Rank a dimension by how likely a reader is to compare its keys: contenders first, then loads, then all others."""
    factor = typer.scope.factors_by_name.get(dim)
    if dim == "hardware" or (factor and not factor.of_load):
        return 2
    return int(factor is not None or dim in AXIS_UNITS)


_USAGE = "`rows = workload  columns = throughput by hardware`, or `rows = facts`"
_CALLOUT = '`rows = workload  column "Gain" = "{gain:.0%}"`'
HEAT = ("table", "rows", "columns")
"""The scopes in which a heat table can compare its values: the whole table, each row, or each column."""
_ATTRIBUTES = ("rows", "columns", "column", "note")


@dataclass(frozen=True)
class _Line:
    """A line that is made before its table's keys are known. `own` are the keys for which it has values, or None for
    all keys.

    `make` returns the line for the keys of the whole table, or None after a mistake. `by` has the labels of the line's
    keys in the dimensions that follow the word `by`.
    """

    label: plan.Label
    expr: ast.Expr
    own: tuple[DimKey, ...] | None
    make: Callable[[tuple[DimKey, ...]], plan.Line | None]
    by: tuple[str, ...] = ()
    named: bool = False
    """Whether the spec gives the line's label."""


@dataclass(frozen=True)
class _Table:
    """The properties that all lines of a table share, such as their place in the report and the dimension
    along them."""

    typer: Typer
    place: FixedKeys
    dim: Dimension
    format: str = ""
    named: bool = False
    """Whether the spec gives the names of the lines."""
    compared: bool = False
    """Whether the keys after `by` are contenders."""
    marked: bool = False
    """Whether the best of the compared values is marked."""


_WHOLE: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "facts": ("facts have no common scale", ("heat", "mark")),
    "published": ("shows the published values as they are", ("heat", "mark", "columns", "column")),
}
"""Words that are allowed as `rows` instead of a dimension. For each, lists the attributes that are not allowed in the
same table, and the reason."""


def table(
    typer: Typer, block: ast.Block, place: FixedKeys
) -> plan.TableElement | plan.FactsElement | plan.PublishedElement | None:
    body = read_body(typer, block, (*_ATTRIBUTES, "heat", "mark"), repeated=("column",))
    heat = body.word("heat", HEAT)
    rows = body.values("rows")
    mark = body.word("mark", ("best",))
    whole = rows[0].text if len(rows) == 1 and isinstance(rows[0], ast.Name) else ""
    if whole in _WHOLE:
        why, excluded = _WHOLE[whole]
        for key in excluded:
            if values := body.values(key):
                usage = f"`{key}` in a table of numbers"
                typer.report(wrong.TableShape(values[0].span, "table", f"has `{key}`, but {why}", usage))
        heading, said = element_title(typer, block, place) or ("", None)
        if whole == "published":
            return plan.PublishedElement(title=heading, heading=said, note=_prose(typer, body, "note", place))
        hardware = tuple(map(str, ordered(typer, "hardware", runs_at(typer, place).keys("hardware"))))
        return plan.FactsElement(title=heading, heading=said, hardware=hardware)
    titled = element_title(typer, block, place)
    made = _table(typer, block, body, place, marked=mark is not None)
    if made is None or titled is None:
        return None
    return made.model_copy(update={"title": titled[0], "heading": titled[1], "heat": heat or "", "mark": mark or ""})


def callout(typer: Typer, block: ast.Block, place: FixedKeys) -> plan.CalloutElement | None:
    body = read_body(typer, block, (*_ATTRIBUTES, "text"), repeated=("column",))
    titled = element_title(typer, block, place)
    has_table = body.said("rows", "columns", "column")
    if not has_table and not body.said("text"):
        if _has_block(block):
            return None
        return typer.refuse(wrong.EmptyElement(block.keyword.span, "callout", f'`text = "..."`, or {_CALLOUT}'))
    inner = _table(typer, block, body, place) if has_table else None
    text, note = _prose(typer, body, "text", place), _prose(typer, body, "note", place)
    if titled is None or (has_table and inner is None) or (body.said("text") and text is None):
        return None
    if body.said("note") and note is None:
        return None
    bare = inner.model_copy(update={"note": None}) if inner else None
    return plan.CalloutElement(title=titled[0], heading=titled[1], table=bare, prose=text, note=note)


def _prose(typer: Typer, body: Body, key: str, place: FixedKeys) -> plan.Prose | None:
    string = body.string(key)
    return prose(typer, string, place) if string else None


def comparison(typer: Typer, block: ast.Block, place: FixedKeys) -> plan.TableElement | None:
    body = read_body(typer, block, ("rows", "columns", "note"))
    titled = element_title(typer, block, place)
    if body.said("columns") and not has_contenders(typer, body.values("columns")):
        return None
    made = _table(typer, block, body, place, compared=True)
    return made.model_copy(update={"title": titled[0], "heading": titled[1]}) if made and titled else None


def _has_block(block: ast.Block) -> bool:
    """Return whether the block contains another block. That block has been reported already, and may be the reason why
    lines are missing."""
    return any(isinstance(item, ast.Block) for item in block.body)


def _table(
    typer: Typer, block: ast.Block, body: Body, place: FixedKeys, *, compared: bool = False, marked: bool = False
) -> plan.TableElement | None:
    kind = "comparison" if compared else block.keyword.text
    rows, row_options, rows_known = split_options(typer, body.values("rows"), ("label", "format"))
    columns, column_options, columns_known = split_options(typer, body.values("columns"), ("label", "format"))
    transposed = _dimension(typer, rows) is None and _dimension(typer, columns) is not None
    along, across = (columns, rows) if transposed else (rows, columns)
    along_options, across_options = (column_options, row_options) if transposed else (row_options, column_options)
    dim = _dimension(typer, along)
    if dim is None:
        if along or not _has_block(block):
            _refuse_no_dimension(typer, block, body, kind, along, transposed)
        return None
    if not across and not body.said("column"):
        usage = "`columns = throughput by hardware`" + ("" if compared else ', or `column "Gain" = gain`')
        return typer.refuse(wrong.EmptyElement(block.keyword.span, kind, usage))
    if not rows_known or not columns_known:
        return None
    format_ = option_title(typer, across_options, "format", place) or ""
    table = _Table(typer, place, dim, format_, compared=compared, marked=marked)
    lines = _lines(table, across)
    for attribute in body.all("column"):
        lines += _column(table, attribute)
    note = _prose(typer, body, "note", place)
    if None in lines or (body.said("note") and note is None):
        return None
    good = [line for line in lines if line is not None]
    paths = _paths(typer, good)
    known = [line.own for line in good if line.own is not None]
    planned = runs_at(typer, place).keys(dim)
    keys = ordered(typer, dim, (key for own in known for key in own)) if known else planned
    whole = [line.make(keys) for line in good]
    made = [line for line in whole if line]
    if marked and len(made) == len(good):
        made = _with_best(typer, body, good, made)
    if len(made) < len(good):
        return None
    _warn_of_width(typer, block, _measured(typer, dim, len(keys)) if transposed else len(good))
    return plan.TableElement(
        title="",
        dim=dim,
        dim_label=option_title(typer, along_options, "label", place) or "",
        keys=plan_keys(typer, dim, keys),
        lines=tuple(
            line.model_copy(update={"label": path[-1], "heads": path[:-1]})
            for path, line in zip(paths, made, strict=True)
        ),
        transposed=transposed,
        note=note,
    )


def _refuse_no_dimension(
    typer: Typer, block: ast.Block, body: Body, kind: str, along: Sequence[ast.Expr], transposed: bool
) -> None:
    """Report that a table has no dimension along its lines."""
    if len(along) == 1 and isinstance(along[0], ast.Name) and along[0].text not in typer.metrics:
        name, words = along[0], (*typer.scope.dimensions, *(["facts"] if kind == "table" else []))
        if did_you_mean(name.text, words):
            typer.report(metric_errors.UnknownDimension(name.span, "dimension", name.text, words))
            return
    exprs = [value for attribute in body.all("column") for value in attribute.values]
    for expr in exprs:
        if not isinstance(expr, ast.String | ast.Option):
            typer.typed(expr)  # so that both mistakes are reported
    why = "has no dimension along its rows or its columns" if along else "has no `rows`"
    usage = _USAGE if kind == "table" else _CALLOUT
    names = [v.text for v in along if isinstance(v, ast.Name) and v.text in typer.scope.dimensions]
    if len(names) == len(along) > 1:
        shown = next((text_of(expr) for expr in exprs if not isinstance(expr, ast.String)), "throughput")
        why = f"has {len(names)} dimensions along its {'columns' if transposed else 'rows'}, which take one"
        usage = f"`rows = {names[0]}  columns = {shown} by {', '.join(names[1:])}`"
    typer.report(wrong.TableShape((along[0] if along else block.keyword).span, kind, why, usage))


def _dimension(typer: Typer, values: Sequence[ast.Expr]) -> Dimension | None:
    word = values[0].text if len(values) == 1 and isinstance(values[0], ast.Name) else None
    return word if word in typer.scope.dimensions else None


# --- lines: each function gives them, with None for one that has a mistake ---


def _lines(table: _Table, exprs: Sequence[ast.Expr]) -> list[_Line | None]:
    lines: list[_Line | None] = []
    rest = list(exprs)
    while rest:
        match rest.pop(0):
            case ast.By(keyword="by") as by:
                across = list(by.dimensions)
                while rest and isinstance(more := rest[0], ast.Name) and more.text in table.typer.scope.dimensions:
                    across.append(more)  # `throughput by hardware, threads`
                    rest.pop(0)
                lines += _lines_across(table, by, across)
            case ast.List(items=items):
                lines += _lines(table, items)
            case expr:
                lines.append(_line(table, expr))
    return lines


def _paths(typer: Typer, lines: Sequence[_Line]) -> list[tuple[plan.Label, ...]]:
    """Return the headings of each line, outermost first: its expression if there are several, and its keys after `by`.

    Expressions of the same name get a further heading with their point of the ramp. If that does not tell them apart,
    the name includes all their fixed keys.
    """
    several = len({line.expr for line in lines}) > 1
    names: dict[ast.Expr, tuple[plan.Label, ...]] = {line.expr: (line.label,) for line in lines}
    for name in (_name_at_point, lambda typer, line: (label_of(typer, line.expr, exact=True),)):
        counts = Counter(names.values())
        unlike = {line.expr: line for line in lines if counts[names[line.expr]] > 1 and not line.named}
        names |= {expr: name(typer, line) for expr, line in unlike.items()}
    return [(*(names[line.expr] if several or line.named or not line.by else ()), *line.by) for line in lines]


def _name_at_point(typer: Typer, line: _Line) -> tuple[plan.Label, ...]:
    """Return the headings of a line at a ramp's point: "Throughput" with "4" below it, for `throughput[threads: 4]`."""
    arguments = line.expr.arguments if isinstance(line.expr, ast.Index) else ()
    points = [
        key_label(typer, dim, argument.value.value)
        for argument in arguments
        if argument.key and (dim := argument.key.text) in AXIS_UNITS and isinstance(argument.value, ast.Quantity)
    ]
    return (line.label, *points)


def _column(whole: _Table, attribute: ast.Attribute) -> list[_Line | None]:
    typer, place = whole.typer, whole.place
    exprs, options, known = split_options(typer, attribute.values, ("format",))
    format_ = option_title(typer, options, "format", place) or ""
    label = title(typer, attribute.label, place, "column's label") if attribute.label else ""
    table = replace(whole, format=format_, named=attribute.label is not None)
    lines: list[_Line | None] = _lines(table, exprs) if known else [None]
    if not attribute.label:
        return lines
    return [replace(line, label=label, named=True) if line and label is not None else None for line in lines]


def _line(table: _Table, expr: ast.Expr) -> _Line | None:
    if isinstance(expr, ast.String):
        return _template(table, expr)
    fact = _fact(table, expr)
    if fact is not None:
        return fact
    typed = typed_at(table.typer, expr, table.place, (table.dim,))
    label = label_of(table.typer, expr, shown=not table.named)
    return _numbers(table, expr, typed, label, _contest(table.typer, expr)) if typed else None


def _numbers(
    table: _Table,
    expr: ast.Expr,
    typed: Typed,
    label: plan.Label,
    contest: plan.Tested,
    place: FixedKeys | None = None,
) -> _Line | None:
    """Return a line of numbers, or None after a mistake. `contest` describes the lines to compare it with. `place` is
    the line's place, if that differs from the table's."""
    typer, dim = table.typer, table.dim
    typed, left = without_single_keys(typed, (dim,))
    if left:
        keys = examples(typer, typed.term, left)
        return typer.refuse(wrong.DimensionFree(expr.span, "table", left, keys, of=in_brackets(expr)))
    if dim not in typed.term.dims:
        return typer.refuse(metric_errors.DimensionAbsent(expr.span, text_of(expr), dim, typed.term.dims))
    unit = printed_unit(typer, expr.span, table.format, typed)
    if unit is None:
        return None
    at = place or table.place
    judged = None
    if table.compared or table.marked:
        found = tested(typer, expr, typed, unit, at, dim)
        judged = found.model_copy(update={"of": contest.of, "at": contest.at, "along": contest.along})
    if table.compared and judged and judged.repeats is None:
        typer.report(wrong.ComparedOnce(expr.span, contest.of))
    line = plan.Line(
        label=label,
        unit=unit.text,
        query=query(typer, typed.term, unit, expr, quote_of(typer, expr, at)),
        format=table.format,
        tested=judged,
    )
    return _Line(label, expr, planned_keys(typed.term, dim), lambda _: line)


def _lines_across(table: _Table, by: ast.By, names: Sequence[ast.Name]) -> list[_Line | None]:
    """Return the lines for each expression before `by`. There is one for each key, or pair of keys, after `by`."""
    across: list[Dimension] = []
    for name in names:
        found, known = name.text, table.typer.scope.dimensions
        if found not in known:
            table.typer.report(metric_errors.UnknownDimension(name.span, "dimension", found, known))
            return [None]
        if found == table.dim or found in across:
            why = f"has `{found}` on both sides" if found == table.dim else f"has `{found}` twice after `by`"
            usage = "another dimension after `by`, or leave it out"
            table.typer.report(wrong.TableShape(name.span, "table", why, usage))
            return [None]
        across.append(found)
    subjects = by.subject.items if isinstance(by.subject, ast.List) else (by.subject,)
    return [line for subject in subjects for line in _lines_by(table, subject, across, names)]


def _lines_by(
    table: _Table, expr: ast.Expr, across: Sequence[Dimension], names: Sequence[ast.Name]
) -> list[_Line | None]:
    """Return the lines of one expression: one for each combination of keys of the dimensions in `across`. `names` are
    these dimensions as written in the spec."""
    typer = table.typer
    typed = typed_at(typer, expr, table.place, (table.dim, *across))
    if typed is None:
        return [None]
    for dim, name in zip(across, names, strict=True):
        if dim not in typed.term.dims:
            typer.report(metric_errors.DimensionAbsent(name.span, text_of(expr), dim, typed.term.dims))
            return [None]
    order = {dim: _precedence(typer, dim) for dim in (*across, table.dim)}
    widest = max(order[dim] for dim in across)
    along = table.marked and order[table.dim] > widest
    points: list[tuple[Term, tuple[str, ...], FixedKeys]] = [(typed.term, (), table.place)]
    for dim in across:
        points = [
            (fix(term, dim, key), (*labels, key_label(typer, dim, key)), place.at(dim, key))
            for term, labels, place in points
            for key in ordered(typer, dim, planned_keys(term, dim) or ())
        ]
    label = label_of(typer, expr, shown=not table.named)
    lines = []
    for term, labels, place in points:
        beside = [text for dim, text in zip(across, labels, strict=True) if along or order[dim] < widest]
        contest = plan.Tested(of=text_of(expr), at=", ".join(beside), along=along)
        lines.append((_numbers(table, expr, Typed(term, typed.display), label, contest, place), labels))
    return [replace(line, by=labels) if line else None for line, labels in lines]


def _contest(typer: Typer, expr: ast.Expr) -> plan.Tested:
    """Return how an expression is compared. `throughput[nvme]` is a contender of `throughput[hdd]`; for any other
    expression, its own values are compared with each other."""
    contenders = {hardware.key for hardware in typer.scope.hardware}
    contenders |= {str(level.key) for factor in typer.scope.factors if not factor.of_load for level in factor.levels}
    base, kept, named = expr, list[str](), False
    while isinstance(base, ast.Index):
        for argument in base.arguments:
            is_contender = isinstance(argument.value, ast.Name) and argument.value.text in contenders
            named |= is_contender
            kept += [] if is_contender else [argument.span.text]
        base = base.base
    return plan.Tested(of=f"{text_of(base)}{sorted(kept) or ''}" if named else text_of(expr), along=not named)


def _without_lone_contenders(lines: Sequence[plan.Line]) -> list[plan.Line]:
    """Return the lines, changed so that a line without another contender compares its own values instead."""
    sizes = Counter((each.tested.of, each.tested.at) for each in lines if each.tested and not each.tested.along)
    return [
        line.model_copy(update={"tested": line.tested.model_copy(update={"along": True})})
        if line.tested and sizes[line.tested.of, line.tested.at] == 1
        else line
        for line in lines
    ]


def _with_best(typer: Typer, body: Body, lines: Sequence[_Line], made: Sequence[plan.Line]) -> list[plan.Line]:
    """Return the lines of a table that marks the best. If some lines are contenders, they are compared with each other;
    otherwise the values within each line are compared. A line is reported and left out if neither higher nor lower is
    better for it.
    """
    made = _without_lone_contenders(made)
    across = any(each.tested and not each.tested.along for each in made)
    found, refused = list[plan.Line](), set[ast.Expr]()
    for line, each in zip(lines, made, strict=True):
        judged = each.tested if each.tested and each.tested.along != across else None
        if judged is None or judged.better is not None:
            found.append(each.model_copy(update={"tested": judged}))
        elif line.expr not in refused:
            refused.add(line.expr)
            typer.report(wrong.NoBest(line.expr.span, text_of(line.expr)))
    if not refused and not any(each.tested for each in found):
        usage = "`mark = best` in a table of numbers"
        typer.report(wrong.TableShape(body.values("mark")[0].span, "table", "has no numbers to compare", usage))
        return []
    return found


def _measured(typer: Typer, dim: Dimension, keys: int) -> int:
    """Return how many of a dimension's planned points are sure to be measured. An adaptive ramp measures only some of
    its points."""
    chosen = [each.chosen for each in typer.scope.experiments if each.axis == dim]
    return min(keys, max((each or keys for each in chosen), default=keys))


def _warn_of_width(typer: Typer, block: ast.Block, columns: int) -> None:
    kind = block.keyword.text
    most = MOST_COLUMNS - 2 if kind == "callout" else MOST_COLUMNS
    if columns > most:
        typer.report(wrong.WideTable(block.keyword.span, kind, columns, most))


def _template(table: _Table, string: ast.String) -> _Line:
    """Return a line with a text for each key. The text is "" for a key that lacks one of the numbers."""
    typer, dim, place = table.typer, table.dim, table.place
    terms = [typed.term for typed in number_terms(typer, string, place)]
    known = [keys for term in terms if dim in term.dims and (keys := planned_keys(term, dim)) is not None]
    own = tuple(key for key in known[0] if all(key in keys for keys in known)) if known else None

    def make(keys: tuple[DimKey, ...]) -> plan.Line | None:
        nothing = plan.Prose(parts=())
        texts = [prose(typer, string, place.at(dim, k)) if own is None or k in own else nothing for k in keys]
        return None if None in texts else plan.Line(label="", texts=tuple(text for text in texts if text))

    return _Line("", string, own, make)


def _fact(table: _Table, expr: ast.Expr) -> _Line | None:
    """Return a declared fact of the hardware, or an attribute of a factor's levels, as worded in the spec."""
    scope, said = table.typer.scope, dict[DimKey, str]()
    match expr:
        case ast.Name(text=name) if table.dim == "hardware":
            said.update({hw.key: hw.texts[name] for hw in scope.hardware if name in hw.texts})
            said.update({hw.key: hw.facts[name].text for hw in scope.hardware if name in hw.facts})
        case ast.Attr(base=ast.Name(text=factor), field=ast.Name(text=name)) if factor == table.dim:
            levels = scope.factors_by_name[factor].levels if factor in scope.factors_by_name else ()
            said.update({level.key: fact_text(level.facts[name]) for level in levels if name in level.facts})
    if not said:
        return None

    def make(keys: tuple[DimKey, ...]) -> plan.Line:
        parts = [(escaped(said[key]),) if key in said else () for key in keys]
        return plan.Line(label="", texts=tuple(plan.Prose(parts=part) for part in parts))

    return _Line(name.replace("_", " "), expr, None, make)
