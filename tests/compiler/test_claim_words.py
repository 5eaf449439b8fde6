"""Tests that patterns for the words of claims are compiled only for texts that may match them."""

from __future__ import annotations

import re._constants as op  # type: ignore[import-not-found]  # without stubs
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from benchbrief.compiler.briefs import claim_words


@pytest.mark.parametrize("pattern", claim_words._NEEDED, ids=lambda pattern: pattern[:30])
def test_each_match_of_a_pattern_has_a_word_that_it_needs(pattern: str) -> None:
    needed = claim_words._NEEDED[pattern]
    assert all(word == word.lower() for word in needed)
    without = _match_without(needed, parser.parse(pattern))
    assert without is None, f"add a part of {without!r} to those needed"


def test_a_match_without_the_needed_words_is_found() -> None:
    assert _match_without(["up", "most"], parser.parse(r"\b(?:up[ ]*to|at (?:the )?most|by[ ]far)\Z")) == "by far"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("faster than the Disk", ["Disk"]),
        ("more than a disk does", ["disk"]),
        ("more work than a typical drive", []),
        ("more than Disk-based systems", []),
        ("a lead of 5 over over at 8 threads", ["over"]),
        ("more than over 8 threads", []),
        ("more work than with a at 8 threads", ["a"]),
        ("Disk より速い", ["Disk"]),
        ("Java より速い", []),
        ("対 ARM 比", []),
    ],
)
def test_a_contender_is_compared_with_where_its_name_is_no_other_word(text: str, named: list[str]) -> None:
    assert claim_words.compared_with(["Disk", "a", "over"], text) == named


def _match_without(needed: Sequence[str], rest: Iterable[tuple[Any, Any]], said: str = "") -> str | None:
    """Return a text that the parsed pattern matches although it contains none of the needed words, or None if there is
    none. In the text, … stands for parts of the pattern that this function does not follow."""
    if any(word in said for word in needed):
        return None
    rest = [*rest]
    if not rest:
        return said
    (kind, what), *rest = rest
    match kind:
        case op.LITERAL:
            ways = [(rest, said + chr(what).lower())]
        case op.ASSERT_NOT if not what[1]:
            ways = []  # (?!) matches nothing
        case op.AT | op.ASSERT | op.ASSERT_NOT:
            ways = [(rest, said)]
        case op.BRANCH:
            ways = [([*each, *rest], said) for each in what[1]]
        case op.SUBPATTERN:
            ways = [([*what[3], *rest], said)]
        case op.MAX_REPEAT | op.MIN_REPEAT if what[0]:
            ways = [([*what[2], (op.ANY, None), *rest], said)]
        case op.IN if len(what) < 8 and all(each is op.LITERAL for each, _ in what):
            ways = [([one, *rest], said) for one in what]
        case _:
            ways = [(rest, f"{said}…")]
    return next((found for way in ways if (found := _match_without(needed, *way)) is not None), None)
