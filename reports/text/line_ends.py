"""Where lines of headings and captions end on paper: no short word stands alone on the last one."""

from __future__ import annotations

import re

_SHORT = 9
"""The most letters of a last word that keeps the word before it."""
_LINE = re.compile(
    r'<(h[2-6]|figcaption)\b[^>]*>.*?</\1>|<p class="(?:subtitle|claim|of|callout-title)"[^>]*>.*?</p>', re.DOTALL
)
_BEFORE_LAST = re.compile(
    rf"[ \n](?=[^\s<>]{{1,{_SHORT}}}(?:<sup\b.*?</sup>|</?\w[^>]*>|\s)*</(?:h[2-6]|figcaption|p)>)", re.DOTALL
)


def keep_last_words(page: str) -> str:
    """Return an HTML page in which the last two words of each heading, caption and subtitle stay on one line."""
    return _LINE.sub(lambda match: _BEFORE_LAST.sub("\N{NO-BREAK SPACE}", match.group()), page)
