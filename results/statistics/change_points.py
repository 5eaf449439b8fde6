"""Finds change points of a series, by E-divisive means with a t test.

The statistic and the division are from D. S. Matteson and N. A. James, "A Nonparametric Approach for Multiple Change
Point Analysis of Multivariate Data", Journal of the American Statistical Association 109 (2014). Their use on nightly
results is from D. Daly et al., "The Use of Change Point Detection to Identify Software Performance Regressions in a
Continuous Integration System", ICPE 2020. The windows, and a t test instead of permutations, are from M. Fleming et
al., "Hunter", ICPE 2023. The t test makes the result deterministic, and it detects a change with certainty after only a
few values.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.runners.scheduling.confidence_interval import LARGEST

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LENGTHS = (1, 2, 3, 5, 7)
"""How many of the last values are tested as a new level. Each of these numbers is tried, because a long change is
easier to detect than a short one."""
FEWEST = 6
"""The fewest values of a level. With fewer, little is known about the noise."""


@dataclass(frozen=True)
class Departure:
    """The last `length` values, for the length at which they differ most from the `level` of the values before them.
    `change` is the difference of the two means.

    `p` is the p-value of Student's t test, one-sided if a direction is given, times the number of lengths tried.
    """

    length: int
    level: tuple[float, ...]
    change: float
    p: float


def departure(values: Sequence[float], start: int, direction: int) -> Departure | None:
    """Test the last values of a series against the earlier values from `start` on.

    `direction` is 1 if only a rise counts, -1 if only a fall counts, and 0 if both count. Returns None if there are
    fewer than `FEWEST` earlier values, or if a value is not a number.
    """
    tried = [length for length in LENGTHS if len(values) - length - start >= FEWEST]
    if not tried or not all(abs(value) <= LARGEST for value in values[start:]):
        return None
    best: Departure | None = None
    for length in tried:
        level, last = values[start : len(values) - length], values[len(values) - length :]
        p = min(1.0, p_of_shift(level, last, direction) * len(tried))
        if best is None or p < best.p:
            best = Departure(length, tuple(level), fmean(last) - fmean(level), p)
    return best


def p_of_shift(level: Sequence[float], last: Sequence[float], direction: int) -> float:
    """Return the p-value of Student's t test for equal means. The test is one-sided if `direction` is 1 or -1.

    The p-value is 1 if the noise is unknown, because there are fewer than three values or one of them is not a number.
    If the values vary only by rounding, it is 1 for equal means and 0 for different means.
    """
    from scipy.special import stdtr

    freedom = len(level) + len(last) - 2
    if freedom < 1 or not level or not last or not all(abs(x) <= LARGEST for x in (*level, *last)):
        return 1.0
    apart = fmean(last) - fmean(level)
    toward = abs(apart) if direction == 0 else apart * direction
    if toward <= 0:
        return 1.0
    square = (sum((x - fmean(level)) ** 2 for x in level) + sum((x - fmean(last)) ** 2 for x in last)) / freedom
    if square <= (1e-12 * max(abs(fmean(level)), abs(fmean(last)), 1e-300)) ** 2:
        return 0.0 if toward > 1e-9 * max(abs(fmean(level)), abs(fmean(last))) else 1.0
    tail = float(stdtr(freedom, -toward / (square * (1 / len(level) + 1 / len(last))) ** 0.5))
    return tail if direction else 2 * tail


WINDOW = 50
"""How many values are divided together. In a longer window, two changes may mask each other; in a shorter one, changes
are hard to detect."""
LEVEL = 1e-4
"""The p-value below which a change counts. It is small because each of a window's 49 positions may show a change by
chance."""
LEAST = 2
"""The fewest values on each side of a change."""
_FIRST_PASS = 10.0
"""The p-value of a candidate may be this many times `LEVEL`. A neighbouring change can make a change look less certain
than it is."""


@dataclass(frozen=True)
class ChangePoint:
    """A change in a series. `index` is the index of the first value after the change. `p` is the two-sided p-value of
    the t test for equal means on both sides, up to the neighbouring changes. It is 0 if nothing varies."""

    index: int
    p: float
    before: float
    after: float


def change_points(
    values: Sequence[float], *, level: float = LEVEL, window: int = WINDOW, least: int = LEAST
) -> list[ChangePoint]:
    """Return the changes in a series, in order. Each change has at least `least` values on both sides.

    Returns no changes if a value is not finite.
    """
    import numpy as np

    series = np.asarray(values, dtype=float)
    if not (np.abs(series) <= LARGEST).all():
        return []
    found = _candidates(series, min(level * _FIRST_PASS, 0.05), window, least)
    while found:
        tested = _tested(series, found)
        weakest = max(tested, key=lambda each: each.p)
        short = [each for each, size in zip(tested, _shorter(found, len(series)), strict=True) if size < least]
        if not short and weakest.p < level:
            return tested
        found.remove(max(short, key=lambda each: each.p).index if short else weakest.index)
    return []


def divergence(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the statistic at [t, k] of dividing the first k values at t, for 0 < t < k. All other elements are -inf.

    With n values before t and m values after t, the statistic is 2 / (n + m) times the sum of the distances between the
    two groups, minus 2 m / ((n + m) (n - 1)) times the sum within the n values, minus the corresponding term for the m
    values.
    """
    import numpy as np

    size = len(values)
    sums = np.zeros((size + 1, size + 1))
    sums[1:, 1:] = np.abs(values[:, None] - values[None, :]).cumsum(axis=0).cumsum(axis=1)
    own = np.diagonal(sums)
    t, k = np.arange(size + 1.0)[:, None], np.arange(size + 1.0)[None, :]
    n, m = t, k - t
    with np.errstate(divide="ignore", invalid="ignore"):
        across = 2 / (n + m) * (sums - own[:, None])
        before = np.where(n > 1, m / ((n + m) * (n - 1)), 0.0) * own[:, None]
        after = np.where(m > 1, n / ((n + m) * (m - 1)), 0.0) * (own[None, :] - 2 * sums + own[:, None])
        found: NDArray[np.float64] = np.where((t > 0) & (t < k), across - before - after, -np.inf)
    return found


def p_of_means(a: Any, b: Any) -> float:
    """Return the two-sided p-value of Student's t test for equal means, for arrays with equal variances.

    The p-value is 1 if there are fewer than three values, a side is empty, or a value is not a number. If nothing
    varies on either side, it is 1 for equal means and 0 for different means.
    """
    from scipy.special import stdtr

    freedom = len(a) + len(b) - 2
    if freedom < 1 or not len(a) or not len(b) or not (abs(a).max() <= LARGEST and abs(b).max() <= LARGEST):
        return 1.0
    apart = float(abs(a.mean() - b.mean()))
    spread = float(((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()) / freedom
    scale = max(abs(float(a.mean())), abs(float(b.mean())))
    if spread <= (1e-12 * scale) ** 2:  # rounding alone
        return 0.0 if apart > 1e-9 * scale else 1.0
    return float(2 * stdtr(freedom, -apart / (spread * (1 / len(a) + 1 / len(b))) ** 0.5))


def _candidates(series: NDArray[np.float64], level: float, window: int, least: int) -> list[int]:
    """Return the indices at which to divide windows. Windows overlap by half, so that each change has values on both
    sides in at least one window."""
    import numpy as np

    size, step = len(series), max(1, window // 2)
    whole = max(0, size - window + 1)
    found: set[int] = set()
    if whole:
        windows = np.lib.stride_tricks.sliding_window_view(series, window)[::step]
        for place in np.flatnonzero(_may_differ(windows, level)):
            found.update(int(place) * step + at for at in _divided(windows[place], level, least))
    rest = -(-whole // step) * step
    found.update(rest + at for at in _divided(series[rest:], level, least))
    return sorted(found)


def _may_differ(windows: NDArray[np.float64], level: float) -> NDArray[np.bool_]:
    """For each window, return whether its two sides may differ at any index. This is false for most windows, which then
    need no distances."""
    import numpy as np
    from scipy.special import stdtrit

    size = windows.shape[-1]
    centred = windows - windows.mean(axis=-1, keepdims=True)
    n = np.arange(1, size)
    m = size - n
    sums = centred.cumsum(axis=-1)[..., :-1]
    between = sums**2 * (1 / n + 1 / m)  # the sum of squares that the division explains
    whole = (centred**2).sum(axis=-1, keepdims=True)
    least = float(stdtrit(size - 2, 1 - level / 2)) ** 2
    # t² = (size - 2) between / (whole - between); a little is left for rounding
    differ: NDArray[np.bool_] = ((size - 2) * between >= 0.99 * least * (whole - between)).any(axis=-1)
    return differ


def _divided(values: NDArray[np.float64], level: float, least: int) -> list[int]:
    """Return the indices that divide the values. Each is the index with the highest statistic in all parts so far.
    Dividing ends when the two sides no longer differ."""
    ends = [0, len(values)]
    while True:
        best: tuple[float, int, int, int] | None = None
        for low, high in pairwise(ends):
            if high - low >= 2 * least:
                height, at = _peak(values[low:high], least)
                if best is None or height > best[0]:
                    best = height, low + at, low, high
        if best is None or p_of_means(values[best[2] : best[1]], values[best[1] : best[3]]) > level:
            return ends[1:-1]
        ends = sorted([*ends, best[1]])


def _peak(values: NDArray[np.float64], least: int) -> tuple[float, int]:
    """Return the highest statistic and its index, leaving at least `least` values on both sides."""
    import numpy as np

    places = np.arange(len(values) + 1)
    near = (places[:, None] < least) | (places[None, :] - places[:, None] < least)
    heights = np.where(near, -np.inf, divergence(values))
    place = int(heights.argmax())
    return float(heights.flat[place]), place // heights.shape[1]


def _tested(series: NDArray[np.float64], found: Sequence[int]) -> list[ChangePoint]:
    ends = [0, *found, len(series)]
    tested = []
    for low, at, high in zip(ends, ends[1:], ends[2:], strict=False):
        before, after = series[low:at], series[at:high]
        tested.append(ChangePoint(at, p_of_means(before, after), float(before.mean()), float(after.mean())))
    return tested


def _shorter(found: Sequence[int], size: int) -> list[int]:
    """Return, for each change, the number of values on its shorter side."""
    ends = [0, *found, size]
    return [min(at - low, high - at) for low, at, high in zip(ends, ends[1:], ends[2:], strict=False)]
