"""Student's t against SciPy's."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit
from scipy.stats import norm

from benchbrief.runners.student import t_quantile, two_tails


@given(st.floats(0.5, 10_000), st.floats(0.5, 0.9999))
def test_a_quantile_is_scipys(freedom: float, p: float) -> None:
    assert t_quantile(freedom, p) == pytest.approx(float(stdtrit(freedom, p)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("p", [0.5, 0.9, 0.975, 0.9995])
@pytest.mark.parametrize("freedom", [1, 2, 3, 29, 1e6])
def test_a_quantile_of_few_or_very_many_degrees_of_freedom_is_scipys(freedom: float, p: float) -> None:
    assert t_quantile(freedom, p) == pytest.approx(float(stdtrit(freedom, p)), rel=1e-9, abs=1e-12)


@given(st.floats(0.5, 10_000), st.floats(-50, 50))
def test_the_tails_are_scipys_however_small(freedom: float, t: float) -> None:
    assert two_tails(freedom, t) == pytest.approx(float(2 * stdtr(freedom, -abs(t))), rel=1e-9, abs=1e-300)


def test_with_endless_degrees_of_freedom_it_is_the_normal_distributions() -> None:
    assert t_quantile(math.inf, 0.975) == pytest.approx(float(norm.ppf(0.975)))


def test_without_a_degree_of_freedom_it_is_not_known() -> None:
    assert math.isnan(t_quantile(0, 0.975))
    with pytest.raises(ValueError, match=r"0\.3"):
        t_quantile(3, 0.3)


def test_intervals_and_tests_of_means_do_not_import_scipy() -> None:
    code = """
import sys
from benchbrief.results.significance import difference_of, ratio_of_means, welch
from benchbrief.runners.confidence import t_interval
assert t_interval(3, 10.0, 1.0)[0] and difference_of([1, 2], [3, 4]).low and welch([1, 2], [3, 4])
assert ratio_of_means([9, 10], [12, 13]).low
print([name for name in ("scipy", "numpy") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
