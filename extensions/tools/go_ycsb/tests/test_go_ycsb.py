"""Tests what go-ycsb's output proves. Uses a recording of v1.0.1, which was interrupted when its time was over."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchbrief.extensions.tools.go_ycsb.go_ycsb import GoYcsb
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.journal.secret_masking import Secret
from tests.support.cells import attached, context, recorded, ycsb
from tests.support.measurements import rendered

OUTPUTS = Path(__file__).parents[1] / "outputs"
DRIVER = GoYcsb()
INTERRUPTED = 124


def cell(records: int = 1000, measure_s: float = 3.0, uri: str = "mongodb://h/ycsb", **more: float) -> CellContext:
    made = context(
        ycsb("f", records, **more), attached(uri), driver="go_ycsb", threads=4, warm_up_s=1.0, measure_s=measure_s
    )
    return CellContext(made.plan, made.cell, "/opt/go-ycsb", Endpoint(uri=Secret(uri)))


def changed(to: Path, old: str, new: str) -> JobOutput:
    shutil.copytree(OUTPUTS / "timed", to, dirs_exist_ok=True)
    text = (to / "stdout").read_text()
    replaced = re.sub(old, new, text, flags=re.MULTILINE)
    assert replaced != text
    (to / "stdout").write_text(replaced)
    return recorded(to, exit_code=INTERRUPTED)


def timed() -> JobOutput:
    return recorded(OUTPUTS / "timed", exit_code=INTERRUPTED)


def test_a_recorded_run_is_read_to_its_last_number(golden: Callable[[Path, str], None]) -> None:
    golden(OUTPUTS / "timed" / "measurement.txt", rendered(DRIVER.parse(cell(), timed())))


def test_an_output_of_other_threads_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOutput, match="it ran with threadcount = 8, and the cell has 4 threads"):
        DRIVER.parse(cell(), changed(tmp_path, '"threadcount"="4"', '"threadcount"="8"'))


def test_the_final_rows_count_and_not_the_interim_ones() -> None:
    measurement = DRIVER.parse(cell(), timed())
    counts = {operation.operation: operation.count for operation in measurement.operations}
    assert counts == {"read": 26834, "update": 13433, "read_modify_write": 13447}
    assert measurement.total.count == 26834 + 13433 - 13447, "a read-modify-write is one operation"
    assert measurement.total.errors == 23


def test_printed_percentiles_are_carried_as_printed() -> None:
    read = DRIVER.parse(cell(), timed()).operations[0]
    assert read.histogram is None
    assert dict(read.printed)[99.0] == pytest.approx(0.003115)
    assert dict(read.printed)[99.99] == pytest.approx(0.049311)


def test_intervals_are_differences_of_cumulative_rows() -> None:
    measurement = DRIVER.parse(cell(), timed())
    assert sum(interval.count for interval in measurement.intervals) == measurement.total.count
    assert [round(interval.seconds) for interval in measurement.intervals] == [1, 1, 1]


@pytest.mark.parametrize(("share", "good"), [(0.0001, False), (0.0005, False), (0.0008, True), (0.01, True)])
def test_a_limit_of_the_spec_is_the_limit(share: float, good: bool) -> None:
    """Of 26839 operations, 19 failed (0.07 %), not counting those that the interrupt cut off."""
    made = cell()
    experiment = made.experiment.model_copy(update={"max_error_share": share})
    made = replace(made, plan=made.plan.model_copy(update={"experiments": {"e": experiment}}))
    if good:
        assert DRIVER.parse(made, timed()).warnings == ()
    else:
        with pytest.raises(BadOutput, match="19 of 26839 operations failed in go-ycsb"):
            DRIVER.parse(made, timed())


def test_a_few_stray_errors_are_accepted_and_many_are_not(tmp_path: Path) -> None:
    (warning,) = DRIVER.parse(cell(), timed()).warnings
    assert warning.startswith("19 of 26839 operations of go-ycsb failed, which is accepted up to 0.1 %")
    with pytest.raises(BadOutput, match=r"operations failed in go-ycsb \(1\.\d+ %, 0\.10 % allowed\)"):
        DRIVER.parse(
            cell(),
            changed(
                tmp_path,
                r"^READ_ERROR - Takes\(s\): 2.8, Count: 22, OPS: 8.0",
                "READ_ERROR - Takes(s): 2.8, Count: 400, OPS: 142.9",
            ),
        )


@pytest.mark.parametrize("code", [1, 255, -9, None])
def test_a_run_that_failed_is_an_error(code: int | None) -> None:
    with pytest.raises(BadOutput):
        DRIVER.parse(cell(), recorded(OUTPUTS / "timed", exit_code=code))


def test_a_run_that_had_to_be_forced_to_end_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text("\nGot signal [interrupt] to exit.\n\nWait 10s for closed, force exit\n")
    (tmp_path / "stderr").touch()
    with pytest.raises(BadOutput, match="no final TOTAL row: Wait 10s for closed, force exit"):
        DRIVER.parse(cell(), recorded(tmp_path, exit_code=INTERRUPTED))


def test_a_half_written_final_row_is_no_result(tmp_path: Path) -> None:
    whole = (OUTPUTS / "timed/stdout").read_text()
    end = whole.rindex("TOTAL ") + 60
    (tmp_path / "stdout").write_text(whole[:end])
    with pytest.raises(BadOutput, match="no final TOTAL row"):
        DRIVER.parse(cell(), recorded(tmp_path, exit_code=INTERRUPTED))


def test_a_run_that_ended_early_is_an_error() -> None:
    with pytest.raises(BadOutput, match=r"ended after 3\.0 s of 60 s"):
        DRIVER.parse(cell(measure_s=60), recorded(OUTPUTS / "timed", exit_code=0))


def test_a_load_with_a_failed_insert_is_an_error() -> None:
    with pytest.raises(BadOutput, match=r"1 of 1000 inserts of go-ycsb failed: .*duplicate key"):
        DRIVER.check_load(cell(), recorded(OUTPUTS / "duplicate-keys"))


def test_the_time_is_kept_by_interrupting_it_in_its_own_process_group() -> None:
    words = DRIVER.measure(cell()).command.words
    assert words[:5] == ("timeout", "--foreground", "--signal=INT", "--kill-after=30", "3")
    assert words[5:] == ("/opt/go-ycsb", "run", "mongodb", "-P", "job.properties", "--threads", "4")


def test_the_load_s_threads_divide_the_records() -> None:
    """go-ycsb gives each thread records // threads, and drops the remainder."""
    for records in (1000, 1001, 997, 3):
        job = DRIVER.load(cell(records))
        assert job
        assert records % int(str(job.command.words[-1])) == 0


def test_the_warm_up_is_a_process_of_its_own() -> None:
    warm_up = DRIVER.warm_up(cell())
    assert warm_up
    assert warm_up.command.words[4:6] == ("--preserve-status", "1"), "its own exit code, not that of `timeout`"


def test_its_profiler_is_kept_off_the_network() -> None:
    (file,) = DRIVER.measure(cell()).files
    assert "debug.pprof=127.0.0.1:0\n" in str(file.content[0])


def test_only_keys_that_were_loaded_are_asked_for() -> None:
    """go-ycsb's zipfian choice also draws one key beyond the last."""
    assert "recordcount=999\n" in str(DRIVER.measure(cell(1000)).files[0].content[0])
    load = DRIVER.load(cell(1000))
    assert load
    assert "recordcount=1000\n" in str(load.files[0].content[0])


def test_a_database_of_another_name_is_refused() -> None:
    with pytest.raises(RunnerError, match="go-ycsb always uses the database `ycsb`, and the URI names `shop`"):
        DRIVER.measure(cell(uri="mongodb://h:1,h:2/shop?w=1"))


def test_phases_are_refused() -> None:
    made = context(ycsb("a"), attached("mongodb://h/ycsb"), phases=2)
    with pytest.raises(RunnerError, match="can't measure phases"):
        DRIVER.measure(made)
