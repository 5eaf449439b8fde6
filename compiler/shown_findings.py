"""Selects and sorts the findings of a spec for display, each with the head of its block."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from benchbrief.compiler.blocks.experiments.experiment_errors import NoMeasuredTime
from benchbrief.compiler.briefs.report_errors import EmptyElement
from benchbrief.compiler.extensions.extension_errors import UnusableExtension
from benchbrief.compiler.frontend.imports import Loaded
from benchbrief.compiler.frontend.name_errors import MustChoose
from benchbrief.compiler.frontend.structure_errors import MissingAttribute, WorkloadWithoutBase
from benchbrief.compiler.metrics.evidence_errors import OtherLengths
from benchbrief.compiler.problems import Findings
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic
from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.syntax import ast

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
