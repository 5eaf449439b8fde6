"""Tests power by IPMI sensors. A real ipmitool reads them over RMCP+ from OpenIPMI's simulator, which is a BMC without
DCMI."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbrief.model.plan import PowerMeter
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.meters.power_probe import try_meter
from benchbrief.runners.seams import Transport
from tests.support import cells
from tests.support.bmc import USER, Bmc, bmc_with_sensors
from tests.support.metering import meter, nodes, sampled, secret

pytestmark = pytest.mark.usefixtures("password")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bmc]:
    sensors = {"PSU1 Input": 212, "PSU2 Input": 100}
    with bmc_with_sensors(tmp_path_factory.mktemp("bmc"), sensors, celsius=("Inlet Temp",)) as running:
        yield running


def by_sensor(bmc: Bmc, *sensors: str, shared: bool = False) -> PowerMeter:
    login: dict[str, Any] = {"user": USER, "password": secret("BMC_PASSWORD")}
    return meter("ipmi", [bmc.address] * max(1, len(sensors)), sensors, shared=shared, cipher=3.0, **login)


def test_a_sensor_of_a_bmc_is_sampled(found: Bmc, here: Transport, tmp_path: Path) -> None:
    samples, _ = sampled(here, cells.node(by_sensor(found, "PSU1 Input")), tmp_path / "kept")
    assert {(sample.node, sample.value, sample.unit) for sample in samples} == {("local", 212.0, "W")}


def test_the_supplies_of_a_host_are_added_up(found: Bmc, here: Transport) -> None:
    node = cells.node(by_sensor(found, "PSU1 Input"), by_sensor(found, "PSU2 Input"))
    assert try_meter(node, here) == 312


def test_the_sensors_of_an_enclosure_are_those_of_its_nodes_or_of_all_together(found: Bmc, here: Transport) -> None:
    each = by_sensor(found, "PSU1 Input", "PSU2 Input")
    assert [try_meter(node, here) for node in nodes(2, each)] == [212, 100]
    together = by_sensor(found, "PSU1 Input", "PSU2 Input", shared=True)
    assert try_meter(nodes(4, together)[0], here) == 312


@pytest.mark.parametrize(
    ("sensor", "why", "hint"),
    [
        ("PSU3 Input", "not found", "`ipmitool sdr elist` shows the sensors"),
        ("Inlet Temp", "the sensor is in degrees C, not in watts", "brief.bench:1:1"),
        ("", "DCMI request failed", "it has no DCMI: read a sensor of it"),
    ],
)
def test_what_a_bmc_lacks_is_reported(sensor: str, why: str, hint: str, found: Bmc, here: Transport) -> None:
    with pytest.raises(RunnerError, match=f"power of local can't be read by ipmi: .*{why}") as caught:
        try_meter(cells.node(by_sensor(found, *filter(None, [sensor]))), here)
    assert hint in caught.value.hint


def test_a_host_without_a_bmc_of_its_own_says_so(here: Transport) -> None:
    if any(Path(f"/dev/{name}").exists() for name in ("ipmi0", "ipmi/0", "ipmidev/0")):
        pytest.skip("this machine has a BMC")
    with pytest.raises(RunnerError, match=r"can't be read by ipmi: Could not open device") as caught:
        try_meter(cells.node(meter("ipmi", on="node")), here)
    assert "it takes root" in caught.value.hint
