"""Tests outputs, logs and raw latencies that can't be from one run of a tool, and good ones in unusual forms."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.model.plan import Plan
from benchbrief.results.imports.cell_matching import Where
from benchbrief.results.imports.imported_files import ImportRefused, OutputProblem
from benchbrief.results.imports.importer_seams import read_output
from benchbrief.results.imports.keep_import import Prepared, StatedSource, keep_run
from benchbrief.results.imports.prepare_outputs import prepare_outputs
from benchbrief.results.open_store import open_store
from tests.support.plans import compile_text
from tests.support.recorded import RECORDED_OUTPUTS

OUTPUTS = RECORDED_OUTPUTS
OTHERS = Path(__file__).parent / "outputs"
SOURCE = StatedSource(
    {"title": "Lab runs", "publisher": "Example Ltd", "document": "lab book 12", "licence": "internal"}
)
SPEC = """
hardware eco { hosts = "eco.lab" }
client load { hosts = "load.lab"  tool = TOOL }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload f from ycsb.WORKLOAD
experiment closed { hardware = eco  workloads = f  threads = 4  measure = 5 s }
"""
ROCKS = """
hardware eco { hosts = "eco.lab" }
database rocks { engine = rocksdb  path = "/data/db"  tool = db_bench }
workload w from db_bench.readrandom { records = RECORDS  value_size = 100 B }
experiment closed { hardware = eco  workloads = w  threads = 2  measure = 3 s }
"""
CELL = Where(cell="experiment=closed")


def plan_of(folder: Path, workload: str = "f", tool: str = "ycsb") -> Plan:
    return compile_text(SPEC.replace("WORKLOAD", workload).replace("TOOL", tool), folder)


def copied(folder: Path, name: str) -> dict[str, Path]:
    """Return the files of a recording, by the names under which they are kept."""
    shutil.copytree(OUTPUTS / name, folder, dirs_exist_ok=True)
    return {path.name: path for path in (folder / "stdout", *sorted(folder.glob("*.hdr"))) if path.exists()}


def replaced(path: Path, *pairs: tuple[str, str]) -> None:
    text = path.read_text()
    for pattern, new in pairs:
        text, times = re.subn(pattern, new, text, flags=re.MULTILINE)
        assert times, pattern
    path.write_text(text)


# --- outputs that contradict themselves ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(r"(\[READ\], 99th.*), 5179", r"\1, 517900")], r"\[READ\] has a p99 of 517900 us above its maximum of 34367"),
        ([(r"(\[READ\], 95th.*), 1989", r"\1, 6989")], r"p95 of 6989 us above its p99 of 5179 us"),
        ([(r"(\[READ\], 99thPercentileLatency)\(us\)", r"\1(ms)")], r"are in two units|above its maximum"),
        ([(r"(\[UPDATE\], AverageLatency.*), .*", r"\1, -3.5")], r"is never below 0"),
        ([(r"(\[READ\], AverageLatency.*), .*", r"\1, 9000.5")], r"mean of 9000\.5 us, and its percentiles allow"),
        (
            [(r"(RunTime\(ms\)), 6012", r"\1, 60120")],
            r"293850 operations by its \[OVERALL\] block .*, 29385 by the rows",
        ),
        ([(r"(RunTime.*), 6012", r"\1, 60120"), (r"(Throughput.*), 4887\.7", r"\1, 488.77")], r"62 ms of 60120 ms"),
        ([(r"(\[READ\], Return=OK), 29385", r"\1, 29380")], r"29385 operations, and its return codes count 29380"),
        ([(r"(\[READ\], Return=OK.*)", r"\1\n[READ], Return=ERROR, 3")], r"3 failures .* and \[READ-FAILED\] 0"),
        ([(r"(\[READ\], MinLatency.*)", r"\1\n\1")], r"\[READ\] has MinLatency\(us\) twice: 44 and 44"),
        ([(r"(\[READ\], AverageLatency.*), (\d+)\.", r"\1, \2,")], r"which is no number"),
        ([(r"\[READ-MODIFY-WRITE\].*\n", "")], r"29385 operations .* count 44034|by the rows of operations"),
    ],
)
def test_an_output_of_ycsb_that_contradicts_itself_is_refused_with_both_values(
    tmp_path: Path, pairs: list[tuple[str, str]], message: str
) -> None:
    path = copied(tmp_path, "ycsb/read-modify-write")["stdout"]
    replaced(path, *pairs)
    with pytest.raises(OutputProblem, match=message):
        read_output("ycsb", {"stdout": path}, "f")


def test_an_output_that_is_cut_before_its_latencies_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "stdout"
    head = "[OVERALL], RunTime(ms), 2000.0\n[OVERALL], Throughput(ops/sec), 50.0\n[READ], Operations, 100\n"
    path.write_text(head)
    with pytest.raises(OutputProblem, match=r"\[READ\] has 100 operations, and no AverageLatency: it was cut"):
        read_output("ycsb", {"stdout": path}, "c")


def test_failures_whose_count_is_dropped_are_missed(tmp_path: Path) -> None:
    path = tmp_path / "stdout"
    text = (OTHERS / "ycsb-0.12-some-failed.txt").read_text()
    path.write_text(text.replace("[READ-FAILED], Operations, 5.0\n", ""))
    with pytest.raises(OutputProblem, match=r"\[READ-FAILED\] has no count of its operations"):
        read_output("ycsb", {"stdout": path}, "a")


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(r"OPS: 8995\.2", "OPS: 8995,2")], r"is not a whole row of go-ycsb"),
        ([(r"takes 3\.98", "takes 3m3.98")], r"the run took 183\.\d+ s, and \w+, its longest row, 3 s"),
        ([(r"Takes\(s\): 3\.0, Count: 26834", "Takes(s): 30.0, Count: 26834")], r"READ has 26834 operations, and 30 s"),
        ([(r"(READ   .*)", r"\1\n\1")], r"READ has two final rows"),
        ([(r"99th\(us\): 3115", "99th(ms): 3115")], r"is not a whole row of go-ycsb"),
        ([(r"READ_MODIFY_WRITE - .*\n", "")], r"26856 of 40289 operations are READ, and it was run with"),
    ],
)
def test_an_output_of_go_ycsb_that_contradicts_itself_is_refused(
    tmp_path: Path, pairs: list[tuple[str, str]], message: str
) -> None:
    path = copied(tmp_path, "go_ycsb/timed")["stdout"]
    replaced(path, *pairs)
    with pytest.raises(OutputProblem, match=message):
        read_output("go-ycsb", {"stdout": path}, "f")


@pytest.mark.parametrize("name", ["readrandom", "readrandom-6"])
@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(r"5\.676 micros/op 351997", "0.568 micros/op 3519970")], r"mean of 5\.6874 us|are 10\d{6}"),
        ([(r"P99: 2\.00", "P99: 2000.00")], r"has P99 of 2000\.00 us, and its buckets give 2\.00 us"),
        (
            [(r"(\(|\[)( +1, +2 .) +327166", r"\1\2 317166")],
            r"its head says \d+ operations, and its buckets count \d+: it is cut, or one",
        ),
        (
            [(r"^Entries: .*", "Entries:    200000")],
            r"RawSize is 2\.2 MB, and 200000 entries of 116 bytes are 22\.1 MB",
        ),
        ([(r"^FileSize:  +1\.3", "FileSize: 900")], r"FileSize is 900 MB, and 20000 entries of 66 bytes after"),
        ([(r"\(50 bytes after", "(100 bytes after")], r"entries of 116 bytes after compression are 2\.2 MB"),
        ([(r"(Max: )24097", r"\g<1>54097")], r"has a maximum of 54097 us, and the bucket at that end"),
        ([(r"5\.676 micros", "17.028 micros")], r"took 17\.028 micros/op, and its histograms have a mean of 5\.68"),
        ([(r"5\.676 micros", "1.892 micros")], r"took 1\.892 micros/op, and its histograms have a mean of 5\.68"),
        ([(r" 38\.9 MB/s", " 116.7 MB/s")], r"read 116\.7 MB/s, and 351997 .* found are 38\.9"),
        ([(r" 38\.9 MB/s", " 13.0 MB/s")], r"read 13 MB/s, and 351997 ops/sec of 116 bytes .* are 38\.9"),
        ([(r"\(\d+ of (\d+) found", r"(10 of \1 found")], r"with 10 of 530699 found are 0\.0"),
    ],
)
def test_an_output_of_db_bench_that_contradicts_itself_is_refused(
    tmp_path: Path, name: str, pairs: list[tuple[str, str]], message: str
) -> None:
    path = copied(tmp_path, f"db_bench/{name}")["stdout"]
    replaced(path, *pairs)
    with pytest.raises(OutputProblem, match=message):
        read_output("db_bench", {"stdout": path}, "readrandom")


def test_an_import_reports_that_keys_were_not_found() -> None:
    found = read_output("db_bench", {"stdout": OUTPUTS / "db_bench" / "fewer-records" / "stdout"}, "readrandom")
    assert "readrandom found 50.0 % of the keys it looked up: the database holds fewer records" in found.warnings


def test_settings_other_than_the_specs_are_refused(tmp_path: Path) -> None:
    path = copied(tmp_path / "go", "go_ycsb/timed")["stdout"]
    go = plan_of(tmp_path, tool="go_ycsb")
    assert prepare_outputs("go-ycsb", [path], go, SOURCE, CELL).cells
    replaced(path, (r'"requestdistribution"="zipfian"', '"requestdistribution"="uniform"'))
    shown = r"stdout:\d+: it was run with requestdistribution = uniform, and workload f has distribution = zipfian"
    with pytest.raises(ImportRefused, match=shown):
        prepare_outputs("go-ycsb", [path], go, SOURCE, CELL)
    path = copied(tmp_path / "java", "ycsb/read-modify-write")["stdout"]
    replaced(path, (r"-threads 4 -s", "-threads 4 -s -p requestdistribution=uniform"))
    with pytest.raises(ImportRefused, match=shown):
        prepare_outputs("ycsb", [path], plan_of(tmp_path), SOURCE, CELL)
    path = copied(tmp_path / "db", "db_bench/readrandom")["stdout"]
    rocks = compile_text(ROCKS.replace("RECORDS", "200k"), tmp_path)
    with pytest.raises(ImportRefused, match=r"it was run with 20000 entries, and workload w has records = 200000"):
        prepare_outputs("db_bench", [path], rocks, SOURCE, CELL)


def refused(kind: str, path: Path, plan: Plan) -> str:
    """Return why an output is refused, or "" if it is imported."""
    try:
        prepare_outputs(kind, [path], plan, SOURCE, CELL)
    except ImportRefused as why:
        return "\n".join(each.text for each in why.problems)
    return ""


def test_a_write_rate_and_a_compression_other_than_the_specs_are_refused(tmp_path: Path) -> None:
    path = copied(tmp_path / "db", "db_bench/readwhilewriting")["stdout"]
    spec = ROCKS.replace("RECORDS", "20k").replace("readrandom", "readwhilewriting")

    def plan(rate: str = "", options: str = "") -> Plan:
        text = spec.replace("value_size = 100 B", f"value_size = 100 B {rate}").replace(
            "db_bench }", f"db_bench {options} }}"
        )
        return compile_text(text, tmp_path)

    assert refused("db_bench", path, plan()) == ""
    assert refused("db_bench", path, plan(options='options { compression = "none" }')) == ""
    shown = refused("db_bench", path, plan(rate="write_rate = 400 kB/s"))
    assert "a write rate of 0 bytes/second, and workload w has write_rate = 400000" in shown
    shown = refused("db_bench", path, plan(options='options { compression = "zstd" }'))
    assert "it was run with Compression: NoCompression, and database rocks has compression = zstd" in shown
    replaced(path, ("^Write rate: 0", "Write rate: 400000"), ("^Compression: .*", "Compression: ZSTD"))
    assert refused("db_bench", path, plan("write_rate = 400 kB/s", 'options { compression = "zstd" }')) == ""
    assert "400000 bytes/second, and workload w has no write_rate" in refused("db_bench", path, plan())


def test_keys_and_a_distribution_other_than_the_specs_are_refused_of_go_ycsb(tmp_path: Path) -> None:
    path = copied(tmp_path / "go", "go_ycsb/timed")["stdout"]

    def plan(workload: str) -> Plan:
        return plan_of(tmp_path, f"f {{ {workload} }}", "go_ycsb")

    for records in (1000, 1001):  # a careful user gives go-ycsb one record less
        assert refused("go-ycsb", path, plan(f"records = {records}")) == ""
    assert "keys up to 1000, and workload f has records = 9000" in refused("go-ycsb", path, plan("records = 9000"))
    assert "distribution 'zipfian', and workload f has" in refused("go-ycsb", path, plan("distribution = uniform"))
    replaced(path, (r"keyrange of \[0 1000\]", "keyrange of [0 9000]"))
    assert "keys up to 9000, and workload f has records = 1000" in refused("go-ycsb", path, plan("records = 1k"))
    replaced(path, ('"command"="run"', '"command"="load"'))
    assert "it was run with command = load, and workload f is a run" in refused("go-ycsb", path, plan("records = 1k"))


def test_another_stock_workload_and_another_phase_than_the_specs_are_refused_of_ycsb(tmp_path: Path) -> None:
    other = "run with -P w/workloada, where update is 0.5, and workload f (ycsb.f) has update = 0.0"
    for files, shown in (
        ("-P w/workloadf", ""),
        ("-P w/workloada", other),
        ("-P w/workloada -P own.properties", ""),
        ("-P own.properties -P w/workloada", other),  # a later file overrides an earlier one
        ("-P w/workloadf -P w/workloada", other),
        ("-P w/workloada -P own.properties -P w/workloadf", ""),
        ("-P w/workloada -p updateproportion=0 -p readmodifywriteproportion=0.5", ""),
    ):
        path = copied(tmp_path / "java", "ycsb/read-modify-write")["stdout"]
        replaced(path, ("-P .*job.properties", files))
        why = refused("ycsb", path, plan_of(tmp_path))
        assert shown in why
        assert bool(why) == bool(shown), why
    replaced(path, (r"Client -t", "Client -load"))
    assert "it was run with -load, and workload f is a run" in refused("ycsb", path, plan_of(tmp_path))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-p threadcount=8 -threads 4", ""),
        ("-threads 8 -p threadcount=4", ""),
        ("-threads 4 -p threadcount=8", "it was run with threadcount = 8, and cell"),
        ("-p threadcount=4 -threads 8", "it was run with -threads 8, and cell"),
        ("-threads 4 -p recordcount=1000 -p recordcount=5000", "it was run with recordcount = 5000, and workload f"),
    ],
)
def test_the_later_of_two_settings_of_ycsb_holds(words: str, message: str, tmp_path: Path) -> None:
    path = copied(tmp_path / "java", "ycsb/read-modify-write")["stdout"]
    replaced(path, ("-threads 4", words))
    why = refused("ycsb", path, plan_of(tmp_path, "f { records = 1000 }"))
    assert message in why
    assert bool(why) == bool(message), why


# --- HDR logs ----------------------------------------------------------------------------------------------------


def _without(path: Path, first: int, last: int) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:first], *lines[last:]]))


def test_the_log_of_one_operation_of_a_mixed_workload_is_refused(tmp_path: Path) -> None:
    files = copied(tmp_path / "run", "ycsb/read-modify-write")
    with pytest.raises(ImportRefused, match=r"100 % of its operations are reads, and 50 % are in workload f"):
        prepare_outputs("hdr", [files["READ.hdr"]], plan_of(tmp_path), SOURCE, CELL)
    logs = [path for name, path in files.items() if name.endswith(".hdr") and "CLEANUP" not in name]
    assert prepare_outputs("hdr", logs, plan_of(tmp_path), SOURCE, CELL).cells[0].ops_per_s is not None


@pytest.mark.parametrize("beside", [False, True])
def test_a_log_without_its_last_seconds_is_refused(tmp_path: Path, *, beside: bool) -> None:
    files = copied(tmp_path, "ycsb/read-modify-write")
    _without(files["READ.hdr"], 8, 100)
    shown = r"operations in \[READ\], and its histogram log" if beside else r"READ ends [\d.]+ s before that of"
    kind = "ycsb" if beside else "hdr"
    kept = {name: path for name, path in files.items() if beside or name != "stdout"}
    with pytest.raises(OutputProblem, match=shown):
        read_output(kind, kept, "f")


def _lines_later(path: Path, by: float) -> None:
    lines = path.read_text().splitlines()
    rows = [at for at, line in enumerate(lines) if line[:1].isdigit()]
    for at in rows[len(rows) // 2 :]:
        start, _, rest = lines[at].partition(",")
        lines[at] = f"{float(start) + by:.3f},{rest}"
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("beside", [False, True])
def test_intervals_twice_an_hours_gap_and_a_start_of_0_are_refused(tmp_path: Path, *, beside: bool) -> None:
    kind = "ycsb" if beside else "hdr"

    def files(name: str) -> dict[str, Path]:
        each = copied(tmp_path / name, "ycsb/read-modify-write")
        return {log: path for log, path in each.items() if beside or log != "stdout"}

    changes: tuple[tuple[str, Callable[[Path], None], str], ...] = (
        ("gap", lambda path: _lines_later(path, 3600.0), r"no interval from [\d:.]+ to [\d:.]+ \(3600 s\)"),
        ("start", lambda path: replaced(path, (r"StartTime: [\d.]+", "StartTime: 0.000")), "s after 1970"),
        ("twice", lambda path: replaced(path, (r"^(\d.*)$", r"\1\n\1")), "before the one above it ended|log holds"),
    )
    for name, change, shown in changes:
        found = files(name)
        for log in (path for each, path in found.items() if each.endswith(".hdr")):
            change(log)
        with pytest.raises(OutputProblem, match=shown):
            read_output(kind, found, "f")


def test_a_number_that_is_none_in_a_log_is_reported_with_its_line_and_leaves_no_run(tmp_path: Path) -> None:
    files = copied(tmp_path / "run", "ycsb/read-modify-write")
    replaced(files["UPDATE.hdr"], (r"^\d+\.\d+,", "nan,"))
    logs = [path for name, path in files.items() if name.endswith(".hdr") and "CLEANUP" not in name]
    with pytest.raises(ImportRefused, match=r"UPDATE\.hdr:\d+: not a line of a histogram log: 'nan,"):
        prepare_outputs("hdr", logs, plan_of(tmp_path), SOURCE, CELL)


def test_logs_of_old_histogram_versions_are_read(tmp_path: Path) -> None:
    """HdrHistogram 2.1.4, which YCSB's releases contain, writes logs in a different form: V1."""
    old = read_output("ycsb", copied(tmp_path / "old", "ycsb/histogram-logs-v1"), "f")
    new = read_output("ycsb", copied(tmp_path / "new", "ycsb/read-modify-write"), "f")
    assert old == new
    path = tmp_path / "old" / "READ.hdr"
    path.write_text(path.read_text().replace("HISTgg", "HISTgx", 1))
    with pytest.raises(OutputProblem, match="histogram"):
        read_output("hdr", {"READ.hdr": path}, "c")


# --- raw latencies -----------------------------------------------------------------------------------------------


def raw(path: Path, *, reads: int = 4000, updates: int = 4000, first_ms: int = 1_700_000_000_000) -> list[str]:
    """Return eight seconds of two operations as YCSB writes them: one section after the other, each with its
    summary."""
    lines = ["[OVERALL], RunTime(ms), 8000", f"[OVERALL], Throughput(ops/sec), {(reads + updates) / 8}"]
    for name, count in (("READ", reads), ("UPDATE", updates)):
        lines.append(f"{name} latency raw data: op, timestamp(ms), latency(us)")
        lines += [f"{name},{first_ms + 100 + i * 7900 // count},{500 + i % 50}" for i in range(count)]
        lines.append(f"[{name}], Total Operations, {count}")
    path.write_text("\n".join(lines) + "\n")
    return lines


def test_raw_latencies_of_which_some_lack_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "raw"
    lines = raw(path)
    assert read_output("ycsb", {"raw": path}, "a").total.count == 8000
    halved = [line for at, line in enumerate(lines) if not line.startswith("UPDATE,") or at % 2]
    bare = [line for line in lines if "," in line and not line.startswith("[")]
    bare = [line for line in bare if "raw data" not in line]
    for name, kept, shown in (
        ("half", halved, r"YCSB counted 4000 operations in \[UPDATE\], and 2000 latencies are there"),
        ("cut", bare[: len(bare) - 3000], r"the latencies of UPDATE end 5\.\d+ s before those of the others"),
        ("zero", [*bare, "UPDATE,0,500"], r"time stamps are from 0 to 1700000007\d+"),
        (
            "gap",
            [*bare, *(f"READ,{1_700_003_600_000 + i},500" for i in range(900))],
            r"no operation ended for 35\d\d s",
        ),
    ):
        (tmp_path / name).write_text("\n".join(kept) + "\n")
        with pytest.raises(OutputProblem, match=shown):
            read_output("ycsb", {"raw": tmp_path / name}, "a")


def test_raw_latencies_are_held_against_the_output_beside_them_and_the_workload(tmp_path: Path) -> None:
    lines = raw(tmp_path / "all")
    latencies = [line for line in lines if re.match(r"[A-Z]+,\d", line)]
    (tmp_path / "stdout").write_text("\n".join(line for line in lines if line.startswith("[")) + "\n")
    (tmp_path / "raw").write_text("\n".join(line for at, line in enumerate(latencies) if at % 2 or at < 4000) + "\n")
    with pytest.raises(OutputProblem, match=r"YCSB counted 4000 operations in \[UPDATE\], and 2000"):
        read_output("ycsb", {"raw": tmp_path / "raw", "stdout": tmp_path / "stdout"}, "a")
    where = Where(cell="experiment=closed")
    with pytest.raises(ImportRefused, match=r"67 % of its operations are reads, and 50 % are in workload f"):
        prepare_outputs("ycsb", [tmp_path / "raw"], plan_of(tmp_path, "a"), SOURCE, where)


def test_raw_latencies_that_are_all_there_twice_or_began_before_the_run_are_refused(tmp_path: Path) -> None:
    lines = [line for line in raw(tmp_path / "all", reads=4001) if re.match(r"[A-Z]+,\d", line)]
    lines = [f"{line}{at % 7}" for at, line in enumerate(lines)]
    once, path = tmp_path / "once", tmp_path / "raw"
    once.write_text("\n".join(lines) + "\n")
    assert read_output("ycsb", {"raw": once}, "a").total.count == 8001
    absurd = [*lines[:100], f"{lines[100]}000000000", *lines[101:]]
    for kept, shown in (
        ([*lines, *lines], "each latency of READ is in it 2 times"),
        ([line for line in lines for _ in range(3)], "each latency of READ is in it 3 times"),
        (absurd, r"a latency of [\d.]+e\+06 s, and all operations ended within 7\.9 s"),
    ):
        path.write_text("\n".join(kept) + "\n")
        with pytest.raises(OutputProblem, match=shown):
            read_output("ycsb", {"raw": path}, "a")


def test_latencies_longer_than_the_threads_have_time_are_refused(tmp_path: Path) -> None:
    files = copied(tmp_path / "run", "ycsb/read-modify-write")
    logs = [path for name, path in files.items() if name.endswith(".hdr") and "CLEANUP" not in name]
    plan = plan_of(tmp_path)
    assert prepare_outputs("hdr", logs, plan, SOURCE, CELL).cells
    shown = r"its latencies add up to 2\.\d+e\+04 s, and the 4 threads of cell \S+ have 2\d\.\d+ s in [56]\.\d+ s"
    with pytest.raises(ImportRefused, match=shown):
        prepare_outputs("hdr", logs, plan, SOURCE, Where(cell="experiment=closed", options={"unit": "ms"}))


# --- kinds of latency --------------------------------------------------------------------------------------------


def test_a_run_of_intended_latencies_alone_is_stored_as_that(tmp_path: Path) -> None:
    """With `measurement.interval=intended`, YCSB prints intended latencies under the plain names."""
    for files in (copied(tmp_path / "run", "ycsb/intended-only"), {"stdout": tmp_path / "run" / "stdout"}):
        of = read_output("ycsb", files, "f")
        assert {each.kind for each in of.operations} == {"intended"}
        assert dict(of.properties)["latency"] == "intended"
        assert of.total.count == 1733, "a read-modify-write is one operation"


def test_the_command_line_and_the_rows_give_the_same_kinds(tmp_path: Path) -> None:
    path = copied(tmp_path, "ycsb/offered-load")["stdout"]
    for said in ("op", "intended"):
        replaced(path, (r"measurement\.interval=\w+", f"measurement.interval={said}"))
        with pytest.raises(OutputProblem, match=f"it was run with measurement.interval = {said}, and has rows of both"):
            read_output("ycsb", {"stdout": path}, "f")


@pytest.mark.parametrize("logged", [False, True])
def test_intended_latencies_of_one_operation_and_not_of_the_next_are_refused(tmp_path: Path, *, logged: bool) -> None:
    files = copied(tmp_path, "ycsb/offered-load")
    if logged:
        kept = {name: path for name, path in files.items() if name not in ("stdout", "Intended-UPDATE.hdr")}
        with pytest.raises(OutputProblem, match=r"UPDATE has 858 operations, and Intended-UPDATE has no log"):
            read_output("hdr", kept, "f")
        return
    replaced(files["stdout"], (r"\[Intended-UPDATE\].*\n", ""))
    with pytest.raises(OutputProblem, match=r"\[UPDATE\] has 858 operations, and \[Intended-UPDATE\] has no rows"):
        read_output("ycsb", {"stdout": files["stdout"]}, "f")


# --- good outputs of unusual form --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "new"),
    [(r"^\[(.*)\], (.*), ", r"[\1],\2,"), (r"^\[", "  ["), (r", ", ",\t"), (r"(?<=\S)$", "  "), (r"\], ", "] , ")],
)
def test_rows_of_ycsb_with_other_blanks_are_the_same(tmp_path: Path, pattern: str, new: str) -> None:
    path = copied(tmp_path, "ycsb/offered-load")["stdout"]
    same = read_output("ycsb", {"stdout": path}, "f")
    command, _, rows = path.read_text().partition("\n")
    path.write_text(f"{command}\n{re.sub(pattern, new, rows, flags=re.MULTILINE)}")
    assert read_output("ycsb", {"stdout": path}, "f") == same


def test_a_run_time_that_is_no_number_is_reported_as_such(tmp_path: Path) -> None:
    path = copied(tmp_path, "ycsb/offered-load")["stdout"]
    replaced(path, (r"RunTime\(ms\), 4024", "RunTime(ms), 4.024,0"))
    with pytest.raises(OutputProblem, match=r"\[OVERALL\] block has RunTime\(ms\) = 4\.024,0, which says nothing"):
        read_output("ycsb", {"stdout": path}, "f")


def test_lines_of_db_bench_with_leading_blanks_are_the_same(tmp_path: Path) -> None:
    path = copied(tmp_path, "db_bench/readrandom")["stdout"]
    same = read_output("db_bench", {"stdout": path}, "readrandom")
    path.write_text("".join(f"  {line}\n" for line in path.read_text().splitlines()))
    assert read_output("db_bench", {"stdout": path}, "readrandom") == same


@pytest.mark.parametrize("name", ["readrandom", "readrandom-6"])
def test_db_bench_without_a_histogram_is_a_rate_that_says_what_lacks(tmp_path: Path, name: str) -> None:
    """Results of db_bench up to RocksDB 7.2 also lack the number of operations."""
    path = copied(tmp_path / "run", f"db_bench/{name}")["stdout"]
    path.write_text(path.read_text().partition("Microseconds per read")[0])
    plan = compile_text(ROCKS.replace("RECORDS", "20k"), tmp_path)
    what: Prepared = prepare_outputs("db_bench", [path], plan, SOURCE, CELL)
    with open_store(keep_run(tmp_path / "out", plan, {}, what)) as store:
        ((rate, count, seconds),) = store.sql("SELECT ops_per_s, count, duration_s FROM throughput").rows
        assert rate == pytest.approx(351997, rel=1e-5)
        assert (count, seconds is None) == ((1058098, False) if name == "readrandom" else (None, True))
        said = dict(store.sql("SELECT name, value FROM properties").rows)
        assert said["percentiles"] == "none: db_bench was run without --histogram"
        assert said["latency"] == "none"
        assert store.sql("SELECT count(*) FROM notes WHERE text LIKE '%without --histogram%'").rows == ((1,),)


def test_logs_that_are_shorter_than_the_spec_measures_are_reported(tmp_path: Path) -> None:
    files = copied(tmp_path / "run", "ycsb/offered-load")
    logs = [path for name, path in files.items() if name.endswith(".hdr") and "CLEANUP" not in name]
    what = prepare_outputs("hdr", logs, plan_of(tmp_path), SOURCE, CELL)
    assert [text.partition(": ")[2] for text in what.remarks] == [
        "it covers 3.5 s, and closed measures 5 s: was it cut?"
    ]


def test_repeats_of_two_kinds_of_latency_are_never_reported_together(tmp_path: Path) -> None:
    """The first repeat has both kinds. The second has only service times, which do not replace the other kind."""
    spec = SPEC.replace("threads = 4", "threads = 4  target = 500 ops/s  repeats = 2").replace("WORKLOAD", "f")
    plan = compile_text(spec.replace("TOOL", "ycsb"), tmp_path)
    for repeat in (1, 2):
        copied(tmp_path / f"r{repeat}", "ycsb/offered-load")
    second = tmp_path / "r2" / "stdout"
    replaced(second, (r"^\[Intended-.*\n", ""), (r"measurement\.interval=both", "measurement.interval=op"))
    for log in (tmp_path / "r2").glob("*.hdr"):
        log.unlink()
    paths = [tmp_path / "r1" / "stdout", second]
    what = prepare_outputs("ycsb", paths, plan, SOURCE, Where(f"{tmp_path}/r{{repeat}}/stdout"))
    with open_store(keep_run(tmp_path / "out", plan, {}, what)) as store:
        rows = store.sql("SELECT DISTINCT kind, repeat FROM latency WHERE reported ORDER BY ALL").rows
        assert {kind for kind, _ in rows} == {"intended"}
        assert store.sql("SELECT DISTINCT kind FROM latency WHERE repeat = 2 AND value_s IS NOT NULL").rows == (
            ("service",),
        )
