"""Which known word was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

_LONGEST = 64  # of a word worth comparing: names are short, and a spec may hold a word of megabytes

_DOUBLED = re.compile(r"(.)\1+")


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `word` is most likely a slip for, or None when none is near enough.

    Case, `-` against `_`, missing separators and a plural s count for almost nothing; a swap of neighbours counts as
    one slip. About one slip is allowed for every three letters. Of two that are equally near, the one that begins like
    `word` for longer is meant.
    """
    if not word or len(word) > _LONGEST:
        return None
    best: tuple[tuple[float, int], str] | None = None
    for candidate in candidates:
        if candidate == word or not candidate or len(candidate) > _LONGEST:
            continue
        cost = _cost(word, candidate)
        if cost is None:
            continue
        rank = (cost, -_alike(word, candidate))
        if best is None or rank < best[0]:
            best = (rank, candidate)
    return best[1] if best else None


def likely(word: str, candidates: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """The candidates that `word` may be a slip for, the likeliest first."""
    left = list(candidates)
    found: list[str] = []
    while len(found) < most and (guess := did_you_mean(word, left)):
        found.append(guess)
        left.remove(guess)
    return tuple(found)


def one_slip(word: str, other: str) -> bool:
    """Whether two words of some length differ by one letter left out, or by two that changed places.

    Stricter than a suggestion needs: `cpu` and `gpu`, `disk1` and `disk2` are different words.
    """
    if word == other or min(len(word), len(other)) < 4:
        return False
    swapped = sorted(word) == sorted(other)
    return (swapped or len(word) != len(other)) and _distance(word, other, 1) == 1


def _alike(word: str, candidate: str) -> int:
    """With how many same letters two words begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, candidate, strict=False)))


def _cost(word: str, candidate: str) -> float | None:
    a, b = _plain(word), _plain(candidate)
    if a == b:
        return 0.0
    if a.rstrip("s") == b.rstrip("s"):
        return 0.1
    if _DOUBLED.sub(r"\1", a) == _DOUBLED.sub(r"\1", b):
        return 0.5  # a letter typed twice, which is the only slip that a name of one letter allows for
    allowed = max(1, min(len(a), len(b)) // 3) if min(len(a), len(b)) > 1 else 0
    slips = _distance(a, b, allowed)
    if slips <= allowed:
        # One wrong letter in a word of two is no likeness; one left out or swapped is.
        if min(len(a), len(b)) <= 2 and len(a) == len(b) and sorted(a) != sorted(b):
            return None
        if sorted(a) == sorted(b):
            return 0.8 * slips  # letters swapped: rarer by chance than a wrong one
        return slips + (0.0 if a[0] == b[0] else 0.5)
    if min(len(a), len(b)) >= 3 and (b.startswith(a) or (a.startswith(b) and len(b) >= 4)):
        return 4.0 + abs(len(a) - len(b)) / _LONGEST  # cut short: `thr` for `threads`
    return None


def _plain(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "").replace(" ", "") or word


def _distance(a: str, b: str, limit: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between two words (optimal string alignment)."""
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, char in enumerate(a, 1):
        before, above, row = row, before, [i] + [0] * len(b)
        for j, other in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (char != other))
            if above and j > 1 and char == b[j - 2] and a[i - 2] == other:
                cost = min(cost, above[j - 2] + 1)
            row[j] = cost
        if min(row) > limit and (not above or min(before) > limit):
            return limit + 1
    return row[-1]
