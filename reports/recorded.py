"""Sentences that a run recorded, which are in English, in the language of the report.

The words that begin with `r_` are these sentences: in the English catalogue as the runners write them, with holes where
theirs are. What matches none of them, such as the output of a tool, stays as it was recorded.
"""

from __future__ import annotations

import re
from functools import cache
from string import Formatter

from benchbrief.reports.words import Words, words

FAMILY = "r_"
_NESTED = "what"  # the hole that holds a recorded sentence itself


def recorded(text: str, wanted: Words) -> str:
    """The sentence in that language."""
    english = words("en")
    if not text or wanted.language == english.language:
        return text
    for key, pattern in _patterns():
        match = pattern.fullmatch(text)
        if match is None:
            continue
        found = match.groupdict()
        if _NESTED in found:
            nested = recorded(found[_NESTED], wanted)
            if nested == found[_NESTED]:
                continue  # what is in it is unknown, and so may this be
            found[_NESTED] = nested
        return wanted[key].format(**found)
    return text


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((key, _pattern(text)) for key, text in words("en").items() if key.startswith(FAMILY))


def _pattern(text: str) -> re.Pattern[str]:
    """`{path} is on {found}` -> what matches it, with a group for each hole."""
    parts = []
    for literal, hole, _, _ in Formatter().parse(text):
        parts.append(re.escape(literal))
        if hole:
            parts.append(f"(?P<{hole}>{_HOLES.get(hole, '.+?')})")
    return re.compile("".join(parts), re.DOTALL)


_HOLES = {"path": "/.*?", "host": r"\S+", "n": r"[\d,.]+", "cores": r"\d+", "threads": r"\d+", "size": r"[\d.]+ ?\w+"}
