"""Tests power by DCMI. A real ipmitool reads it over RMCP+ from a BMC that pyghmi simulates."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from benchbrief.runners.errors import RunnerError
from benchbrief.runners.meters.power_probe import Power, try_meter
from benchbrief.runners.seams import Node, Transport
from tests.support import cells
from tests.support.bmc import PASSWORD, USER, bmc
from tests.support.longer import longer
from tests.support.metering import PROBE, meter, sampled, secret
from tests.support.waiting import until


def by_ipmi(address: str) -> Node:
    return cells.node(meter("ipmi", [address], user=USER, password=secret("BMC_PASSWORD")))


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


@pytest.mark.usefixtures("password")
def test_a_bmc_is_asked_for_its_watts(here: Transport, tmp_path: Path) -> None:
    with bmc(tmp_path, "212") as found:
        node = by_ipmi(found.address)
        assert try_meter(node, here) == 212
        samples, kept = sampled(here, node, tmp_path / "kept", readings=6)
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
