"""Provides each transport to the tests of what `Transport` promises: on this machine, and over a real sshd."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.model.plan import Host
from benchbrief.runners.hosts.host_connections import open_transport
from benchbrief.runners.seams import Transport
from tests.support.longer import longer
from tests.support.sshd import Sshd, sshd
from tests.support.tools import system_tool

LOCAL_FIRST = pytest.mark.parametrize("transport", ["local", *longer("ssh")], indirect=True)
"""Marks tests of what a script does on a host, which hardly depends on the transport. The quick run tries them on this
machine alone, and the nightly run also over SSH."""


@pytest.fixture(scope="module")
def shared_server(jobs_dir: Path) -> Iterator[Sshd]:
    system_tool("sshd")
    with sshd(config=f"SetEnv TMPDIR={jobs_dir}") as server:
        yield server


@pytest.fixture(scope="module")
def jobs_dir() -> Iterator[Path]:
    """Yield the host's TMPDIR. The host keeps its jobs there, separate from everything else on this machine."""
    path = Path(tempfile.mkdtemp(prefix="benchbrief-test-"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def state_root(jobs_dir: Path) -> Path:
    return jobs_dir / f"benchbrief-{os.getuid()}"


@pytest.fixture
def server(shared_server: Sshd, monkeypatch: pytest.MonkeyPatch) -> Sshd:
    """Return a server that a client with this HOME knows as `box`."""
    monkeypatch.setenv("HOME", str(shared_server.home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    shared_server.write_config()
    shared_server.write_known_hosts()
    return shared_server


@pytest.fixture(params=["local", "ssh"])
def transport(request: pytest.FixtureRequest, jobs_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Transport]:
    if request.param == "local":
        monkeypatch.setenv("TMPDIR", str(jobs_dir))
        host = Host(id="local", transport="local", name="local")
    else:
        host = request.getfixturevalue("server").host
    opened = open_transport(host)
    yield opened
    opened.end_leftovers()
    opened.close()


@pytest.fixture
def host_dir(tmp_path: Path) -> Iterator[Path]:
    """Yield a directory on the host, which is this machine."""
    path = tmp_path / "on host"
    path.mkdir()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def opened() -> Iterator[list[Transport]]:
    """The transports to close when the test ends."""
    transports: list[Transport] = []
    yield transports
    for transport in transports:
        transport.close()
