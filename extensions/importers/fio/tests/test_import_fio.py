"""Tests `bench import fio`: complete output of real fio is read, and output that is cut, changed, or of another job is
refused."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbrief.model.plan import Plan
from benchbrief.results.imports.cell_matching import Where
from benchbrief.results.imports.imported_files import ImportRefused, OutputProblem
from benchbrief.results.imports.importer_seams import output_importer, read_output
from benchbrief.results.imports.keep_import import keep_run
from benchbrief.results.imports.prepare_outputs import prepare_outputs
from benchbrief.results.open_store import open_store
from tests.support.imported import SOURCE
from tests.support.longer import longer
from tests.support.plans import compile_text
from tests.support.recorded import RECORDED_OUTPUTS
from tests.support.tools import system_tool

MIX = RECORDED_OUTPUTS / "fio" / "mix" / "fio.json"
SPEC = """
hardware box { hosts = "box.lab" }
database disk { engine = raw_storage  path = "/data/raw"  size = 64 MiB }
workload reads from fio.randread { block_size = 4 KiB  io_depth = 4  direct = false  io_engine = libaio }
workload deep  from fio.randread { block_size = 4 KiB  io_depth = 8  direct = false  io_engine = libaio }
workload lump  from fio.randread { block_size = 8 KiB  io_depth = 4  direct = false  io_engine = libaio }
workload round from fio.randread { block_size = 4 KiB  io_depth = 4  io_engine = libaio }
workload sync  from fio.randread { block_size = 4 KiB  io_depth = 4  direct = false  io_engine = io_uring }
workload next  from fio.read     { block_size = 4 KiB  io_depth = 4  direct = false  io_engine = libaio }
workload mix   from fio.randrw   { block_size = 8 KiB  io_depth = 4  read = 70 % }
experiment ramp {
  hardware = box  workloads = [reads, deep, lump, round, sync, next, mix]  threads = [2, 4]  measure = 1 s
}
metric bandwidth = fio.bandwidth[reads]
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return compile_text(SPEC, tmp_path_factory.mktemp("spec"))


def fio(folder: Path, *more: str) -> Path:
    """Run two jobs with real random reads through the page cache for a second, and return fio's output."""
    path = folder / "fio.json"
    words = (
        "--name=a --rw=randread --bs=4k --iodepth=4 --ioengine=libaio --size=8m --numjobs=2 --time_based --runtime=1"
    )
    where = (f"--filename={folder / 'data'}", "--output-format=json+", f"--output={path}")
    subprocess.run([system_tool("fio"), *words.split(), *where, *more], check=True, capture_output=True, timeout=60)
    return path


def second_job(folder: Path) -> tuple[str, ...]:
    return ("--name=b", f"--filename={folder / 'data'}", "--size=8m")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fio(tmp_path_factory.mktemp("fio"))


def where(workload: str = "reads", threads: int = 2) -> Where:
    return Where(cell=f"workload={workload},threads={threads}")


def test_an_output_of_fio_is_read_with_its_histogram_and_its_own_measures(real: Path) -> None:
    jobs = json.loads(real.read_text())["jobs"]
    measured = read_output("fio", {"stdout": real}, "randread")
    (read,) = measured.operations
    assert measured.total.count == read.count == sum(job["read"]["clat_ns"]["N"] for job in jobs)
    assert read.histogram is not None
    assert read.histogram.count == read.count
    own = {sample.measure: sample.value for sample in measured.samples}
    assert own["fio.bandwidth"] == sum(job["read"]["bw_bytes"] for job in jobs)
    assert 0 < own["fio.cpu"] <= 2.2
    assert 0 < own["fio.submission"] < 0.1
    assert measured.tool_version.startswith("fio 3.")
    assert dict(measured.properties)["ioengine"] == "libaio"
    assert "window" in dict(measured.properties), "it ran without a ramp"
    assert measured.window[1] - measured.window[0] == pytest.approx(1, abs=0.1)


def test_its_numbers_go_to_the_store(real: Path, plan: Plan, tmp_path: Path) -> None:
    what = prepare_outputs("fio", [real], plan, SOURCE, where())
    with open_store(keep_run(tmp_path / "bench-out", plan, {}, what)) as store:
        (metric,) = plan.metrics
        values = [row.value for row in store.query(metric.query) if row.value is not None]
        whole = sum(job["read"]["bw_bytes"] for job in json.loads(real.read_text())["jobs"])
        assert values == [pytest.approx(whole, rel=1e-14)]  # a sum of floating-point numbers
        assert store.sql("SELECT count(*) FROM latency WHERE statistic = 'p99.9' AND value_s > 0").rows == ((2,),)


@pytest.mark.long
def test_jobs_in_one_group_are_as_many_threads(tmp_path: Path, plan: Plan) -> None:
    path = fio(tmp_path, "--group_reporting", "--ramp_time=1")
    assert len(json.loads(path.read_text())["jobs"]) == 1
    assert len(prepare_outputs("fio", [path], plan, SOURCE, where()).cells) == 1
    assert "window" not in dict(read_output("fio", {"stdout": path}, "randread").properties)


SECTIONS = """
[global]
filename={file}
size=8m
rw=randread
bs=4k
iodepth=4
ioengine=libaio
group_reporting=1
time_based
[a]
runtime=1
{a}
[b]
runtime={seconds}
{b}
"""


def sections(folder: Path, a: str = "", b: str = "", seconds: int = 1) -> Path:
    """Write the output for two sections of a job file, whose numbers fio reports together."""
    (folder / "two.fio").write_text(SECTIONS.format(file=folder / "data", a=a, b=b, seconds=seconds))
    path = folder / "fio.json"
    words = (str(folder / "two.fio"), "--output-format=json+", f"--output={path}")
    subprocess.run([system_tool("fio"), *words], check=True, capture_output=True, timeout=60)
    assert len(json.loads(path.read_text())["jobs"]) == 1
    return path


@pytest.mark.parametrize(("b", "threads"), [*longer(("", 2)), ("numjobs=3", 4)])
def test_sections_in_one_group_are_as_many_threads_as_ran(tmp_path: Path, plan: Plan, b: str, threads: int) -> None:
    # A busy machine starts jobs at times that differ by more than a tenth of a second.
    path = sections(tmp_path, "runtime=3", b, seconds=3)
    assert len(prepare_outputs("fio", [path], plan, SOURCE, where(threads=threads)).cells) == 1
    with pytest.raises(ImportRefused, match=f"it was run with {threads} jobs, and cell .* has threads = {6 - threads}"):
        prepare_outputs("fio", [path], plan, SOURCE, where(threads=6 - threads))


@pytest.mark.long
def test_the_rate_of_sections_in_one_group_is_that_of_all(tmp_path: Path, plan: Plan) -> None:
    path = sections(tmp_path, "rate_iops=100", "rate_iops=100")
    with pytest.raises(ImportRefused, match="rate_iops of 200 in all"):
        prepare_outputs("fio", [path], plan, SOURCE, where())


def test_a_rate_that_is_not_printed_is_not_guessed(tmp_path: Path, plan: Plan) -> None:
    path = sections(tmp_path, "rate_iops=20", "rate_iops=100")
    with pytest.raises(ImportRefused, match="I/Os a second in 2 jobs, and prints the rate_iops of 1 of them"):
        prepare_outputs("fio", [path], plan, SOURCE, where())


@pytest.mark.long
def test_sections_in_one_group_that_ran_for_different_times_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputProblem, match=r"job_runtime of \d+ ms, and its options are of a job of \d+ ms"):
        read_output("fio", {"stdout": sections(tmp_path, seconds=2)}, "randread")


@pytest.mark.long
def test_jobs_of_one_group_that_end_early_are_its_numjobs(tmp_path: Path, plan: Plan) -> None:
    """fio prints the number of jobs, so it need not be computed from the jobs' times."""
    path = fio(tmp_path, "--group_reporting", "--time_based=0", "--runtime=0", "--size=64m", "--number_ios=2000")
    assert output_importer("fio").settings(path)["threads"].value == 2
    assert len(prepare_outputs("fio", [path], plan, SOURCE, where()).cells) == 1


@pytest.mark.parametrize(
    ("workload", "threads", "message"),
    [
        ("reads", 4, "it was run with 2 jobs, and cell .* has threads = 4"),
        ("deep", 2, "it was run with iodepth=4, and workload deep has io_depth = 8"),
        ("lump", 2, "it was run with bs=4k, and workload lump has block_size = 8192"),
        ("round", 2, "it was run with direct=0, and workload round has direct = True"),
        ("sync", 2, "it was run with ioengine=libaio, and workload sync has io_engine = io_uring"),
        ("next", 2, "it was run with rw=randread, and workload next is read"),
    ],
)
def test_an_output_of_another_job_is_refused(real: Path, plan: Plan, workload: str, threads: int, message: str) -> None:
    with pytest.raises(ImportRefused, match=message):
        prepare_outputs("fio", [real], plan, SOURCE, where(workload, threads))


@pytest.mark.long
def test_an_offered_load_is_none_at_full_speed(tmp_path: Path, plan: Plan) -> None:
    path = fio(tmp_path, "--rate_iops=50")
    with pytest.raises(ImportRefused, match=r"rate_iops of 100 in all, and cell .* has no target"):
        prepare_outputs("fio", [path], plan, SOURCE, where())


@pytest.mark.parametrize(
    ("option", "second", "message"),
    [
        ("rw", "randwrite", "a was run with rw=randread, and b with rw=randwrite"),
        *longer(
            ("bs", "64k", "a was run with bs=4k, and b with bs=64k"),
            ("iodepth", "32", "a was run with iodepth=4, and b with iodepth=32"),
            ("ioengine", "psync", "a was run with ioengine=libaio, and b with ioengine=psync"),
        ),
        ("buffered", "0", "a was run with direct=0, and b with direct=1"),
    ],
)
def test_jobs_with_different_options_are_no_threads_of_one_cell(
    tmp_path: Path, plan: Plan, option: str, second: str, message: str
) -> None:
    other = {"rw": "randread", "bs": "4k", "iodepth": "4", "ioengine": "libaio", option: second}
    path = fio(tmp_path, "--numjobs=1", *second_job(tmp_path), *(f"--{name}={it}" for name, it in other.items()))
    with pytest.raises(ImportRefused, match=message):
        prepare_outputs("fio", [path], plan, SOURCE, where())


def test_jobs_that_write_the_same_options_differently_are_alike(tmp_path: Path, plan: Plan) -> None:
    more = ("--rw=randread", "--bs=4096", "--iodepth=4", "--ioengine=libaio", "--rwmixread=9")
    path = fio(tmp_path, "--numjobs=1", *second_job(tmp_path), *more, "--time_based", "--runtime=1")
    assert len(prepare_outputs("fio", [path], plan, SOURCE, where()).cells) == 1


@pytest.mark.long
def test_jobs_of_a_mix_in_different_shares_are_refused(tmp_path: Path) -> None:
    mixed = ("--rw=randrw", "--rwmixread=70", "--numjobs=1")
    other = (*second_job(tmp_path), "--rw=randrw", "--bs=4k", "--iodepth=4", "--ioengine=libaio", "--rwmixread=30")
    with pytest.raises(OutputProblem, match="a was run with rwmixread=70, and b with rwmixread=30"):
        read_output("fio", {"stdout": fio(tmp_path, *mixed, *other)}, "randrw")


@pytest.mark.parametrize(
    ("pattern", "rates", "target"),
    [
        ("randwrite", ",500", 500),
        *longer(("randread", "400,", 400), ("randread", "400,300", 400), ("randwrite", "400,300", 300)),
        ("randrw", "400", 800),
        *longer(("randrw", "400,300", 700), ("randread", ",500", None), ("randwrite", "500,", None)),
        ("randrw", ",500", None),
    ],
)
def test_a_rate_counts_for_its_own_direction(tmp_path: Path, pattern: str, rates: str, target: float | None) -> None:
    path = fio(tmp_path, f"--rw={pattern}", f"--rate_iops={rates}", "--numjobs=1")
    said = output_importer("fio").settings(path).get("target")
    assert (said.value if said else None) == target


@pytest.mark.long
def test_a_limit_on_one_half_of_a_mix_is_of_no_cell(tmp_path: Path, plan: Plan) -> None:
    path = fio(tmp_path, "--rw=randrw", "--rwmixread=70", "--bs=8k", "--rate_iops=,500")
    with pytest.raises(ImportRefused, match="its rate_iops limits some of its I/Os, and others not"):
        prepare_outputs("fio", [path], plan, SOURCE, where("mix"))


def test_a_mix_in_other_shares_is_refused(plan: Plan, tmp_path: Path) -> None:
    assert len(prepare_outputs("fio", [MIX], plan, SOURCE, where("mix")).cells) == 1
    path = tmp_path / "fio.json"
    path.write_text(MIX.read_text().replace('"rwmixread" : "70"', '"rwmixread" : "30"'))
    with pytest.raises(ImportRefused, match=r"it was run with rwmixread=30, and workload mix has read = 0\.7"):
        prepare_outputs("fio", [path], plan, SOURCE, where("mix"))


Change = Callable[[dict[str, Any]], object]


def at(*path: str | int, by: Callable[[Any], Any]) -> Change:
    def change(found: dict[str, Any]) -> None:
        part: Any = found
        for step in path[:-1]:
            part = part[step]
        part[path[-1]] = by(part[path[-1]])

    return change


READ = ("jobs", 0, "read")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (at(*READ, "clat_ns", "N", by=lambda n: n + 1000), r"has \d+ completion latencies, and its bins hold \d+"),
        (at(*READ, "total_ios", by=lambda n: 2 * n), r"submitted \d+ I/Os, and \d+ completed"),
        (at(*READ, "io_bytes", by=lambda n: 2 * n), r"moved \d+ bytes, and \d+ I/Os of 4096 bytes are \d+"),
        (at(*READ, "iops", by=lambda n: 1.1 * n), r"did [\d,.]+ I/Os a second, and \d+ in [\d.]+ s are [\d,.]+"),
        (at(*READ, "bw_bytes", by=lambda n: n // 2), r"did [\d,.]+ bytes a second, and \d+ in [\d.]+ s are [\d,.]+"),
        (at(*READ, "clat_ns", "max", by=lambda n: 3 * n), r"contradicts itself: the histogram of read of job a \(1\)"),
        (at(*READ, "clat_ns", "mean", by=lambda n: 3 * n), r"contradicts itself: the histogram of read of job a \(1\)"),
        (at(*READ, "clat_ns", "percentile", "99.000000", by=lambda n: 3 * n), r"contradicts itself: the histogram"),
        (at(*READ, "clat_ns", "bins", by=lambda _: {}), r"completion latencies, and its bins hold 0"),
        (at("jobs", 1, "error", by=lambda _: 5), "its job a ended with error 5"),
        (at("jobs", by=lambda _: []), "its JSON is whole, but not fio's: jobs: "),
        (
            at("jobs", 0, "job_runtime", by=lambda n: 1.5 * n // 1),
            r"job_runtime of \d+ ms, and its options are of a job",
        ),
        (at("jobs", 0, "job options", by=lambda given: {**given, "rate_iops": "1"}), r"and its rate_iops allows 1"),
    ],
)
def test_a_changed_number_is_refused_with_the_values_that_disagree(
    real: Path, tmp_path: Path, change: Change, message: str
) -> None:
    found = json.loads(real.read_text())
    change(found)
    path = tmp_path / "fio.json"
    path.write_text(json.dumps(found, indent=1))
    with pytest.raises(OutputProblem, match=message):
        read_output("fio", {"stdout": path}, "randread")


@pytest.mark.long
def test_plain_json_has_no_histogram(tmp_path: Path) -> None:
    path = fio(tmp_path, "--output-format=json")
    with pytest.raises(OutputProblem, match="have no bins") as caught:
        read_output("fio", {"stdout": path}, "randread")
    assert "--output-format=json+" in caught.value.hint


def test_text_that_fio_prints_for_people_is_refused(tmp_path: Path) -> None:
    path = fio(tmp_path, "--output-format=normal")
    with pytest.raises(OutputProblem, match=re.escape('it has no line "fio version"')):
        read_output("fio", {"stdout": path}, "randread")


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_a_cut_output_is_refused(real: Path, tmp_path: Path, part: float) -> None:
    text = real.read_text().rstrip()
    path = tmp_path / "fio.json"
    path.write_text(text[: int(part * len(text))])
    with pytest.raises(OutputProblem, match="its JSON is not whole"):
        read_output("fio", {"stdout": path}, "randread")


@pytest.mark.parametrize("joint", ["", "\n"])
def test_two_runs_in_one_file_are_refused_where_the_second_begins(real: Path, tmp_path: Path, joint: str) -> None:
    text = real.read_text().rstrip("\n")
    path = tmp_path / "fio.json"
    path.write_text(text + joint + text)
    with pytest.raises(OutputProblem, match="a second output of fio begins here") as caught:
        read_output("fio", {"stdout": path}, "randread")
    assert caught.value.line == len(text.splitlines()) + len(joint)
