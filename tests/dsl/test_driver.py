"""Tests that our loop over the parser's tables gives exactly the same results as the library's own loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, example, given, settings
from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.diagnostics.render import render_all
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import grammar_tables as grammar
from benchbrief.dsl.syntax.parse import ParserDriver, ParserStopped, _parser, parse
from tests.support.generated_specs import texts

REPOSITORY = Path(__file__).resolve().parents[2]
SPECS = sorted(path for folder in ("examples", "tests") for path in (REPOSITORY / folder).rglob("*.bench"))


class _Piece(Token):
    """A token of the library that has the methods of a match. Our own parser passes matches to the builder."""

    def start(self) -> int:
        return cast(int, self.start_pos)

    def end(self) -> int:
        return cast(int, self.end_pos)

    def span(self) -> tuple[int, int]:
        return self.start(), self.end()

    def group(self) -> str:
        return str(self)


class _Builder:
    """The builder for the library. The library also asks it how to treat each terminal."""

    def __getattr__(self, name: str) -> Any:
        if name.isupper():
            return lambda token: _Piece.new_borrow_pos(token.type, token.value, token)
        return getattr(_parser()[1], name)


LIBRARY = grammar.library(_Builder())


def test_the_tables_are_those_of_the_grammar() -> None:
    assert grammar.TABLES.read_text(encoding="utf-8") == grammar.tables(), (
        "run python -m benchbrief.dsl.syntax.grammar_tables"
    )


def outcome(source: Source) -> object:
    """Return the tree with the spans of its nodes, or the message."""
    try:
        return parse(source)
    except SpecError as error:
        return render_all(error.diagnostics)


def by_the_library(source: Source) -> object:
    def read(_: ParserDriver, text: str, start: str, _values: list[Any] | None = None) -> object:
        try:
            return LIBRARY.parse(text, start=start)
        except UnexpectedToken as error:
            at = len(text) if error.token.type == "$END" else error.token.start_pos or 0
            raise ParserStopped(at, frozenset(error.accepts or error.expected)) from None
        except UnexpectedCharacters as error:
            raise ParserStopped(cast(int, error.pos_in_stream), frozenset(error.allowed or ())) from None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ParserDriver, "parse", read)
        return outcome(source)


@pytest.mark.long
def test_every_spec_is_read_as_by_the_library() -> None:
    assert len(SPECS) > 100
    for path in SPECS:
        source = Source(path.name, path.read_bytes().decode("utf-8", "replace"))
        assert outcome(source) == by_the_library(source), path


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(texts())
@example("")
@example(" # only a comment")
@example("use")
@example('param p = "{a b}"')
@example("param p = 1 ;")
def test_any_text_is_read_as_by_the_library(text: str) -> None:
    source = Source("t.bench", text)
    assert outcome(source) == by_the_library(source)


@pytest.mark.long
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts())
def test_more_texts_are_read_as_by_the_library(text: str) -> None:
    source = Source("t.bench", text)
    assert outcome(source) == by_the_library(source)
