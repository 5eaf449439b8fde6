"""Tests what fio's output proves, and how fio is run. Uses a recording of 3.33, also changed in each way that must be
refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbrief.extensions.tools.fio.fio import Fio
from benchbrief.extensions.tools.fio.fio_output import NotFio, read_bins, read_output
from benchbrief.model.histogram import percentile
from benchbrief.model.plan import Database, Workload
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.errors import BadOutput, RunnerError
from tests.support.cells import ORIGIN, context, recorded

OUTPUTS = Path(__file__).parents[1] / "outputs"
DRIVER = Fio()


def fio_workload(benchmark: str, **more: str | float | bool) -> Workload:
    properties = {"block_size": 4096.0, "io_depth": 8.0, "direct": True, "io_engine": "libaio", **more}
    return Workload(
        name="w",
        label="w",
        description="",
        family="fio",
        benchmark=benchmark,
        properties=properties,
        operations=("read",),
        writes=benchmark not in ("read", "randread"),
        origin=ORIGIN,
    )


def storage(size_bytes: float = 64 << 20) -> Database:
    return Database(
        name="disk",
        label="Disk",
        engine="raw_storage",
        server="none",
        path="/data",
        size_bytes=size_bytes,
        reset="after_writes",
        origin=ORIGIN,
    )


def cell(
    benchmark: str = "randread", *, size: float = 64 << 20, given: dict[str, Any] | None = None, **more: Any
) -> CellContext:
    workload = fio_workload(benchmark, **(given or {}))
    return context(workload, storage(size), tool_path="/usr/bin/fio", endpoint=Endpoint(path="/data/data"), **more)


MIX = cell("randrw", given={"block_size": 8192.0, "io_depth": 4.0, "read": 0.7}, threads=2, measure_s=2.0)


def changed(to: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Return the recording of the mix with a change in its JSON."""
    shutil.copytree(OUTPUTS / "mix", to)
    found = json.loads((to / "fio.json").read_text())
    change(found)
    (to / "fio.json").write_text(json.dumps(found))
    return to


def options(words: tuple[object, ...]) -> list[dict[str, str]]:
    """Return the options of the global section, followed by those of each job."""
    found: list[dict[str, str]] = []
    for word in words[1:]:
        name, _, value = str(word).removeprefix("--").partition("=")
        if name == "name":
            found.append({})
        found[-1][name] = value
    return found


# --- results -----------------------------------------------------------------------------------------------------


def test_the_bins_of_all_jobs_are_one_histogram_for_each_direction() -> None:
    measured = DRIVER.parse(MIX, recorded(OUTPUTS / "mix"))
    jobs = json.loads((OUTPUTS / "mix" / "fio.json").read_text())["jobs"]
    assert [each.operation for each in measured.operations] == ["read", "write"]
    for operation in measured.operations:
        parts = [job[operation.operation]["clat_ns"] for job in jobs]
        assert operation.histogram is not None
        assert operation.count == operation.histogram.count == sum(part["N"] for part in parts)
        assert operation.max_s == max(part["max"] for part in parts) / 1e9
        p99s = [part["percentile"]["99.000000"] / 1e9 for part in parts]
        assert min(p99s) * 0.98 <= percentile(operation.histogram, 99) <= max(p99s) * 1.02
    assert measured.total.count == sum(each.count for each in measured.operations)
    assert measured.total.seconds == pytest.approx(2.0, abs=0.05)
    assert measured.total.ops_per_s == measured.total.count / measured.total.seconds
    assert measured.tool_version == "fio 3.33"


def test_an_offered_load_says_that_a_wait_in_fio_is_not_counted() -> None:
    offered = cell(target=1000.0, threads=3)
    measured = DRIVER.parse(offered, recorded(OUTPUTS / "offered"))
    assert "a wait in fio" in dict(measured.properties)["latency"]
    assert measured.total.ops_per_s == pytest.approx(1000, rel=0.1)


def test_a_bin_is_named_by_the_middle_of_its_bucket() -> None:
    read = read_output(OUTPUTS / "mix" / "fio.json").jobs[0].read.clat_ns
    bins = read_bins(read.model_copy(update={"bins": {"0": 1, "127": 1, "129": 1, "1128": 1, "31360": 2}}))
    assert [(each.lo, each.hi) for each in bins] == [(0, 1), (127, 128), (128, 130), (1120, 1136), (31232, 31488)]
    for odd in ("128", "1129", "31361", "-1", "x", "99999999999"):
        with pytest.raises(NotFio, match="bin"):
            read_bins(read.model_copy(update={"bins": {odd: 1}}))


def test_the_last_second_is_left_out_when_not_all_jobs_wrote_it() -> None:
    measured = DRIVER.parse(MIX, recorded(OUTPUTS / "mix"))
    assert [each.start_s for each in measured.intervals] == [0.0]
    assert measured.intervals[0].count == pytest.approx(measured.total.ops_per_s, rel=0.25)


def test_fios_steady_state_and_latency_target_are_reported(tmp_path: Path) -> None:
    def change(found: dict[str, Any]) -> None:
        found["global options"] |= {"latency_target": "500us", "latency_percentile": "95"}
        for job in found["jobs"]:
            job["latency_depth"] = 3
            job["steadystate"] = {"ss": "iops_slope:0.3%", "duration": 5, "attained": 0, "criterion": "2.1%"}

    measured = DRIVER.parse(MIX, recorded(changed(tmp_path / "out", change)))
    properties = dict(measured.properties)
    assert properties["fio steadystate"] == "not attained: 2.1% over 5 s, iops_slope:0.3% asked"
    assert properties["fio latency_target"] == "a queue depth of 3, of at most 4, for 95 % of the I/Os within 500us"
    assert any("steady state was not attained" in warning for warning in measured.warnings)


def test_a_measurement_that_fio_ended_when_steady_may_be_shorter(tmp_path: Path) -> None:
    longer = cell("randrw", given={"block_size": 8192.0, "io_depth": 4.0, "read": 0.7}, measure_s=60.0)
    with pytest.raises(BadOutput, match=r"ended after 2\.0 s of 60 s"):
        DRIVER.parse(longer, recorded(OUTPUTS / "mix"))

    def change(found: dict[str, Any]) -> None:
        found["jobs"][0]["steadystate"] = {"ss": "iops_slope:3%", "duration": 2, "attained": 1, "criterion": "2.1%"}

    assert DRIVER.parse(longer, recorded(changed(tmp_path / "out", change))).total.seconds < 3


# --- what is refused ---------------------------------------------------------------------------------------------


def _read_of_first(change: dict[str, Any]) -> Callable[[dict[str, Any]], object]:
    return lambda found: found["jobs"][0]["read"].update(change)


def _latencies_of_first(change: dict[str, Any]) -> Callable[[dict[str, Any]], object]:
    return lambda found: found["jobs"][0]["read"]["clat_ns"].update(change)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_latencies_of_first({"N": 5}), "has 5 completion latencies, and its bins hold"),
        (_read_of_first({"total_ios": 5}), "submitted 5 I/Os"),
        (_read_of_first({"io_bytes": 4096}), "moved 4096 bytes"),
        (_read_of_first({"iops": 1.0}), "did 1 I/Os a second"),
        (_read_of_first({"bw_bytes": 1}), "did 1 bytes a second"),
        (_latencies_of_first({"max": 5_000_000_000}), "has a maximum of"),
        (_latencies_of_first({"min": 1}), "has a minimum of"),
        (_latencies_of_first({"mean": 1.0}), "has a mean of"),
        (_latencies_of_first({"percentile": {"50.000000": 10}}), "has a p50 of"),
        (lambda found: found["jobs"][0]["read"]["lat_ns"].update({"mean": 1e10}), "add up to"),
        (lambda found: found["jobs"].pop(), "1 jobs, and the cell has 2 threads"),
        (lambda found: found["global options"].update({"bs": "4096"}), "bs=4096, and the cell has bs=8192"),
        (lambda found: found["global options"].update({"rw": "randread"}), "rw=randread, and the cell has rw=randrw"),
        (lambda found: found["global options"].update({"iodepth": "16"}), "iodepth=16, and the cell has iodepth=4"),
        (lambda found: found["jobs"][1].update({"error": 5}), "ended with error 5"),
        (_latencies_of_first({"mean": float("nan")}), "is not whole"),
        (_latencies_of_first({"N": -1}), "is not whole"),
        (lambda found: found.update({"fio version": "other-1"}), "is not whole"),
        (lambda found: found.pop("jobs"), "is not whole"),
    ],
)
def test_a_changed_output_is_refused(change: Callable[[dict[str, Any]], object], why: str, tmp_path: Path) -> None:
    with pytest.raises(BadOutput, match=why):
        DRIVER.parse(MIX, recorded(changed(tmp_path / "out", change)))


@pytest.mark.parametrize("text", ["", "{", "[1]", "fio: failed to load engine\n", '{"jobs": []}'])
def test_what_is_no_whole_json_of_fio_is_refused(text: str, tmp_path: Path) -> None:
    shutil.copytree(OUTPUTS / "mix", tmp_path / "out")
    (tmp_path / "out" / "fio.json").write_text(text)
    with pytest.raises(BadOutput, match="not whole"):
        DRIVER.parse(MIX, recorded(tmp_path / "out"))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_cut_output_is_refused(share: float, tmp_path: Path) -> None:
    shutil.copytree(OUTPUTS / "mix", tmp_path / "out")
    text = (tmp_path / "out" / "fio.json").read_text()
    (tmp_path / "out" / "fio.json").write_text(text[: int(len(text) * share)])
    with pytest.raises(BadOutput, match="not whole"):
        DRIVER.parse(MIX, recorded(tmp_path / "out"))


def test_a_failed_fio_is_refused_with_its_complaint(tmp_path: Path) -> None:
    shutil.copytree(OUTPUTS / "mix", tmp_path / "out")
    (tmp_path / "out" / "stderr").write_text("fio: engine io_uring not loadable\nfio: failed to load engine\n")
    with pytest.raises(BadOutput, match="failed to load engine"):
        DRIVER.parse(MIX, recorded(tmp_path / "out", exit_code=1))


# --- commands ----------------------------------------------------------------------------------------------------


def test_the_measured_command_has_the_workload_and_the_times_of_the_experiment() -> None:
    asked = cell("randrw", given={"read": 0.7}, warm_up_s=1.5, measure_s=2.0, threads=2, repeat=3)
    common, *jobs = options(DRIVER.measure(asked).command.words)
    expected = {"rw": "randrw", "bs": "4096", "iodepth": "8", "ioengine": "libaio", "direct": "1", "rwmixread": "70"}
    assert expected.items() <= common.items()
    assert {"time_based": "1", "runtime": "2000ms", "ramp_time": "1500ms", "randseed": "3"}.items() <= common.items()
    assert jobs == [{"name": "job1", "size": str(64 << 20)}, {"name": "job2", "size": str(64 << 20)}]
    assert DRIVER.warm_up(asked) is None


def test_jobs_that_go_in_order_have_a_part_each() -> None:
    _, *jobs = options(DRIVER.measure(cell("read", threads=3)).command.words)
    part = (64 << 20) // 3 // 4096 * 4096
    assert [(job["size"], job["offset"]) for job in jobs] == [(str(part), str(part * number)) for number in range(3)]


def test_the_rates_of_all_jobs_add_up_to_the_offered_load() -> None:
    common, *jobs = options(DRIVER.measure(cell(target=1000.0, threads=3)).command.words)
    assert common["rate_process"] == "poisson"
    assert [job["rate_iops"] for job in jobs] == ["334,334", "333,333", "333,333"]
    _, *jobs = options(DRIVER.measure(cell("randrw", given={"read": 0.7}, target=1000.0, threads=3)).command.words)
    reads, writes = zip(*(map(int, job["rate_iops"].split(",")) for job in jobs), strict=True)
    assert (sum(reads), sum(writes)) == (700, 300)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (cell(target=2.0, threads=3), "less than one a second"),
        (cell(given={"io_engine": "psync"}), "psync does one I/O"),
        (cell("randrw", given={"read": 0.705}), "whole per cent"),
        (cell("read", threads=20_000), "do not fit"),
        (cell(phases=2), "can't measure phases"),
    ],
)
def test_what_fio_cannot_run_is_refused_before_it_starts(asked: CellContext, why: str) -> None:
    with pytest.raises(RunnerError, match=why):
        DRIVER.measure(asked)


def test_a_file_with_a_colon_is_one_file() -> None:
    asked = context(fio_workload("randread"), storage(), endpoint=Endpoint(path="/data/a:b"))
    assert options(DRIVER.measure(asked).command.words)[0]["filename"] == "/data/a\\:b"


def test_the_current_rate_is_read_from_the_last_status() -> None:
    text = (OUTPUTS / "mix" / "stdout").read_text()
    found = DRIVER.interim(MIX, text)
    assert found is not None
    assert found.ops_per_s == pytest.approx(12600 + 5223)
    assert DRIVER.interim(MIX, "Jobs: 1 (f=1)\r") is None
    one = DRIVER.interim(MIX, "Jobs: 1 (f=1): [r(1)][50.0%][r=1MiB/s][r=250 IOPS][eta 00m:02s]")
    assert one is not None
    assert one.ops_per_s == 250
