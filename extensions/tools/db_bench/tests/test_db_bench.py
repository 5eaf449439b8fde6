"""Tests what db_bench's output proves. Uses recordings of 7.8.3 and of the older format, and outputs with everything
that can go wrong."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchbrief.extensions.tools.db_bench.db_bench import DbBench
from benchbrief.extensions.tools.db_bench.db_bench_invariants import require_found
from benchbrief.extensions.tools.db_bench.db_bench_output import (
    Headline,
    count_by_second,
    interim,
    read,
    read_intervals,
)
from benchbrief.model.histogram import percentile
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.errors import BadOutput, OptionRefused, RunnerError
from benchbrief.runners.jobs.tasks import JobOutput
from tests.support.cells import context, db_bench, recorded, rocksdb
from tests.support.measurements import rendered

OUTPUTS = Path(__file__).parents[1] / "outputs"
DRIVER = DbBench()


def cell(benchmark: str, measure_s: float = 3.0) -> CellContext:
    return context(db_bench(benchmark), rocksdb("/data/db"), measure_s=measure_s, tool_path="/usr/bin/db_bench")


def output(name: str, exit_code: int = 0) -> JobOutput:
    return recorded(OUTPUTS / name, exit_code=exit_code)


def changed(name: str, to: Path, old: str, new: str, count: int = 0) -> JobOutput:
    """Return a recording with a change in its standard output."""
    shutil.copytree(OUTPUTS / name, to, dirs_exist_ok=True)
    text = (to / "stdout").read_text()
    replaced = re.sub(old, new, text, count=count, flags=re.MULTILINE | re.DOTALL)
    assert replaced != text
    (to / "stdout").write_text(replaced)
    return recorded(to)


def flags(words: tuple[object, ...]) -> dict[str, str]:
    return dict(str(word).removeprefix("--").split("=", 1) for word in words[1:])


# --- results -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "readrandom",
        "readwhilewriting",
        "readwhilewriting-statistics",
        "readrandomwriterandom",
        "readrandom-6",
        "readwhilewriting-6",
    ],
)
def test_a_recorded_run_is_read_to_its_last_number(name: str, golden: Callable[[Path, str], None]) -> None:
    measurement = DRIVER.parse(cell(name.split("-", maxsplit=1)[0]), output(name))
    golden(OUTPUTS / name / "measurement.txt", rendered(measurement))


@pytest.mark.parametrize("threads", [1, 4])
def test_an_output_of_clearly_fewer_or_more_threads_is_refused(threads: int) -> None:
    other = context(db_bench("readrandom"), rocksdb("/data/db"), threads=threads, measure_s=3.0)
    with pytest.raises(BadOutput, match=rf"readrandom ran with {threads} threads, and 5.676 micros/op .* 2 threads"):
        DRIVER.parse(other, output("readrandom"))


def test_a_run_whose_threads_did_not_all_begin_at_once_is_taken() -> None:
    DRIVER.parse(context(db_bench("readrandom"), rocksdb("/data/db"), threads=3, measure_s=3.0), output("readrandom"))


def test_throughput_is_the_headline_s() -> None:
    total = DRIVER.parse(cell("readrandom"), output("readrandom")).total
    assert total.count == 1058098
    assert total.ops_per_s == pytest.approx(351997)
    assert total.seconds == pytest.approx(3.006, abs=0.001)


def test_percentiles_from_the_buckets_are_the_printed_ones() -> None:
    measurement = DRIVER.parse(cell("readrandom"), output("readrandom"))
    printed = re.search(r"P50: (\S+) P75: (\S+) P99: (\S+) P99.9: (\S+)", (OUTPUTS / "readrandom/stdout").read_text())
    assert printed
    histogram = measurement.operations[0].histogram
    assert histogram
    for percent, text in zip((50, 75, 99, 99.9), printed.groups(), strict=True):
        assert percentile(histogram, percent) * 1e6 == pytest.approx(float(text), abs=0.005)


def test_the_background_writer_is_in_neither_the_throughput_nor_the_total() -> None:
    measurement = DRIVER.parse(cell("readwhilewriting"), output("readwhilewriting"))
    read, write = measurement.operations
    assert measurement.total.count == read.count
    assert read.in_total
    assert (write.operation, write.in_total, write.histogram) == ("write", False, None)
    report = sum(int(line.split(",")[1]) for line in (OUTPUTS / "readwhilewriting/report.csv").read_text().split()[1:])
    assert read.count + write.count == pytest.approx(report, rel=0.1), "the report file counts readers and the writer"
    assert sum(interval.count for interval in measurement.intervals) == read.count


@pytest.mark.parametrize(
    ("printed", "said_by", "writes"),
    [
        ("163K", "RocksDB counts them", 163_999),
        ("9876", "RocksDB counts them", 9876),
        ("170K", "RocksDB counts them", 170_000),
        ("1M", "RocksDB counts them", 1_000_000),
        ("", "of the last status line", 169_509),
    ],
)
def test_the_background_writer_s_operations_are_rocksdb_s_count_of_keys(
    tmp_path: Path, printed: str, said_by: str, writes: int
) -> None:
    """The recording was made with `--statistics`, whose exact ticker is the true count. The count without it must be
    close."""
    recording = "readwhilewriting-counted"
    (written,) = re.findall(r"number.keys.written COUNT : (\d+)", (OUTPUTS / recording / "stdout").read_text())
    without = changed(recording, tmp_path, r"^rocksdb\..*?$", "")
    stdout = without.stdout.read_text()
    line = "Cumulative writes: 163K writes, 163K keys"
    assert line in stdout
    without.stdout.write_text(stdout.replace(line, line.replace("163K", printed) if printed else ""))
    measurement = DRIVER.parse(cell("readwhilewriting", 5.0), without)
    read, write = measurement.operations
    assert (read.count, write.count) == (266_398, writes)
    assert said_by in dict(measurement.properties)["background thread"]
    if printed == "163K":
        assert write.count == pytest.approx(int(written), rel=0.01)


def test_a_measurement_too_short_for_a_status_line_has_the_writer_s_count_too(tmp_path: Path) -> None:
    without = changed("readwhilewriting-counted", tmp_path, r"^rocksdb\..*?$", "")
    without.stderr.write_text("")
    _, write = DRIVER.parse(cell("readwhilewriting", 5.0), without).operations
    assert write.count == 163_500, "the middle of what 163K stands for"


def test_counts_that_rocksdb_prints_during_the_measurement_are_not_added_to_the_last_one(tmp_path: Path) -> None:
    """The option `stats_per_interval` prints counts with each status line, on standard error."""
    without = changed("readwhilewriting-counted", tmp_path, r"^rocksdb\..*?$", "")
    during = "Cumulative writes: 80K writes, 80K keys, 80K commit groups\n"
    without.stderr.write_text(during + without.stderr.read_text() + during)
    _, write = DRIVER.parse(cell("readwhilewriting", 5.0), without).operations
    assert write.count == 163_999


def test_only_behind_a_background_writer_are_rocksdb_s_counts_printed() -> None:
    asked = [
        flags(DRIVER.measure(cell(name)).command.words)["benchmarks"]
        for name in ("readwhilewriting", "readwhilemerging", "readwhilescanning", "readrandom")
    ]
    assert asked == ["readwhilewriting,stats", "readwhilemerging,stats", "readwhilescanning", "readrandom"]


def test_reads_and_writes_of_readrandomwriterandom_come_from_their_histograms() -> None:
    measurement = DRIVER.parse(cell("readrandomwriterandom"), output("readrandomwriterandom"))
    counts = {operation.operation: operation.count for operation in measurement.operations}
    assert counts["read"] + counts["write"] == measurement.total.count
    assert counts["read"] / measurement.total.count == pytest.approx(0.9, abs=0.01)
    assert counts["read"] > 306_810, "the headline's own `reads:` is one thread's"


def test_the_older_headline_gives_the_same_throughput() -> None:
    old, new = (DRIVER.parse(cell("readrandom"), output(name)).total for name in ("readrandom-6", "readrandom"))
    assert old == new


def test_intervals_are_counts_from_the_report_file(tmp_path: Path) -> None:
    shutil.copytree(OUTPUTS / "readrandom", tmp_path, dirs_exist_ok=True)
    (tmp_path / "report.csv").write_text("secs_elapsed,interval_qps\n1,10\n2,20\n4,70\n5,3")
    intervals = DRIVER.parse(cell("readrandom"), recorded(tmp_path)).intervals
    assert [(i.start_s, i.seconds, i.count) for i in intervals] == [(0, 1, 10), (1, 1, 20), (2, 2, 70), (4, 1, 3)]


def test_the_tool_s_own_warning_goes_with_the_measurement() -> None:
    assert DRIVER.parse(cell("readrandom"), output("readrandom")).warnings == (
        "db_bench: Assertions are enabled; benchmarks unnecessarily slow",
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "on, and no write waits until it is on the device (sync = 0)"),
        ({"sync": True}, "on, and each write waits until it is on the device (sync = 1)"),
        ({"wal": False}, "off (disable_wal = 1)"),
    ],
)
def test_what_a_write_waits_for_is_disclosed_also_where_the_spec_is_silent(options: dict[str, bool], said: str) -> None:
    database = rocksdb("/data/db").model_copy(update={"options": options})
    for workload, is_said in (
        (w := db_bench("readwhilewriting"), True),
        (w.model_copy(update={"writes": False}), False),
    ):
        asked = context(workload, database, measure_s=3.0, tool_path="/usr/bin/db_bench")
        found = dict(DRIVER.parse(asked, output("readwhilewriting")).properties).get("write-ahead log", "")
        assert found.startswith(said) == is_said


def test_keys_that_were_not_found_fail_the_cell_and_say_why() -> None:
    with pytest.raises(BadOutput, match="the database is not the one that was loaded for this cell") as caught:
        DRIVER.parse(cell("readrandom", measure_s=2.0), output("fewer-records"))
    assert caught.value.hint is not None
    assert "load it again" in caught.value.hint


def test_keys_may_be_missing_where_the_experiment_allows_it() -> None:
    made = context(db_bench("readrandom"), rocksdb("/data/db"), measure_s=2.0, max_error_share=0.51)
    assert "found 50.0 % of the keys" in DRIVER.parse(made, output("fewer-records")).warnings[-1]


@pytest.mark.parametrize(("reset", "share", "good"), [
    ("command", 0.632, True), ("command", 0.5, False), ("after_writes", 0.632, False), ("reuse", 0.632, False),
    ("reuse", 1.0, True),
])  # fmt: skip
def test_only_the_reset_s_own_commands_may_bring_keys_as_fillrandom_leaves_them(
    reset: str, share: float, good: bool
) -> None:
    made = context(db_bench("readrandom"), rocksdb("/data/db").model_copy(update={"reset": reset}))
    headline = Headline("readrandom", 1, None, None, (round(100_000 * share), 100_000))
    if good:
        require_found(made, headline)
    else:
        with pytest.raises(BadOutput, match="and the data set has all of them"):
            require_found(made, headline)


# The moment of the recording's banner and status lines.
RECORDED_AT = 1795186006.0


@pytest.mark.parametrize("zone_h", [0, 9, -3.5])
def test_the_window_is_found_to_the_second_however_long_opening_and_closing_took(zone_h: float) -> None:
    """The banner and the status lines use the host's time zone, unlike the job's times."""
    began = RECORDED_AT - zone_h * 3600
    made = recorded(OUTPUTS / "readrandom", started_at=began, ended_at=began + 60)
    start, end = DRIVER.parse(cell("readrandom"), made).window
    assert abs(start - began) <= 1
    assert end - start == pytest.approx(3.006, abs=0.001)


def test_the_window_lies_between_the_job_s_start_and_end() -> None:
    made = recorded(OUTPUTS / "readrandom", started_at=RECORDED_AT + 0.4, ended_at=RECORDED_AT + 3.5)
    start, end = DRIVER.parse(cell("readrandom"), made).window
    assert start >= RECORDED_AT + 0.4
    assert end <= RECORDED_AT + 3.5


# --- what proves nothing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("missing-database", 0, "found none of the .* keys it looked up: the database was empty or missing"),
        ("unknown-benchmark", 1, "ended with code 1: unknown benchmark 'nosuch'"),
        ("unknown-option", 1, "ended with code 1: ERROR: unknown command line flag 'nosuch'"),
        ("open-error", 1, "ended with code 1: open error: IO error: No such file or directory"),
        ("bad-memtable", 1, "ended with code 1: Could not create memtable factory: .* MemTableRepFactory: nosuch"),
        ("bad-compression", 1, "ended with code 1: Cannot parse compression type 'nonsense'"),
        ("unknown-benchmark", 0, "printed no result for readrandom: unknown benchmark"),
        ("readrandom", -9, r"killed by signal 9 \(SIGKILL\) from outside; the last that it said: "),
    ],
)
def test_a_failed_run_is_an_error_with_the_tool_s_own_words(name: str, code: int, said: str) -> None:
    with pytest.raises(BadOutput, match=said):
        DRIVER.parse(cell("readrandom"), output(name, code))


def test_a_line_before_a_kill_is_not_its_cause(tmp_path: Path) -> None:
    (tmp_path / "stderr").write_text("WARNING: a file is missing, and could not be opened\n")
    (tmp_path / "stdout").write_text("... finished 20000 ops\n")
    killed = replace(recorded(OUTPUTS / "readrandom", exit_code=-9), directory=tmp_path)
    with pytest.raises(BadOutput) as caught:
        DRIVER.parse(cell("readrandom"), killed)
    assert "the last that it said: ... finished 20000 ops" in caught.value.message
    assert "missing" not in caught.value.message
    assert "oom" in caught.value.hint
    assert not isinstance(caught.value, OptionRefused)


@pytest.mark.parametrize("name", ["unknown-option", "bad-compression", "bad-memtable", "unknown-benchmark"])
def test_an_option_that_the_tool_refuses_is_not_tried_again(name: str) -> None:
    with pytest.raises(OptionRefused) as caught:
        DRIVER.parse(cell("readrandom"), output(name, 1))
    assert caught.value.by_plan


def test_a_workload_that_the_tool_does_not_know_is_refused_whatever_its_exit_code() -> None:
    with pytest.raises(OptionRefused):
        DRIVER.parse(cell("readrandom"), output("unknown-benchmark", 0))


def test_a_stopped_run_is_an_error() -> None:
    with pytest.raises(BadOutput, match="was stopped before it ended"):
        DRIVER.parse(cell("readrandom"), recorded(OUTPUTS / "readrandom", exit_code=None))


def test_empty_output_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "stdout").touch()
    (tmp_path / "stderr").touch()
    with pytest.raises(BadOutput, match="printed no result for readrandom: it printed nothing"):
        DRIVER.parse(cell("readrandom"), recorded(tmp_path))


def test_missing_files_are_an_error_not_a_traceback(tmp_path: Path) -> None:
    with pytest.raises(BadOutput, match="it printed nothing"):
        DRIVER.parse(cell("readrandom"), recorded(tmp_path))


def test_every_cut_of_the_output_is_an_error_or_the_whole_result(tmp_path: Path) -> None:
    shutil.copytree(OUTPUTS / "readrandom", tmp_path, dirs_exist_ok=True)
    whole = (OUTPUTS / "readrandom/stdout").read_text()
    last = max(match.end() for match in re.finditer(r"\d+\.\d+%", whole))
    expected = DRIVER.parse(cell("readrandom"), output("readrandom")).total
    refused = 0
    for length in range(0, len(whole), 17):
        (tmp_path / "stdout").write_text(whole[:length])
        try:
            assert DRIVER.parse(cell("readrandom"), recorded(tmp_path)).total == expected
            assert length >= last - 20
        except BadOutput:
            refused += 1
    assert refused > 50


def test_a_histogram_that_lacks_a_line_is_an_error(tmp_path: Path) -> None:
    cut = changed("readrandom", tmp_path, r"^\(       3,.*?\n", "")
    with pytest.raises(BadOutput, match="histogram for readrandom is missing or cut off"):
        DRIVER.parse(cell("readrandom"), cut)


def test_a_run_that_ended_early_is_an_error() -> None:
    with pytest.raises(BadOutput, match=r"ended after 3\.0 s of 60 s"):
        DRIVER.parse(cell("readrandom", measure_s=60), output("readrandom"))


def test_an_error_on_stderr_fails_a_run_that_exits_0(tmp_path: Path) -> None:
    shutil.copytree(OUTPUTS / "readwhilewriting", tmp_path, dirs_exist_ok=True)
    with (tmp_path / "stderr").open("a") as stderr:
        stderr.write("put error: IO error: No space left on device: While appending to file\n")
    with pytest.raises(BadOutput, match="met an error: put error: IO error: No space left on device"):
        DRIVER.parse(cell("readwhilewriting"), recorded(tmp_path))


def test_bytes_that_are_no_text_do_not_stop_the_reading(tmp_path: Path) -> None:
    shutil.copytree(OUTPUTS / "readrandom", tmp_path, dirs_exist_ok=True)
    with (tmp_path / "stdout").open("ab") as stdout:
        stdout.write(b"\xff\xfe\x00\x1b[31m\n")
    assert DRIVER.parse(cell("readrandom"), recorded(tmp_path)).total.count == 1058098


# --- loading -----------------------------------------------------------------------------------------------------


def test_the_load_proves_its_count() -> None:
    assert DRIVER.check_load(cell("readrandom"), output("load")) == 20_000


def test_a_load_that_did_not_end_is_an_error(tmp_path: Path) -> None:
    cut = changed("load", tmp_path, r"^fillseq .*", "fillseq   :     1.0")
    with pytest.raises(BadOutput, match="did not finish the load"):
        DRIVER.check_load(cell("readrandom"), cut)


# --- commands ----------------------------------------------------------------------------------------------------


def test_options_become_flags() -> None:
    database = rocksdb(
        "/data/db",
        options_file="/etc/rocks.ini",
        compression="none",
        cache=8.0 * 2**20,
        direct_io=True,
        sync=True,
        write_buffer=64.0e6,
        bloom_bits=10.0,
        wal=True,
        max_background_jobs=4.0,
    )
    made = context(db_bench("readrandom"), database, tool_path="/usr/bin/db_bench", threads=16, repeat=3)
    job = DRIVER.measure(made)
    assert job.command.words[0] == "/usr/bin/db_bench"
    assert {
        "db": "/data/db",
        "options_file": "/etc/rocks.ini",
        "compression_type": "none",
        "cache_size": "8388608",
        "use_direct_reads": "1",
        "use_direct_io_for_flush_and_compaction": "1",
        "sync": "1",
        "write_buffer_size": "64000000",
        "bloom_bits": "10",
        "disable_wal": "0",
        "max_background_jobs": "4",
        "threads": "16",
        "seed": "3",
        "duration": "2",
        "use_existing_db": "1",
        "num": "20000",
    }.items() <= flags(job.command.words).items()
    assert job.collect == ("report.csv",)


def test_a_load_fills_every_key_once_by_one_thread_without_the_log() -> None:
    job = DRIVER.load(context(db_bench("readrandom"), rocksdb("/data/db", sync=True), threads=16))
    assert job
    assert {
        "benchmarks": "fillseq,flush,waitforcompaction",
        "use_existing_db": "0",
        "threads": "1",
        "sync": "0",
        "disable_wal": "1",
        "batch_size": "100",
    }.items() <= flags(job.command.words).items()


@pytest.mark.parametrize(("records", "own", "batch"), [(20_050, None, None), (20_000, 7.0, "7")])
def test_a_load_is_not_batched_where_the_last_batch_would_have_too_many_keys_or_the_spec_says_another(
    records: int, own: float | None, batch: str | None
) -> None:
    database = rocksdb("/data/db", batch_size=own) if own else rocksdb("/data/db")
    job = DRIVER.load(context(db_bench("readrandom", records), database))
    assert job
    assert flags(job.command.words).get("batch_size") == batch


@pytest.mark.parametrize("option", ["db", "use_existing_db", "threads", "wal_dir", "report_file"])
def test_a_flag_of_the_driver_s_own_is_no_option(option: str) -> None:
    with pytest.raises(RunnerError, match=f"`{option}` can't be an option"):
        DRIVER.measure(context(db_bench("readrandom"), rocksdb("/data/db", **{option: "x"})))


@pytest.mark.parametrize("option", ["--db", "cache size", "x=y", "", "Cache"])
def test_a_name_that_is_no_flag_is_refused(option: str) -> None:
    with pytest.raises(RunnerError, match="can't be an option"):
        DRIVER.measure(context(db_bench("readrandom"), rocksdb("/data/db", **{option: "x"})))


def test_a_benchmark_that_fills_makes_its_own_data() -> None:
    made = context(db_bench("fillrandom"), rocksdb("/data/db"), warm_up_s=5.0)
    assert DRIVER.load(made) is None
    assert DRIVER.warm_up(made) is None
    assert flags(DRIVER.measure(made).command.words)["use_existing_db"] == "0"


def test_a_benchmark_that_runs_to_its_end_gets_no_duration() -> None:
    assert "duration" not in flags(DRIVER.measure(cell("fillseq")).command.words)


def test_the_warm_up_is_the_same_benchmark_with_other_keys() -> None:
    made = context(db_bench("readrandom"), rocksdb("/data/db"), warm_up_s=5.0)
    warm_up = DRIVER.warm_up(made)
    assert warm_up
    warm, measured = flags(warm_up.command.words), flags(DRIVER.measure(made).command.words)
    assert (warm["duration"], warm["benchmarks"]) == ("5", "readrandom")
    assert warm["seed"] != measured["seed"]
    assert DRIVER.warm_up(cell("readrandom")) is None


def test_phases_and_an_offered_load_are_refused() -> None:
    with pytest.raises(RunnerError, match="can't measure phases"):
        DRIVER.measure(context(db_bench("readrandom"), rocksdb("/data/db"), phases=2))
    with pytest.raises(RunnerError, match="no offered load"):
        DRIVER.measure(context(db_bench("readrandom"), rocksdb("/data/db"), target=100.0))
    with pytest.raises(RunnerError, match=r"whole seconds, not 1\.5 s"):
        DRIVER.measure(cell("readrandom", measure_s=1.5))


# --- lines -------------------------------------------------------------------------------------------------------


def status(thread: int, interval: int, total: int, seconds: float, elapsed: float) -> str:
    return (
        f"2026/11/22-20:00:00  ... thread {thread}: ({interval},{total}) ops and ({interval / seconds:.1f},"
        f"{total / elapsed:.1f}) ops/second in ({seconds:.6f},{elapsed:.6f}) seconds\n"
    )


def test_the_rate_so_far_is_that_of_each_thread_s_last_interval_without_the_writer() -> None:
    said = status(0, 900, 900, 1, 1) + status(1, 500, 500, 1, 1) + status(1, 100, 600, 1, 2) + status(2, 40, 40, 2, 2)
    both, readers = (interim(said, background=background) for background in (False, True))
    assert both is not None
    assert readers is not None
    assert (both.ops_per_s, readers.ops_per_s) == (1020.0, 120.0)


def test_found_keys_are_those_of_the_reads() -> None:
    line = (
        "readrandomwriterandom : 10.0 micros/op 100000 ops/sec 1.0 seconds 100 operations; "
        "( reads:90 writes:10 total:100 found:80)"
    )
    (headline,) = read([line], ()).headlines
    assert headline.found == (80, 90)


HISTOGRAM = [
    "Microseconds per read:",
    "Count: 4 Average: 2.5000  StdDev: 0.50",
    "Min: 1  Median: 2.0000  Max: 4",
    "[       1,       2 ]        4 100.000% 100.000%",
]


def test_a_histogram_without_its_ends_is_not_whole() -> None:
    assert [block.whole for block in read(HISTOGRAM, ()).blocks] == [True]
    assert [block.whole for block in read([line for line in HISTOGRAM if "Min" not in line], ()).blocks] == [False]


def test_a_histogram_with_two_counts_is_odd() -> None:
    assert read(HISTOGRAM, ()).oddities == ()
    (said,) = read([*HISTOGRAM[:2], *HISTOGRAM[1:]], ()).oddities
    assert said.startswith("the histogram of read has two counts: Count: 4")


def test_a_second_that_is_reported_twice_is_one_interval() -> None:
    report = ["secs_elapsed,interval_qps", "0,7", "1,10", "1,10", "3,5", "4"]
    assert read_intervals(report) == ((0.0, 1.0, 10), (1.0, 2.0, 5))


def test_seconds_that_some_thread_did_not_reach_are_no_intervals() -> None:
    lines = read([status(1, 10, 10 * n, 1, n) for n in (1, 2)] + [status(2, 10, 10 * n, 1, n) for n in (1, 2, 3)], ())
    assert count_by_second(lines.status, 2.2, 44) == ((0.0, 1.0, 20), (1.0, 1.0, 20)), "0.2 s are no interval"
    start, length, count = count_by_second(lines.status, 2.6, 52)[2]
    assert (start, round(length, 9), count) == (2.0, 0.6, 12)
