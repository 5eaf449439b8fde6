"""Estimates how far the highest of several noisy means is too high. It was chosen partly for its noise (the winner's
curse).

The means of the repeats scatter around the true means by their standard error. The true means are unknown, so they are
simulated in two ways, and a value between the two results is used. The first way uses the means as they are; these are
too far apart, so the result is too small. The second way draws true means that explain the observed ones, from the
distribution that makes them most likely (J. Kiefer and J. Wolfowitz, "Consistency of the Maximum Likelihood Estimator",
Annals of Mathematical Statistics 27 (1956)), as in B. Efron, "Tweedie's Formula and Selection Bias", Journal of the
American Statistical Association 106 (2011). With few means, its result is a little too large. `benchmarks/README.md`
says how well this works.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Numbers = NDArray[np.float64]

_DRAWS, _SEED = 400, 20111
_BETWEEN = 0.75
"""The place of the used value between the results of the first way (0) and the second way (1). The number was chosen by
simulation."""
_GRID, _ROUNDS = 41, 300
_MOST_POINTS = 200
"""The most points to use. If there are more, only the highest are used, because the others hardly ever win."""

_LARGEST = 1e100
"""The largest value to compute with, since a float can't hold the variance of larger ones."""


def overstatement(repeats: Sequence[Sequence[float]]) -> float | None:
    """Return how far the highest mean of these points is too high on average. Returns None if no point was repeated, or
    if numbers are too large to tell.

    The noise is estimated from all points together, because each has few repeats.
    """
    import numpy as np

    repeats = [values for values in repeats if values]
    if any(not abs(value) < _LARGEST for values in repeats for value in values):
        return None
    several = [values for values in repeats if len(values) > 1]
    if not several or len(repeats) < 2:
        return None
    freedom = sum(len(values) - 1 for values in several)
    sd = math.sqrt(sum(statistics.variance(values) * (len(values) - 1) for values in several) / freedom)
    if not 0 < sd < math.inf:
        return 0.0 if sd == 0 else None
    sd *= 1 + 1 / (4 * freedom)  # the root of a variance is too small on average
    highest = sorted(repeats, key=statistics.fmean)[-_MOST_POINTS:]
    means = np.array([statistics.fmean(values) for values in highest])
    errors = sd / np.sqrt([len(values) for values in highest])
    draw = np.random.default_rng(_SEED)
    as_they_are = np.broadcast_to(means, (_DRAWS, len(means)))
    with np.errstate(all="ignore"):  # numbers out of range give no answer
        least, most = (_excess(true, errors, draw) for true in (as_they_are, _true_means(means, errors, draw)))
    found = least + _BETWEEN * (most - least)
    return max(0.0, found) if math.isfinite(found) else None


def _excess(true: _Numbers, errors: _Numbers, draw: np.random.Generator) -> float:
    """Return by how much the highest of several noisy means exceeds the true mean of its point, on average over the
    rows."""
    import numpy as np

    noisy = true + errors * draw.normal(size=true.shape)
    place = noisy.argmax(axis=1)[:, None]
    return float((np.take_along_axis(noisy, place, 1) - np.take_along_axis(true, place, 1)).mean())


def _true_means(means: _Numbers, errors: _Numbers, draw: np.random.Generator) -> _Numbers:
    """Return possible true means for the observed means. Each row is one possibility."""
    import numpy as np

    grid = np.linspace(means.min(), means.max(), _GRID)
    likely = np.exp(-0.5 * ((means[:, None] - grid) / errors[:, None]) ** 2)
    weights = np.full(_GRID, 1 / _GRID)
    for _ in range(_ROUNDS):
        given = likely * weights
        given /= given.sum(axis=1, keepdims=True)
        weights = given.mean(axis=0)
    below = (likely * weights).cumsum(axis=1)
    chosen = (draw.random((_DRAWS, len(means), 1)) * below[:, -1:] > below).sum(axis=2)
    return np.asarray(grid[np.minimum(chosen, _GRID - 1)], dtype=np.float64)
