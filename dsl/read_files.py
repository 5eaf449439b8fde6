"""Reads files as sources. A file that can't be read as a spec gives one clear diagnostic."""

from __future__ import annotations

import codecs
import os
from pathlib import Path
from typing import BinaryIO

from benchbrief.dsl.diagnostics import syntax_errors
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.source import Source, Span

MAX_BYTES = 4 << 20
_SHOWN = 5  # files of a folder named by mistake

_OTHER_ENCODINGS = {  # by the mark that a file in them begins with
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def read_source(path: Path, name: str | None = None) -> Source:
    """Return the text of a file without a byte-order mark, and with its line ends unchanged. `name` is the name for
    messages. Raises SpecError."""
    name = str(path) if name is None else name
    return decode(read_bytes(path, name), name)


def read_bytes(path: Path, name: str) -> bytes:
    """Return the bytes of a file, which need not be text. Raises SpecError."""
    try:
        with path.open("rb") as file:
            return read_stream(file, name)
    except FileNotFoundError:
        raise syntax_errors.FileMissing(None, name, neighbour(path)).error() from None
    except IsADirectoryError:
        raise syntax_errors.NotAFile(None, name, _specs(path)).error() from None
    except OSError as error:
        raise syntax_errors.UnreadableSpec(None, name, (error.strerror or str(error)).lower()).error() from None
    except ValueError as error:  # a NUL in the path
        raise syntax_errors.UnreadableSpec(None, name, str(error)).error() from None


def read_stream(file: BinaryIO, name: str) -> bytes:
    """Return the whole content of a file or a pipe. Raises SpecError if that is too much for a spec."""
    data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise syntax_errors.TooLarge(None, name, MAX_BYTES).error()
    return data


def decode(data: bytes, name: str) -> Source:
    """Return the source whose bytes are `data`. Raises SpecError if the bytes are not text in UTF-8."""
    mark = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    try:
        text = data[mark:].decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start + mark
        place = _place(data, mark, at, name)
        raise syntax_errors.NotText(place, data[at], at, _likely(data)).error() from None
    if "\0" in text:
        at = data.index(b"\0")
        raise syntax_errors.HoldsNul(_place(data, mark, at, name), at).error()
    return Source(name, text)


def _place(data: bytes, mark: int, at: int, name: str) -> Span:
    """Return the span of the character at byte `at`. The span's source shows undecodable bytes as U+FFFD."""
    start = len(data[mark:at].decode("utf-8"))
    return Span(Source(name, data[mark:].decode("utf-8", "replace")), start, start + 1)


def _likely(data: bytes) -> str:
    for mark, encoding in _OTHER_ENCODINGS.items():
        if data.startswith(mark):
            return encoding
    printable = sum(byte >= 0x20 or byte in b"\t\r\n" for byte in data)
    return "Latin-1 or Windows-1252" if printable == len(data) else ""


def neighbour(path: Path) -> str | None:
    """Return the existing path that is most similar to a missing one, or None if no path is similar."""
    try:
        folder = next(above for above in path.parents if above.is_dir())
        missing, *rest = path.relative_to(folder).parts
        found = did_you_mean(missing, sorted(entry.name for entry in os.scandir(folder)))
    except (OSError, ValueError, StopIteration):
        return None
    if found is None and (folder / f"{missing}.bench").is_file():
        found = f"{missing}.bench"
    return str(folder.joinpath(found, *rest)) if found else None


def _specs(folder: Path) -> tuple[str, ...]:
    try:
        return tuple(str(path) for path in sorted(folder.glob("*.bench"))[:_SHOWN])
    except OSError:
        return ()
