"""The place where the parser stopped, and what stands around it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from benchbrief.dsl.recovery import brackets
from benchbrief.dsl.source import Source, Span

DECLARATIONS = (
    "hardware", "client", "database", "workload", "probe", "experiment", "metric", "expect", "report", "profile",
    "scheduler", "param", "use",
)  # fmt: skip
INNER_BLOCKS = (
    "callout", "compare", "each", "figure", "formula", "options", "override", "section", "ssh", "table", "theme",
    "variant",
)  # fmt: skip

PIECE = re.compile(
    r'(?P<blank>(?>(?:\s+|\#[^\r\n]*)+))|(?P<string>"""(?>[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*)"""|"(?>[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*)")'
    r"|(?P<number>\d+(?:[\d_]*\d)?(?:\.\d+)?[A-Za-z%]*)|(?P<word>[^\W\d]\w*)|(?P<sign>[=!<>]=|\.\.|[\s\S])"
)
_AFTER_VALUE = {"PLUS", "COMPARE", "AND", "OR", "RPAR", "RSQB"}
_BEFORE = 8  # pieces before the place that are looked at


@dataclass(frozen=True)
class Piece:
    """A string, number, word or sign of the text: `kind` says which."""

    kind: str
    span: Span

    @property
    def text(self) -> str:
        return self.span.text


@dataclass(frozen=True)
class Stop:
    """The parser stopped at `at` within [start, end), where only the terminals `expected` could have gone on."""

    source: Source
    start: int
    end: int
    at: int
    expected: frozenset[str]

    @cached_property
    def opener(self) -> Span | None:
        """The innermost bracket that is open there."""
        return brackets.open_bracket(self.source, self.start, self.at)

    @property
    def bracket(self) -> str:
        return self.opener.text if self.opener else ""

    @property
    def in_hole(self) -> bool:
        return self.start > 0

    @cached_property
    def before(self) -> tuple[Piece, ...]:
        """The nearest pieces before the place, the nearest last, none from outside the open bracket."""
        start = self.opener.end if self.opener else self.start
        nearest = deque(PIECE.finditer(self.source.text, start, self.at), 2 * _BEFORE)
        return tuple(self._pieces(nearest))[-_BEFORE:]

    @cached_property
    def found(self) -> Piece | None:
        """The piece at the place; None at the end."""
        return next(self._pieces(PIECE.finditer(self.source.text, self.at, self.end)), None)

    @property
    def sign(self) -> str:
        """What was found, when it is a sign, else ""."""
        return self.found.text if self.found and self.found.kind == "sign" else ""

    @property
    def last(self) -> Piece | None:
        return self.before[-1] if self.before else None

    @property
    def wants_value(self) -> bool:
        return "QUANTITY" in self.expected

    @property
    def after_value(self) -> bool:
        """Whether an expression is complete here: an operator, or the end of what holds it, could follow."""
        if self.wants_value:
            return False
        return not self.expected.isdisjoint(_AFTER_VALUE) or (self.in_hole and "$END" in self.expected)

    @property
    def in_head(self) -> bool:
        """Whether this is read as the head of a block, before its `{`."""
        return "_LBRACE" in self.expected and self.expected.isdisjoint({"PLUS", "_DOT"})

    @cached_property
    def head(self) -> tuple[Piece, ...]:
        """In the head of a block: its keyword, and the name and label so far. Else nothing."""
        if not self.in_head:
            return ()
        count = 1 if "NAME" in self.expected else 2 if "STRING" in self.expected else 3
        head = self.before[-count:]
        # A label may follow the keyword at once: then the first of the three is another fact's.
        if count == 3 and len(head) == 3 and (head[0].kind != "word" or self._starts(head[1], head[0])):
            head = head[1:]
        return head if head and head[0].kind == "word" else ()

    def matches(self, pattern: str) -> re.Match[str] | None:
        """What the pattern matches at the place."""
        return re.compile(pattern).match(self.source.text, self.at, self.end)

    def span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)

    def here(self) -> Span:
        """The piece at the place; at the end, the character behind the last piece."""
        if self.found:
            return self.found.span
        at = self.last.span.end if self.last else self.at
        return self.span(at, at)

    @staticmethod
    def _starts(piece: Piece, earlier: Piece) -> bool:
        return piece.text in DECLARATIONS or piece.text in INNER_BLOCKS or piece.span.line != earlier.span.line

    def _pieces(self, found: Iterable[re.Match[str]]) -> Iterator[Piece]:
        for piece in found:
            if piece.lastgroup and piece.lastgroup != "blank":
                yield Piece(piece.lastgroup, self.span(piece.start(), piece.end()))
