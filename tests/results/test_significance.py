"""Tests the statistical tests and intervals against worked examples and other ways to compute them."""

from __future__ import annotations

import math
import random
import statistics
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from benchbrief.results.statistics.scalability import NoFit, Usl, fit_usl
from benchbrief.results.statistics.significance import (
    degrees_of_freedom,
    difference,
    difference_of,
    do_not_vary,
    holm,
    holm_steps,
    mann_whitney,
    p_value,
    ratio_of,
    ratio_of_means,
    welch,
)
from tests.support.longer import longer

SLEEP = (
    (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0),
    (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4),
)
"""Hours of extra sleep with two drugs: Student, "The probable error of a mean", Biometrika 6 (1908)."""
RAY_TRACER = {1: 20, 4: 78, 8: 130, 12: 170, 16: 190, 20: 200, 24: 210, 28: 230, 32: 260, 48: 280, 64: 310}
"""Rays by number of processors on an SGI Origin: N. J. Gunther, "Guerrilla Capacity Planning" (2007)."""
OLD, NEW = (98.0, 101.0, 103.0, 99.0), (117.0, 121.0, 119.0, 126.0)


def test_welchs_test_gives_what_r_gives_for_students_sleep() -> None:
    """R's documentation has `t.test(extra ~ group, data = sleep)`: df = 17.776, p-value = 0.07939."""
    assert degrees_of_freedom(*SLEEP) == pytest.approx(17.776, abs=5e-4)
    assert welch(*SLEEP) == pytest.approx(0.07939, abs=5e-6)


def test_values_that_never_vary_differ_surely_or_not_at_all() -> None:
    assert welch((5.0, 5.0), (5.0, 5.0)) == 1.0
    assert welch((5.0, 5.0), (5.0, 5.0)) == 1.0
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


@pytest.mark.parametrize("how", [{"percentile": True}, {"by_ratio": True}])
def test_rates_and_percentiles_are_judged_by_their_logarithms(how: dict[str, bool]) -> None:
    ratio = ratio_of(OLD, NEW, **how)
    assert ratio is not None
    assert ratio.value == pytest.approx(statistics.geometric_mean(NEW) / statistics.geometric_mean(OLD))
    logs = [[math.log(value) for value in each] for each in (NEW, OLD)]
    tested = stats.ttest_ind(*logs, equal_var=False)
    interval = tested.confidence_interval(0.95)
    assert (ratio.low, ratio.high) == pytest.approx((math.exp(interval.low), math.exp(interval.high)))
    assert p_value(OLD, NEW, **how) == pytest.approx(tested.pvalue)
    apart = difference_of(OLD, NEW, **how)
    assert apart is not None
    assert (apart.low, apart.high) == (None, None), "an interval in the unit might contradict the test"
    for other in ((1.0,), (0.0, 1.0), (-1.0, 2.0)):
        assert ratio_of(other, NEW, **how) == ratio_of_means(other, NEW), "0 has no logarithm"
        assert p_value(other, NEW, **how) == welch(other, NEW)
        assert difference_of(other, NEW, **how) == difference_of(other, NEW)


def test_a_clear_factor_between_noisy_rates_is_seen_on_logarithms_alone() -> None:
    slow, fast = (12_600.0, 13_300.0, 13_100.0), (370_000.0, 128_000.0, 192_000.0)
    assert (welch(slow, fast) or 0) > 0.05
    assert (p_value(slow, fast, by_ratio=True) or 1) < 0.02
    ratio = ratio_of(slow, fast, by_ratio=True)
    assert ratio is not None
    assert (ratio.low or 0) > 1
    assert difference(slow, fast, by_ratio=True) > 0


@pytest.mark.parametrize("noise", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("repeats", [*longer(2), 3, *longer(5, 10)])
def test_logarithms_give_no_more_false_alarms_than_values_and_see_more(repeats: int, noise: float) -> None:
    """Among a thousand pairs without a difference, logarithms find hardly more false differences than plain values
    do."""
    draw = random.Random(repeats)  # noqa: S311  # no secret
    sigma = math.sqrt(math.log1p(noise**2))

    def sample(mean: float) -> list[float]:
        return [mean * math.exp(draw.gauss(0, sigma)) for _ in range(repeats)]

    equal = [(sample(1.0), sample(1.0)) for _ in range(1000)]
    apart = [(one, [17 * value for value in other]) for one, other in equal]

    def found(pairs: list[tuple[list[float], list[float]]], *, by_ratio: bool) -> int:
        return sum((p_value(*pair, by_ratio=by_ratio) or 0) < 0.05 for pair in pairs)

    assert found(equal, by_ratio=True) <= min(70, found(equal, by_ratio=False) + 10)
    assert found(apart, by_ratio=True) >= found(apart, by_ratio=False)


def test_fiellers_interval_has_those_ratios_that_are_not_rejected() -> None:
    """At the interval's ends, the t statistic of `new - ratio * old` equals the quantile."""
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


def test_a_ratio_to_what_may_be_zero_has_no_bounds() -> None:
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
    ratio, probability = ratio_of(a, b, percentile=True), p_value(a, b, percentile=True)
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


@pytest.mark.parametrize(("sigma", "kappa"), [(0.0, 0.0), (0.05, 0.0), (0.0, 0.0004), (0.03, 0.0004), (0.9, 0.5)])
def test_an_exact_curve_gives_its_parameters_back_also_where_they_are_0(sigma: float, kappa: float) -> None:
    """A linear ramp is at two bounds of the fit, and 1,000 per thread must not become 1,000.26."""
    loads = [1.0, 2.0, 4.0, 8.0, 16.0]
    fitted = fit_usl(loads, [1000 * n / (1 + sigma * (n - 1) + kappa * n * (n - 1)) for n in loads])
    assert isinstance(fitted, Usl)
    assert fitted.ideal == pytest.approx(1000, rel=1e-9)
    assert (fitted.sigma, fitted.kappa) == pytest.approx((sigma, kappa), rel=1e-7, abs=1e-10)


def test_a_peak_far_beyond_what_was_measured_is_not_reported() -> None:
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
def test_a_curve_outside_the_law_is_refused_with_a_reason(
    loads: tuple[float, ...], rates: tuple[float, ...], why: str
) -> None:
    refused = fit_usl(loads, rates)
    assert isinstance(refused, NoFit)
    assert why in refused.reason


rates = st.floats(min_value=1.0, max_value=1e6)
samples = st.lists(rates, min_size=2, max_size=7)


@given(samples, samples)
def test_welchs_test_and_fiellers_interval_are_what_numpy_and_scipy_give(a: list[float], b: list[float]) -> None:
    """Fieller's set has the ratios r for which b - r a may be 0. It is checked with scipy's quantile around its
    ends."""
    assume(all(np.ptp(each) == 0 or np.ptp(each) > 1e-6 * max(each) for each in (a, b)))
    assume(np.ptp(a) + np.ptp(b) > 0)
    assert welch(a, b) == pytest.approx(float(stats.ttest_ind(a, b, equal_var=False).pvalue), rel=1e-6, abs=1e-12)
    ratio = ratio_of_means(a, b)
    assert ratio is not None
    assert ratio.value == pytest.approx(np.mean(b) / np.mean(a))
    quantile = stats.t.ppf(0.975, degrees_of_freedom(a, b))

    def rejected(r: float) -> bool:
        error = math.sqrt(np.var(b, ddof=1) / len(b) + r * r * np.var(a, ddof=1) / len(a))
        return bool(abs(np.mean(b) - r * np.mean(a)) > quantile * error)

    if ratio.low is None or ratio.high is None:
        shown = abs(np.mean(a)) > quantile * math.sqrt(np.var(a, ddof=1) / len(a)) * (1 + 1e-9)
        assert not shown, "no bounds, though the divisor differs from 0"
        return
    width = max(ratio.high - ratio.low, 1e-9 * ratio.value)
    assert ratio.low <= ratio.value <= ratio.high
    for inside, outside in ((ratio.low, ratio.low - width / 50), (ratio.high, ratio.high + width / 50)):
        assert rejected(outside)
        assert not rejected(inside + (ratio.value - inside) * 0.02)


@pytest.mark.parametrize("spread", [0.5, 0.8, 0.99, 1.01, 1.2, 5.0])
def test_an_interval_has_no_bounds_exactly_from_where_its_divisor_may_be_zero(spread: float) -> None:
    """There are two repeats around 10. If `spread` is 1, they are so far apart that Student's t of their mean equals
    the quantile."""
    b = (20.0, 21.0)
    middle = 10.0
    half = middle
    for _ in range(200):  # the degrees of freedom depend on the distance, too
        half = middle / stats.t.ppf(0.975, degrees_of_freedom((middle - half, middle + half), b))
    ratio = ratio_of_means((middle - spread * half, middle + spread * half), b)
    assert ratio is not None
    assert ratio.value == pytest.approx(2.05)
    assert (ratio.low is None, ratio.high is None) == ((False, False) if spread < 1 else (True, True))


def test_identical_repeats_and_single_ones_say_what_can_be_said() -> None:
    same = ratio_of_means((10.0, 10.0, 10.0), (12.0, 12.0))
    assert same is not None
    assert (same.low, same.value, same.high) == (None, 1.2, None)
    one = ratio_of_means((10.0,), (12.0, 13.0))
    assert one is not None
    assert (one.low, one.value, one.high) == (None, 1.25, None)
    half = ratio_of_means((10.0, 10.0), (12.0, 14.0))
    assert half is not None
    interval = stats.t.interval(0.95, 1, loc=13.0, scale=1.0)
    assert (half.low, half.high) == pytest.approx((interval[0] / 10, interval[1] / 10))
    assert welch((10.0, 10.0), (12.0, 14.0)) == pytest.approx(stats.ttest_1samp((12.0, 14.0), 10.0).pvalue)
    flat = ratio_of((3.0, 3.0), (6.0, 6.0), by_ratio=True)
    assert flat is not None
    assert flat.value == pytest.approx(2.0)
    assert (flat.low, flat.high) == (None, None)
    ranked = ratio_of((3.0,) * 8, (6.0,) * 8, percentile=True)
    assert ranked is not None
    assert (ranked.low, ranked.value, ranked.high) == (2.0, 2.0, 2.0)


@given(
    st.floats(min_value=10.0, max_value=1e5),
    st.floats(min_value=0.0, max_value=0.5),
    st.floats(min_value=0.0, max_value=0.05),
)
@settings(deadline=None, max_examples=25)
def test_the_law_gives_back_what_made_a_curve(ideal: float, sigma: float, kappa: float) -> None:
    loads = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
    curve = ideal * loads / (1 + sigma * (loads - 1) + kappa * loads * (loads - 1))
    assume(np.ptp(curve) > 0.05 * curve.max())
    fitted = fit_usl([*map(float, loads)], [*map(float, curve)])
    assert isinstance(fitted, Usl)
    again = fitted.ideal * loads / (1 + fitted.sigma * (loads - 1) + fitted.kappa * loads * (loads - 1))
    assert np.allclose(again, curve, rtol=2e-3)
    if fitted.peak_load is not None and sigma < 0.5 and kappa > 1e-3:
        fine = np.linspace(1, 4 * 64, 100_000)
        assert fitted.peak == pytest.approx(
            float(np.max(ideal * fine / (1 + sigma * (fine - 1) + kappa * fine * (fine - 1)))), rel=5e-3
        )


@pytest.mark.parametrize(("repeats", "p"), [(2, 2 / 6), (3, 0.1), (4, 2 / 70), (5, 2 / 252)])
def test_repeats_that_do_not_vary_are_never_certain_to_differ(repeats: int, p: float) -> None:
    """Only the order of the repeats matters: of all ways to divide them in two, two are as extreme as this."""
    a, b = (5.0,) * repeats, (6.0,) * repeats
    assert welch(a, b) == pytest.approx(p)
    assert p_value(a, b, percentile=True) == pytest.approx(p)
    for estimate in (ratio_of_means(a, b), ratio_of(a, b, by_ratio=True), difference_of(a, b)):
        assert estimate is not None
        assert (estimate.low, estimate.high) == (None, None)


def test_tied_ranks_are_judged_by_the_normal_distribution() -> None:
    tied = (1.0, 2.0, 2.0, 3.0, 4.0), (2.0, 3.0, 5.0, 6.0, 7.0)
    expected = stats.mannwhitneyu(*tied, alternative="two-sided", method="asymptotic").pvalue
    assert mann_whitney(*tied) == pytest.approx(expected)
    assert mann_whitney(*tied) != pytest.approx(stats.mannwhitneyu(*tied, method="exact").pvalue)


@pytest.mark.parametrize("level", [0.95, 0.995])
def test_the_interval_by_ranks_leaves_one_out_exactly_where_the_rank_test_is_significant(level: float) -> None:
    draw = random.Random(1)  # noqa: S311  # no secret
    significant = 0
    for _ in range(300):
        shift = draw.uniform(0, 1.5)
        a, b = ([math.exp(draw.gauss(mean, 1)) for _ in range(8)] for mean in (0, shift))
        found, p = ratio_of(a, b, percentile=True, level=level), mann_whitney(a, b)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        assert p is not None
        assert (not found.low <= 1 <= found.high) == (p < 1 - level)
        significant += p < 1 - level
    assert 30 < significant < 270


def test_ranks_that_reject_nothing_at_a_level_give_no_interval() -> None:
    a, b = [float(n) for n in range(1, 9)], [float(n) for n in range(101, 109)]
    found = ratio_of(a, b, percentile=True, level=1 - 1.9 / math.comb(16, 8))
    assert found is not None
    assert (found.low, found.high) == (None, None)


def test_holms_steps_divide_the_chance_of_each_as_far_as_it_comes() -> None:
    assert holm_steps((0.01, 0.04, 0.03, 0.005), 0.05) == [3, 2, 2, 4]
    assert holm_steps((0.9, 0.8), 0.05) == [2, 2]
    assert holm_steps((0.001, 0.002), 0.05) == [2, 1]
    assert holm_steps((), 0.05) == []


def test_the_interval_by_ranks_is_the_same_from_both_sides() -> None:
    a, b = [n / 7 for n in range(8)], [n / 5 + 0.03 for n in range(9)]
    there, back = difference_of(a, b, percentile=True), difference_of(b, a, percentile=True)
    assert there is not None
    assert back is not None
    assert there.low is not None
    assert there.high is not None
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))


def test_the_ranks_of_many_repeats_have_the_spread_of_the_normal_distribution() -> None:
    n = 101
    a, b = [float(i) for i in range(n)], [i + 0.5 for i in range(n)]
    pairs = sorted(above - below for below in a for above in b)
    outside = math.floor(stats.norm(n * n / 2, math.sqrt(n * n * (2 * n + 1) / 12)).ppf(0.025) - 0.5)
    found = difference_of(a, b, percentile=True)
    assert found is not None
    assert (found.low, found.high) == (pairs[outside], pairs[-1 - outside])


def test_repeats_of_which_one_side_varies_do_vary() -> None:
    assert do_not_vary((1.0, 1.0), (2.0, 2.0))
    assert not do_not_vary((1.0, 1.0), (2.0, 3.0))


def test_the_explained_share_is_of_the_variance_about_the_mean() -> None:
    found = fit_usl(list(RAY_TRACER), list(RAY_TRACER.values()))
    assert isinstance(found, Usl)
    x, y = np.array(list(RAY_TRACER), float), np.array(list(RAY_TRACER.values()), float)
    law = found.ideal * x / (1 + found.sigma * (x - 1) + found.kappa * x * (x - 1))
    assert found.r2 == pytest.approx(1 - ((y - law) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def test_a_law_that_explains_too_little_is_no_law() -> None:
    found = fit_usl([1, 2, 4, 8, 16], [100, 260, 130, 290, 210])
    assert isinstance(found, NoFit)
    assert "of the throughput's variance, and 90 % is asked for" in found.reason


def test_throughput_that_falls_from_the_first_thread_on_has_no_peak() -> None:
    loads = [1, 2, 3, 4, 6, 8]
    found = fit_usl(loads, [100 * n / (1 + 0.9 * (n - 1) + 0.5 * n * (n - 1)) for n in loads])
    assert isinstance(found, Usl)
    assert (found.peak, found.peak_load) == (None, None)


def test_a_peak_that_chance_may_have_made_is_not_reported() -> None:
    """The cost of coherence in this fit is above 0, but less than its standard error."""
    found = fit_usl([1, 2, 4, 8, 12, 16], [105.7, 172.5, 321.2, 549.9, 619.7, 728.1])
    assert isinstance(found, Usl)
    assert 0 < found.kappa < found.kappa_se
    assert (found.peak, found.peak_load) == (None, None)
