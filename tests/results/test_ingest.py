"""What becomes of a run's journal and raw outputs in the store."""

from pathlib import Path
from typing import Any

import pytest

from benchbrief.compiler.plan import Knee, KneeSearch, Probe
from benchbrief.results.store import Store, open_store
from benchbrief.results.summary import summarise
from benchbrief.runners import journal as j
from benchbrief.runners.measurement import Interval, Measurement, Operation, PhaseThroughput, Sample
from tests.results.making import HERE, MEASUREMENT, T0, RunMaker, a_cell, a_plan, a_query, histogram, measurement

# 90 reads in [1, 2) ms and 10 in [4, 8) ms; 50 updates in [2, 4) ms.
READ = Operation(
    "read", 90 + 10, mean_s=0.002, min_s=0.001, max_s=0.008, histogram=histogram((0.001, 0.002, 90), (0.004, 0.008, 10))
)
UPDATE = Operation(
    "update", 50, errors=2, mean_s=0.003, min_s=0.002, max_s=0.004, histogram=histogram((0.002, 0.004, 50))
)
# A slower source: 100 reads, all in [4, 8) ms.
SLOW_READ = Operation("read", 100, mean_s=0.006, min_s=0.004, max_s=0.008, histogram=histogram((0.004, 0.008, 100)))
GAUGE = Probe(name="gauge", every_s=1, hosts=("nvme-1", "nvme-2"), origin=HERE)


def rows(store: Store, sql: str) -> list[Any]:
    return list(store.sql(sql))


def one_cell_run(tmp_path: Path, measured: Measurement) -> Store:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measured})
    run.end("done")
    return open_store(run.run_dir)


def test_throughput_is_given_in_total_and_for_each_operation(tmp_path: Path) -> None:
    with one_cell_run(tmp_path, measurement([READ, UPDATE], errors=2)) as store:
        assert rows(store, "SELECT operation, ops_per_s, count, errors, duration_s, reason FROM throughput") == [
            ("all", 15.0, 150, 2, 10.0, None),
            ("read", 10.0, 100, 0, 10.0, None),
            ("update", 5.0, 50, 2, 10.0, None),
        ]
        assert rows(store, "FROM measure.throughput WHERE operation = 'read'") == [
            ("ramp", "nvme", "a", 4, None, None, 1, "read", 10.0)
        ]
        assert rows(store, "FROM measure.errors") == [("ramp", "nvme", "a", 4, None, None, 1, 2 / 152)]


def test_percentiles_are_read_from_the_histogram_and_moments_from_the_tool(tmp_path: Path) -> None:
    with one_cell_run(tmp_path, measurement([READ])) as store:
        found = dict(rows(store, "SELECT statistic, value FROM measure.latency WHERE repeat = 1"))
    assert found == pytest.approx(
        {
            "mean": 0.002,
            "min": 0.001,
            "max": 0.008,
            "p50": 0.001 + 0.001 * 50 / 90,
            "p75": 0.001 + 0.001 * 75 / 90,
            "p90": 0.002,
            "p95": 0.006,
            "p99": 0.004 + 0.004 * 9 / 10,
            "p99.9": 0.004 + 0.004 * 9.9 / 10,
            "p99.99": 0.004 + 0.004 * 9.99 / 10,
        }
    )


def test_a_percentile_never_lies_beyond_the_largest_latency_the_tool_saw(tmp_path: Path) -> None:
    op = Operation("read", 10, mean_s=0.005, min_s=0.0045, max_s=0.005, histogram=histogram((0.004, 0.008, 10)))
    with one_cell_run(tmp_path, measurement([op])) as store:
        found = dict(rows(store, "SELECT statistic, value_s FROM latency WHERE repeat IS NULL"))
    assert found["p50"] == 0.005
    assert found["p99.9"] == 0.005


def test_repeats_are_merged_by_their_histograms_and_not_averaged(tmp_path: Path) -> None:
    first, second = a_cell(repeat=1), a_cell(repeat=2)
    run = RunMaker(tmp_path / "run", a_plan([first, second]))
    run.ok(first, {"load-1": measurement([READ])})
    run.ok(second, {"load-1": measurement([SLOW_READ])})
    with open_store(run.run_dir) as store:
        merged = rows(
            store,
            "SELECT statistic, value_s, origin, sources FROM latency WHERE repeat IS NULL AND statistic IN "
            "('mean', 'min', 'max', 'p50', 'p99')",
        )
        means = rows(store, "SELECT repeat, value FROM measure.latency WHERE statistic = 'p50' AND repeat IS NOT NULL")
    assert merged == [
        ("mean", pytest.approx(0.004), "tool", 2),
        ("min", 0.001, "tool", 2),
        ("max", 0.008, "tool", 2),
        # 90 of the 200 lie below 4 ms: the 100th is the 10th of the 110 in [4, 8) ms.
        ("p50", pytest.approx(0.004 + 0.004 * 10 / 110), "histogram", 2),
        ("p99", pytest.approx(0.004 + 0.004 * 108 / 110), "histogram", 2),
    ]
    assert [repeat for repeat, _ in means] == [1, 2]


def test_latencies_over_repeats_are_missing_when_a_repeat_failed(tmp_path: Path) -> None:
    first, second = a_cell(repeat=1), a_cell(repeat=2)
    run = RunMaker(tmp_path / "run", a_plan([first, second]))
    run.ok(first, {"load-1": measurement([READ])})
    run.failed(second, "the server went away")
    with open_store(run.run_dir) as store:
        found = rows(store, "SELECT repeat, value_s IS NULL, reason FROM latency WHERE statistic = 'p99' ORDER BY ALL")
    assert found == [(1, False, None), (None, True, "1 of 2 repeats were measured")]


def test_repeats_that_were_not_needed_take_nothing_from_their_point(tmp_path: Path) -> None:
    first, second, third = (a_cell(repeat=n) for n in (1, 2, 3))
    run = RunMaker(tmp_path / "run", a_plan([first, second, third]))
    run.ok(first, {"load-1": measurement([READ])})
    run.ok(second, {"load-1": measurement([READ])})
    run.write(j.CellSkipped(at=run.now, cell=third.id, hash=third.hash, reason="known well enough"))
    with open_store(run.run_dir) as store:
        found = rows(store, "SELECT repeat, value_s IS NULL FROM latency WHERE statistic = 'p99' ORDER BY ALL")
        assert found == [(1, False), (2, False), (None, False)]
        assert rows(store, "SELECT repeats FROM measure.spread WHERE operation = 'all'") == [(2,)]


def test_the_unsteady_beginning_of_a_cell_is_kept_with_it(tmp_path: Path) -> None:
    cells = [a_cell(threads=threads) for threads in (1, 2, 4)]
    run = RunMaker(tmp_path / "run", a_plan(cells))
    late = tuple(Interval(float(at), 1.0, 50 if at < 15 else 100) for at in range(60))
    even = tuple(Interval(float(at), 1.0, 100) for at in range(60))
    for cell, intervals in zip(cells, (late, even, even[:20]), strict=True):
        run.ok(cell, {"load-1": measurement([READ], seconds=60.0, intervals=intervals)})
    with open_store(run.run_dir) as store:
        found = rows(store, "SELECT threads, transient_s FROM cells ORDER BY threads")
    assert found == [(1, 15.0), (2, 0.0), (4, None)], "too short a time does not tell"


def test_load_generators_are_added_and_their_latencies_merged(tmp_path: Path) -> None:
    cell = a_cell(load_hosts=("load-1", "load-2"))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measurement([READ]), "load-2": measurement([SLOW_READ], seconds=8)})
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT operation, ops_per_s, count, duration_s FROM throughput") == [
            # Not 10.0 + 12.5: the second was there for eight seconds only.
            ("all", 20.0, 200, 10.0),
            ("read", 20.0, 200, 10.0),
        ]
        p50 = "SELECT repeat, source, value_s, sources FROM latency WHERE statistic = 'p50' ORDER BY ALL"
        merged = pytest.approx(0.004 + 0.004 * 10 / 110)
        assert rows(store, p50) == [
            (1, "load-1", pytest.approx(0.001 + 0.001 * 50 / 90), 1),
            (1, "load-2", 0.006, 1),
            (1, None, merged, 2),
            (None, None, merged, 2),
        ]
        assert rows(store, "SELECT DISTINCT source FROM operations ORDER BY ALL") == [("load-1",), ("load-2",)]
        # The view has the merged one only.
        assert rows(store, "SELECT count(*) FROM measure.latency WHERE statistic = 'p50'") == [(2,)]
        (note,) = rows(store, "SELECT severity, text FROM notes")
    assert note[0] == "warning"
    assert "ran together for only 80% of the time" in str(note[1])


def test_rates_reached_at_the_same_time_are_added_each_over_its_own(tmp_path: Path) -> None:
    cell = a_cell(load_hosts=("load-1", "load-2"))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measurement([READ]), "load-2": measurement([SLOW_READ], seconds=9.8)})
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT operation, ops_per_s, duration_s FROM throughput") == [
            ("all", pytest.approx(10 + 100 / 9.8), 10.0),
            ("read", pytest.approx(10 + 100 / 9.8), 10.0),
        ]
        assert rows(store, "SELECT * FROM notes") == []


@pytest.mark.parametrize("seconds", [20.0, 10.2], ids=["half the time", "nearly the same time"])
def test_a_measured_load_of_several_load_generators_lasts_until_the_last_record_of_all(
    tmp_path: Path, seconds: float
) -> None:
    cell = a_cell(load_hosts=("load-1", "load-2"))
    plan = a_plan([cell])
    loads = {name: load.model_copy(update={"phase": "load"}) for name, load in plan.workloads.items()}
    run = RunMaker(tmp_path / "run", plan.model_copy(update={"workloads": loads}))
    insert = Operation("insert", 1000, mean_s=0.001)
    run.ok(cell, {"load-1": measurement([insert]), "load-2": measurement([insert], seconds=seconds)})
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT operation, ops_per_s, count, duration_s FROM throughput") == [
            ("all", pytest.approx(2000 / seconds), 2000, pytest.approx(seconds)),
            ("insert", pytest.approx(2000 / seconds), 2000, pytest.approx(seconds)),
        ]
        assert rows(store, "SELECT * FROM notes") == [], "its load generators end when they are done"


def test_printed_percentiles_of_several_load_generators_have_no_merged_value(tmp_path: Path) -> None:
    printed = Operation("read", 100, mean_s=0.002, min_s=0.001, max_s=0.009, printed=((95.0, 0.004), (99.0, 0.007)))
    cell = a_cell(load_hosts=("load-1", "load-2"))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measurement([printed]), "load-2": measurement([printed])})
    with open_store(run.run_dir) as store:
        sql = "SELECT repeat, source, value_s, origin, reason FROM latency WHERE statistic = 'p99' ORDER BY ALL"
        assert rows(store, sql) == [
            (1, "load-1", 0.007, "printed", None),
            (1, "load-2", 0.007, "printed", None),
            (1, None, None, "printed", "printed percentiles can't be merged"),
            (None, None, None, "printed", "printed percentiles can't be merged"),
        ]
        assert rows(store, "SELECT value FROM measure.latency WHERE statistic = 'mean' AND repeat IS NULL") == [
            (0.002,)
        ]


def test_a_single_printed_percentile_stands_and_one_not_printed_is_missing(tmp_path: Path) -> None:
    printed = Operation("read", 100, mean_s=0.002, min_s=0.001, max_s=0.009, printed=((95.0, 0.004), (99.0, 0.007)))
    with one_cell_run(tmp_path, measurement([printed])) as store:
        sql = "SELECT statistic, value_s, reason FROM latency WHERE repeat IS NULL AND statistic IN ('p99', 'p99.9')"
        assert rows(store, sql) == [("p99", 0.007, None), ("p99.9", None, "not printed")]
        assert rows(store, "SELECT histogram, reason FROM operations") == [(None, "the tool gave no histogram")]


def test_failed_and_unrun_cells_are_there_with_their_reason_and_without_numbers(tmp_path: Path) -> None:
    good, bad, never = a_cell(threads=1), a_cell(threads=2), a_cell(threads=3)
    run = RunMaker(tmp_path / "run", a_plan([good, bad, never]))
    run.ok(good, {"load-1": measurement([READ])})
    run.failed(bad, "the server went away")
    run.end("interrupted", "stopped before every cell was run")
    with open_store(run.run_dir) as store:
        not_run = "not run: the run was interrupted (stopped before every cell was run)"
        assert rows(store, "SELECT threads, status, reason, attempt, measured_s FROM cells") == [
            (1, "ok", None, 1, 10.0),
            (2, "failed", "the server went away", 1, None),
            (3, "missing", not_run, None, None),
        ]
        assert rows(store, "SELECT cell_id, ops_per_s, count, reason FROM throughput WHERE ops_per_s IS NULL") == [
            (bad.id, None, None, "the server went away"),
            (never.id, None, None, not_run),
        ]
        assert rows(store, "SELECT threads FROM measure.cells") == [(1,), (2,), (3,)]
        assert rows(store, "SELECT DISTINCT threads FROM measure.throughput") == [(1,)]
        assert rows(store, "SELECT DISTINCT threads FROM measure.latency") == [(1,)]
        assert rows(store, "SELECT DISTINCT threads FROM measure.errors") == [(1,)]
        assert rows(store, "SELECT status, message FROM runs") == [("interrupted", "stopped before every cell was run")]


def test_only_the_last_good_attempt_counts(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    attempt = run.start(cell)
    run.collect(cell, attempt, "measure", "load-1", {"stdout": b"half an outp"})
    run.ended(cell, attempt, "failed", reason="cut off")
    run.ok(cell, {"load-1": measurement([READ])})
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT status, attempt FROM cells") == [("ok", 2)]
        assert rows(store, "SELECT value FROM measure.throughput WHERE operation = 'all'") == [(10.0,)]
        assert rows(store, "SELECT DISTINCT attempt FROM files") == [(2,)]


def test_an_attempt_without_end_after_a_failed_one_leaves_the_cell_missing(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.failed(cell, "no space left")
    run.start(cell)
    with open_store(run.run_dir) as store:
        reason = "attempt 2 has no end: going on, or interrupted; attempt 1 failed: no space left"
        assert rows(store, "SELECT status, reason FROM cells") == [("missing", reason)]
        assert rows(store, "SELECT status FROM runs") == [("unfinished",)]


@pytest.mark.parametrize("what", ["changed", "missing"])
def test_a_raw_output_that_is_not_what_was_measured_takes_its_numbers_along(tmp_path: Path, what: str) -> None:
    cell, other = a_cell(threads=1), a_cell(threads=2)
    run = RunMaker(tmp_path / "run", a_plan([cell, other]))
    run.ok(cell, {"load-1": measurement([READ])})
    run.ok(other, {"load-1": measurement([READ])})
    stdout = run.run_dir / "raw" / "ramp_nvme_a_threads=1_repeat=1" / "1" / "measure-load-1" / "stdout"
    if what == "changed":
        stdout.write_bytes(stdout.read_bytes().replace(b'"ops_per_s":10.0', b'"ops_per_s":99.0'))
    else:
        stdout.unlink()
    with open_store(run.run_dir) as store:
        bad, good = rows(store, "SELECT status, reason FROM cells ORDER BY threads")
        assert good == ("ok", None)
        assert bad[0] == "failed"
        assert "threads=1" in str(bad[1])
        assert ("was changed after it was measured" if what == "changed" else "is missing") in str(bad[1])
        assert rows(store, "SELECT threads, value FROM measure.throughput WHERE operation = 'all'") == [(2, 10.0)]
        assert rows(store, "SELECT DISTINCT threads FROM measure.latency") == [(2,)]
        assert rows(store, "SELECT cell_id, severity, text FROM notes") == [(cell.id, "error", bad[1])]
        assert rows(store, "SELECT reason FROM files WHERE reason IS NOT NULL") == [(bad[1],)]


def test_a_journal_that_points_outside_its_run_is_not_followed(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    (tmp_path / "elsewhere").write_bytes(b"x")
    attempt = run.start(cell)
    run.write(
        j.JobCollected(
            at=T0, cell=cell.id, attempt=attempt, step="measure", job="measure", host="load-1", directory="..",
            exit_code=0, started_at=T0, ended_at=T0, files={"elsewhere": "0" * 64},
        )
    )  # fmt: skip
    run.ended(cell, attempt, "ok")
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT status, reason FROM cells") == [
            ("failed", "../elsewhere lies outside the run's directory")
        ]


def test_output_that_its_driver_no_longer_reads_is_an_error_and_not_a_crash(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    attempt = run.start(cell)
    run.collect(cell, attempt, "measure", "load-1", {"stdout": b"{}"})
    run.ended(cell, attempt, "ok", ops_per_s=5.0)
    with open_store(run.run_dir) as store:
        reason = "the output of load-1 can't be read any more: plain printed no measurement"
        assert rows(store, "SELECT status, reason FROM cells") == [("failed", reason)]
        assert rows(store, "SELECT severity, text FROM notes") == [("error", reason)]


def test_a_good_cell_without_a_kept_output_has_no_numbers(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ended(cell, run.start(cell), "ok", ops_per_s=5.0)
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT ops_per_s, reason FROM throughput") == [
            (None, "the journal names no measured output")
        ]


def test_a_result_of_another_definition_of_the_cell_is_not_taken(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell.model_copy(update={"hash": "f" * 64}), {"load-1": measurement([READ])})
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT status, reason FROM cells") == [
            ("missing", "the journal's result belongs to another definition of this cell")
        ]


def test_a_torn_journal_gives_what_was_whole_and_says_so(tmp_path: Path) -> None:
    done, torn = a_cell(threads=1), a_cell(threads=2)
    run = RunMaker(tmp_path / "run", a_plan([done, torn]))
    run.ok(done, {"load-1": measurement([READ])})
    run.start(torn)
    with (run.run_dir / "journal.jsonl").open("a") as file:
        file.write('{"at":1.0,"type":"cell_en')
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT status FROM cells") == [("ok",), ("missing",)]
        (note,) = rows(store, "SELECT cell_id, severity, text FROM notes")
        assert note[:2] == (None, "warning")
        assert "half a record" in str(note[2])


def test_a_plan_changed_after_the_run_is_an_error_in_the_notes(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measurement([READ])})
    plan = run.run_dir / "plan.json"
    plan.write_bytes(plan.read_bytes() + b"\n")
    with open_store(run.run_dir) as store:
        ((severity, text),) = rows(store, "SELECT severity, text FROM notes")
    assert severity == "error"
    assert "plan.json was changed" in str(text)


def test_samples_count_from_the_start_of_the_window_and_devices_are_summed(tmp_path: Path) -> None:
    cell = a_cell(probes=(GAUGE,))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    samples = {
        "nvme-1": [
            Sample("disk.read", "nvme-1", "a", -1.0, 999.0, "B/s"),  # before the window
            Sample("disk.read", "nvme-1", "a", 0.2, 10.0, "B/s"),
            Sample("disk.read", "nvme-1", "a", 0.7, 20.0, "B/s"),
            Sample("disk.read", "nvme-1", "b", 0.2, 5.0, "B/s"),
            Sample("disk.read", "nvme-1", "a", 1.2, 30.0, "B/s"),
            Sample("disk.utilisation", "nvme-1", "a", 0.2, 0.5, ""),
            Sample("disk.utilisation", "nvme-1", "b", 0.2, 0.3, ""),
        ],
        "nvme-2": [Sample("disk.read", "nvme-2", "a", 0.2, 7.0, "B/s")],
    }
    run.ok(
        cell,
        {"load-1": measurement([READ], intervals=(Interval(0.0, 5.0, 40), Interval(5.0, 5.0, 60)))},
        samples=samples,
    )
    with open_store(run.run_dir) as store:
        found = rows(store, "SELECT measure, node, time, value FROM measure.sample ORDER BY ALL")
        assert found == [
            ("disk.read", "nvme-1", 0, 20.0),  # the mean of a's two readings, and b's
            ("disk.read", "nvme-1", 1, 30.0),
            ("disk.read", "nvme-2", 0, 7.0),
            ("disk.utilisation", "nvme-1", 0, 0.4),
            ("throughput", "load-1", 0, 8.0),
            ("throughput", "load-1", 5, 12.0),
        ]
        assert rows(store, "SELECT min(t_s) FROM samples WHERE measure = 'disk.read'")[0][0] == pytest.approx(0.2)


def test_samples_and_windows_of_hosts_whose_clocks_differ_are_brought_together(tmp_path: Path) -> None:
    ahead = {"load-1": -3.0, "nvme-1": 50.0}
    probes = tuple(Probe(name=name, every_s=1, hosts=("nvme-1",), origin=HERE) for name in ("cpu", "memory"))
    cell = a_cell(probes=probes)
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    attempt = run.start(cell)
    for host, offset in ahead.items():
        run.write(
            j.ClockRead(
                at=run.now,
                cell=cell.id,
                attempt=attempt,
                host=host,
                when="before",
                offset_s=offset,
                uncertainty_s=0.01,
                booted=1.0,
            )
        )
    measured = measurement([READ], start=T0 + 100 + ahead["load-1"])
    run.collect(cell, attempt, "measure", "load-1", {"stdout": MEASUREMENT.dump_json(measured), "stderr": b""})
    # One loop for both probes. In the eighth second of the window, by whatever clock, the host is busy.
    text = "processors 2\npage 4096\n"
    for second in range(-2, 13):
        busy = 100 if second >= 8 else 0
        text += f"= {T0 + 150 + second:.1f} {500 + second}.00\ncpu  {busy} 0 0 {200 * second + 900} 0 0 0 0\n"
        text += "MemTotal: 10 kB\nMemAvailable: 4 kB\n.\n"
    run.collect(cell, attempt, "probe:cpu,memory:nvme-1", "nvme-1", {"stdout": text.encode(), "stderr": b""})
    run.ended(cell, attempt, "ok", ops_per_s=10.0)
    with open_store(run.run_dir) as store:
        busy_at = rows(store, "SELECT t_s FROM samples WHERE measure = 'cpu' AND value > 0")
        assert busy_at == [(8.0,)]
        sampled = rows(store, "SELECT min(t_s), max(t_s), count(*) FROM samples WHERE measure = 'memory.used'")
        assert sampled == [(0.0, 10.0, 11)]
        notes = rows(store, "SELECT text FROM notes WHERE text LIKE 'the clock of%' ORDER BY text")
    assert notes == [
        ("the clock of load-1 was 3 s behind the controller's: times are brought to the controller's clock",),
        ("the clock of nvme-1 was 50 s ahead of the controller's: times are brought to the controller's clock",),
    ]


def test_cells_that_took_more_than_one_attempt_are_named(tmp_path: Path) -> None:
    cells = [a_cell(repeat=repeat) for repeat in (1, 2)]
    run = RunMaker(tmp_path / "run", a_plan(cells))
    run.ok(cells[0], {"load-1": measurement([READ])})
    run.failed(cells[1], "no such device")
    run.failed(cells[1], "no such device")
    run.ok(cells[1], {"load-1": measurement([READ])})
    with open_store(run.run_dir) as store:
        notes = rows(store, "SELECT cell_id, severity, text FROM notes")
    told = "earlier attempts failed, or were interrupted, of measurements that are good now"
    assert notes == [(None, "info", f"{told}: {cells[1].id} (attempt 3)")]


def test_a_clock_that_could_not_be_read_is_told(tmp_path: Path) -> None:
    probes = (Probe(name="gauge", every_s=1, hosts=("nvme-1",), origin=HERE),)
    cell = a_cell(probes=probes)
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    clock = {"cell": cell.id, "attempt": 1, "host": "load-1", "when": "before", "offset_s": 0.0}
    run.start(cell)
    run.write(j.ClockRead.model_validate({"at": run.now, **clock, "uncertainty_s": 0.01, "booted": None}))
    run.collect(cell, 1, "measure", "load-1", {"stdout": MEASUREMENT.dump_json(measurement([READ])), "stderr": b""})
    run.ended(cell, 1, "ok", ops_per_s=10.0)
    with open_store(run.run_dir) as store:
        notes = rows(store, "SELECT severity, text FROM notes WHERE text LIKE 'the clock of%'")
    told = "the clock of nvme-1 could not be read: its times are taken for the controller's"
    assert notes == [("warning", told)]


def test_a_damaged_probe_output_costs_its_samples_and_not_the_throughput(tmp_path: Path) -> None:
    cell = a_cell(probes=(GAUGE,))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measurement([READ])}, samples={"nvme-1": [Sample("cpu", "nvme-1", "", 1.0, 3.0, "cores")]})
    probe = next(run.run_dir.rglob("probe-gauge-nvme-1/stdout"))
    probe.write_bytes(probe.read_bytes().replace(b"3.0", b"9.0"))
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT count(*) FROM samples") == [(0,)]
        assert rows(store, "SELECT status FROM cells") == [("ok",)]
        assert rows(store, "SELECT value FROM measure.throughput WHERE operation = 'all'") == [(10.0,)]
        ((severity, text),) = rows(store, "SELECT severity, text FROM notes")
    assert severity == "error"
    assert "probe-gauge-nvme-1/stdout was changed" in str(text)


def test_a_probe_without_a_sample_in_the_window_leaves_a_gap_with_its_reason(tmp_path: Path) -> None:
    cells = [a_cell(hardware=h, probes=(GAUGE,)) for h in ("nvme", "hdd")]
    run = RunMaker(tmp_path / "run", a_plan(cells))
    run.ok(
        cells[0],
        {"load-1": measurement([READ])},
        samples={"nvme-1": [Sample("gauge.bar", "nvme-1", "", -5.0, 1.0, "Pa")]},
    )
    run.ok(
        cells[1],
        {"load-1": measurement([READ])},
        samples={"nvme-1": [Sample("gauge.bar", "nvme-1", "", float(at), 1.0, "Pa") for at in range(11)]},
    )
    sql = (
        "SELECT c.hardware, any_value(s.value) AS value FROM measure.cells c LEFT JOIN measure.sample s "
        "ON s.hardware = c.hardware AND s.measure = 'gauge.bar' GROUP BY ALL"
    )
    with open_store(run.run_dir) as store:
        found = store.query(a_query(sql, "hardware"))
        notes = rows(store, "SELECT cell_id, severity, text, origin FROM notes")
    reason = "the gauge probe on nvme-1 gave no sample inside the measured window"
    assert [(row.keys, row.value, row.reason) for row in found] == [(("nvme",), None, reason), (("hdd",), 1.0, None)]
    assert notes == [(cells[0].id, "warning", reason, "probe:gauge:nvme-1")]


def test_counters_are_differences_and_one_that_went_back_has_none(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    before, after = {"query": 100.0, "gone": 1.0, "insert": 50.0}, {"query": 350.0, "insert": 3.0, "new": 2.0}
    run.ok(cell, {"load-1": measurement([READ])}, counters=(before, after))
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT name, delta, reason FROM counters ORDER BY name") == [
            ("gone", None, "not there after the measurement"),
            ("insert", None, "went backwards: the server was started anew"),
            ("new", None, "not there before the measurement"),
            ("query", 250.0, "over 12.0 s, of which 10.0 s were measured"),
        ]


def test_a_journal_without_readings_between_gives_counters_of_the_job(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measurement([READ], seconds=11.5)}, counters=({"query": 0.0}, {"query": 9.0}))
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT delta, reason FROM counters") == [(9.0, None)], "the job is hardly longer"


# The job takes from T0 + 99 to T0 + 111, and its window from T0 + 100 to T0 + 110.
AROUND = [98.9, 99.5, 99.8, 105.0, 109.9, 110.3, 111.2]


@pytest.mark.parametrize(
    ("times", "ahead", "delta", "reason"),
    [
        (AROUND, 0.0, 1050.0, None),
        (AROUND, 60.0, 1050.0, None),
        (AROUND, -60.0, 1050.0, None),
        ([98.9, 105.0, 111.2], 0.0, 1230.0, "over 12.3 s, of which 10.0 s were measured"),
    ],
    ids=["same clock", "controller ahead", "controller behind", "too few"],
)
def test_counters_are_of_the_measured_window_whatever_the_controller_s_clock(
    tmp_path: Path, times: list[float], ahead: float, delta: float, reason: str | None
) -> None:
    """A counter that rises by a hundred a second of the host's clock."""
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    samples = [(T0 + time + ahead, {"query": float(round(100 * time))}) for time in times]
    ends = (samples[0][1], samples[-1][1])
    run.ok(cell, {"load-1": measurement([READ])}, counters=ends, counter_samples=samples)
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT after - before, delta, reason FROM counters") == [(delta, delta, reason)]


def test_readings_that_failed_are_noted_and_leave_the_cell_good(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    problem = "3 of 3 readings failed: refused"
    run.ok(cell, {"load-1": measurement([READ])}, counters=({}, {}), counter_problem=problem)
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT * FROM counters") == []
        assert rows(store, "SELECT status FROM cells") == [("ok",)]
        assert rows(store, "SELECT severity, text FROM notes") == [("warning", f"server counters of nvme-1: {problem}")]


def test_facts_are_declared_or_observed_and_the_last_observation_stands(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.write(j.HostFacts(at=T0, host="nvme-1", facts={"kernel": "6.1"}))
    run.write(j.HostFacts(at=T0 + 1, host="nvme-1", facts={"kernel": "6.12"}))
    run.write(j.HostFacts(at=T0, host="load-1", facts={"kernel": "5.10"}))
    run.write(j.EngineFacts(at=T0, database="mongo@nvme", facts={"version": "8.0.4"}))
    run.write(j.ToolFound(at=T0, host="load-1", driver="plain", path="/opt/plain", version="2.1"))
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT kind, hardware, node, name, value, unit, origin FROM facts ORDER BY ALL") == [
            ("database", "nvme", "mongo@nvme", "version", "8.0.4", None, "observed"),
            ("hardware", "nvme", None, "cpu", "64 vCPU", None, "declared"),
            ("hardware", "nvme", None, "ecc", "true", None, "declared"),
            ("hardware", "nvme", None, "nodes", "2", "nodes", "declared"),
            ("hardware", "nvme", None, "price", "3.5", "USD/h", "declared"),
            ("host", "nvme", "nvme-1", "kernel", "6.12", None, "observed"),
            ("host", None, "load-1", "kernel", "5.10", None, "observed"),
            ("tool", None, "load-1", "plain.path", "/opt/plain", None, "observed"),
            ("tool", None, "load-1", "plain.version", "2.1", None, "observed"),
        ]


def test_a_warning_of_the_tool_is_noted_once_though_the_journal_has_it_too(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    slow = "Assertions are enabled"
    run.ok(
        cell,
        {"load-1": measurement([READ], warnings=(slow,), tool_version="7.8", properties=(("latency", "service"),))},
    )
    run.write(j.Remark(at=T0, severity="warning", text=slow, cell=cell.id))
    run.write(j.Remark(at=T0, severity="info", text="the spec declares 64 cores, the host has 2", origin="x.bench:3:1"))
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT cell_id, severity, text FROM notes ORDER BY ALL") == [
            (cell.id, "warning", slow),
            (None, "info", "the spec declares 64 cores, the host has 2"),
        ]
        assert rows(store, "SELECT source, name, value FROM properties ORDER BY ALL") == [
            ("load-1", "latency", "service"),
            ("load-1", "version", "7.8"),
        ]


def test_phases_have_throughput_and_latency_of_their_own(tmp_path: Path) -> None:
    def phase(number: int | None, count: int, high: float) -> Operation:
        return Operation(
            "read",
            count,
            mean_s=high,
            min_s=high,
            max_s=high,
            histogram=histogram((high / 2, high, count)),
            phase=number,
        )

    measured = Measurement(
        window=(T0, T0 + 20),
        throughput=tuple(
            PhaseThroughput(p, n, 0, s, n / s) for p, n, s in ((None, 300, 20.0), (1, 100, 10.0), (2, 200, 10.0))
        ),
        operations=(phase(None, 300, 0.002), phase(1, 100, 0.004), phase(2, 200, 0.002)),
    )
    with one_cell_run(tmp_path, measured) as store:
        assert rows(store, "SELECT phase, value FROM measure.throughput WHERE operation = 'read' ORDER BY ALL") == [
            (1, 10.0),
            (2, 20.0),
            (None, 15.0),
        ]
        assert rows(
            store, "SELECT phase, value FROM measure.latency WHERE statistic = 'mean' AND repeat IS NULL ORDER BY ALL"
        ) == [(1, 0.004), (2, 0.002), (None, 0.002)]


def test_intended_and_service_latencies_are_kept_apart_and_counted_once(tmp_path: Path) -> None:
    intended = Operation(
        "read",
        100,
        mean_s=0.5,
        min_s=0.4,
        max_s=0.8,
        histogram=histogram((0.4, 0.8, 100)),
        kind="intended",
        in_total=False,
    )
    with one_cell_run(tmp_path, measurement([READ, intended])) as store:
        assert rows(
            store,
            "SELECT kind, value, reported FROM measure.latency WHERE statistic = 'mean' AND repeat = 1 ORDER BY ALL",
        ) == [
            ("intended", 0.5, True),
            ("service", 0.002, False),
        ]
        assert rows(store, "SELECT value FROM measure.throughput WHERE operation = 'read'") == [(10.0,)]


def test_an_operation_without_a_success_has_no_latency(tmp_path: Path) -> None:
    with one_cell_run(tmp_path, measurement([READ, Operation("update", 0, errors=5)], errors=5)) as store:
        found = rows(store, "SELECT DISTINCT value_s, reason FROM latency WHERE operation = 'update'")
        assert found == [(None, "no successful operation")]


def test_the_store_keeps_histograms_whole(tmp_path: Path) -> None:
    with one_cell_run(tmp_path, measurement([READ])) as store:
        ((buckets,),) = rows(store, "SELECT histogram FROM operations")
    assert buckets == [{"lo_s": 0.001, "hi_s": 0.002, "count": 90}, {"lo_s": 0.004, "hi_s": 0.008, "count": 10}]


def test_a_run_without_a_journal_has_only_missing_cells(tmp_path: Path) -> None:
    run = RunMaker(tmp_path / "run", a_plan([a_cell()]))
    (run.run_dir / "journal.jsonl").unlink()
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT status, reason FROM cells") == [("missing", "not run yet")]


# --- searches ----------------------------------------------------------------------------------------------------


def searched_run(tmp_path: Path, knee: float | None) -> RunMaker:
    """Four points of a search of which the last two were not needed, and a cell that waited for the knee."""
    points = [a_cell(threads=threads) for threads in (1, 2, 4, 8)]
    waiting = a_cell(
        id="found/nvme/a/threads=ramp.knee/r1",
        hash="found",
        experiment="found",
        threads=None,
        threads_from=Knee(experiment="ramp", hardware="nvme", workload="a"),
    )
    plan = a_plan([*points, waiting])
    ramp = plan.experiments["ramp"]
    search = KneeSearch(latency="p99", rise=0.1, gain=0.03)
    experiments = {
        "ramp": ramp.model_copy(update={"points": (1.0, 2.0, 4.0, 8.0), "search": search}),
        "found": ramp.model_copy(update={"name": "found", "points": (), "threads_from": "ramp", "requires": ("ramp",)}),
    }
    run = RunMaker(tmp_path / "run", plan.model_copy(update={"experiments": experiments}))
    for cell in points[:2]:
        run.ok(cell, {"load-1": measurement([READ])})
    seen = tuple(j.SearchPoint(point=point, ops_per_s=10.0, latency_s=0.01) for point in (1.0, 2.0))
    key = {"experiment": "ramp", "hardware": "nvme", "workload": "a"}
    run.write(j.SearchEnded(at=run.now, axis="threads", knee=knee, points=seen, **key))
    for cell in points[2:]:
        run.write(j.CellSkipped(at=run.now, cell=cell.id, hash=cell.hash, reason="the knee was found at 1 thread"))
    if knee is None:
        run.failed(waiting, "no knee")
    else:
        run.ok(waiting, {"load-1": measurement([READ])})
    run.end("done")
    return run


def test_what_a_search_did_not_need_is_neither_missing_nor_a_planned_point(tmp_path: Path) -> None:
    run = searched_run(tmp_path, 1.0)
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT threads, status, reason FROM cells WHERE experiment = 'ramp' ORDER BY threads") == [
            (1, "ok", None),
            (2, "ok", None),
            (4, "skipped", "the knee was found at 1 thread"),
            (8, "skipped", "the knee was found at 1 thread"),
        ]
        assert rows(store, "SELECT threads FROM measure.cells WHERE experiment = 'ramp' ORDER BY ALL") == [(1,), (2,)]
    status = summarise(run.run_dir)
    assert (status.done, status.failed, status.skipped, status.total) == (3, 0, 2, 5)
    assert status.remaining_s is None
    assert [cell.status for cell in status.cells] == ["ok", "ok", "skipped", "skipped", "ok"]


def test_a_cell_that_waited_for_a_knee_has_its_number_in_the_store(tmp_path: Path) -> None:
    with open_store(searched_run(tmp_path, 1.0).run_dir) as store:
        assert rows(store, "SELECT threads, status FROM cells WHERE experiment = 'found'") == [(1, "ok")]
        throughput = "SELECT threads, value FROM measure.throughput WHERE experiment = 'found' AND operation = 'all'"
        assert rows(store, throughput) == [(1, 10.0)]
        assert rows(store, "SELECT DISTINCT threads FROM measure.latency WHERE experiment = 'found'") == [(1,)]
        assert rows(store, "SELECT axis, latency, rise, gain, knee, reason FROM searches") == [
            ("threads", "p99", 0.1, 0.03, 1.0, None)
        ]


def test_a_knee_that_was_not_found_is_missing_with_its_reason(tmp_path: Path) -> None:
    with open_store(searched_run(tmp_path, None).run_dir) as store:
        assert rows(store, "SELECT knee, reason FROM searches") == [(None, "no knee up to the last point")]
        assert rows(store, "SELECT threads, status FROM cells WHERE experiment = 'found'") == [(None, "failed")]
        sql = "SELECT max(value) AS value FROM measure.throughput WHERE experiment = 'found'"
        (row,) = store.query(a_query(sql))
        assert row.value is None
        assert row.reason == "found/nvme/a/threads=ramp.knee/r1 failed: no knee"
