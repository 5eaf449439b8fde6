"""A small pretty-printer: text with places where a line may end, laid out so that it fits.

A group stays on one line when it fits there, together with what stands right behind it; otherwise each of its own
places ends a line, and the groups inside decide for themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from benchbrief.dsl.diagnostics.source_line import display_width

WIDTH = 120  # columns of a line
INDENT = 2  # columns of a level


@dataclass(frozen=True)
class Line:
    """A place where a line may end. `flat` stands there when it does not; None: the line always ends."""

    flat: str | None


@dataclass(frozen=True)
class IfBroken:
    """Text that is there only when the group around it is broken over lines: a last comma."""

    text: str


@dataclass(frozen=True)
class Nest:
    """Lines that begin in here are one level further in."""

    inner: Doc


@dataclass(frozen=True)
class Group:
    """Either all on one line, or broken at every one of its places."""

    inner: Doc

    @cached_property
    def flat(self) -> str | None:
        return flat(self.inner)


Doc: TypeAlias = str | Line | IfBroken | Nest | Group | tuple["Doc", ...]

HARD = Line(None)
SPACE = Line(" ")
SOFT = Line("")


def flat(doc: Doc) -> str | None:
    """The document on one line; None when it can't be."""
    match doc:
        case str():
            return doc if "\n" not in doc else None
        case Line():
            return doc.flat
        case IfBroken():
            return ""
        case Nest():
            return flat(doc.inner)
        case Group():
            return doc.flat
    texts = []
    for part in doc:
        text = flat(part)
        if text is None:
            return None
        texts.append(text)
    return "".join(texts)


def render(doc: Doc, indent: int) -> str:
    """The document, its first line beginning at column `indent`: the blanks before that are not written."""
    out: list[str] = []
    column = indent
    pending = 0  # blanks before the next text
    stack: list[tuple[int, Doc]] = [(indent, doc)]
    while stack:
        level, part = stack.pop()
        match part:
            case Group() if part.flat is None or column + display_width(part.flat) + _behind(stack) > WIDTH:
                stack.append((level, part.inner))
            case str() | IfBroken() | Group():
                text = part if isinstance(part, str) else part.text if isinstance(part, IfBroken) else part.flat
                if text:
                    out.append(" " * pending + text)
                    pending = 0
                    column = display_width(text[text.rfind("\n") + 1 :]) + (0 if "\n" in text else column)
            case Line():
                out.append("\n")
                column = pending = level
            case Nest():
                stack.append((level + INDENT, part.inner))
            case _:
                stack.extend((level, each) for each in reversed(part))
    return "".join(out)


def _behind(stack: Sequence[tuple[int, Doc]]) -> int:
    """Columns of what stands behind a group before the next place where the line may end."""
    columns = 0
    left = [part for _, part in stack[-8:]]  # closing brackets and a comma: never many
    while left:
        match left.pop():
            case str() as text:
                columns += display_width(text)
            case IfBroken(text):
                columns += display_width(text)
            case Line():
                break
            case Nest(inner) | Group(inner):
                left.append(inner)
            case parts:
                left.extend(reversed(parts))
    return columns
