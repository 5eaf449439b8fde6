"""Fits the Universal Scalability Law to a ramp of load.

N. J. Gunther, "Guerrilla Capacity Planning" (2007), chapter 4: X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)).
N is the load (threads), lambda is the throughput of one thread, sigma is the serial share of the work (contention), and
kappa is the cost of keeping each pair of threads coherent. If kappa is above 0, the throughput has a peak at N* =
sqrt((1 - sigma) / kappa).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.budgets import LEVEL
from benchbrief.model.precision import share_text
from benchbrief.runners.scheduling.confidence_interval import LARGEST

FEWEST_POINTS = 4
"""The fewest points for a fit, which is one more than the number of parameters. Gunther recommends six points for a
reliable fit."""
LEAST_R2 = 0.9
_TOLERANCE = 1e-12
FARTHEST = 4.0
"""The largest load at which a peak is reported, as a multiple of the highest measured load. The data can't support a
peak beyond it."""


@dataclass(frozen=True)
class Usl:
    """The fitted law with standard errors (`_se`): lambda in the throughput's unit, sigma and kappa as shares.

    `r2` is the share of the throughput's variance that the law explains. `peak` is the highest throughput that it
    predicts, at the load `peak_load`. Both are None if the throughput rises for ever or falls from the first thread on,
    if kappa does not differ from 0 (Student's t, one-sided, at `LEVEL`), or if the peak is beyond `FARTHEST`.
    """

    ideal: float
    sigma: float
    kappa: float
    ideal_se: float
    sigma_se: float
    kappa_se: float
    r2: float
    peak: float | None
    peak_load: float | None


@dataclass(frozen=True)
class NoFit:
    """The reason why no law could be fitted."""

    reason: str


def fit_usl(loads: Sequence[float], rates: Sequence[float]) -> Usl | NoFit:
    """Fit the Universal Scalability Law by non-linear least squares, with 0 <= sigma <= 1 and kappa >= 0. Returns NoFit
    with the reason if that is impossible."""
    if len(set(loads)) < FEWEST_POINTS:
        return NoFit(f"the law takes {FEWEST_POINTS} loads, and there are {len(set(loads))}")
    if not all(0 < value <= LARGEST for value in (*loads, *rates)):
        return NoFit("the law is of loads and throughputs above 0")
    if max(rates) == min(rates):
        return NoFit("the throughput is the same at all loads")
    try:
        return _fitted(loads, rates)
    except (RuntimeError, ArithmeticError, ValueError):  # also if intermediate numbers overflow
        return NoFit("the fit does not come to an end")


def _fitted(loads: Sequence[float], rates: Sequence[float]) -> Usl | NoFit:
    from scipy.optimize import curve_fit

    scale = max(rates)  # all three parameters near 1, whatever the unit
    start = (max(rate / load for load, rate in zip(loads, rates, strict=True)) / scale, 0.05, 1e-4)
    found, covariance = curve_fit(  # type: ignore[call-overload]  # arithmetic takes arrays too
        _law,
        list(loads),
        [rate / scale for rate in rates],
        p0=start,
        bounds=((0.0, 0.0, 0.0), (math.inf, 1.0, math.inf)),
        x_scale=(start[0], 0.1, 1e-3),
        max_nfev=5000,
        method="dogbox",  # the default never reaches a bound, where a linear ramp lies
        ftol=_TOLERANCE,
        xtol=_TOLERANCE,
        gtol=_TOLERANCE,
    )
    ideal, sigma, kappa = float(found[0]) * scale, float(found[1]), float(found[2])
    errors = [math.sqrt(covariance[i][i]) for i in range(3)]
    left = sum((rate - _law(load, ideal, sigma, kappa)) ** 2 for load, rate in zip(loads, rates, strict=True))
    r2 = 1 - left / (statistics.pvariance(rates) * len(rates))
    if not r2 >= LEAST_R2:
        explained = f"the law explains {share_text(max(r2, 0.0))} of the throughput's variance"
        return NoFit(f"{explained}, and {share_text(LEAST_R2)} is asked for")
    at = math.sqrt((1 - sigma) / kappa) if _differs_from_zero(kappa, errors[2], len(loads) - 3) else None
    peak = _law(at, ideal, sigma, kappa) if at is not None and 1 <= at <= FARTHEST * max(loads) else None
    return Usl(ideal, sigma, kappa, errors[0] * scale, errors[1], errors[2], r2, peak, at if peak is not None else None)


def _differs_from_zero(value: float, error: float, freedom: int) -> bool:
    from scipy.special import stdtrit

    return value > float(stdtrit(freedom, LEVEL)) * error


def _law(load: float, ideal: float, sigma: float, kappa: float) -> float:
    return ideal * load / (1 + sigma * (load - 1) + kappa * load * (load - 1))
