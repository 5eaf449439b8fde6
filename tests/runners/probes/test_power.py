"""Tests the power probe with a BMC that ipmitool reads, and with readings of each kind of meter."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from benchbrief.model.plan import Reference
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.meters.power_probe import Power, try_meter
from benchbrief.runners.seams import Node, Transport
from tests.support import cells
from tests.support.bmc import PASSWORD, USER, bmc
from tests.support.longer import longer
from tests.support.power_readings import PROBE, meter, output, printed, sampled
from tests.support.waiting import until

# --- by a BMC ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("common", ["212", *longer("Watts", "1", "power", ".")])
def test_a_password_that_is_a_common_word_does_not_change_what_is_read(
    here: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, common: str
) -> None:
    monkeypatch.setenv("BMC_PASSWORD", common)
    with bmc(tmp_path, "212") as found:
        node = by_ipmi(found.address)
        assert try_meter(node, here) == 212
        samples, kept = sampled(here, node, tmp_path / "kept", 3)
        assert {sample.value for sample in samples} == {212.0}
    other = [line for line in kept.stdout.read_text().splitlines() if "Average" in line]
    assert other
    assert not any(common in line.replace("***", "") for line in other), "what is not read of it is masked"


def by_ipmi(address: str) -> Node:
    return cells.node(meter("ipmi", address, user=USER, password=Reference(kind="secret", name="BMC_PASSWORD")))


@pytest.mark.usefixtures("password")
def test_a_bmc_is_asked_for_its_watts(here: Transport, tmp_path: Path) -> None:
    with bmc(tmp_path, "212") as found:
        node = by_ipmi(found.address)
        assert try_meter(node, here) == 212
        samples, kept = sampled(here, node, tmp_path / "kept")
    assert len(samples) >= 4
    assert {(sample.measure, sample.node, sample.value, sample.unit) for sample in samples} == {
        ("power", "local", 212.0, "W")
    }
    everything = b"".join(path.read_bytes() for path in kept.directory.iterdir())
    assert PASSWORD.encode() not in everything


@pytest.mark.usefixtures("password")
def test_the_password_is_no_argument_of_any_process(here: Transport, tmp_path: Path) -> None:
    with bmc(tmp_path, "212") as found:
        running = here.start(Power().job(PROBE, by_ipmi(found.address)))
        seen: set[bytes] = set()

        def look() -> bool:
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.add(path.read_bytes())
                except OSError:  # it has ended
                    continue
            return any(b"dcmi" in line and b"-E" in line for line in seen)

        until(look)
        running.stop()
        running.collect(tmp_path / "kept")
    assert not any(PASSWORD.encode() in line for line in seen)


@pytest.mark.long
@pytest.mark.usefixtures("password")
def test_a_bmc_that_is_not_metering_for_a_while_leaves_a_gap_and_no_zero(here: Transport, tmp_path: Path) -> None:
    with bmc(tmp_path, "100") as found:
        running = here.start(Power().job(PROBE, by_ipmi(found.address)))
        started = time.time()
        until(lambda: running.tail(20_000).count("100 Watts") > 4)
        found.says("off")
        until(lambda: running.tail(20_000).count("deactivated") > 1)
        found.says("300")
        until(lambda: running.tail(20_000).count("300 Watts") > 4)
        ended = time.time()
        running.stop()
        samples = Power().parse(PROBE, running.collect(tmp_path / "kept"), (started, ended))
    values = [sample.value for sample in samples]
    assert set(values) == {100.0, 300.0}
    assert values == sorted(values)


@pytest.mark.long
@pytest.mark.usefixtures("password")
def test_a_bmc_that_refuses_is_reported_before_anything_is_measured(
    here: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bmc(tmp_path, "off") as found:
        node = by_ipmi(found.address)
        with pytest.raises(RunnerError, match=r"power of local can't be read by ipmi.*deactivated"):
            try_meter(node, here)
        found.says("absent")
        with pytest.raises(RunnerError, match="power of local can't be read by ipmi"):
            try_meter(node, here)
        found.says("200")
        monkeypatch.setenv("BMC_PASSWORD", "wrong")
        with pytest.raises(RunnerError, match="Unable to establish") as caught:
            try_meter(node, here)
        assert "wrong" not in str(caught.value)


def test_a_secret_that_is_not_set_is_named(here: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BMC_PASSWORD", raising=False)
    with pytest.raises(RunnerError, match=r"power meter at brief.bench:1:1 needs the secret BMC_PASSWORD"):
        try_meter(by_ipmi("127.0.0.1:9"), here)


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
