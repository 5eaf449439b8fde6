"""The keys of a core workload's records, by their numbers."""

from __future__ import annotations

from typing import Literal

_OFFSET, _PRIME = 0xCBF29CE484222325, 1099511628211
_BITS, _BYTES = 64, 8


def inserted_key(number: int, order: Literal["little", "big"] | None, padding: int = 1) -> str:
    """Return the key of a record: a FNV hash of its number, whose bytes YCSB takes in one order, go-ycsb in the other.

    Without an order it is the number itself. Either is filled up with zeros to `padding` digits.

    Sources: `CoreWorkload.buildKeyName` and `Utils.fnvhash64` of YCSB 0.17, `util.Hash64` of go-ycsb.
    """
    return f"user{number if order is None else _hashed(number, order):0{padding}d}"


def _hashed(number: int, order: Literal["little", "big"]) -> int:
    found = _OFFSET
    for byte in number.to_bytes(_BYTES, order):
        found = (found ^ byte) * _PRIME % (1 << _BITS)
    return (1 << _BITS) - found if found >> (_BITS - 1) else found
