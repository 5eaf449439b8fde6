"""Tests the `held_out` of a claim: what it measures again, what it costs, and when it is useless."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.compiler.estimates.budget_fit import most_s
from benchbrief.compiler.estimates.estimate import held_out_times
from benchbrief.model.held_out import Place, advised_times, cells_held_out, claims_held_out, held_out_cells
from tests.compiler.test_claims import AT, SPEC, checked, claim

MOST = "max(ratio over threads, workload)"


def codes(folder: Path, value: str, more: str) -> set[str]:
    return {each.code for each in checked(folder, "Work, {value:.1f}, against {legacy}", value, more).diagnostics}


@pytest.mark.parametrize(
    ("value", "held_out", "code"),
    [
        (f"ratio{AT}", "3", "E0855"),
        (f"throughput[eco]{AT}", "3", "E0855"),
        ("max(ratio over threads, workload when threads > 8)", "3", "E0856"),
        (MOST, "0", "E0401"),
        (MOST, "1", "E0401"),
        (MOST, "1000", "E0401"),
        (MOST, "2.5", "E0402"),
        (MOST, "2", "W0765"),
    ],
)
def test_held_out_is_refused_where_it_makes_no_sense(value: str, held_out: str, code: str, tmp_path: Path) -> None:
    assert code in codes(tmp_path, value, f"held_out = {held_out} ")


def test_the_rate_of_a_search_is_held_out_already(tmp_path: Path) -> None:
    searched = SPEC.replace(
        "threads = [8, 16, 32]", "threads = 8  target = highest(1k ops/s..9k ops/s, where: errors < 1 %, within: 50 %)"
    )
    text = 'claim said "{value:,.0f} ops/s" { value = max(sustained over hardware, workload)  held_out = 5 }\n'
    (tmp_path / "spec.bench").write_text(
        searched.partition("metric")[0].replace("  repeats = 3", "") + text + 'report b "B" { headline = said }\n',
        encoding="utf-8",
    )
    found = check(tmp_path / "spec.bench")
    assert "E0857" in {each.code for each in found.diagnostics}, found.diagnostics


def test_enough_held_out_repeats_are_advised_by_the_number_of_claims(tmp_path: Path) -> None:
    assert [advised_times(claims) for claims in (1, 2, 3, 5, 10, 11, 40, 500)] == [3, 4, 4, 5, 5, 6, 6, 7]
    assert "W0765" not in codes(tmp_path, MOST, "held_out = 3 ")
    of_its_own = "max(throughput[eco] over threads, workload)"
    assert "W0765" not in codes(tmp_path, of_its_own, "held_out = 2 "), "nothing is compared"


def test_claims_in_two_languages_about_one_number_are_one(tmp_path: Path) -> None:
    both = f"""{SPEC}
claim said "Up to {{value:.1f}}X the work of {{legacy}}" {{ value = {MOST}  held_out = 3 }}
claim said_ja "{{legacy}} に対して最大で {{value:.1f}} 倍" {{ value = {MOST}  held_out = 3 }}
"""
    (tmp_path / "spec.bench").write_text(both, encoding="utf-8")
    found = check(tmp_path / "spec.bench")
    assert found.plan is not None
    assert "W0765" not in {each.code for each in found.diagnostics}
    assert list(held_out_times(found.plan)) == ["said"]
    assert {name: by.name for name, by in claims_held_out(found.plan.claims).items()} == {
        "said": "said",
        "said_ja": "said",
    }


def test_all_claims_about_one_number_take_the_same_held_out_repeats(tmp_path: Path) -> None:
    three = f"""{SPEC}
claim plain "Up to {{value:.1f}}X the work of {{legacy}}" {{ value = best }}
claim said "At its best {{value:.2f}}X the work of {{legacy}}" {{ value = {MOST}  held_out = 4 }}
claim said_ja "{{legacy}} に対して最大で {{value:.1f}} 倍" {{ value = {MOST}  held_out = 3 }}
claim least "At least {{value:.1f}}X the work of {{legacy}}" {{ value = {MOST.replace("max", "min")} }}
"""
    (tmp_path / "spec.bench").write_text(three, encoding="utf-8")
    found = check(tmp_path / "spec.bench")
    assert found.plan is not None, found.diagnostics
    times = {each.name: each.held_out.times if each.held_out else 0 for each in found.plan.claims}
    assert times == {"plain": 4, "said": 4, "said_ja": 4, "least": 0}
    assert list(held_out_times(found.plan)) == ["plain"], "they are measured once"


def test_the_plan_has_what_is_held_out_and_its_time(tmp_path: Path) -> None:
    made = claim(tmp_path, "Up to {value:.1f}X the work of {legacy}", MOST, "held_out = 3 ")
    assert made.held_out is not None
    (extreme,) = made.held_out.extremes
    assert (made.held_out.times, extreme.bound, set(extreme.points.dims)) == (3, "high", {"threads", "workload"})
    assert made.held_out.repeats.dims[-1] == "repeat"
    with_it = checked(tmp_path, "Up to {value:.1f}X the work of {legacy}", MOST, "held_out = 3 ").plan
    without = checked(tmp_path, "Up to {value:.1f}X the work of {legacy}", MOST).plan
    assert with_it is not None
    assert without is not None
    (seconds,) = held_out_times(with_it).values()
    assert seconds >= 3 * 2 * 5 * 60, "three repeats of both sides, five minutes each"
    assert with_it.estimate_s - without.estimate_s == pytest.approx(seconds)
    assert most_s(with_it) - most_s(without) == pytest.approx(seconds)
    assert [cell.hash for cell in with_it.cells] == [cell.hash for cell in without.cells]


def test_both_sides_of_the_winning_point_are_measured_again_in_turns(tmp_path: Path) -> None:
    plan = checked(tmp_path, "Up to {value:.1f}X the work of {legacy}", MOST, "held_out = 3 ").plan
    assert plan is not None
    (made,) = plan.claims
    assert made.held_out is not None
    won = cells_held_out(plan, made, made.held_out, [{"threads": 16.0, "workload": "c"}], plan.cells)
    again = held_out_cells(won, 2)
    assert [cell.id for cell in again] == [
        f"ramp/{side}/c/threads=16/h{n}" for n in (1, 2) for side in ("eco", "legacy")
    ]
    assert [cell.repeat for cell in again] == [4, 4, 5, 5], "no repeat of the plan is one of them"
    assert not {cell.hash for cell in again} & {cell.hash for cell in plan.cells}


def test_the_base_at_another_point_is_measured_again_too(tmp_path: Path) -> None:
    value = "max(throughput[eco, a] / throughput[eco, a][threads: 8] over threads)"
    plan = checked(tmp_path, "Up to {value:.1f}X the work of 8 threads", value, "held_out = 3 ").plan
    assert plan is not None
    (made,) = plan.claims
    assert made.held_out is not None
    won = cells_held_out(plan, made, made.held_out, [{"threads": 32.0}], plan.cells)
    assert {cell.id.rpartition("/")[0] for cell in won} == {"ramp/eco/a/threads=8", "ramp/eco/a/threads=32"}


def test_both_winners_of_two_maxima_are_measured_again(tmp_path: Path) -> None:
    best = "max(throughput[{0}] over threads, workload)"
    value = f"{best.format('eco')} / {best.format('legacy')}"
    plan = checked(tmp_path, "{value:.1f}X the best of {legacy}", value, "held_out = 3 ").plan
    assert plan is not None
    (made,) = plan.claims
    assert made.held_out is not None
    sides = [each.points.reads[0].keys["hardware"] for each in made.held_out.extremes if each.points.reads]
    at: dict[object, Place] = {
        ("eco",): {"threads": 32.0, "workload": "a"},
        ("legacy",): {"threads": 16.0, "workload": "c"},
    }
    won = cells_held_out(plan, made, made.held_out, [at[side] for side in sides], plan.cells)
    assert {cell.id.rpartition("/")[0] for cell in won} == {"ramp/eco/a/threads=32", "ramp/legacy/c/threads=16"}
