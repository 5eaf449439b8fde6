"""Tests how a directory on a host is listed: no name is lost silently, and nothing in the listing is trusted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.extensions.transports.ssh.ssh_transport import SshTransport
from benchbrief.runners.errors import HostError
from benchbrief.runners.jobs.script_host import HostEntry, JobHost
from benchbrief.runners.transports.transport_base import BadListing, are_gone, read_listing
from tests.support.sshd import sshd
from tests.support.tools import system_tool

GOOD = b"81a4 5 ./a//\n41ed 4096 ./b c\nd//\na1ff 3 ./l//\nend 0//\n"
ENTRIES = [HostEntry("a", 5), HostEntry("b c\nd", None, directory=True), HostEntry("l", None)]


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_a_listing_is_read_however_it_is_cut_into_pieces(size: int) -> None:
    pieces = [GOOD[at : at + size] for at in range(0, len(GOOD), size)]
    assert read_listing(pieces, 3) == (ENTRIES, 0)


def test_an_endless_listing_is_read_no_further_than_what_is_wanted() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"81a4 5 ./a//\n" * 100

    assert len(read_listing(endless(), 250)[0]) == 250


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD[:-8], "it was cut"),
        (b"", "it was cut"),
        (GOOD + b"x", "it was cut"),
        (GOOD + GOOD, "after its end"),
        (b"rwx 5 ./a//\nend 0//\n", "`stat` printed `rwx 5 ./a`"),
        (b"81a4 ./a//\nend 0//\n", "`stat` printed"),
        (b"81a4 " + b"9" * 5000 + b" ./a//\nend 0//\n", "`stat` printed `81a4 999"),
        (b"81a4 5 ./../../etc/passwd//\nend 0//\n", "`stat` printed"),
        (b"81a4 5 ./" + b"a" * 5000, "`stat` printed"),
        (b"81a4 5 ./\xff//\nend 0//\n", "not UTF-8"),
        (b"81a4 5 ./\x1b[2J\0//\nend 0//\n", r"81a4 5 \./\ufffd\[2J\ufffd"),
    ],
)
def test_what_is_no_listing_is_refused(text: bytes, said: str) -> None:
    with pytest.raises(BadListing, match=said):
        read_listing([text], 10)


def test_complaints_of_files_that_went_are_distinguished_from_others() -> None:
    gone = "stat: cannot statx './a: b': No such file or directory\n"
    assert are_gone(gone * 2)
    assert are_gone("")
    assert not are_gone(gone + "find: Failed to fork: Resource temporarily unavailable\n")


FIND = """\
#!/bin/sh
case "$PWD" in
*/forkless) echo "find: Failed to fork: Resource temporarily unavailable" >&2; exit 1;;
*/going) exec stat -c '%f %s %n//' ./gone ./here;;
*/strange) echo 'drwx here'; exit 0;;
*/killed) kill -KILL $PPID; exit 1;;
esac
exec /usr/bin/find "$@"
"""


def test_a_host_that_can_not_list_a_directory_says_so_and_files_that_go_meanwhile_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system_tool("sshd")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "find").write_text(FIND)
    (tmp_path / "bin" / "find").chmod(0o755)
    for name in ("forkless", "going", "strange", "killed", "plain"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "here").write_text("12345")
    with sshd(config=f"SetEnv PATH={tmp_path}/bin:/usr/bin:/bin") as server:
        monkeypatch.setenv("HOME", str(server.home))
        transport = SshTransport(server.host)
        host: JobHost = transport
        try:
            assert host.entries(str(tmp_path / "going")) == [HostEntry("here", 5)]
            for name, said in (
                ("forkless", "Resource temporarily unavailable"),
                ("strange", "`stat` printed `drwx here"),
                ("killed", "can't list"),
                ("none", "can't list"),
            ):
                with pytest.raises(HostError, match=f"box: .*{said}"):
                    host.entries(str(tmp_path / name))
            assert host.entries(str(tmp_path / "plain")) == [HostEntry("here", 5)]
        finally:
            transport.close()
