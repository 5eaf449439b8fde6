"""Snapshots of a data directory by its file system: `reset = btrfs`, `zfs` or `lvm_thin`.

They take no longer for a terabyte than for a megabyte, and need room only for what cells write. There is one
mechanism. Each file system has one script in `systems/`, which defines the same functions, and each step of the
mechanism is one script in `steps/` that calls them:

| function | what it does |
| --- | --- |
| `can` | ends with 1, and says why, when there can be no snapshots of the directory; changes nothing |
| `make` | makes the directory that is not there |
| `mend` | undoes or ends what a restore that was cut short has left |
| `keep` | makes the read-only snapshot, as a whole or not at all |
| `show`, `hide` | prints a directory with the snapshot's files, or ends with 1 when there is none; ends that |
| `put_back` | replaces all that is in the directory by what the snapshot holds, and waits until the room is free |
| `forget` | removes the snapshot, if there is one, and if benchbrief made it |
| `free` | prints the KiB that are free, and all |

The scripts get the directory as $1. They exit with 0, or print why not and exit with 1.
"""

from __future__ import annotations

from benchbrief.runners.engines import data_directories
from benchbrief.runners.jobs.commands import read_script, with_values

_LIST = "BENCHBRIEF.files"
"""The file in a snapshot that lists the names, sizes and times of the snapshot's files."""


def run_step(system: str, name: str) -> str:
    """Return the script of a step in `steps/` for a file system."""
    return with_system(system, read_script(__file__, f"steps/{name}.sh"))


def free(system: str) -> str:
    """Return the script that prints the KiB that the directory has free, and all its KiB."""
    return with_system(system, "free\n")


def with_system(system: str, script: str) -> str:
    """Return a script that can call the functions of a file system."""
    values = {"marker": data_directories.MARKER, "snapshot": data_directories.SNAPSHOT, "list": _LIST}
    return with_values(read_script(__file__, f"systems/{system}.sh") + script, **values)
