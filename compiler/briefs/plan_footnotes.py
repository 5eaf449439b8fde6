"""Reads the author's own footnotes: `footnote "src" = "..."` in a report, and their marks `[^src]` in its texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.briefs.element_queries import FixedKeys
from benchbrief.compiler.briefs.plan_prose import prose, read_attributes
from benchbrief.compiler.frontend.structure_errors import DuplicateAttribute
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan

FOOTNOTE = "footnote"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


def footnotes(typer: Typer, block: ast.Block, place: FixedKeys) -> dict[str, plan.Prose]:
    """Return the footnotes of a report by their names. Report marks that have no footnote, and footnotes that have no
    mark."""
    found: dict[str, ast.String] = {}
    made: dict[str, plan.Prose] = {}
    others = [item for item in block.body if not _is_footnote(item)]
    for item in filter(_is_footnote, block.body):
        string = read_attributes(typer, "report", [item], (FOOTNOTE,), (FOOTNOTE,)).string(FOOTNOTE)
        label = item.label
        name = (label.plain or "") if label else ""
        if label is None or not _NAME.fullmatch(name):
            typer.report(wrong.FootnoteWithoutName((label or item.key).span))
        elif name in found:
            typer.report(DuplicateAttribute(label.span, found[name].span, f"{FOOTNOTE} {name}"))
        else:
            found[name] = label
            if string and (text := prose(typer, string, place)):
                made[name] = text
    used = set[str]()
    for span, name, defines in _marks(others):
        used.add(name)
        if defines:
            typer.report(wrong.FootnoteInText(span, name))
        elif name not in found:
            unknown = wrong.UnknownFootnote(span, FOOTNOTE, name, tuple(found))
            typer.report(unknown)
            used.add(unknown.replacement or name)
    for name in [name for name in found if name not in used]:
        typer.report(wrong.UnusedFootnote(found[name].span, name))
    return made


def _is_footnote(item: ast.Item) -> TypeGuard[ast.Attribute]:
    return isinstance(item, ast.Attribute) and item.key.text == FOOTNOTE


def _marks(items: Sequence[ast.Item]) -> Iterator[tuple[Span, str, bool]]:
    """Yield the place and the name of each mark, and whether the mark begins a definition in Markdown."""
    left: list[Any] = [each for each in reversed(items) if "[^" in each.span.text]
    while left:
        node = left.pop()
        if isinstance(node, ast.String):
            yield from _marks_in(node)
        else:
            left += reversed(list(ast.children(node)))


def _marks_in(string: ast.String) -> Iterator[tuple[Span, str, bool]]:
    source, after = string.span.source, string.span.start
    for at, text in enumerate(string.parts):
        if isinstance(text, ast.Hole):
            continue
        for mark in plan.FOOTNOTE_MARK.finditer(text):
            if name := mark["name"]:
                start = max(after, source.text.find(mark.group(), after, string.span.end))
                after = start + len(mark.group())
                _, line_end, head = text[: mark.start()].rpartition("\n")
                begins = not head.strip() and bool(line_end or at == 0)
                yield Span(source, start, after), name, begins and text[mark.end() : mark.end() + 1] == ":"
