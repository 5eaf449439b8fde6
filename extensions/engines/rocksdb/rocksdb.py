"""The RocksDB engine: a directory on the host under test, which the load generator opens. There is no server.

The directory has a marker that makes it ours (see `data_directories.py`). The marker also names the data set of a
checked load, counts the cells that have written to it since, and records RocksDB's own identity of the database. That
identity changes whenever a database is created, so we notice if a benchmark fills the directory anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar, Protocol

from benchbrief.extend import directories, programs
from benchbrief.extend.common import (
    BadOutput,
    Cell,
    Command,
    CommonSentences,
    Completed,
    LoadShort,
    Message,
    Plan,
    PlanRefused,
    RunnerError,
    ServerFailed,
    ToolMissing,
    read_script,
    run_persistently,
    size_text,
    speaker,
    with_values,
)
from benchbrief.extend.directories import FileSystemSnapshots, by_file_system
from benchbrief.extend.engines import DirectoryEngine, Reset, Room, Size, command_files, driver, record_bytes, writes
from benchbrief.extend.tools import HoldsEngine

KEPT = "BENCHBRIEF.state"
"""The name of the file that lists the database's files as the load or the last cell left them."""
BEGUN = "BENCHBRIEF.begun"
"""The name of the file that lists the database's files as the current cell found them."""

HOLDS = read_script(__file__, "scripts/holds_data.sh")
BEGIN = read_script(__file__, "scripts/begin_cell.sh")
END = read_script(__file__, "scripts/end_cell.sh")


class RocksdbMessages(CommonSentences, Protocol):
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
    def options_file_unread(self, *, path: object, host: object) -> Message: ...
    def options_elsewhere(
        self, *, reset: object, database: object, path: object, host: object, said: object
    ) -> Message: ...
    def no_rocksdb_after_reset(self, *, path: object, host: object) -> Message: ...
    def snapshot_unrestored(self, *, path: object, host: object, said: object) -> Message: ...
    def files_unnoted(self, *, path: object, host: object, said: object) -> Message: ...
    def reset_impossible(self, *, reset: object, database: object, host: object, said: object) -> Message: ...
    def load_no_room(self, *, needed: object, path: object, host: object, why: object, free: object) -> Message: ...
    def room_once(self, *, data: object, spare: object) -> Message: ...
    def room_for_snapshot(self, *, data: object, spare: object) -> Message: ...
    def room_for_writes(self, *, data: object, spare: object) -> Message: ...
    def hint_options_file(self, *, origin: object) -> Message: ...
    def hint_options_elsewhere(self, *, origin: object) -> Message: ...
    def hint_after_reset(self, *, workload: object, origin: object) -> Message: ...
    def hint_reset_links(self, *, origin: object) -> Message: ...
    def hint_no_snapshot(self, *, origin: object) -> Message: ...
    def hint_load_room(self) -> Message: ...
    def hint_load_room_links(self) -> Message: ...


say: RocksdbMessages = speaker(RocksdbMessages)


def _script(name: str) -> str:
    values = {"marker": directories.MARKER, "snapshot": directories.SNAPSHOT, "list": directories.LIST}
    return with_values(read_script(__file__, f"scripts/{name}.sh"), **values)


TAKE = _script("take_links")
RESTORE = _script("restore_links")
HOLDS_SNAPSHOT = _script("snapshot_holds_data")

ELSEWHERE = "grep -Eom 1 '^[[:space:]]*(wal_dir|db_paths|cf_paths)[[:space:]]*=[[:space:]]*[^[:space:]]+' -- \"$2\""
"""A command that searches the file $2 for options that put a part of the database outside its directory, and prints the
first one."""


FREE = "df -Pk -- \"$1\" | awk 'NR == 2 { print $4, $2 }'"


@dataclass(frozen=True)
class SnapshotWay:
    """The scripts for one kind of snapshot. They take it, restore it, and print which data set it holds.

    `check` runs before the directory is looked at, `open` before we claim it, and `forget` before it is emptied. Each
    is "" if there is nothing to do. `free` prints the free KiB and all KiB. `alone` means that no part of the database
    may lie outside the directory, because no later load would notice it. `without_room` means that a snapshot needs no
    room for a second copy. `describe` returns the sentence about a restore.
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


def way_of(reset: Reset) -> SnapshotWay | None:
    """Return the scripts for a reset by snapshots, or None for any other reset. Raises RunnerError if the kind of
    snapshot is unknown."""
    if not by_file_system(reset):
        return WAYS.get(reset)
    system = FileSystemSnapshots(reset)
    return SnapshotWay(
        system.step("take"),
        system.step("restore"),
        system.calling(read_script(__file__, "scripts/system_holds_data.sh")),
        partial(say.restored_by_system, system=system.label),
        check=system.step("check"),
        open=system.step("open"),
        forget=system.step("forget"),
        free=system.free,
    )


WAYS: Mapping[Reset, SnapshotWay] = {
    "snapshot": SnapshotWay(
        directories.TAKE,
        directories.RESTORE,
        HOLDS_SNAPSHOT,
        say.restored,
        alone=False,
        without_room=False,
    ),
    "links": SnapshotWay(TAKE, RESTORE, HOLDS_SNAPSHOT, say.restored_by_links),
}


_ROOM_FACTOR = 1.25
"""How many bytes of room a load needs for each byte of its records. With RocksDB's log off, the load writes each byte
about once, to sorted files. The rest is for indexes and compactions."""
_ROOM_SPARE = 64 << 20


def room_for(plan: Plan, cell: Cell) -> Room:
    """Estimate how many bytes a cell's load needs."""
    workload = plan.workload_of(cell)
    records = cell.dataset.records if cell.dataset else float(workload.properties.get("records", 0))
    data = int(records * record_bytes(workload))
    reset = plan.databases[cell.database].reset
    beside = reset == "snapshot" or ((reset in WAYS or by_file_system(reset)) and _writes(plan, cell))
    needed = (2 if beside else 1) * int(data * _ROOM_FACTOR) + _ROOM_SPARE
    why = (say.room_for_snapshot if reset == "snapshot" else say.room_for_writes) if beside else say.room_once
    return Room(needed, why(data=size_text(data), spare=size_text(_ROOM_SPARE)))


def _writes(plan: Plan, cell: Cell) -> bool:
    """Return whether any cell writes to this cell's database. If so, new files will be added beside the snapshot's
    files."""
    others = (other for other in plan.cells if other.database == cell.database)
    return any(writes(plan.workload_of(other), other.events) for other in others)


_MARKER = directories.MARKER
_REMOVE_TIMEOUT_S = 600.0
_FULL, _FULL_SHARE, _FULL_AT_MOST = 1 << 20, 0.01, 64 << 20
"""A file system counts as full if too few bytes are free. The limit is the larger of a fixed number of bytes and a
share of the file system's size, but the share counts only up to a maximum. A full file system may have some free bytes,
because RocksDB removes files that it could not write completely.
"""

# Every script gets the directory as $1. It exits with 0, or prints why not and exits with 1. The marker's words are
# the data set, RocksDB's identity of the database, and how many cells wrote to it since.
_REMEMBER = read_script(__file__, "scripts/remember_data.sh")

_NO_DATABASE = "none"
_SHOWN = 100
"""The most characters of a program's output that an error quotes."""

_LIBRARY = re.compile(r"librocksdb (\d+(?:\.\d+)+)")

_SIZE = read_script(__file__, "scripts/database_size.sh")

_DIGEST = 'sha256sum <"$2" | cut -d " " -f 1'


class RocksDB(DirectoryEngine):
    """The RocksDB engine. Implements `seams.Engine`."""

    name: ClassVar[str] = "rocksdb"

    def open(self) -> None:
        """Open the directory. Raises RunnerError if the directory can't be used, or is not ours."""
        if self._way and self._way.open:
            self._require_place(self._way.open)
        self.open_directory()
        options = self.database.options_file
        if options and self._run('[ -r "$2" ]', options).exit_code != 0:
            raise RunnerError(
                say.options_file_unread(path=options, host=self.host_id),
                say.hint_options_file(origin=self.database.origin),
            )
        alone = self._way is not None and self._way.alone
        if options and alone and (said := self._run(ELSEWHERE, options).stdout.strip()):
            raise RunnerError(
                say.options_elsewhere(
                    reset=self.database.reset,
                    database=self.database.name,
                    path=options,
                    host=self.host_id,
                    said=said,
                ),
                say.hint_options_elsewhere(origin=self.database.origin),
            )

    def check_place(self) -> str:
        """Implement `seams.ChecksPlace`. Returns "": the place is always a directory, which gets the usual checks."""
        if self._way and self._way.check:
            self._require_place(self._way.check)
        return ""

    def room_for_load(self, cell: Cell) -> Room:
        """Implement `seams.KnowsRoom`. The room is an estimate: see `room_for`."""
        return room_for(self.plan, cell)

    def describe(self) -> dict[str, str]:
        facts = {"server": say.no_server(), "path": self.path}
        version = self._version()
        if version:
            facts["version"] = version
        return facts | self.shaping()

    def size(self, cell: Cell) -> Size:
        """Implement `seams.TellsSize`. The logical size is the size of the load, since benchmarks on loaded data never
        change the number of keys."""
        said = self._run(_SIZE).stdout.strip()
        on_disk = float(said) if re.fullmatch(r"\d{1,18}", said) else None
        workload = self.plan.workload_of(cell)
        logical: float | None = None
        why: str = say.size_keys(benchmark=workload.benchmark)
        if cell.dataset:
            logical, why = cell.dataset.records * record_bytes(workload), ""
        why_no_disk: str = say.no_rocksdb(path=self.path)
        if on_disk is not None:
            why_no_disk = ""
        elif said != _NO_DATABASE:
            why_no_disk = say.no_size(host=self.host_id, path=self.path, said=said[:_SHOWN] or say.printed_nothing())
        return Size(on_disk, logical, why_no_disk, why)

    def shaping(self) -> dict[str, str]:
        """Implement `seams.ShapesData`: the options file, and the files that commands name, each with its SHA-256."""
        facts = command_files(self.database, self.hardware, self.hosts)
        if options := self.database.options_file:
            digest = self._run(_DIGEST, options).stdout.strip()
            facts["options file"] = f"{options} (SHA-256 {digest or 'unknown'})"
        return facts

    def build(self) -> str:
        return ""  # the load generator is linked with it, and its own build is known

    def holds(self, cell: Cell) -> bool:
        if cell.dataset is None or not cell.dataset.reuse:
            return False
        if self.database.reset == "command":
            return True
        writers = self._writers(cell.dataset.hash)
        return writers is not None and (writers == 0 or self.database.reset == "reuse")

    def is_unchanged(self, cell: Cell) -> bool:
        """Implement `seams.KnowsUnchanged`: return whether the files are as the load or the last cell left them."""
        return cell.dataset is not None and self._writers(cell.dataset.hash, snapshot=False) == 0

    def restore(self, cell: Cell) -> str:
        if self.database.reset == "command":
            self.run_hooks("reset")
            if self._run('[ -f "$1/CURRENT" ]').exit_code != 0:
                raise RunnerError(
                    say.no_rocksdb_after_reset(path=self.path, host=self.host_id),
                    say.hint_after_reset(workload=cell.workload, origin=self.database.origin),
                )
            return say.restored_by_command()
        way = self._way
        if way is None:
            raise RunnerError(f"{self.database.reset} brings nothing back")
        said = directories.restore_snapshot(self.host, self.path, self.stopping, way.restore)
        if said is not None:
            raise RunnerError(
                say.snapshot_unrestored(path=self.path, host=self.host_id, said=said),
                self._room_hint(),
            )
        return way.describe()

    def doubt(self, cell: Cell) -> str:
        """Implement `seams.KnowsChanges`: notice if other programs have written to the database or its snapshot."""
        if cell.dataset is None or not cell.dataset.reuse:
            return ""
        if self._way is not None:
            changed = self._holding(cell.dataset.hash, self._way.holds) == "changed"
            return say.snapshot_changed(path=self.path, host=self.host_id) if changed else ""
        # After a cell that wrote, the data set is loaded again anyway.
        if self.database.reset != "reuse" and self._writers(cell.dataset.hash, check=False):
            return ""
        changed = self._holding(cell.dataset.hash, HOLDS, KEPT) == "changed"
        return say.files_changed(path=self.path, host=self.host_id) if changed else ""

    def finish(self, cell: Cell) -> None:
        """Implement `seams.KnowsChanges`. Raises BadOutput if another program changed the files during the cell."""
        if cell.dataset is None or self.database.reset == "command":
            return
        done = self._run(END, KEPT, BEGUN)
        if done.exit_code == 0 and (name := done.stdout.strip()):
            raise BadOutput(
                say.changed_meanwhile(what=say.table_changed(name=name[:_SHOWN], path=self.path, host=self.host_id)),
                say.hint_changed_meanwhile(),
            )

    def begin(self, cell: Cell) -> tuple[str, ...]:
        """Implement `seams.CountsWriters`, with a count in the marker. Returns a warning about earlier writers."""
        if cell.dataset is None or self.database.reset == "command":
            return ()
        writing = writes(self.plan.workload_of(cell), cell.events)
        done = self._run(BEGIN, KEPT, BEGUN, "writes" if writing else "reads", _MARKER, cell.dataset.hash)
        writers = _count(done.stdout.strip())
        if writers is None:
            return ()
        if writing:
            self._remember(cell.dataset.hash, writers + 1)
        return directories.warn_of_aged(writers)

    def reset(self, cell: Cell) -> None:
        """Empty the directory. Raises RunnerError if the directory is not ours, or has no room for the load."""
        said = self._script(self._way.forget) if self._way and self._way.forget else None
        self.empty_directory(said)
        self._require_room(cell)

    def loaded(self, cell: Cell, records: int) -> None:
        if cell.dataset is None:
            return
        if records < cell.dataset.records:
            raise LoadShort(
                say.load_short_rocksdb(n=cell.dataset.records, path=self.path, found=records),
                say.hint_load_again(),
            )
        self._remember(cell.dataset.hash, 0)
        noted = self._run(END, KEPT, BEGUN)
        if noted.exit_code != 0:
            why = noted.stderr.strip()[:_SHOWN]
            raise RunnerError(say.files_unnoted(path=self.path, host=self.host_id, said=why), self._room_hint())
        if self._way:
            said = directories.take_snapshot(self.host, self.path, self.stopping, self._way.take)
            if said is not None:
                raise RunnerError(say.snapshot_untaken(path=self.path, host=self.host_id, said=said), self._room_hint())

    def healthy(self) -> None:
        if self._run('[ -f "$1/CURRENT" ]').exit_code != 0:
            raise ServerFailed(
                say.database_gone(path=self.path, host=self.host_id),
                say.hint_unmounted(),
            )

    def _writers(self, dataset: str, *, snapshot: bool = True, check: bool = True) -> int | None:
        """Return how many cells have written to the data set since its load, or None if the data set is not there.

        Looks at the data set that the next cell gets, which may be in a snapshot. With `snapshot=False`, looks only in
        the directory. With `check=False`, a data set counts as there even if another program has changed its files.
        """
        if self._way and snapshot:
            return _count(self._holding(dataset, self._way.holds))
        return _count(self._holding(dataset, HOLDS, KEPT if check else ""))

    def _holding(self, dataset: str, script: str, beside: str = directories.SNAPSHOT) -> str:
        """Return what the script prints about the data set, or "" if the data set is not there."""
        done = self._run(script, _MARKER, dataset, beside)
        return done.stdout.strip() if done.exit_code == 0 else ""

    @cached_property
    def _way(self) -> SnapshotWay | None:
        """Return the kind of snapshot that restores the data set before each cell, or None if the database is reset in
        another way."""
        return way_of(self.database.reset)

    def _require_place(self, script: str) -> None:
        """Raise PlanRefused if the script reports that snapshots of the directory are impossible."""
        said = self._script(script)
        if said is not None:
            raise PlanRefused(
                say.reset_impossible(
                    reset=self.database.reset, database=self.database.name, host=self.host_id, said=said
                ),
                say.hint_reset_links(origin=self.database.origin),
            )

    def _room_hint(self) -> str:
        if self._way and self._way.without_room:
            return say.hint_no_snapshot(origin=self.database.origin)
        return say.hint_second_copy(reset="links")

    def _remember(self, dataset: str, writers: int) -> None:
        said = self._script(_REMEMBER, _MARKER, dataset, str(writers) if writers else "")
        if said is not None:
            raise LoadShort(say.load_left_nothing(host=self.host_id, said=said), say.hint_load())

    def _require_room(self, cell: Cell) -> None:
        room = room_for(self.plan, cell)
        free, _ = self._room()
        if free is not None and free < room.needed:
            raise RunnerError(
                say.load_no_room(
                    needed=size_text(room.needed),
                    path=self.path,
                    host=self.host_id,
                    why=room.why,
                    free=size_text(free),
                ),
                say.hint_load_room() if self._way is None or self._way.without_room else say.hint_load_room_links(),
            )

    def why_failed(self) -> str:
        """Implement `seams.KnowsWhy`: the only known reason is a full file system."""
        free, size = self._room()
        if free is None or size is None or free >= max(_FULL, min(_FULL_AT_MOST, _FULL_SHARE * size)):
            return ""
        return say.no_room_left(path=self.path, host=self.host_id, free=size_text(free), size=size_text(size))

    def _room(self) -> tuple[int | None, int | None]:
        """Return the free bytes and the total bytes of the file system that holds the data, or None for both if
        unknown."""
        said = self._run(self._way.free if self._way else FREE).stdout.split()
        if len(said) != 2 or not all(re.fullmatch(r"\d{1,18}", word) for word in said):
            return None, None
        return int(said[0]) * 1024, int(said[1]) * 1024

    def _version(self) -> str:
        """Return the version of RocksDB that the load generator is linked with, or "" if unknown."""
        mine = (cell.tool for cell in self.plan.cells if self.plan.databases[cell.database] == self.database)
        if (tool := next(mine, None)) is None:
            return ""
        host, program = self.host, driver(tool.driver)
        try:
            found = programs.find(host, program, tool.path)
        except ToolMissing:  # the cells that need it will report this
            return ""
        if not isinstance(program, HoldsEngine):
            return found.version
        said = run_persistently(host, program.engine_version(found.path)).stdout
        version = _LIBRARY.search(said)
        return version[1] if version else ""

    def _script(self, script: str, *arguments: str) -> str | None:
        """Run a script. Returns None on success, otherwise the script's output."""
        done = self._run(script, *arguments)
        if done.exit_code == 0:
            return None
        return (done.stdout.strip() or done.stderr.strip() or f"code {done.exit_code}")[:300]

    def _run(self, script: str, *arguments: str) -> Completed:
        command = Command(("sh", "-c", script, "sh", self.path, *arguments))
        host = self.host
        with host.session.underway.waited_for(f"{self.path} on {self.host_id}", _REMOVE_TIMEOUT_S, short=True):
            return run_persistently(host, command, timeout_s=_REMOVE_TIMEOUT_S)


def _count(said: str) -> int | None:
    """Return the number of writing cells that a script printed, or None if it printed something else."""
    return int(said) if re.fullmatch(r"\d{1,18}", said) else None
