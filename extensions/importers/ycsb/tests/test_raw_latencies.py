"""Tests YCSB's raw latencies: percentiles are computed from the individual operations, and files with missing lines,
repeated lines or wrong times are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.extensions.importers.ycsb.raw_latencies import is_raw
from benchbrief.model import histogram as h
from benchbrief.results.imports.imported_files import ImportRefused, OutputProblem
from benchbrief.results.imports.importer_seams import read_output
from benchbrief.results.imports.prepare_outputs import prepare_outputs
from tests.support.imported import CELL, SOURCE, operation, plan_of, raw_text


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
    with pytest.raises(ImportRefused, match=r"67 % of its operations are reads, and 50 % are in workload f"):
        prepare_outputs("ycsb", [tmp_path / "raw"], plan_of(tmp_path, "a"), SOURCE, CELL)


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
