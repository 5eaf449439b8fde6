"""Tests that snapshots by ZFS are refused with the reason, and change nothing, on a host without ZFS.
`test_zfs_in_vm.py` has the other tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.extending.snapshot_trials import TrialPlace


@pytest.fixture
def elsewhere(tmp_path: Path) -> TrialPlace:
    """Return a directory that does not exist yet, on a file system other than ZFS."""
    return TrialPlace("zfs", tmp_path / "db")


def test_a_directory_on_another_file_system_is_refused_and_not_made(elsewhere: TrialPlace) -> None:
    for step in ("check", "open"):
        said = elsewhere.step(step)
        assert said.startswith(f"{elsewhere.path.parent} is on ")
        assert said.endswith(", and not on zfs")
    assert not elsewhere.path.exists()


def test_a_directory_that_is_no_dataset_is_neither_kept_nor_restored(elsewhere: TrialPlace) -> None:
    elsewhere.path.mkdir()
    elsewhere.load()
    before = elsewhere.digests()
    assert elsewhere.step("take") == f"{elsewhere.path} is not where a dataset of ZFS is mounted"
    assert elsewhere.step("restore").startswith(f"there is no snapshot of {elsewhere.path}")
    assert elsewhere.step("forget") == "", "there is none to remove"
    assert elsewhere.digests() == before
