"""Converts typed expressions to SQL over the store's `measure` views (see `results/store/measure_views.py`).

Every measure starts from `measure.cells`, so that each planned point has a row, with NULL for a missing measurement.
Missing values stay missing: arithmetic with NULL gives NULL, and so do a division by zero and a reduction that lacks
one of its planned points. Gaps between samples (node, time) are skipped, because they are not missing results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchbrief.compiler.measure_catalogue import NAMED, SAMPLED
from benchbrief.compiler.metrics.curves import FEWEST_POINTS, total_throughput, why_absent
from benchbrief.compiler.metrics.planned_points import Runs
from benchbrief.compiler.metrics.terms import (
    AxisValue,
    Dims,
    FactTerm,
    Measure,
    NumberTerm,
    OperationTerm,
    Reduction,
    SpreadTerm,
    SteadyTerm,
    Term,
    in_order,
    is_exact,
    parts,
)
from benchbrief.compiler.metrics.thin_evidence import value_range, varies_by_ratio
from benchbrief.model.plan import DIMENSIONS, Dimension, DimKey, Query, Read
from benchbrief.model.points import POINT
from benchbrief.model.steadiness import FEWEST_PHASES, MOST_RANGE, MOST_TREND, ROUNDING
from benchbrief.model.units import Unit


def key_literal(key: DimKey) -> str:
    """Return a dimension's key as a literal: a quoted text, or a number."""
    return sql_text(key) if isinstance(key, str) else number_literal(key)


def _key(dim: Dimension, key: DimKey) -> str:
    """Return a key as a literal of its column's type in the store. Numbers of factors are of the type DOUBLE."""
    literal = key_literal(key)
    return literal if isinstance(key, str) or dim in DIMENSIONS else f"CAST({literal} AS DOUBLE)"


def sql_text(value: object) -> str:
    """Quote a text as an SQL literal."""
    return "'" + str(value).replace("'", "''") + "'"


def sql_name(*names: str) -> str:
    """Quote the name of a table, a view or a column. Several names are joined by dots, the outermost first."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def column(dim: Dimension) -> str:
    """Return the column of a dimension in the views. The column of a factor is quoted, since users choose its name."""
    return dim if dim in DIMENSIONS else sql_name(dim)


def columns_of(dims: Iterable[Dimension]) -> str:
    return ", ".join(map(column, dims))


def number_literal(value: float) -> str:
    """Return the shortest text that reads back as the same number. Whole numbers have no decimal point."""
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))


def indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


Table = tuple[str, str]
"""The name of a table, and the SELECT that defines it."""


def _cell(measure: Measure) -> Dims:
    """Return the dimensions that distinguish the measure's cells."""
    return in_order((*POINT, *measure.runs.factors, "repeat"))


def _matched(measure: Measure, runs: Runs) -> list[Dimension]:
    """Return the dimensions used to match results with the measure's cells. `runs` are all planned runs."""
    return [dim for dim in _cell(measure) if dim != "repeat" and not (dim == "hardware" and runs.lone_hardware)]


def measure_tables(name: str, measure: Measure, runs: Runs) -> list[Table]:
    """Return the tables for a measure. The last table is called `name` and holds the measure's values. `runs` are all
    planned runs."""
    return _sampled(name, measure, runs) if measure.kind.view == "sample" else [(name, _counted(measure, runs))]


def _counted(measure: Measure, runs: Runs) -> str:
    """Return the SELECT for throughput, latencies, errors or a search's result, which the store has by cell, phase and
    operation."""
    kind, fixed = measure.kind, dict(measure.fixed)
    where: dict[Dimension, str] = {dim: f"c.{column(dim)}" for dim in _cell(measure)}
    joins: list[str] = []
    of_search = kind.view == "sustained"
    match = [dim for dim in _matched(measure, runs) if not (of_search and dim in ("threads", "target"))]
    conditions: list[str] = []
    if "phase" in kind.on_demand:
        if "phase" in measure.dims:
            joins.append(_planned("p", "experiment", "phase", measure.runs))
            where["phase"] = "p.phase"
        conditions.append(_picked("phase", fixed, where, otherwise="m.phase IS NULL"))
    if "operation" in kind.on_demand:
        if "operation" in measure.dims:
            joins.append(_planned("o", "workload", "operation", measure.runs))
            where["operation"] = "o.operation"
        conditions.append(_picked("operation", fixed, where, otherwise="m.operation = 'all'"))
    elif kind.view == "throughput":
        conditions.append("m.operation = 'all'")
    if kind.view == "latency":
        counted = f"m.kind = {key_literal(measure.counted)}" if measure.counted else "m.reported"
        conditions += [f"m.statistic = {key_literal(kind.statistic)}", counted]
    if of_search:
        pass  # there is one value for all rates and repeats
    elif kind.view != "latency" or "repeat" in measure.dims or "repeat" in fixed:
        match.append("repeat")
    else:
        conditions.append("m.repeat IS NULL")  # the store's merge over the repeats' histograms
    # Every repeat of a cell is joined to the same merged row, as a mean over some repeats is not the point's mean.
    value = "any_value(m.value)" if kind.view in ("latency", "sustained") else _whole_mean("m.value")
    columns = [where[dim] for dim in measure.dims]
    lines = [
        f"SELECT {', '.join([*columns, f'{value} AS value'])}",
        "FROM measure.cells AS c",
        *joins,
        f"LEFT JOIN measure.{kind.view} AS m",
        *_on("m", match, conditions),
        *_where(measure, runs),
    ]
    return "\n".join([*lines, f"GROUP BY {', '.join(columns)}"] if columns else lines)


def _picked(dim: Dimension, fixed: dict[Dimension, str | float], where: dict[Dimension, str], otherwise: str) -> str:
    if dim in fixed:
        return f"m.{dim} = {key_literal(fixed[dim])}"
    return f"m.{dim} = {where[dim]}" if dim in where else otherwise


def _planned(alias: str, by: Dimension, dim: Dimension, runs: Runs) -> str:
    """Return a join with the planned keys of `dim`, so that a key without a result has a row."""
    pairs = dict.fromkeys((str(getattr(run, by)), key) for run in runs for key in run.keys(dim))
    rows = ", ".join(f"({key_literal(of)}, {key_literal(key)})" for of, key in pairs)
    return f"JOIN (VALUES {rows}) AS {alias} ({by}, {dim}) ON {alias}.{by} = c.{by}"


def _sampled(name: str, measure: Measure, runs: Runs) -> list[Table]:
    """Return the tables for a measure that probes sample. Nodes and time are reduced unless an expression asks for
    them."""
    kind, fixed = measure.kind, dict(measure.fixed)
    by_time, by_node = "time" in measure.dims, "node" in measure.dims
    own = f"s.measure = {key_literal(kind.sampled_as)}"
    conditions = [f"s.{dim} = {key_literal(fixed[dim])}" for dim in ("node", "time") if dim in fixed]
    # In a join of samples, each moment of any probe is a row: a value that is missing there is NULL.
    only = f" FILTER (WHERE {own})" if by_time or by_node else ""
    if not only:
        conditions.append(own)
    whole = _cell(measure)
    cell: list[Dimension] = [*(dim for dim in measure.dims if dim in whole and dim != "repeat"), "repeat"]
    first = [*(f"c.{column(dim)}" for dim in cell), "s.node", *(["s.time"] if by_time else [])]
    # The store keeps the means over a window, so that a query need not read all samples.
    view = "sample" if by_time or "time" in fixed else "mean"
    tables = [
        (
            f"{name}_by_node",
            "\n".join(
                [
                    f"SELECT {', '.join(first)}, avg(s.value){only} AS value",
                    "FROM measure.cells AS c",
                    f"LEFT JOIN measure.{view} AS s",
                    *_on("s", [*_matched(measure, runs), "repeat"], conditions),
                    *_where(measure, runs),
                    f"GROUP BY {', '.join(first)}",
                ]
            ),
        )
    ]
    if not by_node:
        tables.append((f"{name}_by_cell", _over_nodes(f"{name}_by_node", measure, cell, by_time)))
    columns = columns_of(measure.dims)
    mean = "avg(value)" if by_time or by_node else _whole_mean("value")
    value = f"{columns + ', ' if columns else ''}{mean} AS value"
    final = f"SELECT {value}\nFROM {tables[-1][0]}"
    return [*tables, (name, f"{final}\nGROUP BY {columns}" if columns else final)]


def _whole_mean(value: str) -> str:
    """Return the mean, or NULL if a value is missing, so that a failed repeat shows."""
    return f"CASE WHEN count({value}) = count(*) THEN avg({value}) END"


def _over_nodes(source: str, measure: Measure, cell: list[Dimension], by_time: bool) -> str:
    function = measure.kind.across_nodes
    if not by_time:
        # A node without samples has a row without a value, since the other nodes' sum is not the cluster's.
        columns = columns_of(cell)
        value = f"CASE WHEN count(value) = count(*) THEN {function}(value) END"
        return f"SELECT {columns}, {value} AS value\nFROM {source}\nGROUP BY {columns}"
    # A sum over some nodes is not the cluster's: only moments with samples of every node count.
    columns = columns_of([*cell, "time"])
    nodes = f"count(DISTINCT CASE WHEN value IS NOT NULL THEN node END) OVER (PARTITION BY {columns_of(cell)})"
    rows = f"SELECT {columns}, value, {nodes} AS nodes\nFROM {source}"
    value = f"CASE WHEN count(value) = any_value(nodes) THEN {function}(value) END"
    return f"SELECT {columns}, {value} AS value\nFROM (\n{indent(rows)}\n)\nGROUP BY {columns}"


def _on(alias: str, dims: Iterable[str], conditions: list[str]) -> list[str]:
    """Return the conditions of a join: first those on the dimensions of the cell, then the others."""
    pairs = [f"{alias}.{column(dim)} {_same(dim)} c.{column(dim)}" for dim in dims]
    first, *more = [*pairs, *conditions]
    return [f"  ON {first}", *(f"  AND {condition}" for condition in more)]


def _same(dim: Dimension) -> str:
    """Return the operator that matches two keys of a dimension. It is a different one for dimensions that some cells
    lack."""
    return "IS NOT DISTINCT FROM" if dim == "target" or dim not in DIMENSIONS else "="


def read(measure: Measure, runs: Runs) -> Read:
    """Describe for the plan which results a measure reads. These are the results of the cells that `_where` selects."""
    kind = measure.kind
    keys: dict[Dimension, tuple[DimKey, ...]] = {dim: (key,) for dim, key in measure.fixed}
    keys |= _narrower(measure, runs)
    return Read(
        measure=kind.name,
        view=kind.view,
        statistic=kind.statistic,
        probe=kind.probe,
        counted=measure.counted,
        keys=keys,
    )


def _where(measure: Measure, runs: Runs) -> list[str]:
    """Return the SQL conditions for a measure's fixed keys. If the measure does not use all runs at these keys, return
    conditions for its runs, too."""
    fixed = dict(measure.fixed)
    matched = [*_matched(measure, runs), "repeat"]
    conditions = [f"c.{column(dim)} = {key_literal(fixed[dim])}" for dim in matched if dim in fixed]
    for dim, keys in _narrower(measure, runs).items():
        conditions.append(f"c.{dim} IN ({', '.join(map(key_literal, keys))})")
    return [f"WHERE {' AND '.join(conditions)}"] if conditions else []


def _narrower(measure: Measure, runs: Runs) -> dict[Dimension, tuple[DimKey, ...]]:
    """If a probe, an operation or an axis limits the measure to some experiments and workloads, return these by
    dimension. Return {} if there is no limit."""
    fixed = dict(measure.fixed)
    found: dict[Dimension, tuple[DimKey, ...]] = {}
    named = [dim for dim in fixed if (dim in NAMED and dim != "operation") or dim not in DIMENSIONS]
    left = runs
    for dim in named:
        left = left.at(dim, fixed[dim])
    narrower: tuple[Dimension, ...] = ("experiment", "workload")
    for dim in narrower:
        kept = measure.runs.keys(dim)
        if kept != left.keys(dim) and set(kept) != set(left.keys(dim)):
            found[dim] = kept
            left = Runs(run for run in left if run.keys(dim)[0] in kept)
    return found


_DECIMALS = 9
"""How many decimals a knee's height is rounded to, since smaller differences are rounding errors."""


def steady(term: SteadyTerm, source: str) -> str:
    """Return SQL for whether each phase is in the steady state, by the rule in `model/steadiness.py`. `source` has the
    operand.

    The steady state begins at the first phase from which the rule holds through the last phase. It can't begin at a
    phase that is followed by too few others. A missing value, or a mean that is not above 0, makes the result unknown
    for all earlier phases, unless the steady state has begun by then.
    """
    others, all_columns = _without(term.operand.dims, "phase"), columns_of(term.operand.dims)
    limits = [f"{number_literal(limit)} * (1 + {number_literal(ROUNDING)})" for limit in (MOST_RANGE, MOST_TREND)]
    tails = "\n".join(
        [
            f"SELECT {all_columns}, count(*) OVER tail AS phases, count(value) OVER tail AS known,",
            "  avg(value) OVER tail AS mean, max(value) OVER tail - min(value) OVER tail AS spread,",
            "  regr_slope(value, phase) OVER tail * (count(*) OVER tail - 1) AS trend",
            f"FROM {source}",
            f"WINDOW tail AS ({_by(others)}ORDER BY phase ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
        ]
    )
    begun = "\n".join(
        [
            f"SELECT {all_columns}, CASE WHEN phases < {FEWEST_PHASES} THEN false WHEN known = phases AND mean > 0",
            f"  THEN spread <= mean * {limits[0]} AND abs(trend) <= mean * {limits[1]} END AS begins",
            f"FROM (\n{indent(tails)}\n)",
        ]
    )
    held = "\n".join(
        [
            f"SELECT {all_columns}, CASE WHEN bool_or(begins) OVER so_far THEN true",
            "  WHEN NOT bool_or(begins IS NULL) OVER so_far THEN false END AS value",
            f"FROM (\n{indent(begun)}\n)",
            f"WINDOW so_far AS ({_by(others)}ORDER BY phase)",
        ]
    )
    if term.at is None:
        return held
    columns = ", ".join([*map(column, term.dims), "value"])
    return f"SELECT {columns}\nFROM (\n{indent(held)}\n)\nWHERE phase = {number_literal(float(term.at))}"


def onset(term: Reduction, source: str) -> str:
    """Return SQL for the first phase at which a condition holds. The result is NULL if the condition never holds, or if
    an earlier phase without a known value might be the first."""
    value = "CASE WHEN NOT bool_or(value IS NULL) THEN CAST(min(phase) FILTER (WHERE value) AS DOUBLE) END"
    return _grouped(term.dims, value, source)


def knee(term: Reduction, source: str) -> str:
    """Return SQL for the axis value of the point that is highest above the line from corner to corner of the curve.

    This is Kneedle on the points themselves: V. Satopaa, J. Albrecht, D. Irwin, B. Raghavan, "Finding a 'Kneedle' in a
    Haystack", ICDCSW 2011. Both axes are scaled to [0, 1], and the largest y - x is taken, at the first of equally high
    points. The result is NULL if there are fewer than three points, if a point is missing, if the curve is level, and
    if no later point lies above the line.
    """
    (along,) = term.over
    axis = column(along)

    def share(of: str) -> str:
        low, high = f"min({of}) OVER curve", f"max({of}) OVER curve"
        return f"({of} - {low}) / nullif({high} - {low}, 0)"

    others = _without(term.operand.dims, along)
    heights = "\n".join(
        [
            f"SELECT {columns_of(term.operand.dims)}, value,",
            f"  round({share('value')} - {share(axis)}, {_DECIMALS}) AS height",
            f"FROM {source}",
            f"WINDOW curve AS ({_by(others).rstrip()})",
        ]
    )
    highest = f"first({axis} ORDER BY height DESC, {axis})"
    whole = f"NOT bool_or(value IS NULL) AND count(*) >= {FEWEST_POINTS}"
    found = f"max(height) > 0 AND {highest} > min({axis})"
    value = f"CASE WHEN {whole} AND {found} THEN CAST({highest} AS DOUBLE) END"
    return _grouped(term.dims, value, f"(\n{indent(heights)}\n)")


def saturation(term: Reduction, source: str) -> str:
    """Return SQL for the highest throughput of a ramp that ends beyond saturation. The result is NULL for other ramps.

    The system keeps up with an offered load if its total throughput reaches the share `at` of the load. It must not
    keep up at the end of the ramp, so that a dip in the middle does not count as saturation. The highest throughput on
    such a ramp is a system's nominal capacity in R. Jain, "The Art of Computer Systems Performance Analysis" (1991).
    `saturation.target` is the highest load with which the system kept up. `source` has the operand's `value`, and the
    `total` throughput, which decides whether the system keeps up.
    """
    ratio = number_literal(term.at if term.at is not None else 1.0)
    beyond = f"last(total ORDER BY target) < {ratio} * max(target)"
    kept = f"max(target) FILTER (WHERE total >= {ratio} * target)"
    found = kept if term.function == "saturation.target" else "max(value)"
    value = f"CASE WHEN NOT bool_or(value IS NULL OR total IS NULL) AND {beyond} THEN {found} END"
    return _grouped(term.dims, value, source)


def usl(term: Reduction, source: str) -> str:
    """Return a number of the Universal Scalability Law, or NULL if a point is missing. A function of the store fits the
    law to the curve (`results/store/store.py`)."""
    (axis,) = term.over
    field = term.function.partition(".")[2].replace("lambda", "ideal")
    points = f"list(CAST({axis} AS DOUBLE) ORDER BY {axis}), list(value ORDER BY {axis})"
    value = f"CASE WHEN NOT bool_or(value IS NULL) THEN bench_usl({points}, '{field}') END"
    return _grouped(term.dims, value, source)


def _grouped(dims: Dims, value: str, source: str) -> str:
    columns = columns_of(dims)
    select = f"SELECT {columns + ', ' if columns else ''}{value} AS value\nFROM {source}"
    return f"{select}\nGROUP BY {columns}" if columns else select


def _without(dims: Dims, dim: Dimension) -> Dims:
    return tuple(each for each in dims if each != dim)


def _by(dims: Dims) -> str:
    return f"PARTITION BY {columns_of(dims)} " if dims else ""


def lower(term: Term, unit: Unit, text: str, made_of: tuple[str, ...], runs: Runs) -> Query:
    """Return `term` as a query with values in `unit`. `runs` are all planned runs. Truth values become 1, 0 or NULL."""
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
        ragged=_ragged(term),
        signed=value_range(term)[0] < 0,
        by_ratio=unit.text != "%" and varies_by_ratio(term),
        made_of=made_of,
    )


def _ragged(term: Term) -> Dims:
    """Return the `ragged` factors of all reductions in the term."""
    own = term.ragged if isinstance(term, Reduction) else ()
    return in_order((*own, *(dim for part in parts(term) for dim in _ragged(part))))


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
            select += "\nORDER BY " + columns_of(term.dims)
        if not self._bodies:
            return select
        tables = ",\n".join(f"{name} AS (\n{indent(body)}\n)" for name, body in self._bodies)
        return f"WITH {tables}\n{select}"

    def _table(self, term: Term) -> str:
        """Return the name of the term's table, which is created at its first use."""
        if term in self._names:
            return self._names[term]
        match term:
            case Measure():
                name = self._name(term.kind.name)
                *before, (_, body) = measure_tables(name, term, self._runs)
                self._bodies += before
                self.reads.append(read(term, self._runs))
            case FactTerm():
                name = self._name(term.name)
                rows = ", ".join(f"({key_literal(key)}, {number_literal(value)})" for key, value in term.values)
                body = _values(term.dim, rows)
            case AxisValue():
                name = self._name(term.dim)
                body = self._axis(term)
            case SteadyTerm():
                body = steady(term, self._table(term.operand))
                name = self._name("steady")
            case Reduction():
                body = self._reduction(term)
                name = self._name(term.function)
            case SpreadTerm():
                source = self._table(term.operand) if any(_sources(term.operand)) else None
                body = self._spread(term, source)
                name = self._name("spread")
            case NumberTerm() | OperationTerm():
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
        return _values(term.dim, ", ".join(f"({_key(term.dim, p)}, {number_literal(p)})" for p in term.points))

    def _spread(self, term: SpreadTerm, source: str | None) -> str:
        if term.beside:
            keys = f"(\n{indent(self._keys_of(term.beside, term.dim))}\n) AS keys"
        else:
            keys = f"(VALUES {', '.join(f'({_key(term.dim, key)})' for key in term.keys)}) AS keys ({column(term.dim)})"
        columns = [f"{'keys' if dim == term.dim else source}.{column(dim)}" for dim in term.dims]
        value = f"{source}.value" if source else f"CAST({self._scalar(term.operand, {})} AS DOUBLE)"
        lines = [f"SELECT {', '.join([*columns, f'{value} AS value'])}", f"FROM {keys}"]
        return "\n".join([*lines, f"CROSS JOIN {source}"] if source else lines)

    def _keys_of(self, terms: Sequence[Term], dim: Dimension) -> str:
        """Return SQL for the keys of `dim` at which any of the terms has a value. The tables do not count as read,
        since no number comes from them."""
        reads = len(self.reads)
        names = dict.fromkeys(self._table(term) for term in terms)
        del self.reads[reads:]
        known = f"WHERE value IS NOT NULL AND {dim} IS NOT NULL"
        return "\nUNION\n".join("\n".join([f"SELECT DISTINCT {dim}", f"FROM {name}", known]) for name in names)

    def _reduction(self, term: Reduction) -> str:
        match term.function:
            case "onset":
                return onset(term, self._table(term.operand))
            case "knee":
                return knee(term, self._table(term.operand))
            case function if function.startswith("usl."):
                return usl(term, self._table(term.operand))
            case "saturation" | "saturation.target":
                both = [("value", term.operand), ("total", total_throughput(term.operand))]
                return saturation(term, f"(\n{indent(self._select(term.operand.dims, both))}\n)")
        guarded = not SAMPLED.intersection(term.over)
        if term.when is None:
            source = self._table(term.operand)
            missing = "value IS NULL"
            guarded = guarded and term.function != "count"
        else:
            source = self._name("points")
            rows = self._select(term.operand.dims, [("value", term.operand), ("holds", term.when)])
            columns = ", ".join([*map(column, term.operand.dims), "CASE WHEN holds THEN value END AS value"])
            # An unknown condition leaves its part of the answer unknown.
            unknown = "holds IS NULL" if term.function == "count" else "holds IS NULL OR (holds AND value IS NULL)"
            if term.function == "count":
                unknown += " AS missing, value IS NOT NULL AS measured"
            else:
                unknown += " AS missing"
            self._bodies.append((source, f"SELECT {columns}, {unknown}\nFROM (\n{indent(rows)}\n)"))
            missing = "missing"
        columns = columns_of(term.dims)
        value = _aggregate(term.function, term.over)
        if term.function == "count":
            # 0 means that no measured point fits; without any measurement, the number is unknown.
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
                f"{name}.{column(dim)} {'IS NOT DISTINCT FROM' if dim in SAMPLED else _same(dim)} "
                f"{columns[dim]}.{column(dim)}"
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
        where = {dim: f"{name}.{column(dim)}" if qualify else column(dim) for dim, name in columns.items()}
        values = {source: f"{name}.value" if qualify else "value" for source, name in tables.items()}
        cells = [where[dim] for dim in dims]
        for alias, term in outputs:
            cells.append(_output(self._scalar(term, values, where), term, factor, alias))
        return "\n".join([f"SELECT {', '.join(cells)}", *joins])

    def _scalar(
        self, term: Term, values: dict[Term, str], where: dict[Dimension, str] | None = None, above: int = 0
    ) -> str:
        """Return the term as an expression over the joined tables' columns. The expression is in parentheses if it
        binds less tightly than `above`."""
        if term in values:
            return values[term]
        match term:
            case NumberTerm():
                return number_literal(term.value)
            case OperationTerm(operator=operator) if operator in _CALLS:
                if operator == "p_value" and all(map(varies_by_ratio, term.operands)):
                    operator = "p_value of ratios"
                arguments = ", ".join(self._scalar(operand, values, where) for operand in term.operands)
                return _CALLS[operator].format(arguments)
            case AxisValue():
                return f"CAST({(where or {})[term.dim]} AS DOUBLE)"
            case OperationTerm():
                level = _BINDS[term.operator if len(term.operands) == 2 else f"unary {term.operator}"]
                text = self._operation(term, values, where, level)
                return f"({text})" if level < above else text
            case _:
                raise AssertionError(f"{type(term).__name__} is always a table")

    def _operation(
        self, term: OperationTerm, values: dict[Term, str], where: dict[Dimension, str] | None, level: int
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
    "p_value in %": "bench_p_value({}, false)",
    "p_value of ratios": "bench_p_of_ratios({})",
    "p_value of percentiles": "bench_p_value({}, true)",
}
"""Functions of the store (`results/store/store.py`)."""
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
        needs_parentheses = isinstance(term, OperationTerm) and term.operator in "+-"
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
            return f"list(value ORDER BY {column(over[0])})"
        case "first" | "last":
            present = " FILTER (WHERE value IS NOT NULL)" if SAMPLED.intersection(over) else ""
            return f"{function}(value ORDER BY {column(over[0])}){present}"
        case _:
            return f"{function}(value)"


def _values(dim: str, rows: str) -> str:
    name = column(dim)
    return f"SELECT {name}, CAST(value AS DOUBLE) AS value\nFROM (VALUES {rows}) AS keys ({name}, value)"


def _sources(term: Term) -> Iterator[Term]:
    """Return the parts of a term that have tables of their own, which are the operands of its arithmetic."""
    match term:
        case OperationTerm():
            for operand in term.operands:
                yield from _sources(operand)
        case NumberTerm():
            return
        case _:
            yield term


def _joined(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Return the tables to join. An axis needs no table of its own if another table has its dimension."""
    sources = list(dict.fromkeys(source for term in terms for source in _sources(term)))
    elsewhere = {dim for source in sources if not isinstance(source, AxisValue) for dim in source.dims}
    return tuple(s for s in sources if not (isinstance(s, AxisValue) and s.dim in elsewhere))
