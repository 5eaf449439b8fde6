"""Tests that simulated loads end when they are steady, by the same rule as real loads, and at the latest after their
longest time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchbrief.model.steadiness import judge_batches
from benchbrief.runners.world.load_model import Machine, Task, TaskLoad

TASK = Task(
    step="measure",
    cell="c",
    hash="h",
    seed=0,
    tool="openload",
    nodes=("box",),
    machine=Machine(cores=8.0),
    remote=False,
    mix={"read": 1.0},
    threads=16,
    all_threads=16,
    measure_s=1800.0,
    intended=True,
    steady_within=0.02,
    steady_from_s=120.0,
)


def looks(task: Task) -> list[bool]:
    """For each look, return whether the batches were steady."""
    steady = TaskLoad(task).steady
    assert steady is not None
    first = int(task.steady_from_s / 5)
    latency = steady.latency_ns
    return [
        judge_batches(steady.completed[:n], latency and latency[:n]).steady(task.steady_within)
        for n in range(first, len(steady.completed) + 1)
    ]


def test_it_ends_at_the_first_look_that_is_steady_and_counts_what_comes_after_the_cut() -> None:
    load = TaskLoad(TASK)
    reported, steady = load.report(1000.0), load.steady
    assert steady is not None
    seen = looks(TASK)
    assert seen == [False] * (len(seen) - 1) + [True]
    assert steady.cut_s > 0, "it begins cold"
    assert load.seconds == steady.lasted_s == len(steady.completed) * 5 < TASK.measure_s
    assert (reported.began_at, reported.seconds) == pytest.approx((1000 + steady.cut_s, steady.lasted_s - steady.cut_s))
    assert sum(count for _, count in reported.intervals) == reported.count


def test_a_load_that_falls_further_and_further_behind_has_its_longest_time() -> None:
    behind = replace(TASK, target=1e9, all_target=1e9, measure_s=302.0)
    load = TaskLoad(behind)
    assert load.steady is not None
    assert not any(looks(behind))
    assert (load.seconds, len(load.steady.completed)) == (302.0, 60)


def test_the_same_cell_ends_alike_and_a_set_time_has_no_rule() -> None:
    assert TaskLoad(TASK).steady == TaskLoad(TASK).steady
    timed = TaskLoad(replace(TASK, steady_within=0.0))
    assert (timed.steady, timed.seconds) == (None, 1800.0)
