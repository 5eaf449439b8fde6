"""The ways to bring a RocksDB database back from a snapshot that was taken after its load: how each is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from benchbrief.compiler.planning.data_states import writes
from benchbrief.compiler.registry import TOOL_SPECS
from benchbrief.model.engine_spec import BY_FILE_SYSTEM, Reset
from benchbrief.model.message import Message, speaker
from benchbrief.model.plan import Cell, Plan, Workload
from benchbrief.model.run_messages import RunMessages
from benchbrief.runners.engines import data_directories
from benchbrief.runners.engines.file_systems.file_system_snapshots import free, run_step, with_system
from benchbrief.runners.hosts.facts.host_facts import size_text
from benchbrief.runners.jobs.shell_scripts import read_script, with_values
from benchbrief.runners.seams import Room


class RocksdbMessages(RunMessages, Protocol):
    def restored_by_links(self) -> Message: ...
    def restored_by_system(self, *, system: object) -> Message: ...
    def snapshot_changed(self, *, path: object, host: object) -> Message: ...
    def files_changed(self, *, path: object, host: object) -> Message: ...
    def table_changed(self, *, name: object, path: object, host: object) -> Message: ...
    def size_keys(self, *, benchmark: object) -> Message: ...
    def no_server(self) -> Message: ...
    def database_gone(self, *, path: object, host: object) -> Message: ...
    def load_short_rocksdb(self, *, n: object, path: object, found: object) -> Message: ...
    def no_room_left(self, *, path: object, host: object, free: object, size: object) -> Message: ...
    def no_rocksdb(self, *, path: object) -> Message: ...
    def no_size(self, *, host: object, path: object, said: object) -> Message: ...
    def hint_load_again(self) -> Message: ...
    def hint_unmounted(self) -> Message: ...


say: RocksdbMessages = speaker(RocksdbMessages)


def _script(name: str) -> str:
    values = {"marker": data_directories.MARKER, "snapshot": data_directories.SNAPSHOT, "list": data_directories.LIST}
    return with_values(read_script(__file__, f"scripts/{name}.sh"), **values)


TAKE = _script("take_links")
RESTORE = _script("restore_links")
HOLDS = _script("snapshot_holds_data")

ELSEWHERE = "grep -Eom 1 '^[[:space:]]*(wal_dir|db_paths|cf_paths)[[:space:]]*=[[:space:]]*[^[:space:]]+' -- \"$2\""
"""Prints the first option of the file $2 by which a part of a database lies outside its directory."""


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
    describe: Callable[[], Message]
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
        HOLDS,
        say.restored,
        alone=False,
        without_room=False,
    ),
    "links": SnapshotWay(TAKE, RESTORE, HOLDS, say.restored_by_links),
    **{system: _by(system) for system in BY_FILE_SYSTEM},
}


_ROOM_FACTOR = 1.25
"""A load writes each record about once (to sorted files, with its log off). The rest is for indexes and compactions."""
_ROOM_SPARE = 64 << 20


def room_for(plan: Plan, cell: Cell) -> Room:
    """Estimate how many bytes a cell's load needs."""
    workload = plan.workloads[cell.workload]
    records = cell.dataset.records if cell.dataset else float(workload.properties.get("records", 0))
    data = int(records * record_size(workload))
    reset = plan.databases[cell.database].reset
    beside = reset == "snapshot" or (reset in WAYS and _writes(plan, cell))
    needed = (2 if beside else 1) * int(data * _ROOM_FACTOR) + _ROOM_SPARE
    twice = ", all of it twice for the snapshot" if reset == "snapshot" else ", all of it twice for what cells write"
    parts = f"{size_text(data)} of data, a quarter more for compactions{twice if beside else ''}"
    why = f"{parts}, and {size_text(_ROOM_SPARE)} to spare"
    return Room(needed, why)


def _writes(plan: Plan, cell: Cell) -> bool:
    """Return whether a cell of the same database writes to it. Its new files stand beside those of the snapshot."""
    others = (other for other in plan.cells if other.database == cell.database)
    return any(writes(plan.workloads[other.workload], other.events) for other in others)


def record_size(workload: Workload) -> float:
    """Return the bytes of a record, before compression, as its load generator counts them; 0 when unknown."""
    family = TOOL_SPECS.usable(workload.family)
    return family.record_bytes(workload.properties) if family else 0.0
