"""The tokens of a text that was parsed, comments among them, each with the role that the syntax tree gives it.

The tree alone lacks what does not change the meaning (comments, brackets around a name, blank lines), the tokens alone
can't tell a call from a bracketed expression, or a sign from an operator. The formatter needs both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast

_GAP = re.compile(r"\s*")
_PIECE = re.compile(r"(?P<comment>\#[^\r\n]*)|(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>\.\.|[<>=!]=|[\s\S])")
_LINE_END = re.compile(r"\r\n|\r|\n")
_OPENERS = {"(", "[", "{"}
_CLOSERS = {")", "]", "}"}


class Kind(Enum):
    COMMENT = auto()
    NUMBER = auto()
    STRING = auto()
    WORD = auto()
    SIGN = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """`fresh`: begins a line, or what the grammar takes for one; `blank`: behind a blank line."""

    kind: Kind
    text: str
    start: int
    fresh: bool
    blank: bool

    @property
    def is_comment(self) -> bool:
        return self.kind is Kind.COMMENT


@dataclass
class Roles:
    """What the tree says about places of the text, by the offset of the token there."""

    ends: dict[int, tuple[Kind, int]] = field(default_factory=dict)  # of numbers, strings and units
    units: dict[int, str] = field(default_factory=dict)  # of the number at this place, "" for none
    operators: set[int] = field(default_factory=set)  # with an operand on each side
    lists: set[int] = field(default_factory=set)  # the `[` of a list
    calls: set[int] = field(default_factory=set)  # the name of the function
    reductions: set[int] = field(default_factory=set)  # the name of a function that `over` or `when` stands in
    conditions: set[int] = field(default_factory=set)  # what stands behind `when`
    rigid: set[int] = field(default_factory=set)  # a text with a line end that no margin can be taken from


def roles(file: ast.File) -> Roles:
    found = Roles()
    left: list[Any] = [file]
    while left:
        node = left.pop()
        match node:
            case ast.String():
                found.ends[node.span.start] = Kind.STRING, node.span.end
                if any(isinstance(part, ast.Hole) and "\n" in part.format for part in node.parts):
                    found.rigid.add(node.span.start)
                continue  # holes are part of the string
            case ast.Quantity():
                found.ends[node.span.start] = Kind.NUMBER, node.span.end
                found.units[node.span.start] = node.unit
            case ast.Metric(unit=ast.Name() as unit):
                found.ends[unit.span.start] = Kind.WORD, unit.span.end
            case ast.Binary():
                found.operators.add(node.operator_span.start)
            case ast.List():
                found.lists.add(node.span.start)
            case ast.Call():
                found.calls.add(node.function.span.start)
                if node.over or node.when:
                    found.reductions.add(node.function.span.start)
                if node.when:
                    found.conditions.add(node.when.span.start)
        left.extend(ast.children(node))
    return found


def tokens(source: Source, found: Roles) -> list[Token]:
    text = source.text
    listed: list[Token] = []
    at = 0
    while True:
        gap = _GAP.match(text, at)
        start = gap.end() if gap else at
        if start == len(text):
            return listed
        between = text[at:start]
        kind, end = found.ends.get(start, (None, 0))
        if kind is None:
            piece = _PIECE.match(text, start)
            assert piece is not None  # noqa: S101  # the last alternative takes any character
            kind, end = Kind[(piece.lastgroup or "").upper()], piece.end()
        fresh = not listed or bool(between.strip(" \t"))
        blank = bool(listed) and len(_LINE_END.findall(between)) > 1
        listed.append(Token(kind, text[start:end], start, fresh, blank))
        at = end


def partners(listed: list[Token]) -> dict[int, int]:
    """The index of each opening bracket -> the index of the one that closes it."""
    found: dict[int, int] = {}
    stack: list[int] = []
    for index, token in enumerate(listed):
        if token.kind is not Kind.SIGN:
            continue
        if token.text in _OPENERS:
            stack.append(index)
        elif token.text in _CLOSERS:
            found[stack.pop()] = index
    return found
