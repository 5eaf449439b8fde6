"""SHA-256 digests in a form that people can compare."""

from __future__ import annotations

from benchbrief.runners.journal.atomic_files import sha256_of

__all__ = ["changed_text", "sha256_of", "shorten_digests"]

_DIGITS = 12


def shorten_digests(one: str, other: str) -> tuple[str, str]:
    """Shorten two digests so that they show digits in which they differ.

    That is `0123456789ab`, or `…789abcdef012` from a later place.
    """
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    if at < _DIGITS:
        return one[:_DIGITS], other[:_DIGITS]
    begin = min(at - 2, max(len(one), len(other)) - _DIGITS)
    return f"…{one[begin : begin + _DIGITS]}", f"…{other[begin : begin + _DIGITS]}"


def changed_text(found: str, recorded: str) -> str:
    """`SHA-256 ab12..., recorded cd34...`"""
    now, then = shorten_digests(found, recorded)
    return f"SHA-256 {now}, recorded {then}"
