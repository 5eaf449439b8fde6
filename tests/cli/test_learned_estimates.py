"""Tests that `bench plan` bases its estimates on how long earlier runs in the folder took."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.compiler.estimates.learned import MOST_TIMES, Keys, SeenStep, with_history
from benchbrief.model.plan import Plan
from benchbrief.results.runs.times_taken import learned_times, times_taken
from benchbrief.runners.journal.run_folder import load_plan
from tests.cli.specs import SMALL
from tests.compiler.test_expand import plan_of
from tests.support.bench import Bench


def estimates(bench: Bench, *options: str) -> list[dict[str, str]]:
    done = bench("plan", "brief.bench", "--json", *options)
    assert done.code == 0, done.err
    found: list[dict[str, str]] = done.json["time"]["estimates"]
    return found


def test_loads_and_start_up_are_estimated_as_the_last_run_took_them(copied_run: Bench) -> None:
    (run,) = copied_run.run_dirs()
    plan = load_plan(run)
    found = estimates(copied_run)
    assert {each["run"] for each in found} == {run.name}
    estimated = with_history(plan, learned_times(run.parent)).plan
    loaded = [attempt for attempt in times_taken(run).attempts.values() if attempt.loaded]
    assert loaded
    by_id = {cell.id: cell for cell in estimated.cells}
    for attempt in loaded:
        load_s = next(step.seconds for step in by_id[attempt.cell].steps if step.kind == "load")
        assert load_s == pytest.approx(attempt.steps["load"], rel=0.5)
    text = copied_run("plan", "brief.bench").out
    assert f"as in run {run.name}:" in text
    assert "built in" not in text


def test_no_history_gives_the_built_in_estimates(copied_run: Bench) -> None:
    assert {each["run"] for each in estimates(copied_run, "--no-history")} == {""}


def test_the_times_of_a_cell_add_up_to_what_it_took(copied_run: Bench) -> None:
    (run,) = copied_run.run_dirs()
    cells = {cell.id: cell for cell in load_plan(run).cells}
    for attempt in times_taken(run).attempts.values():
        spent, cell = attempt.spent(cells[attempt.cell]), cells[attempt.cell]
        assert attempt.ended_at is not None
        assert sum(spent.values()) - spent["cooling"] == pytest.approx(attempt.ended_at - attempt.started_at)
        assert spent["measuring"] == pytest.approx(cell.measure_s, rel=0.2)


@pytest.mark.parametrize("damage", ["no journal", "half a journal", "no plan", "no text", "another plan"])
def test_a_damaged_run_teaches_nothing_and_breaks_nothing(copied_run: Bench, damage: str) -> None:
    (run,) = copied_run.run_dirs()
    journal, plan = run / "journal.jsonl", run / "plan.json"
    match damage:
        case "no journal":
            journal.unlink()
        case "half a journal":
            journal.write_bytes(journal.read_bytes()[: journal.stat().st_size // 2].replace(b'"seconds":', b'"sec":'))
        case "no plan":
            plan.unlink()
        case "no text":
            journal.write_bytes(b"\xff\x00\n" * 50)
        case _:
            plan.write_text(json.dumps({"format": "another"}))
    assert {each["run"] for each in estimates(copied_run)} == {""}


def test_a_run_of_another_machine_teaches_nothing(copied_run: Bench) -> None:
    (run,) = copied_run.run_dirs()
    journal = run / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    for line in lines:
        line.pop("sum", None)
        if line["type"] == "host_facts" and "hostname" in line["facts"]:
            line["facts"]["hostname"] = "elsewhere"
    journal.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    assert {each["run"] for each in estimates(copied_run)} == {""}


def test_a_load_that_ended_teaches_its_time_though_the_cell_failed_later(copied_run: Bench) -> None:
    (run,) = copied_run.run_dirs()
    journal = run / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    for line in lines:
        line.pop("sum", None)
        if line["type"] == "cell_ended":
            line["status"] = "failed"
    journal.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    learned = {each["activity"] for each in estimates(copied_run) if each["run"] == run.name}
    assert learned == {"loading", "rendering"}


def test_a_simulated_run_teaches_nothing(bench: Bench) -> None:
    bench.spec(SMALL)
    assert bench("run", "brief.bench", "--simulate", "--no-report").code == 0
    assert {each["run"] for each in estimates(bench)} == {""}


# --- how a time that was seen is used ----------------------------------------------------------------------------

SPEC = """
hardware box "The box" { hosts = "box.lab" }
client load "Load" { hosts = "load.lab"  tool = ycsb("/opt/ycsb") }
database mongo "Documents" { engine = mongodb  uri = "mongodb://{hosts}/ycsb"  reset = drop_and_load }
workload w "Updates" from ycsb.a { records = 1M }
experiment ramp "Ramp" { hardware = box  workloads = w  threads = [1, 2]  measure = 1 min }
"""


def load_s(plan: Plan) -> float:
    return next(step.seconds for step in plan.cells[0].steps if step.kind == "load")


def test_a_load_of_more_records_takes_longer_in_proportion(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SPEC)
    key = Keys.of(plan, plan.cells[0]).load
    estimated = with_history(plan, {key: SeenStep(101.0, "r1", 500_000)})
    assert load_s(estimated.plan) == pytest.approx(201.0), "one second of it is the start"
    assert ("loading", "r1") in {(each.activity, each.run) for each in estimated.sources}
    assert estimated.plan.estimate_s - plan.estimate_s == pytest.approx(2 * (201 - load_s(plan)))


def test_a_load_that_is_too_small_to_stand_for_a_large_one_does_not_count(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SPEC)
    key = Keys.of(plan, plan.cells[0]).load
    estimated = with_history(plan, {key: SeenStep(9.0, "r1", 1_000_000 / MOST_TIMES - 1)})
    assert load_s(estimated.plan) == load_s(plan)
    assert {each.run for each in estimated.sources} == {""}


UNDO = (("drop_and_load", "undo"), ("ycsb.a", "ycsb.d"))
COPIED = """
hardware box "The box" { hosts = "box.lab" }
database rocks { engine = rocksdb  path = "/data"  reset = @RESET@ }
workload w "Updates" from db_bench.overwrite { records = 100M }
experiment ramp "Ramp" { hardware = box  workloads = w  threads = [1, 2]  measure = 1 min }
"""


def reset_s(plan: Plan) -> float:
    return next(step.seconds for step in plan.cells[1].steps if step.reset not in ("", "load"))


@pytest.mark.parametrize("times", [1, 5, MOST_TIMES, MOST_TIMES + 1])
def test_an_undo_takes_longer_in_proportion_to_what_was_inserted(tmp_path: Path, times: float) -> None:
    plan = plan_of(tmp_path, SPEC, *UNDO)
    keys, planned_s = Keys.of(plan, plan.cells[1]), reset_s(plan)
    estimated = with_history(plan, {keys.reset("undo"): SeenStep(7.0, "r1", planned_s / times)}).plan
    assert reset_s(estimated) == pytest.approx(7.0 * times if times <= MOST_TIMES else planned_s)


@pytest.mark.parametrize(("reset", "how", "proportional"), [("snapshot", "copy", True), ("links", "links", False)])
def test_a_copy_takes_longer_with_more_data_and_links_do_not(
    tmp_path: Path, reset: str, how: str, proportional: bool
) -> None:
    plan = plan_of(tmp_path, COPIED.replace("@RESET@", reset))
    keys, planned_s = Keys.of(plan, plan.cells[1]), reset_s(plan)
    for times in (1, 5, MOST_TIMES + 1):
        seen = SeenStep(7.0, "r1", keys.reset_amount(how, planned_s) / times)
        expected = 7.0 if not proportional or times == 1 else 35.0 if times == 5 else planned_s
        assert reset_s(with_history(plan, {keys.reset(how): seen}).plan) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('hosts = "box.lab"', 'hosts = "other.lab"'),
        ('hosts = "load.lab"', 'hosts = "other.lab"'),
        ("tool = ycsb(", "tool = go_ycsb("),
        ("{hosts}/ycsb", "{hosts}:27018/ycsb"),
        ("records = 1M", "records = 1M  record_size = 4 kB"),
    ],
)
def test_what_was_seen_on_other_hosts_databases_tools_or_records_does_not_count(
    tmp_path: Path, old: str, new: str
) -> None:
    here, there = plan_of(tmp_path, SPEC), plan_of(tmp_path, SPEC, (old, new))
    assert Keys.of(here, here.cells[0]).load != Keys.of(there, there.cells[0]).load


def test_the_reset_and_the_number_of_records_do_not_matter_to_the_key(tmp_path: Path) -> None:
    here = plan_of(tmp_path, SPEC)
    there = plan_of(tmp_path, SPEC, ("drop_and_load", "after_writes"), ("1M", "5M"))
    assert Keys.of(here, here.cells[0]).load == Keys.of(there, there.cells[0]).load


def test_a_plan_is_the_same_whatever_was_seen(copied_run: Bench) -> None:
    checked = check(copied_run.folder / "brief.bench")
    assert checked.plan is not None
    before = checked.plan.model_dump_json()
    with_history(checked.plan, learned_times(copied_run.folder / "bench-out"))
    assert checked.plan.model_dump_json() == before
