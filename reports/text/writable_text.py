"""Replaces the characters that no page and no drawing can contain."""

from __future__ import annotations

import re
from typing import TypeVar

_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Not a `Char` of XML 1.0 (section 2.2): most control characters, lone surrogates, U+FFFE and U+FFFF."""

T = TypeVar("T")


def writable(value: T) -> T:
    """Replace each character that XML does not allow by U+FFFD, in a text or all texts of lists and mappings.

    `bench check` refuses such a character in a spec; other texts come from imports, hosts and earlier versions'
    runs.
    """
    found: object = value
    if isinstance(value, str):
        found = _UNWRITABLE.sub("\ufffd", value)
    elif isinstance(value, dict):
        found = {writable(key): writable(inner) for key, inner in value.items()}
    elif isinstance(value, list | tuple):
        found = [writable(inner) for inner in value]
    return found  # type: ignore[return-value]  # of the same kind, but for a tuple, which JSON has as a list
