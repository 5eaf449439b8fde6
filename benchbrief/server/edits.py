"""Formatting, and the quick fixes for what diagnostics suggest."""

from __future__ import annotations

import difflib

from lsprotocol import types

from benchbrief.dsl.formatter.format import format_source
from benchbrief.server.check_open_files import Analysis, Finding
from benchbrief.server.document_text import Text
from benchbrief.server.documents import Parsed


def formatted(file: Parsed) -> list[types.TextEdit]:
    """Edits of the lines that `bench fmt` would change. Raises SpecError on a syntax error."""
    return changed_lines(file.text, format_source(file.whole))


def changed_lines(text: Text, after: str) -> list[types.TextEdit]:
    """An edit for each run of lines that differ."""
    old, new = text.lines, Text(after, text.encoding).lines
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    offsets = [*text.line_starts, len(text.text)]
    return [
        types.TextEdit(text.range(offsets[first], offsets[last]), "".join(new[start:end]))
        for tag, first, last, start, end in matcher.get_opcodes()
        if tag != "equal"
    ]


def fixes(analysis: Analysis, findings: list[Finding], where: types.Range) -> list[types.CodeAction]:
    """A quick fix for each suggestion whose diagnostic touches the range."""
    actions = []
    for finding in findings:
        suggestion = finding.diagnostic.suggestion
        place = analysis.place(suggestion.span) if suggestion else None
        marked = finding.shown.range
        if suggestion is None or place is None or marked.end < where.start or where.end < marked.start:
            continue
        actions.append(
            types.CodeAction(
                title=f"Change to `{suggestion.replacement}`" if suggestion.replacement else "Take it away",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[finding.shown],
                is_preferred=True,
                edit=types.WorkspaceEdit(changes={place.uri: [types.TextEdit(place.range, suggestion.replacement)]}),
            )
        )
    if len(actions) > 1:
        for action in actions:
            action.is_preferred = len({each.title for each in actions}) == 1
    return actions
