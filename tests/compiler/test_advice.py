"""Tests which changes to a spec `bench plan` advises, and the time that they save."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.compiler.blocks.equipment_errors import KEEP
from benchbrief.compiler.compile import check
from benchbrief.compiler.estimates import advice as module
from benchbrief.compiler.estimates.advice import Advice, advice
from benchbrief.compiler.estimates.budget_fit import budget_fits, most_s
from benchbrief.compiler.estimates.learned import Keys, SeenStep, with_history
from benchbrief.compiler.explain.explain_plan import explain
from benchbrief.dsl.source import display_width
from tests.compiler.test_expand import plan_of

RELOADS = """
hardware box "The box" { hosts = "box.lab" }
client load "Load" { hosts = "load.lab"  tool = ycsb("/opt/ycsb") }
database mongo "文書データベース" { engine = mongodb  uri = "mongodb://{hosts}/ycsb"  reset = drop_and_load }
workload r "読み取り" from ycsb.c { records = 10M }
workload w "更新" from ycsb.a { records = 10M }
experiment reads "読み取り" { hardware = box  workloads = r  threads = [1, 2, 4, 8]  measure = 10 min }
experiment writes "更新" { hardware = box  workloads = w  threads = [1, 2]  measure = 10 min }
"""
TURNS = """
hardware box "The box" {
  hosts = "box.lab"
  variant a "First"  { prepare = command("cache off") }
  variant b "Second" { prepare = command("cache on") }
}
client load "Load" { hosts = "load.lab"  tool = ycsb("/opt/ycsb") }
database mongo "Documents" { engine = mongodb  uri = "mongodb://{hosts}/ycsb"  reset = after_writes }
workload r "Reads" from ycsb.c { records = 10M }
experiment turns "By turns" {
  hardware = box.variants  workloads = r  threads = [1, 2]  measure = 10 min  repeats = 2, interleaved
}
"""


def advised(tmp_path: Path, text: str, *, threads: bool = False) -> tuple[Advice, ...]:
    """Return the advice for a spec. Advice about load threads is left out unless `threads` is set, because most specs
    here would get it."""
    path = tmp_path / "advised.bench"
    path.write_text(text, encoding="utf-8")
    checked = check(path)
    assert checked.plan is not None, checked.diagnostics
    assert checked.model is not None
    found = advice(checked.model, checked.plan, lambda each: each)
    return found if threads else tuple(each for each in found if "load_threads" not in each.change)


def test_a_cheaper_reset_is_advised_with_the_time_that_a_plan_with_it_saves(tmp_path: Path) -> None:
    found = {each.change: each for each in advised(tmp_path, RELOADS)}
    for change, each in found.items():
        assert each.of == "database mongo"
        changed = plan_of(tmp_path, RELOADS, ("reset = drop_and_load", change.strip("`")))
        assert each.saves_s == pytest.approx(plan_of(tmp_path, RELOADS).estimate_s - changed.estimate_s)
        assert each.saves_s > 3600
    assert found


def test_advice_against_loads_that_the_spec_asks_for_says_when_to_keep_them(tmp_path: Path) -> None:
    (found,) = (each for each in advised(tmp_path, RELOADS) if each.change.startswith("`reset"))
    assert found.why.endswith(f"; {KEEP}"), "a cold cache may be what is asked for"
    kept = RELOADS.replace("drop_and_load", "after_writes").replace("ycsb.c", "ycsb.d")
    (found,) = (each for each in advised(tmp_path, kept) if each.change.startswith("`reset"))
    assert KEEP not in found.why, "here no cell has a cold cache anyway"


def test_the_reset_that_restores_more_is_advised_where_both_save_alike(tmp_path: Path) -> None:
    (found,) = advised(tmp_path, RELOADS[: RELOADS.index("experiment writes")])
    assert found.change == "`reset = after_writes`", "no cell writes, so as_needed saves no more"


def test_more_threads_to_load_are_advised_with_the_time_that_they_save(tmp_path: Path) -> None:
    text = RELOADS.replace("reset = drop_and_load", "reset = undo").replace("10M", "100M")
    text = text.replace('"load.lab"', '"load-[1-2].lab"').replace("threads = [1, 2", "threads = [3, 2")
    (found,) = (each for each in advised(tmp_path, text, threads=True) if "threads" in each.change)
    assert (found.change, found.of) == ("`load_threads = 64`", "workloads r, w")
    changed = plan_of(tmp_path, text, ("records = 100M }", "records = 100M  load_threads = 64 }"))
    assert found.saves_s == pytest.approx(plan_of(tmp_path, text).estimate_s - changed.estimate_s)
    assert found.saves_s > 3600
    assert "guess" in found.why
    chosen = text.replace("records = 100M }", "records = 100M  load_threads = 16 }")
    assert not any("threads" in each.change for each in advised(tmp_path, chosen, threads=True)), "the spec has chosen"


def test_an_order_that_loads_less_often_is_advised_with_the_time_that_it_saves(tmp_path: Path) -> None:
    (found,) = advised(tmp_path, TURNS)
    assert found.of == "experiment turns"
    assert found.change == "`grouped` in place of `interleaved` in `repeats`"
    changed = plan_of(tmp_path, TURNS, (", interleaved", ", grouped"))
    assert found.saves_s == pytest.approx(plan_of(tmp_path, TURNS).estimate_s - changed.estimate_s)
    assert "drift" in found.why, "what it costs is said too"


def test_what_saves_nothing_is_not_advised(tmp_path: Path) -> None:
    assert advised(tmp_path, TURNS.replace(", interleaved", "")) == ()


@pytest.mark.parametrize("reset", ["reuse", 'command("./restore.sh")'])
def test_a_reset_of_the_users_own_is_left_alone(tmp_path: Path, reset: str) -> None:
    assert advised(tmp_path, RELOADS.replace("drop_and_load", reset)) == ()


def test_the_most_saving_comes_first(tmp_path: Path) -> None:
    text = TURNS.replace("after_writes", "drop_and_load").replace("records = 10M", "records = 30M")
    saved = [each.saves_s for each in advised(tmp_path, text)]
    assert saved == sorted(saved, reverse=True)


def test_a_very_large_plan_gets_no_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", 3)
    assert advised(tmp_path, RELOADS) == ()


def test_advice_is_by_what_earlier_runs_took(tmp_path: Path) -> None:
    path = tmp_path / "advised.bench"
    path.write_text(RELOADS, encoding="utf-8")
    checked = check(path)
    assert checked.plan is not None
    assert checked.model is not None
    quick = {Keys.of(checked.plan, cell).load: SeenStep(10.0, "r1", 10_000_000) for cell in checked.plan.cells}
    assert advice(checked.model, checked.plan, lambda each: with_history(each, quick).plan) == ()


def test_advice_is_printed_in_80_columns_with_its_share(tmp_path: Path) -> None:
    found = advised(tmp_path, RELOADS)
    lines = explain(plan_of(tmp_path, RELOADS), 80, advised=found).splitlines()
    said = lines[lines.index("What would save time") :]
    assert max(map(display_width, said)) <= 80
    assert said[1].startswith(f"  {found[0].change} for database mongo saves ")
    assert " %): " in " ".join(said)


BOUNDED = RELOADS.replace(
    "threads = [1, 2]  measure = 10 min }", "threads = [1, 2]  measure = 10 min  repeats = 5  @ }"
)


def test_under_a_budget_a_change_gains_repeats_and_saves_no_more_than_the_total_shows(tmp_path: Path) -> None:
    bounded = BOUNDED.replace("@", "budget = 3 h").replace("threads = [1, 2, 4, 8]", "threads = 1")
    (found,) = advised(tmp_path, bounded)
    was, now = (
        plan_of(tmp_path, bounded, *changes) for changes in ((), (("reset = drop_and_load", found.change.strip("`")),))
    )
    assert found.saves_s == pytest.approx(most_s(was) - most_s(now), abs=1)
    assert found.saves_s < was.estimate_s - now.estimate_s, "which no budget bounds"
    assert (budget_fits(was)[0].times, budget_fits(now)[0].times) == (2, 5)
    assert found.gains == "every point of experiment writes be measured 5 times instead of twice".replace(
        "twice", "2 times"
    )
    assert found.as_dict()["gains"] == found.gains
    text = " ".join(explain(was, 200, advised=(found,)).split())
    assert f"lets {found.gains}: " in text


def test_seconds_of_a_long_run_are_no_advice(tmp_path: Path) -> None:
    text = RELOADS.replace("records = 10M", "records = 20k").replace("measure = 10 min", "measure = 2 min")
    assert advised(tmp_path, text) == ()


APART = """
hardware one "One" { hosts = "one.lab" }
hardware two "Two" { hosts = "two.lab" }
database rocks "Documents" { engine = rocksdb  path = "/data/db"  reset = drop_and_load }
workload w "Writes" from db_bench.readrandom { records = 100M }
experiment e "Apart" { hardware = [one, two]  workloads = w  threads = [1, 2]  measure = 10 min  overlap = none }
"""


def test_loading_beside_a_measurement_is_advised_where_nothing_may_run_there(tmp_path: Path) -> None:
    found = {each.change: each for each in advised(tmp_path, APART)}
    loading = found["`overlap = loading` in place of `none`"]
    assert loading.of == "experiment e"
    changed = plan_of(tmp_path, APART, ("overlap = none", "overlap = loading"))
    assert loading.saves_s == pytest.approx(plan_of(tmp_path, APART).estimate_s - changed.estimate_s)
    assert not any("overlap" in each.change for each in advised(tmp_path, APART.replace("overlap = none", "")))


REPLACED = """
hardware box "The box" { hosts = "box.lab" }
client load "Load" { hosts = "load.lab"  tool = ycsb("/opt/ycsb") }
database mongo "Documents" { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload small "Small" from ycsb.c { records = 10M }
workload large "Large" from ycsb.c { records = 20M }
@
"""
THREE = {
    name: f'experiment {name} "{name}" {{ hardware = box  workloads = {of}  threads = {n}  measure = 10 min }}\n'
    for name, of, n in (("first", "small", 1), ("second", "large", 1), ("third", "small", 2))
}


def test_an_experiment_is_advised_to_come_before_one_that_replaces_its_data(tmp_path: Path) -> None:
    text = REPLACED.replace("@", "".join(THREE.values()))
    (found,) = advised(tmp_path, text)
    assert (found.change, found.of) == ("`experiment second` before `experiment first`", "the spec")
    changed = REPLACED.replace("@", THREE["second"] + THREE["first"] + THREE["third"])
    assert found.saves_s == pytest.approx(plan_of(tmp_path, text).estimate_s - plan_of(tmp_path, changed).estimate_s)
    assert advised(tmp_path, changed) == ()


def test_no_experiment_is_advised_to_come_before_one_that_it_waits_for(tmp_path: Path) -> None:
    knee = THREE["second"].replace("threads = 1", "threads = knee(from: 1, factor: 2, to: 8, rise: 10 %, gain: 3 %)")
    text = REPLACED.replace("@", THREE["first"] + knee + THREE["third"].replace("threads = 2", "threads = second.knee"))
    assert plan_of(tmp_path, text).experiments["third"].requires == ("second",)
    assert not any("`experiment third` before" in each.change for each in advised(tmp_path, text))
