"""Student's t: its quantiles, for intervals of means and of differences of means, and its tails, for tests of them.

SciPy has them too, and the tests hold these against SciPy's. Importing it takes some 0.4 s of processor time, a tenth
of what a whole brief does, and most briefs and comparisons would need nothing else of it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_MOST_STEPS = 1000
"""A dozen do."""


@lru_cache(maxsize=4096)
def t_quantile(freedom: float, p: float) -> float:
    """The t below which the share `p`, from 0.5 to 1, of Student's distribution lies; NaN without a degree of freedom.

    By Newton's method. Above 0 the distribution's function is concave, so that from the left of the root, where the
    normal distribution has its quantile, each step comes nearer and none goes beyond.
    """
    if not 0.5 <= p < 1:
        raise ValueError(f"a quantile of {p} is not in the upper half")
    if not freedom > 0:
        return math.nan
    t = NormalDist().inv_cdf(p)
    if math.isinf(freedom):
        return t
    for _ in range(_MOST_STEPS):
        step = (p - 0.5 - _between(t, freedom)) / _density(t, freedom)
        t += step
        if abs(step) <= 1e-13 * t:
            break
    return t


def two_tails(freedom: float, t: float) -> float:
    """The share of Student's distribution that lies farther from 0 than `t`, on either side."""
    beyond = _beyond(abs(t), freedom)
    return 1 - 2 * _between(abs(t), freedom) if beyond is None else 2 * beyond


def _density(t: float, freedom: float) -> float:
    scale = _log_ratio_of_gammas(freedom / 2) - math.log(freedom * math.pi) / 2
    return math.exp(scale - (freedom + 1) / 2 * math.log1p(t * t / freedom))


def _log_ratio_of_gammas(a: float) -> float:
    """log(gamma(a + 1/2) / gamma(a)); for a large a, whose gammas leave their ratio few digits, by its expansion in 1/a
    (the logarithm of that of the NIST Digital Library of Mathematical Functions, 5.11.13)."""
    if a < 20:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    return math.log(a) / 2 - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5) + 17 / (14336 * a**7)


def _between(t: float, freedom: float) -> float:
    """The share between 0 and t: half the regularized incomplete beta function of 1/2 and freedom / 2 at t^2 / (freedom
    + t^2), by its series of the density times t (NIST Digital Library of Mathematical Functions, 8.17.7 and 8.17.8)."""
    beyond = _beyond(t, freedom)
    if beyond is not None:
        return 0.5 - beyond
    return _density(t, freedom) * t * _series((freedom + 1) / 2, 1.5, t * t / (freedom + t * t))


def _beyond(t: float, freedom: float) -> float | None:
    """The share above t, by the same series with 1/2 and freedom / 2 exchanged: exact however small it is. None where t
    is so small that the other one converges faster, and what lies above it large enough to be taken from a half."""
    x = freedom / (freedom + t * t)
    return (
        None
        if x > 0.5 and t < 4
        else _density(t, freedom) * t / freedom * _series((freedom + 1) / 2, freedom / 2 + 1, x)
    )


def _series(above: float, below: float, x: float) -> float:
    """The hypergeometric function F(above, 1; below; x), with terms that are all positive."""
    total = term = 1.0
    while term > 1e-17 * total:
        term *= above / below * x
        total += term
        above, below = above + 1, below + 1
    return total
