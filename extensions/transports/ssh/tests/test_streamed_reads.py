"""Tests files that are read over SSH while they arrive. The reading may be abandoned in the middle, stall, or be cut
off."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from benchbrief.extensions.transports.ssh.ssh_transport import SshTransport
from benchbrief.runners.errors import ConnectionLost
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.seams import Transport
from tests.support.sshd import Sshd
from tests.support.waiting import until

HELLO = Command(("echo", "hello"))


ENDLESS = (1 << 40) + os.getpid()  # the number of no other run of these tests on this machine


@pytest.fixture
def reader(server: Sshd, opened: list[Transport]) -> SshTransport:
    transport = SshTransport(server.host)
    opened.append(transport)
    return transport


def heads() -> list[str]:
    """Return the processes that read an endless file on the host, which is this machine."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [path.parent.name] if f"-c\0{ENDLESS}\0" in path.read_text(errors="replace") else []
        except OSError:
            continue
    return found


def test_a_read_that_is_given_up_ends_on_its_host_and_does_not_get_into_what_comes_next(reader: SshTransport) -> None:
    with closing(iter(reader.read("/dev/zero", ENDLESS))) as pieces:  # type: ignore[type-var]
        assert set(next(pieces)) == {0}
        assert heads()
    assert reader.run(HELLO).stdout == "hello\n"
    until(lambda: not heads())


def test_a_read_that_stalls_is_given_up_and_the_next_one_connects_again(
    reader: SshTransport, host_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(host_dir / "fifo")
    writer = os.open(host_dir / "fifo", os.O_RDWR)
    os.write(writer, b"x" * 1000)
    monkeypatch.setattr("benchbrief.extensions.transports.ssh.ssh_transport._STALL_S", 0.5)
    try:
        with pytest.raises(ConnectionLost, match=r"no answer within 0\.5 s"):
            list(reader.read(str(host_dir / "fifo"), ENDLESS))
        assert reader.run(HELLO).stdout == "hello\n"
    finally:
        os.close(writer)


def test_a_read_whose_connection_is_cut_is_an_error_and_no_short_file(reader: SshTransport, server: Sshd) -> None:
    pieces = iter(reader.read("/dev/zero", ENDLESS))
    next(pieces)
    assert server.cut_connections() > 0
    with pytest.raises(ConnectionLost):
        list(pieces)
    until(lambda: not heads())
    assert reader.run(HELLO).stdout == "hello\n"
