"""The virtual machine of `tools/snapshot-vm`, for file systems that this machine's kernel may lack.

with snapshot_vm(tmp_path) as machine:
    machine.sh("zpool create tank vdb")
    machine.sh("id", user="lab")
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.sshd import free_port
from tests.support.tools import REPOSITORY
from tests.support.waiting import until

TOOL = REPOSITORY / "tools" / "snapshot-vm"


@dataclass(frozen=True)
class Machine:
    """A running machine. With `home` as its HOME, a client can reach the machine over SSH as `root-vm` or `lab-vm`."""

    home: Path

    def run(self, text: str, *arguments: str, user: str = "root") -> subprocess.CompletedProcess[str]:
        """Run a script on the machine."""
        line = shlex.join(["sh", "-c", text, "sh", *arguments])
        words = ["ssh", "-F", str(self.home / ".ssh" / "config"), f"{user}-vm", line]
        nothing = subprocess.DEVNULL
        return subprocess.run(words, stdin=nothing, capture_output=True, text=True, check=False, timeout=1800)

    def sh(self, text: str, *arguments: str, user: str = "root") -> str:
        """Run a script on the machine, check that it succeeds, and return its output."""
        done = self.run(text, *arguments, user=user)
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
        return done.stdout.strip()


@contextmanager
def snapshot_vm(folder: Path) -> Iterator[Machine]:
    """Boot the machine. Skips the test if the machine's image has not been built."""
    key = Path(subprocess.run([TOOL, "key"], check=True, capture_output=True, text=True).stdout.strip())
    if not (key.parent / "disk").exists():
        pytest.skip("there is no virtual machine with ZFS and LVM: run `tools/snapshot-vm build`")
    if not os.access(key, os.R_OK):
        pytest.skip(f"the key of the virtual machine can't be read: `sudo chown $USER {key}`")
    port = free_port()
    (folder / ".ssh").mkdir()
    (folder / ".ssh" / "config").write_text(
        "".join(
            f"Host {user}-vm\n    HostName 127.0.0.1\n    Port {port}\n    User {user}\n    IdentityFile {key}\n"
            f"    UserKnownHostsFile {folder}/.ssh/known_hosts\n    ConnectTimeout 90\n    LogLevel ERROR\n"
            for user in ("root", "lab")
        )
    )
    console = folder / "console"
    with console.open("wb") as out:
        going = subprocess.Popen([TOOL, "boot", str(port)], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        until(lambda: _key_of(port, folder / ".ssh" / "known_hosts") or going.poll() is not None, 600)
        assert going.poll() is None, console.read_text(errors="replace")
        yield Machine(folder)
    finally:
        going.kill()
        going.wait()


def _key_of(port: int, known: Path) -> bool:
    """Return whether the machine's sshd answers. If it does, write down its host key."""
    words = ["ssh-keyscan", "-T", "5", "-p", str(port), "-t", "ed25519", "127.0.0.1"]
    said = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    known.write_text(said)
    return bool(said)
