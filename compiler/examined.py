"""The result of checking a spec, and the plan that is made of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from benchbrief.compiler.blocks.experiment_errors import NoMeasuredTime
from benchbrief.compiler.blocks.experiments import databases_of
from benchbrief.compiler.briefs.report_errors import EmptyElement
from benchbrief.compiler.estimates.estimate import counted_cells, estimate_some
from benchbrief.compiler.expand import expand
from benchbrief.compiler.extensions.extension_errors import UnusableExtension
from benchbrief.compiler.frontend.imports import Loaded
from benchbrief.compiler.frontend.name_errors import MustChoose
from benchbrief.compiler.frontend.structure_errors import MissingAttribute, WorkloadWithoutBase
from benchbrief.compiler.metrics.metric_errors import OtherLengths
from benchbrief.compiler.planning.extension_words import with_measure_words
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.resolve import Model
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.syntax import ast
from benchbrief.model.plan import Expect, Metric, Plan, Report, SpecRef
from benchbrief.model.planned_cells import most_cells

_LACKS = frozenset({MissingAttribute.code, NoMeasuredTime.code, WorkloadWithoutBase.code, EmptyElement.code})
"""Codes of a missing attribute, or a missing word in a head."""


def shown_findings(findings: Findings, of_queries: Iterable[Diagnostic], loaded: Loaded) -> tuple[Diagnostic, ...]:
    """Return the mistakes of a spec in syntax, meaning, metrics and reports, without repetitions."""
    # E03xx is an error at the declaration of the value; a metric with that value would repeat it. A length
    # may stand for one with a mistake.
    others = (each for each in of_queries if not (each.span and findings.at(each.span)))
    found = (
        *findings.diagnostics(),
        *(each for each in others if each.code != OtherLengths.code or not findings.failed),
    )
    if loaded.broken:
        found = _causes(found, loaded)
    return distinct(in_reading_order((*loaded.broken, *found), loaded))


def _causes(diagnostics: tuple[Diagnostic, ...], loaded: Loaded) -> tuple[Diagnostic, ...]:
    """Return the errors that do not follow from unreadable parts."""
    return tuple(
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.severity == "error"
        and diagnostic.span is not None
        and diagnostic.code != MustChoose.code  # it counts the declarations, of which some may be lost
        and not any(lost.concerns(diagnostic) for lost in loaded.lost)
        and not (diagnostic.code in _LACKS and any(lost.lacks(diagnostic.span) for lost in loaded.lost))
    )


def distinct(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Drop errors that repeat an earlier error at the same place. An unusable extension is named at its first use."""
    kept: dict[object, Diagnostic] = {}
    for diagnostic in diagnostics:
        placed = diagnostic.severity == "error" and diagnostic.span is not None
        place = None if diagnostic.code == UnusableExtension.code else diagnostic.span  # it is broken everywhere
        kept.setdefault((diagnostic.code, place, diagnostic.summary) if placed else diagnostic, diagnostic)
    return tuple(kept.values())


def in_reading_order(diagnostics: tuple[Diagnostic, ...], loaded: Loaded) -> tuple[Diagnostic, ...]:
    """Sort the spec itself first, then the files that it uses. Findings without a place go before all."""
    order = {file.tree.span.source.name: index for index, file in enumerate(reversed(loaded.files), start=1)}

    def place(diagnostic: Diagnostic) -> tuple[int, int]:
        span = diagnostic.span
        return (order.get(span.source.name, 0), span.start) if span else (0, 0)

    return tuple(sorted(diagnostics, key=place))


def in_context(diagnostics: Iterable[Diagnostic], files: Mapping[Source, ast.File]) -> tuple[Diagnostic, ...]:
    """Return the findings, each with the nearest head above it unless it has a context."""

    def widened(diagnostic: Diagnostic) -> Diagnostic:
        span = diagnostic.span
        if span is None or diagnostic.context is not None or span.source not in files:
            return diagnostic
        return replace(diagnostic, context=_head_above(span, files[span.source]))

    return tuple(map(widened, diagnostics))


def _head_above(span: Span, file: ast.File) -> Span | None:
    found = None
    inside: Sequence[ast.Declaration | ast.Item] = file.declarations
    while inside:
        index = bisect_right(inside, span.start, key=lambda node: node.span.start) - 1
        node = inside[index] if index >= 0 else None
        if not isinstance(node, ast.Block) or node.span.end < span.end or node.span.line == span.line:
            break
        found = Span(
            node.span.source, node.span.start, (node.label or node.name or node.subject or node.keyword).span.end
        )
        inside = node.body
    return found


@dataclass(frozen=True)
class Checked:
    """The mistakes of a spec, and its plan when none is an error, with the model that it was made from."""

    plan: Plan | None
    diagnostics: tuple[Diagnostic, ...]
    model: Model | None = None


@dataclass(frozen=True)
class Examined:
    """The mistakes of a spec, and its model; None when files can't be used.

    Metrics, expectations and reports have queries only on request.
    """

    diagnostics: tuple[Diagnostic, ...]
    loaded: Loaded | None = None
    model: Model | None = None
    metrics: tuple[Metric, ...] = ()
    expects: tuple[Expect, ...] = ()
    reports: tuple[Report, ...] = ()

    @property
    def failed(self) -> bool:
        return any(diagnostic.severity == "error" for diagnostic in self.diagnostics)

    @property
    def cells(self) -> int | None:
        """The number of cells that a run measures at most; None when there can be no plan."""
        return (
            None
            if self.model is None or self.failed
            else sum(most_cells(matrix.experiment) for matrix in self.model.matrices)
        )

    def in_context(self) -> tuple[Diagnostic, ...]:
        """Return the diagnostics, each with the head of its block."""
        files = self.loaded.files if self.loaded else ()
        return in_context(self.diagnostics, {file.tree.span.source: file.tree for file in files})


def assemble(
    name: str, examined: Examined, *, profile: str | None, params: Mapping[str, str], budget_s: float | None = None
) -> Plan | None:
    """Return the plan of a spec that was examined for planning; None when it has an error. `name` is its path as
    given."""
    if examined.loaded is None or examined.model is None or examined.failed:
        return None
    model = examined.model
    cells = expand(model.matrices, model.hosts, budget_s)
    experiments = {matrix.experiment.name: matrix.experiment for matrix in model.matrices}
    return Plan(
        spec=SpecRef(
            name=name,
            files=dict(sorted(examined.loaded.hashes.items())),
            profile=profile,
            params=dict(sorted(params.items())),
        ),
        hosts=dict(model.hosts),
        hardware={key: unit.hardware for key, unit in model.hardware.items()},
        clients=dict(model.clients),
        databases=databases_of(model.matrices),
        workloads={name: load.workload for name, load in model.workloads.items()},
        experiments=experiments,
        cells=cells,
        metrics=examined.metrics,
        expects=examined.expects,
        reports=tuple(with_measure_words(report, cells) for report in examined.reports),
        schedulers=dict(model.schedulers),
        budget_s=budget_s,
        estimate_s=estimate_some(cells, counted_cells(cells, experiments)),
    )
