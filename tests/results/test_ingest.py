"""Tests how a run's journal and raw outputs get into the store: throughput, latencies, and data that can't be used."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchbrief.model import events as j
from benchbrief.model.measurement import Interval, Measurement, Operation, PhaseThroughput
from benchbrief.model.plan import Cell
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import CellHistory, Started
from benchbrief.results.build_store import rebuild
from benchbrief.results.ingest.run_evidence import verdict_of
from benchbrief.results.open_store import open_store
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.errors import RunnerError
from tests.results.making import (
    READ,
    SLOW_READ,
    T0,
    UPDATE,
    RunMaker,
    a_cell,
    a_plan,
    histogram,
    measurement,
    one_cell_run,
    rows,
)


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
    assert found == [(1, 15.0), (2, 0.0), (4, None)], "the time is too short"


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
    assert "ran together for only 80 % of the time" in str(note[1])


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
        reason = "the output of load-1 is no longer accepted: plain printed no measurement"
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


def test_a_plan_changed_after_the_run_is_refused(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measurement([READ])})
    plan = run.run_dir / "plan.json"
    plan.write_bytes(plan.read_bytes() + b"\n")
    with pytest.raises(RunnerError, match=r"plan\.json is not the plan that the run began with"):
        open_store(run.run_dir)


def test_an_operation_of_several_sources_has_all_errors_and_is_counted_by_its_service_times(tmp_path: Path) -> None:
    cell = a_cell(load_hosts=("load-1", "load-2"))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    due = replace(UPDATE, kind="intended", count=49, errors=0, in_total=False)
    run.ok(cell, {host: measurement([UPDATE, due], errors=2) for host in cell.load_hosts})
    run.end("done")
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT operation, count, errors FROM throughput") == [("all", 100, 4), ("update", 100, 4)]


def history_of(cell: Cell, status: str, *threads: int | None) -> CellHistory:
    """Return a cell's history. Each item of `threads` gives an attempt, and the number of threads with which it
    started. Only the last attempt has ended, with `status`."""
    history = CellHistory({n: Started(T0 + n, each, None, {}) for n, each in enumerate(threads, start=1)})
    fields = {"at": T0 + 9, "cell": cell.id, "hash": cell.hash, "attempt": len(threads), "status": status}
    history.end(j.CellEnded.model_validate(fields))
    return history


@pytest.mark.parametrize(("status", "verdict"), [("ok", "ok"), ("failed", "skipped")])
def test_a_rule_that_skips_a_cell_later_takes_no_good_result_away(status: str, verdict: str) -> None:
    cell = a_cell()
    history = history_of(cell, status, None)
    history.skip(j.CellSkipped(at=T0 + 10, cell=cell.id, hash=cell.hash, reason="not needed"))
    assert verdict_of(history, cell, "").status == verdict


def test_a_searched_number_is_that_of_the_attempt_that_counts() -> None:
    cell = a_cell()
    assert verdict_of(history_of(cell, "ok", 4, 8), cell, "").cell.threads == 8


def test_cells_that_took_more_than_one_attempt_are_named(tmp_path: Path) -> None:
    cells = [a_cell(repeat=repeat) for repeat in (1, 2)]
    run = RunMaker(tmp_path / "run", a_plan(cells))
    run.ok(cells[0], {"load-1": measurement([READ])})
    run.failed(cells[1], "no such device")
    run.failed(cells[1], "no such device")
    run.ok(cells[1], {"load-1": measurement([READ])})
    with open_store(run.run_dir) as store:
        notes = rows(store, "SELECT cell_id, severity, text FROM notes")
    shown = "earlier attempts failed, or were interrupted, of measurements that are good now"
    assert notes == [(None, "info", f"{shown}: {cells[1].id} (attempt 3)")]


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


def test_places_that_were_not_looked_at_again_keep_what_was_observed_of_them(tmp_path: Path) -> None:
    run = RunMaker(tmp_path / "run", a_plan([a_cell()]))
    shm = {"filesystem of /dev/shm/a": "tmpfs", "mount of /dev/shm/a": "/dev/shm", "disks of /dev/shm/a": ""}
    var = {"filesystem of /var/b": "ext4", "device of /var/b": "/dev/sda1", "disks of /var/b": "sda"}
    first = {"kernel": "6.1", "disk sda": "1 TiB, rotating", "filesystem": "ext4", **var}
    run.write(j.HostFacts(at=T0, host="nvme-1", facts=first))
    run.write(j.HostFacts(at=T0 + 1, host="nvme-1", facts={"kernel": "6.12", "filesystem": "tmpfs", **shm}))
    asked = "SELECT name, value FROM facts WHERE kind = 'host'"
    with open_store(run.run_dir) as store:
        shown = dict(rows(store, asked))
    assert shown == {"kernel": "6.12", "disk sda": "1 TiB, rotating", **shm, **var}, "of no one file system"
    run.write(j.HostFacts(at=T0 + 2, host="nvme-1", facts={"filesystem": "xfs", "filesystem of /var/b": "xfs"}))
    rebuild(run.run_dir)
    with open_store(run.run_dir) as store:
        assert dict(rows(store, asked)) == {"filesystem of /var/b": "xfs", **shm}, "the last look at a place stands"


@pytest.mark.parametrize("remarked", ["db_bench: Assertions are enabled", "Assertions are enabled"])
def test_a_warning_of_the_tool_is_noted_once_though_the_journal_has_it_too(tmp_path: Path, remarked: str) -> None:
    """Earlier journals have the warning without the tool's name."""
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    slow = "db_bench: Assertions are enabled"
    run.ok(
        cell,
        {"load-1": measurement([READ], warnings=(slow,), tool_version="7.8", properties=(("latency", "service"),))},
    )
    run.write(j.Remark(at=T0, severity="warning", text=remarked, cell=cell.id))
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


def test_a_remark_that_befell_several_cells_is_reported_in_the_same_words_of_each(tmp_path: Path) -> None:
    cells = [a_cell(repeat=1), a_cell(repeat=2)]
    run = RunMaker(tmp_path / "run", a_plan(cells))
    for cell in cells:
        run.ok(cell, {"load-1": measurement([READ])})
        run.write(j.Remark(at=T0, severity="info", text=say.in_cell(cell=cell.id, what="is late"), cell=cell.id))
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT cell_id, text FROM notes ORDER BY ALL") == [(cell.id, "is late") for cell in cells]


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


def test_a_run_that_never_began_has_no_tables(tmp_path: Path) -> None:
    run = RunMaker(tmp_path / "run", a_plan([a_cell()]))
    (run.run_dir / "journal.jsonl").unlink()
    with pytest.raises(ResultsError, match="has no results: it never began"):
        open_store(run.run_dir)
    assert not (run.run_dir / "store").exists()
