"""Tests the TCP probe on this machine, and with output from other machines."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchbrief.extensions.probes.tcp.tcp_probe import Tcp
from benchbrief.model.measurement import Sample
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.seams import Transport
from tests.support.probe_readings import NODE, output, printed, probe, values
from tests.support.waiting import until


def test_connections_to_a_full_listen_queue_are_overflows_and_their_retries_retransmissions(
    here: Transport, tmp_path: Path
) -> None:
    what = probe("tcp", 0.2)
    running = here.start(Tcp().job(what, NODE))
    until(lambda: running.tail(20_000).count("\n.") >= 2)
    started = time.time() - 0.3
    with socket.create_server(("127.0.0.1", 0), backlog=1) as server, ExitStack() as clients:
        for _ in range(8):  # nobody accepts them: two are queued, and the others try again after a second
            client = clients.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        time.sleep(1.5)  # the kernel sends a SYN again after one second
        ended = time.time()
        until(lambda: float(re.findall(r"^= (\S+) ", running.tail(20_000), re.MULTILINE)[-1]) >= ended)
    running.stop()
    kept = running.collect(tmp_path / "kept")
    assert kept.stderr.read_text() in ("", "Terminated\n"), "the shell may tell of a command that was ended with it"
    samples = Tcp().parse(what, kept, (started, ended))
    assert {(sample.node, sample.device) for sample in samples} == {("local", "")}

    def counted(measure: str) -> int:
        return round(sum(sample.value * (sample.seconds or 0) for sample in samples if sample.measure == measure))

    assert counted("tcp.listen_overflows") >= 6
    assert counted("tcp.retransmits") >= 6
    assert counted("tcp.segments") >= 8
    assert max(values(samples, "tcp.connections")) >= 2


def test_columns_are_found_by_their_names() -> None:
    """Kernels order the columns differently, and other tables have columns with the same names."""
    (statement,) = [rule for file, rule in Tcp().reads(probe("tcp")).files.items() if file.endswith("snmp")]
    table = "Udp: OutSegs\nUdp: 9\nTcp: RetransSegs MaxConn CurrEstab OutSegs InErrs\nTcp: 7 -1 3 500 0\n"
    done = subprocess.run(["awk", f"{{ {statement} }}"], input=table, capture_output=True, text=True, check=True)
    assert done.stdout == "tcp RetransSegs 7\ntcp CurrEstab 3\ntcp OutSegs 500\n"


def tcp(connections: int, sent: int, again: int, full: int) -> str:
    lines = [("CurrEstab", connections), ("OutSegs", sent), ("RetransSegs", again), ("ListenOverflows", full)]
    return "\n".join(f"tcp {name} {count}" for name, count in lines)


def test_counts_become_rates_over_the_time_between_readings(tmp_path: Path) -> None:
    text = printed("", (100.0, f"MemFree: 5 kB\n{tcp(3, 1000, 5, 1)}"), (102.0, tcp(4, 5000, 8, 2)))
    samples = Tcp().parse(probe("tcp"), output(tmp_path, text), (100, 101.5))
    assert samples == (
        Sample("tcp.connections", "node1", "", 0.0, 3.0, ""),
        Sample("tcp.segments", "node1", "", 1.5, 2000.0, "1/s", 1.5),
        Sample("tcp.retransmits", "node1", "", 1.5, 1.5, "1/s", 1.5),
        Sample("tcp.listen_overflows", "node1", "", 1.5, 0.5, "1/s", 1.5),
    )


def test_a_counter_that_went_back_and_missed_readings_leave_gaps(tmp_path: Path) -> None:
    at = [(100, 10), (101, 20), (102, 3), (103, 13), (107, 53), (108, 63)]
    text = printed("", *((float(time), tcp(1, 10 * count, count, 0)) for time, count in at))
    samples = Tcp().parse(probe("tcp"), output(tmp_path, text), (100, 108))
    assert [(s.time, s.value) for s in samples if s.measure == "tcp.retransmits"] == [(1, 10), (3, 10), (8, 10)]
    assert [s.time for s in samples if s.measure == "tcp.connections"] == [0, 1, 2, 3, 7, 8]


def test_a_counter_that_a_kernel_does_not_have_is_left_out_and_not_zero(tmp_path: Path) -> None:
    lines = [re.sub("\ntcp Listen.*", "", tcp(1, count, count, 0)) for count in (10, 20)]
    samples = Tcp().parse(probe("tcp"), output(tmp_path, printed("", (100.0, lines[0]), (101.0, lines[1]))), (100, 101))
    assert values(samples, "tcp.retransmits") == [10.0]
    assert values(samples, "tcp.listen_overflows") == []


def test_a_host_without_tables_of_tcp_is_an_error(tmp_path: Path) -> None:
    text = printed("", (100.0, "tcp OutSegs many"), (101.0, "cpu 1 2 3"))
    with pytest.raises(BadOutput, match="of node1 have no counters of TCP"):
        Tcp().parse(probe("tcp"), output(tmp_path, text), (100, 101))
