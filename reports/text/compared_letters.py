"""The letters of a text, for comparing it with a laid-out page."""

from __future__ import annotations

import unicodedata


def letters(text: str) -> str:
    """Keep only what line ends, hyphens and a style sheet's `text-transform` don't change."""
    return "".join(sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalnum())
