"""In which encoding a text is that somebody else wrote. Imports nothing else of ours: samplers start often."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path


def text_encoding(path: Path) -> str:
    """Return UTF-16 where its byte-order mark says so, as PowerShell's `>` writes; else UTF-8. Raises OSError."""
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig"
