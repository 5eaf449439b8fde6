"""Typed expressions to SQL over the store's `measure` views (see `results/store/measure_views.py`).

Every measure starts from `measure.cells`, so that each planned point has a row, with NULL for a missing measurement.
Missing stays missing: arithmetic with NULL and dividing by zero give NULL, and so does a reduction over planned points
of which one is missing. Gaps between samples (node, time) are skipped: they are no missing result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbrief.compiler.measure_catalogue import SAMPLED
from benchbrief.compiler.metrics.sql import lower_curves
from benchbrief.compiler.metrics.sql.lower_measures import measure_tables, read
from benchbrief.compiler.metrics.sql.sql_text import indent, key_literal, number_literal
from benchbrief.compiler.metrics.typing.curves import total_throughput, why_absent
from benchbrief.compiler.metrics.typing.planned_points import Runs
from benchbrief.compiler.metrics.typing.terms import (
    AxisValue,
    Dims,
    Fact,
    Measure,
    Number,
    Operation,
    Reduction,
    Spread,
    Steady,
    Term,
    is_exact,
)
from benchbrief.compiler.metrics.typing.value_range import value_range
from benchbrief.compiler.planning.plan import Dimension, Query, Read
from benchbrief.compiler.units import Unit

_NULLABLE: frozenset[Dimension] = SAMPLED | {"target"}


def lower(term: Term, unit: Unit, text: str, runs: Runs) -> Query:
    """Return `term` as a query with values in `unit`. `runs` is everything planned. Truth values become 1, 0 or
    NULL."""
    tables = _Tables(runs)
    sql = tables.query(term, unit.factor)
    return Query(
        sql=sql,
        dims=term.dims,
        unit=unit.text,
        text=text,
        absent=why_absent(term),
        reads=tuple(tables.reads),
        divides=tables.divides,
        exact=is_exact(term),
        signed=value_range(term)[0] < 0,
    )


class _Tables:
    """The named tables (CTEs) of one query. Equal terms share a table."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._names: dict[Term, str] = {}
        self._bodies: list[tuple[str, str]] = []
        self._counts: dict[str, int] = {}
        self.reads: list[Read] = []
        self.divides = False

    def query(self, term: Term, factor: float) -> str:
        select = self._select(term.dims, [("value", term)], factor)
        if term.dims:
            select += "\nORDER BY " + ", ".join(term.dims)
        if not self._bodies:
            return select
        tables = ",\n".join(f"{name} AS (\n{indent(body)}\n)" for name, body in self._bodies)
        return f"WITH {tables}\n{select}"

    def _table(self, term: Term) -> str:
        """Return the name of the term's table, which is made on first use."""
        if term in self._names:
            return self._names[term]
        match term:
            case Measure():
                name = self._name(term.kind.name)
                *before, (_, body) = measure_tables(name, term, self._runs)
                self._bodies += before
                self.reads.append(read(term, self._runs))
            case Fact():
                name = self._name(term.name)
                rows = ", ".join(f"({key_literal(key)}, {number_literal(value)})" for key, value in term.values)
                body = _values("hardware", rows)
            case AxisValue():
                name = self._name(term.dim)
                body = self._axis(term)
            case Steady():
                body = lower_curves.steady(term, self._table(term.operand))
                name = self._name("steady")
            case Reduction():
                body = self._reduction(term)
                name = self._name(term.function)
            case Spread():
                source = self._table(term.operand) if any(_sources(term.operand)) else None
                body = self._spread(term, source)
                name = self._name("spread")
            case Number() | Operation():
                body = self._select(term.dims, [("value", term)])
                name = self._name("points")
        self._names[term] = name
        self._bodies.append((name, body))
        return name

    def _name(self, word: str) -> str:
        stem = "".join(char if char.isascii() and char.isalnum() else "_" for char in word)
        self._counts[stem] = self._counts.get(stem, 0) + 1
        return f"{stem}_{self._counts[stem]}"

    def _axis(self, term: AxisValue) -> str:
        if term.dim == "time":
            return "SELECT DISTINCT time, CAST(time AS DOUBLE) AS value\nFROM measure.sample"
        return _values(term.dim, ", ".join(f"({key_literal(p)}, {number_literal(p)})" for p in term.points))

    def _spread(self, term: Spread, source: str | None) -> str:
        if term.beside:
            keys = f"(\n{indent(self._keys_of(term.beside, term.dim))}\n) AS keys"
        else:
            keys = f"(VALUES {', '.join(f'({key_literal(key)})' for key in term.keys)}) AS keys ({term.dim})"
        columns = [f"keys.{dim}" if dim == term.dim else f"{source}.{dim}" for dim in term.dims]
        value = f"{source}.value" if source else f"CAST({self._scalar(term.operand, {})} AS DOUBLE)"
        lines = [f"SELECT {', '.join([*columns, f'{value} AS value'])}", f"FROM {keys}"]
        return "\n".join([*lines, f"CROSS JOIN {source}"] if source else lines)

    def _keys_of(self, terms: Sequence[Term], dim: Dimension) -> str:
        """Return the keys of `dim` at which a term has a value. They contribute no number."""
        reads = len(self.reads)
        names = dict.fromkeys(self._table(term) for term in terms)
        del self.reads[reads:]
        known = f"WHERE value IS NOT NULL AND {dim} IS NOT NULL"
        return "\nUNION\n".join("\n".join([f"SELECT DISTINCT {dim}", f"FROM {name}", known]) for name in names)

    def _reduction(self, term: Reduction) -> str:
        match term.function:
            case "onset":
                return lower_curves.onset(term, self._table(term.operand))
            case "knee":
                return lower_curves.knee(term, self._table(term.operand))
            case function if function.startswith("usl."):
                return lower_curves.usl(term, self._table(term.operand))
            case "saturation" | "saturation.target":
                both = [("value", term.operand), ("total", total_throughput(term.operand))]
                return lower_curves.saturation(term, f"(\n{indent(self._select(term.operand.dims, both))}\n)")
        guarded = not SAMPLED.intersection(term.over)
        if term.when is None:
            source = self._table(term.operand)
            missing = "value IS NULL"
            guarded = guarded and term.function != "count"
        else:
            source = self._name("points")
            rows = self._select(term.operand.dims, [("value", term.operand), ("holds", term.when)])
            columns = ", ".join([*term.operand.dims, "CASE WHEN holds THEN value END AS value"])
            # An unknown condition leaves its part of the answer unknown.
            unknown = "holds IS NULL" if term.function == "count" else "holds IS NULL OR (holds AND value IS NULL)"
            if term.function == "count":
                unknown += " AS missing, value IS NOT NULL AS measured"
            else:
                unknown += " AS missing"
            self._bodies.append((source, f"SELECT {columns}, {unknown}\nFROM (\n{indent(rows)}\n)"))
            missing = "missing"
        columns = ", ".join(term.dims)
        value = _aggregate(term.function, term.over)
        if term.function == "count":
            # 0 means that nothing measured fits; without a measurement the number is unknown.
            measured = "value IS NOT NULL" if term.when is None else "measured"
            value = f"CASE WHEN bool_or({measured}) THEN {value} END"
        if guarded:
            value = f"CASE WHEN NOT bool_or({missing}) THEN {value} END"
        select = f"SELECT {columns + ', ' if columns else ''}{value} AS value\nFROM {source}"
        return f"{select}\nGROUP BY {columns}" if columns else select

    def _select(self, dims: Dims, outputs: Sequence[tuple[str, Term]], factor: float = 1.0) -> str:
        """Return a SELECT that joins the tables of the outputs on their common dimensions."""
        sources = _joined([term for _, term in outputs])
        tables = {source: self._table(source) for source in sources}
        columns: dict[Dimension, str] = {}
        joins: list[str] = []
        for source, name in tables.items():
            shared = [dim for dim in source.dims if dim in columns]
            conditions = [
                f"{name}.{dim} {'IS NOT DISTINCT FROM' if dim in _NULLABLE else '='} {columns[dim]}.{dim}"
                for dim in shared
            ]
            if not joins:
                joins.append(f"FROM {name}")
            elif conditions:
                joins.append(f"JOIN {name} ON {' AND '.join(conditions)}")
            else:
                joins.append(f"CROSS JOIN {name}")
            for dim in source.dims:
                columns.setdefault(dim, name)
        qualify = len(tables) > 1
        where = {dim: f"{name}.{dim}" if qualify else dim for dim, name in columns.items()}
        values = {source: f"{name}.value" if qualify else "value" for source, name in tables.items()}
        cells = [where[dim] for dim in dims]
        for alias, term in outputs:
            cells.append(_output(self._scalar(term, values, where), term, factor, alias))
        return "\n".join([f"SELECT {', '.join(cells)}", *joins])

    def _scalar(
        self, term: Term, values: dict[Term, str], where: dict[Dimension, str] | None = None, above: int = 0
    ) -> str:
        """Return the term over the joined tables' columns, in parentheses where it binds less tightly than `above`."""
        if term in values:
            return values[term]
        match term:
            case Number():
                return number_literal(term.value)
            case Operation(operator=operator) if operator in _CALLS:
                arguments = ", ".join(self._scalar(operand, values, where) for operand in term.operands)
                return _CALLS[operator].format(arguments)
            case AxisValue():
                return f"CAST({(where or {})[term.dim]} AS DOUBLE)"
            case Operation():
                level = _BINDS[term.operator if len(term.operands) == 2 else f"unary {term.operator}"]
                text = self._operation(term, values, where, level)
                return f"({text})" if level < above else text
            case _:
                raise AssertionError(f"{type(term).__name__} is always a table")

    def _operation(
        self, term: Operation, values: dict[Term, str], where: dict[Dimension, str] | None, level: int
    ) -> str:
        if len(term.operands) == 1:
            operand = self._scalar(term.operands[0], values, where, level + 1)
            return f"NOT {operand}" if term.operator == "not" else f"-{operand}"
        left = self._scalar(term.operands[0], values, where, level)
        if term.operator == "/":
            self.divides = True
            return f"{left} / nullif({self._scalar(term.operands[1], values, where)}, 0)"
        right = self._scalar(term.operands[1], values, where, level + 1)
        return f"{left} {_SQL_OPERATORS.get(term.operator, term.operator)} {right}"


_CALLS = {
    "half_width": "bench_half_width({})",
    "p_value": "bench_p_value({}, false)",
    "p_value of percentiles": "bench_p_value({}, true)",
}
"""Functions of the store (`results/store/sql_functions.py`)."""
_SQL_OPERATORS = {"==": "=", "!=": "<>", "and": "AND", "or": "OR"}
_BINDS = {
    "or": 1,
    "and": 2,
    "unary not": 3,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), 4),
    "+": 5,
    "-": 5,
    "*": 6,
    "/": 6,
    "unary -": 7,
}


def _output(expression: str, term: Term, factor: float, alias: str) -> str:
    if term.unit is None:
        return f"CAST({expression} AS DOUBLE) AS {alias}" if alias == "value" else f"{expression} AS {alias}"
    if factor != 1.0:
        inverse = round(1 / factor)
        exact = factor < 1 and 1 / inverse == factor  # `* 100` rounds less than `/ 0.01`
        scale = f"* {number_literal(inverse)}" if exact else f"/ {number_literal(factor)}"
        needs_parentheses = isinstance(term, Operation) and term.operator in "+-"
        expression = f"({expression}) {scale}" if needs_parentheses else f"{expression} {scale}"
    if not any(_sources(term)):
        expression = f"CAST({expression} AS DOUBLE)"
    return expression if expression == alias else f"{expression} AS {alias}"


def _aggregate(function: str, over: Dims) -> str:
    match function:
        case "count":
            return "CAST(count(value) AS DOUBLE)"
        case "mean":
            return "avg(value)"
        case "sd":
            return "stddev_samp(value)"
        case "list":
            return f"list(value ORDER BY {over[0]})"
        case "first" | "last":
            present = " FILTER (WHERE value IS NOT NULL)" if SAMPLED.intersection(over) else ""
            return f"{function}(value ORDER BY {over[0]}){present}"
        case _:
            return f"{function}(value)"


def _values(dim: str, rows: str) -> str:
    return f"SELECT {dim}, CAST(value AS DOUBLE) AS value\nFROM (VALUES {rows}) AS keys ({dim}, value)"


def _sources(term: Term) -> Iterator[Term]:
    """Return the parts of a term with tables of their own: everything below its arithmetic."""
    match term:
        case Operation():
            for operand in term.operands:
                yield from _sources(operand)
        case Number():
            return
        case _:
            yield term


def _joined(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Return the tables to join. An axis's value comes from another table's column where one has it."""
    sources = list(dict.fromkeys(source for term in terms for source in _sources(term)))
    elsewhere = {dim for source in sources if not isinstance(source, AxisValue) for dim in source.dims}
    return tuple(s for s in sources if not (isinstance(s, AxisValue) and s.dim in elsewhere))
