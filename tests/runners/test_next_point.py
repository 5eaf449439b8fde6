"""Tests how the next point of an adaptive ramp depends on the measurements."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchbrief.compiler.blocks.ramps import ramp_candidates
from benchbrief.compiler.estimates.estimate import spread
from benchbrief.runners.scheduling.point_choice import Choice, bend_at, next_point

GRID = ramp_candidates(1, 512)


def chosen(rate: Callable[[float], float | None], count: int, grid: tuple[float, ...] = GRID) -> list[float]:
    """Return the points of a curve in the order of their measurement."""
    curve: dict[float, float | None] = {}
    while len(curve) < count:
        choice = next_point(grid, [curve])
        if choice is None:
            break
        curve[choice.point] = rate(choice.point)
    return list(curve)


def test_both_ends_come_first_then_the_middle_on_a_logarithmic_axis() -> None:
    assert chosen(lambda n: n, 3, ramp_candidates(1, 256)) == [1, 256, 16]


def test_points_gather_where_the_throughput_stops_to_grow() -> None:
    found = chosen(lambda n: 100 * min(n, 40), 9)
    assert sum(16 <= point <= 108 for point in found) >= 4
    assert min(found, key=lambda point: abs(point - 40)) in (38, 40, 45)


def test_without_a_bend_the_longest_interval_is_halved() -> None:
    assert chosen(lambda _: 1000.0, 5, ramp_candidates(1, 256)) == [1, 256, 16, 4, 64]
    assert chosen(lambda n: 7 * n, 5, ramp_candidates(1, 256)) == [1, 256, 16, 4, 64]


def test_the_reason_has_the_interval_and_the_bend() -> None:
    curve = {1.0: 100.0, 16.0: 1600.0, 256.0: 1600.0}
    choice = next_point(ramp_candidates(1, 256), [curve])
    assert choice == Choice(4.0, "bend", 1.0, 16.0, bend_at(16.0, curve))
    assert choice.bend == pytest.approx(1.0)


def test_a_bend_is_the_change_of_the_scaling_exponent() -> None:
    curve = {1.0: 100.0, 4.0: 400.0, 16.0: 800.0, 64.0: 800.0}
    assert bend_at(4.0, curve) == pytest.approx(0.5)
    assert bend_at(16.0, curve) == pytest.approx(0.5)
    assert bend_at(1.0, curve) == bend_at(64.0, curve) == 0.0


def test_a_failed_point_counts_and_is_not_tried_again() -> None:
    found = chosen(lambda n: None if n == 23 else 100 * min(n, 40), 9)
    assert len(found) == len(set(found)) == 9
    assert found.count(23) == 1


@pytest.mark.parametrize("bad", [1.0, 512.0])
def test_a_failed_end_is_approached_from_the_other_side(bad: float) -> None:
    found = chosen(lambda n: None if n == bad else 100 * min(n, 40), 9)
    assert len(set(found)) == 9


def test_a_curve_without_any_result_is_spread_evenly() -> None:
    assert chosen(lambda _: None, 5, ramp_candidates(1, 256)) == [1, 256, 16, 4, 64]


def test_no_point_is_left_when_all_candidates_were_tried() -> None:
    grid = ramp_candidates(1, 8)
    assert sorted(chosen(lambda n: n, 100, grid)) == list(grid)


def test_curves_that_share_their_points_go_by_the_largest_bend() -> None:
    straight, bent = {1.0: 1.0, 16.0: 16.0, 256.0: 256.0}, {1.0: 1.0, 16.0: 16.0, 256.0: 20.0}
    choice = next_point(ramp_candidates(1, 256), [straight, bent])
    assert choice is not None
    assert choice.bend == pytest.approx(bend_at(16.0, bent))


def test_more_points_go_on_where_fewer_ended() -> None:
    def rate(n: float) -> float:
        return 1000 * n / (1 + 0.03 * (n - 1) + 1e-4 * n * (n - 1))

    assert chosen(rate, 12)[:9] == chosen(rate, 9)


# --- candidates ---


def test_candidates_are_whole_numbers_at_equal_ratios_with_both_ends() -> None:
    grid = ramp_candidates(1, 512)
    assert (grid[0], grid[-1]) == (1, 512)
    assert set(GRID) >= {2.0**n for n in range(10)}, "the powers of two are among them"
    assert all(point == int(point) for point in grid)
    assert list(grid) == sorted(set(grid))


def test_near_ends_have_every_whole_number() -> None:
    assert ramp_candidates(1, 8) == tuple(map(float, range(1, 9)))
    assert ramp_candidates(8, 9) == (8, 9)


def test_offered_loads_have_three_digits_between_the_ends() -> None:
    grid = ramp_candidates(1234, 98_765)
    assert (grid[0], grid[-1]) == (1234, 98_765)
    assert all(len(f"{point:.0f}".rstrip("0")) <= 3 for point in grid[1:-1])
    assert len(grid) >= 25


def test_an_estimate_counts_points_at_equal_distances() -> None:
    assert spread((1, 2, 3, 4, 5), 3) == (1, 3, 5)
    assert spread((1, 2, 3), 9) == (1, 2, 3)
    assert spread((1, 2, 3), 1) == (1,)
    assert spread((1, 2, 3), 0) == spread((1, 2, 3), -2) == ()
