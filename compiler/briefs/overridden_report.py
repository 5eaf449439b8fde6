"""Applies `override report` in a profile: its contents replace those of the report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from typing import TypeAlias

from benchbrief.compiler.briefs.report_errors import NotOverridden
from benchbrief.compiler.frontend.declarations import text_of
from benchbrief.compiler.frontend.structure_errors import MisplacedBlock, UnknownAttribute
from benchbrief.compiler.problems import CompileProblem
from benchbrief.compiler.schemas import ELEMENTS
from benchbrief.dsl.syntax import ast
from benchbrief.model.value_shapes import Word

_FORMULA = "formula"
_Slot: TypeAlias = tuple[str, str]
"""A key for items that are replaced together: an attribute's key, or a block's kind and title."""


def overridden(report: ast.Block, override: ast.Block) -> ast.Block:
    """Return the report with its title, attributes and blocks replaced by those of the override.

    An attribute replaces all attributes with its key. The value `none` removes them, unless `none` is a proper value
    there. A block changes the report's block of the same kind and title in the same way. If nothing is left in that
    block, the block is removed. A formula has no title, so it replaces all formulas.
    """
    said: dict[_Slot, list[ast.Item]] = {}
    for item in override.body:
        said.setdefault(_slot(item), []).append(item)
    removing = [item for item in override.body if _removes(item, report.keyword.text)]
    body: list[ast.Item] = []
    replaced: set[_Slot] = set()
    for item in report.body:
        changes = said.pop(_slot(item), [])
        if isinstance(item, ast.Block) and item.keyword.text != _FORMULA:
            changed = reduce(overridden, (each for each in changes if isinstance(each, ast.Block)), item)
            body += [changed] if changed.body or not item.body else []
        elif changes:
            replaced.add(_slot(item))
            body += changes
        elif _slot(item) not in replaced:
            body.append(item)
    body += (item for items in said.values() for item in items if isinstance(item, ast.Attribute))
    kept = tuple(item for item in body if item not in removing)
    return replace(report, label=override.label or report.label, body=kept)


def mistakes_in(override: ast.Block, report: ast.Block, kind: str = "report") -> Iterator[CompileProblem]:
    """Yield the mistakes in an override of a report: attributes that do not exist in their kind of block, and blocks
    that are not in the report."""
    schema = ELEMENTS[kind]
    has = [item for item in report.body if isinstance(item, ast.Block)]
    for item in override.body:
        word = item.key.text if isinstance(item, ast.Attribute) else item.keyword.text
        if isinstance(item, ast.Attribute):
            if word not in schema.keys and schema.open_keys is None:
                yield UnknownAttribute(item.key.span, kind, word, tuple(schema.keys))
        elif same := [each for each in has if _slot(each) == _slot(item)]:
            yield from mistakes_in(item, same[0], word)
        elif word not in schema.blocks:
            yield MisplacedBlock(item.keyword.span, kind, word, schema.blocks)
        else:
            span = (item.label or item.subject or item.base or item.keyword).span
            titles = tuple(_slot(each)[1] for each in has if each.keyword.text == word)
            yield NotOverridden(
                span, word, _head(item).partition(" ")[2].strip('"'), titles, kind, tuple(map(_head, has))
            )


def _slot(item: ast.Item) -> _Slot:
    if isinstance(item, ast.Attribute):
        return "", item.key.text
    told = None if item.keyword.text == _FORMULA else item.label or item.subject or item.base
    return item.keyword.text, text_of(told).strip('"') if told else ""


def _head(block: ast.Block) -> str:
    told = block.label or block.subject or block.base
    return f"{block.keyword.text} {text_of(told)}" if told else block.keyword.text


def _removes(item: ast.Item, kind: str) -> bool:
    if isinstance(item, ast.Block) or [text_of(value) for value in item.values] != ["none"]:
        return False
    key = ELEMENTS[kind].keys.get(item.key.text) if kind in ELEMENTS else None
    return not (key and isinstance(key.shape, Word) and "none" in key.shape.choices)
