"""Why a text can't be read: the slip behind a syntax error, in words for people."""

from __future__ import annotations

from benchbrief.dsl import errors, shape
from benchbrief.dsl.source import Source, Span


def explain(source: Source, start: int, end: int, at: int, expected: frozenset[str]) -> errors.Problem:
    """The problem behind a parser that stopped at `at` within [start, end), where only `expected` could go on."""
    unbalanced = shape.problem(source, start, end)
    if unbalanced is not None and unbalanced.span is not None and unbalanced.span.start <= at:
        return unbalanced
    return errors.Unexpected(Span(source, at, min(at + 1, end)), source.text[at : at + 1] or "the end", ", ".join(expected))
