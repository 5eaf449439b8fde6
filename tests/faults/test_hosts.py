"""Hosts that refuse, hang, are not who they were, or lack the tool: their cells fail, the others run."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import OnlyFails
from tests.faults.specs import TWO_HOSTS
from tests.support.bench import Bench
from tests.support.sshd import SSHD, Sshd, sshd


@pytest.fixture
def server() -> Iterator[Sshd]:
    if SSHD is None:
        pytest.skip("no sshd here: apt-get install openssh-server")
    with sshd() as running:
        yield running


@pytest.fixture
def known(server: Sshd, bench: Bench) -> Sshd:
    """A server that the user of `bench` knows as `box`."""
    bench.env["HOME"] = str(server.home)
    return server


def ssh_config(bench: Bench, port: int) -> None:
    folder = bench.home / ".ssh"
    folder.mkdir()
    (folder / "config").write_text(f"Host box\n HostName 127.0.0.1\n Port {port}\n ConnectTimeout 2\n")


def test_a_host_that_refuses_connections(bench: Bench, only_fails: OnlyFails) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        port = closed.getsockname()[1]
        ssh_config(bench, port)
        bench.spec(TWO_HOSTS)
        ended = bench("run", "brief.bench")
    only_fails(ended, "/bad/", "box: connection refused by 127.0.0.1", str(port), "Is sshd running there?")


def test_a_host_that_accepts_and_never_answers(bench: Bench, only_fails: OnlyFails) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        ssh_config(bench, port)
        bench.spec(TWO_HOSTS)
        ended = bench("run", "brief.bench")
    only_fails(ended, "/bad/", f"box: 127.0.0.1 port {port} accepts connections, but no SSH server answers within 2 s")


def test_a_host_that_talks_no_ssh(bench: Bench, only_fails: OnlyFails) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        ssh_config(bench, other.getsockname()[1])
        threading.Thread(target=_greet_in_http, args=(other,), daemon=True).start()
        bench.spec(TWO_HOSTS)
        ended = bench("run", "brief.bench")
        only_fails(ended, "/bad/", "box: ")


def _greet_in_http(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.sendall(b"HTTP/1.1 400 \x1b[31mBad Request\x1b[0m\r\n\r\n" * 20)


def test_a_host_whose_key_has_changed(bench: Bench, known: Sshd, only_fails: OnlyFails) -> None:
    known.change_host_key()
    bench.spec(TWO_HOSTS)
    only_fails(bench("run", "brief.bench"), "/bad/", "box: the host key of 127.0.0.1 has changed", "known_hosts:1")


def test_a_host_whose_key_is_not_known(bench: Bench, known: Sshd, only_fails: OnlyFails) -> None:
    known.write_known_hosts("")
    known.write_config("StrictHostKeyChecking no")
    bench.spec(TWO_HOSTS)
    only_fails(bench("run", "brief.bench"), "/bad/", "box: the host key of 127.0.0.1 is not known", "by hand")


def test_a_host_that_takes_none_of_our_keys(bench: Bench, known: Sshd, only_fails: OnlyFails) -> None:
    (known.directory / "authorized_keys").write_text("")
    bench.spec(TWO_HOSTS)
    only_fails(bench("run", "brief.bench"), "/bad/", "does not accept our keys")


@pytest.fixture
def without_db_bench() -> Iterator[Path]:
    """A folder with every program of the system but db_bench. Not pytest's own: others log in to read it."""
    with tempfile.TemporaryDirectory(prefix="benchbrief-bin-") as folder:
        for path in [*Path("/usr/bin").iterdir(), *Path("/usr/sbin").iterdir()]:
            link = Path(folder, path.name)
            if path.name != "db_bench" and not link.is_symlink():
                link.symlink_to(path)
        yield Path(folder)


def test_a_host_that_lacks_the_tool(bench: Bench, without_db_bench: Path, only_fails: OnlyFails) -> None:
    if SSHD is None:
        pytest.skip("no sshd here: apt-get install openssh-server")
    with sshd(config=f"SetEnv PATH={without_db_bench}") as server:
        bench.env["HOME"] = str(server.home)
        bench.spec(TWO_HOSTS)
        only_fails(bench("run", "brief.bench"), "/bad/", "db_bench is not on box", 'tool = db_bench("/path")')

        done = bench("doctor", "brief.bench")
        assert done.code == 3
        assert any(line.split()[:3] == ["missing", "box", "db_bench"] for line in done.out.splitlines()), done.out


def test_every_host_that_is_lost_is_named_by_doctor(bench: Bench) -> None:
    ssh_config(bench, 1)
    bench.spec(TWO_HOSTS)
    done = bench("doctor", "brief.bench")
    assert done.code == 3
    assert any(line.split()[:3] == ["ok", "local", "reachable"] for line in done.out.splitlines())
    assert any(line.split()[:3] == ["missing", "box", "reachable"] for line in done.out.splitlines())
    assert "connection refused by 127.0.0.1 port 1" in done.out


def test_a_host_that_goes_away_in_the_middle_loses_no_cell_that_was_good(bench: Bench, known: Sshd) -> None:
    bench.spec(TWO_HOSTS.replace("[1, 2]", "[1, 2, 3]").replace("1 s", "2 s"))
    with bench.started("run", "brief.bench") as run:
        run.until_it_says("e/bad/load/threads=1")
        connections = known.sessions()
        known.process.terminate()
        known.process.wait(10)
        for pid in connections:
            os.kill(pid, signal.SIGKILL)
        ended = run.wait(90)
    assert ended.code == 3, ended.text
    status = {cell: verdict for cell, (verdict, _) in bench.verdicts().items()}
    assert [status[f"e/good/load/threads={n}/r1"] for n in (1, 2, 3)] == ["ok"] * 3
    assert status["e/bad/load/threads=1/r1"] == "ok"
    assert status["e/bad/load/threads=3/r1"] == "failed"
    reasons = [record["reason"] for record in bench.journal("cell_ended") if record["status"] == "failed"]
    assert all("box: " in reason for reason in reasons)
