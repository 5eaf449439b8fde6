"""Chooses line breaks on paper. No short word is alone on the last line, and no Japanese line breaks within a word.

Without this, the PDF writer may break a line of Japanese after any character.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_SHORT = 9
"""The most letters of a last word that is kept on one line with the word before it."""
_LINE = re.compile(r"<(h[2-6]|figcaption|p|li)\b[^>]*>.*?</\1>", re.DOTALL)
_BEFORE_LAST = re.compile(
    rf"[ \n](?=[^\s<>]{{1,{_SHORT}}}(?:<sup\b.*?</sup>|</?\w[^>]*>|\s)*</(?:h[2-6]|figcaption|p|li)>)", re.DOTALL
)


_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:[kMGT]i?B|[mnµ]?s|min|h|W|%)(?:/s)?(?![\w-]))")
"""Matches the blank between a number and its unit in the author's text."""


def keep_last_words(page: str) -> str:
    """Return an HTML page with the last two words of each heading, caption, paragraph and item kept on one line. A
    number in them also stays on one line with its unit."""
    return _LINE.sub(
        lambda match: _BEFORE_LAST.sub("\N{NO-BREAK SPACE}", keep_units_beside_numbers(match.group())), page
    )


def keep_units_beside_numbers(text: str) -> str:
    """Return a text without line breaks between numbers and their units."""
    return _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text)


# --- Japanese ---

_AMONG_JAPANESE = re.compile(
    r"(?<=[\u3001-\u30ff\u4e00-\u9fff\uff01-\uff60]) (?=[\u3001-\u30ff\u4e00-\u9fff\uff01-\uff60])"
)


_COUNTED = re.compile(
    r"(?<![\w.\-])(?<![A-Za-z][ \u00a0])(\d[\d,]*(?:\.\d+)?(?:</(?:span|a|strong)>)*)[ \u00a0](?=[ァ-ヺ一-鿿])"
)
"""Matches a number and the blank after it, if a word for the counted things follows, such as 倍 or スレッド. The number
may be tagged. A number after a Latin word belongs to that name, as in MongoDB 8 サーバー."""
_BEFORE_COUNTED = re.compile(
    r"(?<=[ぁ-ヺー一-鿿])[ \u00a0](?=(?:<(?:span|a|strong)\b[^>]*>)*\d[\d,.]*(?:</(?:span|a|strong)>)*[ァ-ヺ一-鿿])"
)
"""Matches the blank between a Japanese word and a number that counts something."""


def close_up(text: str) -> str:
    """Return a Japanese text without the blanks around Japanese names and around numbers that count something."""
    return _BEFORE_COUNTED.sub("", _COUNTED.sub(r"\1", _AMONG_JAPANESE.sub("", text)))


_KATAKANA = re.compile(r"[ァ-ヺー]{2,9}(?![ァ-ヺー])(?<![ァ-ヺー]{10})")
"""Matches a word of foreign origin, which is read as a whole."""
_PHRASE = re.compile(
    r"[「（]?(?:[\d,.]+[ \u00a0](?=[一-鿿ァ-ヺ]))?[^\sぁ-ゖ、。：；，「」（）<>&]+(?:[ \u00a0]?[ぁ-ゖ]+)?"
    r"[、。：；，」）]*|(?<![^\s、。：；，「」（）])[ぁ-ゖ]{2,}[、。：；，」）]*"
)
"""Matches a word with its particles, up to the next word. Also matches particles and words such as すべて at the
start of a part of a sentence. A number is matched with the thing that it counts."""
_BESIDE = re.compile(r"(?<=\d) (?=[一-鿿ァ-ヺ])|(?<=[A-Za-z0-9)%]) (?=[ぁ-ゖ])")
"""Matches the blank between a number and the things that it counts, or between a name in Latin letters and its
particle."""
_CLOSING = re.compile(r"(?<=[^\s>])[ぁ-ゖ]{2,3}[。）]+(?=\s*</(?:p|li|td|dd)>)")
"""Matches the end of a paragraph or a cell. It is kept together, because a last line with only 「す。」 looks like a
mistake."""
_LONGEST = 12
"""The most letters of a phrase that is kept whole in a heading. A longer phrase may be wider than the space for it."""
_LONGEST_IN_TEXT = 9
"""The most letters of a phrase that is kept whole in a text. Longer phrases would make the right edge ragged."""
_JAPANESE = re.compile(r"[ぁ-ヺー一-鿿]")
_TAG = re.compile(r"(<[^>]*>)")
_OPENS = re.compile(r'<(h[1-4])\b|<(p) class="(?:subtitle|claim|of|callout-title)"')
"""Matches the start tag of large type, whose lines break between phrases."""
_SKIPPED = re.compile(r'<(table|style|script|pre)\b|<(section) class="(?:method|limits)"')
"""Matches the start tag of parts that stay unchanged: tables, the narrow columns at the end of a brief, and code."""


def keep_words_whole(page: str) -> str:
    """Return an HTML page whose lines break neither within words in katakana nor within short phrases. Tables and the
    narrow columns of method and limits are unchanged, because they are hardly wider than a word. Links and numbers are
    unchanged, because each is tagged as a whole. Words get no `span`, because numbers in a PDF are recognised by one
    `span` within another.
    """
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
            until, kept = f"</{skipped[1] or skipped[2]}>", None
        elif opened := _OPENS.match(part):
            until, kept = f"</{opened[1] or opened[2]}>", _in_heading
    return before + body + _CLOSING.sub(_whole, "".join(parts))


_LABEL_ENDS = re.compile(
    r"(?<=\s)(?=\S)|(?<=[ぁ-ゖァ-ヺー一-鿿、・）」])(?=[A-Za-z0-9「（])|(?<=[A-Za-z0-9])(?=[ァ-ヺ一-鿿])"
    r"|(?<=[のをにはがでとへ])(?=[ァ-ヺ一-鿿])|(?<=[ァ-ヺー])(?=[一-鿿])|(?<=[一-鿿])(?=[ァ-ヺ])|(?<=[、・])(?=.)"
)
"""Matches places where a label may break: at a blank, after a particle, and at a change of script, but not within a
word such as 書き込み."""


def phrases(text: str) -> list[str]:
    """Split a label into parts that may not be broken, each with the blanks after it."""
    return [part for part in _LABEL_ENDS.split(text) if part]


def _in_heading(text: str) -> str:
    return _PHRASE.sub(_whole, text)


def _in_text(text: str) -> str:
    return _PHRASE.sub(_in_phrase, text)


def _in_phrase(match: re.Match[str]) -> str:
    """Return a phrase of a text with its line breaks. A long phrase may break, but not within words in katakana, nor
    between a name or a number and its particle or unit."""
    if len(match[0]) <= _LONGEST_IN_TEXT:
        return _whole(match)
    return _KATAKANA.sub(_whole, _BESIDE.sub("\N{NO-BREAK SPACE}", match[0]))


def _whole(match: re.Match[str]) -> str:
    text = match.group()
    short = 1 < len(text) <= _LONGEST and _JAPANESE.search(text)
    return f'<bdi class="whole">{text}</bdi>' if short else text
