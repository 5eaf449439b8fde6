"""Compares the changes found in a series with those found by apache-otava and ruptures (`oracles/record.py`). Also
tests how many changes are found in noise alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchbrief.results.statistics.change_points import change_points, divergence, p_of_means

RECORDED = json.loads((Path(__file__).parent / "oracles" / "recorded.json").read_text(encoding="utf-8"))
SERIES: list[dict[str, Any]] = RECORDED["series"]


def indexes(values: Any, **more: Any) -> list[int]:
    return [each.index for each in change_points(values, **more)]


@pytest.mark.parametrize("series", SERIES, ids=lambda series: series["name"])
def test_changes_are_those_of_otava_and_of_ruptures(series: dict[str, Any]) -> None:
    assert indexes(series["values"], least=1) == series["otava"]
    assert indexes(series["values"]) == series["ruptures"], "ruptures gets the number of changes"


@pytest.mark.parametrize("series", SERIES[::4], ids=lambda series: series["name"])
def test_the_statistic_is_that_of_otava(series: dict[str, Any]) -> None:
    found = divergence(np.array(series["values"][:50]))
    index, height = series["otava_statistic"]
    assert np.unravel_index(found.argmax(), found.shape)[0] == index
    assert found.max() == pytest.approx(height, rel=1e-9)


def test_the_statistic_is_the_sum_that_the_paper_defines() -> None:
    x = np.random.default_rng(5).normal(size=9)
    t, k = 4, 8
    a, b = x[:t], x[t:k]
    n, m = len(a), len(b)
    across = sum(abs(one - other) for one in a for other in b)
    within = [sum(abs(each[i] - each[j]) for i in range(len(each)) for j in range(i)) for each in (a, b)]
    by_hand = 2 / (n + m) * across - 2 * m / ((n + m) * (n - 1)) * within[0] - 2 * n / ((n + m) * (m - 1)) * within[1]
    assert divergence(x)[t, k] == pytest.approx(by_hand)


def test_noise_alone_shows_a_change_in_about_one_year_of_a_hundred() -> None:
    rng = np.random.default_rng(20)
    assert sum(bool(indexes(rng.normal(100, 2, 365).tolist())) for _ in range(200)) <= 5


def test_a_change_among_ten_thousand_values_is_found_where_it_is() -> None:
    values = np.random.default_rng(3).normal(100, 2, 10_000)
    values[7_000:] *= 1.05
    (found,) = change_points(values.tolist())
    assert abs(found.index - 7_000) <= 1
    assert found.before == pytest.approx(100, abs=0.1)
    assert found.after == pytest.approx(105, abs=0.2)


def test_the_same_values_give_the_same_changes_and_scale_does_not_matter() -> None:
    values = np.array(SERIES[8]["values"])
    assert change_points(values.tolist()) == change_points(list(values))
    assert indexes(values) == indexes(values * 1e-9) == indexes(values * 1e12)


def test_a_single_straying_value_is_no_change() -> None:
    values = np.random.default_rng(4).normal(100, 1, 60)
    values[30] = 160
    assert indexes(values) == []


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [5.0] * 100, [0.0] * 7])
def test_few_or_equal_values_have_no_change(values: list[float]) -> None:
    assert change_points(values) == []


def test_values_without_noise_change_for_certain() -> None:
    (found,) = change_points([10.0] * 20 + [11.0] * 20)
    assert (found.index, found.p, found.before, found.after) == (20, 0.0, 10.0, 11.0)


def test_the_p_value_is_that_of_students_t_test() -> None:
    from scipy.stats import ttest_ind

    a, b = np.random.default_rng(8).normal(size=7), np.random.default_rng(9).normal(1, size=4)
    assert p_of_means(a, b) == pytest.approx(float(ttest_ind(a, b).pvalue))
    assert p_of_means(a[:1], b[:1]) == 1.0
