"""Tests power and several load generators from the command line, in real runs with commands as meters."""

from __future__ import annotations

import threading
import time

import pytest

from benchbrief.dsl.bench_error import ExitCode
from tests.support import wrapped
from tests.support.bench import Bench

SPEC = """
hardware box "Box" { hosts = local  power = @METER@ }
database rocks { engine = rocksdb  path = "@DATA@"  tool = @TOOL@ }
workload rr from db_bench.fillrandom { records = 2k }
experiment e { hardware = box  workloads = rr  threads = [1, 2]  measure = 3 s  probes = [power every 0.5 s] }
metric efficiency "Efficiency" in ops/s/W = throughput / power
metric per_op "Energy per operation" in J/op = power / throughput
expect min(efficiency over threads) > 0
report brief "Power" { template = technical_brief  disclosure = automatic }
profile without { power = none }
profile other { power = command("echo 80") }
"""
PLAIN = "experiment plain { hardware = box  workloads = rr  threads = 1  measure = 1 s  probes = [] }\n"
QUICK = SPEC.replace("threads = [1, 2]  measure = 3 s", "threads = 1  measure = 2 s")


@pytest.fixture(autouse=True)
def quick_loads(bench: Bench) -> None:
    bench.tool = f'db_bench("{wrapped.db_bench(bench.folder / "tool")}")'


HARDWARE = SPEC.splitlines()[1] + "\n"


def of_each(meters: dict[str, str], more: str = "") -> str:
    """Return a spec with a hardware group for each meter, and a cell of two seconds on each."""
    boxes = "".join(
        HARDWARE.replace("box", name).replace("Box", name.title()).replace("@METER@", meter)
        for name, meter in meters.items()
    )
    text = QUICK.replace(HARDWARE, boxes).replace("hardware = box", f"hardware = [{', '.join(meters)}]")
    return text.partition("profile")[0].partition("expect")[0] + more


def test_power_of_the_measured_window_is_that_of_what_the_meter_reads(bench: Bench) -> None:
    """Tests meters of outlets, of CPU packages and of a chassis that hosts share. Also tests a meter that fails at
    times, and a missing log."""
    flag = bench.folder / "flag"
    line = f"if rm {flag} 2>/dev/null; then echo lost >&2; else touch {flag}; echo 90; fi"
    meters = {
        "outlets": 'command("echo 125", boundary: wall)',
        "packages": 'command("echo 80", boundary: cpu)',
        "chassis": '[command("echo 40", shared: true, boundary: wall), '
        'command("echo 2.5", shared: true, boundary: wall)]',
        "shaky": f'command("{line}")',
        "late": f'csv("{bench.folder}/none.csv", wait: 0 s)',
    }
    figure = 'disclosure = automatic  figure "Efficiency" { bars = efficiency by threads, color hardware }'
    report = f'report brief "Power" {{ template = technical_brief  {figure} }}\n'
    bench.spec(of_each(meters, report))
    looked = bench("doctor", "brief.bench").text
    assert "125 W" in looked
    assert "80 W (CPU packages only)" in looked
    assert "its log is not there yet" in looked
    ended = bench("run", "brief.bench", "--no-report", timeout=100)
    assert ended.code == 0, ended.text
    asked = (
        "SELECT hardware, node, t_s, value, unit FROM samples JOIN cells USING (run_id, cell_id) "
        "WHERE measure = 'power'"
    )
    rows = bench("query", asked, "--json").json
    assert {(row["hardware"], row["node"], row["value"], row["unit"]) for row in rows} == {
        ("outlets", "local", 125.0, "W"),
        ("packages", "local", 80.0, "W"),
        ("chassis", "chassis", 42.5, "W"),
        ("shaky", "local", 90.0, "W"),
    }
    assert all(0 <= row["t_s"] <= 2.5 for row in rows)
    assert 1 <= sum(row["hardware"] == "outlets" for row in rows) <= 6
    notes = [note["text"] for note in bench("query", "SELECT text FROM notes WHERE text LIKE '%power%'", "--json").json]
    assert any("readings of power of local failed: lost" in text for text in notes), "a gap with its reason"
    assert any("there is no file" in text for text in notes)
    page = bench.page()
    assert "The power of Outlets and Chassis is that of the outlets, read from a command&#39;s output." in page
    assert page.count("The power of Packages is that of the CPU packages only") >= 2, "under the figure too"
    assert "The hosts of Chassis share what was read: its watts are counted once" in page


@pytest.mark.long
def test_a_meter_that_can_t_be_read_fails_its_cells_before_they_begin(bench: Bench) -> None:
    user = 'user: "bench", password: secret("HOME")'
    meters = {
        "by_command": 'command("echo no meter here >&2; exit 1")',
        "by_ipmi": f'ipmi("127.0.0.1:9", {user})',
        "by_redfish": f'redfish("https://127.0.0.1:9", {user})',
        "by_snmp": 'snmp("127.0.0.1:9", oid: "1.3.6.1.4.1.1", community: secret("HOME"))',
    }
    bench.spec(of_each(meters))
    ended = bench("run", "brief.bench", "--no-report", timeout=60)
    assert ended.code == ExitCode.CELL_FAILED, ended.text
    assert "1 of 4 cells fail for it, unless that is mended by their turn" in ended.err
    assert "no meter here" in ended.text
    for kind in ("ipmi", "redfish", "snmp"):
        assert f"power of local can't be read by {kind}" in ended.text
    for number in range(2, 6):
        assert f"brief.bench:{number}:" in ended.text, "the line of the meter"
    assert {status for status, _ in bench.verdicts().values()} == {"failed"}
    assert not any(run.joinpath("raw").exists() for run in bench.run_dirs())


@pytest.mark.long
def test_a_meter_that_is_dead_fails_no_cell_that_does_not_need_it_and_may_be_mended(bench: Bench) -> None:
    meter = bench.folder / "meter"
    bench.spec(QUICK + PLAIN, METER=f'command("cat {meter}")')
    ended = bench("run", "brief.bench", "--no-report", timeout=100)
    assert ended.code == ExitCode.CELL_FAILED, ended.text
    assert "1 of 2 cells fail for it" in ended.err
    assert bench.verdicts() == {"plain/box/rr/threads=1/r1": ("ok", 1), "e/box/rr/threads=1/r1": ("failed", 1)}
    meter.write_text("90\n")
    resumed = bench("resume", bench.run_dir.name, "--no-report", timeout=100)
    assert resumed.code == ExitCode.DONE
    assert "fail for it" not in resumed.text
    assert {status for status, _ in bench.verdicts().values()} == {"ok"}


@pytest.mark.long
def test_a_dead_meter_of_several_variants_is_reported_once_for_the_cells_of_all(bench: Bench) -> None:
    bench.spec(
        QUICK.replace("@METER@", '@METER@  variant a { kind = "a" }  variant b { kind = "b" }').replace(
            "hardware = box", "hardware = box.variants"
        ),
        METER='command("exit 4")',
    )
    ended = bench("run", "brief.bench", "--no-report", timeout=60)
    printed = [line for line in ended.text.splitlines() if "fail for it" in line]
    assert len(printed) == 2, "as it was found, and in the end"
    assert all(": 2 of 2 cells fail for it" in line for line in printed)


def test_a_meter_whose_password_is_not_set_is_reported_before_anything_is_begun(bench: Bench) -> None:
    bench.spec(SPEC, METER='ipmi("127.0.0.1:9", user: "bench", password: secret("NOT_SET_ANYWHERE"))')
    ended = bench("run", "brief.bench", "--no-report")
    assert ended.code == ExitCode.USAGE, ended.text
    assert "needs the secret NOT_SET_ANYWHERE, which is not set" in ended.err
    assert "brief.bench:2:" in ended.err, "the line of the meter"
    assert bench.run_dirs() == []


@pytest.mark.long
def test_the_log_of_a_meter_is_read_after_each_cell_and_kept_for_rebuild(bench: Bench) -> None:
    """The log grows during the run by a row with a timestamp each second."""
    log = bench.folder / "meter.csv"
    log.write_text("time,watts\n")
    over = threading.Event()

    def write() -> None:
        with log.open("a") as file:
            while not over.wait(0.3):
                file.write(f"{time.time():.3f},77\n")
                file.flush()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        bench.spec(QUICK, METER=f'csv("{log}", boundary: wall, wait: 20 s)')
        ended = bench("run", "brief.bench", "--no-report", timeout=100)
    finally:
        over.set()
        thread.join()
    assert ended.code == 0, ended.text
    asked = "SELECT cell_id, count(*) AS n, avg(value) AS watts FROM samples WHERE measure = 'power' GROUP BY ALL"
    rows = bench("query", asked, "--json").json
    assert [row["watts"] for row in rows] == [77.0]
    assert all(4 <= row["n"] <= 12 for row in rows)
    log.unlink()
    assert bench("rebuild", bench.run_dir.name).code == 0
    assert sorted(map(str, bench("query", asked, "--json").json)) == sorted(map(str, rows))


def test_the_doctor_reads_the_meter_of_cpu_packages(bench: Bench) -> None:
    bench.spec(SPEC, METER="rapl")
    assert "power by rapl" in bench("doctor", "brief.bench").text


@pytest.mark.long
def test_a_profile_takes_the_meters_place_or_leaves_it_out(bench: Bench) -> None:
    bench.spec(QUICK, METER='command("exit 1")')
    ended = bench("run", "brief.bench", "--profile", "other", "--quiet", "--no-report", timeout=100)
    assert ended.code == 0, ended.text
    ended = bench("run", "brief.bench", "--profile", "without", "--fresh", "--no-report", timeout=100)
    assert ended.code == 3, "what is expected of power can't be known without it, and so is missing"
    assert "can't be known" in ended.text, ended.text
