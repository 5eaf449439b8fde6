"""The sum that ends each line of a journal: it vouches for the line, and for every line before it.

    {"at":1.5,"type":"cell_skipped",...,"sum":"0123456789abcdef0123456789abcdef"}

It is the first half of the SHA-256 of the sum before and of the line without its own sum. A flipped bit, and a line
that was edited, removed, added or moved, gives another sum there and on every line after it. Journals from before there
were sums have none; the first sum after such lines vouches for them, too.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from benchbrief.runners.journal.events import RECORD, AnyRecord

_BEGIN, _END = b',"sum":"', b'"}\n'
_DIGITS = 32


class Changed(ValueError):
    """A line does not have the sum that it was written with."""


class Chain(NamedTuple):
    """How far a journal was read or written: the sum up to here, and whether the last line carries it."""

    sum: str = ""
    carried: bool = False


START = Chain()


def write_line(record: AnyRecord, before: Chain) -> tuple[bytes, Chain]:
    """Return the line of a record, with its end, and the chain after it."""
    body = record.model_dump_json().encode()
    after = Chain(_sum(before, body), carried=True)
    return body[:-1] + _BEGIN + after.sum.encode() + _END, after


def read_line(line: bytes, before: Chain) -> tuple[bytes, Chain]:
    """Return the JSON of a complete line without its sum, and the chain after it. Raises Changed."""
    body, said = _parted(line)
    if not said and before.carried:
        raise Changed
    after = Chain(_sum(before, body), bool(said))
    if said and after.sum.encode() != said:
        raise Changed
    return body, after


def chain_after(line: bytes) -> Chain | None:
    """Return the chain after a complete line, as the line states it; None for a line without a sum."""
    said = _parted(line)[1]
    return Chain(said.decode("ascii", "replace"), carried=True) if said else None


def record_after(previous: bytes, line: bytes) -> AnyRecord:
    """Return the record of a line that follows `previous` (b"" for the first line).

    Raises ValueError when the line holds no record, and Changed when the two lines show that it was changed.
    """
    before = chain_after(previous) if previous else START
    return RECORD.validate_json(read_line(line, before)[0]) if before else record_in(line)


def record_in(line: bytes) -> AnyRecord:
    """Return the record of a line whose sum is checked elsewhere. Raises ValueError when it holds none."""
    return RECORD.validate_json(_parted(line)[0])


def _parted(line: bytes) -> tuple[bytes, bytes]:
    """Split a line into its JSON without its sum, and the sum; b"" when it has none."""
    end = len(line) - len(_END)
    if line.endswith(_END) and line.startswith(_BEGIN, begin := end - _DIGITS - len(_BEGIN)):
        return line[:begin] + b"}", line[end - _DIGITS : end]
    return line.removesuffix(b"\n"), b""


def _sum(before: Chain, body: bytes) -> str:
    return hashlib.sha256(before.sum.encode() + body).hexdigest()[:_DIGITS]
