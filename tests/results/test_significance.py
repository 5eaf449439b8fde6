"""Tests and intervals, against worked examples and by other ways of computing them."""

from __future__ import annotations

import math
import random
import statistics
from itertools import combinations

import pytest
from scipy import stats

from benchbrief.results.scalability import NoFit, Usl, fit_usl
from benchbrief.results.significance import (
    degrees_of_freedom,
    difference,
    holm,
    mann_whitney,
    p_value,
    ratio_of_means,
    ratio_of_percentiles,
    welch,
)

SLEEP = (
    (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0),
    (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4),
)
"""Hours of extra sleep by two drugs: Student, "The probable error of a mean", Biometrika 6 (1908)."""
RAY_TRACER = {1: 20, 4: 78, 8: 130, 12: 170, 16: 190, 20: 200, 24: 210, 28: 230, 32: 260, 48: 280, 64: 310}
"""Rays by processors on an SGI Origin: N. J. Gunther, "Guerrilla Capacity Planning" (2007)."""
OLD, NEW = (98.0, 101.0, 103.0, 99.0), (117.0, 121.0, 119.0, 126.0)


def test_welchs_test_gives_what_r_gives_for_students_sleep() -> None:
    """`t.test(extra ~ group, data = sleep)` in R's documentation: df = 17.776, p-value = 0.07939."""
    assert degrees_of_freedom(*SLEEP) == pytest.approx(17.776, abs=5e-4)
    assert welch(*SLEEP) == pytest.approx(0.07939, abs=5e-6)


def test_values_that_never_vary_differ_surely_or_not_at_all() -> None:
    assert welch((5.0, 5.0), (5.0, 5.0)) == 1.0
    assert welch((5.0, 5.0), (6.0, 6.0)) == 0.0
    assert welch((5.0,), (6.0, 7.0)) is None


def test_the_rank_test_counts_the_orders_that_are_as_extreme() -> None:
    low, high = (1.0, 2.0, 4.0, 5.0, 6.0), (3.0, 7.0, 8.0, 9.0, 10.0)
    rank_sum = sum(low)  # the values are their own ranks
    sums = [sum(chosen) for chosen in combinations(range(1, 11), 5)]
    expected = 2 * sum(each <= rank_sum for each in sums) / len(sums)
    assert mann_whitney(low, high) == pytest.approx(expected)


def test_percentiles_are_judged_by_ranks_once_there_are_eight_repeats_of_each() -> None:
    outlier = ((1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7), (2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 90.0))
    assert p_value(*outlier, percentile=True) == pytest.approx(2 / math.comb(16, 8))
    assert p_value(*outlier) == welch(*outlier)
    assert p_value(*outlier) > 0.3  # type: ignore[operator]  # known above
    fewer = (outlier[0][:7], outlier[1])
    logs = [[math.log(value) for value in each] for each in fewer]
    assert p_value(*fewer, percentile=True) == pytest.approx(stats.ttest_ind(*logs, equal_var=False).pvalue)


def test_the_ratio_of_percentiles_is_of_their_logarithms() -> None:
    ratio = ratio_of_percentiles(OLD, NEW)
    assert ratio is not None
    assert ratio.value == pytest.approx(statistics.geometric_mean(NEW) / statistics.geometric_mean(OLD))
    logs = [[math.log(value) for value in each] for each in (NEW, OLD)]
    interval = stats.ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
    assert (ratio.low, ratio.high) == pytest.approx((math.exp(interval.low), math.exp(interval.high)))
    assert ratio_of_percentiles((1.0,), NEW) is None
    assert ratio_of_percentiles((0.0, 1.0), NEW) is None


def test_fiellers_interval_has_those_ratios_that_are_not_rejected() -> None:
    """At its ends, the t statistic of `new - ratio * old` is the quantile itself."""
    ratio = ratio_of_means(OLD, NEW)
    assert ratio is not None
    assert ratio.value == statistics.mean(NEW) / statistics.mean(OLD)
    quantile = stats.t.ppf(0.975, degrees_of_freedom(OLD, NEW))
    for end in (ratio.low, ratio.high):
        assert end is not None
        error = math.sqrt(statistics.variance(NEW) / 4 + end**2 * statistics.variance(OLD) / 4)
        assert abs(statistics.mean(NEW) - end * statistics.mean(OLD)) / error == pytest.approx(quantile)


@pytest.mark.parametrize("shift", [-8.0, -3.0, -2.4, -2.2, 0.0, 2.2, 2.4, 3.0, 8.0])
def test_fiellers_interval_leaves_one_out_exactly_where_welchs_test_is_significant(shift: float) -> None:
    other = [value + shift for value in (99.0, 100.0, 102.0, 100.0)]
    ratio, probability = ratio_of_means(OLD, other), welch(OLD, other)
    assert ratio is not None
    assert ratio.low is not None
    assert ratio.high is not None
    assert probability is not None
    assert (not ratio.low <= 1 <= ratio.high) == (probability < 0.05)


def test_a_ratio_to_what_is_not_told_from_zero_has_no_bounds() -> None:
    ratio = ratio_of_means((-1.0, 2.0, 0.5), NEW)
    assert ratio is not None
    assert (ratio.low, ratio.high) == (None, None)
    assert ratio_of_means((-1.0, 1.0), NEW) is None
    assert ratio_of_means((2.0,), (3.0,)) is not None


def test_holms_adjustment_is_as_worked_by_hand() -> None:
    assert holm((0.01, 0.04, 0.03, 0.005)) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm((0.9, 0.8)) == [1.0, 1.0]
    assert holm(()) == []


@pytest.mark.parametrize("size", [8, 9, 12])
def test_the_rank_test_is_exact_without_ties_whatever_the_number_of_repeats(size: int) -> None:
    apart = [float(n) for n in range(size)], [float(n + size) for n in range(size)]
    assert mann_whitney(*apart) == pytest.approx(2 / math.comb(2 * size, size))


@pytest.mark.parametrize("shift", [0.5, 2.5, 4.5, 5.5, 6.5, 7.5, 8.5, 12.5])
@pytest.mark.parametrize("size", [8, 11])
def test_the_interval_of_a_ratio_by_ranks_leaves_one_out_exactly_where_the_test_is_significant(
    size: int, shift: float
) -> None:
    a, b = [100.0 + n for n in range(size)], [100.0 + n * 1.03 + shift for n in range(8)]
    ratio, probability = ratio_of_percentiles(a, b), p_value(a, b, percentile=True)
    assert ratio is not None
    assert ratio.low is not None
    assert ratio.high is not None
    assert probability is not None
    assert ratio.low <= ratio.value <= ratio.high
    assert (not ratio.low <= 1 <= ratio.high) == (probability < 0.05)
    assert (difference(a, b, percentile=True) > 0) == (ratio.value > 1)


def usl(**points: float) -> Usl:
    fitted = fit_usl([float(load) for load in points], list(points.values()))
    assert isinstance(fitted, Usl), fitted
    return fitted


def test_a_curve_that_follows_the_law_gives_its_parameters_back() -> None:
    loads = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    rates = [1000 * n / (1 + 0.04 * (n - 1) + 0.0006 * n * (n - 1)) for n in loads]
    fitted = fit_usl(loads, rates)
    assert isinstance(fitted, Usl)
    assert (fitted.ideal, fitted.sigma, fitted.kappa) == pytest.approx((1000, 0.04, 0.0006), rel=1e-3)
    assert fitted.r2 == pytest.approx(1)
    assert fitted.peak_load == pytest.approx(math.sqrt(0.96 / 0.0006), rel=1e-3)
    load = math.sqrt(0.96 / 0.0006)
    assert fitted.peak == pytest.approx(1000 * load / (1 + 0.04 * (load - 1) + 0.0006 * load * (load - 1)), rel=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_a_line_has_no_peak_with_or_without_noise(seed: int) -> None:
    noise = random.Random(seed)  # noqa: S311  # no secret
    loads = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    fitted = fit_usl(loads, [50 * n * (1 + (noise.gauss(0, 0.02) if seed else 0)) for n in loads])
    assert isinstance(fitted, Usl)
    assert (fitted.peak, fitted.peak_load) == (None, None)


def test_a_peak_far_beyond_what_was_measured_is_not_told() -> None:
    loads = [1.0, 2.0, 4.0, 8.0]
    fitted = fit_usl(loads, [1000 * n / (1 + 0.04 * (n - 1) + 0.0006 * n * (n - 1)) for n in loads])
    assert isinstance(fitted, Usl)
    assert fitted.kappa == pytest.approx(0.0006, rel=1e-2)
    assert fitted.peak is None, "at 40 threads, five times the eight that were measured"


def test_gunthers_ray_tracer_scales_with_contention_alone() -> None:
    fitted = usl(**{str(load): rays for load, rays in RAY_TRACER.items()})
    assert fitted.kappa == pytest.approx(0, abs=2e-5)
    assert fitted.sigma == pytest.approx(0.055, abs=0.01)
    assert fitted.ideal == pytest.approx(20, rel=0.12)
    assert fitted.sigma_se < fitted.sigma / 3
    assert fitted.peak is None or fitted.peak > 310


def test_no_other_parameters_fit_the_ray_tracer_better() -> None:
    fitted = usl(**{str(load): rays for load, rays in RAY_TRACER.items()})

    def misfit(ideal: float, sigma: float, kappa: float) -> float:
        return sum((x - ideal * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))) ** 2 for n, x in RAY_TRACER.items())

    best = misfit(fitted.ideal, fitted.sigma, fitted.kappa)
    grid = [0.9, 0.97, 1.0, 1.03, 1.1]
    others = [
        misfit(fitted.ideal * a, fitted.sigma * b, kappa)
        for a in grid
        for b in grid
        for kappa in (fitted.kappa, fitted.kappa + 1e-5, fitted.kappa + 1e-4)
    ]
    assert best <= min(others) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("loads", "rates", "why"),
    [
        ((1, 2, 4), (1, 2, 3), "takes 4 loads"),
        ((1, 1, 2, 4), (1, 1, 2, 3), "takes 4 loads"),
        ((1, 2, 4, 8), (1, 0, 3, 4), "above 0"),
        ((1, 2, 4, 8), (5, 5, 5, 5), "the same"),
        ((1, 2, 4, 8, 16), (50, 3, 70, 2, 60), "explains"),
    ],
)
def test_what_the_law_can_not_speak_of_is_refused_with_a_reason(
    loads: tuple[float, ...], rates: tuple[float, ...], why: str
) -> None:
    refused = fit_usl(loads, rates)
    assert isinstance(refused, NoFit)
    assert why in refused.reason
