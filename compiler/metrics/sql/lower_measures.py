"""Base measures to SQL: one row for each planned point, with NULL for a missing measurement.

Dimensions that nobody asks for are reduced here: repeats to their mean (the store merges latencies), time to its mean
on each node, nodes to their sum, phases to the whole window. A point with a failed repeat is missing.
"""

from __future__ import annotations

from collections.abc import Iterable

from benchbrief.compiler.measure_catalogue import NAMED, Key
from benchbrief.compiler.metrics.sql.sql_text import indent, key_literal
from benchbrief.compiler.metrics.typing.planned_points import Runs
from benchbrief.compiler.metrics.typing.terms import Dims, Measure
from benchbrief.compiler.planning.plan import Dimension, Read

Table = tuple[str, str]
"""A name and the SELECT behind it."""

_CELL: Dims = ("experiment", "hardware", "workload", "threads", "target", "repeat")


def measure_tables(name: str, measure: Measure, runs: Runs) -> list[Table]:
    """Return the tables that end in `name`, which holds the measure. `runs` is everything planned."""
    return _sampled(name, measure, runs) if measure.kind.view == "sample" else [(name, _counted(measure, runs))]


def _counted(measure: Measure, runs: Runs) -> str:
    """Throughput, latencies, errors and what searches found: the store has rows by cell, phase and operation."""
    kind, fixed = measure.kind, dict(measure.fixed)
    where: dict[Dimension, str] = {dim: f"c.{dim}" for dim in _CELL}
    joins: list[str] = []
    of_search = kind.view == "sustained"
    match = ["experiment", "hardware", "workload", *(() if of_search else ("threads", "target"))]
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
        pass  # one value for all rates and repeats
    elif kind.view != "latency" or "repeat" in measure.dims or "repeat" in fixed:
        match.append("repeat")
    else:
        conditions.append("m.repeat IS NULL")  # the store's merge over the repeats' histograms
    # Every repeat of a cell meets the same merged row; a mean over some of the repeats is not the point's.
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
    """Join the planned keys of `dim`, so that one without a result has a row."""
    pairs = dict.fromkeys((str(getattr(run, by)), key) for run in runs for key in run.keys(dim))
    rows = ", ".join(f"({key_literal(of)}, {key_literal(key)})" for of, key in pairs)
    return f"JOIN (VALUES {rows}) AS {alias} ({by}, {dim}) ON {alias}.{by} = c.{by}"


def _sampled(name: str, measure: Measure, runs: Runs) -> list[Table]:
    """Return the samples of probes. Nodes and time are reduced unless someone asks for them."""
    kind, fixed = measure.kind, dict(measure.fixed)
    by_time, by_node = "time" in measure.dims, "node" in measure.dims
    own = f"s.measure = {key_literal(kind.sampled_as)}"
    conditions = [f"s.{dim} = {key_literal(fixed[dim])}" for dim in ("node", "time") if dim in fixed]
    # In a join of samples, each moment of any probe is a row: a value that is missing there is NULL.
    only = f" FILTER (WHERE {own})" if by_time or by_node else ""
    if not only:
        conditions.append(own)
    cell: list[Dimension] = [*(dim for dim in measure.dims if dim in _CELL and dim != "repeat"), "repeat"]
    first = [*(f"c.{dim}" for dim in cell), "s.node", *(["s.time"] if by_time else [])]
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
                    *_on("s", _CELL, conditions),
                    *_where(measure, runs),
                    f"GROUP BY {', '.join(first)}",
                ]
            ),
        )
    ]
    if not by_node:
        tables.append((f"{name}_by_cell", _over_nodes(f"{name}_by_node", measure, cell, by_time)))
    columns = ", ".join(measure.dims)
    mean = "avg(value)" if by_time or by_node else _whole_mean("value")
    value = f"{columns + ', ' if columns else ''}{mean} AS value"
    final = f"SELECT {value}\nFROM {tables[-1][0]}"
    return [*tables, (name, f"{final}\nGROUP BY {columns}" if columns else final)]


def _whole_mean(value: str) -> str:
    """Return the mean, or NULL when a value is missing: a failed repeat must show."""
    return f"CASE WHEN count({value}) = count(*) THEN avg({value}) END"


def _over_nodes(source: str, measure: Measure, cell: list[Dimension], by_time: bool) -> str:
    function = measure.kind.across_nodes
    if not by_time:
        # A node without samples has a row without a value: the others' sum is not the cluster's.
        columns = ", ".join(cell)
        value = f"CASE WHEN count(value) = count(*) THEN {function}(value) END"
        return f"SELECT {columns}, {value} AS value\nFROM {source}\nGROUP BY {columns}"
    # A sum over some nodes is not the cluster's: only moments with samples of every node count.
    columns = ", ".join([*cell, "time"])
    nodes = f"count(DISTINCT CASE WHEN value IS NOT NULL THEN node END) OVER (PARTITION BY {', '.join(cell)})"
    rows = f"SELECT {columns}, value, {nodes} AS nodes\nFROM {source}"
    value = f"CASE WHEN count(value) = any_value(nodes) THEN {function}(value) END"
    return f"SELECT {columns}, {value} AS value\nFROM (\n{indent(rows)}\n)\nGROUP BY {columns}"


def _on(alias: str, dims: Iterable[str], conditions: list[str]) -> list[str]:
    """Return the conditions of a join: the cell's dimensions, then the others."""
    pairs = [f"{alias}.{dim} {'IS NOT DISTINCT FROM' if dim == 'target' else '='} c.{dim}" for dim in dims]
    first, *more = [*pairs, *conditions]
    return [f"  ON {first}", *(f"  AND {condition}" for condition in more)]


def read(measure: Measure, runs: Runs) -> Read:
    """Return what the plan reads for the measure: the cells that `_where` selects."""
    kind = measure.kind
    keys: dict[Dimension, tuple[Key, ...]] = {dim: (key,) for dim, key in measure.fixed}
    keys |= _narrower(measure, runs)
    parts = {"measure": kind.name, "view": kind.view, "statistic": kind.statistic, "probe": kind.probe}
    return Read.model_validate({**parts, "counted": measure.counted, "keys": keys})


def _where(measure: Measure, runs: Runs) -> list[str]:
    """Return the condition for the fixed keys, and for the measure's runs when these are narrower."""
    fixed = dict(measure.fixed)
    conditions = [f"c.{dim} = {key_literal(fixed[dim])}" for dim in _CELL if dim in fixed]
    for dim, keys in _narrower(measure, runs).items():
        conditions.append(f"c.{dim} IN ({', '.join(map(key_literal, keys))})")
    return [f"WHERE {' AND '.join(conditions)}"] if conditions else []


def _narrower(measure: Measure, runs: Runs) -> dict[Dimension, tuple[Key, ...]]:
    """Return the experiments and workloads that remain for a probe, an operation or an axis, where these are not
    all."""
    fixed = dict(measure.fixed)
    found: dict[Dimension, tuple[Key, ...]] = {}
    named: list[Dimension] = [dim for dim in NAMED if dim in fixed and dim != "operation"]
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
