"""The ways to bring a RocksDB database back from a snapshot that was taken after its load: how each is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchbrief.compiler.messages.text import Text
from benchbrief.compiler.planning.plan import Reset
from benchbrief.runners.engines import data_directories, subvolumes
from benchbrief.runners.engines.rocksdb import linked_snapshots
from benchbrief.runners.jobs.shell_scripts import read_script, with_values
from benchbrief.runners.messages.run_messages import say


@dataclass(frozen=True)
class SnapshotWay:
    """Scripts that take a snapshot, restore it, and tell what it holds, and the sentence `told` on a restore.

    `check`, `open` and `forget` are run before the directory is looked at, made ours and emptied; "" does nothing.
    `alone`: nothing of the database may lie outside the directory, as no load would follow to notice. `without_room`:
    the snapshot takes no second copy's room.
    """

    take: str
    restore: str
    holds: str
    told: Callable[[], Text]
    check: str = ""
    open: str = ""
    forget: str = ""
    alone: bool = True
    without_room: bool = True


WAYS: Mapping[Reset, SnapshotWay] = {
    "snapshot": SnapshotWay(
        data_directories.TAKE,
        data_directories.RESTORE,
        read_script(__file__, "scripts/snapshot_holds_data.sh"),
        say.restored,
        alone=False,
        without_room=False,
    ),
    "links": SnapshotWay(
        linked_snapshots.TAKE, linked_snapshots.RESTORE, linked_snapshots.HOLDS, say.restored_by_links
    ),
    "btrfs": SnapshotWay(
        subvolumes.TAKE,
        subvolumes.RESTORE,
        with_values(read_script(__file__, "scripts/subvolume_holds_data.sh"), **subvolumes.VALUES),
        say.restored_by_btrfs,
        check=subvolumes.CHECK,
        open=subvolumes.OPEN,
        forget=subvolumes.FORGET,
    ),
}
