"""Remarks of a run that differ only in their numbers, as one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

_AMOUNT = re.compile(r"(?<![\w.,/:@-])\d[\d,]*(?:\.\d+)?(?![\w/:@-])(?!\.\d)")
"""A number that stands alone: none of a name, a path or a version."""


def alike(rows: Iterable[Sequence[Any]]) -> list[tuple[str, str, int]]:
    """Remarks (severity, text, cells) that differ only in their numbers as one, with the range of each number."""
    groups: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for severity, text, cells in rows:
        groups.setdefault((severity, _AMOUNT.sub("#", text)), []).append((text, cells))
    found = []
    for (severity, _), same in groups.items():
        ends = zip(*(_AMOUNT.findall(text) for text, _ in same), strict=True)
        between = _AMOUNT.split(same[0][0])
        text = between[0] + "".join(_range(end) + after for end, after in zip(ends, between[1:], strict=True))
        found.append((severity, text, sum(cells for _, cells in same)))
    return found


def _range(amounts: Sequence[str]) -> str:
    """`20`, `40`, `30` -> `20–40`."""
    ordered = sorted(dict.fromkeys(amounts), key=lambda amount: float(amount.replace(",", "")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]}–{ordered[-1]}"
