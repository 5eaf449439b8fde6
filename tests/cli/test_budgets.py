"""Tests what users see of a budget: what fits is shown before the run, what was spent is shown after it, and the rule
is in the brief."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.bench import Bench, pages_of
from tests.support.longer import longer

SPEC = """\
hardware box "Box" {
  hosts = "box.lab"
  variant one "One" { path = "/one" }
  variant two "Two" { path = "/two" }
}
database rocks { engine = rocksdb  path = "{path}" }
workload rr "Reads" from db_bench.readrandom { records = 10k }
experiment ramp "Ramp" {
  hardware = box.variants  workloads = rr  threads = [1, 4]  measure = 1 min
  repeats  = confident(within: 1 %, from: 3, to: 9), interleaved
  @BUDGET@
}
metric gain "Gain" in % = throughput[two] / throughput[one] - 1, higher is better
expect gain > -50 %
report brief "Budget" {
  language = @LANGUAGE@
  table "Gain" { rows = workload  columns = gain by threads }
  disclosure = automatic
}
"""


def test_a_budget_below_one_pass_is_refused_with_what_it_would_need(bench: Bench) -> None:
    bench.spec(SPEC, BUDGET="", LANGUAGE="en")
    done = bench("run", "brief.bench", "--simulate", "--budget", "4min")
    assert done.code == 1, done.text
    said = " ".join(done.err.split())
    assert "the budget of 4 min for the run is below one pass: to measure each point once takes about 4 min" in said
    assert "help: a budget of 5 min or more" in said
    assert not list((bench.folder / "bench-out").glob("*"))
    wrong = bench("run", "brief.bench", "--budget", "4 kg")
    assert wrong.code == 2
    assert "`4 kg` is no time, such as 12h" in wrong.err


@pytest.mark.parametrize("given", ["30min12h", "1h1h", "3h30", "12H", "12 H", "0 h", "-1h", "1e3h"])
def test_a_budget_is_numbers_with_their_units_in_small_letters(bench: Bench, given: str) -> None:
    bench.spec(SPEC, BUDGET="", LANGUAGE="en")
    done = bench("plan", "brief.bench", "--budget", given)
    assert done.code == 2
    said = " ".join(done.err.split())
    assert f"`{given}` is no time, such as 12h" in said
    assert "with its unit in small letters, the larger unit first" in said


@pytest.mark.parametrize("given", ["3h30min", "3 h 30 min", "210min", "3.5h"])
def test_a_budget_may_have_several_units(bench: Bench, given: str) -> None:
    bench.spec(SPEC, BUDGET="", LANGUAGE="en")
    assert bench("plan", "brief.bench", "--json", "--budget", given).json["budget_s"] == 12600


@pytest.mark.parametrize("digits", [308, 400])
def test_a_budget_without_an_end_is_refused(bench: Bench, digits: int) -> None:
    bench.spec(SPEC, BUDGET="", LANGUAGE="en")
    done = bench("plan", "brief.bench", "--budget", "9" * digits + "h")
    assert done.code == 2
    assert "the number is too large" in " ".join(done.err.split())
    assert len(done.err) < 1000


def test_a_plan_says_what_fits(bench: Bench) -> None:
    bench.spec(SPEC, BUDGET="budget = 20 min", LANGUAGE="en")
    printed = " ".join(bench("plan", "brief.bench").out.split())
    assert re.search(
        r"20 min for experiment ramp: one pass takes about 4 min .*; every point can be measured 4 t", printed
    )
    large = SPEC.replace("threads = [1, 4]", "threads = range(1, 200, step: 1)")
    bench.spec(large, BUDGET="budget = 20 min", LANGUAGE="en")
    checked = bench("check", "brief.bench")
    assert (
        "ok, 1 warning, 3,600 cells; whether its budgets suffice is judged by: bench plan brief.bench"
        in checked.out.replace("3600", "3,600")
    )
    bench.spec(SPEC, BUDGET="budget = 20 min", LANGUAGE="en")
    assert "judged" not in bench("check", "brief.bench").out
    assert "Where the time goes (for all repeats)" in bench("plan", "brief.bench").out
    (fit,) = json.loads(bench("plan", "brief.bench", "--json").out)["time"]["budgets"]
    assert (fit["experiment"], fit["budget_s"], fit["fits"], fit["times_each_point"]) == ("ramp", 1200, True, 4)
    assert "4 min for the run is below one pass" in " ".join(
        bench("plan", "brief.bench", "--budget", "4min").out.split()
    )


@pytest.mark.parametrize(("language", "rule"), [("en", "had a budget of"), *longer(("ja", "の予算は"))])
def test_the_rule_is_in_the_brief_and_the_time_spent_in_the_status(bench: Bench, language: str, rule: str) -> None:
    bench.spec(SPEC, BUDGET="budget = 20 min", LANGUAGE=language)
    done = bench("run", "brief.bench", "--simulate")
    assert "budget: 20 min for experiment ramp: one pass takes" in done.err
    ended, skipped = bench.journal("cell_ended"), bench.journal("cell_skipped")
    assert len(ended) + len(skipped) == 36
    assert 16 <= len(ended) < 36
    (spent,) = json.loads(bench("status", "--json", bench.run_dir.name).out)["budgets"]
    assert spent["experiment"] == "ramp"
    assert 0.8 * 1200 < spent["spent_s"] <= 1200
    text = re.sub(r"<[^>]+>", "", pages_of(bench.run_dir))
    assert rule in text
    assert "99.29" in text, "seven looks share the 5 %"
    assert "Dunn" in text
    assert "Lan" in text, "and those at an expectation share it unequally"
    assert "20%" in text
    assert "50 %" in text
