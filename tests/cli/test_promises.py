"""Tests searches for a promise in real runs with openload on a server: their output, a killed controller, and a later
run.

A busy machine may break any promise. So the tests compare the result of a search with its own measurements, and never
with a fixed rate.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.model import events as j
from benchbrief.model.planned_cells import planned_cells
from benchbrief.model.rate_search import SearchAnswer, Vote
from benchbrief.model.run_record import RunRecord
from benchbrief.runners.journal.journal_file import JOURNAL, read_journal
from benchbrief.runners.journal.run_folder import load_plan
from benchbrief.runners.scheduling.promise_search import ended_of, searches_of, vote_of
from tests.cli.test_plan_diff import git
from tests.support.bench import Bench, fresh_bench, pages_of, records_of
from tests.support.tools import built_tool
from tests.support.waiting import until

SPEC = """\
hardware box { hosts = local }
client load { hosts = local  tool = openload("@TOOL@") }
database mongo { engine = mongodb  server = embedded  reset = as_needed }
workload b from ycsb.b { records = 1k }
experiment promise {
  hardware = box  workloads = b  threads = 16  measure = 1 s  repeats = 3
  target   = highest(100 ops/s..400 ops/s, where: @WHERE@, within: 50 %, held_out: 1)
  arrivals = poisson(lag: 100 %, drops: 50 %)
}
"""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with fresh_bench(tmp_path) as fresh:
        yield fresh


def spec(bench: Bench, where: str) -> None:
    bench.spec(SPEC.replace("@TOOL@", str(built_tool("openload/bin/openload-mongodb"))).replace("@WHERE@", where))


def by_the_rule(run_dir: Path) -> tuple[j.PromiseEnded, set[str]]:
    """Return the result that the rule alone derives from a run's verdicts, and the cells that the rule asks for."""
    record = RunRecord.of(read_journal(run_dir / JOURNAL))
    (search,) = searches_of(load_plan(run_dir))
    votes: dict[str, Vote] = {}
    while True:
        step, cell = search.next(votes)
        if isinstance(step, SearchAnswer) or cell is None:
            assert isinstance(step, SearchAnswer)
            return ended_of(search, step, votes), set(votes)
        vote = vote_of(record.cells.get(cell.id), cell, search.promise)
        assert vote is not None, f"{cell.id} has no verdict"
        votes[cell.id] = vote


def found(run_dir: Path) -> j.PromiseEnded:
    (ended,) = RunRecord.of(read_journal(run_dir / JOURNAL)).promises.values()
    return ended


@pytest.mark.long
def test_a_killed_search_goes_on_by_the_same_rule_and_a_later_run_takes_its_results(bench: Bench) -> None:
    spec(bench, "latency.p99[read] < 5 s and errors < 1 %")
    with bench.started("run", "brief.bench", "--no-report") as going:
        until(lambda: any(bench.folder.glob(f"bench-out/*/{JOURNAL}")) and len(bench.journal("cell_ended")) >= 3, 120)
        going.signal(signal.SIGKILL)
        going.wait(60)
    (run_dir,) = bench.run_dirs()
    compared = bench("plan", "brief.bench", "--diff", "--json").json["run"]
    assert [each["cells"] for each in compared["again"]] == [compared["measured"]], "each counted cell is unchanged"
    assert compared["measured"] + sum(each["cells"] for each in compared["taken"]) == planned_cells(load_plan(run_dir))
    text = " ".join(bench("plan", "brief.bench", "--diff").out.split())
    assert f"up to {compared['measured']} unchanged points of a search or a ramp may be measured: " in text
    done = bench("resume", "--no-report", timeout=300)
    assert done.code == 0, done.text
    expected, asked = by_the_rule(run_dir)
    assert found(run_dir).model_copy(update={"at": expected.at}) == expected
    measured = [each["cell"] for each in bench.journal("cell_ended")]
    assert sorted(measured) == sorted(asked), "nothing is measured twice, and nothing that the rule does not ask for"

    assert re.search(r" +1\. target = 100 ops/s +the lowest rate", bench("status").out)
    again = bench("run", "brief.bench", "--no-report", timeout=300)
    assert again.code == 0, again.text
    later = records_of(bench.run_dirs()[-1])
    refused = {each["cell"] for each in records_of(run_dir) if each.get("refused")}
    reused = {each["cell"] for each in later if each["type"] == "cell_reused"}
    assert reused == asked or refused, "what was refused is decided anew, with all that follows from it"
    assert found(bench.run_dirs()[-1]).rates[0].rate == 100
    if not refused:
        most = planned_cells(load_plan(run_dir))
        assert f"{len(asked)} cells of up to {most} are taken from run {run_dir.name}" in again.err


def test_a_promise_that_no_server_keeps_is_reported_as_met_at_no_rate(bench: Bench) -> None:
    spec(bench, "latency.p50[read] < 1 us")
    done = bench("run", "brief.bench", "--no-report", "--simulate")
    assert done.code == 0, done.text
    assert found(bench.run_dir).kind == "none"
    assert re.search("promise (keeps its promise at no|knows no) rate", done.text)
    assert len(bench.journal("cell_ended")) == 3


def test_a_run_that_breaks_the_promise_answers_the_search_and_is_not_tried_again(bench: Bench) -> None:
    """If a refused run were tried again, one lucky attempt among several would decide."""
    spec(bench, "errors < 1 %")
    path = bench.folder / "brief.bench"
    path.write_text(path.read_text().replace("repeats = 3", "repeats = 3  retries = 2"))
    done = bench("run", "brief.bench", "--no-report", "--simulate", "--errors", "5%")
    assert done.code == 0, done.text
    assert found(bench.run_dir).kind == "none"
    assert [each["attempt"] for each in bench.journal("cell_started")] == [1, 1, 1]
    assert [each["refused"] for each in bench.journal("cell_ended")] == ["system"] * 3


@pytest.mark.long
def test_a_broken_promise_is_called_so_and_not_failed_wherever_a_run_is_shown(bench: Bench) -> None:
    spec(bench, "errors < 1 %")
    path = bench.folder / "brief.bench"
    path.write_text(path.read_text() + '\nreport r "R" { template = technical_brief  disclosure = automatic }\n')
    done = bench("run", "brief.bench", "--simulate", "--errors", "5%", "--json", "--markdown", "said.md")
    assert done.code == 0, done.text
    run = bench.run_dir.name
    counted = {"ok": 0, "failed": 0, "refused": 3}
    assert {key: done.json["cells"][key] for key in counted} == counted
    assert done.json["status"] == "done"
    assert len(re.findall(r"^\[ *\d/\d+\] \S+ +promise broken", done.err, re.MULTILINE)) == 3
    status = bench("status", run)
    assert f"{run}  done        0/3 cells done, 0 failed, 3 refused" in status.out
    assert len(re.findall(r"^  broken ", status.out, re.MULTILINE)) == 3
    shown = bench("status", run, "--json").json
    assert (shown["failed"], shown["refused"]) == (0, 3)
    assert [(each["status"], each["promise"]) for each in shown["cells"] if each["promise"]] == [
        ("refused", "broken")
    ] * 3
    metrics = bench("status", run, "--openmetrics").out
    assert re.search(r'benchbrief_cells\{[^}]*state="refused"\} 3\b', metrics)
    assert re.search(r'benchbrief_cells\{[^}]*state="failed"\} 0\b', metrics)
    page = pages_of(bench.run_dir)
    assert "measurements failed" not in page
    assert "answers its search without numbers" in page
    for said in (done.err, status.out, (bench.folder / "said.md").read_text()):
        assert not re.search(r"[1-9]\d* failed|FAILED", said)


def test_a_search_tells_one_story_on_the_terminal_in_the_brief_and_in_json(bench: Bench) -> None:
    spec(bench, "latency.p99[read] < 5 s and errors < 1 %")
    path = bench.folder / "brief.bench"
    path.write_text(path.read_text() + '\nreport r "R" { template = technical_brief  disclosure = automatic }\n')
    done = bench("run", "brief.bench", "--simulate")
    assert done.code == 0, done.text
    run = bench.run_dir.name
    told = "promise (on box, with b) keeps its promise at ≥ 400 ops/s: 4 of 4 runs there kept it, 1 of them held out"
    assert told in done.err, "in the log"
    assert f"  found   {told}" in done.out, "in the last lines"
    assert f"  found: {told}" in bench("status", run).out
    lines = [line for line in done.err.splitlines() if line.startswith("[")]
    assert lines
    assert all("promise kept" in line for line in lines), "each run says what it found"
    (shown,) = bench("status", run, "--json").json["promises"]
    assert (shown["sustained"], shown["bound"], shown["decided"]) == (400.0, "at_least", True)
    (top,) = (each for each in shown["rates"] if each["rate"] == 400.0)
    assert (top["met"] + top["held_met"], top["held_out"]) == (4, 1)
    page = " ".join(re.sub(r"<[^>]+>", "", pages_of(bench.run_dir)).split())
    assert ": ≥ 400 ops/s keep the promise latency.p99[read] &lt; 5 s" in page
    assert "At this rate 4 of 4 runs kept it, among them 1 of 1 that took no part in the search." in page


def test_every_command_counts_the_cells_of_a_search_alike(bench: Bench) -> None:
    """Before the end of a search, all cells of the longest possible search count. Afterwards, only the measured cells
    count."""
    spec(bench, "latency.p99[read] < 5 ms")
    most = bench("plan", "brief.bench", "--json").json["time"]["cells"]
    assert f", up to {most} cells" in bench("check", "brief.bench").out
    done = bench("run", "brief.bench", "--simulate", "--no-report")
    assert f"up to {most} cells" in done.err + done.out
    measured = len(bench.journal("cell_ended"))
    assert measured < most
    assert f"done, {measured} cells (" in done.out
    assert "not needed" not in done.out
    status = bench("status", bench.run_dir.name).out
    assert f"{measured}/{measured} cells done, 0 failed, " in status
    counted = bench("status", bench.run_dir.name, "--json").json
    assert (counted["done"], counted["total"], counted["skipped"]) == (measured, measured, 0)
    assert bench("site", "--to", "made").code == 0
    assert f">{measured} cells<" in (bench.folder / "made" / "index.html").read_text()


@pytest.mark.long
def test_the_candidates_of_a_search_that_goes_on_are_one_line_of_status(bench: Bench) -> None:
    spec(bench, "latency.p99[read] < 5 ms")
    assert bench("run", "brief.bench", "--simulate", "--no-report").code == 0
    journal = bench.run_dir / JOURNAL
    kept = journal.read_text().splitlines(keepends=True)
    first = next(n for n, line in enumerate(kept) if '"cell_ended"' in line)
    journal.write_text("".join(kept[: first + 1]))
    printed = bench("status", bench.run_dir.name).out
    waiting = [line for line in printed.splitlines() if line.startswith("  waiting")]
    candidates = len(load_plan(bench.run_dir).cells) - 1
    assert [" ".join(line.split()) for line in waiting] == [
        f"waiting {candidates} candidates promise: the next points as the search or the ramp asks"
    ]


def test_a_difference_of_plans_counts_the_cells_of_a_search_as_the_plan_does(bench: Bench) -> None:
    spec(bench, "latency.p99[read] < 5 ms")
    git(bench.folder, "init", "--quiet")
    git(bench.folder, "add", "brief.bench")
    git(bench.folder, "commit", "--quiet", "--message", "a search")
    path = bench.folder / "brief.bench"
    path.write_text(re.sub(r"measure( *)= 1 s", r"measure\1= 2 s", path.read_text()))
    most = bench("plan", "brief.bench", "--json").json["time"]["cells"]
    done = bench("plan", "brief.bench", "--diff", "git:HEAD")
    assert done.code == 0, done.text
    text = " ".join(done.out.split())
    assert f"~ all of up to {most} cells changed: measure 1 s -> 2 s" in text
    assert f"Total up to {most} cells: {most} changed" in text
    assert f"`bench run` would measure up to {most} of {most} cells, about" in text
    assert "that a search usually measures" in text
