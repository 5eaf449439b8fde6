"""Tests that snapshots by ZFS and LVM restore the same bytes, with real db_bench in the virtual machine of
`tools/snapshot-vm`. Skipped if the machine's image is missing."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

import pytest

from benchbrief.runners.engines.file_system_snapshots import FileSystemSnapshots
from tests.support.snapshot_vm import Machine, snapshot_vm

pytestmark = pytest.mark.timeout(3600)
"""Long time limits: without KVM and beside other work, a boot takes minutes, and a test with several restores takes
half an hour."""

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
FILES = 'cd "$1" && : >BENCHBRIEF && echo 1 >CURRENT && head -c 300000 /dev/urandom >000001.sst'
CHANGE = 'cd "$1" && rm CURRENT && echo junk >>000001.sst && touch more'
FILL = 'while dd if=/dev/urandom of="$1/rest.$((n = ${n:-0} + 1))" bs=1M count=1 conv=fsync 2>/dev/null; do :; done'
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
kill -s KILL -- "-$!" || exit
rm -f "/tmp/bin/$3"
[ -e /tmp/reached ]
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with snapshot_vm(tmp_path_factory.mktemp("vm")) as running:
        running.sh(POOLS)
        yield running


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
        """Do a step. Returns the refusal, or "" if the step succeeds."""
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


@pytest.fixture(params=SYSTEMS)
def place(machine: Machine, request: pytest.FixtureRequest) -> Place:
    name = re.sub(r"\W+", "_", request.node.name.removeprefix("test_"))[:20] + uuid.uuid4().hex[:6]
    return Place.made(machine, request.param, name)


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
        place.machine.sh(KILLED, FileSystemSnapshots(place.system).step("restore"), place.path, program, when)
        place.is_restored_to(before)


def advice(said: str) -> str:
    """Return the command that a refusal advises."""
    found = re.search(r"`([^`]+)`", said)
    assert found, said
    return found[1]


def test_what_leads_out_of_the_directory_is_refused(place: Place) -> None:
    assert place.step("open") == ""
    place.sh(FILES)
    place.sh('ln -s /etc/hostname "$1/away.sst"')
    assert place.step("take") == f"away.sst in {place.path} leads out of it, so a snapshot would not keep it"


def test_a_directory_without_the_marker_is_not_restored(place: Place) -> None:
    place.keep()
    place.sh('rm "$1/BENCHBRIEF" && echo precious >"$1/theirs"')
    assert "does not hold the marker BENCHBRIEF, so it is not ours: empty it by hand" in place.step("restore")
    assert place.sh('cat "$1/theirs"') == "precious"


def test_a_directory_without_a_snapshot_is_not_restored(place: Place) -> None:
    assert place.step("open") == ""
    place.sh(FILES)
    assert place.step("restore") == f"there is no snapshot of {place.path}: a new run loads the data again"
    assert place.step("forget") == ""


def test_a_snapshot_whose_files_changed_is_not_restored(place: Place) -> None:
    place.keep()
    place.sh('touch "$1/more"')
    place.sh(
        {
            "zfs": 'zfs destroy "tank/$2@BENCHBRIEF.snapshot" && zfs snapshot "tank/$2@BENCHBRIEF.snapshot"',
            "lvm_thin": 'v=vg/$2.BENCHBRIEF.snapshot; mkdir -p /mnt/w && lvchange -q -prw "$v" && '
            'lvchange -q -ay -K "$v" && mount "/dev/$v" /mnt/w && touch /mnt/w/more && '
            'umount /mnt/w && lvchange -q -an "$v"',
        }[place.system],
        place.name,
    )
    assert "have changed: a new run loads the data again" in place.step("restore")
    place.sh('[ -e "$1/more" ]')


def test_another_s_snapshot_of_that_name_is_in_the_way_and_stays(place: Place) -> None:
    assert place.step("open") == ""
    kept = {"zfs": f"tank/{place.name}@BENCHBRIEF.snapshot", "lvm_thin": f"vg/{place.name}.BENCHBRIEF.snapshot"}[
        place.system
    ]
    place.machine.sh(
        {"zfs": f"zfs snapshot {kept}", "lvm_thin": f"lvcreate -q -y -s -n {kept.removeprefix('vg/')} vg/{place.name}"}[
            place.system
        ]
    )
    place.sh(FILES)
    for name in ("take", "forget"):
        said = place.step(name)
        assert said.startswith(f"{kept} is in the way, and was not made by benchbrief")
    place.machine.sh(f"{ {'zfs': 'zfs list', 'lvm_thin': 'lvs'}[place.system] } {kept}")
    place.machine.sh(advice(said).replace("NAME", f"{place.name}_theirs"))
    assert place.step("take") == ""


def test_a_user_who_is_not_root_reads_what_to_allow_and_then_has_a_whole_cycle(place: Place) -> None:
    for _ in range(4):
        said = place.step("check", user="lab")
        if not said:
            break
        place.machine.sh(advice(said))
    assert said == ""
    assert place.step("open", user="lab") == ""
    place.sh(FILES, user="lab")
    assert place.step("take", user="lab") == ""
    before = place.sh(HASHES)
    place.sh(CHANGE, user="lab")
    assert place.sh(HASHES) != before
    assert place.step("restore", user="lab") == ""
    assert place.sh(HASHES) == before
    assert place.step("forget", user="lab") == ""
    place.machine.sh("rm -f /etc/sudoers.d/benchbrief")


def test_a_zfs_snapshot_that_someone_took_later_is_not_destroyed(machine: Machine) -> None:
    place = Place.made(machine, "zfs", "later")
    before = place.keep()
    place.sh(CHANGE)
    machine.sh("zfs snapshot tank/later@theirs")
    assert place.step("restore").startswith(
        "tank/later@theirs was taken after the snapshot of /db/later, and a rollback"
    )
    place.sh('[ -e "$1/more" ]')
    machine.sh("zfs destroy tank/later@theirs")
    assert place.step("restore") == ""
    assert place.sh(HASHES) == before


def test_a_part_of_a_zfs_dataset_that_is_mounted_elsewhere_is_refused(machine: Machine) -> None:
    machine.sh(PLACES["zfs"] + ' && mkdir "/db/$1/part" /db/bound && mount --bind "/db/$1/part" /db/bound', "home")
    place = Place(machine, "zfs", "bound")
    said = "/db/bound is a directory of tank/home that is mounted here, and snapshots are of whole datasets"
    assert said in place.step("check")
    place.sh(FILES)
    assert place.step("take") == "/db/bound is not where a dataset of ZFS is mounted"
    assert "there is no snapshot of /db/bound" in place.step("restore")
    assert machine.sh("zfs list -Ht snapshot tank/home") == ""


def test_a_zfs_dataset_that_is_not_mounted_is_named(machine: Machine) -> None:
    place = Place.made(machine, "zfs", "absent")
    for umount in ("zfs umount tank/absent", "zfs umount tank/absent; rmdir /db/absent"):
        machine.sh(umount)
        said = place.step("check")
        assert said == "tank/absent, which belongs to /db/absent, is not mounted: `sudo zfs mount tank/absent`"
        assert place.step("open") == said
        machine.sh(advice(said))
        assert place.step("check") == ""


def test_a_zfs_directory_that_is_no_dataset_is_refused_and_one_that_is_not_there_is_made(machine: Machine) -> None:
    Place.made(machine, "zfs", "above")
    machine.sh("mkdir /db/above/plain")
    assert "is no dataset of ZFS, but a directory of tank/above" in Place(machine, "zfs", "above/plain").step("check")
    said = Place(machine, "zfs", "above/a/b").step("check")
    assert "can't be made, as /db/above/a is no dataset of ZFS" in said
    machine.sh(advice(said))
    assert Place(machine, "zfs", "above/a/b").step("check") == ""
    assert Place(machine, "zfs", "above/made").step("open") == ""
    assert machine.sh("zfs list -Ho name /db/above/made") == "tank/above/made"
    assert Place(machine, "zfs", "../etc").step("check").startswith("/etc is on ext2/ext3, and not on zfs")


def test_a_zfs_dataset_that_shows_its_snapshots_is_refused(machine: Machine) -> None:
    place = Place.made(machine, "zfs", "shown")
    machine.sh("zfs set snapdir=visible tank/shown")
    machine.sh(advice(place.step("check")))
    assert place.step("check") == ""


def test_a_full_zfs_dataset_is_rolled_back(machine: Machine) -> None:
    place = Place.made(machine, "zfs", "full")
    before = place.keep()
    machine.sh("zfs set quota=20M tank/full")
    place.sh(FILL)
    assert place.step("restore") == ""
    assert place.sh(HASHES) == before


def test_a_copy_on_write_snapshot_of_the_volume_is_not_lost(machine: Machine) -> None:
    place = Place.made(machine, "lvm_thin", "origin")
    before = place.keep()
    place.sh(CHANGE)
    machine.sh("lvcreate -q -y -s -L 32M -n before_run vg/origin")
    for name in ("check", "open", "restore"):
        said = place.step(name)
        assert said.startswith("vg/before_run would be lost with vg/origin, which is removed for each restore")
    machine.sh("lvs vg/before_run && lvs vg/origin")
    place.sh('[ -e "$1/more" ]')
    machine.sh(advice(said).replace("lvremove", "lvremove -y"))
    assert place.step("restore") == ""
    assert place.sh(HASHES) == before


def test_a_volume_keeps_its_own_tags(machine: Machine) -> None:
    place = Place.made(machine, "lvm_thin", "tagged")
    place.keep()
    for change, tags in (("--addtag mine --addtag b&w", "b&w,mine"), ("--deltag mine", "b&w")):
        machine.sh(f"lvchange -q {change.replace('&', chr(92) + '&')} vg/tagged")
        assert place.step("restore") == ""
        assert machine.sh("lvs --noheadings -o lv_tags vg/tagged") == tags


def test_where_someone_looks_at_the_snapshot_stays_mounted(machine: Machine) -> None:
    place = Place.made(machine, "lvm_thin", "seen")
    before = place.keep()
    place.sh(CHANGE)
    kept = "vg/seen.BENCHBRIEF.snapshot"
    machine.sh(f"mkdir -p /mnt/look && lvchange -q -ay -K {kept} && mount -o ro,noload /dev/{kept} /mnt/look")
    assert place.step("restore") == ""
    assert place.sh(HASHES) == before
    machine.sh("[ -f /mnt/look/BENCHBRIEF ]")
    said = place.step("forget")
    assert said == f"{kept} is mounted at /mnt/look: `sudo umount /mnt/look`"
    machine.sh(advice(said))
    assert place.step("forget") == ""


def test_a_look_at_the_snapshot_that_fails_leaves_nothing(machine: Machine) -> None:
    place = Place.made(machine, "lvm_thin", "failing")
    place.keep()
    machine.sh("mkdir -p /tmp/none && printf '#!/bin/sh\\nexit 1\\n' >/tmp/none/mount && chmod +x /tmp/none/mount")
    done = machine.run("PATH=/tmp/none:$PATH\n" + FileSystemSnapshots("lvm_thin").step("restore"), place.path)
    assert "there is no snapshot" in done.stdout
    machine.sh("! ls -d /tmp/benchbrief.* && [ ! -e /dev/vg/failing.BENCHBRIEF.snapshot ]")
    assert place.step("restore") == ""


def test_a_volume_that_is_in_use_is_not_removed(machine: Machine) -> None:
    place = Place.made(machine, "lvm_thin", "busy")
    before = place.keep()
    place.sh(CHANGE)
    process = place.sh('cd "$1"; setsid sleep 600 >/dev/null 2>&1 </dev/null & echo $!')
    assert "target is busy.: `fuser -vm /db/busy` says who uses it" in place.step("restore")
    place.sh(f'[ -e "$1/more" ] && kill {process}')
    machine.sh("mkdir -p /mnt/second && mount /dev/vg/busy /mnt/second")
    assert "`findmnt -S /dev/vg/busy`" in place.step("restore")
    place.sh('[ -e "$1/more" ] && [ -e /mnt/second/more ] && umount /mnt/second')
    assert place.step("restore") == ""
    assert place.sh(HASHES) == before


def test_a_full_pool_is_refused_before_a_cell_and_a_restore_frees_it(machine: Machine) -> None:
    machine.sh(
        "lvcreate -q -y -T -L 64M --errorwhenfull y vg/small && lvcreate -q -y -T -V 1G -n full vg/small && "
        "mkfs.ext4 -q /dev/vg/full && mkdir -p /db/full && mount /dev/vg/full /db/full"
    )
    place = Place(machine, "lvm_thin", "full")
    before = place.keep()
    place.sh(FILL)
    said = place.step("check")
    assert said.startswith("the thin pool vg/small of /db/full is not well (out_of_data)")
    assert place.step("restore") == ""
    assert place.sh(HASHES) == before
    assert place.step("check") == ""


def test_an_xfs_is_restored(machine: Machine) -> None:
    machine.sh(PLACES["lvm_thin"].replace("mkfs.ext4", "mkfs.xfs"), "xfs")
    place = Place(machine, "lvm_thin", "xfs")
    before = place.load()
    for _ in range(2):
        place.sh(OVERWRITE)
        assert place.step("restore") == ""
        assert place.sh(HASHES) == before


def test_what_is_no_thin_volume_is_refused(machine: Machine) -> None:
    assert "/db/none is not where a file system is mounted: `lvcreate" in Place(machine, "lvm_thin", "none").step(
        "check"
    )
    machine.sh("mkdir -p /db/memory /db/btrfs && mount -t tmpfs none /db/memory")
    assert "is on none, which is no thin volume of LVM" in Place(machine, "lvm_thin", "memory").step("check")
    machine.sh(PLACES["lvm_thin"].replace("mkfs.ext4", "mkfs.btrfs").replace("mkdir", "modprobe btrfs; mkdir"), "other")
    assert "/db/other is btrfs, and snapshots of LVM are made of ext4" in Place(machine, "lvm_thin", "other").step(
        "check"
    )
