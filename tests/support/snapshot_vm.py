"""The virtual machine of `tools/snapshot-vm`, for file systems that this machine's kernel may lack.

with snapshot_vm(tmp_path) as machine:
    machine.sh("zfs create tank/db")
    machine.sh("id", user="lab")
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchbrief.runners.engines.file_system_snapshots import FileSystemSnapshots
from tests.support.sshd import free_port
from tests.support.tools import REPOSITORY
from tests.support.waiting import until

TOOL = REPOSITORY / "tools" / "snapshot-vm"
in_vm = pytest.mark.timeout(3600)
"""A long time limit: without KVM and beside other work, a boot takes minutes, and a test with several restores takes
half an hour."""
POOLS = """
zpool create -f -O compression=off tank /dev/vdb
vgcreate -q vg /dev/vdc
lvcreate -q -y -T -L 3G --errorwhenfull y vg/pool
"""
PLACES = {
    "zfs": 'zfs create -o mountpoint="/db/$1" "tank/$1"',
    "lvm_thin": 'lvcreate -q -y -T -V 1G -n "$1" vg/pool && mkfs.ext4 -q "/dev/vg/$1" && mkdir -p "/db/$1" && '
    'mount -o noatime "/dev/vg/$1" "/db/$1"',
}
TRY = """
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from benchbrief.extending import snapshot_trials
with TemporaryDirectory() as folder, snapshot_trials.trial_place(sys.argv[1], Path(folder)) as place:
    print(getattr(snapshot_trials, sys.argv[2])(place))
"""
LOAD = """
set -e
cd "$1" && : >BENCHBRIEF
db_bench --db="$1" --benchmarks=fillseq,flush,waitforcompaction --num=20000 >/dev/null 2>&1
"""
OVERWRITE = """
db_bench --db="$1" --use_existing_db=1 --benchmarks=overwrite,compact --num=40000 --write_buffer_size=524288 \\
    >/dev/null 2>&1
"""
FILES = 'cd "$1" && : >BENCHBRIEF && echo 1 >CURRENT && head -c 300000 /dev/urandom >000001.sst'
CHANGE = 'cd "$1" && rm CURRENT && echo junk >>000001.sst && touch more'
FILL = 'while dd if=/dev/urandom of="$1/rest.$((n = ${n:-0} + 1))" bs=1M count=1 conv=fsync 2>/dev/null; do :; done'
HASHES = 'cd "$1" && find . -name lost+found -prune -o -type f ! -name "LOG*" -print0 | sort -z | xargs -0 sha256sum'


@dataclass(frozen=True)
class Machine:
    """A running machine. With `home` as its HOME, a client can reach the machine over SSH as `root-vm` or `lab-vm`."""

    home: Path

    def run(self, text: str, *arguments: str, user: str = "root") -> subprocess.CompletedProcess[str]:
        """Run a script on the machine, and return its result even if it fails."""
        line = shlex.join(["sh", "-c", text, "sh", *arguments])
        words, nothing = (*self._ssh(user), line), subprocess.DEVNULL
        return subprocess.run(words, stdin=nothing, capture_output=True, text=True, check=False, timeout=1800)

    def sh(self, text: str, *arguments: str, user: str = "root") -> str:
        """Run a script on the machine, check that it succeeds, and return its output."""
        done = self.run(text, *arguments, user=user)
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
        return done.stdout.strip()

    def tried(self, name: str, promise: str) -> str:
        """Let `bench extensions try` check a promise of this kind of snapshot, on a small file system in a file.
        Returns how the promise is broken."""
        code = ("tar", "-C", REPOSITORY / "src", "--exclude=*.pyc", "-chz", "benchbrief")
        packed = subprocess.run(code, check=True, capture_output=True).stdout
        subprocess.run([*self._ssh("root"), "tar -C /opt -xz"], input=packed, check=True, timeout=600)
        return self.sh('PYTHONPATH=/opt python3 -c "$1" "$2" "$3"', TRY, name, promise)

    def _ssh(self, user: str) -> tuple[str, ...]:
        return "ssh", "-F", str(self.home / ".ssh" / "config"), f"{user}-vm"


@contextmanager
def snapshot_vm(folder: Path) -> Iterator[Machine]:
    """Boot the machine, and make a pool of each kind on it. Skips the test if its image was not built."""
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
        machine = Machine(folder)
        machine.sh(POOLS)
        yield machine
    finally:
        going.kill()
        going.wait()


def _key_of(port: int, known: Path) -> bool:
    """Return whether the machine's sshd answers. If it does, write down its host key."""
    words = ["ssh-keyscan", "-T", "5", "-p", str(port), "-t", "ed25519", "127.0.0.1"]
    said = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    known.write_text(said)
    return bool(said)


class Place:
    """A directory on the machine, on a file system that can take snapshots."""

    def __init__(self, machine: Machine, system: str, name: str) -> None:
        self.machine, self.system, self.name, self.path = machine, system, name, f"/db/{name}"

    @classmethod
    def made(cls, machine: Machine, system: str, name: str) -> Place:
        """Make a new dataset or volume with this name."""
        machine.sh(PLACES[system], name)
        return cls(machine, system, name)

    def step(self, name: str, user: str = "root") -> str:
        """Run a step of the snapshots, such as `open` or `take`, on this directory. Returns why it was refused, or ""
        if it succeeded."""
        done = self.machine.run(FileSystemSnapshots(self.system).step(name), self.path, user=user)
        assert bool(done.returncode) == bool(done.stdout), done.stdout + done.stderr
        return done.stdout.strip()

    def load(self) -> str:
        """Load a data set and take a snapshot of it. Returns the digests of its files."""
        assert self.step("open") == ""
        self.sh(LOAD)
        assert self.step("take") == ""
        return self.sh(HASHES)

    def keep(self) -> str:
        """Do the same as `load`, but with a few small files."""
        assert self.step("open") == ""
        self.sh(FILES)
        assert self.step("take") == ""
        return self.sh(HASHES)

    def sh(self, text: str, *arguments: str, user: str = "root") -> str:
        return self.machine.sh(text, self.path, *arguments, user=user)

    def is_restored_to(self, before: str) -> None:
        assert self.step("open") == ""
        assert self.step("restore") == ""
        assert self.sh(HASHES) == before


def advice(said: str) -> str:
    """Return the command that a refusal advises."""
    found = re.search(r"`([^`]+)`", said)
    assert found, said
    return found[1]
