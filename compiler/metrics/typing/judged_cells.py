"""Which cells an expectation judges: those measured once are warned of, and those that do not tell what it judges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchbrief.compiler.metrics.evidence_errors import PassesOver, SingleRun
from benchbrief.compiler.metrics.typing.planned_points import Runs
from benchbrief.compiler.metrics.typing.terms import Measure, Term, leaves
from benchbrief.compiler.planning.plan import Dimension, Unjudged
from benchbrief.dsl.source import Span

if TYPE_CHECKING:
    from benchbrief.compiler.metrics.typing.expressions import Typer

_WHERE: tuple[Dimension, ...] = ("workload", "experiment")


@dataclass(frozen=True)
class _PassedOver:
    """`measure`, as `latency.p99[read]`, is not measured at the `missing` keys of `dim`, but at the `judged` ones.

    `probe` is what would have to sample it; "" where the workload has no such operation."""

    measure: str
    dim: Dimension
    missing: tuple[str, ...]
    judged: tuple[str, ...]
    probe: str


def warn_of_cells(typer: Typer, expect: Span, term: Term, warned: set[str]) -> tuple[Unjudged, ...]:
    """Warn of single runs, and return what the expectation passes over, which is warned of, too. `warned` are the
    experiments without repeats that have a warning already."""
    measures = [leaf for leaf in leaves(term) if isinstance(leaf, Measure)]
    runs = (run for measure in measures for run in measure.runs)
    single = dict.fromkeys(run.experiment for run in runs if run.repeats == 1 and run.experiment not in warned)
    warned.update(single)
    if single:
        typer.report(SingleRun(expect, tuple(single)))
    found = dict.fromkeys(each for measure in measures for each in _passed_over(measure, typer.runs))
    for each in found:
        typer.report(PassesOver(expect, each.measure, each.dim, each.missing, each.judged, each.probe))
    return tuple(Unjudged(measure=each.measure, dim=each.dim, keys=each.missing) for each in found)


def _passed_over(measure: Measure, runs: Runs) -> Iterator[_PassedOver]:
    """Yield the workloads and experiments that an index neither names nor excludes, and that have no such operation or
    no such probe. What only some experiments can have, such as an event, a phase or a promise, misses nowhere.
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
            yield _PassedOver(text, dim, missing, judged, measure.kind.probe)
            left = Runs(run for run in left if run.keys(dim)[0] in judged)
