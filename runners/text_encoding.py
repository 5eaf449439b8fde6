"""The encoding of text from other programs. Imports no other module of ours, as samplers start often."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path


def text_encoding(path: Path) -> str:
    """Return the file's encoding: UTF-16 if it begins with that byte-order mark, as files written by PowerShell's `>`
    do, or else UTF-8.

    Raises OSError.
    """
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig"
