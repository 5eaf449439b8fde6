"""The ways to bring a RocksDB database back from a snapshot that was taken after its load: how each is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from benchbrief.compiler.messages.text import Text
from benchbrief.compiler.planning.plan import BY_FILE_SYSTEM, Reset
from benchbrief.runners.engines import data_directories
from benchbrief.runners.engines.file_systems.file_system_snapshots import free, run_step, with_system
from benchbrief.runners.engines.rocksdb import linked_snapshots
from benchbrief.runners.engines.rocksdb.rocksdb_messages import say
from benchbrief.runners.jobs.shell_scripts import read_script

FREE = "df -Pk -- \"$1\" | awk 'NR == 2 { print $4, $2 }'"


@dataclass(frozen=True)
class SnapshotWay:
    """Scripts that take a snapshot, restore it, and say what it holds; `describe` gives the sentence on a restore.

    `check`, `open` and `forget` are run before the directory is looked at, made ours and emptied; "" does nothing.
    `free` prints the free and all KiB. `alone`: nothing of the database may lie outside the directory, as no load would
    follow to notice. `without_room`: the snapshot takes no second copy's room.
    """

    take: str
    restore: str
    holds: str
    describe: Callable[[], Text]
    check: str = ""
    open: str = ""
    forget: str = ""
    free: str = FREE
    alone: bool = True
    without_room: bool = True


def _by(system: Reset) -> SnapshotWay:
    """Return the way of a file system."""
    return SnapshotWay(
        run_step(system, "take"),
        run_step(system, "restore"),
        with_system(system, read_script(__file__, "scripts/system_holds_data.sh")),
        partial(say.restored_by_system, system=BY_FILE_SYSTEM[system]),
        check=run_step(system, "check"),
        open=run_step(system, "open"),
        forget=run_step(system, "forget"),
        free=free(system),
    )


WAYS: Mapping[Reset, SnapshotWay] = {
    "snapshot": SnapshotWay(
        data_directories.TAKE,
        data_directories.RESTORE,
        linked_snapshots.HOLDS,
        say.restored,
        alone=False,
        without_room=False,
    ),
    "links": SnapshotWay(
        linked_snapshots.TAKE, linked_snapshots.RESTORE, linked_snapshots.HOLDS, say.restored_by_links
    ),
    **{system: _by(system) for system in BY_FILE_SYSTEM},
}
