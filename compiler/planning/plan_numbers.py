"""The numbers of a plan, computed from the results: queries, metrics, expectations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from benchbrief.compiler.planning.plan_base import Node, Origin

Dimension = Literal[
    "experiment", "hardware", "workload", "threads", "target", "phase", "repeat", "operation", "node", "time"
]

LatencyKind = Literal["intended", "service"]
"""From when an operation was due, or from when it was sent."""


class Read(Node):
    """A measure that a query reads, and where: `keys` has the allowed keys of each fixed dimension.

    The other dimensions are read at all planned keys. `view` is its place in the store, `statistic` the store's word
    for one of the latency's, `probe` its sampler. `counted` is the kind of latency that is asked for; "" for the usual.
    """

    measure: str
    view: Literal["throughput", "latency", "errors", "sample", "sustained"]
    statistic: str = ""
    probe: str = ""
    counted: LatencyKind | Literal[""] = ""
    keys: dict[Dimension, tuple[str | float, ...]] = Field(default_factory=dict)

    def covers(self, place: Mapping[str, object]) -> bool:
        """Return whether the query reads these keys. A dimension that `place` lacks does not matter."""
        return all(place[dim] in keys for dim, keys in self.keys.items() if dim in place)


class Quote(Node):
    """A published value in place of an expression over imported results (see `PublishedRow` of the store).

    It is the value of `metric` at the keys `at`; with `bound` low or high, the lowest or highest of all published
    values over the dimensions `over`; `negated`, with the other sign.
    """

    metric: str
    bound: Literal["value", "low", "high"]
    at: dict[Dimension, str | float] = Field(default_factory=dict)
    over: tuple[Dimension, ...] = ()
    negated: bool = False


class Query(Node):
    """An expression lowered to SQL over the store's `measure` schema (see `results/store/store_schema.py`).

    The SQL gives one column for each of `dims`, in that order, then `value` (DOUBLE, in `unit`; NULL when missing).
    `text` is the expression as the user wrote it. `absent` says what a missing value means where all parts were
    measured, as for a saturation that is not reached. `reads` are its measures, none for a declared quantity; None
    in a plan from before the field. `quote` is set where a source may give the value itself. `divides`: whether it
    divides one value by another, so that a divisor of zero makes its value a missing one; None in a plan from before
    the field. `signed`: whether its value may be below 0, by the types of its parts; True in such a plan.
    `exact`: whether it is made of sizes, counts and declared values alone: where these do not vary, they differ by what
    is compared.
    """

    sql: str
    dims: tuple[Dimension, ...]
    unit: str
    text: str
    absent: tuple[str, ...] | str = ()
    reads: tuple[Read, ...] | None = None
    quote: Quote | None = None
    divides: bool | None = None
    signed: bool = True
    exact: bool = False


class Metric(Node):
    """`repeats` has the values of each repeat (a further dim), where there are several, for comparisons. It is also
    None where a value covers all repeats together. `percentile`: whether the values are, or come from, percentiles;
    None in a plan from before the field. `params` are the parameters that it names, directly or by one another, with
    their written values."""

    name: str
    label: str
    better: Literal["higher", "lower"] | None
    query: Query
    repeats: Query | None = None
    percentile: bool | None = None
    params: dict[str, str] = Field(default_factory=dict)
    origin: Origin


Range = tuple[float | None, float | None]
"""The lowest and the highest value that can be; None where there is none."""


class Unjudged(Node):
    """What an expectation passes over: `measure`, as `latency.p99[read]`, is not measured at `keys` of `dim`."""

    measure: str
    dim: Dimension
    keys: tuple[str, ...]


class Expect(Node):
    """A condition: `query` gives `value` 1.0 (holds), 0.0 (does not) or NULL (unknown) for each of its dims.

    `sides` are the two sides of a comparison, whose numbers the verdict shows; empty for other conditions. `better` is
    what its left side must be to hold; None where it does not ask which side is larger. `repeats` has both sides with
    the values of each repeat (a further dim), where it does and there are several. `ranges` are those in which the
    values of `repeats` lie, whatever is measured. `unjudged` is what it reads at no cell of a workload or an experiment
    that it does not exclude.
    """

    text: str
    label: str
    query: Query
    sides: tuple[Query, ...] = ()
    better: Literal["higher", "lower"] | None = None
    repeats: tuple[Query, ...] = ()
    ranges: tuple[Range, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()
    origin: Origin
