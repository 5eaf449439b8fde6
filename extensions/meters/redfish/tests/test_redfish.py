"""Tests power by Redfish over real TLS, from sushy-static and from a service that requires a login."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from benchbrief.model.plan import PowerMeter
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.meters.power_probe import Power, try_meter
from benchbrief.runners.seams import Node, Transport
from tests.support import cells, redfish
from tests.support.metering import PROBE, all_output, arguments, meter, nodes, sampled, secret
from tests.support.redfish import PASSWORD, USER, Certificate, by_power, link, tree
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BMC_PASSWORD", PASSWORD)


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return redfish.certificate(tmp_path_factory.mktemp("certificate"))


def by_redfish(address: str, chassis: str = "", **options: Any) -> PowerMeter:
    parts = [chassis] if chassis else []
    return meter("redfish", [address], parts, user=USER, password=secret("BMC_PASSWORD"), **options)


def node(address: str, chassis: str = "", **options: Any) -> Node:
    return cells.node(by_redfish(address, chassis, **options))


ENVIRONMENT = {
    "Chassis": {"Members": [link("Chassis/1")]},
    "Chassis/1": {"EnvironmentMetrics": link("Chassis/1/EnvironmentMetrics"), "Power": link("Chassis/1/Power")},
    "Chassis/1/EnvironmentMetrics": {"PowerWatts": {"Reading": 312.5}},
    "Chassis/1/Power": {"PowerControl": [{"PowerConsumedWatts": 1}]},
}
SUPPLIES = {
    "Chassis": {"Members": [link("Chassis/1")]},
    "Chassis/1": {"PowerSubsystem": link("Chassis/1/PowerSubsystem")},
    "Chassis/1/PowerSubsystem": {"PowerSupplies": link("Chassis/1/PowerSubsystem/PowerSupplies")},
    "Chassis/1/PowerSubsystem/PowerSupplies": {"Members": [link("supply/1"), link("supply/2")]},
    "supply/1": {"Metrics": link("supply/1/Metrics")},
    "supply/2": {"Metrics": link("supply/2/Metrics")},
    "supply/1/Metrics": {"InputPowerWatts": {"Reading": 100}},
    "supply/2/Metrics": {"InputPowerWatts": {"Reading": 50.5}},
}


@pytest.mark.long
def test_the_power_of_a_chassis_is_found_wherever_it_stands(here: Transport, tmp_path: Path) -> None:
    """sushy-static serves the folder in its current state, so changing the folder changes the service."""
    folder = tree(tmp_path / "tree", by_power(214))
    with redfish.served_by_sushy(folder) as address:
        assert try_meter(node(address), here) == 214
        tree(folder, ENVIRONMENT)
        assert try_meter(node(address), here) == 312.5
        tree(folder, SUPPLIES)
        assert try_meter(node(address), here) == 150.5


def test_a_bmc_is_sampled_over_one_connection_and_its_password_stays_hidden(
    here: Transport, tmp_path: Path, signed: Certificate
) -> None:
    folder = tree(tmp_path / "tree", by_power(214))
    with redfish.bmc(folder, signed) as found:
        node_ = node(found.address, ca_file=str(signed.file))
        running = here.start(Power().job(PROBE, node_))
        until(lambda: running.tail().count("\n.") >= 2, within_s=20)
        assert PASSWORD.encode() not in arguments()
        running.stop()
        running.collect(tmp_path / "first")
        samples, output = sampled(here, node_, tmp_path / "kept", readings=4)
        connections = {line.split()[-1] for line in found.requests}
    assert {(sample.measure, sample.node, sample.value, sample.unit) for sample in samples} == {
        ("power", "local", 214.0, "W")
    }
    assert PASSWORD.encode() not in all_output(output)
    assert len(connections) == 2, "one for each job"


def test_a_chassis_that_says_null_for_a_while_leaves_a_gap_and_no_zero(here: Transport, tmp_path: Path) -> None:
    folder = tree(tmp_path / "tree", by_power(100))
    with redfish.bmc(folder) as found:
        running = here.start(Power().job(PROBE, node(found.address)))
        started = time.time()
        until(lambda: running.tail(20_000).count("100.000000") >= 3, within_s=20)
        tree(folder, by_power(None))
        until(lambda: "no number of watts" in running.tail(20_000))
        tree(folder, by_power(300))
        until(lambda: running.tail(20_000).count("300.000000") >= 3)
        ended = time.time()
        running.stop()
        output = running.collect(tmp_path / "kept")
    samples = Power().parse(PROBE, output, (started, ended))
    assert {sample.value for sample in samples} == {100.0, 300.0}
    assert "readings of power of local failed" in Power().gaps(PROBE, output, (started, ended))


@pytest.mark.long
def test_a_session_is_begun_once_and_ended_with_the_sampler(here: Transport, tmp_path: Path) -> None:
    """The service allows two sessions. If each job left one behind, the third job would be refused."""
    folder = tree(tmp_path / "tree", by_power(214))
    with redfish.bmc(folder) as found:
        for attempt in range(3):
            samples, _ = sampled(here, node(found.address, auth="session"), tmp_path / f"{attempt}")
            assert samples[0].value == 214
        asked = [line.split()[:3] for line in found.requests]
    assert sum(method == "POST" for method, *_ in asked) == 3
    assert [how for method, _, how in asked if method == "DELETE"] == ["session"] * 3


def test_a_certificate_is_trusted_by_name_of_its_authority_or_its_fingerprint_only(
    here: Transport, tmp_path: Path, signed: Certificate
) -> None:
    with redfish.bmc(tree(tmp_path / "tree", by_power(214)), signed) as found:
        with pytest.raises(RunnerError, match=r"certificate is not trusted.*fingerprint.*ca_file"):
            try_meter(node(found.address), here)
        with pytest.raises(RunnerError, match="another fingerprint"):
            try_meter(node(found.address, fingerprint="ab" * 32), here)
        seen = found.requests
        assert seen == [], "nobody was sent the password"
        assert try_meter(node(found.address, fingerprint=f"{'ab' * 32} {signed.fingerprint}"), here) == 214
        assert try_meter(node(found.address, ca_file=str(signed.file)), here) == 214
        assert try_meter(node(found.address, verify=False), here) == 214


def test_what_a_bmc_refuses_is_reported_with_the_line_of_the_meter(
    here: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree(tmp_path / "tree", by_power(214, "Server", "CPU"))
    with redfish.bmc(folder) as found:
        for why, wrong in (
            (r"has no chassis `2`: it has `1`", node(found.address, "2")),
            (r"2 power controls, say which by `control:`: `Server`, `CPU`", node(found.address)),
            (r"no power control named `GPU`: it has `Server`, `CPU`", node(found.address, control="GPU")),
        ):
            with pytest.raises(RunnerError, match=rf"power of local can't be read by redfish: .*{why}") as caught:
                try_meter(wrong, here)
            assert "brief.bench:1:1" in caught.value.hint
        assert try_meter(node(found.address, "1", control="Server"), here) == 214
        tree(folder, {"Chassis": {"Members": [link("Chassis/1"), link("Chassis/2")]}})
        with pytest.raises(RunnerError, match=r"2 chassis, say which by `chassis:`: `1`, `2`"):
            try_meter(node(found.address), here)
        monkeypatch.setenv("BMC_PASSWORD", "wrong-one")
        for auth in ("basic", "session"):
            with pytest.raises(RunnerError, match="refuses the user or the password") as caught:
                try_meter(node(found.address, auth=auth), here)
            assert "wrong-one" not in str(caught.value)
    with pytest.raises(RunnerError, match="refused"):
        try_meter(node(found.address), here)


@pytest.mark.long
def test_the_chassis_of_an_enclosure_are_each_a_host_or_together_the_hardware(here: Transport, tmp_path: Path) -> None:
    resources: dict[str, Any] = {"Chassis": {"Members": [link("Chassis/Node1"), link("Chassis/Node2")]}}
    for number, watts in ((1, 110), (2, 120)):
        resources[f"Chassis/Node{number}"] = {"Power": link(f"Chassis/Node{number}/Power")}
        resources[f"Chassis/Node{number}/Power"] = {"PowerControl": [{"PowerConsumedWatts": watts}]}
    with redfish.bmc(tree(tmp_path / "tree", resources)) as found:
        login: dict[str, Any] = {"user": USER, "password": secret("BMC_PASSWORD")}
        each = meter("redfish", [found.address] * 2, ["Node1", "Node2"], **login)
        assert [try_meter(one, here) for one in nodes(2, each)] == [110, 120]
        together = meter("redfish", [found.address] * 2, ["Node1", "Node2"], shared=True, **login)
        assert try_meter(nodes(4, together)[0], here) == 230
