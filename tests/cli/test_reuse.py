"""Tests a second `bench run` with real db_bench: what it reuses from the first run, what it repeats, and its output."""

from __future__ import annotations

import re
import shutil
import signal
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.specs import FILL, HARDWARE
from tests.support import wrapped
from tests.support.bench import Bench, Ended, records_of
from tests.support.tools import built_tool, system_tool, tools_dir
from tests.support.waiting import until

SPEC = (
    HARDWARE
    + FILL
    + """\
workload more "More writes" from db_bench.fillrandom { records = 3k  value_size = 100 B }
experiment ramp {
  hardware  = box.variants
  workloads = [fill, more]
  threads   = [1]
  measure   = 1 s
  probes    = [cpu every 1 s]
}
"""
    + """\
report brief "What a second folder buys" {
  table "Throughput" { rows = workload  column "Best" = "{max(throughput over threads, hardware):,.0fu}" }
  disclosure = automatic
}
"""
)
FILLS = ["ramp/one/fill/threads=1/r1", "ramp/two/fill/threads=1/r1"]
MORES = ["ramp/one/more/threads=1/r1", "ramp/two/more/threads=1/r1"]


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Return a folder with one finished run. Tests copy the folder and do not change it."""
    system_tool("db_bench")
    bench = Bench(tmp_path_factory.mktemp("earlier"))
    bench.spec(SPEC)
    done = bench("run", "brief.bench", "--no-report")
    assert done.code == 0, done.err
    return bench


@pytest.fixture
def again(earlier: Bench, bench: Bench) -> Bench:
    """Return a copy of the folder, for another run in it."""
    shutil.copytree(earlier.folder / "bench-out", bench.folder / "bench-out")
    bench.data, bench.tool = earlier.data, earlier.tool
    bench.spec(SPEC)
    return bench


def first_run(bench: Bench) -> Path:
    return bench.run_dirs()[0]


def second_run(bench: Bench) -> Path:
    (_, second) = sorted(bench.run_dirs(), key=lambda path: (path / "plan.json").stat().st_mtime)
    return second


def records(run_dir: Path) -> list[dict[str, Any]]:
    return records_of(run_dir)


def measured(run_dir: Path) -> list[str]:
    """Return the cells that the run measured itself."""
    own = records(run_dir)
    start = next(index for index, record in enumerate(own) if record["type"] == "run_started")
    return sorted(record["cell"] for record in own[start:] if record["type"] == "cell_started")


def edit_journal(run_dir: Path, old: str, new: str) -> None:
    """Change the journal so that it looks as if an earlier benchbrief, without checksums, had written it."""
    path = run_dir / "journal.jsonl"
    text = path.read_text()
    assert old in text
    path.write_text(re.sub(r',"sum":"[0-9a-f]{32}"\}', "}", text.replace(old, new)))


def rates(bench: Bench, run_dir: Path) -> Any:
    sql = "SELECT cell_id, ops_per_s FROM throughput WHERE phase IS NULL AND operation = 'all' ORDER BY ALL"
    return bench("query", sql, "--run", run_dir, "--json").json


def ran(ended: Ended) -> Ended:
    assert ended.code == 0, ended.text
    return ended


@pytest.mark.long
def test_after_a_change_of_words_nothing_is_measured_and_the_brief_says_so(again: Bench) -> None:
    again.spec(SPEC.replace('"Random writes"', '"Scattered writes"').replace("What a second", "What another"))
    earlier_id = first_run(again).name
    done = ran(again("run", "brief.bench", "--json"))
    assert f"all 4 cells are taken from run {earlier_id} of 20" in done.err
    assert "none is left to measure; --fresh measures all again" in done.err
    outcome = done.json
    assert outcome["message"] == "4 cells, all taken from earlier runs"
    assert [(each["cell"], each["run"]) for each in outcome["reused"]] == [
        (cell, earlier_id) for cell in sorted(FILLS + MORES)
    ]
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", e["measured_at"]) for e in outcome["reused"])
    assert measured(second_run(again)) == []
    paths = (Path(again.folder, path) for path in outcome["reports"]["brief"] if path.endswith(".html"))
    page, disclosure = (path.read_text() for path in paths)
    assert "What another folder buys" in page
    assert "Scattered writes" in page
    assert f"all 4 measurements were taken from run {earlier_id}" in disclosure
    assert rates(again, second_run(again)) == rates(again, first_run(again))


def test_only_what_was_changed_is_measured(again: Bench) -> None:
    again.spec(SPEC.replace("records = 3k", "records = 4k"))
    done = ran(again("run", "brief.bench", "--no-report"))
    assert f"2 of 4 cells are taken from run {first_run(again).name} of 20" in done.err
    assert "; 2 are measured; --fresh" in done.err
    assert "done, 4 cells, 2 of them taken from earlier runs" in done.out
    assert measured(second_run(again)) == MORES
    status = again("status", second_run(again).name)
    assert "4/4 cells done (2 of them by earlier runs), 0 failed" in status.out
    lines = {word: line for line in status.out.splitlines()[1:] for word in line.split() if "/" in word}
    assert all(f"from run {first_run(again).name}" in lines[cell] for cell in FILLS)
    assert not any("from run" in lines[cell] for cell in MORES)
    printed = again("status", second_run(again).name, "--json").json
    assert (printed["reused"], {c["cell_id"]: c["reused_from"] for c in printed["cells"]}[MORES[0]]) == (2, None)


@pytest.mark.long
def test_fresh_measures_all_again(again: Bench) -> None:
    again.spec(SPEC.replace("[fill, more]", "[fill]").replace("box.variants", "box.one"))
    done = ran(again("run", "brief.bench", "--no-report", "--fresh"))
    assert "taken" not in done.text
    assert measured(second_run(again)) == FILLS[:1]


@pytest.mark.long
def test_a_renamed_workload_is_known_by_what_it_does(again: Bench) -> None:
    again.spec(SPEC.replace("workload more ", "workload extra ").replace("[fill, more]", "[fill, extra]"))
    ran(again("run", "brief.bench", "--no-report"))
    assert measured(second_run(again)) == []
    renamed = {r["cell"]: r["as_cell"] for r in records(second_run(again)) if r["type"] == "cell_reused"}
    assert renamed["ramp/one/extra/threads=1/r1"] == MORES[0]
    assert len(list((second_run(again) / "raw").glob("*extra*"))) == 2
    assert len(rates(again, second_run(again))) == 4


@pytest.mark.long
def test_results_whose_raw_outputs_are_not_what_they_were_are_measured_again(again: Bench) -> None:
    first = first_run(again)
    changed, missing = (next(first.glob(f"raw/*{name}_fill*/1/measure-local/stdout")) for name in ("one", "two"))
    changed.write_bytes(changed.read_bytes().replace(b"ops/sec", b"ops/SEC"))
    missing.unlink()
    done = ran(again("run", "brief.bench", "--no-report"))
    for stdout, what in ((changed, "was changed"), (missing, "is missing")):
        where = re.escape(str(stdout.relative_to(first)))
        assert re.search(rf"not taken from an earlier run: run \S+: {where} {what}", done.err), done.err
    assert "2 of 4 cells are taken" in done.err
    assert measured(second_run(again)) == FILLS


@pytest.mark.long
def test_a_run_stands_alone_when_the_one_it_took_from_is_gone(again: Bench) -> None:
    ran(again("run", "brief.bench", "--no-report"))
    second = second_run(again)
    before = rates(again, second)
    shutil.rmtree(first_run(again))
    moved = second.rename(again.folder / "elsewhere")
    shutil.rmtree(moved / "store")
    assert ran(again("rebuild", moved)).err == ""
    assert rates(again, moved) == before
    again.spec(SPEC)
    ran(again("run", "brief.bench", "--no-report", "--out", again.folder))
    (third,) = set(again.folder.glob("20*/plan.json"))
    taken = [record for record in records(third.parent) if record["type"] == "cell_reused"]
    # From the second run's folder, and yet of the first, which measured them.
    assert {record["reused_from"] for record in taken} == {
        record["reused_from"] for record in records(moved) if record["type"] == "cell_reused"
    }
    assert len(taken) == 4


@pytest.mark.long
def test_another_version_or_another_build_of_the_tool_makes_another_measurement(bench: Bench) -> None:
    tool = wrapped.db_bench(bench.folder / "tool")
    bench.spec(SPEC.replace("[fill, more]", "[fill]").replace("box.variants", "box.one"), TOOL=f'db_bench("{tool}")')
    ran(bench("run", "brief.bench", "--no-report"))
    tool.write_text(tool.read_text() + "# built again\n")
    done = ran(bench("run", "brief.bench", "--no-report"))
    assert "not taken from an earlier run: db_bench on local is another build now" in done.err
    assert measured(second_run(bench)) == FILLS[:1]
    wrapped.db_bench(tool.parent, '"--version") echo "db_bench version 99.1.0"; exit 0;;')
    done = ran(bench("run", "brief.bench", "--no-report"))
    assert re.search(r"not taken from an earlier run: db_bench on local is 99\.1\.0 now, and was \d", done.err)
    assert measured(max(bench.run_dirs(), key=lambda path: (path / "plan.json").stat().st_mtime)) == FILLS[:1]


def test_another_machine_of_the_same_name_makes_another_measurement(again: Bench) -> None:
    hostname = next(r for r in records(first_run(again)) if r["type"] == "host_facts")["facts"]["hostname"]
    edit_journal(first_run(again), f'"hostname":"{hostname}"', '"hostname":"elsewhere"')
    again.spec(SPEC.replace("[fill, more]", "[fill]").replace("box.variants", "box.one"))
    done = ran(again("run", "brief.bench", "--no-report"))
    printed = f"local is another machine now: hostname is {hostname}, and was elsewhere"
    assert printed in done.err
    assert measured(second_run(again)) == FILLS[:1]


@pytest.mark.long
def test_another_kernel_is_warned_of_and_kept_with_the_run(again: Bench) -> None:
    kernel = next(r for r in records(first_run(again)) if r["type"] == "host_facts")["facts"]["kernel"]
    edit_journal(first_run(again), f'"kernel":"{kernel}"', '"kernel":"2.4.0"')
    done = ran(again("run", "brief.bench", "--no-report"))
    printed = f"local is not as it was when run {first_run(again).name} measured: kernel is {kernel}, and was 2.4.0"
    assert f"warning: {printed}" in done.err
    assert measured(second_run(again)) == []
    notes = again("query", "SELECT text FROM notes WHERE severity = 'warning'", "--run", second_run(again), "--json")
    assert printed in [note["text"] for note in notes.json]


@pytest.mark.long
def test_an_interrupted_run_with_earlier_results_is_resumed(bench: Bench) -> None:
    tool = wrapped.db_bench(
        bench.folder / "slow", f'*--num=3000*) [ -e {bench.folder}/hurry ] || set -- "$@" --duration=30;;'
    )
    one = SPEC.replace("box.variants", "box.one")
    bench.spec(one.replace("[fill, more]", "[fill]"), TOOL=f'db_bench("{tool}")')
    ran(bench("run", "brief.bench", "--no-report"))
    bench.spec(one, TOOL=f'db_bench("{tool}")')
    with bench.started("run", "brief.bench", "--no-report") as run:
        run.until_it_says("1 of 2 cells is taken")
        until(lambda: any("--duration=30" in line for line in bench.strays().values()), 30)
        run.signal(signal.SIGINT)
        assert run.wait(30).code == 130
    (bench.folder / "hurry").touch()
    done = ran(bench("resume", "--no-report"))
    assert "done, 2 cells, 1 of them taken from earlier runs" in done.out
    assert {record["type"] for record in records(second_run(bench))[:2]} <= {"host_facts", "engine_facts", "tool_found"}
    assert sorted(set(measured(second_run(bench)))) == MORES[:1]


def test_two_runs_at_the_same_time_take_from_the_same_run(again: Bench) -> None:
    with again.started("run", "brief.bench", "--no-report") as one:
        two = again("run", "brief.bench", "--no-report")
        assert one.wait(60).code == 0
    assert two.code == 0, two.err
    found = [path for path in again.run_dirs() if path != first_run(again)]
    assert len(found) == 2
    assert [measured(path) for path in found] == [[], []]


STAND_IN = """\
hardware box "This machine" { hosts = local }
client load { hosts = local  tool = go_ycsb }
database mongo { engine = mongodb  server = embedded }
workload a from ycsb.a { records = 200 }
experiment ramp { hardware = box  workloads = [a]  threads = [1]  measure = 1 s }
report brief "A brief" {
  table "Throughput" { rows = workload  column "Best" = "{max(throughput over threads):,.0fu}" }
  disclosure = automatic
}
"""


@pytest.mark.long
def test_a_stand_in_is_disclosed_with_its_earlier_results_and_measured_again_when_it_was_built_again(
    bench: Bench,
) -> None:
    for name in ("mongo-stand-in", "go-ycsb"):
        built_tool(name)
    server = bench.folder / "tools" / "mongo-stand-in"
    shutil.copytree(tools_dir() / "mongo-stand-in", server)
    bench.env["BENCHBRIEF_TOOLS"] = f"{server.parent}:{wrapped.PROGRAMS}"
    bench.spec(STAND_IN)
    ran(bench("run", "brief.bench", "--no-report", timeout=120))
    bench.spec(STAND_IN.replace("A brief", "Another brief"))
    ran(bench("run", "brief.bench", "--no-report", timeout=120))
    second = second_run(bench)
    assert measured(second) == []
    page = bench.page()
    assert "Another brief" in page
    assert "The server is not MongoDB but a stand-in" in page
    counters = "SELECT DISTINCT name FROM counters WHERE name LIKE 'opcounters.%'"
    assert bench("query", counters, "--run", second, "--json").json

    with zipfile.ZipFile(server / "lib" / "mongo-stand-in.jar", "a") as jar:
        jar.comment = b"built again"
    done = ran(bench("run", "brief.bench", "--no-report", timeout=120))
    printed = "not taken from an earlier run: the embedded server of database mongo is another build now"
    assert printed in done.err
    third = max(bench.run_dirs(), key=lambda path: (path / "plan.json").stat().st_mtime)
    assert measured(third) == ["ramp/box/a/threads=1/r1"]


@pytest.mark.long
def test_the_provenance_of_a_partly_taken_ramp_names_each_run_with_what_it_measured(again: Bench) -> None:
    again.spec(SPEC.replace("threads   = [1]", "threads   = [1, 2]"))
    ran(again("run", "brief.bench", "--no-report"))
    first = first_run(again)
    appendix = again.page().partition('class="provenance"')[2]
    lines = [re.sub("<[^>]+>", " ", line) for line in re.findall(r'<tr id="measurement-.*?</tr>', appendix)]
    assert len(lines) == 4
    assert all(f" {first.name}: 1; this one: 2 " in line for line in lines), lines
