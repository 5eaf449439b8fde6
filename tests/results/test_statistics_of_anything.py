"""Tests the public functions of `results/statistics` with any numbers. Each must return a finite answer, or say that
the answer is unknown."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchbrief.model.plan import Event
from benchbrief.results import statistics
from benchbrief.results.statistics.recovery import RateSample, add_sources, recovery
from benchbrief.results.statistics.significance import WIDEST, p_value, ratio_of
from benchbrief.runners.scheduling.confidence_interval import half_width, mean_interval
from tests.results.making import HERE

EXTREMES = (0.0, -0.0, 1e-300, 1e-9, 1e-6, 1.0, 1e15, 1e150, 1e300, -1.0, -1e15, math.nan, math.inf, -math.inf)
ANY = st.one_of(st.sampled_from(EXTREMES), st.floats(1e-6, 1e6), st.floats())
NUMBERS = st.one_of(
    st.lists(ANY, max_size=12),
    st.builds(lambda value, n: [value] * n, ANY, st.integers(0, 60)),  # equal ones
    st.builds(lambda values: [1 + v / 1e12 for v in values], st.lists(st.floats(-1, 1), min_size=2, max_size=60)),
)
LEVELS = st.one_of(st.sampled_from((0.0, 0.5, 0.95, 1 - 0.05 / 54, 1 - 1e-12, 1.0)), st.floats(0, 1))
P_VALUES = st.lists(st.floats(0, 1), max_size=20)


@st.composite
def of_one_length(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    n = draw(st.integers(0, 9))
    return draw(st.lists(ANY, min_size=n, max_size=n)), draw(st.lists(ANY, min_size=n, max_size=n))


@st.composite
def samples(draw: st.DrawFn) -> list[RateSample]:
    ends = sorted(draw(st.lists(st.floats(0, 1e5), max_size=12)))
    tails = st.one_of(st.none(), ANY)
    return [RateSample(start, end, draw(ANY), draw(tails)) for start, end in pairwise(ends)]


def an_event(within: float, window_s: float, outage: float, steady_s: float) -> Event:
    return Event(
        at_s=1, label="", line="", hosts=(), timeout_s=1, origin=HERE,
        within=within, window_s=window_s, outage=outage, steady_s=steady_s,
    )  # fmt: skip


@st.composite
def events(draw: st.DrawFn) -> tuple[list[RateSample], Event, float, float]:
    shares, times = st.floats(0, 1), st.floats(0.1, 1e6)
    event = an_event(draw(shares), draw(times), draw(shares), draw(times))
    return draw(samples()), event, draw(st.floats(0, 1e5)), draw(st.floats(0, 2e5))


def two(*more: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(NUMBERS, NUMBERS, *more)


ARGUMENTS: dict[str, st.SearchStrategy[tuple[Any, ...]]] = {
    "change_points.change_points": st.tuples(NUMBERS),
    "change_points.divergence": st.tuples(NUMBERS.map(np.array)),
    "change_points.p_of_means": st.tuples(NUMBERS.map(np.array), NUMBERS.map(np.array)),
    "change_points.departure": st.tuples(NUMBERS, st.integers(0, 9), st.sampled_from((-1, 0, 1))),
    "change_points.p_of_shift": two(st.sampled_from((-1, 0, 1))),
    "recovery.add_sources": st.tuples(st.lists(samples(), min_size=1, max_size=3)),
    "recovery.recovery": events(),
    "scalability.fit_usl": of_one_length(),
    "selection_bias.overstatement": st.tuples(st.lists(NUMBERS, max_size=4)),
    "significance.correct_p_value": st.tuples(st.floats(0, 1), LEVELS),
    "significance.degrees_of_freedom": two(),
    "significance.difference": two(),
    "significance.difference_of": two(),
    "significance.do_not_vary": two(),
    "significance.holm": st.tuples(P_VALUES),
    "significance.holm_steps": st.tuples(P_VALUES, st.floats(0, 1)),
    "significance.mann_whitney": two(),
    "significance.p_value": two(),
    "significance.ratio_of": two(),
    "significance.ratio_of_means": two(LEVELS),
    "significance.ratio_to_one": st.tuples(ANY, NUMBERS),
    "significance.repeats_until": st.tuples(NUMBERS, NUMBERS, st.floats(0, 1), LEVELS, st.integers(2, 20)),
    "significance.welch": two(),
}
NOT_NUMBERS = {"change_points.divergence", "significance.degrees_of_freedom", "significance.difference"}
"""Functions that return infinity or NaN if the result is unknown."""


SIGNIFICANCE = p_value.__module__


def public_functions() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for path in sorted(Path(statistics.__path__[0]).glob("[a-z]*.py")):
        module = import_module(f"{statistics.__name__}.{path.stem}")
        names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
        for name in names:
            made = getattr(module, name)
            if inspect.isfunction(made) and (hasattr(module, "__all__") or made.__module__ == module.__name__):
                found[f"{path.stem}.{name}"] = made
    return found


def test_each_public_function_is_tried() -> None:
    assert set(public_functions()) == set(ARGUMENTS)


def numbers_in(answer: object) -> list[float]:
    if is_dataclass(answer):
        return [n for field in fields(answer) for n in numbers_in(getattr(answer, field.name))]
    if isinstance(answer, list | tuple):
        return [n for each in answer for n in numbers_in(each)]
    return [answer] if isinstance(answer, float) else []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ARGUMENTS)
def test_any_numbers_have_an_answer(name: str) -> None:
    function = public_functions()[name]
    parameters = inspect.signature(function).parameters.values()
    flags = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY and function.__module__ == SIGNIFICANCE]
    more = st.fixed_dictionaries({name: LEVELS if name == "level" else st.booleans() for name in flags})

    @settings(max_examples=60)
    @given(ARGUMENTS[name], more)
    def answered(arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        answer = function(*arguments, **named)
        if name not in NOT_NUMBERS and name != "recovery.add_sources":  # it hands on what it gets
            assert all(map(math.isfinite, numbers_in(answer))), answer

    answered()


@given(NUMBERS, LEVELS)
def test_any_repeats_have_an_interval_or_none(values: list[float], level: float) -> None:
    low, high = mean_interval(values, level)
    assert (low is None) == (high is None)
    assert low is None or high is None or -math.inf < low <= high < math.inf
    width = half_width(values, level)
    assert width is None or math.isfinite(width)


def test_two_repeats_that_differ_have_no_interval_after_fifty_comparisons() -> None:
    found = ratio_of([10e-6, 10.01e-6], [10e-6, 100e-6], by_ratio=True, level=1 - 0.05 / 54)
    assert found is not None
    assert (round(found.value, 2), found.low, found.high) == (3.16, None, None)


def test_an_interval_of_a_ratio_is_none_once_it_says_nothing() -> None:
    narrow = ratio_of([1.0, 1.1, 1.2], [2.0, 2.1, 2.3], by_ratio=True)
    assert narrow is not None
    assert narrow.low is not None
    for spread in (1.5, 3, 10, 30, 1e3, 1e9):
        found = ratio_of([1.0, spread], [1.0, 2 * spread], by_ratio=True)
        assert found is not None
        assert found.high is None or found.high <= WIDEST * found.value


def test_samples_without_a_length_or_a_rate_say_nothing_of_an_event() -> None:
    event = an_event(0.1, 5.0, 0.5, 3.0)
    good = [RateSample(float(n), n + 1.0, 100.0) for n in range(20)]
    odd = [RateSample(5.0, 5.0, 9.0), RateSample(6.0, 7.0, math.nan), RateSample(7.0, 8.0, -3.0)]
    assert recovery([*good, *odd], event, 10.0, 20.0) == recovery(good, event, 10.0, 20.0)
    assert add_sources([good]) == good
