"""Tests outputs of the versions in use, by their formats (`outputs/README.md` says where these were found)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from benchbrief.model import histogram as h
from benchbrief.model.measurement import Measurement, Operation
from benchbrief.results.imports.imported_files import OutputProblem
from benchbrief.results.imports.importer_seams import read_output

OUTPUTS = Path(__file__).parent / "outputs"


def measured(name: str, benchmark: str = "a") -> Measurement:
    kind = name.partition("-")[0] if not name.startswith("go-") else "go-ycsb"
    return read_output(kind, {"stdout": OUTPUTS / f"{name}.txt"}, benchmark)


def operation(of: Measurement, name: str) -> Operation:
    return next(each for each in of.operations if each.operation == name)


def properties_of(of: Measurement) -> str:
    return dict(of.properties)["percentiles"]


def test_ycsb_0_1_4_with_its_status_lines_is_read_by_its_buckets() -> None:
    of = measured("ycsb-0.1.4-with-status")
    assert (of.total.count, of.total.errors, of.total.seconds) == (1000, 0, 2.0)
    read, update = operation(of, "read"), operation(of, "update")
    assert [read.mean_s, read.max_s] == pytest.approx([0.00041025, 0.024125])
    assert read.printed == ()
    assert update.histogram is not None
    assert 0.001 <= h.percentile(update.histogram, 95) <= 0.002
    assert read.histogram is not None
    assert read.histogram.buckets[-1].hi == pytest.approx(0.025125), "what overflowed reaches to the maximum"
    assert "known to 1 ms" in properties_of(of)


def test_a_percentile_below_the_first_millisecond_is_missing_and_no_zero() -> None:
    of = measured("ycsb-0.1.4-without-buckets")
    update = operation(of, "update")
    assert (update.count, update.errors, update.printed) == (486, 1, ((99.0, 0.002),))
    assert operation(of, "read").printed == ((95.0, 0.002), (99.0, 0.029))
    assert "lower ends of buckets of 1 ms" in properties_of(of)
    assert operation(measured("ycsb-0.17-by-milliseconds"), "update").printed == ((99.0, 0.001),)


def test_an_operation_put_into_a_batch_succeeds_without_a_latency() -> None:
    of = measured("ycsb-0.12-batched")
    assert (of.total.count, of.total.errors) == (100_000, 0)
    (warning,) = of.warnings
    assert warning.startswith("99900 of 100000 operations in [INSERT] were put into a batch")


def test_failures_of_ycsb_0_12_count_once_and_an_operation_never_done_says_nothing() -> None:
    of = measured("ycsb-0.12-some-failed")
    assert (of.total.count, of.total.errors) == (995, 5)
    scan = operation(of, "scan")
    assert (scan.count, scan.mean_s, scan.printed) == (0, None, ())


def test_the_ycsb_after_0_17_prints_the_median_too() -> None:
    of = measured("ycsb-after-0.17")
    assert dict(operation(of, "read").printed) == pytest.approx({50.0: 0.000261, 95.0: 0.000524, 99.0: 0.000758})


def test_a_printed_hdr_histogram_is_by_microseconds_and_agrees_with_the_rows_beside_it() -> None:
    of = measured("ycsb-0.17-printed-histogram")
    assert "from HDR histograms" in properties_of(of)
    rows = (OUTPUTS / "ycsb-0.17-printed-histogram.txt").read_text().splitlines()
    for name in ("READ", "UPDATE"):
        (p99,) = (float(row.split(", ")[2]) for row in rows if row.startswith(f"[{name}], 99th"))
        each = operation(of, name.lower())
        assert each.histogram is not None
        assert h.percentile(each.histogram, 99) * 1e6 == pytest.approx(p99, abs=max(2, p99 / 50))
        assert each.mean_s is not None
        assert h.mean(each.histogram) == pytest.approx(each.mean_s, abs=1e-6, rel=1e-3)


def test_two_kinds_of_histogram_beside_each_other_count_once() -> None:
    of = measured("ycsb-0.17-two-histograms")
    assert of.total.count == 2000
    assert {each.operation for each in of.operations} == {"read", "update"}


@pytest.mark.parametrize("name", ["ycsb-0.17-json-objects", "ycsb-0.17-json-array"])
def test_a_json_exporters_output_is_read_as_its_rows_would_be(tmp_path: Path, name: str) -> None:
    of = measured(name)
    text = (OUTPUTS / f"{name}.txt").read_text()
    objects = json.loads("[" + text.strip(" []\n").replace("} {", "}, {") + "]")
    values = {(each["metric"], each["measurement"]): each["value"] for each in objects}
    assert of.total.count == 2000
    assert of.total.seconds == values["OVERALL", "RunTime(ms)"] / 1000
    read = operation(of, "read")
    assert read.mean_s == pytest.approx(values["READ", "AverageLatency(us)"] / 1e6)
    assert dict(read.printed)[99.0] == pytest.approx(values["READ", "99thPercentileLatency(us)"] / 1e6)
    cut = tmp_path / "cut"
    cut.write_text(text[: len(text) // 2])
    with pytest.raises(OutputProblem, match="the last object of its JSON is not whole"):
        read_output("ycsb", {"stdout": cut}, "a")


def test_operations_that_are_not_ycsbs_are_reported_by_their_names() -> None:
    with pytest.raises(OutputProblem, match=r"246 by the rows.*did besides \(UPDATEMETA\), nothing is known"):
        measured("ycsb-other-operations")


def test_a_go_ycsb_without_a_total_is_the_sum_of_its_rows_in_the_time_it_took() -> None:
    of = measured("go-ycsb-without-total")
    assert (of.total.count, of.total.seconds) == (100_000, 62.5)
    assert dict(operation(of, "read").printed)[99.0] == 0.016
    assert set(dict(operation(of, "update").printed)) == {99.0, 99.9}, "one beyond the last bucket is printed as 0"
    assert "upper ends of buckets of 1 ms" in properties_of(of)


@pytest.mark.parametrize(
    ("name", "benchmark", "version", "count", "seconds"),
    [
        ("db_bench-6.21", "readrandom", "6.21", 100_000, 100_000 / 449438),
        ("db_bench-8.9", "fillseq", "8.9.2", 100_000, 100_000 / 48233),
        ("db_bench-9.5", "readrandom", "9.5.0", 100_000, 100_000 / 450247),
        ("db_bench-10.9", "readrandom", "10.9.0", 100_000, 100_000 / 196720),
        ("db_bench-10.9", "readseq", "10.9.0", 63_207, 63_207 / 1022436),
    ],
)
def test_db_bench_of_each_major_version_is_read(
    name: str, benchmark: str, version: str, count: int, seconds: float
) -> None:
    of = measured(name, benchmark)
    assert of.tool_version == f"db_bench {version}"
    assert of.total.count == count
    assert of.total.seconds == pytest.approx(seconds)
    assert of.total.ops_per_s == pytest.approx(count / seconds)
    if benchmark == "readrandom" and "10" not in name:
        read = operation(of, "read")
        assert read.histogram is not None
        assert 10e-6 < h.percentile(read.histogram, 99) < 15e-6
    elif not of.operations:
        assert "without --histogram" in of.warnings[-1]


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (b"", "empty", ""),
        (b"\x1f\x8b\x08\x00", "packed by gzip", "gunzip stdout"),
        ((OUTPUTS / "db_bench-9.5.txt").read_bytes(), "not an output of YCSB", "bench import db_bench"),
        ((OUTPUTS / "go-ycsb-without-total.txt").read_bytes(), "not an output of YCSB", "bench import go-ycsb"),
        ((OUTPUTS / "ycsb-after-0.17.txt").read_bytes()[:400], "cut", ""),
        (
            b"".join((OUTPUTS / f"ycsb-{name}.txt").read_bytes() for name in ("0.12-batched", "after-0.17")),
            "second",
            "own",
        ),
    ],
)
def test_a_file_that_is_no_output_by_itself_is_reported_with_what_to_do(
    tmp_path: Path, content: bytes, message: str, hint: str
) -> None:
    path = tmp_path / "stdout"
    path.write_bytes(content)
    with pytest.raises(OutputProblem, match=message) as refused:
        read_output("ycsb", {"stdout": path}, "a")
    assert hint in refused.value.hint


OF_WINDOWS: Mapping[str, Callable[[str], bytes]] = {
    "lines": lambda text: text.replace("\n", "\r\n").encode(),
    "UTF-8": lambda text: ("\ufeff" + text).encode(),
    "UTF-16 LE": lambda text: ("\ufeff" + text.replace("\n", "\r\n")).encode("utf-16-le"),
    "UTF-16 BE": lambda text: ("\ufeff" + text).encode("utf-16-be"),
}


@pytest.mark.parametrize("change", OF_WINDOWS.values(), ids=OF_WINDOWS)
@pytest.mark.parametrize("name", ["ycsb-after-0.17", "go-ycsb-without-total", "db_bench-9.5", "ycsb-0.17-json-array"])
def test_the_line_ends_and_marks_of_another_system_change_nothing(
    tmp_path: Path, name: str, change: Callable[[str], bytes]
) -> None:
    path = tmp_path / "stdout"
    path.write_bytes(change((OUTPUTS / f"{name}.txt").read_text()))
    benchmark = "readrandom" if name.startswith("db_bench") else "a"
    kind = name.partition("-")[0] if not name.startswith("go-") else "go-ycsb"
    assert read_output(kind, {"stdout": path}, benchmark) == measured(name, benchmark)


def test_a_text_in_utf_16_that_was_cut_is_refused(tmp_path: Path) -> None:
    whole = OF_WINDOWS["UTF-16 LE"]((OUTPUTS / "ycsb-after-0.17.txt").read_text())
    path = tmp_path / "stdout"
    for less in (4, 5):
        path.write_bytes(whole[:-less])
        with pytest.raises(OutputProblem, match="cut in its last line"):
            read_output("ycsb", {"stdout": path}, "a")
