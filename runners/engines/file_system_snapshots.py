"""Snapshots of a data directory by its file system, or by what manages its volume.

They take no longer for a terabyte than for a megabyte, and need room only for what cells write. There is one
mechanism. Each file system is an extension: its script `snapshots.sh` defines the same functions, and each step of the
mechanism is one script in `scripts/by_system/` that calls them:

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

The scripts get the directory as $1, and its path without links in $real. $marker is the name of the file that makes
it ours, $snapshot what the name of a snapshot ends with, and `scripts/parts/snapshot_names.sh` has more functions. They
exit with 0, or print why not and exit with 1.
"""

from __future__ import annotations

import re
from importlib.resources import as_file, files

from benchbrief.compiler.registry import SNAPSHOT_SPECS
from benchbrief.model.extension_spec import raised
from benchbrief.runners.engines import data_directories
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.jobs.commands import read_script, with_values
from benchbrief.runners.plugins import spec_of

FILE = "snapshots.sh"
"""The script of an extension."""
FUNCTIONS = ("can", "make", "mend", "keep", "show", "hide", "put_back", "forget", "free")


def find_lacking(script: str) -> tuple[str, ...]:
    """Return the functions that an extension's script does not define."""
    return tuple(name for name in FUNCTIONS if not re.search(rf"^\s*{name}\s*\(\)", script, re.MULTILINE))


class FileSystemSnapshots:
    """The scripts of the snapshots of one file system."""

    def __init__(self, name: str) -> None:
        """Raises RunnerError when no such extension can be used."""
        self.spec = spec_of(SNAPSHOT_SPECS, name)
        try:
            with as_file(files(self.spec.implementation) / FILE) as path:
                own = read_script(str(path), FILE)
            if lacking := find_lacking(own):
                raise RunnerError(f"its {FILE} lacks the function {', '.join(lacking)}")
        except BaseException as error:  # importing another package may raise anything
            what = f"the snapshot `{name}` can't be used: {self.spec.implementation}: {raised(error)}"
            raise RunnerError(what, "install the package that provides it again") from error
        values = {
            "marker": data_directories.MARKER,
            "snapshot": data_directories.SNAPSHOT,
            "list": data_directories.LIST,
        }
        self._functions = with_values(read_script(__file__, "scripts/parts/snapshot_names.sh") + own, **values)

    @property
    def label(self) -> str:
        """What people call the file system."""
        return self.spec.label

    def step(self, name: str) -> str:
        """Return the script of a step: `check`, `open`, `take`, `restore` or `forget`."""
        return self.calling(read_script(__file__, f"scripts/by_system/{name}.sh"))

    @property
    def free(self) -> str:
        """The script that prints the KiB that the directory has free, and all its KiB."""
        return self.calling("free\n")

    def calling(self, script: str) -> str:
        """Return a script that can call the functions of the file system."""
        return self._functions + script
