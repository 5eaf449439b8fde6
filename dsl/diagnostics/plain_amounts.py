"""Durations, sizes, counts and lists of names as people write them."""

from __future__ import annotations

import math
from collections.abc import Iterable

_SIZES = (
    *((1e12, "TB"), (2.0**40, "TiB"), (1e9, "GB"), (2.0**30, "GiB")),
    *((1e6, "MB"), (2.0**20, "MiB"), (1e3, "kB"), (2.0**10, "KiB")),
)


def duration(seconds: float) -> str:
    """Return a time in its two largest units: `250 ms`, `4 s`, `4 min 16 s`, `2 h 5 min`, `3 d 4 h`."""
    if 0 < seconds < 1:
        return f"{seconds * 1000:g} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    parts: list[str] = []
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, whole = divmod(whole, size)
        if count or parts:
            parts.append(f"{count} {unit}" if count else "")
    return " ".join(part for part in parts[:2] if part)


def about(seconds: float) -> str:
    """Return an estimated time, with two digits below a minute: `about 5.1 s`, `about 4 min 16 s`."""
    places = 0 if seconds >= 10 else 1 if seconds >= 1 else 2
    return f"about {duration(math.floor(seconds * 10**places + 0.5) / 10**places)}"


def enough_time(seconds: float) -> str:
    """Return the time rounded up to a single unit, in the form that a spec accepts: `45 s`, `12 min`, `30 h`."""
    size, unit = _enough(seconds)
    return f"{math.ceil(seconds / size)} {unit}"


def enough_time_in_words(seconds: float) -> str:
    """Return the result of `enough_time`, followed by the time in two units if that is easier to read: `183 min (3 h 3
    min)`."""
    least, size = enough_time(seconds), _enough(seconds)[0]
    worded = duration(math.ceil(seconds / size) * size)
    return least if worded == least else f"{least} ({worded})"


def _enough(seconds: float) -> tuple[int, str]:
    return (3600, "h") if seconds > 36000 else (60, "min") if seconds > 120 else (1, "s")


def plural(count: int, noun: str, several: str = "") -> str:
    """Return `1 cell` or `12,000 cells`. `several` is the plural if it is irregular."""
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"


def first_of(names: Iterable[str], limit: int) -> str:
    """Return the first few words and the number of the others, as in `a, b, c and 12 more`."""
    every = list(names)
    shown = ", ".join(every[:limit])
    return shown if len(every) <= limit else f"{shown} and {len(every) - limit} more"


def ticked(words: Iterable[str], limit: int = 8) -> str:
    """Return the first few words in backticks and the number of the others, as in "`a`, `b`, `c` and 12 more"."""
    return first_of((f"`{word}`" for word in words), limit)


def quantity_of_bytes(count: float) -> str:
    """Return a size such as `400 B`, `1 kB` or `8 MiB`, in the unit that gives the shortest text, decimal or binary,
    with at most three decimals."""
    fitting = [f"{count / size:g} {unit}" for size, unit in _SIZES if count / size == round(count / size, 3) >= 1]
    return min(fitting, key=len) if fitting else f"{count:,.0f} B"
