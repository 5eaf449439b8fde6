"""The context of a finding: the head of its block, when that is on a line above."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from benchbrief.dsl.diagnostics.diagnostic import Diagnostic
from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.syntax import ast


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
