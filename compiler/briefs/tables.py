"""`table` and `callout`: one dimension's keys along one side, expressions or texts along the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from benchbrief.compiler import plan
from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.briefs.bodies import Body, option_title, read_body, split_options
from benchbrief.compiler.briefs.prose import escaped, number_terms, printed_unit, prose, title
from benchbrief.compiler.briefs.queries import (
    Place,
    dimension,
    example_key,
    key_label,
    label_of,
    ordered,
    plan_keys,
    query,
    runs_at,
    settled,
    typed_at,
)
from benchbrief.compiler.metrics import metric_errors
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.compiler.metrics.measures import DIMENSIONS, Key
from benchbrief.compiler.metrics.terms import fix, planned_keys
from benchbrief.compiler.metrics.typed import Typed, text_of
from benchbrief.compiler.plan import Dimension
from benchbrief.dsl import ast
from benchbrief.dsl.suggest import did_you_mean

_USAGE = "`rows = workload  columns = throughput by hardware`, or `rows = facts`"
_CALLOUT = '`rows = workload  column "Gain" = "{gain:.0%}"`'
_ATTRIBUTES = ("rows", "columns", "column", "note")


@dataclass(frozen=True)
class _Line:
    """A line before the table's keys are known. `own` are the keys that it has something for (None: all).

    `make` gives it for the keys of the whole table; None after a mistake.
    """

    label: str
    expr: ast.Expr
    own: tuple[Key, ...] | None
    make: Callable[[tuple[Key, ...]], plan.Line | None]


@dataclass(frozen=True)
class _Table:
    """Where and along which dimension the lines of a table are."""

    typer: Typer
    place: Place
    dim: Dimension
    format: str = ""


def table(typer: Typer, block: ast.Block, place: Place) -> plan.TableElement | plan.FactsElement | None:
    body = read_body(typer, block, _ATTRIBUTES, repeated=("column",))
    heading = title(typer, block.label, place, "title") if block.label else ""
    rows = body.values("rows")
    if len(rows) == 1 and isinstance(rows[0], ast.Name) and rows[0].text == "facts":
        hardware = runs_at(typer, place).keys("hardware")
        return plan.FactsElement(title=heading or "", hardware=tuple(map(str, hardware)))
    made = _table(typer, block, body, place)
    return made.model_copy(update={"title": heading}) if made and heading is not None else None


def callout(typer: Typer, block: ast.Block, place: Place) -> plan.CalloutElement | None:
    body = read_body(typer, block, (*_ATTRIBUTES, "text"), repeated=("column",))
    heading = title(typer, block.label, place, "title") if block.label else ""
    has_table = body.said("rows", "columns", "column")
    if not has_table and not body.said("text"):
        typer.findings.add(wrong.EmptyElement(block.keyword.span, "callout", f'`text = "..."`, or {_CALLOUT}'))
        return None
    inner = _table(typer, block, body, place) if has_table else None
    text, note = _prose(typer, body, "text", place), _prose(typer, body, "note", place)
    if heading is None or (has_table and inner is None) or (body.said("text") and text is None):
        return None
    if body.said("note") and note is None:
        return None
    bare = inner.model_copy(update={"note": None}) if inner else None
    return plan.CalloutElement(title=heading, table=bare, prose=text, note=note)


def _prose(typer: Typer, body: Body, key: str, place: Place) -> plan.Prose | None:
    string = body.string(key)
    return prose(typer, string, place) if string else None


def _table(typer: Typer, block: ast.Block, body: Body, place: Place) -> plan.TableElement | None:
    """The table without its title."""
    kind = block.keyword.text
    rows, row_options, rows_known = split_options(typer, body.values("rows"), ("label", "format"))
    columns, column_options, columns_known = split_options(typer, body.values("columns"), ("label", "format"))
    transposed = _dimension(rows) is None and _dimension(columns) is not None
    along, across = (columns, rows) if transposed else (rows, columns)
    along_options, across_options = (column_options, row_options) if transposed else (row_options, column_options)
    dim = _dimension(along)
    if dim is None:
        if len(along) == 1 and isinstance(along[0], ast.Name) and along[0].text not in typer.metrics:
            name, words = along[0], (*DIMENSIONS, *(["facts"] if kind == "table" else []))
            if did_you_mean(name.text, words):
                typer.findings.add(metric_errors.UnknownDimension(name.span, "dimension", name.text, words))
                return None
        why = "has no dimension along its rows or its columns" if along else "does not say its rows"
        usage = _USAGE if kind == "table" else _CALLOUT
        typer.findings.add(wrong.TableShape((along[0] if along else block.keyword).span, kind, why, usage))
        return None
    if not across and not body.said("column"):
        usage = '`columns = throughput by hardware`, or `column "Gain" = gain`'
        typer.findings.add(wrong.EmptyElement(block.keyword.span, kind, usage))
        return None
    if not rows_known or not columns_known:
        return None
    format_ = option_title(typer, across_options, "format", place) or ""
    lines = _lines(_Table(typer, place, dim, format_), across)
    for attribute in body.all("column"):
        lines += _column(typer, attribute, dim, place)
    note = _prose(typer, body, "note", place)
    if None in lines or (body.said("note") and note is None):
        return None
    good = [line for line in lines if line is not None]
    known = [line.own for line in good if line.own is not None]
    planned = runs_at(typer, place).keys(dim)
    keys = ordered(typer, dim, (key for own in known for key in own)) if known else planned
    made = [line.make(keys) for line in good]
    if None in made:
        return None
    return plan.TableElement(
        title="",
        dim=dim,
        dim_label=option_title(typer, along_options, "label", place) or "",
        keys=plan_keys(typer, dim, keys),
        lines=tuple(
            line.model_copy(update={"label": named.label}) for named, line in zip(good, made, strict=True) if line
        ),
        transposed=transposed,
        note=note,
    )


def _dimension(values: Sequence[ast.Expr]) -> Dimension | None:
    return dimension(values[0].text) if len(values) == 1 and isinstance(values[0], ast.Name) else None


# --- lines: each function gives them, with None for one that has a mistake ---


def _lines(table: _Table, exprs: Sequence[ast.Expr]) -> list[_Line | None]:
    lines: list[_Line | None] = []
    for expr in exprs:
        match expr:
            case ast.By(keyword="by"):
                subjects = expr.subject.items if isinstance(expr.subject, ast.List) else (expr.subject,)
                for subject in subjects:
                    lines += _lines_by(table, subject, expr, labelled=len(subjects) > 1)
            case ast.List():
                lines += _lines(table, expr.items)
            case _:
                lines.append(_line(table, expr))
    counts = Counter(line.label for line in lines if line)
    # Lines that would be called the same are called by their text.
    return [replace(line, label=text_of(line.expr)) if line and counts[line.label] > 1 else line for line in lines]


def _column(typer: Typer, attribute: ast.Attribute, dim: Dimension, place: Place) -> list[_Line | None]:
    exprs, options, known = split_options(typer, attribute.values, ("format",))
    format_ = option_title(typer, options, "format", place) or ""
    label = title(typer, attribute.label, place, "column's label") if attribute.label else ""
    lines = [_line(_Table(typer, place, dim, format_), expr) if known else None for expr in exprs]
    if not attribute.label:
        return lines
    return [replace(line, label=label) if line and label is not None else None for line in lines]


def _line(table: _Table, expr: ast.Expr) -> _Line | None:
    if isinstance(expr, ast.String):
        return _template(table, expr)
    fact = _fact(table.typer, expr) if table.dim == "hardware" and isinstance(expr, ast.Name) else None
    if fact is not None:
        return fact
    typed = typed_at(table.typer, expr, table.place, (table.dim,))
    return _numbers(table, expr, typed, label_of(table.typer, expr)) if typed else None


def _numbers(table: _Table, expr: ast.Expr, typed: Typed, label: str) -> _Line | None:
    typer, dim = table.typer, table.dim
    typed, left = settled(typed, (dim,))
    if left:
        typer.findings.add(wrong.DimensionFree(expr.span, "table", left, example_key(typer, typed.term, left[0])))
        return None
    if dim not in typed.term.dims:
        typer.findings.add(metric_errors.DimensionAbsent(expr.span, text_of(expr), dim, typed.term.dims))
        return None
    unit = printed_unit(typer, expr.span, table.format, typed)
    if unit is None:
        return None
    line = plan.Line(
        label=label,
        unit=unit.text,
        query=query(typer, typed.term, unit, text_of(expr)),
        format=table.format,
    )
    return _Line(label, expr, planned_keys(typed.term, dim), lambda _: line)


def _lines_by(table: _Table, expr: ast.Expr, by: ast.By, *, labelled: bool) -> list[_Line | None]:
    """One line for each key of the dimension after `by`."""
    typer, name = table.typer, by.dimensions[-1]
    across = dimension(name.text)
    if across is None:
        typer.findings.add(metric_errors.UnknownDimension(name.span, "dimension", name.text, DIMENSIONS))
        return [None]
    if len(by.dimensions) > 1:
        why, usage = "has one dimension across", "`columns = throughput by hardware`"
        typer.findings.add(wrong.TableShape(name.span, "table", why, usage))
        return [None]
    typed = typed_at(typer, expr, table.place, (table.dim, across))
    if typed is None:
        return [None]
    if across == table.dim:
        why, usage = f"has `{across}` on both sides", "another dimension after `by`, or leave it out"
        typer.findings.add(wrong.TableShape(name.span, "table", why, usage))
        return [None]
    if across not in typed.term.dims:
        typer.findings.add(metric_errors.DimensionAbsent(name.span, text_of(expr), across, typed.term.dims))
        return [None]
    lines: list[_Line | None] = []
    for key in ordered(typer, across, planned_keys(typed.term, across) or ()):
        label = key_label(typer, across, key)
        label = f"{label_of(typer, expr)}, {label}" if labelled else label
        lines.append(_numbers(table, expr, Typed(fix(typed.term, across, key), typed.display), label))
    return lines


def _template(table: _Table, string: ast.String) -> _Line:
    """A text for each key; nothing for a key that one of its numbers does not have."""
    typer, dim, place = table.typer, table.dim, table.place
    terms = [typed.term for typed in number_terms(typer, string, place)]
    known = [keys for term in terms if dim in term.dims and (keys := planned_keys(term, dim)) is not None]
    own = tuple(key for key in known[0] if all(key in keys for keys in known)) if known else None

    def make(keys: tuple[Key, ...]) -> plan.Line | None:
        nothing = plan.Prose(parts=())
        texts = [prose(typer, string, place.at(dim, k)) if own is None or k in own else nothing for k in keys]
        return None if None in texts else plan.Line(label="", texts=tuple(text for text in texts if text))

    return _Line("", string, own, make)


def _fact(typer: Typer, name: ast.Name) -> _Line | None:
    """A fact that hardware declares, in the words of the spec."""
    said = {hw.key: hw.texts[name.text] for hw in typer.scope.hardware if name.text in hw.texts}
    said.update({hw.key: hw.facts[name.text].text for hw in typer.scope.hardware if name.text in hw.facts})
    if not said:
        return None

    def make(keys: tuple[Key, ...]) -> plan.Line:
        parts = [(escaped(said[str(key)]),) if key in said else () for key in keys]
        return plan.Line(label="", texts=tuple(plan.Prose(parts=part) for part in parts))

    return _Line(name.text.replace("_", " "), name, None, make)
