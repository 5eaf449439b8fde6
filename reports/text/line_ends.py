"""Where lines end on paper: no short word stands alone on the last line, and no line of Japanese ends within a word.

The PDF writer may end a line of Japanese behind every letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_SHORT = 9
"""The most letters of a last word that keeps the word before it."""
_LINE = re.compile(
    r'<(h[2-6]|figcaption)\b[^>]*>.*?</\1>|<p class="(?:subtitle|claim|of|callout-title)"[^>]*>.*?</p>', re.DOTALL
)
_BEFORE_LAST = re.compile(
    rf"[ \n](?=[^\s<>]{{1,{_SHORT}}}(?:<sup\b.*?</sup>|</?\w[^>]*>|\s)*</(?:h[2-6]|figcaption|p)>)", re.DOTALL
)


_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:[kMGT]i?B|[mnµ]?s|min|h|W|%)(?:/s)?(?![\w-]))")
"""The blank between a number that the author wrote and its unit."""


def keep_last_words(page: str) -> str:
    """Return an HTML page in which the last two words of each heading, caption and subtitle stay on one line, and so do
    a number and its unit there."""
    return _LINE.sub(
        lambda match: _BEFORE_LAST.sub("\N{NO-BREAK SPACE}", keep_units_beside_numbers(match.group())), page
    )


def keep_units_beside_numbers(text: str) -> str:
    """Return a text with no line's end between a number and its unit."""
    return _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text)


# --- Japanese ---

_AMONG_JAPANESE = re.compile(
    r"(?<=[\u3001-\u30ff\u4e00-\u9fff\uff01-\uff60]) (?=[\u3001-\u30ff\u4e00-\u9fff\uff01-\uff60])"
)


def close_up(text: str) -> str:
    """Return a Japanese text without the blanks around names, where these are Japanese, too."""
    return _AMONG_JAPANESE.sub("", text)


_KATAKANA = re.compile(r"[ァ-ヺー]{2,9}(?![ァ-ヺー])(?<![ァ-ヺー]{10})")
"""A word of foreign origin, which is read as a whole."""
_PHRASE = re.compile(
    r"[「（]?(?:[\d,.]+[ \u00a0](?=[一-鿿ァ-ヺ]))?[^\sぁ-ゖ、。：；，「」（）<>&]+(?:[ \u00a0]?[ぁ-ゖ]+)?"
    r"[、。：；，」）]*|(?<![^\s、。：；，「」（）])[ぁ-ゖ]{2,}[、。：；，」）]*"
)
"""A word with its particles, up to where the next word begins; or particles and such words as すべて, where a part of a
sentence begins. A number has what it counts beside it."""
_BESIDE = re.compile(r"(?<=\d) (?=[一-鿿ァ-ヺ])|(?<=[A-Za-z0-9)%]) (?=[ぁ-ゖ])")
"""The blanks between a number and what it counts, and between a name in Latin letters and its particle."""
_CLOSING = re.compile(r"(?<=[^\s>])[ぁ-ゖ]{2,3}[。）]+(?=\s*</(?:p|li|td|dd)>)")
"""The end of a paragraph or a cell: a last line of 「す。」 alone reads as a slip."""
_LONGEST = 12
"""The letters of the longest phrase of a heading that stays whole: more may be wider than their place."""
_LONGEST_IN_TEXT = 9
"""The same in a text, whose right edge would be ragged."""
_JAPANESE = re.compile(r"[ぁ-ヺー一-鿿]")
_TAG = re.compile(r"(<[^>]*>)")
_OPENS = re.compile(r'<(h[1-4])\b|<(p) class="(?:subtitle|claim|of|callout-title)"')
"""What is set large: its lines end between phrases."""
_SKIPPED = re.compile(r"<(table|style|script|pre)\b")


def keep_words_whole(page: str) -> str:
    """Return an HTML page whose lines end neither within words in katakana nor within short phrases. Tables stay as
    they are, since their columns may be narrower than a word, and so do links and numbers, which are tagged as wholes.
    A word gets no `span`, since a PDF's numbers are known by one within another."""
    before, body, rest = page.partition("<body")
    until = tagged = ""
    kept: Callable[[str], str] | None = _in_text
    parts = _TAG.split(rest)
    for at, part in enumerate(parts):
        if at % 2 == 0:
            if kept and at and not tagged and _JAPANESE.search(part):
                parts[at] = kept(part)
        elif part == tagged:
            tagged = ""
        elif not tagged and part.startswith(("<a ", '<span class="num')):
            tagged = "</a>" if part.startswith("<a ") else "</span>"
        elif until:
            if part == until:
                until, kept = "", _in_text
        elif skipped := _SKIPPED.match(part):
            until, kept = f"</{skipped[1]}>", None
        elif opened := _OPENS.match(part):
            until, kept = f"</{opened[1] or opened[2]}>", _in_heading
    return before + body + _CLOSING.sub(_whole, "".join(parts))


_LABEL_ENDS = re.compile(
    r"(?<=\s)(?=\S)|(?<=[ぁ-ゖァ-ヺー一-鿿、・）」])(?=[A-Za-z0-9「（])|(?<=[A-Za-z0-9])(?=[ァ-ヺ一-鿿])"
    r"|(?<=[のをにはがでとへ])(?=[ァ-ヺ一-鿿])|(?<=[ァ-ヺー])(?=[一-鿿])|(?<=[一-鿿])(?=[ァ-ヺ])|(?<=[、・])(?=.)"
)
"""Where a label may end a line: at a blank, behind a particle, and where the script changes, but not within a word such
as 書き込み."""


def phrases(text: str) -> list[str]:
    """Split a label into the parts that stay whole, with the blanks behind them."""
    return [part for part in _LABEL_ENDS.split(text) if part]


def _in_heading(text: str) -> str:
    return _PHRASE.sub(_whole, text)


def _in_text(text: str) -> str:
    return _PHRASE.sub(_in_phrase, text)


def _in_phrase(match: re.Match[str]) -> str:
    """Return a phrase of a text: a long one may be parted, but for its words in katakana and what belongs to a name or
    a number."""
    if len(match[0]) <= _LONGEST_IN_TEXT:
        return _whole(match)
    return _KATAKANA.sub(_whole, _BESIDE.sub("\N{NO-BREAK SPACE}", match[0]))


def _whole(match: re.Match[str]) -> str:
    text = match.group()
    short = 1 < len(text) <= _LONGEST and _JAPANESE.search(text)
    return f'<bdi class="whole">{text}</bdi>' if short else text
