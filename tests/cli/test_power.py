"""Power and several load generators from the command line: real runs, with commands for meters."""

from __future__ import annotations

import pytest

from benchbrief.terminal import ExitCode
from tests.support.bench import Bench

SPEC = """
hardware box "Box" { hosts = local  power = @METER@ }
database rocks { engine = rocksdb  path = "@DATA@" }
workload rr from db_bench.readrandom { records = 20k }
experiment e { hardware = box  workloads = rr  threads = [1, 2]  measure = 3 s  probes = [power every 0.5 s] }
metric efficiency "Efficiency" in ops/s/W = throughput / power
metric per_op "Energy per operation" in J/op = power / throughput
expect min(efficiency over threads) > 0
report brief "Power" { template = technical_brief  disclosure = automatic }
profile without { power = none }
profile other { power = command("echo 80") }
"""


def test_power_of_the_measured_window_goes_into_metrics(bench: Bench) -> None:
    bench.spec(SPEC, METER='command("echo 125", boundary: wall)')
    ended = bench("run", "brief.bench", timeout=100)
    assert ended.code == 0, ended.text
    asked = bench("query", "SELECT cell_id, node, t_s, value, unit FROM samples WHERE measure = 'power'", "--json")
    assert asked.code == 0, asked.text
    rows = asked.json
    assert {(row["node"], row["value"], row["unit"]) for row in rows} == {("local", 125.0, "W")}
    assert len({row["cell_id"] for row in rows}) == 2
    assert all(0 <= row["t_s"] <= 3.5 for row in rows)
    assert 8 <= len(rows) <= 16
    (brief,) = (bench.run_dir / "reports").glob("*.html")
    assert "The power of Box is that of its outlets, read by command." in brief.read_text(encoding="utf-8")


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
        ('ipmi("127.0.0.1:9", user: "bench", password: secret("NOT_SET_ANYWHERE"))', "secret NOT_SET_ANYWHERE"),
        ('redfish("https://127.0.0.1:9", user: "bench", password: secret("NOT_SET_ANYWHERE"))', "redfish"),
    ],
    ids=["command", "ipmi", "redfish"],
)
def test_a_meter_that_can_t_be_read_ends_the_run_before_its_first_cell(meter: str, why: str, bench: Bench) -> None:
    bench.spec(SPEC, METER=meter)
    ended = bench("run", "brief.bench", timeout=60)
    assert ended.code in (ExitCode.INTERRUPTED, ExitCode.USAGE), ended.text
    assert why in ended.text
    assert not any(run.joinpath("raw").exists() for run in bench.run_dirs())


def test_the_doctor_reads_every_meter(bench: Bench) -> None:
    bench.spec(SPEC, METER='command("echo 125")')
    assert "125 W" in bench("doctor", "brief.bench").text
    bench.spec(SPEC, METER="rapl")
    told = bench("doctor", "brief.bench").text
    assert "power by rapl" in told


def test_a_profile_takes_the_meters_place_or_leaves_it_out(bench: Bench) -> None:
    bench.spec(SPEC, METER='command("exit 1")')
    ended = bench("run", "brief.bench", "--profile", "other", "--quiet", timeout=100)
    assert ended.code == 0, ended.text
    ended = bench("run", "brief.bench", "--profile", "without", "--fresh", timeout=100)
    assert ended.code != 0, "what is expected of power can't be known without it"
    assert "can't be known" in ended.text or "unknown" in ended.text, ended.text
