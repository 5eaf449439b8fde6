"""Tests that a program of the controller is copied to a host that lacks it: completely, verified, and only once."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.extensions.tools.openload.openload import Openload
from benchbrief.extensions.transports.ssh.ssh_transport import SshTransport
from benchbrief.runners.errors import ToolMissing
from benchbrief.runners.hosts import tool_discovery
from benchbrief.runners.jobs.commands import shell_line
from benchbrief.runners.journal.atomic_files import sha256_of
from benchbrief.runners.plugins import driver
from benchbrief.runners.transports.shipped_programs import Program, own_program, ship, shipped
from tests.support.longer import longer
from tests.support.sshd import Sshd, sshd
from tests.support.tools import built_tool, system_tool


@pytest.fixture
def far(tmp_path: Path) -> Iterator[Sshd]:
    """Yield a host to which none of the controller's programs has been copied yet."""
    system_tool("sshd")
    with sshd(config=f"SetEnv TMPDIR={tmp_path} XDG_DATA_HOME={tmp_path}/data") as server:
        yield server


@pytest.fixture
def over_ssh(far: Sshd, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshTransport]:
    far.write_config()
    monkeypatch.setenv("HOME", str(far.home))
    transport = SshTransport(far.host, far.home / ".ssh" / "config")
    yield transport
    transport.close()


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Return the real program under a new name."""
    path = tmp_path / "own" / "openload-mongodb"
    path.parent.mkdir()
    shutil.copy(built_tool("openload/bin/openload-mongodb"), path)
    return Program(path, sha256_of(path))


def places(tmp_path: Path) -> list[Path]:
    return sorted(path for path in (tmp_path / "data").rglob("*") if path.is_file())


def test_a_program_is_copied_once_into_a_place_named_by_its_sha256(
    over_ssh: SshTransport, program: Program, tmp_path: Path
) -> None:
    assert shipped(over_ssh, program) == ""
    place = Path(ship(over_ssh, program))
    assert place == tmp_path / "data" / "benchbrief" / "by-sha256" / program.sha256 / "openload-mongodb"
    assert sha256_of(place) == program.sha256
    assert stat.S_IMODE(place.stat().st_mode) == 0o755
    assert places(tmp_path) == [place], "no part is left"
    assert over_ssh.run(shell_line(f"{place} version")).exit_code == 0
    written = place.stat().st_mtime_ns
    assert ship(over_ssh, program) == str(place)
    assert place.stat().st_mtime_ns == written, "it is not copied again"


@pytest.mark.long
def test_a_damaged_copy_is_replaced(over_ssh: SshTransport, program: Program, tmp_path: Path) -> None:
    place = Path(ship(over_ssh, program))
    with place.open("r+b") as file:
        file.truncate(place.stat().st_size // 2)
    assert shipped(over_ssh, program) == ""
    assert ship(over_ssh, program) == str(place)
    assert sha256_of(place) == program.sha256
    assert places(tmp_path) == [place]


@pytest.mark.long
def test_a_copy_that_differs_never_gets_into_its_place(
    over_ssh: SshTransport, program: Program, tmp_path: Path
) -> None:
    """The file changes after its digest is computed and before it is copied."""
    other = Program(program.path, "0" * 64)
    with pytest.raises(ToolMissing, match=r"can't be copied to box: its SHA-256 is [0-9a-f]{64} after the copy"):
        ship(over_ssh, other)
    assert places(tmp_path) == []


def test_a_host_without_room_is_named(over_ssh: SshTransport, program: Program, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where a folder has to be")
    with pytest.raises(ToolMissing, match="can't be copied to box"):
        ship(over_ssh, program)


@pytest.mark.parametrize("tool", ["openload", *longer("openload_rocksdb")])
def test_a_tool_that_is_not_on_a_host_is_shipped_when_it_is_found(
    tool: str, over_ssh: SshTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = {"openload": "openload-mongodb", "openload_rocksdb": "openload-rocksdb"}[tool]
    own = tmp_path / "own" / name
    own.parent.mkdir()
    shutil.copy(built_tool(f"openload/bin/{name}"), own)
    monkeypatch.setattr(tool_discovery, "tool_dirs", tuple)
    monkeypatch.setenv("PATH", f"{own.parent}{os.pathsep}{os.environ['PATH']}")
    found = tool_discovery.find(over_ssh, driver(tool), None)
    assert sha256_of(own) in found.path
    assert found.version
    with pytest.raises(ToolMissing, match="openload is not on box"):
        tool_discovery.find(over_ssh, driver(tool), f"/nowhere/{name}")


@pytest.mark.long
def test_a_library_that_a_shipped_program_needs_is_named_where_it_is_missing(
    over_ssh: SshTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own" / "openload-rocksdb"
    own.parent.mkdir()
    # The library's name is the program's own text: here it asks for one that no host has.
    own.write_bytes(
        built_tool("openload/bin/openload-rocksdb").read_bytes().replace(b"rocksdb.so.7.8", b"rocksdb.so.0.0")
    )
    own.chmod(0o755)
    monkeypatch.setattr(tool_discovery, "tool_dirs", tuple)
    monkeypatch.setenv("PATH", f"{own.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(ToolMissing, match=r"librocksdb\.so\.0\.0 can't be used .*: install RocksDB 7\.8\.x") as caught:
        tool_discovery.find(over_ssh, driver("openload_rocksdb"), None)
    assert "`sudo apt-get install librocksdb7.8`" in caught.value.hint


@pytest.mark.parametrize("tool", ["openload", "openload_rocksdb"])
def test_an_openload_that_is_too_old_is_reported_before_anything_runs(
    tool: str, over_ssh: SshTransport, tmp_path: Path
) -> None:
    name = {"openload": "openload-mongodb", "openload_rocksdb": "openload-rocksdb"}[tool]
    real, old = built_tool(f"openload/bin/{name}"), tmp_path / name
    version = json.loads(subprocess.check_output([real, "version"]))["version"]
    assert version == Openload.oldest, "raise both when a flag is new"
    # The version is the program's own text.
    for text, found in ((b"1.0.9", ""), (b"1.4.0", "1.4.0")):
        old.write_bytes(real.read_bytes().replace(version.encode(), text))
        old.chmod(0o755)
        if found:
            assert tool_discovery.find(over_ssh, driver(tool), str(old)).version == found
            return
        with pytest.raises(
            ToolMissing, match=r"is version 1\.0\.9, and 1\.4\.0 is needed: build it again with `make setup`"
        ):
            tool_discovery.find(over_ssh, driver(tool), str(old))


@pytest.mark.parametrize(
    ("version", "new_enough"),
    [("1.4.0", True), ("1.4.1", True), ("1.10.0", True), ("2.0", True), ("1.4", True), ("1.3.9", False), ("", False)],
)
def test_versions_are_compared_as_numbers(version: str, new_enough: bool, tmp_path: Path) -> None:
    old = tmp_path / "openload-mongodb"
    old.write_text(f'#!/bin/sh\necho \'{{"version":"{version}"}}\'\n')
    old.chmod(0o755)
    (needed,) = driver("openload").requirements(str(old))
    done = subprocess.run(list(map(str, needed.check.words)), capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == new_enough, done.stdout
    assert not done.stderr


def test_the_controller_s_program_is_the_first_that_can_be_run(tmp_path: Path) -> None:
    plain, real = tmp_path / "plain", tmp_path / "real"
    plain.write_text("not to be run")
    real.write_text("#!/bin/sh\n")
    real.chmod(0o755)
    found = own_program((str(tmp_path / "nowhere"), str(plain), "no-such-program", str(real)))
    assert found == Program(real, sha256_of(real))
    assert own_program((str(plain),)) is None
