"""Functions of a whole curve, in SQL: steady states, knees and saturation."""

from __future__ import annotations

from benchbrief.compiler.metrics.sql.sql_text import indent, number_literal
from benchbrief.compiler.metrics.typing.curves import FEWEST_POINTS
from benchbrief.compiler.metrics.typing.terms import Dims, Reduction, Steady
from benchbrief.compiler.planning.plan import Dimension
from benchbrief.compiler.planning.steady_rule import FEWEST_PHASES, MOST_RANGE, MOST_TREND, ROUNDING

_DECIMALS = 9
"""Decimals of a knee's height. Smaller differences are rounding."""


def steady(term: Steady, source: str) -> str:
    """Return whether each phase is in the steady state, by the rule in `steady_rule.py`. `source` has the operand.

    A phase is steady when the rule holds over the phases from it, or from an earlier one, to the last. A missing value,
    or a mean that is not above 0, leaves the phases before it unknown, unless a steady state has begun by then. A phase
    with too few behind it begins none.
    """
    dims, others = term.operand.dims, _without(term.operand.dims, "phase")
    limits = [f"{number_literal(limit)} * (1 + {number_literal(ROUNDING)})" for limit in (MOST_RANGE, MOST_TREND)]
    tails = "\n".join(
        [
            f"SELECT {', '.join(dims)}, count(*) OVER tail AS phases, count(value) OVER tail AS known,",
            "  avg(value) OVER tail AS mean, max(value) OVER tail - min(value) OVER tail AS spread,",
            "  regr_slope(value, phase) OVER tail * (count(*) OVER tail - 1) AS trend",
            f"FROM {source}",
            f"WINDOW tail AS ({_by(others)}ORDER BY phase ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
        ]
    )
    begun = "\n".join(
        [
            f"SELECT {', '.join(dims)}, CASE WHEN phases < {FEWEST_PHASES} THEN false WHEN known = phases AND mean > 0",
            f"  THEN spread <= mean * {limits[0]} AND abs(trend) <= mean * {limits[1]} END AS begins",
            f"FROM (\n{indent(tails)}\n)",
        ]
    )
    held = "\n".join(
        [
            f"SELECT {', '.join(dims)}, CASE WHEN bool_or(begins) OVER so_far THEN true",
            "  WHEN NOT bool_or(begins IS NULL) OVER so_far THEN false END AS value",
            f"FROM (\n{indent(begun)}\n)",
            f"WINDOW so_far AS ({_by(others)}ORDER BY phase)",
        ]
    )
    if term.at is None:
        return held
    columns = ", ".join([*term.dims, "value"])
    return f"SELECT {columns}\nFROM (\n{indent(held)}\n)\nWHERE phase = {number_literal(float(term.at))}"


def onset(term: Reduction, source: str) -> str:
    """Return the first phase at which a condition holds; NULL when it never does, or may hold at an unknown phase."""
    value = "CASE WHEN NOT bool_or(value IS NULL) THEN CAST(min(phase) FILTER (WHERE value) AS DOUBLE) END"
    return _grouped(term.dims, value, source)


def knee(term: Reduction, source: str) -> str:
    """Return the axis value of the point highest above the line from corner to corner of the curve.

    Kneedle on the points themselves: V. Satopaa, J. Albrecht, D. Irwin, B. Raghavan, "Finding a 'Kneedle' in a
    Haystack", ICDCSW 2011: both axes to [0, 1], then the largest y - x. The first of equally high points counts. NULL
    with fewer than three points or a missing one, on a level curve, and where no later point lies above.
    """
    (axis,) = term.over

    def share(column: str) -> str:
        low, high = f"min({column}) OVER curve", f"max({column}) OVER curve"
        return f"({column} - {low}) / nullif({high} - {low}, 0)"

    others = _without(term.operand.dims, axis)
    heights = "\n".join(
        [
            f"SELECT {', '.join(term.operand.dims)}, value,",
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
    """Return the highest throughput of a ramp that ends beyond saturation; NULL for another ramp.

    The system keeps up with an offered load when its total throughput reaches the share `at` of it. It must not at the
    end of the ramp, so that a dip in the middle is no saturation. The highest throughput on such a ramp is a system's
    nominal capacity in R. Jain, "The Art of Computer Systems Performance Analysis" (1991). `saturation.target` is the
    highest load that it kept up with. `source` has the operand's `value`, and the `total` throughput, which decides.
    """
    ratio = number_literal(term.at if term.at is not None else 1.0)
    beyond = f"last(total ORDER BY target) < {ratio} * max(target)"
    kept = f"max(target) FILTER (WHERE total >= {ratio} * target)"
    found = kept if term.function == "saturation.target" else "max(value)"
    value = f"CASE WHEN NOT bool_or(value IS NULL OR total IS NULL) AND {beyond} THEN {found} END"
    return _grouped(term.dims, value, source)


def usl(term: Reduction, source: str) -> str:
    """Return a number of the Universal Scalability Law fitted to the curve, by a function of the store
    (`results/store/sql_functions.py`); NULL with a missing point."""
    (axis,) = term.over
    field = term.function.partition(".")[2].replace("lambda", "ideal")
    points = f"list(CAST({axis} AS DOUBLE) ORDER BY {axis}), list(value ORDER BY {axis})"
    value = f"CASE WHEN NOT bool_or(value IS NULL) THEN bench_usl({points}, '{field}') END"
    return _grouped(term.dims, value, source)


def _grouped(dims: Dims, value: str, source: str) -> str:
    columns = ", ".join(dims)
    select = f"SELECT {columns + ', ' if columns else ''}{value} AS value\nFROM {source}"
    return f"{select}\nGROUP BY {columns}" if columns else select


def _without(dims: Dims, dim: Dimension) -> Dims:
    return tuple(each for each in dims if each != dim)


def _by(dims: Dims) -> str:
    return f"PARTITION BY {', '.join(dims)} " if dims else ""
