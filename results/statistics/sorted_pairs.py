"""Gives access to the sorted differences or ratios of all pairs from two sets of values, without keeping all of them in
memory.

Thousands of repeats make many millions of pairs, but an interval needs only four pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

FEW = 50_000
"""The most pairs to sort in memory."""


class SortedPairs:
    """A sorted sequence of the differences, or the ratios, between each value of b and each value of a."""

    def __init__(self, a: Sequence[float], b: Sequence[float], *, by_ratio: bool) -> None:
        import numpy as np  # here, since it takes long to import

        self._of: Any = np.divide if by_ratio else np.subtract
        self._np = np
        self._above = np.asarray(b, dtype=float)
        self._below = np.sort(np.asarray(a, dtype=float))[::-1]
        self._sorted = self._among(None) if len(self) <= FEW else None

    def __len__(self) -> int:
        return len(self._above) * len(self._below)

    @property
    def median(self) -> float:
        middle = len(self) // 2
        return self[middle] if len(self) % 2 else (self[middle - 1] + self[middle]) / 2

    def __getitem__(self, place: int) -> float:
        """Return the value at an index, which counts from 0, or from the end if negative.

        The pairs of each value of b form a sorted row. Each step computes the median of the rows' medians and drops the
        pairs that can't contain the wanted one. Algorithm: D. B. Johnson and T. Mizoguchi, "Selecting the Kth Element
        in X + Y and X1 + X2 + ... + Xm", SIAM Journal on Computing 7 (1978).
        """
        if place < 0:
            place += len(self)
        if self._sorted is not None:
            return float(self._sorted[place])
        np, rows = self._np, len(self._above)
        first, end = np.zeros(rows, dtype=int), np.full(rows, len(self._below))
        while (left := end - first).sum() > FEW:
            some = left > 0
            middles = self._of(self._above[some], self._below[(first[some] + end[some]) // 2])
            order = np.argsort(middles)
            counted = np.cumsum(left[some][order])
            pivot = middles[order[np.searchsorted(counted, counted[-1] / 2)]]
            below, up_to = self._below_value(pivot), self._below_value(np.nextafter(pivot, np.inf))
            if place < below.sum():
                end = np.minimum(end, below)
            elif place >= up_to.sum():
                first = np.maximum(first, up_to)
            else:
                return float(pivot)
        return float(self._among((first, end))[place - first.sum()])

    def _below_value(self, value: float) -> Any:
        """For each value of b, return how many of its pairs are below a value."""
        np = self._np
        low, high = np.zeros(len(self._above), dtype=int), np.full(len(self._above), len(self._below))
        while (open_ := low < high).any():
            middle = (low + high) // 2
            is_below = self._of(self._above, self._below[np.minimum(middle, len(self._below) - 1)]) < value
            low = np.where(open_ & is_below, middle + 1, low)
            high = np.where(open_ & ~is_below, middle, high)
        return low

    def _among(self, places: tuple[Any, Any] | None) -> Any:
        """Return all pairs in order. With `places`, return for each value of b only its pairs from a first position up
        to another position."""
        np = self._np
        if places is None:
            return np.sort(self._of(self._above[:, None], self._below[None, :]), axis=None)
        kept = zip(self._above, *places, strict=True)
        return np.sort(np.concatenate([self._of(above, self._below[first:end]) for above, first, end in kept]))
