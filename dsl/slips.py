"""Why a text can't be read: the slip behind a syntax error, in words for people.

The parser says only where it stopped and which terminals of `bench.lark` could have gone on. What was meant is guessed
from the text around that place: each `_slip_...` function knows one kind of slip, and the first that recognises its
own explains the error. Where none does, `words.py` puts the terminals into words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from benchbrief.dsl import errors, shape
from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.suggest import did_you_mean
from benchbrief.dsl.words import DECLARATIONS, expected_words, found_words

_BLOCKS = frozenset(DECLARATIONS) | {
    "callout", "each", "figure", "formula", "options", "override", "section", "ssh", "table", "variant",
}  # fmt: skip

_PIECE = re.compile(
    r'(?P<blank>\s+|\#[^\r\n]*)|(?P<string>"""(?>(?:[^"\\]|\\[\s\S]|"(?!""))*)"""|"(?>(?:[^"\\\r\n]|\\.)*)")'
    r"|(?P<number>\d[\w.]*)|(?P<word>[^\W\d]\w*)|(?P<sign>==|!=|<=|>=|\.\.|[\s\S])"
)
_BEFORE = 8  # pieces before the place that are looked at


@dataclass(frozen=True)
class Piece:
    kind: str
    span: Span

    @property
    def text(self) -> str:
        return self.span.text


@dataclass(frozen=True)
class Stop:
    """Where the parser stopped: at `at` within [start, end), where only `expected` could have gone on.

    `before` are the pieces before the place, the nearest last, back to the bracket that is open there; `bracket` is
    that bracket, "" for none. `found` is the piece at the place, None at the end.
    """

    source: Source
    start: int
    end: int
    at: int
    expected: frozenset[str]

    @cached_property
    def opened(self) -> list[Span]:
        return shape.open_brackets(self.source, self.start, self.at)

    @property
    def bracket(self) -> str:
        return self.opened[-1].text if self.opened else ""

    @property
    def in_hole(self) -> bool:
        return self.start > 0

    @cached_property
    def before(self) -> list[Piece]:
        start = self.opened[-1].end if self.opened else self.start
        return list(deque(self._pieces(start, self.at), _BEFORE))

    @cached_property
    def found(self) -> Piece | None:
        return next(iter(self._pieces(self.at, self.end)), None)

    @property
    def sign(self) -> str:
        """What was found, when it is a sign."""
        return self.found.text if self.found and self.found.kind == "sign" else ""

    @property
    def last(self) -> Piece | None:
        return self.before[-1] if self.before else None

    def matches(self, pattern: str) -> re.Match[str] | None:
        """A match of the pattern at the place."""
        return re.compile(pattern).match(self.source.text, self.at, self.end)

    def span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)

    @property
    def wants_value(self) -> bool:
        return "QUANTITY" in self.expected

    @property
    def after_value(self) -> bool:
        return "PLUS" in self.expected

    @cached_property
    def head(self) -> list[Piece]:
        """The words of the block that seems to begin here: `hosts local` of `hosts local }`; else none."""
        if "_LBRACE" not in self.expected or self.after_value or "_DOT" in self.expected:
            return []
        words = [piece for piece in self.before if piece.kind != "sign"]
        count = 1 if "NAME" in self.expected else 2 if "STRING" in self.expected else 3
        head = words[-count:]
        while len(head) > 1 and head[0].span.line != head[-1].span.line and head[0].text not in _BLOCKS:
            head.pop(0)
        while head and head[0].kind != "word":
            head.pop(0)
        return head

    def _pieces(self, start: int, end: int):  # type: ignore[no-untyped-def]
        for piece in _PIECE.finditer(self.source.text, start, end):
            if piece.lastgroup and piece.lastgroup != "blank":
                yield Piece(piece.lastgroup, self.span(piece.start(), piece.end()))
