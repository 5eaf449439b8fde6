"""Tests power by SNMP, with a real snmpget that queries a real agent (snmpd) by SNMPv2c and SNMPv3."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbrief.model.plan import PowerMeter
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.meters.power_probe import Power, try_meter
from benchbrief.runners.seams import Transport
from tests.support import cells
from tests.support.metering import PROBE, all_output, arguments, meter, nodes, sampled, secret
from tests.support.pdu import AUTH, COMMUNITY, PRIVACY, USER, Pdu, pdu
from tests.support.waiting import until

APC = "1.3.6.1.4.1.318.1.1.26.9.4.3.1.7"
OBJECTS = {
    f"{APC}.1": 101,
    f"{APC}.2": 102,
    f"{APC}.3": 103,
    "1.3.6.1.4.1.13742.6.5.4.3.1.4.1.7.5": 2125,
    "1.3.6.1.4.1.13742.6.3.5.4.1.7.1.7.5": 1,
    "1.3.6.1.4.1.1718.4.1.8.3.1.9.1.1.4": 340,
    "1.3.6.1.4.1.1718.3.2.3.1.14.1.1.4": 350,
    "1.3.6.1.4.1.99.1": 4321,
    "1.3.6.1.4.1.99.2": -1,
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pdu]:
    with pdu(tmp_path_factory.mktemp("pdu"), OBJECTS) as running:
        yield running


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("COMMUNITY", COMMUNITY), ("AUTH", AUTH), ("PRIVACY", PRIVACY)):
        monkeypatch.setenv(name, value)


def v2c(address: str, oid: str, *more: str, **options: Any) -> PowerMeter:
    parts = (oid, *more)
    return meter("snmp", [address] * len(parts), parts, community=secret("COMMUNITY"), **options)


def test_an_outlet_is_sampled_and_the_community_stays_hidden(found: Pdu, here: Transport, tmp_path: Path) -> None:
    node = cells.node(v2c(found.address, f"{APC}.1"))
    running = here.start(Power().job(PROBE, node))
    seen = b""

    def asked() -> bool:
        nonlocal seen
        seen += arguments()
        return b"snmpget" in seen

    until(asked)
    running.stop()
    running.collect(tmp_path / "first")
    assert b"s3cret" not in seen
    samples, output = sampled(here, node, tmp_path / "kept")
    assert {(sample.node, sample.value, sample.unit) for sample in samples} == {("local", 101.0, "W")}
    assert b"s3cret" not in all_output(output)


def test_a_user_of_snmpv3_is_let_in_with_authentication_and_privacy(found: Pdu, here: Transport) -> None:
    login: dict[str, Any] = {"user": USER, "auth": secret("AUTH"), "privacy": secret("PRIVACY")}
    address = [found.address]
    assert try_meter(cells.node(meter("snmp", address, [f"{APC}.2"], **login)), here) == 102
    with pytest.raises(RunnerError, match=r"can't be read by snmp: .*uthentication"):
        try_meter(cells.node(meter("snmp", address, [f"{APC}.2"], **{**login, "auth": secret("PRIVACY")})), here)
    with pytest.raises(RunnerError, match="can't be read by snmp"):
        try_meter(cells.node(meter("snmp", address, [f"{APC}.2"], user=USER, auth=secret("AUTH"))), here)


@pytest.mark.parametrize(
    ("family", "outlet", "watts"),
    [("apc", "3", 103), ("raritan", "7", 212.5), ("servertech", "4", 340), ("sentry3", "1.1.4", 350)],
)
def test_outlets_of_known_pdus_are_found(family: str, outlet: str, watts: float, found: Pdu, here: Transport) -> None:
    assert try_meter(cells.node(v2c(found.address, outlet, outlet=True, family=family)), here) == watts


def test_a_number_is_scaled_to_watts(found: Pdu, here: Transport) -> None:
    assert try_meter(cells.node(v2c(found.address, "1.3.6.1.4.1.99.1", scale=0.1)), here) == pytest.approx(432.1)


@pytest.mark.long
def test_two_supplies_of_a_host_are_added_up_and_a_shared_meter_is_counted_once(
    found: Pdu, here: Transport, tmp_path: Path
) -> None:
    left, right = v2c(found.address, f"{APC}.1", f"{APC}.2"), v2c(found.address, f"{APC}.2", f"{APC}.3")
    assert [try_meter(node, here) for node in nodes(2, left, right)] == [203, 205]
    every = meter(
        "snmp", [found.address] * 3, [f"{APC}.{n}" for n in (1, 2, 3)], shared=True, community=secret("COMMUNITY")
    )
    probe = PROBE.model_copy(update={"hosts": ("node-1",), "options": {"of": "rack"}})
    samples, _ = sampled(here, nodes(4, every)[0], tmp_path / "kept", probe=probe)
    assert {(sample.node, sample.value) for sample in samples} == {("rack", 306.0)}


@pytest.mark.long
def test_an_outlet_that_is_gone_makes_the_whole_sum_a_gap(here: Transport, tmp_path: Path) -> None:
    folder = tmp_path / "pdu"
    folder.mkdir()
    with pdu(folder, {f"{APC}.1": 50, f"{APC}.2": 60}) as own:
        node = cells.node(v2c(own.address, f"{APC}.1"), v2c(own.address, f"{APC}.2"))
        running = here.start(Power().job(PROBE, node))
        started = time.time()
        until(lambda: running.tail(20_000).count("\n60\n") >= 2, within_s=20)
        own.says({f"{APC}.2": None})
        until(lambda: "No Such" in running.tail(20_000))
        own.says({f"{APC}.2": 70})
        until(lambda: running.tail(20_000).count("\n70\n") >= 2)
        ended = time.time()
        running.stop()
        output = running.collect(tmp_path / "kept")
    assert {sample.value for sample in Power().parse(PROBE, output, (started, ended))} == {110.0, 120.0}
    assert Power().gaps(PROBE, output, (started, ended)).split(" of ")[0].isdigit()


def test_what_a_pdu_does_not_give_is_reported(found: Pdu, here: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RunnerError, match=r"can't be read by snmp: No Such") as caught:
        try_meter(cells.node(v2c(found.address, f"{APC}.9")), here)
    assert "check the `oid:`" in caught.value.hint
    assert "brief.bench:1:1" in caught.value.hint
    with pytest.raises(RunnerError, match="can't be read by snmp: it says -1 W, and no power is below zero"):
        try_meter(cells.node(v2c(found.address, "1.3.6.1.4.1.99.2")), here)
    monkeypatch.setenv("COMMUNITY", "wrong-community")
    with pytest.raises(RunnerError, match="Timeout") as caught:
        try_meter(cells.node(v2c(found.address, f"{APC}.1")), here)
    assert "a community that it does not know" in caught.value.hint
    assert "wrong-community" not in f"{caught.value} {caught.value.hint}"
    monkeypatch.setenv("COMMUNITY", "two\nlines")
    with pytest.raises(RunnerError, match="control character"):
        try_meter(cells.node(v2c(found.address, f"{APC}.1")), here)
