"""Tests what YCSB's output proves. Uses recordings of 0.17.0, handmade outputs for older versions, and outputs with
everything that can go wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from benchbrief.extensions.tools.ycsb import ycsb_invariants
from benchbrief.extensions.tools.ycsb.tests.ycsb_runs import (
    DATABASE,
    DRIVER,
    OUTPUTS,
    copied,
    offered,
    output,
    rmw,
    settings,
    whole_run,
)
from benchbrief.extensions.tools.ycsb.ycsb_measurement import measurement_of_logs, read_logged_operations
from benchbrief.extensions.tools.ycsb.ycsb_output import TimeSlice, YcsbText, operation_of, read_hdr_logs, read_text
from benchbrief.model.histogram import merge, percentile
from benchbrief.model.measurement import Bucket, Histogram, Measurement, Operation, transactions
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.drivers.output_evidence import best_line, read_output_lines
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.jobs.tasks import JobOutput
from tests.support.cells import context, recorded, ycsb
from tests.support.measurements import rendered

# --- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("read-modify-write", rmw()),
        ("offered-load", offered()),
        ("version-0.1.4", whole_run(10.0, max_error_share=0.01)),  # written in the form of its source, not recorded
        ("millisecond-histogram", whole_run(4.0)),
    ],
)
def test_a_recorded_run_is_read_to_its_last_number(
    name: str, cell: CellContext, golden: Callable[[Path, str], None]
) -> None:
    golden(OUTPUTS / name / "measurement.txt", rendered(DRIVER.parse(cell, output(name))))


def test_the_warm_up_is_cut_off_at_a_whole_second() -> None:
    whole = DRIVER.parse(rmw(warm_up_s=0, measure_s=6), output("read-modify-write"))
    cut = DRIVER.parse(rmw(), output("read-modify-write"))
    assert cut.total.seconds == pytest.approx(4, abs=0.1)
    assert 1 <= cut.window[0] - whole.window[0] < 2
    assert cut.window[1] == whole.window[1]
    assert cut.total.count == sum(interval.count for interval in cut.intervals)
    late = [interval for interval in whole.intervals if interval.start_s + whole.window[0] >= cut.window[0] - 0.01]
    assert cut.total.count == sum(interval.count for interval in late)


def started_late(to: Path, seconds: float) -> JobOutput:
    """Return the recording `read-modify-write`, changed so that its first operation comes later."""
    made = copied("read-modify-write", to)
    said = {"RunTime(ms), 6012": f"RunTime(ms), {6012 + 1000 * seconds:.0f}"}
    rate = 4887.724550898203
    said[f"Throughput(ops/sec), {rate}"] = f"Throughput(ops/sec), {rate * 6.012 / (6.012 + seconds)}"
    said["[TOTAL_GC_TIME_%], Time(%), 1.0312707917498336"] = f"[TOTAL_GC_TIME_%], Time(%), {6.2 / (6.012 + seconds)}"
    text = made.stdout.read_text()
    for old, new in said.items():
        assert old in text
        text = text.replace(old, new)
    made.stdout.write_text(text)
    return made


@pytest.mark.parametrize("seconds", [0.7, 2.0, 3.5])
def test_the_warm_up_counts_from_the_first_operation_however_late_it_came(tmp_path: Path, seconds: float) -> None:
    prompt = DRIVER.parse(rmw(), output("read-modify-write"))
    late = DRIVER.parse(rmw(), started_late(tmp_path, seconds))
    assert (late.window, late.total, late.operations) == (prompt.window, prompt.total, prompt.operations)
    first = min(slices[0].start for slices in read_hdr_logs(OUTPUTS / "read-modify-write").values())
    assert 1 <= late.window[0] - first < 2
    assert dict(late.properties)["start"] == f"the first operation ended {0.3 + seconds:.1f} s after the threads' start"


@pytest.mark.parametrize("phases", [1, 2])
@pytest.mark.parametrize(("warm_up_s", "measure_s"), [(0, 1), (0, 3), (0, 5), (1, 1), (1, 2), (1, 3), (2, 2), (3, 2)])
def test_the_window_lasts_as_asked_and_what_comes_after_it_is_cut_off(
    warm_up_s: float, measure_s: float, phases: int
) -> None:
    if measure_s / phases < 1:
        return
    measured = DRIVER.parse(rmw(warm_up_s, measure_s, phases), output("read-modify-write"))
    assert -0.25 <= measured.total.seconds - measure_s < 1
    logs = read_hdr_logs(OUTPUTS / "read-modify-write")
    reads = sum(
        piece.histogram.count for piece in logs["READ"] if measured.window[0] < piece.middle < measured.window[1]
    )
    assert next(o for o in measured.operations if o.operation == "read" and o.phase is None).count == reads
    assert max((phase.seconds for phase in measured.throughput if phase.phase), default=0) < measure_s / phases + 1


def test_a_start_that_took_the_measured_time_is_an_error_that_says_so(tmp_path: Path) -> None:
    cell = rmw(warm_up_s=1.0, measure_s=6.0)
    late = started_late(tmp_path, int(settings(cell)["maxexecutiontime"]) - 6)
    with pytest.raises(BadOutput) as caught:
        DRIVER.parse(cell, late)
    assert re.fullmatch(
        r"YCSB measured 4\.0 s of 6 s: its first operation came 6\.3 s after its threads' start", str(caught.value)
    )
    assert "too busy" in caught.value.hint
    assert "longer `measure`" in caught.value.hint


@pytest.mark.parametrize("measure_s", [1, 3, 10, 19, 20, 60, 600])
@pytest.mark.parametrize("warm_up_s", [0, 0.5, 30])
def test_a_start_of_four_seconds_leaves_nine_tenths_of_the_measured_time(warm_up_s: float, measure_s: float) -> None:
    allowed = int(settings(rmw(warm_up_s, measure_s))["maxexecutiontime"])
    slice_s = 1
    assert allowed - 4 - warm_up_s - slice_s >= 0.9 * measure_s - 1e-9
    assert 3 <= allowed - warm_up_s - measure_s <= 5.5, "and the run is not much longer than asked"


def test_a_throughput_that_drifts_is_one_warning() -> None:
    """The recorded JVM has no warm-up, so its throughput doubles within two seconds."""
    cold = DRIVER.parse(rmw(warm_up_s=0, measure_s=6), output("read-modify-write"))
    assert [text for text in cold.warnings if "not steady" in text] == list(cold.warnings)
    assert len(cold.warnings) == 1
    assert not re.search(r"\d", cold.warnings[0]), "the same words for each cell"
    assert not DRIVER.parse(rmw(), output("read-modify-write")).warnings, "four intervals are too few to tell"


def test_a_read_modify_write_is_one_operation_of_the_throughput() -> None:
    measurement = DRIVER.parse(rmw(warm_up_s=0, measure_s=6), output("read-modify-write"))
    counts = {operation.operation: operation.count for operation in measurement.operations}
    assert measurement.total.count == counts["read"] + counts["update"] - counts["read_modify_write"]
    said = read_text((OUTPUTS / "read-modify-write/stdout").read_text().splitlines()).overall["Throughput(ops/sec)"]
    assert measurement.total.ops_per_s == pytest.approx(said, rel=0.1)
    assert [o.in_total for o in measurement.operations if o.operation == "read_modify_write"] == [False]


def test_all_slices_together_are_what_the_text_says() -> None:
    text = read_text((OUTPUTS / "read-modify-write/stdout").read_text().splitlines())
    for name, slices in read_hdr_logs(OUTPUTS / "read-modify-write").items():
        row = text.rows[name]
        merged = merge(piece.histogram for piece in slices)
        assert merged.count == row.count
        for percent, printed in row.printed:
            assert percentile(merged, percent) == pytest.approx(printed, rel=0.01)


def test_phases_cut_the_window_into_parts_that_add_up() -> None:
    measurement = DRIVER.parse(rmw(phases=2), output("read-modify-write"))
    total, *phases = measurement.throughput
    assert [phase.phase for phase in phases] == [1, 2]
    assert sum(phase.count for phase in phases) == total.count
    assert sum(phase.seconds for phase in phases) == pytest.approx(total.seconds)
    for name in ("read", "update"):
        parts = [o.histogram for o in measurement.operations if o.operation == name and o.phase]
        whole = [o.histogram for o in measurement.operations if o.operation == name and o.phase is None]
        assert [merge(part for part in parts if part)] == whole


def test_phases_shorter_than_a_second_are_refused() -> None:
    with pytest.raises(BadOutput, match="are too short: YCSB reports by the second"):
        DRIVER.parse(rmw(phases=20), output("read-modify-write"))


def test_intended_latency_stands_beside_the_service_time() -> None:
    measurement = DRIVER.parse(offered(), output("offered-load"))
    kinds = {(o.operation, o.kind) for o in measurement.operations}
    assert {("read", "service"), ("read", "intended")} <= kinds
    assert dict(measurement.properties)["latency"] == "service and intended"
    assert not any(o.in_total for o in measurement.operations if o.kind == "intended")
    service = sum(o.count for o in measurement.operations if o.in_total)
    again = next(o.count for o in measurement.operations if o.operation == "read_modify_write" and o.kind == "service")
    assert measurement.total.count == service - again


def test_the_intervals_follow_one_another() -> None:
    intervals = DRIVER.parse(rmw(), output("read-modify-write")).intervals
    assert len(intervals) == 4
    for before, after in pairwise(intervals):
        assert before.start_s + before.seconds == pytest.approx(after.start_s)


def test_milliseconds_of_old_versions_are_milliseconds() -> None:
    measurement = DRIVER.parse(whole_run(10.0, max_error_share=0.01), output("version-0.1.4"))
    read = next(o for o in measurement.operations if o.operation == "read")
    assert (read.count, read.errors) == (9498, 2)
    assert read.mean_s == pytest.approx(0.00325)
    assert read.histogram
    assert percentile(read.histogram, 99) == pytest.approx(0.055, abs=0.001)
    assert measurement.total.ops_per_s == pytest.approx(999.8), "failed operations are no throughput"


def test_a_percentile_that_overflowed_is_not_made_up() -> None:
    measurement = DRIVER.parse(whole_run(4.0), output("millisecond-histogram"))
    (read,) = measurement.operations
    assert read.histogram
    assert read.histogram.buckets[-1].lo == 1.0
    assert percentile(read.histogram, 99) > 1.0, "YCSB prints no p99 here: 4 % took over a second"


def test_without_logs_a_warm_up_can_t_be_cut_off() -> None:
    cell = context(ycsb("c"), DATABASE, threads=8, warm_up_s=5, measure_s=5)
    with pytest.raises(BadOutput, match="neither a warm-up nor phases can be told apart"):
        DRIVER.parse(cell, output("version-0.1.4"))


# --- names of rows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "known"),
    [
        ("READ", ("read", False)),
        ("READ-MODIFY-WRITE", ("read_modify_write", False)),
        ("READ-FAILED", ("read", True)),
        ("READ-NOT_FOUND", ("read", True)),
        ("Intended-READ-MODIFY-WRITE", ("read_modify_write", False)),
        ("Intended-UPDATE", ("update", False)),
        ("DELETE", ("delete", False)),
        ("CLEANUP", None),
        ("TOTAL_GC_TIME_%", None),
        ("OVERALL", None),
        ("Intended-CLEANUP", None),
    ],
)
def test_a_row_s_name_tells_operation_and_failure(row: str, known: tuple[str, bool] | None) -> None:
    assert operation_of(row) == known


def test_idle_intervals_and_half_written_lines_are_no_numbers() -> None:
    text = read_text(
        [
            "[READ], AverageLatency(us), NaN",
            "[READ], MinLatency(us), 9223372036854775807E30",
            "[READ], Operations, 3",
            "[READ], 99thPercentileLatency(us), \ufffd",
            "[READ], 95thPercentileLate",
        ]
    )
    row = text.rows["READ"]
    assert (row.count, row.mean_s, row.printed, row.ok) == (3, None, (), None)


# --- what is counted -------------------------------------------------------------------------------------------------


def slices(*counts: int) -> tuple[TimeSlice, ...]:
    """Return slices of one second, with operations of one millisecond."""
    return tuple(
        TimeSlice(float(at), at + 1.0, Histogram((Bucket(0.001, 0.002, count),) if count else ()))
        for at, count in enumerate(counts)
    )


def test_failures_of_an_operation_are_counted_once_and_also_without_a_success() -> None:
    logs = {
        "READ": slices(10, 10),
        "READ-FAILED": slices(1, 0),
        "READ-NOT_FOUND": slices(2, 4),
        "Intended-READ": slices(10, 10),
        "UPDATE-FAILED": slices(0, 3),
    }
    found = [(op.operation, op.kind, op.count, op.errors) for op in read_logged_operations(logs, None, 0.0, 2.0)]
    assert found == [("read", "service", 20, 7), ("read", "intended", 20, 0), ("update", "service", 0, 3)]


def test_a_read_modify_write_of_rows_is_not_counted_beside_its_halves() -> None:
    halves = (Operation("read", 30), Operation("update", 20))
    assert transactions((*halves, Operation("read_modify_write", 20, in_total=False))) == 30


def test_a_run_without_logs_was_measured_up_to_its_end() -> None:
    made = replace(output("millisecond-histogram"), started_at=1000.0, ended_at=1100.0)
    start, end = DRIVER.parse(whole_run(4.0), made).window
    assert end == 1100.0
    assert start == pytest.approx(1100.0 - DRIVER.parse(whole_run(4.0), made).total.seconds)


def test_words_that_a_tool_repeats_are_not_its_complaint(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text(
        'Command line: -p errors=yes\n"invalid" = "1"\njava -cp /error\nNo server answers: refused\n'
    )
    (tmp_path / "stderr").write_text("")
    assert best_line(recorded(tmp_path)) == "No server answers: refused"


def test_a_file_that_is_too_large_for_an_output_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text("one\ntwo\n")
    assert list(read_output_lines(tmp_path / "stdout", limit=8)) == ["one", "two"]
    with pytest.raises(BadOutput, match="stdout has 8 bytes"):
        list(read_output_lines(tmp_path / "stdout", limit=7))


def test_failures_of_all_operations_add_up_to_those_of_the_window() -> None:
    cell = context(ycsb("a"), DATABASE, warm_up_s=1.0, measure_s=3.0, max_error_share=0.5)
    found = DRIVER.parse(cell, output("server-killed"))
    whole = [operation for operation in found.operations if operation.phase is None]
    assert len([operation for operation in whole if operation.errors]) > 1
    assert found.total.errors == sum(operation.errors for operation in whole)


def _from(start: float, lengths: list[float], count: int, seconds: float) -> tuple[TimeSlice, ...]:
    """Return intervals of these lengths. Each has `count` operations that take `seconds`."""
    pieces, at = [], start
    for length in lengths:
        pieces.append(TimeSlice(at, at + length, Histogram((Bucket(seconds, seconds * 1.01, count),))))
        at += length
    return tuple(pieces)


@pytest.mark.parametrize(("last", "insert_s", "cut"), [
    (0.152, 0.184, False), (0.152, 0.001, True), (0.0, 0.184, True), (0.0, 30.0, True),
])  # fmt: skip
def test_a_log_may_end_before_another_by_what_slow_operations_allow_but_not_by_an_interval(
    last: float, insert_s: float, cut: bool
) -> None:
    begun = 1.8e9
    read = [0.5] * 20 + ([last] if last else [])
    logs = {"READ": _from(begun, read, 14, 0.004), "INSERT": _from(begun, [0.5] * 21, 1, insert_s)}
    found = [each for each in ycsb_invariants.find_log_problems(logs) if "before that of INSERT" in each]
    assert bool(found) == cut, found


@pytest.fixture
def _logs_as_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the comparison with printed rows, since made-up logs have none."""
    monkeypatch.setattr(ycsb_invariants, "find_log_problems", lambda *_: ())


def read_from_logs(cell: CellContext, **logs: tuple[int, ...]) -> Measurement:
    """Return the measurement of a run, given how many operations each of its logs has in each second."""
    seconds = max(map(len, logs.values()))
    found = YcsbText({"RunTime(ms)": 1000.0 * seconds}, {}, (), {}, ())
    named = {name.replace("_FAILED", "-FAILED"): slices(*counts) for name, counts in logs.items()}
    return measurement_of_logs(cell, output("read-modify-write"), found, named)


@pytest.mark.usefixtures("_logs_as_printed")
def test_failures_after_the_window_are_failures_of_the_run() -> None:
    """If the server hangs during the window, operations fail only when they time out, after the window."""
    reads, failures = (10,) * 8, (0,) * 7 + (5,)
    with pytest.raises(BadOutput, match="5 of 85 operations failed"):
        read_from_logs(whole_run(4.0), READ=reads, READ_FAILED=failures)
    assert read_from_logs(whole_run(4.0, max_error_share=0.1), READ=reads, READ_FAILED=failures).total.errors == 0


@pytest.mark.usefixtures("_logs_as_printed")
def test_a_window_in_which_every_operation_failed_measured_nothing() -> None:
    with pytest.raises(BadOutput, match="no operations in the measured window"):
        read_from_logs(whole_run(4.0, max_error_share=1.0), READ=(0,) * 6, READ_FAILED=(5,) * 6)


@pytest.mark.usefixtures("_logs_as_printed")
def test_a_finished_load_is_measured_up_to_its_last_insert() -> None:
    cell = context(ycsb("a", 30).model_copy(update={"phase": "load"}), DATABASE, threads=1, measure_s=10.0)
    assert read_from_logs(cell, INSERT=(10, 10, 10, 0, 0)).total.seconds == 3
