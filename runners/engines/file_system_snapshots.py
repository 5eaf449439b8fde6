"""Snapshots of a data directory, taken by its file system or by the volume manager below it.

A snapshot takes no longer for a terabyte than for a megabyte, and needs room only for what cells write. All file
systems share one mechanism, and each file system is an extension. The extension's script `snapshots.sh` defines the
functions below. Each step of the mechanism is one script in `scripts/by_system/` that calls them:

| function | what it does |
| --- | --- |
| `can` | exits with 1 and prints why when no snapshots of the directory are possible; changes nothing |
| `make` | makes the directory, which does not exist yet |
| `mend` | undoes or completes a restore that was cut short |
| `keep` | makes the read-only snapshot, as a whole or not at all |
| `show` | prints a directory with the snapshot's files, or exits with 1 when there is none |
| `hide` | undoes `show` |
| `put_back` | replaces all contents of the directory by the snapshot's, and waits until the room is free |
| `forget` | removes the snapshot, if there is one, and if benchbrief made it |
| `free` | prints how many KiB are free, and how many there are in all |

The scripts get the directory as $1, and its path without links in $real. $marker is the name of the file that makes the
directory ours. $snapshot is the ending of a snapshot's name. `scripts/parts/snapshot_names.sh` has more functions. The
scripts exit with 0, or print the reason and exit with 1.
"""

from __future__ import annotations

import re
from importlib.resources import as_file, files

from benchbrief.compiler.registry import SNAPSHOT_SPECS
from benchbrief.model.extension_spec import raised
from benchbrief.model.run_messages import say
from benchbrief.runners.engines import data_directories
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.jobs.commands import read_script, with_values
from benchbrief.runners.plugins import spec_of

FILE = "snapshots.sh"
"""The name of an extension's script."""
FUNCTIONS = ("can", "make", "mend", "keep", "show", "hide", "put_back", "forget", "free")


def find_lacking(script: str) -> tuple[str, ...]:
    """Return the functions that an extension's script should define but does not."""
    return tuple(name for name in FUNCTIONS if not re.search(rf"^\s*{name}\s*\(\)", script, re.MULTILINE))


class FileSystemSnapshots:
    """The scripts that take and restore snapshots on one file system."""

    def __init__(self, name: str) -> None:
        """Raises RunnerError if there is no usable extension of that name."""
        self.spec = spec_of(SNAPSHOT_SPECS, name)
        own = ""
        try:
            with as_file(files(self.spec.implementation) / FILE) as path:
                own = read_script(str(path), FILE)
            said = f"{FILE} lacks the function {', '.join(lacking)}" if (lacking := find_lacking(own)) else ""
        except BaseException as error:  # importing another package may raise anything
            said = raised(error)
        if said:
            raise RunnerError(say.snapshots_unusable(name=name, said=said), say.hint_snapshots_again())
        values = {
            "marker": data_directories.MARKER,
            "snapshot": data_directories.SNAPSHOT,
            "list": data_directories.LIST,
        }
        self._functions = with_values(read_script(__file__, "scripts/parts/snapshot_names.sh") + own, **values)

    @property
    def label(self) -> str:
        """The file system's name in the form that people use."""
        return self.spec.label

    def step(self, name: str) -> str:
        """Return the script of a step: `check`, `open`, `take`, `restore` or `forget`."""
        return self.calling(read_script(__file__, f"scripts/by_system/{name}.sh"))

    @property
    def free(self) -> str:
        """Return the script that prints the directory's free KiB and total KiB."""
        return self.calling("free\n")

    def calling(self, script: str) -> str:
        """Return a script that can call the file system's functions."""
        return self._functions + script
