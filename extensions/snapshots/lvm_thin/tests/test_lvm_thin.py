"""Tests that snapshots by LVM are refused with the reason, and change nothing, on a host without thin volumes.
`test_lvm_thin_in_vm.py` has the other tests."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from benchbrief.extending.snapshot_trials import TrialPlace

HAS_LVM = shutil.which("lvs", path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is not None


def test_what_lacks_is_named_and_nothing_is_made(tmp_path: Path) -> None:
    place, odd = TrialPlace("lvm_thin", tmp_path / "db"), TrialPlace("lvm_thin", tmp_path / "my db")
    for step in ("check", "open"):
        if HAS_LVM:
            assert f"{place.path} is not where a file system is mounted: `lvcreate -T" in place.step(step)
            assert "has a character that LVM can't keep in a tag" in odd.step(step)
        else:
            assert place.step(step) == odd.step(step) == "the command lvs is not there (package lvm2)"
    assert not place.path.exists()


def test_a_directory_that_is_no_volume_is_neither_kept_nor_restored(tmp_path: Path) -> None:
    place = TrialPlace("lvm_thin", tmp_path / "db")
    place.path.mkdir()
    place.load()
    before = place.digests()
    assert f"{place.path} is not where a file system is mounted" in place.step("take")
    lacks = "is not where a file system is mounted" if HAS_LVM else "the command lvs is not there (package lvm2)"
    assert lacks in place.step("restore")
    assert place.step("forget") == "", "there is none to remove"
    assert place.digests() == before
