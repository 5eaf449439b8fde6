"""Tests the probe of the network, run for real on this machine and with output from other machines."""

from __future__ import annotations

import re
import socket
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

from benchbrief.extensions.probes.network.network_probe import Network
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.seams import Transport
from tests.support.probe_readings import NODE, output, printed, probe, sampled, values
from tests.support.waiting import until


def test_the_network_probe_counts_what_goes_through_an_interface(here: Transport, tmp_path: Path) -> None:
    what = probe("network", 0.2, interface="lo")
    size = 20 << 20
    running = here.start(Network().job(what, NODE))
    # A host with many interfaces tells more than the tail's usual length in one sample.
    until(lambda: running.tail(100_000).count("\n.") >= 2)
    started = time.time()
    ours, theirs = connected()
    reader = threading.Thread(target=lambda: [None for _ in iter(lambda: theirs.recv(1 << 20), b"")])
    reader.start()
    with theirs:
        with ours:
            ours.sendall(bytes(size))
        reader.join()
    ended = time.time() + 0.5
    until(lambda: float(re.findall(r"^= (\S+) ", running.tail(100_000), re.MULTILINE)[-1]) >= ended)
    running.stop()
    samples = Network().parse(what, running.collect(tmp_path / "kept"), (started - 0.3, ended))
    assert {sample.device for sample in samples} == {"lo"}
    times = [sample.time for sample in samples if sample.measure == "network.received"]
    lengths = [0.2, *(b - a for a, b in pairwise(times))]
    received = sum(rate * each for rate, each in zip(values(samples, "network.received"), lengths, strict=True))
    assert received > 0.8 * size
    assert values(samples, "network.sent") == values(samples, "network.received")  # of the loopback
    assert sum(values(samples, "network.packets_received")) > 0


def connected() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        return ours, server.accept()[0]


def test_without_an_interface_the_loopback_is_left_out(here: Transport, tmp_path: Path) -> None:
    samples = sampled(Network(), probe("network", 0.1), here, 0.4, tmp_path / "kept")
    there = {path.name for path in Path("/sys/class/net").iterdir()} - {"lo"}
    assert {sample.device for sample in samples} <= there
    assert samples


def test_an_interface_that_is_missing_is_said(here: Transport, tmp_path: Path) -> None:
    what = probe("network", 0.1, interface="lo no-such0")
    with pytest.raises(BadOutput, match="the network probe can't read on local: no network interface no-such0"):
        sampled(Network(), what, here, 0.2, tmp_path / "kept")


def test_interfaces_counters_become_rates(tmp_path: Path) -> None:
    before = "eth0: 1000 10 0 1 0 0 0 0 2000 20 0 0 0 0 0 0"
    after = "eth0: 5000 30 1 3 0 0 0 0 2600 26 1 4 0 0 0 0"
    text = printed("interfaces eth0", (100.0, before), (102.0, f"{after}\nlo: {' '.join('9' * 16)}"))
    samples = Network().parse(probe("network"), output(tmp_path, text), (100, 102))
    assert {sample.measure: (sample.value, sample.unit) for sample in samples} == {
        "network.received": (2000.0, "B/s"),
        "network.sent": (300.0, "B/s"),
        "network.packets_received": (10.0, "1/s"),
        "network.packets_sent": (3.0, "1/s"),
        "network.errors": (1.0, "1/s"),
        "network.drops": (3.0, "1/s"),
    }


def test_an_interface_that_was_made_anew_leaves_a_gap(tmp_path: Path) -> None:
    lines = ["eth0: " + " ".join([str(count)] * 16) for count in (10, 20, 0, 10)]
    text = printed("interfaces eth0", *((100.0 + at, line) for at, line in enumerate(lines)))
    samples = Network().parse(probe("network"), output(tmp_path, text), (100, 103))
    assert [sample.time for sample in samples if sample.measure == "network.sent"] == [1.0, 3.0]
