"""Tests outputs with printed buckets, halves or sizes that contradict each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.model.measurement import Measurement
from benchbrief.results.imports.imported_files import OutputProblem
from benchbrief.results.imports.importer_seams import read_output
from tests.support.recorded import RECORDED_OUTPUTS

FORMS = Path(__file__).parent / "outputs"
RECORDED = RECORDED_OUTPUTS
FIRST = FORMS / "ycsb-0.1.4-with-status.txt"
PRINTED = FORMS / "ycsb-0.17-printed-histogram.txt"
BOTH = FORMS / "ycsb-0.17-two-histograms.txt"
RMW = RECORDED / "ycsb" / "read-modify-write" / "stdout"
TIMED = RECORDED / "go_ycsb" / "timed" / "stdout"
READS = RECORDED / "db_bench" / "readrandom" / "stdout"
MIX = RECORDED / "fio" / "mix" / "fio.json"


def changed(source: Path, folder: Path, kind: str, benchmark: str, *pairs: tuple[str, str]) -> Measurement:
    text = source.read_text()
    for pattern, new in pairs:
        text, times = re.subn(pattern, new, text, flags=re.MULTILINE)
        assert times, pattern
    path = folder / "stdout"
    path.write_text(text)
    return read_output(kind, {"stdout": path}, benchmark)


@pytest.mark.parametrize(
    ("source", "pairs", "message"),
    [
        (FIRST, [(r"^\[READ\], >?\d+, .*\n", "")], r"\[UPDATE\] has buckets, and \[READ\] has none"),
        (FIRST, [(r"^\[READ\], >20,", "[READ], >0,")], r"has the bucket >0 after 19: YCSB prints them in order"),
        (FIRST, [(r"^\[READ\], >20,", "[READ], >200,")], r"\[UPDATE\] has >20 and \[READ\] has >200"),
        (FIRST, [(r"^\[UPDATE\], 3,", "[UPDATE], 30,")], r"has the bucket 4 after 30"),
        (FIRST, [(r"(\[READ\], MinLatency.*), 100", r"\1, 0.5")], r"MinLatency\(us\) = 0\.5: that is no whole number"),
        (FIRST, [(r"(\[READ\], 95th.*), 0", r"\1, 0.1")], r"Latency\(ms\) = 0\.1: that is no whole number"),
        (FIRST, [(r"(\[READ\], Return)=0", r"\1=-0")], r"\[READ\] has `Return=-0`, which is no return code"),
        (PRINTED, [(r"^\[READ\], 1077,", "[READ], 10770,")], r"has the bucket \d+ after 10770"),
        (BOTH, [(r"(\[BucketREAD\], Operations), 987", r"\1, 986")], r"Operations = 987, and \[BucketREAD\] .* 986"),
        (BOTH, [(r"(\[HdrREAD\], Average.*), 694", r"\1, 794")], r"794\.518, and \[BucketREAD\] .* 694\.498"),
        (RMW, [(r"(WRITE\], Min.*), 122", r"\1, 60")], r"minimum of 60 us, and the minima of .* add up to 70 us"),
        (RMW, [(r"(WRITE\], Max.*), 71295", r"\1, 712950")], r"712950 us, and those of .* add up to 57214 us"),
        (RMW, [(r"(WRITE\], 99th.*), 7891", r"\1, 4891")], r"p99 of 4891 us, and \[UPDATE\] one of 5327 us"),
        (RMW, [(r"(WRITE\], 95th.*), 4327", r"\1, 1327")], r"p95 of 1327 us, and \[UPDATE\] one of 2257 us"),
    ],
)
def test_rows_of_ycsb_that_can_t_be_of_one_run_are_refused(
    source: Path, pairs: list[tuple[str, str]], message: str, tmp_path: Path
) -> None:
    benchmark = "f" if source is RMW else "a"
    assert changed(source, tmp_path, "ycsb", benchmark).total.count > 0
    with pytest.raises(OutputProblem, match=message):
        changed(source, tmp_path, "ycsb", benchmark, *pairs)


WITHOUT_FAILURES = (r"^(?:READ|UPDATE)_ERROR .*\n", "")


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("Min(us): 74", "Min(us): 40"), r"minimum of 40 us, and the minima of READ and UPDATE add up to 74 us"),
        (("Max(us): 53695", "Max(us): 536950"), r"maximum of 536950 us, and those of .* add up to 70126 us"),
        (("99.9th(us): 12423", "99.9th(us): 5423"), r"p99\.9 of 5423 us, and UPDATE one of 7075 us"),
    ],
)
def test_a_read_modify_write_that_its_halves_contradict_is_refused(
    pair: tuple[str, str], message: str, tmp_path: Path
) -> None:
    # Without its failures, of which the reads belong to read-modify-writes without an update.
    whole = (WITHOUT_FAILURES, (r"13447", "13433"))
    assert changed(TIMED, tmp_path, "go-ycsb", "f", *whole).total.count > 0
    row = (rf"^(READ_MODIFY_WRITE.*){re.escape(pair[0])}(,|$)", rf"\g<1>{pair[1]}\2")
    with pytest.raises(OutputProblem, match=message):
        changed(TIMED, tmp_path, "go-ycsb", "f", *whole, row)


def test_with_failures_a_read_modify_write_may_be_of_a_read_alone(tmp_path: Path) -> None:
    row = (r"^(READ_MODIFY_WRITE.*Min\(us\)): 74", r"\1: 60")
    assert changed(TIMED, tmp_path, "go-ycsb", "f", row).total.count > 0


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(r"StdDev: \d+\.\d+", "StdDev: 900000.00")], r"standard deviation of 900000 us, and its buckets allow"),
        ([(r"StdDev: \d+\.\d+", "StdDev: 0.01")], r"standard deviation of 0\.01 us, and its buckets allow"),
        ([(r"bytes each \(\d+ bytes after", "bytes each (50,000 bytes after")], r"Values is `\S+ bytes each \(50,000"),
        ([(r"bytes each \(\d+ bytes after", "bytes each (-50 bytes after")], r"after compression, too"),
        ([(r"^Values: .*", "Values:     100 bytes each")], r"prints their bytes after compression, too"),
        ([(r"^(Keys: +)16 bytes", r"\g<1>16.5 bytes")], r"Keys is `16\.5 bytes each.*`, which is no whole number"),
        ([(r"^(Entries: +)\d+", r"\1many")], r"`Entries: +many` is no size of db_bench"),
    ],
)
def test_sizes_and_deviations_of_db_bench_are_read_and_held_against_the_rest(
    pairs: list[tuple[str, str]], message: str, tmp_path: Path
) -> None:
    assert changed(READS, tmp_path, "db_bench", "readrandom").total.count > 0
    with pytest.raises(OutputProblem, match=message):
        changed(READS, tmp_path, "db_bench", "readrandom", *pairs)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("6473.930285", "647393.030285"), r"has a slat of 647393 us on average|has a slat of 647\.393 us on average"),
        (("6473.930285", "16473.930285"), r"its slat and clat add up to"),
        (("9.236146", "923.6146"), r"used 924\.014 % of one processor"),
    ],
)
def test_fio_s_submission_and_processors_are_held_against_the_rest(
    pair: tuple[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(OutputProblem, match=message):
        changed(MIX, tmp_path, "fio", "randrw", (re.escape(pair[0]), pair[1]))
