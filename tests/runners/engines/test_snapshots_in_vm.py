"""Tests that snapshots by ZFS and LVM restore the same bytes, with real db_bench in the virtual machine of
`tools/snapshot-vm`. Skipped if the machine's image is missing."""

from __future__ import annotations

import re
import uuid

import pytest

from benchbrief.extending.snapshot_trials import PROMISES
from benchbrief.runners.engines.file_system_snapshots import FileSystemSnapshots
from tests.support.snapshot_vm import CHANGE, FILES, HASHES, OVERWRITE, Machine, Place, advice, in_vm

pytestmark = in_vm
SYSTEMS = ("zfs", "lvm_thin")
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


@pytest.mark.long
@pytest.mark.parametrize("promise", [each.__name__ for each in PROMISES])
@pytest.mark.parametrize("name", SYSTEMS)
def test_its_trial_finds_that_each_promise_is_kept(machine: Machine, name: str, promise: str) -> None:
    assert machine.tried(name, promise) == ""


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
