"""Tests finished outputs of tools, which were recorded from real tools or have their formats. Each is imported into its
cell, or refused."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.extensions.importers.ycsb.raw_latencies import is_raw
from benchbrief.model import histogram as h
from benchbrief.model.measurement import Measurement, Operation
from benchbrief.model.plan import Plan
from benchbrief.results.imports.cell_matching import NoPlace, Places, Where, coordinates, given_cell
from benchbrief.results.imports.imported_files import ImportRefused, OutputProblem
from benchbrief.results.imports.importer_seams import read_output
from benchbrief.results.imports.keep_import import StatedSource, keep_run
from benchbrief.results.imports.prepare_outputs import prepare_outputs
from benchbrief.results.open_store import open_store
from benchbrief.results.store_errors import ResultsError
from tests.support.plans import compile_text
from tests.support.recorded import RECORDED_OUTPUTS

OUTPUTS = RECORDED_OUTPUTS
SOURCE = StatedSource(
    {"title": "Lab runs", "publisher": "Example Ltd", "document": "lab book 12", "licence": "internal"}
)
SPEC = """
hardware eco    { hosts = "eco-[1-2].lab" }
hardware legacy { hosts = "hdd-[1-2].lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload f from ycsb.f
workload b from ycsb.b { records = 75M }
experiment ramp { hardware = [eco, legacy]  workloads = [f, b]  threads = [4, 8]  measure = 1 min  repeats = 2 }
metric ratio = throughput[eco, workload: f] / throughput[legacy, workload: b]
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return compile_text(SPEC, tmp_path_factory.mktemp("spec"))


def ycsb(name: str) -> dict[str, Path]:
    folder = OUTPUTS / "ycsb" / name
    return {"stdout": folder / "stdout", **{path.name: path for path in folder.glob("*.hdr")}}


def operation(measured: Measurement, name: str, kind: str = "service") -> Operation:
    return next(each for each in measured.operations if each.operation == name and each.kind == kind)


def changed(tmp_path: Path, path: Path, old: str, new: str) -> Path:
    text = path.read_text()
    assert old in text
    to = tmp_path / "changed"
    to.write_text(text.replace(old, new, 1))
    return to


# --- YCSB --------------------------------------------------------------------------------------------------------


def test_the_first_ycsb_is_read_with_its_buckets_of_a_millisecond() -> None:
    measured = read_output("ycsb", ycsb("version-0.1.4"), "b")
    assert (measured.total.count, measured.total.errors, measured.total.seconds) == (9998, 2, 10)
    update = operation(measured, "update")
    assert (update.count, update.mean_s, update.max_s) == (500, 0.0125, 0.210)
    assert update.histogram is not None
    assert 0.012 <= h.percentile(update.histogram, 95) <= 0.013
    assert "known to 1 ms" in dict(measured.properties)["percentiles"]


def test_a_percentile_that_overflowed_buckets_do_not_have_stays_missing() -> None:
    measured = read_output("ycsb", ycsb("millisecond-histogram"), "c")
    read = operation(measured, "read")
    assert read.histogram is None or read.histogram.count == read.count
    assert 99.0 not in dict(read.printed)


def test_todays_ycsb_is_read_with_its_histogram_logs_and_their_time() -> None:
    measured = read_output("ycsb", ycsb("offered-load"), "f")
    assert measured.total.count == 1741
    assert operation(measured, "read").histogram is not None
    assert operation(measured, "read", "intended").count == 1741
    assert operation(measured, "read_modify_write").count == 858
    assert measured.window[0] > 1_600_000_000
    assert sum(each.count for each in measured.intervals) == 1741


def test_ycsb_without_logs_keeps_percentiles_as_printed() -> None:
    measured = read_output("ycsb", {"stdout": OUTPUTS / "ycsb" / "offered-load" / "stdout"}, "f")
    read = operation(measured, "read")
    assert read.histogram is None
    assert dict(read.printed) == {95.0: pytest.approx(0.006947), 99.0: pytest.approx(0.018927)}


def test_the_kind_of_latency_is_unknown_unless_the_command_line_has_it(tmp_path: Path) -> None:
    lines = ycsb("intended-only")["stdout"].read_text().splitlines(keepends=True)
    asked = "-P ../j4.properties -p measurement.interval=intended -threads 4 "
    for old, new, kind in (
        ("", "", "intended"),
        (asked, "", "service"),
        (asked, "-P own.properties ", "service, or intended if YCSB was run with measurement.interval=intended"),
        (lines[0], "", "service, or intended"),
    ):
        path = tmp_path / "stdout"
        path.write_text("".join(lines).replace(old, new, 1))
        shown = dict(read_output("ycsb", {"stdout": path}, "a").properties)["latency"]
        assert shown.startswith(kind), (new, shown)
        assert ("the files do not tell" in shown) == ("," in kind)
    logs = {name: path for name, path in ycsb("read-modify-write").items() if name in ("READ.hdr", "UPDATE.hdr")}
    assert "the files do not tell" in dict(read_output("hdr", logs, "f").properties)["latency"]


def test_a_time_series_is_not_taken_for_a_histogram(tmp_path: Path) -> None:
    path = tmp_path / "stdout"
    path.write_text(
        "YCSB Client 0.12.0\n[OVERALL], RunTime(ms), 2000.0\n[OVERALL], Throughput(ops/sec), 50.0\n"
        "[READ], Operations, 100\n[READ], AverageLatency(us), 812.5\n[READ], MinLatency(us), 100\n"
        "[READ], MaxLatency(us), 4000\n[READ], Return=OK, 100\n[READ], 0, 700.25\n[READ], 1000, 924.75\n"
    )
    read = operation(read_output("ycsb", {"stdout": path}, "c"), "read")
    assert (read.count, read.mean_s, read.histogram, read.printed) == (100, 812.5e-6, None, ())


def raw_text(count: int = 50_000, start_ms: int = 1_700_000_000_000) -> tuple[str, list[int]]:
    """Return raw latencies among YCSB's other rows, at 10 operations per millisecond."""
    chance = random.Random(1)  # noqa: S311  # made-up latencies
    values = [int(chance.lognormvariate(6.5, 0.8)) for _ in range(count)]
    lines = [f"READ,{start_ms + i // 10},{value}\n" for i, value in enumerate(values)]
    head = (
        "Raw data measurement: will output to stdout.\n[OVERALL], RunTime(ms), 5000\n"
        "READ latency raw data: op, timestamp(ms), latency(us)\n"
    )
    tail = f"[READ], Total Operations, {count}\n[READ], Below is a summary of latency in microseconds:, -1\n"
    return head + "".join(lines) + "READ-FAILED,1700000001000,99\n" + tail, values


def test_raw_latencies_give_the_percentiles_of_the_single_operations(tmp_path: Path) -> None:
    text, values = raw_text()
    path = tmp_path / "stdout"
    path.write_text(text)
    measured = read_output("ycsb", {"raw": path}, "c")
    read = operation(measured, "read")
    assert (read.count, read.errors) == (50_000, 1)
    assert read.mean_s == pytest.approx(sum(values) / len(values) / 1e6)
    assert (read.min_s, read.max_s) == (min(values) / 1e6, max(values) / 1e6)
    assert read.histogram is not None
    for percent in (50, 95, 99, 99.9):
        exact = sorted(values)[int(percent / 100 * len(values)) - 1]
        assert h.percentile(read.histogram, percent) * 1e6 == pytest.approx(exact, rel=0.002)
    assert measured.total.ops_per_s == pytest.approx(10_000, rel=0.01)
    assert [each.count for each in measured.intervals] == [10_000] * 3


def test_raw_latencies_that_end_before_their_summary_are_refused(tmp_path: Path) -> None:
    text, _ = raw_text(2000)
    path = tmp_path / "stdout"
    latencies = text[: text.index("[READ], Total")]
    for cut in (latencies, latencies[: latencies.index("READ,1700000000100,")]):
        path.write_text(cut)
        with pytest.raises(OutputProblem, match="cut: after its latencies YCSB prints how many there were"):
            read_output("ycsb", {"raw": path}, "c")
    path.write_text(latencies + "[OVERALL], Throughput(ops/sec), 400\n")
    assert read_output("ycsb", {"raw": path}, "c").total.count == 2000  # 400 ops/s in the 5 s of its RunTime
    path.write_text(latencies.split("\n", 1)[1])
    assert read_output("ycsb", {"raw": path}, "c").total.count == 2000  # no announcement: a file of latencies alone


def test_raw_latencies_in_utf_16_are_read(tmp_path: Path) -> None:
    text, _ = raw_text(2000)
    path, other = tmp_path / "stdout", tmp_path / "other"
    path.write_bytes(("\ufeff" + text).encode("utf-16-be"))
    with pytest.raises(OutputProblem, match="latencies in UTF-16 BE"):
        read_output("ycsb", {"raw": path}, "c")
    path.write_bytes(("\ufeff" + text.replace("\n", "\r\n")).encode("utf-16-le"))
    other.write_text(text)
    assert is_raw(path)
    assert read_output("ycsb", {"raw": path}, "c") == read_output("ycsb", {"raw": other}, "c")
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(OutputProblem, match="cut in its last line") as caught:
        read_output("ycsb", {"raw": path}, "c")
    assert caught.value.line == text.count("\n")


def test_raw_latencies_among_more_lines_than_are_looked_at_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "stdout"
    latencies = raw_text(2000)[0]
    for other in ("status, one,\n", "a line\n"):
        path.write_text(other * 20_000 + latencies + "READ,17000000\n" * 50 + "READ,1700000000123,412\n")
        with pytest.raises(OutputProblem, match=r"too many of its lines|not a whole latency"):
            read_output("ycsb", {"raw": path}, "c")


def test_raw_latencies_that_were_cut_are_refused_with_their_line(tmp_path: Path) -> None:
    text, _ = raw_text(1000)
    path = tmp_path / "stdout"
    for end, line in ((10_000, None), (text.index("READ-FAILED") + 14, 1004)):
        path.write_text(text[:end])
        with pytest.raises(OutputProblem, match=r"cut in its last line|not a whole latency") as caught:
            read_output("ycsb", {"raw": path}, "c")
        assert caught.value.line is not None
        assert line in (None, caught.value.line)
    lines = text.splitlines(keepends=True)
    path.write_text("".join([*lines[:500], "READ,170000\n", *lines[500:]]))
    with pytest.raises(OutputProblem, match="not a whole latency") as caught:
        read_output("ycsb", {"raw": path}, "c")
    assert caught.value.line == 501


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[OVERALL], Throughput(ops/sec), 432.6540755467197\n", "", "has no Throughput"),
        (
            "[READ], Return=OK, 1741\n",
            "[READ], Return=OK, 1041\n",
            r"1741 operations by its \[OVERALL\] block .*, 1041 by the rows of operations: it is cut, or one of these",
        ),
    ],
)
def test_an_output_of_ycsb_that_lacks_something_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = changed(tmp_path, OUTPUTS / "ycsb" / "offered-load" / "stdout", old, new)
    with pytest.raises(OutputProblem, match=message):
        read_output("ycsb", {"stdout": path}, "f")


def test_two_runs_in_one_file_and_files_of_others_are_refused(tmp_path: Path) -> None:
    whole = (OUTPUTS / "ycsb" / "version-0.1.4" / "stdout").read_text()
    path = tmp_path / "stdout"
    path.write_text(whole + whole)
    with pytest.raises(OutputProblem, match="a second run of YCSB begins here") as caught:
        read_output("ycsb", {"stdout": path}, "b")
    assert caught.value.line == len(whole.splitlines()) + 4
    path.write_text("iteration 1: 200 ok\n")
    for kind, shown in (("ycsb", "not an output of YCSB"), ("go-ycsb", "not an output of go-ycsb")):
        with pytest.raises(OutputProblem, match=shown):
            read_output(kind, {"stdout": path}, "b")
    with pytest.raises(OutputProblem, match="not an output of db_bench"):
        read_output("db_bench", {"stdout": path}, "readrandom")
    with pytest.raises(OutputProblem, match="not a line of a histogram log"):
        read_output("hdr", {"READ.hdr": path}, "b")


# --- HDR logs ----------------------------------------------------------------------------------------------------


def test_hdr_logs_by_themselves_are_a_measurement_also_with_tags_and_in_nanoseconds(tmp_path: Path) -> None:
    folder = OUTPUTS / "ycsb" / "read-modify-write"
    files = {path.name: path for path in folder.glob("*.hdr")}
    apart = read_output("hdr", files, "f")
    lines = [line for line in (folder / "READ.hdr").read_text().splitlines() if line[:1] not in '#"']
    tagged = tmp_path / "all.hlog"
    start = next(line for line in (folder / "READ.hdr").read_text().splitlines() if "StartTime" in line)
    tagged.write_text(
        "\n".join(["#[Histogram log format version 1.3]", start, *(f"Tag=READ,{line}" for line in lines)]) + "\n"
    )
    read = operation(read_output("hdr", {"all.hdr": tagged}, "f"), "read")
    assert read.histogram == operation(apart, "read").histogram
    in_ns = operation(read_output("hdr", {"all.hdr": tagged}, "f", {"unit": "ns"}), "read")
    assert in_ns.mean_s == pytest.approx((read.mean_s or 0) / 1000)


def test_a_damaged_line_of_an_hdr_log_is_reported(tmp_path: Path) -> None:
    text = (OUTPUTS / "ycsb" / "read-modify-write" / "READ.hdr").read_text()
    path = tmp_path / "READ.hdr"
    path.write_text(text[: len(text) - 40])
    with pytest.raises(OutputProblem, match="not a compressed histogram") as caught:
        read_output("hdr", {"READ.hdr": path}, "f")
    assert caught.value.line == len(text.splitlines())


# --- go-ycsb and db_bench ----------------------------------------------------------------------------------------


def test_go_ycsb_is_read_from_its_final_rows(tmp_path: Path) -> None:
    stdout = OUTPUTS / "go_ycsb" / "timed" / "stdout"
    measured = read_output("go-ycsb", {"stdout": stdout}, "f")
    assert measured.total.count == 40267 - 13447
    assert measured.total.errors == 23
    assert dict(operation(measured, "update").printed)[99.0] == pytest.approx(0.003305)
    cut = tmp_path / "cut"
    cut.write_text(stdout.read_text().partition("Run finished")[0])
    with pytest.raises(OutputProblem, match="no final TOTAL row"):
        read_output("go-ycsb", {"stdout": cut}, "f")


@pytest.mark.parametrize(
    ("name", "benchmark", "operations"),
    [
        ("readrandom", "readrandom", {"read"}),
        ("readrandom-6", "readrandom", {"read"}),
        ("readwhilewriting", "readwhilewriting", {"read"}),
        ("readwhilewriting-6", "readwhilewriting", {"read"}),
        ("readrandomwriterandom", "readrandomwriterandom", {"read", "write"}),
    ],
)
def test_db_bench_of_old_and_new_is_read(name: str, benchmark: str, operations: set[str]) -> None:
    measured = read_output("db_bench", {"stdout": OUTPUTS / "db_bench" / name / "stdout"}, benchmark)
    assert {each.operation for each in measured.operations} == operations
    assert all(each.histogram and each.histogram.count == each.count for each in measured.operations)
    assert measured.total.ops_per_s > 0


def test_each_benchmark_of_one_output_has_its_own_histogram(tmp_path: Path) -> None:
    first = (OUTPUTS / "db_bench" / "readrandom" / "stdout").read_text()
    second = (OUTPUTS / "db_bench" / "readwhilewriting" / "stdout").read_text()
    path = tmp_path / "stdout"
    path.write_text(first + second[second.index("readwhilewriting :") :])
    for benchmark in ("readrandom", "readwhilewriting"):
        alone = read_output("db_bench", {"stdout": OUTPUTS / "db_bench" / benchmark / "stdout"}, benchmark)
        assert read_output("db_bench", {"stdout": path}, benchmark).operations == alone.operations
    with pytest.raises(OutputProblem, match="no result of fillseq: it has readrandom, readwhilewriting"):
        read_output("db_bench", {"stdout": path}, "fillseq")
    with pytest.raises(OutputProblem, match="found none of the"):
        read_output("db_bench", {"stdout": OUTPUTS / "db_bench" / "missing-database" / "stdout"}, "readrandom")


# --- to cells ----------------------------------------------------------------------------------------------------


def placed(tmp_path: Path) -> list[Path]:
    """Return two outputs at paths that name their cells. The first has logs."""
    folder = tmp_path / "out" / "eco"
    shutil.copytree(OUTPUTS / "ycsb" / "offered-load", folder / "f-t4")
    output = folder / "f-t4" / "stdout"
    output.write_text(output.read_text().replace(" -target 500", "", 1))
    other = tmp_path / "out" / "legacy" / "b-t4"
    other.mkdir(parents=True)
    text = (OUTPUTS / "ycsb" / "version-0.1.4" / "stdout").read_text()
    (other / "stdout").write_text(text.replace("-threads 8", "-threads 4", 1))
    return [output, *sorted(output.parent.glob("*.hdr")), other / "stdout"]


PATTERN = Where("out/{hardware}/{workload}-t{threads}/stdout")


def test_outputs_go_to_the_cells_that_their_paths_say_and_their_metrics_work(tmp_path: Path, plan: Plan) -> None:
    what = prepare_outputs("ycsb", placed(tmp_path), plan, SOURCE, PATTERN)
    run_dir = keep_run(tmp_path / "bench-out", plan, {}, what)
    with open_store(run_dir) as store:
        (metric,) = plan.metrics
        values = {row.keys: row.value for row in store.query(metric.query) if row.value is not None}
        assert values == {(4,): pytest.approx(432.65 / 1000, rel=0.01)}
        assert store.sql("SELECT status, count(*) FROM cells GROUP BY ALL ORDER BY 1").rows == (
            ("missing", 12),
            ("ok", 2),
            ("skipped", 2),
        )
        assert len(store.sql("SELECT DISTINCT file FROM sources").rows) == 10
        assert store.sql("SELECT count(*) FROM latency WHERE statistic = 'p99' AND value_s IS NULL").rows == ((0,),)
        assert store.sql("SELECT severity, text FROM notes WHERE text LIKE '%failed%'").rows == (
            ("warning", "2 of 10,000 operations failed (0.02 %, 0.00 % allowed)"),
        )
        assert store.sql("SELECT DISTINCT value FROM properties WHERE name = 'window'").rows == (
            ("the whole run: what of it was a warm-up is not known",),
        )


def test_nothing_is_kept_unless_all_is_right_and_the_rest_when_asked(tmp_path: Path, plan: Plan) -> None:
    paths = placed(tmp_path)
    bad = tmp_path / "out" / "legacy" / "b-t8" / "stdout"
    bad.parent.mkdir()
    bad.write_text("[OVERALL], RunTime(ms), 4000\n")
    other = tmp_path / "out" / "nvme" / "f-t4" / "stdout"
    with pytest.raises(ImportRefused) as caught:
        prepare_outputs("ycsb", [*paths, bad, other], plan, SOURCE, PATTERN)
    assert f"{bad}:1: its [OVERALL] block has no Throughput(ops/sec): it is cut, or a row was taken out" in str(
        caught.value
    )
    assert f"{other}: no hardware `nvme` in the plan" in str(caught.value)
    what = prepare_outputs("ycsb", [*paths, bad, other], plan, SOURCE, PATTERN, skip_bad=True)
    assert len(what.cells) == 2
    assert len(what.problems) == 2


def test_several_load_generators_of_a_cell_are_recognised_by_their_paths(tmp_path: Path, plan: Plan) -> None:
    paths = []
    for host in ("load-1", "load-2"):
        paths.append(tmp_path / f"{host}.txt")
        text = (OUTPUTS / "ycsb" / "version-0.1.4" / "stdout").read_text()
        paths[-1].write_text(f"on {host}\n" + text.replace("-threads 8", "-threads 4", 1))
    cell = "hardware=eco,workload=b,threads=8"
    with pytest.raises(ImportRefused, match="of the same cell as"):
        prepare_outputs("ycsb", paths, plan, SOURCE, Where(cell=cell))
    what = prepare_outputs("ycsb", paths, plan, SOURCE, Where("{host}.txt", cell))
    assert [job.host for each in what.cells for job in each.jobs] == ["load-1", "load-2"]
    assert what.cells[0].ops_per_s == pytest.approx(2 * 999.8)


@pytest.mark.parametrize(
    ("workload", "threads", "message"),
    [
        ("b", 4, r":2: it was run with -threads 8, and cell \S+ has threads = 4"),
        ("f", 8, r"95 % of its operations are reads, and 50 % are in workload f \(ycsb\.f\)"),
        ("f", 8, r":2: it was run with recordcount = 75000000, and workload f has records = "),
    ],
)
def test_a_cell_that_the_output_itself_contradicts_is_refused(
    plan: Plan, workload: str, threads: int, message: str
) -> None:
    path = OUTPUTS / "ycsb" / "version-0.1.4" / "stdout"
    where = Where(cell=f"hardware=eco,workload={workload},threads={threads}")
    with pytest.raises(ImportRefused, match=message):
        prepare_outputs("ycsb", [path], plan, SOURCE, where)
    right = Where(cell="hardware=eco,workload=b,threads=8")
    assert len(prepare_outputs("ycsb", [path], plan, SOURCE, right).cells) == 1


def test_an_output_with_an_offered_load_is_not_one_at_full_speed(plan: Plan) -> None:
    path = OUTPUTS / "ycsb" / "offered-load" / "stdout"
    with pytest.raises(ImportRefused, match=r":1: it was run with -target 500, and cell \S+ has no target"):
        prepare_outputs("ycsb", [path], plan, SOURCE, Where(cell="hardware=eco,workload=f,threads=4"))


def test_values_of_another_size_than_the_workloads_are_refused(tmp_path: Path) -> None:
    spec = tmp_path / "sizes.bench"
    spec.write_text(
        'hardware ssd { hosts = "ssd.lab" }\n'
        'database rocks { engine = rocksdb  path = "/data/db"  tool = db_bench }\n'
        "workload w from db_bench.readrandom { value_size = 400 B }\n"
        "experiment e { hardware = ssd  workloads = w  threads = 4  measure = 1 min }\n"
    )
    found = check(spec)
    assert found.plan is not None, found
    path = OUTPUTS / "db_bench" / "readrandom" / "stdout"
    shown = ":5: it was run with values of 100 bytes, and workload w has value_size = 400"
    with pytest.raises(ImportRefused, match=shown):
        prepare_outputs("db_bench", [path], found.plan, SOURCE, Where(cell="hardware=ssd"))


@pytest.mark.parametrize(
    ("threads", "headline"),
    [
        (256, "   9.691 micros/op 1273450 ops/sec 0.603 seconds 768000 operations;  140.9 MB/s (3000 of 3000 found)"),
        (
            256,
            "  79.475 micros/op 1370882 ops/sec 4.873 seconds 6680744 operations;  151.7 MB/s (26999 of 26999 found)",
        ),
        (96, " 156.345 micros/op 410961 ops/sec 0.467 seconds 192000 operations;   45.5 MB/s (2000 of 2000 found)"),
        (16, "   6.005 micros/op 521257 ops/sec 0.061 seconds 32000 operations;   57.7 MB/s (2000 of 2000 found)"),
    ],
)
def test_short_runs_of_many_threads_on_two_cores_are_taken_for_their_cell_alone(
    tmp_path: Path, threads: int, headline: str
) -> None:
    """The threads began and ended one after the other. The lines are from real runs."""
    spec = tmp_path / "many.bench"
    spec.write_text(
        'hardware ssd { hosts = "ssd.lab" }\n'
        'database rocks { engine = rocksdb  path = "/data"  tool = db_bench }\n'
        "workload w from db_bench.readrandom { records = 20k  value_size = 100 B }\n"
        f"experiment e {{ hardware = ssd  workloads = w  threads = [2, {threads}]  measure = 1 s }}\n"
    )
    found = check(spec)
    assert found.plan is not None, found
    head = (OUTPUTS / "db_bench" / "readrandom" / "stdout").read_text().partition("readrandom   :")[0]
    path = tmp_path / "stdout"
    path.write_text(f"{head}readrandom   : {headline}\n")
    kept = prepare_outputs("db_bench", [path], found.plan, SOURCE, Where(cell=f"threads={threads}"))
    assert len(kept.cells) == 1
    with pytest.raises(ImportRefused, match=r"threads at once, and cell \S+ has threads = 2"):
        prepare_outputs("db_bench", [path], found.plan, SOURCE, Where(cell="threads=2"))


@pytest.mark.parametrize(
    ("hardware", "threads", "message"),
    [
        ("ram", 2, r"stdout:\d+: its DB path is /data/db, which is of disk, and cell \S+ is of ram"),
        (
            "disk",
            1,
            r"stdout:\d+: `readrandom : .* ops/sec` is of 2 threads at once, and .* threads = 1",
        ),
        ("disk", 4, r"is of 2 threads at once, and .* threads = 4"),
        ("disk", 2, ""),
    ],
)
def test_an_output_of_another_hardwares_database_or_of_other_threads_is_refused(
    tmp_path: Path, hardware: str, threads: int, message: str
) -> None:
    spec = tmp_path / "places.bench"
    spec.write_text(
        'hardware box { hosts = local  variant ram { path = "/dev/shm/db" }  variant disk { path = "/data" } }\n'
        'database rocks { engine = rocksdb  path = "{path}"  tool = db_bench }\n'
        "workload w from db_bench.readrandom { records = 20k  value_size = 100 B }\n"
        "experiment e { hardware = [ram, disk]  workloads = w  threads = [1, 2, 4]  measure = 1 min }\n"
    )
    found = check(spec)
    assert found.plan is not None, found
    where = Where(cell=f"hardware={hardware},threads={threads}")
    path = tmp_path / "stdout"
    text = (OUTPUTS / "db_bench" / "readrandom" / "stdout").read_text()
    path.write_text(re.sub(r"DB path: .*", "DB path: [/data/db]", text))
    if message:
        with pytest.raises(ImportRefused, match=message):
            prepare_outputs("db_bench", [path], found.plan, SOURCE, where)
    else:
        assert len(prepare_outputs("db_bench", [path], found.plan, SOURCE, where).cells) == 1


def test_one_output_is_not_taken_for_two_repeats(tmp_path: Path, plan: Plan) -> None:
    paths = [tmp_path / f"r{repeat}.txt" for repeat in (1, 2)]
    for path in paths:
        shutil.copy(OUTPUTS / "ycsb" / "version-0.1.4" / "stdout", path)
    where = Where("r{repeat}.txt", "hardware=eco,workload=b,threads=8")
    with pytest.raises(ImportRefused, match=r"r2\.txt: the same, byte for byte, as .*r1\.txt"):
        prepare_outputs("ycsb", paths, plan, SOURCE, where)
    what = prepare_outputs("ycsb", paths, plan, SOURCE, where, skip_bad=True)
    assert [each.cell.repeat for each in what.cells] == [1]


IOSTAT = """Linux 6.1.0 (eco-1) 	11/14/2023 	_x86_64_	(2 CPU)
"""
REPORT = """
{at}
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.00    0.00    1.00    0.00    0.00   98.00

Device            r/s     rkB/s   r_await     w/s     wkB/s   w_await  aqu-sz  %util
nvme0n1         {reads}.00   64.00      0.50    0.00      0.00      0.00    0.10  25.00

"""
SAMPLED = (
    SPEC.replace("repeats = 2", "probes = [disk every 1 s, power every 1 s]")
    .replace("f from ycsb.f", "f from ycsb.c")
    .replace("[4, 8]", "16")
    .replace('hosts = "eco-[1-2].lab"', 'hosts = "eco-1.lab"  power = command("meter")')
    .replace('hosts = "hdd-[1-2].lab"', 'hosts = "hdd-1.lab"  power = command("meter")')
)


def test_logs_of_iostat_and_ipmitool_are_samples_inside_the_measured_window(tmp_path: Path) -> None:
    spec = tmp_path / "sampled.bench"
    spec.write_text(SAMPLED)
    plan = check(spec).plan
    assert plan is not None
    raw = tmp_path / "eco-f.raw"
    raw.write_text(raw_text()[0])  # five seconds from 1_700_000_000, 22:13:20 UTC
    times = [f"2023-11-14T22:13:{second:02}+0000" for second in range(18, 28)]
    reports = [REPORT.format(at=at, reads=10 + i) for i, at in enumerate(times)]
    (tmp_path / "eco-f.iostat").write_text(IOSTAT + "".join(reports))
    watts = [f"{1_700_000_000 + second} Pwr Consumption | {200 + second}.000 | Watts | ok" for second in range(-2, 8)]
    (tmp_path / "eco-f.power").write_text("\n".join(watts) + "\n")
    logs = tuple(
        (kind, f"{tmp_path}/{{hardware}}-{{workload}}.{end}")
        for kind, end in (("iostat", "iostat"), ("ipmitool", "power"))
    )
    where = Where("{hardware}-{workload}.raw", "threads=16", samples=logs)
    what = prepare_outputs("ycsb", [raw], plan, SOURCE, where)
    with open_store(keep_run(tmp_path / "out", plan, {}, what)) as store:
        values = dict(
            store.sql("SELECT measure, avg(value) FROM samples WHERE device <> '' OR measure = 'power' GROUP BY 1").rows
        )
        assert values["power"] == pytest.approx(202, abs=0.6)
        assert values["disk.read"] == 64 * 1024
        assert values["disk.read_await"] == 0.0005
        assert values["disk.utilisation"] == 0.25
        assert "disk.write_await" not in values
        shares = dict(store.sql("SELECT probe, share FROM coverage").rows)
        assert min(shares.values()) > 0.75
    (tmp_path / "eco-f.iostat").write_text((IOSTAT + "".join(reports))[:-30])
    with pytest.raises(ImportRefused, match="not a whole line of a device"):
        prepare_outputs("ycsb", [raw], plan, SOURCE, where)


@pytest.mark.parametrize(
    "coordinate", ["threads=" + "9" * 5000, "threads=9007199254740993", "target=" + "9" * 400, "repeat=1e3"]
)
def test_a_coordinate_beyond_all_reason_is_no_place(plan: Plan, coordinate: str) -> None:
    name = coordinate.partition("=")[0]
    with pytest.raises(NoPlace, match=f"{name} is a number, and not"):
        coordinates(given_cell(coordinate, Places(plan).names), Places(plan), "ramp")


FACTORS = """
hardware box { hosts = local }
factor codec "Compression" { none = "none"  snappy = "snappy"  zstd = "zstd" }
factor vsize "Value size" { levels = [100 B, 1 kB] }
database rocks { engine = rocksdb  path = "/b/{codec}-{vsize}"  options { compression = codec } }
workload rr from db_bench.readrandom { records = 20k  value_size = vsize }
experiment matrix { hardware = box  workloads = rr  threads = [1, 2]  vary = [codec, vsize]  measure = 2 s }
"""


def test_an_output_is_of_the_only_level_with_the_settings_that_it_tells(tmp_path: Path) -> None:
    plan = compile_text(FACTORS, tmp_path)
    output = OUTPUTS / "db_bench" / "readrandom" / "stdout"
    snappy = changed(tmp_path, output, "Compression: NoCompression", "Compression: Snappy")
    for path, level in ((output, "codec=none,vsize=100"), (snappy, "codec=snappy,vsize=100")):
        kept = prepare_outputs("db_bench", [path], plan, SOURCE, Where(cell="threads=2"))
        assert [each.cell.id for each in kept.cells] == [f"matrix/box/rr/{level}/threads=2/r1"]
    unsaid = changed(tmp_path, output, "Compression: NoCompression\n", "")
    with pytest.raises(ImportRefused, match="its codec is not said") as caught:
        prepare_outputs("db_bench", [unsaid], plan, SOURCE, Where(cell="threads=2"))
    assert caught.value.hint == "it is one of none, snappy, zstd"
    with pytest.raises(ImportRefused, match="was run with Compression: NoCompression, and database rocks has"):
        prepare_outputs("db_bench", [output], plan, SOURCE, Where(cell="threads=2,codec=zstd,vsize=100"))


def test_paths_have_the_levels_of_their_outputs(tmp_path: Path) -> None:
    plan = compile_text(FACTORS, tmp_path)
    path = tmp_path / "none-100" / "t2.txt"
    path.parent.mkdir()
    shutil.copyfile(OUTPUTS / "db_bench" / "readrandom" / "stdout", path)
    kept = prepare_outputs("db_bench", [path], plan, SOURCE, Where(pattern="{codec}-{vsize}/t{threads}.txt"))
    with open_store(keep_run(tmp_path / "out", plan, {}, kept)) as store:
        assert store.sql("SELECT DISTINCT codec, vsize, threads FROM measure.throughput").rows == (("none", 100, 2),)
    with pytest.raises(ResultsError, match=r"`\{codek\}` in --as is no coordinate") as caught:
        prepare_outputs("db_bench", [path], plan, SOURCE, Where(pattern="{codek}-{vsize}/t{threads}.txt"))
    assert caught.value.hint == "did you mean {codec}?"
