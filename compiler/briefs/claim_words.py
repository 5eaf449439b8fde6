"""The words of claims: what a sentence promises of the number in it, in English and Japanese.

Each table is small, and looks right before or right behind the number. What it does not know is no mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_BLANKS = r"[\s\u00a0]*"
_BLANK = r"[\s\u00a0]+"
_UNIT = r"(?:%|％|per ?cent|パーセント|(?:percentage )?points?|[xX×]|times|倍)?"
_NUMBER = r"[0-9０-９][0-9０-９.,．，]*"
_SPELLED = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "twenty", "thirty", "fifty",
    "hundred",
)  # fmt: skip


def _before(english: str, japanese: str = "(?!)") -> re.Pattern[str]:
    """Return a pattern of words that end right before a number."""
    near = rf"(?:{_BLANK}(?:an?|about|some|around|the))?{_BLANKS}\Z"
    return re.compile(rf"(?:\b(?:{english})|(?:{japanese})){near}", re.IGNORECASE)


def _behind(english: str, japanese: str, unit: str = _UNIT) -> re.Pattern[str]:
    """Return a pattern of words that begin right behind a number and its unit."""
    return re.compile(rf"\A{_BLANKS}-?{unit}(?:(?:{_BLANK}|-)(?:{english})\b|{_BLANKS}(?:{japanese}))", re.IGNORECASE)


UP_TO = _before(
    r"up\s*to|as\s+(?:much|many)\s+as|a\s+(?:maximum|peak|high)\s+of|at\s+(?:best|most)|(?:no|not)\s+more\s+than",
    "最大で?|最高で?",
)
AT_LEAST = _before(
    r"at\s+(?:least|minimum)|a\s+minimum\s+of|(?:no|not|never)\s+less\s+than|more\s+than|over|from",
    "少なくとも|最低でも?",
)
OR_MORE = _behind("or more|or better|at least|and more|and up|minimum", "以上|を超え")
_MORE = "more|higher|faster|larger|greater|better|quicker|less|fewer|lower|slower|smaller|shorter|longer|cheaper|worse"
_MORE_JA = "高|速|大き|多|低|遅|小さ|少な|短|長|安"
TIMES_MORE = _behind(_MORE, rf"[もの]?{_BLANKS}(?:{_MORE_JA})", "(?:times|fold|[xX×]|倍)")
PER_CENT_MORE = _behind(_MORE, _MORE_JA, "(?:%|％|per ?cent|パーセント)?")
PER_CENT_OF = _behind("of", "の", "(?:%|％|per ?cent|パーセント)?")


class Direction:
    """The words for one direction of a change: behind its number, and verbs before it (`cuts the latency by`)."""

    def __init__(self, behind: str, verbs: str, japanese: str) -> None:
        self._behind = _behind(behind, rf"の?(?:{japanese})")
        self._before = _before(rf"(?:{verbs})\b[^.;:]*\bby")

    def found(self, before: str, after: str) -> str:
        """Return the words of this direction around a number; "" without any."""
        found = self._behind.match(after) or self._before.search(before)
        return found.group().strip(" \u00a0%％") if found else ""


MORE = Direction(
    "more|higher|greater|larger|bigger|longer|additional|extra|above|up|increase|gain|rise|growth|uplift",
    "increas(?:es?|ed|ing)|rais(?:es?|ed|ing)|gr[eo]ws?|rises?|rose",
    "高|多|大き|長|増|向上|上回",
)
LESS = Direction(
    "less|fewer|lower|smaller|shorter|cheaper|below|down|off|reduction|decrease|drop|savings?|decline|cut",
    "cut(?:s|ting)?|reduc(?:es?|ed|ing)|lower(?:s|ed|ing)?|decreas(?:es?|ed|ing)|sav(?:es?|ed|ing)|shrinks?|drops?|falls?",
    "低|少な|小さ|短|安|減|削減|短縮|下回",
)

_RESULTS = (
    re.compile(
        rf"{_NUMBER}[\s\u00a0-]*(?:[xX×](?![A-Za-z0-9])|times\b|-?fold\b|%|％|per ?cent\b|倍|パーセント|割)"
        rf"|\b(?:double|twice|triple|half)\b(?={_BLANK}(?:the|as|of|its|their)\b)"
        r"|\b(?:doubles|doubled|triples|tripled|quadruples|quadrupled|halves|halved)\b"
        rf"|\b(?:{'|'.join(_SPELLED)})(?:[ -](?:times|fold)|fold)\b(?! measured)"
        r"|\ban order of magnitude\b"
        r"|[一二三四五六七八九十百千数]+倍|半分|半減|倍増",
        re.IGNORECASE,
    ),
    re.compile(rf"{_NUMBER}[\s\u00a0]*(?:[kKMG]?ops/s|[µumn]s\b|ms\b|ops/s/W|[KMGT]i?B/s)"),
)
"""Results that are written by hand: with times or per cent, as a word, or with a unit of a measure."""


def results_in(texts: Iterable[str]) -> Iterator[str]:
    """Yield the results that are written by hand in texts."""
    for text in texts:
        for pattern in _RESULTS:
            yield from (match.group().strip() for match in pattern.finditer(text))


def without_blanks(number: str) -> str:
    return re.sub(r"[\s\u00a0]", "", number).casefold()


def names(label: str, text: str) -> bool:
    """Return whether a text has a label as words of their own."""
    return re.search(rf"(?<!\w){re.escape(label)}(?!\w)", text, re.IGNORECASE) is not None


def counts(number: float, dim: str, text: str) -> bool:
    """Return whether a text has the number of a dimension: `8 threads`, `one thread`, `8 スレッド`."""
    spelled = ("one|single", *_SPELLED[:9])[int(number) - 1] if number in range(1, 11) else "(?!)"
    what = {"threads": "threads?|スレッド", "target": r"\w+/s"}.get(dim, re.escape(dim))
    return re.search(rf"(?<![\w.])(?:{number:g}|{spelled})[\s\u00a0-]*(?:{what})", text, re.IGNORECASE) is not None
