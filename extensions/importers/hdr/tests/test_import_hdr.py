"""Tests the import of histogram logs without an output. Tags, units and versions are read. Logs that were cut, moved or
doubled are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.extensions.importers.hdr.hdr_importer import split
from benchbrief.results.imports.cell_matching import Where
from benchbrief.results.imports.imported_files import ImportRefused, OutputProblem
from benchbrief.results.imports.importer_seams import read_output
from benchbrief.results.imports.prepare_outputs import prepare_outputs
from tests.support.imported import CELL, SOURCE, copied, operation, plan_of, replaced
from tests.support.recorded import RECORDED_OUTPUTS

RUN = RECORDED_OUTPUTS / "ycsb" / "read-modify-write"


def test_hdr_logs_by_themselves_are_a_measurement_also_with_tags_and_in_nanoseconds(tmp_path: Path) -> None:
    apart = read_output("hdr", {path.name: path for path in RUN.glob("*.hdr")}, "f")
    lines = [line for line in (RUN / "READ.hdr").read_text().splitlines() if line[:1] not in '#"']
    tagged = tmp_path / "all.hlog"
    start = next(line for line in (RUN / "READ.hdr").read_text().splitlines() if "StartTime" in line)
    tagged.write_text(
        "\n".join(["#[Histogram log format version 1.3]", start, *(f"Tag=READ,{line}" for line in lines)]) + "\n"
    )
    read = operation(read_output("hdr", {"all.hdr": tagged}, "f"), "read")
    assert read.histogram == operation(apart, "read").histogram
    in_ns = operation(read_output("hdr", {"all.hdr": tagged}, "f", {"unit": "ns"}), "read")
    assert in_ns.mean_s == pytest.approx((read.mean_s or 0) / 1000)


def test_a_damaged_line_of_an_hdr_log_is_reported(tmp_path: Path) -> None:
    text = (RUN / "READ.hdr").read_text()
    path = tmp_path / "READ.hdr"
    path.write_text(text[: len(text) - 40])
    with pytest.raises(OutputProblem, match="not a compressed histogram") as caught:
        read_output("hdr", {"READ.hdr": path}, "f")
    assert caught.value.line == len(text.splitlines())


def _without(path: Path, first: int, last: int) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:first], *lines[last:]]))


def test_the_log_of_one_operation_of_a_mixed_workload_is_refused(tmp_path: Path) -> None:
    files = copied(tmp_path / "run", "ycsb/read-modify-write")
    with pytest.raises(ImportRefused, match=r"100 % of its operations are reads, and 50 % are in workload f"):
        prepare_outputs("hdr", [files["READ.hdr"]], plan_of(tmp_path), SOURCE, CELL)
    logs = [path for name, path in files.items() if name.endswith(".hdr") and "CLEANUP" not in name]
    assert prepare_outputs("hdr", logs, plan_of(tmp_path), SOURCE, CELL).cells[0].ops_per_s is not None


@pytest.mark.parametrize("beside", [False, True])
def test_a_log_without_its_last_seconds_is_refused(tmp_path: Path, *, beside: bool) -> None:
    files = copied(tmp_path, "ycsb/read-modify-write")
    _without(files["READ.hdr"], 8, 100)
    shown = r"operations in \[READ\], and its histogram log" if beside else r"READ ends [\d.]+ s before that of"
    kind = "ycsb" if beside else "hdr"
    kept = {name: path for name, path in files.items() if beside or name != "stdout"}
    with pytest.raises(OutputProblem, match=shown):
        read_output(kind, kept, "f")


def _lines_later(path: Path, by: float) -> None:
    lines = path.read_text().splitlines()
    rows = [at for at, line in enumerate(lines) if line[:1].isdigit()]
    for at in rows[len(rows) // 2 :]:
        start, _, rest = lines[at].partition(",")
        lines[at] = f"{float(start) + by:.3f},{rest}"
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("beside", [False, True])
def test_intervals_twice_an_hours_gap_and_a_start_of_0_are_refused(tmp_path: Path, *, beside: bool) -> None:
    kind = "ycsb" if beside else "hdr"

    def files(name: str) -> dict[str, Path]:
        each = copied(tmp_path / name, "ycsb/read-modify-write")
        return {log: path for log, path in each.items() if beside or log != "stdout"}

    changes: tuple[tuple[str, Callable[[Path], object], str], ...] = (
        ("gap", lambda path: _lines_later(path, 3600.0), r"no interval from [\d:.]+ to [\d:.]+ \(3600 s\)"),
        ("start", lambda path: replaced(path, (r"StartTime: [\d.]+", "StartTime: 0.000")), "s after 1970"),
        ("twice", lambda path: replaced(path, (r"^(\d.*)$", r"\1\n\1")), "before the one above it ended|log holds"),
    )
    for name, change, shown in changes:
        found = files(name)
        for log in (path for each, path in found.items() if each.endswith(".hdr")):
            change(log)
        with pytest.raises(OutputProblem, match=shown):
            read_output(kind, found, "f")


def test_a_number_that_is_none_in_a_log_is_reported_with_its_line_and_leaves_no_run(tmp_path: Path) -> None:
    files = copied(tmp_path / "run", "ycsb/read-modify-write")
    replaced(files["UPDATE.hdr"], (r"^\d+\.\d+,", "nan,"))
    logs = [path for name, path in files.items() if name.endswith(".hdr") and "CLEANUP" not in name]
    with pytest.raises(ImportRefused, match=r"UPDATE\.hdr:\d+: not a line of a histogram log: 'nan,"):
        prepare_outputs("hdr", logs, plan_of(tmp_path), SOURCE, CELL)


def test_logs_of_old_histogram_versions_are_read(tmp_path: Path) -> None:
    """HdrHistogram 2.1.4, which YCSB's releases contain, writes logs in a different form: V1."""
    old = read_output("ycsb", copied(tmp_path / "old", "ycsb/histogram-logs-v1"), "f")
    new = read_output("ycsb", copied(tmp_path / "new", "ycsb/read-modify-write"), "f")
    assert old == new
    path = tmp_path / "old" / "READ.hdr"
    path.write_text(path.read_text().replace("HISTgg", "HISTgx", 1))
    with pytest.raises(OutputProblem, match="histogram"):
        read_output("hdr", {"READ.hdr": path}, "c")


def test_latencies_longer_than_the_threads_have_time_are_refused(tmp_path: Path) -> None:
    files = copied(tmp_path / "run", "ycsb/read-modify-write")
    logs = [path for name, path in files.items() if name.endswith(".hdr") and "CLEANUP" not in name]
    plan = plan_of(tmp_path)
    assert prepare_outputs("hdr", logs, plan, SOURCE, CELL).cells
    shown = r"its latencies add up to 2\.\d+e\+04 s, and the 4 threads of cell \S+ have 2\d\.\d+ s in [56]\.\d+ s"
    with pytest.raises(ImportRefused, match=shown):
        prepare_outputs("hdr", logs, plan, SOURCE, Where(cell="experiment=closed", options={"unit": "ms"}))


def test_logs_that_are_shorter_than_the_spec_measures_are_reported(tmp_path: Path) -> None:
    files = copied(tmp_path / "run", "ycsb/offered-load")
    logs = [path for name, path in files.items() if name.endswith(".hdr") and "CLEANUP" not in name]
    what = prepare_outputs("hdr", logs, plan_of(tmp_path), SOURCE, CELL)
    assert [text.partition(": ")[2] for text in what.remarks] == [
        "it covers 3.5 s, and closed measures 5 s: was it cut?"
    ]


@pytest.mark.parametrize(
    ("stem", "parts"),
    [
        ("READ", ("", "READ")),
        ("t8-READ-MODIFY-WRITE", ("t8-", "READ-MODIFY-WRITE")),
        ("t8Intended-UPDATE", ("t8", "Intended-UPDATE")),
        ("a.READ-NOT_FOUND", ("a.", "READ-NOT_FOUND")),
        ("t8-Intended-CLEANUP", ("t8-", "Intended-CLEANUP")),
        ("all", ("all", "")),
    ],
)
def test_a_log_says_its_row_at_the_end_of_its_name(stem: str, parts: tuple[str, str]) -> None:
    assert split(stem) == parts
