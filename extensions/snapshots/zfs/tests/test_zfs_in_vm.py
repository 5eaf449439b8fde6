"""Tests properties of snapshots that only ZFS has, in the virtual machine of `tools/snapshot-vm`. Skipped if the
machine's image is missing."""

from __future__ import annotations

from tests.support.snapshot_vm import CHANGE, FILES, FILL, HASHES, PLACES, Machine, Place, advice, in_vm

pytestmark = in_vm


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
