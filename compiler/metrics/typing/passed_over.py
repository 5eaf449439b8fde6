"""Which planned cells an expectation passes over, as they do not tell what it judges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchbrief.compiler.metrics.typing.planned_points import Runs
from benchbrief.compiler.metrics.typing.terms import Measure
from benchbrief.compiler.planning.plan import Dimension

_WHERE: tuple[Dimension, ...] = ("workload", "experiment")


@dataclass(frozen=True)
class PassedOver:
    """`measure`, as `latency.p99[read]`, is not measured at the `missing` keys of `dim`, but at the `judged` ones.

    `probe` is what would have to sample it; "" where the workload has no such operation."""

    measure: str
    dim: Dimension
    missing: tuple[str, ...]
    judged: tuple[str, ...]
    probe: str


def passed_over(measure: Measure, runs: Runs) -> Iterator[PassedOver]:
    """Yield the experiments and workloads that an index neither names nor excludes, and that have no such operation
    or no such probe. What only some experiments can have, such as an event, a phase or a promise, misses nowhere.
    """
    operation = dict(measure.fixed).get("operation", "")
    if not operation and not measure.kind.probe:
        return
    left = runs
    for dim, key in measure.fixed:
        if dim != "operation":
            left = left.at(dim, key)
    text = f"{measure.kind.name}[{operation}]" if operation else measure.kind.name
    for dim in _WHERE:
        judged = tuple(map(str, measure.runs.keys(dim)))
        missing = tuple(str(key) for key in left.keys(dim) if key not in judged)
        if missing:
            yield PassedOver(text, dim, missing, judged, measure.kind.probe)
            left = Runs(run for run in left if run.keys(dim)[0] in judged)
