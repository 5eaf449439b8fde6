"""Snapshots of a data directory that is a btrfs subvolume (`reset = btrfs`).

They take as long for a terabyte as for a megabyte, and room only for what cells write. The file system makes each as a
whole or not at all. The snapshot is read-only and lies beside the directory, as do, for a moment, the directory's
successor and predecessor while one is restored. The page cache holds nothing of what was restored: its files are new.
"""

from __future__ import annotations

from benchbrief.runners.engines import data_directories
from benchbrief.runners.jobs.shell_scripts import read_script, with_values

LIST = "BENCHBRIEF.files"
"""The names, sizes and times of the files of a snapshot, in it."""
VALUES = {"marker": data_directories.MARKER, "snapshot": data_directories.SNAPSHOT, "list": LIST}
"""What each script on subvolumes has to know."""


def _script(name: str) -> str:
    return with_values(read_script(__file__, f"scripts/{name}.sh"), **VALUES)


# Every script gets the directory as $1. It exits with 0, or prints why not and exits with 1.
CHECK = _script("check_subvolume")
OPEN = _script("open_subvolume")
FORGET = _script("forget_subvolume")
TAKE = _script("take_subvolume")
RESTORE = _script("restore_subvolume")
