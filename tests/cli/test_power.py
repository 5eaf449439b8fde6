"""Power and several load generators from the command line: real runs, with commands for meters."""

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


def test_power_of_the_measured_window_goes_into_metrics(bench: Bench) -> None:
    bench.spec(SPEC, METER='command("echo 125", boundary: wall)')
    ended = bench("run", "brief.bench", "--no-report", timeout=100)
    assert ended.code == 0, ended.text
    asked = bench("query", "SELECT cell_id, node, t_s, value, unit FROM samples WHERE measure = 'power'", "--json")
    assert asked.code == 0, asked.text
    rows = asked.json
    assert {(row["node"], row["value"], row["unit"]) for row in rows} == {("local", 125.0, "W")}
    assert len({row["cell_id"] for row in rows}) == 2
    assert all(0 <= row["t_s"] <= 3.5 for row in rows)
    assert 8 <= len(rows) <= 16
    assert "The power of Box is that of its outlets, read by command." in bench.page()


def test_a_reading_that_fails_is_a_gap_with_its_reason(bench: Bench) -> None:
    """Every second reading of the meter fails."""
    flag = bench.folder / "flag"
    line = f"if rm {flag} 2>/dev/null; then echo lost >&2; else touch {flag}; echo 90; fi"
    bench.spec(SPEC, METER=f'command("{line}")')
    ended = bench("run", "brief.bench", "--no-report", timeout=100)
    assert ended.code == 0, ended.text
    values = bench("query", "SELECT DISTINCT value FROM samples WHERE measure = 'power'", "--json").json
    assert values == [{"value": 90.0}]
    notes = bench("query", "SELECT cell_id, text FROM notes WHERE text LIKE '%readings of power%'", "--json").json
    assert len(notes) == 2
    assert all("readings of power of local failed: lost" in note["text"] for note in notes)


@pytest.mark.parametrize(
    ("meter", "why"),
    [
        ('command("echo no meter here >&2; exit 1")', "no meter here"),
        (
            'ipmi("127.0.0.1:9", user: "bench", password: secret("HOME"))',
            "power of local can't be read by ipmi",
        ),
        (
            'redfish("https://127.0.0.1:9", user: "bench", password: secret("HOME"))',
            "power of local can't be read by redfish",
        ),
        (
            'snmp("127.0.0.1:9", oid: "1.3.6.1.4.1.1", community: secret("HOME"))',
            "power of local can't be read by snmp",
        ),
    ],
    ids=["command", "ipmi", "redfish", "snmp"],
)
def test_a_meter_that_can_t_be_read_fails_its_cells_before_they_begin(meter: str, why: str, bench: Bench) -> None:
    bench.spec(SPEC, METER=meter)
    ended = bench("run", "brief.bench", "--no-report", timeout=60)
    assert ended.code == ExitCode.CELL_FAILED, ended.text
    assert "2 of 2 cells fail for it, unless that is mended by their turn" in ended.err
    assert why in ended.text
    assert "brief.bench:2:" in ended.text, "the line of the meter"
    assert {status for status, _ in bench.verdicts().values()} == {"failed"}
    assert not any(run.joinpath("raw").exists() for run in bench.run_dirs())


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


def test_watts_of_cpu_packages_are_marked_as_such_wherever_they_are_shown(bench: Bench) -> None:
    figure = 'disclosure = automatic  figure "Efficiency" { bars = efficiency by threads }'
    bench.spec(QUICK.replace("disclosure = automatic", figure), METER='command("echo 80", boundary: cpu)')
    assert "80 W (CPU packages only)" in bench("doctor", "brief.bench").text
    ended = bench("run", "brief.bench", "--no-report", timeout=100)
    assert ended.code == 0, ended.text
    printed = "The power of Box is that of its CPU packages only"
    assert bench.page().count(printed) >= 2, "under the figure, and in the disclosure"


def test_a_meter_that_hosts_share_is_counted_once_for_the_hardware(bench: Bench) -> None:
    meters = '[command("echo 40", shared: true, boundary: wall), command("echo 2.5", shared: true, boundary: wall)]'
    bench.spec(QUICK, METER=meters)
    ended = bench("run", "brief.bench", "--no-report", timeout=100)
    assert ended.code == 0, ended.text
    rows = bench("query", "SELECT DISTINCT node, value FROM samples WHERE measure = 'power'", "--json").json
    assert rows == [{"node": "box", "value": 42.5}]
    assert "The hosts of Box share what was read: its watts are counted once" in bench.page()


def test_the_log_of_a_meter_is_read_after_each_cell_and_kept_for_rebuild(bench: Bench) -> None:
    """The log goes on while the run does, with a row a second that says what the time is."""
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


def test_a_log_that_never_comes_leaves_the_watts_missing_and_says_so(bench: Bench) -> None:
    bench.spec(QUICK, METER=f'csv("{bench.folder}/none.csv", wait: 0 s)')
    assert "its log is not there yet" in bench("doctor", "brief.bench").text
    bench("run", "brief.bench", "--no-report", timeout=100)
    notes = bench("query", "SELECT text FROM notes WHERE text LIKE '%power%'", "--json").json
    assert any("there is no file" in note["text"] for note in notes)
    assert bench("query", "SELECT count(*) AS n FROM samples WHERE measure = 'power'", "--json").json == [{"n": 0}]


def test_the_doctor_reads_every_meter(bench: Bench) -> None:
    bench.spec(SPEC, METER='command("echo 125")')
    assert "125 W" in bench("doctor", "brief.bench").text
    bench.spec(SPEC, METER="rapl")
    printed = bench("doctor", "brief.bench").text
    assert "power by rapl" in printed


def test_a_profile_takes_the_meters_place_or_leaves_it_out(bench: Bench) -> None:
    bench.spec(QUICK, METER='command("exit 1")')
    ended = bench("run", "brief.bench", "--profile", "other", "--quiet", "--no-report", timeout=100)
    assert ended.code == 0, ended.text
    ended = bench("run", "brief.bench", "--profile", "without", "--fresh", "--no-report", timeout=100)
    assert ended.code == 3, "what is expected of power can't be known without it, and so is missing"
    assert "can't be known" in ended.text, ended.text
