"""RocksDB: a directory on the host under test, which db_bench opens. There is no server.

The marker that makes the directory ours (see `directories.py`) also names the data set that a proven load left, and
RocksDB's own identity of the database (a new one each time it is created), so that a benchmark that fills the directory
anew is noticed; and it counts the cells that have written to it since.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from benchbrief.compiler.plan import Cell, Database, Hardware, Plan
from benchbrief.runners import tools
from benchbrief.runners.contexts import Endpoint
from benchbrief.runners.engines import directories
from benchbrief.runners.engines.hooks import run_hooks
from benchbrief.runners.errors import LoadShort, RunnerError, ServerFailed, ToolMissing
from benchbrief.runners.facts import size_text
from benchbrief.runners.patience import run_persistently
from benchbrief.runners.plugins import driver
from benchbrief.runners.seams import GoesOn, Hosts, Stopping
from benchbrief.runners.tasks import Command, Completed
from benchbrief.runners.underway import UNDERWAY

_MARKER = directories.MARKER
_ROOM_FACTOR = 1.25
"""A load writes each record about once (to sorted files; its log is off); the rest is for indexes and compactions."""
_ROOM_SPARE = 64 << 20
_REMOVE_TIMEOUT_S = 600.0
_FULL, _FULL_SHARE, _FULL_AT_MOST = 1 << 20, 0.01, 64 << 20
"""With fewer free bytes (or that share of all, up to so many), a file system is full: what RocksDB could not write
whole, it removes again."""

# Every script gets the directory as $1 and leaves with 0, or says why not on standard output and leaves with 1.
# The marker's words are the data set, RocksDB's identity of the database, and how many cells wrote to it since.
_HOLDS = """\
cd -- "$1" && [ -f CURRENT ] && [ -f IDENTITY ] || exit 1
read -r dataset identity writers <"$2"
[ "$dataset $identity" = "$3 $(cat IDENTITY)" ] && echo "${writers:-0}"
"""

_HOLDS_SNAPSHOT = """\
cd -- "$1/$4" && [ -f CURRENT ] && [ -f IDENTITY ] || exit 1
[ "$(cat -- "$2")" = "$3 $(cat IDENTITY)" ] && echo 0
"""

_FREE = "df -Pk -- \"$1\" | awk 'NR == 2 { print $4, $2 }'"

# The marker is renamed into place: it names a data set either fully or not at all.
_REMEMBER = """\
cd -- "$1" || exit 1
[ -f CURRENT ] && [ -f IDENTITY ] || { echo "there is no RocksDB database in $1"; exit 1; }
printf '%s %s%s' "$3" "$(cat IDENTITY)" "${4:+ $4}" >"$2.new" && sync -- "$2.new" && mv -- "$2.new" "$2"
"""

_DESCRIBE = """\
if [ -f "$1/CURRENT" ]; then du -sk --exclude=BENCHBRIEF.snapshot -- "$1" | cut -f 1; else echo empty; fi
[ -z "$2" ] || sha256sum -- "$2" | cut -d ' ' -f 1
"""


def room_for(plan: Plan, cell: Cell) -> int:
    """How many bytes a cell's load needs, about."""
    properties = plan.workloads[cell.workload].properties
    record = float(properties.get("key_size", 0)) + float(properties.get("value_size", 0))
    records = cell.dataset.records if cell.dataset else float(properties.get("records", 0))
    copies = 2 if plan.databases[cell.database].reset == "snapshot" else 1
    return copies * int(records * record * _ROOM_FACTOR) + _ROOM_SPARE


class RocksDB:
    """See `seams.Engine`."""

    name: ClassVar[str] = "rocksdb"

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> None:
        self.keep: Path | None = None  # there is no server whose output it could be
        self.stopping: Stopping = GoesOn()
        self._plan = plan
        self._database = database
        self._hardware = hardware
        self._hosts = hosts
        self._host = hardware.hosts[0]
        self._opened = False
        self._entered = False

    def start(self) -> Endpoint:
        """Raises RunnerError for a directory that can't be used, and that is not ours to use."""
        path = self._path()
        if not self._opened:
            self._entered = True
            self._hooks("prepare")
            said = directories.open_directory(self._hosts[self._host], path)
            if said is not None:
                raise RunnerError(
                    f"the directory of database {self._database.name} on {self._host} can't be used: {said}",
                    f"name a new or empty directory as its `path` ({self._database.origin})",
                )
            options = self._database.options_file
            if options and self._run('[ -r "$2" ]', options).exit_code != 0:
                raise RunnerError(
                    f"the options file {options} can't be read on {self._host}",
                    f"copy it there, or mend `options_file` ({self._database.origin})",
                )
            self._opened = True
        return Endpoint(path=path)

    def look(self) -> None:
        """There is no server."""

    def describe(self) -> dict[str, str]:
        facts = {"server": "none: RocksDB is a library in db_bench's process", "path": self._path()}
        version = self._version()
        if version:
            facts["version"] = version
        said = self._run(_DESCRIBE, self._database.options_file or "").stdout.split()
        if said and said[0].isdigit():
            facts["size on disk"] = f"{int(said[0]) * 1024} B"
        if self._database.options_file:
            facts["options file"] = f"{self._database.options_file} (SHA-256 {said[1] if len(said) > 1 else 'unknown'})"
        return facts

    def build(self) -> str:
        return ""  # db_bench is linked with it, and known by its own

    def holds(self, cell: Cell) -> bool:
        if cell.dataset is None or not cell.dataset.reuse:
            return False
        if self._database.reset == "command":
            return True
        writers = self._writers(cell.dataset.hash)
        return writers is not None and (writers == 0 or self._database.reset == "reuse")

    def restore(self, cell: Cell) -> str:
        if self._database.reset == "command":
            self._hooks("reset")
            if self._run('[ -f "$1/CURRENT" ]').exit_code != 0:
                raise RunnerError(
                    f"there is no RocksDB database in {self._path()} on {self._host} after the reset commands",
                    f"they have to leave the data set of {cell.workload} there ({self._database.origin})",
                )
            return "brought back by the declared command"
        said = directories.restore_snapshot(self._hosts[self._host], self._path(), self.stopping)
        if said is not None:
            raise RunnerError(
                f"the snapshot in {self._path()} on {self._host} can't be copied back: {said}",
                "is there room for a second copy of the data? A run with `reset = drop_and_load` needs none",
            )
        return "copied back from the snapshot that was taken after its load"

    def settle(self, cell: Cell) -> tuple[str, ...]:
        """Count the cell among those that write; and tell of those before it."""
        if cell.dataset is None or self._database.reset == "command":
            return ()
        writers = self._writers(cell.dataset.hash, snapshot=False)
        if writers is None:
            return ()
        if self._plan.workloads[cell.workload].writes:
            self._remember(cell.dataset.hash, writers + 1)
        return directories.aged(writers)

    def reset(self, cell: Cell) -> None:
        """Raises RunnerError when the directory is not ours, or has no room for the load."""
        said = directories.empty(self._hosts[self._host], self._path())
        if said is not None:
            raise RunnerError(
                f"refusing to empty the directory of database {self._database.name} on {self._host}: {said}",
                "empty it by hand, or name another `path`",
            )
        self._require_room(cell)

    def loaded(self, cell: Cell, records: int) -> None:
        if cell.dataset is None:
            return
        if records < cell.dataset.records:
            raise LoadShort(
                f"{cell.dataset.records} records were to be loaded into {self._path()}, and {records} were",
                "look at the load's output, and load again",
            )
        self._remember(cell.dataset.hash, 0)
        if self._database.reset == "snapshot":
            said = directories.take_snapshot(self._hosts[self._host], self._path(), self.stopping)
            if said is not None:
                raise RunnerError(
                    f"no snapshot can be taken of {self._path()} on {self._host}: {said}",
                    "is there room for a second copy of the data? A run with `reset = drop_and_load` needs none",
                )

    def counters(self) -> dict[str, float]:
        """None: a library has no counters after its process has ended."""
        return {}

    def healthy(self) -> None:
        if self._run('[ -f "$1/CURRENT" ]').exit_code != 0:
            raise ServerFailed(
                f"the database in {self._path()} on {self._host} has gone",
                "was its device unmounted, or the directory removed?",
            )

    def take_over(self) -> None:
        """See `seams.OutlivesController`."""
        self._entered = True

    def job_keys(self) -> Mapping[str, str]:
        return {}

    def require_running_since(self, at: float) -> None:
        """There is no server."""

    def stop(self) -> None:
        """Nothing runs; the data stay for the next cell or run. Raises TeardownFailed."""
        entered, self._entered, self._opened = self._entered, False, False
        if entered:
            self._hooks("teardown")

    def _writers(self, dataset: str, *, snapshot: bool | None = None) -> int | None:
        """How many cells wrote to the data set since its load; None when it is not there.

        By default, to that which the next cell is to have.
        """
        of_snapshot = self._database.reset == "snapshot" if snapshot is None else snapshot
        script = _HOLDS_SNAPSHOT if of_snapshot else _HOLDS
        done = self._run(script, _MARKER, dataset, directories.SNAPSHOT)
        said = done.stdout.strip()
        return int(said) if done.exit_code == 0 and re.fullmatch(r"\d{1,18}", said) else None

    def _remember(self, dataset: str, writers: int) -> None:
        said = self._script(_REMEMBER, _MARKER, dataset, str(writers) if writers else "")
        if said is not None:
            raise LoadShort(f"the load left no database on {self._host}: {said}", "look at the load's output")

    def _hooks(self, when: Literal["prepare", "reset", "teardown"]) -> None:
        run_hooks(when, self._database, self._hardware, self._hosts, self.keep, self.stopping)

    def _path(self) -> str:
        path = self._database.path
        if not path:
            raise RunnerError(
                f"database {self._database.name} has no path", f'add `path = "/directory"` ({self._database.origin})'
            )
        return path

    def _require_room(self, cell: Cell) -> None:
        needed = room_for(self._plan, cell)
        free, _ = self._room()
        if free is not None and free < needed:
            raise RunnerError(
                f"the load needs about {size_text(needed)} in {self._path()} on {self._host}, "
                f"and {size_text(free)} are free",
                "make room, name another `path`, or declare fewer `records`",
            )

    def why_failed(self) -> str:
        """See `seams.KnowsWhy`."""
        free, size = self._room()
        if free is None or size is None or free >= max(_FULL, min(_FULL_AT_MOST, _FULL_SHARE * size)):
            return ""
        return f"no space left in {self._path()} on {self._host}, where {size_text(free)} of {size_text(size)} are free"

    def _room(self) -> tuple[int | None, int | None]:
        """Bytes that are free where the data lie, and in all; None where that can't be known."""
        said = self._run(_FREE).stdout.split()
        if len(said) != 2 or not all(re.fullmatch(r"\d{1,18}", word) for word in said):
            return None, None
        return int(said[0]) * 1024, int(said[1]) * 1024

    def _version(self) -> str:
        """RocksDB's version is that of the db_bench it is linked into; "" when that is not found."""
        tool = next(
            (cell.tool for cell in self._plan.cells if self._plan.databases[cell.database] == self._database), None
        )
        try:
            return tools.find(self._hosts[self._host], driver("db_bench"), tool.path if tool else None).version
        except ToolMissing:  # the cells that need it will say so
            return ""

    def _script(self, script: str, *arguments: str) -> str | None:
        """None when it went well, else what it said."""
        done = self._run(script, *arguments)
        if done.exit_code == 0:
            return None
        return (done.stdout.strip() or done.stderr.strip() or f"code {done.exit_code}")[:300]

    def _run(self, script: str, *arguments: str) -> Completed:
        command = Command(("sh", "-c", script, "sh", self._path(), *arguments))
        with UNDERWAY.waited_for(f"{self._path()} on {self._host}", _REMOVE_TIMEOUT_S, short=True):
            return run_persistently(self._hosts[self._host], command, timeout_s=_REMOVE_TIMEOUT_S)
