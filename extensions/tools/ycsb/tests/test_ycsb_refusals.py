"""Tests outputs of YCSB that do not prove a measurement, and the reasons given for this."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from benchbrief.extensions.tools.ycsb.tests.ycsb_runs import DATABASE, DRIVER, OUTPUTS, copied, output, rmw
from benchbrief.extensions.tools.ycsb.ycsb_output import read_hdr_logs
from benchbrief.runners.errors import BadOutput
from tests.support.cells import context, recorded, ycsb


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("unknown-database-class", 0, "did no operations: java.lang.ClassNotFoundException: site.ycsb.db.Nope"),
        ("unknown-workload", 0, r"no \[OVERALL\] result: java.lang.ClassNotFoundException: site.ycsb.Nope"),
        ("no-server", 0, "site.ycsb.DBException: cannot use the server that mongodb.url names: Timed out"),
        ("old-histogram-jar", 1, "its HdrHistogram is too old for this Java"),
        ("old-histogram-jar", 0, "its HdrHistogram is too old for this Java"),
        ("read-modify-write", 143, "ended with code 143"),
        ("read-modify-write", -9, r"killed by signal 9 \(SIGKILL\) from outside; the last that it said: "),
        ("read-modify-write", None, "was stopped before it ended"),
    ],
)
def test_a_failed_run_is_an_error_with_the_tool_s_own_words(name: str, code: int | None, said: str) -> None:
    with pytest.raises(BadOutput, match=said):
        DRIVER.parse(rmw(), output(name, code))


def test_an_output_of_other_threads_is_refused() -> None:
    cell = context(ycsb("f", 5000), DATABASE, threads=8, warm_up_s=1.0, measure_s=4.0)
    with pytest.raises(BadOutput, match=r"4 client threads ran \(\[CLEANUP\], Operations\), and the cell has 8"):
        DRIVER.parse(cell, output("read-modify-write"))


def test_an_old_histogram_jar_is_named_with_its_cure() -> None:
    with pytest.raises(BadOutput) as caught:
        DRIVER.parse(rmw(), output("old-histogram-jar", 1))
    assert "HdrHistogram 2.2.2" in caught.value.hint


def test_a_server_killed_in_the_middle_fails_a_run_that_exits_0() -> None:
    cell = context(ycsb("a"), DATABASE, warm_up_s=1.0, measure_s=3.0)
    with pytest.raises(BadOutput, match=r"operations failed in YCSB .*: (read|update) failed: "):
        DRIVER.parse(cell, output("server-killed"))


def test_failures_are_accepted_up_to_the_declared_share_and_are_no_throughput() -> None:
    cell = context(ycsb("a"), DATABASE, warm_up_s=1.0, measure_s=3.0, max_error_share=0.5)
    total = DRIVER.parse(cell, output("server-killed")).total
    logs = read_hdr_logs(OUTPUTS / "server-killed")
    everything = sum(piece.histogram.count for name in ("READ", "UPDATE") for piece in logs[name])
    assert 0 < total.count <= everything
    assert total.errors > 0
    assert total.ops_per_s == pytest.approx(total.count / total.seconds)


def test_an_operation_that_hung_past_the_window_is_still_a_failure() -> None:
    """The last operations timed out after the measured time, so the window itself saw no failure."""
    cell = context(ycsb("a"), DATABASE, warm_up_s=3.0, measure_s=0.8, max_error_share=0.0)
    with pytest.raises(BadOutput, match="operations failed in YCSB"):
        DRIVER.parse(cell, output("server-killed"))


def test_empty_output_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadOutput, match=r"no \[OVERALL\] result: it printed nothing"):
        DRIVER.parse(rmw(), recorded(tmp_path))


def test_every_cut_of_the_text_is_an_error_or_the_whole_result(tmp_path: Path) -> None:
    made = copied("read-modify-write", tmp_path)
    whole = made.stdout.read_text()
    expected = DRIVER.parse(rmw(), made)
    overall = whole.index("[OVERALL], Throughput") + len("[OVERALL], Throughput(ops/sec), 3015")
    for length in range(0, len(whole), 23):
        made.stdout.write_text(whole[:length])
        try:
            # All numbers come from the logs; the text only has to prove that the run ended.
            assert DRIVER.parse(rmw(), made).total == expected.total
            assert length > overall
        except BadOutput:
            pass


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9, 0.999])
def test_a_log_that_was_cut_short_is_an_error(tmp_path: Path, keep: float) -> None:
    made = copied("read-modify-write", tmp_path)
    log = tmp_path / "READ.hdr"
    text = log.read_text()
    log.write_text(text[: int(len(text) * keep)])
    with pytest.raises(BadOutput, match=r"log of YCSB is damaged: READ.hdr|its histogram log holds \d+"):
        DRIVER.parse(rmw(), made)


def test_a_lost_log_is_an_error(tmp_path: Path) -> None:
    made = copied("read-modify-write", tmp_path)
    (tmp_path / "UPDATE.hdr").unlink()
    with pytest.raises(BadOutput, match=r"in \[UPDATE\], and there is no histogram log of it"):
        DRIVER.parse(rmw(), made)


def later(log: Path, by: float) -> None:
    """Return the log with the second half of its intervals moved by this many seconds."""
    text = log.read_text().splitlines()
    rows = [at for at, line in enumerate(text) if line[:1].isdigit()]
    for at in rows[len(rows) // 2 :]:
        start, _, rest = text[at].partition(",")
        text[at] = f"{float(start) + by:.3f},{rest}"
    log.write_text("\n".join(text) + "\n")


@pytest.mark.parametrize(
    ("names", "by", "text"),
    [
        (("READ", "UPDATE", "READ-MODIFY-WRITE"), 3600.0, r"no interval from \S+ to \S+ \(3600 s\)"),
        (("READ",), -0.9, r"the log of READ has an interval that begins at \S+, before the one above it ended"),
    ],
)
def test_logs_with_a_gap_or_with_intervals_at_the_same_time_are_an_error(
    tmp_path: Path, names: tuple[str, ...], by: float, text: str
) -> None:
    made = copied("read-modify-write", tmp_path)
    for name in names:
        later(tmp_path / f"{name}.hdr", by)
    with pytest.raises(BadOutput, match=text):
        DRIVER.parse(rmw(), made)


def test_a_log_with_as_many_operations_and_other_latencies_is_an_error(tmp_path: Path) -> None:
    made = copied("read-modify-write", tmp_path)
    shutil.copy(tmp_path / "UPDATE.hdr", tmp_path / "READ-MODIFY-WRITE.hdr")
    with pytest.raises(
        BadOutput, match=r"\[READ-MODIFY-WRITE\] has a mean of 1065\.2 us, and the log of \S+ one of 567"
    ):
        DRIVER.parse(rmw(), made)


def test_a_log_of_an_operation_that_was_not_printed_is_an_error(tmp_path: Path) -> None:
    made = copied("read-modify-write", tmp_path)
    shutil.copy(tmp_path / "UPDATE.hdr", tmp_path / "SCAN.hdr")
    with pytest.raises(BadOutput, match=r"the log of SCAN holds 14649 operations, and YCSB printed no \[SCAN\]"):
        DRIVER.parse(rmw(), made)


def test_an_output_that_contradicts_itself_is_an_error_with_both_values(tmp_path: Path) -> None:
    made = copied("read-modify-write", tmp_path)
    made.stdout.write_text(
        made.stdout.read_text().replace("[READ], MaxLatency(us), 34367", "[READ], MaxLatency(us), 343")
    )
    with pytest.raises(
        BadOutput, match=r"contradicts itself: \[READ\] has a p99 of 5179 us above its maximum of 343 us"
    ):
        DRIVER.parse(rmw(), made)


def test_logs_of_an_old_histogram_version_are_read() -> None:
    """HdrHistogram 2.1.4, which needs Java 8, writes logs in a different form."""
    assert DRIVER.parse(rmw(), output("histogram-logs-v1")) == DRIVER.parse(rmw(), output("read-modify-write"))


def test_a_run_that_ended_early_is_an_error() -> None:
    with pytest.raises(BadOutput, match=r"measured .* of 60 s: it ended after 6\.\d s") as caught:
        DRIVER.parse(rmw(measure_s=60), output("read-modify-write"))
    assert "DBWrapper" not in str(caught.value), "a greeting is no reason"


def test_failures_that_a_log_does_not_tell_apart_are_refused_with_that_reason(tmp_path: Path) -> None:
    made = copied("read-modify-write", tmp_path)
    text = made.stdout.read_text()
    done = re.search(r"\[READ\], Return=OK, (\d+)", text)
    assert done is not None
    apart = f"[READ], Return=OK, {int(done[1]) - 3}\n[READ], Return=ERROR, 3"
    made.stdout.write_text(text.replace(done[0], apart))
    with pytest.raises(BadOutput, match=r"3 operations of \[READ\] failed, and its histogram log does not tell") as why:
        DRIVER.parse(rmw(), made)
    assert why.value.hint == "use YCSB 0.17, which measures failures apart"
