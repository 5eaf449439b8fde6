"""Tests the power probe: which meters it reads, when it reads them, and which readings count."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.meters.power_probe import Power, try_meter
from benchbrief.runners.seams import Transport
from tests.support import cells
from tests.support.metering import PROBE, meter, nodes, sampled
from tests.support.probe_readings import output, printed


def test_a_host_is_read_by_the_meters_of_its_hardware_and_the_output_names_their_kind(
    here: Transport, tmp_path: Path
) -> None:
    supplies = [meter("command", command=f'[ "$BENCH_HOST" = 127.0.0.1 ] && echo {watts}') for watts in (40, 2)]
    for node in nodes(2, *supplies):
        samples, kept = sampled(here, node, tmp_path / node.host.id)
        assert {(sample.measure, sample.value, sample.unit) for sample in samples} == {("power", 42.0, "W")}
        assert kept.stdout.read_text().startswith("meter command\n")
    with pytest.raises(RunnerError, match="does not say how its power is read"):
        Power().job(PROBE, cells.node())
    with pytest.raises(BadOutput, match="the power probe on node1 does not say how it reads"):
        Power().parse(PROBE, output(tmp_path, printed("meter of another", (1.0, "200"))), (0.0, 2.0))


def test_a_meter_is_read_while_the_load_runs_or_its_own_log_after_it(here: Transport, tmp_path: Path) -> None:
    meanwhile = cells.node(meter("command", command="echo 42"))
    (tmp_path / "log.csv").write_text("time,watts\n" + "".join(f"{1000 + at},{200 + at}\n" for at in range(5)))
    after = cells.node(meter("csv", [str(tmp_path / "log.csv")], wait=0.0))
    kept = cells.run_job(here, Power().job_after(PROBE, after, (1001.0, 1003.0)), tmp_path / "kept")
    found = Power().parse(PROBE, kept, (1001.0, 1003.0))
    assert [(sample.time, sample.value) for sample in found] == [(0.0, 201.0), (1.0, 202.0), (2.0, 203.0)]
    with pytest.raises(RunnerError, match="`command` keeps no log"):
        Power().job_after(PROBE, meanwhile, (1001.0, 1003.0))
    with pytest.raises(RunnerError, match="`csv` has only a log"):
        Power().job(PROBE, after)
    assert [try_meter(node, here) for node in (meanwhile, after)] == [42.0, 204.0]


def test_only_failed_readings_are_no_measurement(tmp_path: Path) -> None:
    text = printed("meter command", *((float(at), "broken") for at in range(10)))
    with pytest.raises(BadOutput, match=r"none of 7 readings of power of node1 is a number of watts: out of order"):
        Power().parse(PROBE, output(tmp_path, text, "out of order\n"), (1.0, 7.0))


def test_only_readings_inside_the_window_count(tmp_path: Path) -> None:
    text = printed("meter command", *((float(at), f"{100 + at}") for at in range(10)))
    samples = Power().parse(PROBE, output(tmp_path, text), (2.5, 8.5))
    assert [(sample.time, sample.value) for sample in samples] == [
        (0.5, 103.0), (1.5, 104.0), (2.5, 105.0), (3.5, 106.0), (4.5, 107.0), (5.5, 108.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("header", "good", "bad"),
    [
        (
            "meter ipmi",
            "Instantaneous power reading:    200 Watts\nPower reading state is:   activated",
            "Instantaneous power reading:   -200 Watts\nPower reading state is:   activated",
        ),
        ("meter ipmi", "Sensor Reading  : 200 (+/- 0) Watts", "Sensor Reading  : -200 (+/- 0) Watts"),
        ("meter snmp", "x 0.1\n2000", "x 0.1\n-2000"),
        ("meter command", "200", "-200 W"),
        ("meter redfish", "@ 0\n100.0\n@ 1\n100.0", "@ 0\n400.0\n@ 1\n-200.0"),
        ("meter csv", "200.000000", "-200.000000"),
    ],
)
def test_power_below_zero_is_a_gap_with_its_reason_and_is_never_taken_for_more_than_zero(
    header: str, good: str, bad: str, tmp_path: Path
) -> None:
    text = f"{header}\n= 100.0\n{good}\n.\n= 101.0\n{bad}\n.\n= 102.0\n{good}\n.\n"
    kept = output(tmp_path, text)
    samples = Power().parse(PROBE, kept, (100.0, 103.0))
    assert [(sample.time, sample.value) for sample in samples] == [(0.0, 200.0), (2.0, 200.0)]
    gaps = Power().gaps(PROBE, kept, (100.0, 103.0))
    assert gaps == "1 of 3 readings of power of node1 failed: it says -200 W, and no power is below zero"
    with pytest.raises(BadOutput, match=r"none of 1 readings .* is a number of watts: it says -200 W"):
        Power().parse(PROBE, kept, (100.5, 101.5))
    assert Power().now(PROBE, text[: text.rindex("= 102")]) == {}
