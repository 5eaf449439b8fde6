"""Tests broken connections: running jobs continue, queries are repeated, and a lasting break is an error."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import paramiko
import pytest

from benchbrief.extensions.transports.ssh.ssh_transport import SshTransport
from benchbrief.runners.engines import data_directories
from benchbrief.runners.engines.server_addresses import address_of
from benchbrief.runners.errors import ConnectionLost, HostError
from benchbrief.runners.hosts import host_clocks, host_facts, tool_discovery
from benchbrief.runners.hosts.host_connections import open_transport
from benchbrief.runners.jobs.tasks import Command, Job
from benchbrief.runners.seams import Transport
from tests.support.sshd import Sshd, sshd
from tests.support.waiting import until

HELLO = Command(("echo", "hello"))


def test_a_job_outlives_its_connection_and_is_collected(server: Sshd, opened: list[Transport], tmp_path: Path) -> None:
    transport = open_transport(server.host)
    opened.append(transport)
    running = transport.start(Job("test", Command(("sh", "-c", "for i in 1 2 3 4; do echo $i; sleep 0.3; done")), 30))
    assert not running.wait(0.2)
    assert server.cut_connections() > 0
    assert running.wait(20)
    output = running.collect(tmp_path / "kept")
    assert output.stdout.read_text() == "1\n2\n3\n4\n"
    assert output.exit_code == 0


def test_every_step_of_a_job_survives_a_cut_before_it(server: Sshd, opened: list[Transport], tmp_path: Path) -> None:
    transport = open_transport(server.host)
    opened.append(transport)
    transport.run(HELLO)
    server.cut_connections()
    running = transport.start(Job("test", Command(("sh", "-c", "echo up; sleep 300")), 30))
    server.cut_connections()
    until(lambda: running.tail() == "up\n")
    server.cut_connections()
    running.stop()
    server.cut_connections()
    assert running.collect(tmp_path / "kept").stdout.read_text() == "up\n"


def test_what_is_asked_at_the_start_of_a_cell_survives_a_cut_before_it(
    server: Sshd, opened: list[Transport], tmp_path: Path
) -> None:
    transport = open_transport(server.host)
    opened.append(transport)
    transport.run(HELLO)
    asked: tuple[Callable[[], object], ...] = (
        lambda: tool_discovery.find_program(transport, "sh"),
        lambda: tool_discovery.digest(transport, "/bin/sh"),
        lambda: host_facts.observe(transport, [str(tmp_path)])["kernel"],
        lambda: address_of(transport),
        lambda: data_directories.open_directory(transport, str(tmp_path / "data")) is None,
        lambda: host_clocks.read_clock(transport),
    )
    for ask in asked:
        assert server.cut_connections() > 0
        assert ask()


def test_a_command_whose_connection_is_cut_is_an_error_and_the_next_one_connects_again(
    server: Sshd, opened: list[Transport], tmp_path: Path
) -> None:
    transport = open_transport(server.host)
    opened.append(transport)
    started = tmp_path / "started"

    def cut() -> None:
        until(started.exists)
        server.cut_connections()

    cutter = threading.Thread(target=cut)
    cutter.start()
    with pytest.raises(HostError, match="box: the connection was lost"):
        transport.run(Command(("sh", "-c", f"touch '{started}'; sleep 20")))
    cutter.join()
    assert transport.run(HELLO).stdout == "hello\n"


def test_a_connection_that_another_thread_gives_up_meanwhile_is_a_lost_one(
    server: Sshd, opened: list[Transport], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transport = SshTransport(server.host)
    opened.append(transport)
    connect = transport._transport

    def connect_and_lose() -> paramiko.Transport:
        found = connect()
        transport._forget()
        return found

    with monkeypatch.context() as patch:
        patch.setattr(transport, "_transport", connect_and_lose)
        with pytest.raises(ConnectionLost, match="box: the connection was lost"):
            transport.entries(str(tmp_path))
    assert transport.entries(str(tmp_path)) == []


@pytest.mark.long
def test_a_host_that_stays_away_is_an_error_in_the_end(
    monkeypatch: pytest.MonkeyPatch, opened: list[Transport], tmp_path: Path
) -> None:
    monkeypatch.setattr("benchbrief.runners.jobs.connection_retry._RETRY_AFTER_S", (0.05, 0.05))
    with sshd(config=f"SetEnv TMPDIR={tmp_path}") as server:
        monkeypatch.setenv("HOME", str(server.home))
        transport = open_transport(server.host)
        opened.append(transport)
        running = transport.start(Job("test", Command(("sleep", "1")), 30, unattended_s=2.0))
        assert not running.wait(0.1)
        server.stop()
        with pytest.raises(HostError, match=f"box: connection refused by 127.0.0.1 port {server.port}"):
            running.wait(20)


def test_closing_ends_the_connection(server: Sshd) -> None:
    transport = open_transport(server.host)
    transport.run(HELLO)
    assert server.sessions()
    transport.close()
    until(lambda: not server.sessions())
