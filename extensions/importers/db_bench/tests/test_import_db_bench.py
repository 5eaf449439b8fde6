"""Tests the import of finished outputs of db_bench. Outputs of old and new versions are read. An output that
contradicts itself or its spec is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.model.plan import Plan
from benchbrief.results.imports.cell_matching import Where
from benchbrief.results.imports.imported_files import ImportRefused, OutputProblem
from benchbrief.results.imports.importer_seams import read_output
from benchbrief.results.imports.keep_import import keep_run
from benchbrief.results.imports.prepare_outputs import prepare_outputs
from benchbrief.results.open_store import open_store
from tests.support.imported import CELL, ROCKS, SOURCE, copied, refused, replaced
from tests.support.plans import compile_text
from tests.support.recorded import RECORDED_OUTPUTS

OUTPUTS = RECORDED_OUTPUTS / "db_bench"


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
    measured = read_output("db_bench", {"stdout": OUTPUTS / name / "stdout"}, benchmark)
    assert {each.operation for each in measured.operations} == operations
    assert all(each.histogram and each.histogram.count == each.count for each in measured.operations)
    assert measured.total.ops_per_s > 0


def test_each_benchmark_of_one_output_has_its_own_histogram(tmp_path: Path) -> None:
    first = (OUTPUTS / "readrandom" / "stdout").read_text()
    second = (OUTPUTS / "readwhilewriting" / "stdout").read_text()
    path = tmp_path / "stdout"
    path.write_text(first + second[second.index("readwhilewriting :") :])
    for benchmark in ("readrandom", "readwhilewriting"):
        alone = read_output("db_bench", {"stdout": OUTPUTS / benchmark / "stdout"}, benchmark)
        assert read_output("db_bench", {"stdout": path}, benchmark).operations == alone.operations
    with pytest.raises(OutputProblem, match="no result of fillseq: it has readrandom, readwhilewriting"):
        read_output("db_bench", {"stdout": path}, "fillseq")
    with pytest.raises(OutputProblem, match="found none of the"):
        read_output("db_bench", {"stdout": OUTPUTS / "missing-database" / "stdout"}, "readrandom")


def test_values_of_another_size_than_the_workloads_are_refused(tmp_path: Path) -> None:
    spec = (
        'hardware ssd { hosts = "ssd.lab" }\n'
        'database rocks { engine = rocksdb  path = "/data/db"  tool = db_bench }\n'
        "workload w from db_bench.readrandom { value_size = 400 B }\n"
        "experiment e { hardware = ssd  workloads = w  threads = 4  measure = 1 min }\n"
    )
    plan = compile_text(spec, tmp_path)
    path = OUTPUTS / "readrandom" / "stdout"
    shown = ":5: it was run with values of 100 bytes, and workload w has value_size = 400"
    with pytest.raises(ImportRefused, match=shown):
        prepare_outputs("db_bench", [path], plan, SOURCE, Where(cell="hardware=ssd"))


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
    spec = (
        'hardware ssd { hosts = "ssd.lab" }\n'
        'database rocks { engine = rocksdb  path = "/data"  tool = db_bench }\n'
        "workload w from db_bench.readrandom { records = 20k  value_size = 100 B }\n"
        f"experiment e {{ hardware = ssd  workloads = w  threads = [2, {threads}]  measure = 1 s }}\n"
    )
    plan = compile_text(spec, tmp_path)
    head = (OUTPUTS / "readrandom" / "stdout").read_text().partition("readrandom   :")[0]
    path = tmp_path / "stdout"
    path.write_text(f"{head}readrandom   : {headline}\n")
    kept = prepare_outputs("db_bench", [path], plan, SOURCE, Where(cell=f"threads={threads}"))
    assert len(kept.cells) == 1
    with pytest.raises(ImportRefused, match=r"threads at once, and cell \S+ has threads = 2"):
        prepare_outputs("db_bench", [path], plan, SOURCE, Where(cell="threads=2"))


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
    spec = (
        'hardware box { hosts = local  variant ram { path = "/dev/shm/db" }  variant disk { path = "/data" } }\n'
        'database rocks { engine = rocksdb  path = "{path}"  tool = db_bench }\n'
        "workload w from db_bench.readrandom { records = 20k  value_size = 100 B }\n"
        "experiment e { hardware = [ram, disk]  workloads = w  threads = [1, 2, 4]  measure = 1 min }\n"
    )
    plan = compile_text(spec, tmp_path)
    where = Where(cell=f"hardware={hardware},threads={threads}")
    path = tmp_path / "stdout"
    text = (OUTPUTS / "readrandom" / "stdout").read_text()
    path.write_text(re.sub(r"DB path: .*", "DB path: [/data/db]", text))
    if message:
        with pytest.raises(ImportRefused, match=message):
            prepare_outputs("db_bench", [path], plan, SOURCE, where)
    else:
        assert len(prepare_outputs("db_bench", [path], plan, SOURCE, where).cells) == 1


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
    found = read_output("db_bench", {"stdout": OUTPUTS / "fewer-records" / "stdout"}, "readrandom")
    assert "readrandom found 50.0 % of the keys it looked up: the database holds fewer records" in found.warnings


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
    what = prepare_outputs("db_bench", [path], plan, SOURCE, CELL)
    with open_store(keep_run(tmp_path / "out", plan, {}, what)) as store:
        ((rate, count, seconds),) = store.sql("SELECT ops_per_s, count, duration_s FROM throughput").rows
        assert rate == pytest.approx(351997, rel=1e-5)
        assert (count, seconds is None) == ((1058098, False) if name == "readrandom" else (None, True))
        said = dict(store.sql("SELECT name, value FROM properties").rows)
        assert said["percentiles"] == "none: db_bench was run without --histogram"
        assert said["latency"] == "none"
        assert store.sql("SELECT count(*) FROM notes WHERE text LIKE '%without --histogram%'").rows == ((1,),)
