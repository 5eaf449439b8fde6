"""Snapshots by ZFS and LVM bring back the same bytes, with real db_bench on real ones, in the virtual machine of
`tools/snapshot-vm`. Without its image these are skipped."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

import pytest

from benchbrief.runners.engines.file_systems.file_system_snapshots import step
from tests.support.snapshot_vm import Machine, snapshot_vm

SYSTEMS = ("zfs", "lvm_thin")
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
LOAD = """
set -e
cd "$1" && : >BENCHBRIEF
db_bench --db="$1" --benchmarks=fillseq,flush,waitforcompaction --num=20000 >/dev/null 2>&1
"""
OVERWRITE = """
db_bench --db="$1" --use_existing_db=1 --benchmarks=overwrite,compact --num=40000 --write_buffer_size=524288 \\
    >/dev/null 2>&1
"""
HASHES = 'cd "$1" && find . -name lost+found -prune -o -type f ! -name "LOG*" -print0 | sort -z | xargs -0 sha256sum'
KILLED = """
# Runs the script $1 on the directory $2, and kills it with all that it started when it has come to the program $3,
# before that does anything, or after.
mkdir -p /tmp/bin && rm -f /tmp/reached
real=$(command -v "$3")
{
    echo '#!/bin/sh'
    [ "$4" = before ] || echo "$real" '"$@"'
    echo 'touch /tmp/reached; sleep 60'
} >"/tmp/bin/$3"
chmod +x "/tmp/bin/$3"
PATH=/tmp/bin:$PATH setsid sh -c "$1" sh "$2" >/dev/null 2>&1 &
n=0
while [ ! -e /tmp/reached ] && [ $n -lt 300 ]; do sleep 0.1; n=$((n + 1)); done
kill -9 -- "-$!"
rm -f "/tmp/bin/$3"
[ -e /tmp/reached ]
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with snapshot_vm(tmp_path_factory.mktemp("vm")) as running:
        running.sh(POOLS)
        yield running


class Place:
    """A directory on the machine that its file system can snapshot."""

    def __init__(self, machine: Machine, system: str, name: str) -> None:
        self.machine, self.system, self.path = machine, system, f"/db/{name}"

    def step(self, name: str, user: str = "root") -> str:
        """Do a step: what it says when it is refused, else ""."""
        done = self.machine.run(step(self.system, name), self.path, user=user)
        assert bool(done.returncode) == bool(done.stdout), done.stdout + done.stderr
        return done.stdout.strip()

    def load(self) -> str:
        """Load a data set and take its snapshot; the digests of its files."""
        assert self.step("open") == ""
        self.sh(LOAD)
        assert self.step("take") == ""
        return self.sh(HASHES)

    def sh(self, text: str, *arguments: str) -> str:
        return self.machine.sh(text, self.path, *arguments)

    def is_restored_to(self, before: str) -> None:
        assert self.step("open") == ""
        assert self.step("restore") == ""
        assert self.sh(HASHES) == before


@pytest.fixture(params=SYSTEMS)
def place(machine: Machine, request: pytest.FixtureRequest) -> Place:
    name = re.sub(r"\W+", "_", request.node.name.removeprefix("test_"))[:20] + uuid.uuid4().hex[:6]
    machine.sh(PLACES[request.param], name)
    return Place(machine, request.param, name)


def test_a_database_is_the_same_bytes_after_any_writes(place: Place) -> None:
    before = place.load()
    for _ in range(2):
        place.sh(OVERWRITE)
        assert place.sh(HASHES) != before
        assert place.step("restore") == ""
        assert place.sh(HASHES) == before
    assert "20000 of 20000 found" in place.sh(
        'db_bench --db="$1" --use_existing_db=1 --benchmarks=readrandom --num=20000 2>&1'
    )


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_restore_that_was_killed_is_made_again_from_the_same_snapshot(place: Place, when: str) -> None:
    before = place.load()
    for program in {"zfs": ["zfs", "zpool"], "lvm_thin": ["umount", "lvremove", "lvcreate", "lvchange", "mount"]}[
        place.system
    ]:
        place.sh(OVERWRITE)
        place.machine.sh(KILLED, step(place.system, "restore"), place.path, program, when)
        place.is_restored_to(before)
