"""Raw storage: a file in one of our directories, or a block device whose data the spec allows to be destroyed.

The load generator lays the file out once for its size. The directory's marker (see `data_directories.py`) names the
data set, and counts the cells that have written to it since.

A device is written to only if both `destroys` and `path` name it, and only while it has no partition, no file system,
no mount and no other user. `bench doctor` checks this, and so does the run before each layout and each measurement.
Nothing on a device identifies its contents, so each run lays it out again.
"""

from __future__ import annotations

import re
from typing import ClassVar, Protocol

from benchbrief.extend import directories
from benchbrief.extend.common import (
    Cell,
    Command,
    CommonSentences,
    Completed,
    Database,
    Endpoint,
    Hardware,
    Hosts,
    LoadShort,
    Message,
    Plan,
    PlanRefused,
    RunnerError,
    ServerFailed,
    read_script,
    run_persistently,
    size_text,
    speaker,
)
from benchbrief.extend.engines import DirectoryEngine, command_files, writes


class StorageMessages(CommonSentences, Protocol):
    def no_database(self) -> Message: ...
    def storage_gone(self, *, place: object, host: object) -> Message: ...
    def hint_storage_gone(self) -> Message: ...
    def layout_short(self, *, place: object, host: object, found: object, wanted: object) -> Message: ...
    def hint_layout(self) -> Message: ...
    def sizeless(self, *, database: object) -> Message: ...
    def is_device(self, *, path: object, host: object) -> Message: ...
    def other_device(self, *, database: object, device: object, path: object) -> Message: ...
    def device_unrestorable(self, *, database: object, path: object) -> Message: ...
    def device_refused(self, *, path: object, host: object, said: object) -> Message: ...
    def device_overwritten(self, *, size: object) -> Message: ...
    def snapshot_uncopied(self, *, path: object, host: object, said: object) -> Message: ...
    def layout_no_room(self, *, needed: object, path: object, host: object, free: object) -> Message: ...
    def hint_size(self, *, origin: object) -> Message: ...
    def hint_is_device(self, *, path: object, origin: object) -> Message: ...
    def hint_other_device(self, *, origin: object) -> Message: ...
    def hint_device_reset(self, *, origin: object) -> Message: ...
    def hint_device_refused(self, *, origin: object) -> Message: ...
    def hint_layout_room(self) -> Message: ...


say: StorageMessages = speaker(StorageMessages)


FILE = "data"
"""The name of our file in the directory."""
UNIT = 1 << 20
"""The size in bytes of the writes that lay out the storage. The used size is a multiple of it."""
_SPARE = 16 << 20
"""How many bytes stay free beside the file, since the file system itself needs some."""
_TIMEOUT_S = 60.0

_CHECK_DEVICE = read_script(__file__, "scripts/check_device.sh")
_FILE_SIZE = read_script(__file__, "scripts/file_size.sh")
_FREE = "df -Pk -- \"$1\" | awk 'NR == 2 { print $4 }'"


def extent(database: Database) -> int:
    """Return how many bytes of the storage are used: the declared size, rounded down to whole units. Raises PlanRefused
    if the spec declares no size."""
    if not database.size_bytes:
        raise PlanRefused(say.sizeless(database=database.name), say.hint_size(origin=database.origin))
    return int(database.size_bytes) // UNIT * UNIT


class RawStorage(DirectoryEngine):
    """The engine of files and block devices. Implements `seams.Engine` and `seams.ChecksPlace`."""

    name: ClassVar[str] = "raw_storage"

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> None:
        super().__init__(plan, database, hardware, hosts)
        self._on_device: tuple[str, int] | None = None
        """The data set that this run has laid out on the device, and how many cells have written to it since. None
        before the layout."""

    @property
    def _device(self) -> str | None:
        """The device whose data may be destroyed, or None for a file."""
        said = self.database.settings.get("destroys")
        return said if isinstance(said, str) else None

    def check_place(self) -> str:
        """Implement `seams.ChecksPlace`. Returns "" for a directory, which gets the usual checks."""
        path = self.path
        if self._device is None:
            if self._run('[ -b "$1" ]', path).exit_code == 0:
                raise PlanRefused(
                    say.is_device(path=path, host=self.host_id),
                    say.hint_is_device(path=path, origin=self.database.origin),
                )
            return ""
        if self._device != path:
            raise PlanRefused(
                say.other_device(database=self.database.name, device=self._device, path=path),
                say.hint_other_device(origin=self.database.origin),
            )
        if self.database.reset == "snapshot":
            raise PlanRefused(
                say.device_unrestorable(database=self.database.name, path=path),
                say.hint_device_reset(origin=self.database.origin),
            )
        done = self._run(_CHECK_DEVICE, path, str(extent(self.database)))
        said = done.stdout.strip()
        if done.exit_code != 0 or not re.fullmatch(r"\d{1,18}", said):
            why = (said or done.stderr.strip())[:300] or say.exit_code(code=done.exit_code)
            raise RunnerError(
                say.device_refused(path=path, host=self.host_id, said=why),
                say.hint_device_refused(origin=self.database.origin),
            )
        return say.device_overwritten(size=size_text(int(said)))

    def open(self) -> None:
        """Open the directory, or check the device. Raises RunnerError if the directory or the device can't be used."""
        self.check_place()
        if self._device is None:
            self.open_directory()

    def endpoint(self) -> Endpoint:
        return Endpoint(path=self._place)

    def describe(self) -> dict[str, str]:
        return {"server": say.no_database(), "path": self._place, **self.shaping()}

    def shaping(self) -> dict[str, str]:
        """Implement `seams.ShapesData`: the files that commands name."""
        return command_files(self.database, self.hardware, self.hosts)

    def build(self) -> str:
        return ""  # the load generator's own build is known

    def holds(self, cell: Cell) -> bool:
        if cell.dataset is None or not cell.dataset.reuse:
            return False
        if self.database.reset == "command":
            return True
        writers = self._writers(cell.dataset.hash, snapshot=self.database.reset == "snapshot")
        return writers is not None and (writers == 0 or self.database.reset == "reuse")

    def is_unchanged(self, cell: Cell) -> bool:
        """Implement `seams.KnowsUnchanged`, based on our count of cells that wrote."""
        return cell.dataset is not None and self._writers(cell.dataset.hash) == 0

    def restore(self, cell: Cell) -> str:
        """Implement `seams.Restores`, by the user's own command or from a snapshot of the directory."""
        del cell
        if self.database.reset == "command":
            self.run_hooks("reset")
            self._require_size()
            return say.restored_by_command()
        said = directories.restore_snapshot(self.host, self.path, self.stopping)
        if said is not None:
            raise RunnerError(
                say.snapshot_uncopied(path=self.path, host=self.host_id, said=said),
                say.hint_second_copy(reset="drop_and_load"),
            )
        return say.restored()

    def begin(self, cell: Cell) -> tuple[str, ...]:
        """Implement `seams.CountsWriters`. Checks once more that a device may be overwritten."""
        if self._device is not None:
            self.check_place()
        if cell.dataset is None or self.database.reset == "command":
            return ()
        writers = self._writers(cell.dataset.hash)
        if writers is None:
            return ()
        if writes(self.plan.workload_of(cell), cell.events):
            self._remember(cell.dataset.hash, writers + 1)
        return directories.warn_of_aged(writers)

    def reset(self, cell: Cell) -> None:
        """Prepare a new layout: remove the file, or check that the device may be overwritten. Raises RunnerError."""
        del cell
        if self._device is not None:
            self._on_device = None
            self.check_place()
            return
        self.empty_directory()
        self._require_room()

    def loaded(self, cell: Cell, records: int) -> None:
        """Check how many bytes the load wrote. In this engine, `records` counts bytes. Raises LoadShort."""
        if cell.dataset is None:
            return
        wanted = extent(self.database)
        if records < wanted:
            raise LoadShort(
                say.layout_short(place=self._place, host=self.host_id, found=records, wanted=wanted),
                say.hint_layout(),
            )
        self._require_size()
        self._remember(cell.dataset.hash, 0)
        if self.database.reset == "snapshot":
            said = directories.take_snapshot(self.host, self.path, self.stopping)
            if said is not None:
                raise RunnerError(
                    say.snapshot_untaken(path=self.path, host=self.host_id, said=said),
                    say.hint_second_copy(reset="drop_and_load"),
                )

    def healthy(self) -> None:
        if self._run('[ -f "$1" ] || [ -b "$1" ]', self._place).exit_code != 0:
            raise ServerFailed(say.storage_gone(place=self._place, host=self.host_id), say.hint_storage_gone())

    @property
    def _place(self) -> str:
        """The path of the file or the device."""
        return self.path if self._device is not None else f"{self.path.rstrip('/')}/{FILE}"

    def _writers(self, dataset: str, *, snapshot: bool = False) -> int | None:
        """Return how many cells have written to the data set since it was laid out, or None if the data set is not
        there."""
        if self._device is not None:
            return self._on_device[1] if self._on_device and self._on_device[0] == dataset else None
        held, _, writers = directories.read_mark(self.host, self.path, snapshot=snapshot).partition(" ")
        if held != dataset or self._file_size(snapshot=snapshot) != extent(self.database):
            return None
        return int(writers) if re.fullmatch(r"\d{1,9}", writers) else None

    def _remember(self, dataset: str, writers: int) -> None:
        if self._device is not None:
            self._on_device = (dataset, writers)
            return
        said = directories.mark_directory(self.host, self.path, f"{dataset} {writers}")
        if said is not None:
            raise LoadShort(say.load_left_nothing(host=self.host_id, said=said), say.hint_load())

    def _require_size(self) -> None:
        if self._device is not None:
            return
        found, wanted = self._file_size(), extent(self.database)
        if found is None or found < wanted:
            raise LoadShort(
                say.layout_short(place=self._place, host=self.host_id, found=found or 0, wanted=wanted),
                say.hint_layout(),
            )

    def _file_size(self, *, snapshot: bool = False) -> int | None:
        folder = f"{self.path}/{directories.SNAPSHOT}" if snapshot else self.path
        said = self._run(_FILE_SIZE, folder, FILE).stdout.strip()
        return int(said) if re.fullmatch(r"\d{1,18}", said) else None

    def _require_room(self) -> None:
        copies = 2 if self.database.reset == "snapshot" else 1
        needed = copies * extent(self.database) + _SPARE
        said = self._run(_FREE, self.path).stdout.strip()
        free = int(said) * 1024 if re.fullmatch(r"\d{1,15}", said) else None
        if free is not None and free < needed:
            raise RunnerError(
                say.layout_no_room(needed=size_text(needed), path=self.path, host=self.host_id, free=size_text(free)),
                say.hint_layout_room(),
            )

    def _run(self, script: str, *arguments: str) -> Completed:
        command = Command(("sh", "-c", script, "sh", *arguments))
        return run_persistently(self.host, command, timeout_s=_TIMEOUT_S)
