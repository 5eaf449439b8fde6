"""The part of a plan that says how numbers are computed from the results: queries, metrics, expectations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from benchbrief.compiler.plan_base import Node, Origin

Dimension = Literal[
    "experiment", "hardware", "workload", "threads", "target", "phase", "repeat", "operation", "node", "time"
]


class Read(Node):
    """A measure that a query reads, and where: `keys` has, for each dimension that it is held to, the keys it may have.

    Along the other dimensions it is read at all that was planned. `view` is where the store has it, `statistic` the
    store's word for one of the latency's, `probe` what samples it.
    """

    measure: str
    view: Literal["throughput", "latency", "errors", "sample"]
    statistic: str = ""
    probe: str = ""
    keys: dict[Dimension, tuple[str | float, ...]] = Field(default_factory=dict)

    def covers(self, place: Mapping[str, object]) -> bool:
        """Whether what lies at these keys is read; a dimension that `place` leaves out decides nothing."""
        return all(place[dim] in keys for dim, keys in self.keys.items() if dim in place)


class Query(Node):
    """An expression lowered to SQL over the store's `measure` schema (see `results/schema.py`).

    The SQL gives one column for each of `dims`, in that order, then `value` (DOUBLE, in `unit`; NULL when missing).
    `text` is the expression as the user wrote it. `absent` says what a missing value means where all that it is made of
    was measured, as for a saturation that was not reached. `reads` are the measures in it, none for what is declared;
    None in a plan from before it was kept.
    """

    sql: str
    dims: tuple[Dimension, ...]
    unit: str
    text: str
    absent: str = ""
    reads: tuple[Read, ...] | None = None


class Metric(Node):
    """`repeats` has the same values for each repeat (a further dim), where there are several: comparisons are made of
    them. None, too, where a value is of all repeats together. `percentile`: whether the values are percentiles, or are
    computed from some; None in a plan from before it was kept. `params` are the parameters that it names, itself or by
    one another, each with its value as it was written."""

    name: str
    label: str
    better: Literal["higher", "lower"] | None
    query: Query
    repeats: Query | None = None
    percentile: bool | None = None
    params: dict[str, str] = Field(default_factory=dict)
    origin: Origin


class Expect(Node):
    """A condition: `query` gives `value` 1.0 (holds), 0.0 (does not) or NULL (can't be known) for each of its dims.

    `sides` are what a comparison compares, so that a verdict can tell the numbers; empty for other conditions.
    """

    text: str
    label: str
    query: Query
    sides: tuple[Query, ...] = ()
    origin: Origin
