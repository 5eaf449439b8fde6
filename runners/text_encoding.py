"""The encoding of text from other programs. This module imports no other module of ours, as samplers start often."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path


def text_encoding(path: Path) -> str:
    """Return the file's encoding. It is UTF-16 if the file begins with that byte-order mark, like files written by
    PowerShell's `>`, and otherwise UTF-8.

    Raises OSError.
    """
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig"
