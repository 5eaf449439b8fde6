"""Tests reading files in a place that a command enters, such as a namespace. Files are read as they arrive, by a
process that Ctrl-C does not reach."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Generator
from pathlib import Path

import pytest

from benchbrief.model.message import Message
from benchbrief.model.plan import Host
from benchbrief.runners.errors import HostError
from benchbrief.runners.transports.nested_transport import NestedTransport


class Entered(NestedTransport):
    """A transport whose shells first record their process and session."""

    seen: Path

    @property
    def shell(self) -> tuple[str, ...]:
        return ("sh", "-c", 'cut -d" " -f6 /proc/$$/stat > "$0"; echo $$ >> "$0"; exec sh', str(self.seen))

    def pids(self) -> tuple[int, int]:
        session, process = map(int, self.seen.read_text().split())
        return session, process


@pytest.fixture
def inside(tmp_path: Path) -> Entered:
    transport = Entered(Host(id="inside:x", transport="inside", name="x"))
    transport.seen = tmp_path / "seen"
    return transport


def test_a_file_of_any_size_takes_little_memory(inside: Entered, tmp_path: Path) -> None:
    size = 256 << 20
    with (tmp_path / "large").open("wb") as file:
        file.truncate(size)
    tracemalloc.start()
    try:
        assert sum(map(len, inside.read(str(tmp_path / "large"), size + 1))) == size
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_only_so_much_of_a_file_is_read(inside: Entered, tmp_path: Path) -> None:
    (tmp_path / "some").write_bytes(b"0123456789")
    assert b"".join(inside.read(str(tmp_path / "some"), 4)) == b"0123"


def test_what_lists_and_reads_is_in_a_session_of_its_own(inside: Entered, tmp_path: Path) -> None:
    (tmp_path / "some").touch()
    assert "some" in {entry.name for entry in inside.entries(str(tmp_path))}
    assert inside.pids()[0] != os.getsid(0)
    list(inside.read(str(tmp_path / "some"), 4))
    assert inside.pids()[0] != os.getsid(0)


def test_what_reads_ends_with_its_reader(inside: Entered) -> None:
    pieces = inside.read("/dev/zero", 1 << 40)
    assert next(pieces).strip(b"\0") == b""
    pieces.close()  # type: ignore[attr-defined]
    with pytest.raises(ProcessLookupError):
        os.kill(inside.pids()[1], 0)


def test_what_can_t_be_read_is_said(inside: Entered, tmp_path: Path) -> None:
    with pytest.raises(HostError, match=r"inside:x: can't read .*/gone: No such file or directory"):
        list(inside.read(str(tmp_path / "gone"), 4))
    with pytest.raises(HostError, match=r"inside:x: can't list .*/gone: "):
        inside.entries(str(tmp_path / "gone"))


def test_scripts_are_in_english_whatever_runs_them(tmp_path: Path) -> None:
    seen: list[str] = []

    class Seeing(NestedTransport):
        shell = ("sh",)

        def output(self, text: str, failing: Message) -> Generator[bytes, None, str]:
            seen.append(text)
            return (yield from super().output(text, failing))

    inside = Seeing(Host(id="inside:x", transport="inside", name="x"))
    (tmp_path / "some").touch()
    inside.entries(str(tmp_path))
    list(inside.read(str(tmp_path / "some"), 4))
    assert [text.splitlines()[0] for text in seen] == ["LC_ALL=C; export LC_ALL"] * 2
