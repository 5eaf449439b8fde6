"""Tests printed outputs of tools that might be refused for a wrong reason, or believed too readily."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.model import histogram as h
from benchbrief.results.imports.cell_matching import Where
from benchbrief.results.imports.imported_files import ImportRefused, OutputProblem
from benchbrief.results.imports.importer_seams import read_output
from benchbrief.results.imports.keep_import import keep_run
from benchbrief.results.imports.prepare_outputs import prepare_outputs
from benchbrief.results.open_store import open_store
from tests.support.imported import SOURCE
from tests.support.plans import compile_text
from tests.support.recorded import RECORDED_OUTPUTS

SPEC = """
hardware box { hosts = "box.lab" }
client load { hosts = "load.lab"  tool = TOOL }
database db { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload w from ycsb.WORKLOAD
experiment closed { hardware = box  workloads = w  threads = THREADS  measure = 5 s }
"""
OUTPUTS = Path(__file__).parent / "outputs"


@pytest.mark.parametrize(
    ("file", "least", "most"),
    [("ycsb-buckets-9-and-10.txt", 0.0108, 0.011), ("ycsb-0.17-millisecond-buckets.txt", 0.062, 0.063)],
)
def test_buckets_of_a_millisecond_follow_each_other(file: str, least: float, most: float) -> None:
    (read,) = read_output("ycsb", {"stdout": OUTPUTS / file}, "c").operations
    assert read.histogram is not None
    assert read.histogram.count == read.count
    assert least <= h.percentile(read.histogram, 99) <= most


def refused(
    tool: str,
    path: Path,
    folder: Path,
    workload: str,
    threads: int = 1,
    cell: str = "experiment=closed",
    spec: str = SPEC,
) -> str:
    """Return why an output is refused for the cell of a spec, or "" if it is accepted."""
    text = spec.replace("TOOL", tool).replace("WORKLOAD", workload).replace("THREADS", str(threads))
    importer = {"go_ycsb": "go-ycsb"}.get(tool, tool)
    try:
        prepare_outputs(importer, [path], compile_text(text, folder), SOURCE, Where(cell=cell))
    except ImportRefused as why:
        return "\n".join(each.text for each in why.problems)
    return ""


LOADS = SPEC.replace("workloads = w", "workloads = load(w)")
CELL, LOAD = "experiment=closed", "workload=load(w)"


def test_a_load_of_go_ycsb_is_known_by_either_property(tmp_path: Path) -> None:
    path = OUTPUTS / "go-ycsb-load.txt"
    (insert,) = read_output("go-ycsb", {"stdout": path}, "a").operations
    assert (insert.operation, insert.count, insert.errors) == ("insert", 1000, 0)
    spec = LOADS.replace("ycsb.WORKLOAD", "ycsb.a { records = 1000 }")
    assert refused("go_ycsb", path, tmp_path, "a", cell=LOAD, spec=spec) == ""
    assert "run with dotransactions = false, and workload w is a run" in refused("go_ycsb", path, tmp_path, "a")


@pytest.mark.parametrize("words", ["-load", "-t -load", "-t -p dotransactions=false"])
def test_the_shares_that_a_load_is_given_are_those_of_the_run_after_it(tmp_path: Path, words: str) -> None:
    path = tmp_path / "stdout"
    path.write_text(
        f"java site.ycsb.Client {words} -p readproportion=0.5 -p insertproportion=0 -threads 1\n"
        "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 1000.0\n[INSERT], Operations, 1000\n"
        "[INSERT], AverageLatency(us), 900.0\n[INSERT], MinLatency(us), 800\n[INSERT], MaxLatency(us), 1000\n"
        "[INSERT], Return=OK, 1000\n"
    )
    assert refused("ycsb", path, tmp_path, "a", cell=LOAD, spec=LOADS) == ""
    assert f"it was run with {words.rsplit(maxsplit=1)[-1]}, and workload w is a run" in refused(
        "ycsb", path, tmp_path, "a"
    )


@pytest.mark.parametrize(
    ("file", "message", "hint"),
    [
        ("fio-2.1.4.json", "fio 2.1.4 has no bins .* its format is too old", "run fio 3.0 or later with"),
        ("fio-2.17.json", "fio 2.17 has no bins .* its format is too old", "run fio 3.0 or later with"),
        ("fio-3.42-json-normal.txt", "its latencies have no bins", "run fio with"),
    ],
)
def test_an_output_of_fio_without_bins_is_not_called_cut(file: str, message: str, hint: str) -> None:
    with pytest.raises(OutputProblem, match=message) as caught:
        read_output("fio", {"stdout": OUTPUTS / file}, "randwrite")
    assert caught.value.hint == f"{hint} --output-format=json+"


FIO = """
hardware box { hosts = "box.lab" }
database disk { engine = raw_storage  path = "/data/raw"  size = 8 MiB }
workload w from fio.randread { direct = false  io_engine = psync }
experiment closed { hardware = box  workloads = w  threads = THREADS  measure = 3 s }
"""


@pytest.mark.parametrize(("threads", "message"), [(2, ""), (1, "it was run with 2 jobs, and cell "), (4, "2 jobs")])
def test_sections_that_fio_reports_together_are_so_many_jobs(tmp_path: Path, threads: int, message: str) -> None:
    path = OUTPUTS / "fio-3.33-two-sections.json"
    why = refused("fio", path, tmp_path, "", threads, spec=FIO)
    assert message in why
    assert bool(why) == bool(message)


@pytest.mark.parametrize(
    ("threads", "message"),
    [(20, ""), (10, "its latencies add up to"), (128, "20 client threads ran"), (15, "20 client threads ran")],
)
def test_no_more_threads_are_believed_than_closed_their_connections(tmp_path: Path, threads: int, message: str) -> None:
    why = refused("ycsb", OUTPUTS / "ycsb-0.16-twenty-threads.txt", tmp_path, "a", threads)
    assert message in why
    assert bool(why) == bool(message)


def test_the_binding_of_hbase_counts_each_thread_twice(tmp_path: Path) -> None:
    text = (OUTPUTS / "ycsb-0.16-twenty-threads.txt").read_text()
    path = tmp_path / "stdout"
    for client, taken in (("", True), ("hbase2.HBaseClient2", True), ("jdbc.JdbcDBClient", False)):
        head = f"java site.ycsb.Client -t -db site.ycsb.db.{client}\n" if client else ""
        path.write_text(head + text.replace("[CLEANUP], Operations, 20", "[CLEANUP], Operations, 40"))
        assert (refused("ycsb", path, tmp_path, "a", 20) == "") == taken, client


def test_no_more_threads_are_believed_than_their_latencies_fill(tmp_path: Path) -> None:
    text = (OUTPUTS / "ycsb-0.16-twenty-threads.txt").read_text()
    path = tmp_path / "stdout"
    rows = "".join(line for line in text.splitlines(keepends=True) if "CLEANUP" not in line)
    path.write_text(rows)
    assert refused("ycsb", path, tmp_path, "a", 128) == "", "where the settings are not known, it may have had a target"
    path.write_text(f"java site.ycsb.Client -t -p requestdistribution=zipfian\n{rows}")
    assert refused("ycsb", path, tmp_path, "a", 20) == ""
    assert "about 19 threads ran at once, and cell" in refused("ycsb", path, tmp_path, "a", 128)


def stored(path: Path, tool: str, folder: Path, spec: str, query: str) -> list[tuple[object, ...]]:
    plan = compile_text(spec, folder)
    what = prepare_outputs(tool, [path], plan, SOURCE, Where(cell="experiment=closed"))
    with open_store(keep_run(folder / "bench-out", plan, {}, what)) as store:
        return [tuple(row) for row in store.sql(query).rows]


def test_an_operation_that_never_succeeded_has_no_latency(tmp_path: Path) -> None:
    spec = SPEC.replace("TOOL", "ycsb").replace("WORKLOAD", "c").replace("THREADS", "4")
    query = "SELECT count, errors, mean_s, min_s, max_s FROM operations"
    rows = stored(OUTPUTS / "ycsb-0.12-all-failed.txt", "ycsb", tmp_path, spec, query)
    assert rows == [(0, 1000, None, None, None)]


def test_a_time_that_is_not_printed_is_missing(tmp_path: Path) -> None:
    spec = """
hardware box { hosts = "box.lab" }
database rocks { engine = rocksdb  path = "/data/db"  tool = db_bench }
workload w from db_bench.overwrite
experiment closed { hardware = box  workloads = w  threads = 4  measure = 5 s }
"""
    path = OUTPUTS / "db_bench-without-seconds.txt"
    assert stored(path, "db_bench", tmp_path, spec, "SELECT measured_s FROM cells") == [(None,)]


def test_a_reading_benchmark_with_a_histogram_of_writes_is_refused(tmp_path: Path) -> None:
    recorded = RECORDED_OUTPUTS / "db_bench" / "readwhilewriting" / "stdout"
    path = tmp_path / "stdout"
    path.write_text(recorded.read_text().replace("Microseconds per read", "Microseconds per write"))
    with pytest.raises(OutputProblem, match="readwhilewriting reads, and has a histogram of the operation write"):
        read_output("db_bench", {"stdout": path}, "readwhilewriting")


@pytest.mark.parametrize(
    ("benchmark", "threads", "rate", "seconds"), [("updaterandom", 16, 18052, 8863.28), ("readseq", 16, 9839494, 14.63)]
)
def test_benchmarks_with_a_write_rate_or_to_the_last_record_have_a_cell(
    tmp_path: Path, benchmark: str, threads: int, rate: float, seconds: float
) -> None:
    limit = "write_rate = 2097152 B/s" if benchmark == "updaterandom" else ""
    spec = f"""
hardware box {{ hosts = "box.lab" }}
database rocks {{ engine = rocksdb  path = "/data/db"  tool = db_bench }}
workload w from db_bench.{benchmark} {{ records = 10M  {limit} }}
workload fill from db_bench.fillseq {{ records = 10M }}
experiment closed {{ hardware = box  workloads = [fill, w]  threads = {threads}  measure = 10 s }}
"""
    plan = compile_text(spec, tmp_path)
    path = OUTPUTS / f"db_bench-11.6-{benchmark}.txt"
    what = prepare_outputs("db_bench", [path], plan, SOURCE, Where(cell="experiment=closed,workload=w"))
    with open_store(keep_run(tmp_path / "bench-out", plan, {}, what)) as store:
        query = "SELECT ops_per_s, measured_s FROM throughput JOIN cells USING (run_id, cell_id) WHERE workload = 'w'"
        ((found, measured_s),) = (tuple(row) for row in store.sql(query).rows)
    assert found == pytest.approx(rate, abs=1)
    assert measured_s == pytest.approx(seconds, abs=0.1)


BEFORE_0_6 = (
    "YCSB Client 0.1\n[OVERALL], RunTime(ms), 10000\n[OVERALL], Throughput(ops/sec), 100.0\n"
    "[READ], Operations, 1000\n[READ], AverageLatency(us), 812.5\n[READ], MinLatency(us), 100\n"
    "[READ], MaxLatency(us), 4000\n[READ], 95thPercentileLatency(us), 2000\n[READ], 99thPercentileLatency(us), 3000\n"
    "[READ], Return=OK, 900\n[READ], Return=ERROR, 100\n"
)


def test_failures_within_a_latency_are_told(tmp_path: Path) -> None:
    """Before 0.6.0, YCSB measured failures, too, and fast failures improve its percentiles."""
    path = tmp_path / "stdout"
    path.write_text(BEFORE_0_6)
    spec = SPEC.replace("TOOL", "ycsb").replace("WORKLOAD", "c").replace("THREADS", "4")
    plan = compile_text(spec.replace("measure = 5 s", "measure = 5 s  max_errors = 20 %"), tmp_path)
    what = prepare_outputs("ycsb", [path], plan, SOURCE, Where(cell="experiment=closed"))
    with open_store(keep_run(tmp_path / "bench-out", plan, {}, what)) as store:
        counted = [tuple(row) for row in store.sql("SELECT count, errors FROM operations").rows]
        notes = [str(text) for (text,) in store.sql("SELECT text FROM notes").rows]
        disclosed = [str(value) for (value,) in store.sql("SELECT value FROM properties WHERE name = 'failures'").rows]
    assert counted == [(900, 100)]
    assert any("of [READ] are also those of its failures, 100 of 1000 operations" in note for note in notes)
    assert disclosed == ["within the latencies of their operation, as YCSB before 0.6.0 measures them"]


@pytest.mark.parametrize("file", ["ycsb-0.12-some-failed.txt", "ycsb-0.12-all-failed.txt"])
def test_failures_with_a_row_of_their_own_are_not_said_to_be_in_another(file: str) -> None:
    measured = read_output("ycsb", {"stdout": OUTPUTS / file}, "c")
    assert sum(each.errors for each in measured.operations) > 0
    assert "failures" not in dict(measured.properties)
