"""Whether a file has to be unpacked before it can be read."""

from __future__ import annotations

from pathlib import Path

_PACKED = {
    b"\x1f\x8b": ("packed by gzip", "unpack it: gunzip {name}"),
    b"BZh": ("packed by bzip2", "unpack it: bunzip2 {name}"),
    b"\x28\xb5\x2f\xfd": ("packed by zstd", "unpack it: unzstd {name}"),
    b"\xfd7zXZ": ("packed by xz", "unpack it: unxz {name}"),
    b"PK\x03\x04": ("a workbook or another archive", "save the sheet as CSV (UTF-8), or unpack the archive"),
}


class Unreadable(Exception):
    """What is wrong with a file as a whole, and how to fix it."""

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text)
        self.hint = hint


def packed(path: Path) -> Unreadable | None:
    """Return why a file must be unpacked before it can be read. Raises OSError."""
    with path.open("rb") as file:
        begin = file.read(8)
    for magic, (what, hint) in _PACKED.items():
        if begin.startswith(magic):
            return Unreadable(what, hint.format(name=path.name))
    return None
