"""Tests how budgets change a plan's times: loads, totals, and the time of one pass."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from benchbrief.compiler.compile import check, examine
from benchbrief.compiler.estimates import budget_fit
from benchbrief.compiler.estimates.budget_fit import budget_fits, most_s, without_budgets
from benchbrief.compiler.estimates.estimate import counted_cells
from benchbrief.compiler.expand import expand
from benchbrief.compiler.explain.explain_plan import explain
from benchbrief.dsl.diagnostics.plain_amounts import duration, enough_time_in_words
from benchbrief.model.planned_cells import most_cells, planned_cells
from benchbrief.model.rate_search import Vote
from benchbrief.runners.scheduling.promise_search import searches_of
from tests.support.plans import compile_text

BOX = """
hardware {name} {{ hosts = "{name}.lab" }}
"""
LOADED = """
database rocks { engine = rocksdb  path = "/data" }
workload calm from db_bench.readrandom { records = 1000M }
"""


def test_loads_on_hosts_of_their_own_do_not_add_up_beside_the_time_of_a_pass(tmp_path: Path) -> None:
    told = {}
    for boxes in (["one"], ["one", "two"]):
        text = "".join(BOX.format(name=name) for name in boxes) + LOADED
        text += f"experiment e {{ hardware = [{', '.join(boxes)}]  workloads = calm  threads = 1  measure = 1 min\n"
        plan = compile_text(text + "  repeats = 4  budget = 90 s }\n", tmp_path)
        (fit,) = budget_fits(plan)
        assert 0 < fit.loading_s < fit.pass_s
        told[len(boxes)] = fit.too_small
    assert told[1] == told[2]


TWO = (
    BOX.format(name="one")
    + LOADED
    + """
experiment e { hardware = one  workloads = calm  threads = 1  measure = 10 min  repeats = 9  @BUDGET@ }
experiment f { hardware = one  workloads = calm  threads = 1  measure = 10 min  repeats = 2 }
"""
)


def test_totals_end_with_the_budget_of_each_experiment_and_with_that_of_the_run(tmp_path: Path) -> None:
    whole = compile_text(TWO.replace("@BUDGET@", ""), tmp_path)
    assert most_s(whole) == whole.estimate_s
    within = compile_text(TWO.replace("@BUDGET@", "budget = 60 min"), tmp_path)
    assert most_s(within, "e") == 3600
    assert most_s(within, "f") == most_s(whole, "f")
    assert most_s(within) == pytest.approx(3600 + most_s(whole, "f"))
    told = " ".join(explain(within).split())
    assert "e up to about 1 h f about 20 min" in told
    assert "up to about 1 h 20 min" in told
    assert most_s(within.model_copy(update={"budget_s": 4000.0})) == 4000
    assert most_s(within.model_copy(update={"budget_s": 3000.0}), "e") == 3000


@pytest.mark.long
def test_a_check_expands_the_cells_once_for_all_budgets_and_leaves_large_matrices_to_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def counted(*given: Any) -> tuple[Any, ...]:
        cells = expand(*given)
        seen.append(len(cells))
        return cells

    monkeypatch.setattr(budget_fit, "expand", counted)
    path = tmp_path / "brief.bench"
    for points, times, codes in ((2, 1, ["E0554"] * 3), (900, 0, [])):
        text = BOX.format(name="one") + LOADED
        for name in "efg":
            text += f"experiment {name} {{ hardware = one  workloads = calm  threads = range(1, {points}, step: 1)\n"
            text += "  measure = 1 min  repeats = 3  budget = 90 s }\n"
        path.write_text(text, encoding="utf-8")
        seen.clear()
        assert [each.code for each in check(path).diagnostics if each.code.startswith("E")] == codes
        assert len(seen) == times


def test_points_of_an_adaptive_ramp_that_are_taken_are_not_asked_for_again(tmp_path: Path) -> None:
    text = BOX.format(name="one") + LOADED.replace("1000M", "1k")
    ramp = "threads = adaptive(1..256, points: 5)"
    text += f"experiment e {{ hardware = one  workloads = calm  {ramp}  measure = 10 min }}\n"
    plan = compile_text(text, tmp_path).model_copy(update={"budget_s": 1800.0})
    taken = [cell.id for cell in plan.cells if cell.threads in (1, 4, 16, 256)]
    (whole,), (rest,) = budget_fits(plan), budget_fits(plan, taken)
    assert not whole.fits
    assert rest.fits
    assert 600 <= rest.pass_s < 700, "one point is left"


RAMP = """
experiment e {{ hardware = one  workloads = calm  threads = {threads}  measure = 10 min  repeats = {repeats} }}
"""


@pytest.mark.parametrize(
    ("threads", "repeats", "passes"),
    [
        ("[1, 2]", 2, "each point once"),
        ("adaptive(1..256, points: 5)", 1, "the points that adaptive ramps choose"),
        ("adaptive(1..256, points: 5)", 2, "the points that adaptive ramps choose, with all their repeats,"),
    ],
)
def test_one_pass_is_what_a_budget_can_not_leave_out(tmp_path: Path, threads: str, repeats: int, passes: str) -> None:
    text = BOX.format(name="one") + LOADED.replace("1000M", "1k") + RAMP.format(threads=threads, repeats=repeats)
    plan = compile_text(text, tmp_path).model_copy(update={"budget_s": 60.0})
    (fit,) = budget_fits(plan)
    assert f"to measure {passes} takes about {duration(fit.pass_s)}" in fit.too_small
    assert ("fewer points or repeats" in fit.mended) == ("repeats" in passes)
    assert fit.pass_s == most_s(without_budgets(plan)) or repeats > 1
    if "adaptive" in threads:
        assert fit.pass_s == fit.all_s


def test_the_budget_that_is_named_as_enough_is_enough(tmp_path: Path) -> None:
    text = BOX.format(name="one") + LOADED + RAMP.format(threads="[1, 2]", repeats=3)
    for measure in ("1 s", "1 min", "10 h"):
        plan = compile_text(text.replace("10 min", measure), tmp_path).model_copy(update={"budget_s": 1.0})
        (fit,) = budget_fits(plan)
        found = re.fullmatch(r"a budget of (\d+) (s|min|h)(?: \(.*\))? or more, .*", fit.mended)
        assert found
        enough = float(found[1]) * {"s": 1, "min": 60, "h": 3600}[found[2]]
        for budget_s, fits in ((enough, True), (fit.pass_s - 0.5, False)):
            (again,) = budget_fits(plan.model_copy(update={"budget_s": budget_s}))
            assert again.fits is fits


def test_a_plan_that_run_refuses_says_so_first_and_tells_no_total_of_it(tmp_path: Path) -> None:
    text = BOX.format(name="one") + LOADED + RAMP.format(threads="[1, 2]", repeats=3)
    plan = compile_text(text, tmp_path)
    told = explain(plan.model_copy(update={"budget_s": 60.0}), width=300)
    assert re.search(r"`bench run` refuses this plan: the budget of 1 min for the run is below one pass", told)
    assert told.index("refuses") < told.index("Hosts")
    _, total = told.split("Total, without the budget that is refused\n")
    assert total.split("\n")[0] == explain(plan, width=300).split("Total\n")[1].split("\n")[0]
    assert "refuses this" not in explain(plan.model_copy(update={"budget_s": 1e6}), width=300)


@pytest.mark.long
def test_repeats_that_a_search_leaves_out_are_not_reported_as_repeats_that_do_not_fit(tmp_path: Path) -> None:
    text = (Path(__file__).parent / "plans" / "search_for_a_promise.bench").read_text(encoding="utf-8")
    plan = compile_text(text, tmp_path).model_copy(update={"budget_s": 86400.0})
    (fit,) = budget_fits(plan)
    assert fit.most <= max(each.repeats for each in plan.experiments.values())
    assert f"all {fit.most + 1} repeats" not in fit.text


def test_a_budget_below_one_pass_names_the_searches_for_a_promise_that_choose_the_points(tmp_path: Path) -> None:
    text = (Path(__file__).parent / "plans" / "search_for_a_promise.bench").read_text(encoding="utf-8")
    (fit,) = budget_fits(compile_text(text, tmp_path).model_copy(update={"budget_s": 1.0}))
    assert "the points that searches choose, with all their repeats, takes about" in fit.too_small


@pytest.mark.long
def test_every_total_is_what_a_run_measures_at_most_and_an_estimate_stands_beside_it(tmp_path: Path) -> None:
    text = (Path(__file__).parent / "plans" / "search_for_a_promise.bench").read_text(encoding="utf-8")
    plan = compile_text(text, tmp_path)
    most, likely = planned_cells(plan), len(counted_cells(plan.cells, plan.experiments))
    assert likely < most == examine(Path(plan.spec.name)).cells
    told = " ".join(explain(plan, 300).split())
    assert f"up to {most} cells, about 1 h 30 min for the {likely} that a search usually measures" in told
    for each in plan.experiments.values():
        own = len(counted_cells([cell for cell in plan.cells if cell.experiment == each.name], plan.experiments))
        assert f"= up to {most_cells(each)} cells, usually {own} " in told


@pytest.mark.long
def test_the_estimate_of_a_search_is_what_it_still_asks_for_by_its_votes(tmp_path: Path) -> None:
    text = (Path(__file__).parent / "plans" / "search_for_a_promise.bench").read_text(encoding="utf-8")
    plan = compile_text(text, tmp_path)
    (search, *others) = searches_of(plan)
    own = [cell for of in search.cells.values() for cell in of]
    votes: dict[str, Vote] = {}
    left = []
    while (cell := search.next(votes)[1]) is not None:
        counted = counted_cells(own, plan.experiments, votes, votes)
        assert cell.id in counted or not votes, "the next cell is among those that are counted"
        left.append(len(counted) - len(votes))
        assert left[-1] > 0, "time is left as long as the search asks for a cell"
        of_rate = [name for name in votes if f"target={cell.target:.0f}/" in name]
        lucky = len(of_rate) % 2 == 0  # each second run at a rate breaks the promise: as many runs as can be
        votes[cell.id] = "met" if (cell.target or 0) <= 20_000 and lucky else "broken"
    assert len(votes) > len(counted_cells(own, plan.experiments)), "it measured more than it usually does"
    assert counted_cells(own, plan.experiments, votes, votes) == set(votes), "nothing is left of one that has ended"
    assert others == searches_of(plan)[1:]


def test_a_budget_that_would_do_is_said_in_hours_beside_its_minutes() -> None:
    assert [enough_time_in_words(seconds) for seconds in (45, 600, 10_920, 39_600)] == [
        "45 s",
        "10 min",
        "182 min (3 h 2 min)",
        "11 h",
    ]
