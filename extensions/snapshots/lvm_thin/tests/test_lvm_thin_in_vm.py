"""Tests properties of snapshots that only LVM has, in the virtual machine of `tools/snapshot-vm`. Skipped if the
machine's image is missing."""

from __future__ import annotations

from benchbrief.runners.engines.file_system_snapshots import FileSystemSnapshots
from tests.support.snapshot_vm import CHANGE, FILL, HASHES, OVERWRITE, PLACES, Machine, Place, advice, in_vm

pytestmark = in_vm


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
