"""Tests the comparison of a run's estimate with its actual time: after the run, in its journal, and on request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchbrief.compiler.estimates.estimate import ACTIVITIES
from benchbrief.progress.finished_run import full_lines
from benchbrief.results.runs.times_taken import compare_times, times_taken
from benchbrief.runners.journal.journal_file import read_run
from benchbrief.runners.journal.run_folder import load_plan
from tests.cli.conftest import FinishedRun
from tests.cli.specs import SMALL
from tests.support.bench import Bench


def test_a_run_ends_with_what_it_took_and_was_estimated_to_take(finished_run: FinishedRun) -> None:
    (line,) = [line for line in finished_run.ended.out.splitlines() if line.startswith("  time ")]
    assert ", estimated " in line


def test_the_journal_keeps_the_estimate_of_a_run_once(finished_run: FinishedRun) -> None:
    (estimated,) = finished_run.bench.journal("time_estimated")
    assert set(estimated["seconds"]["ramp"]) == set(ACTIVITIES)
    assert estimated["seconds"]["ramp"]["measuring"] == 4
    assert estimated["runs"] == [], "there was no earlier run"
    (made,) = finished_run.bench.journal("report_made")
    assert made["seconds"] > 0


def test_status_tells_each_activity_as_it_was_estimated_and_taken(copied_run: Bench) -> None:
    done = copied_run("status")
    said = done.out[done.out.index("\ntime: ") :].splitlines()[1:]
    assert said[0].startswith("time: ")
    assert [line.split()[0] for line in said[1:]] == ["loading", "measuring", "start-up", "rendering"]
    time: dict[str, Any] = copied_run("status", "--json").json["time"]
    assert time["in_all"]["measuring"]["estimated_s"] == 4
    assert time["in_all"]["measuring"]["taken_s"] == pytest.approx(4, rel=0.2)
    assert time["experiments"].keys() == {"ramp"}
    assert time["taken_s"] > sum(time["in_all"][each]["taken_s"] for each in ("measuring", "loading"))


@pytest.mark.long
def test_the_next_run_is_estimated_by_the_last_one(copied_run: Bench) -> None:
    (before,) = copied_run.run_dirs()
    copied_run.data = copied_run.folder / "data"
    copied_run.spec(SMALL.replace("threads   = [1, 2]", "threads = [2, 3]"))
    done = copied_run("run", "brief.bench", "--fresh", "--no-report")
    assert done.code == 0, done.err
    after = next(path for path in copied_run.run_dirs() if path != before)
    estimated = times_taken(after).estimated
    assert estimated is not None
    assert estimated.runs == (before.name,)
    compared = compare_times(after, load_plan(after))
    assert compared is not None
    assert f"learned from {before.name}" in copied_run("status").out


@pytest.mark.long
def test_what_is_reused_from_an_earlier_run_is_neither_estimated_nor_taken(copied_run: Bench) -> None:
    copied_run.spec(SMALL.replace("threads   = [1, 2]", "threads = [1, 2, 3]"))
    done = copied_run("run", "brief.bench", "--no-report", "--json")
    assert done.code == 0, done.err
    measuring = done.json["time"]["in_all"]["measuring"]
    assert done.json["cells"]["reused"] == 4
    assert measuring["estimated_s"] == 2
    assert measuring["taken_s"] == pytest.approx(2, rel=0.2)
    assert done.json["time"]["taken_s"] > 2, "no time before its start is a pause of it"


def test_after_a_budget_the_estimate_is_of_the_cells_that_were_run(copied_run: Bench) -> None:
    (run,) = copied_run.run_dirs()
    plan = load_plan(run)
    plan = plan.model_copy(
        update={
            "experiments": {name: each.model_copy(update={"repeats": 2}) for name, each in plan.experiments.items()}
        }
    )
    last = plan.cells[-1].id
    journal = run / "journal.jsonl"
    lines = [line for line in map(json.loads, journal.read_bytes().splitlines()) if line.get("cell") != last]
    for line in lines:
        line.pop("sum", None)
    journal.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    found = {}
    for budget_s in (None, 1000.0):
        compared = compare_times(run, plan.model_copy(update={"budget_s": budget_s}))
        assert compared is not None
        (measuring,) = (each for each in compared.in_all if each.activity == "measuring")
        found[budget_s] = (measuring.estimated_s, compared.of_those_made, full_lines(compared)[0])
        assert measuring.taken_s == pytest.approx(3, rel=0.2)
    assert found[None][:2] == (4, False)
    assert found[1000.0][:2] == (3, True)
    assert "for the cells that were run" in found[1000.0][2]


def test_a_simulated_run_has_no_estimate(bench: Bench) -> None:
    bench.spec(SMALL)
    done = bench("run", "brief.bench", "--simulate", "--no-report", "--json")
    assert done.json["time"] is None
    assert bench.journal("time_estimated") == []


def test_the_pause_between_an_interruption_and_a_resume_is_no_time_of_the_run(copied_run: Bench) -> None:
    (run,) = copied_run.run_dirs()
    journal = run / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    for line in lines:
        line.pop("sum", None)
    took = times_taken(run).wall_s
    start = next(line for line in lines if line["type"] == "run_started")
    end = next(line for line in lines if line["type"] == "run_ended")
    lines += [{**start, "at": end["at"] + 3600, "resumed": True}, {**end, "at": end["at"] + 3610}]
    journal.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    assert times_taken(run).wall_s == pytest.approx(took + 10)


def test_a_job_that_ends_without_its_controller_takes_its_own_time_alone(copied_run: Bench) -> None:
    (run,) = copied_run.run_dirs()
    plan, journal, away_s = load_plan(run), run / "journal.jsonl", 100.0
    before = times_taken(run)
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    start = next(line for line in lines if line["type"] == "run_started")
    began = next(place for place, line in enumerate(lines) if line.get("step") == "load")
    step = lines[began]
    job = next(line for line in lines if line["type"] == "job_collected" and line["job"] == "load")
    later_s = away_s - (job["ended_at"] - step["at"])
    for line in lines[began + 1 :]:
        line["at"] += later_s
        if line["type"] == "job_collected" and line is not job:
            line["started_at"] += later_s
            line["ended_at"] += later_s
        if line["type"] == "step_ended" and line["step"] == "load" and line["cell"] == step["cell"]:
            line["seconds"] += later_s
    again = {"at": step["at"] + away_s}
    of_cell = {name: step[name] for name in ("cell", "attempt", "step")}
    resumed = {"type": "cell_resumed", "hash": "", "began_at": step["at"], "away_since": step["at"], **of_cell, **again}
    lines[began + 1 : began + 1] = [{**start, "resumed": True, **again}, resumed]
    for line in lines:
        line.pop("sum", None)
    journal.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))

    after, record = times_taken(run), read_run(run)
    assert after.wall_s == pytest.approx(before.wall_s, abs=1)
    for activity, seconds in before.spent(plan)["ramp"].items():
        assert after.spent(plan)["ramp"][activity] == pytest.approx(seconds, abs=1)
    assert record.last_at is not None
    assert record.elapsed_s(record.last_at) == pytest.approx(after.wall_s, abs=5), "the brief is made after the cells"


def test_a_run_of_an_earlier_version_has_no_estimate_and_is_shown_all_the_same(copied_run: Bench) -> None:
    (run,) = copied_run.run_dirs()
    journal = run / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    for line in lines:
        line.pop("sum", None)
        line.pop("seconds", None) if line["type"] == "report_made" else None
    kept = [line for line in lines if line["type"] != "time_estimated"]
    journal.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in kept))
    done = copied_run("status")
    assert done.code == 0, done.err
    assert "\ntime: " not in done.out
