"""Tests `bench run --simulate` from the spec to the brief without a host, and that the run is called simulated wherever
it is shown."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pypdf import PdfReader

from tests.cli.specs import ONE_FOLDER, SMALL
from tests.support.bench import Bench, Ended
from tests.support.longer import one_in

SPEC = """
hardware db "Lab" { hosts = "db-[1-3].lab"  price = 2 USD/h }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a "Sessions" from ycsb.a { records = 1M }
experiment ramp {
  hardware = db  workloads = a  threads = [8, 64]  warm_up = 5 min  measure = 20 min  repeats = 2
  probes = [cpu every 1 s]
}
expect max(throughput over threads) > 1G ops/s
"""
REPORT = """
report @NAME@ "@TITLE@" {
  template = @TEMPLATE@  language = @LANGUAGE@
  figure "Throughput" { line = throughput by threads, color workload }
  table "Latency" { rows = workload  columns = latency.p99[read] by threads }
  disclosure = automatic
}
"""
REPORTS = {
    "en_brief": ("What three nodes do", "technical_brief", "en"),
    "ja_paper": ("三台の性能", "white_paper", "ja"),
    "en_blog": ("Three nodes", "blog", "en"),
}
MARKS = {"en": "SIMULATED", "ja": "シミュレーション"}


@dataclass(frozen=True)
class Simulated:
    bench: Bench
    ended: Ended

    @property
    def name(self) -> str:
        return self.bench.run_dir.name


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Simulated:
    """Make a run in an environment without any tools."""
    bench = Bench(tmp_path_factory.mktemp("simulated"))
    reports = [
        REPORT.replace("@NAME@", name)
        .replace("@TITLE@", title)
        .replace("@TEMPLATE@", at)
        .replace("@LANGUAGE@", language)
        for name, (title, at, language) in REPORTS.items()
    ]
    spec = bench.spec(SPEC + "".join(reports))
    empty = bench.folder / "empty"
    empty.mkdir()
    return Simulated(bench, bench("run", spec.name, "--simulate", "--json", env={"PATH": str(empty)}))


def test_it_goes_the_whole_way_and_says_in_one_line_what_it_is(run: Simulated) -> None:
    assert run.ended.code == 0, run.ended
    first = run.ended.err.splitlines()[0]
    assert "simulated" in first
    assert "no host is reached and no tool is run" in first
    assert [record["status"] for record in run.bench.journal("cell_ended")] == ["ok"] * 4


def test_its_name_its_outcome_and_its_status_say_it(run: Simulated) -> None:
    assert run.name.endswith("-simulated")
    assert run.ended.json["simulated"] is True
    assert run.bench("status", run.name, "--json").json["simulated"] is True
    assert "(simulated, nothing was measured)" in run.bench("status", run.name).out
    assert "(simulated, nothing was measured)" in run.bench("status", "--all").out
    assert 'simulated="true"' in run.bench("status", run.name, "--openmetrics").out


@pytest.mark.long
def test_a_verdict_on_simulated_numbers_is_not_reported_as_one_on_measured_ones(bench: Bench) -> None:
    for limit, judged in (("1G", "would not hold"), ("1", "would hold")):
        bench.spec(SPEC.replace("> 1G ops/s", f"> {limit} ops/s"))
        ended = bench("run", "brief.bench", "--simulate", "--no-report")
        assert ended.code == 0
        assert f"expect of simulated numbers, which decide nothing: max(throughput over threads) > {limit}" in ended.out
        assert judged in ended.out
        assert "expect holds" not in ended.out + ended.err
        assert "expect does not hold" not in ended.out + ended.err


def test_an_expectation_on_simulated_numbers_is_reported_and_counts_for_nothing(run: Simulated) -> None:
    assert [expect["holds"] for expect in run.ended.json["expects"]] == [False]
    assert run.ended.code == 0


@pytest.mark.long
def test_every_exported_row_says_it(run: Simulated, tmp_path: Path) -> None:
    asked = ("query", "--run", run.name, "SELECT cell_id FROM cells")
    header, *rows = run.bench(*asked, "--csv").out.splitlines()
    assert header == "cell_id,simulated"
    assert len(rows) == 4
    assert all(row.endswith(",true") for row in rows)
    assert all(row["simulated"] is True for row in run.bench(*asked, "--json").json)
    assert "simulated" in run.bench(*asked).out
    run.bench(*asked, "--parquet", tmp_path / "cells.parquet")
    assert pq.read_table(tmp_path / "cells.parquet").column("simulated").to_pylist() == [True] * 4
    assert run.bench("query", "--run", run.name, "--json", "SELECT simulated FROM runs").json == [{"simulated": True}]


@pytest.mark.parametrize("name", one_in(2, REPORTS))
def test_every_page_of_a_brief_is_marked_in_its_language(run: Simulated, name: str) -> None:
    mark = MARKS[REPORTS[name][2]]
    written = [Path(path) for path in run.ended.json["reports"][name]]
    files = [path for path in written if path.parent.name == "reports"]
    stems = (f"{name}-simulated", f"{name}-simulated-disclosure")
    assert {path.stem for path in files} == {*stems, f"{name}-simulated-capsule"}
    assert [path.name for path in files[:4]] == [f"{stem}{suffix}" for suffix in (".pdf", ".html") for stem in stems]
    for path in files[:2]:
        pdf = PdfReader(run.bench.folder / path)
        for page in pdf.pages:
            assert mark in page.extract_text()
        assert pdf.metadata is not None
        assert str(pdf.metadata.title).startswith(f"{mark}: ")
    for path in files[2:4]:
        html = (run.bench.folder / path).read_text("utf-8")
        assert f"<title>{mark}: " in html
        place = re.search(r'<div class="simulated-mark" aria-hidden="true" style="([^"]+)">', html)
        assert place
        assert "position:fixed !important" in place[1]
        assert "display:block !important" in place[1]


def test_the_first_page_and_the_disclosure_tell_it_before_all_else(run: Simulated) -> None:
    folder = run.bench.run_dir / "reports"
    brief = (folder / "en_brief-simulated.html").read_text("utf-8")
    assert ">Simulated: nothing was measured</p>" in brief.split("<main>")[0], "the title's band has it"
    html = (folder / "en_brief-simulated-disclosure.html").read_text("utf-8")
    notices = re.findall(r'<div class="notice (\w+)"><p><strong>([^<]+)', html)
    assert notices[0] == ("error", "Simulated: nothing was measured. ")
    disclosure = html.split('id="disclosure"')[1]
    assert "mean value analysis" in disclosure


def test_what_is_last_is_what_was_last_measured(run: Simulated) -> None:
    listed = run.bench("status")
    assert listed.code == 0
    assert listed.out == run.bench("status", "--all").out, "it only shows, and there is none to show before others"
    assert run.name in listed.out
    for words in (("status", "--json"), ("report",), ("query", "FROM runs"), ("rebuild",)):
        ended = run.bench(*words)
        assert ended.code == 2, words
        assert "all runs in bench-out are simulated" in ended.err
        assert run.name in ended.err
        named = "--run simulated" if words[0] == "query" else "simulated"
        assert f"say `{named}` for the last one" in ended.err, "as the command takes it"
    assert "no run of brief.bench" in run.bench("plan", "brief.bench", "--diff").err


@pytest.mark.long
def test_a_rebuilt_store_and_a_brief_made_again_stay_marked(run: Simulated) -> None:
    assert run.bench("rebuild", run.name).code == 0
    ended = run.bench("report", run.name, "--html-only", "--to", "again")
    assert ended.code == 0, "as the run's own"
    assert "expect of simulated numbers, which decide nothing: max(throughput over threads) > 1G ops/s" in ended.err
    assert "would not hold" in ended.err
    made = (run.bench.folder / "again" / "en_blog-simulated.html").read_text("utf-8")
    assert "simulated-mark" in made


def test_options_of_simulated_hosts_are_refused_without_them(run: Simulated) -> None:
    ended = run.bench("run", "brief.bench", "--seed", "3")
    assert ended.code == 2
    assert "--simulate" in ended.err
    ended = run.bench("run", "brief.bench", "--simulate", "--errors", "150%")
    assert ended.code == 2
    assert "is not a share" in ended.err


@pytest.mark.long
def test_a_simulated_run_says_what_it_takes_on_real_hosts_and_is_not_late_for_it(bench: Bench) -> None:
    bench.spec(SMALL.replace("measure   = 1 s", "measure   = 2 h"))
    done = bench("run", "brief.bench", "--simulate", "--no-report")
    assert done.code == 0, done.text
    assert re.search(r"-simulated: \d+ cells, on real hosts about \d+ h", done.err), done.err
    assert not re.search(r"about [^\n]*(h|min)[^\n]* left", done.err), "each cell takes less than a second"


def test_operations_that_were_asked_to_fail_say_so_and_quote_no_record(bench: Bench) -> None:
    bench.spec(ONE_FOLDER)
    done = bench("run", "brief.bench", "--simulate", "--errors", "5%", "--no-report")
    assert done.code == 3, done.text
    assert "0.00 % allowed): they were asked for, and are simulated (if that many" in done.out
    assert '{"' not in done.text


@pytest.mark.long
def test_no_run_takes_anything_from_a_simulated_one_nor_gives_it_anything(bench: Bench) -> None:
    spec = bench.spec(ONE_FOLDER)
    assert bench("run", spec.name, "--simulate", "--no-report", "--quiet").code == 0
    measured = bench("run", spec.name, "--no-report", "--json")
    assert measured.code == 0, measured
    assert measured.json["simulated"] is False
    assert measured.json["reused"] == []
    again = bench("run", spec.name, "--simulate", "--no-report", "--json")
    assert again.json["reused"] == []
    assert bench("status", "--json").json["run_id"] == measured.json["run"]
    assert measured.json["run"] in bench("plan", spec.name, "--diff").out
    assert not bench("query", "--csv", "SELECT 1 AS one").out.startswith("one,simulated")


def test_a_resumed_simulated_run_stays_simulated(bench: Bench) -> None:
    spec = bench.spec(SMALL)
    failed = bench("run", spec.name, "--simulate", "--failing", "local=60%", "--seed", "5", "--no-report", "--json")
    assert failed.code == 3
    name = failed.json["run"]
    assert failed.json["failed"]
    for _ in range(8):
        if bench("resume", name, "--no-report", "--json").json["status"] == "done":
            break
    starts = [record["simulated"] for record in bench.journal("run_started")]
    assert len(starts) > 1
    assert all(start == {"seed": 5, "errors": 0.0, "failing": [{"pattern": "local", "share": 0.6}]} for start in starts)
    assert {status for status, _ in bench.verdicts().values()} == {"ok"}
    assert json.loads((bench.run_dir / "simulation.json").read_text()) == starts[0]


@pytest.mark.parametrize(("failing", "again"), [("local=60%", True), ("local", False)])
def test_a_run_is_to_be_tried_again_only_where_that_may_go_well(bench: Bench, failing: str, again: bool) -> None:
    bench.spec(ONE_FOLDER)
    words = ("run", "brief.bench", "--simulate", "--failing", failing, "--seed", "5", "--no-report")
    failed = bench(*words)
    assert failed.code == 3, failed.text
    assert ("bench resume" in failed.out) == again
    assert ("without what makes cells fail" in failed.out) != again


def test_a_host_that_is_to_fail_and_is_not_there_is_refused(bench: Bench) -> None:
    bench.spec(ONE_FOLDER)
    done = bench("run", "brief.bench", "--simulate", "--failing", "nosuch-*=5%", "--no-report")
    assert done.code == 2
    assert "--failing nosuch-*: no host of the spec is like it" in done.err
    assert "there are local" in done.err
    assert not bench.run_dirs()
