"""RocksDB: a directory on the host under test, which db_bench opens. There is no server.

The directory is ours only when it holds our marker, which is written when we make it or find it empty: nothing else is
ever removed. The marker also names the data set that a proven load left, and RocksDB's own identity of the database
(a new one each time it is created), so that a benchmark that fills the directory anew is noticed.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from benchbrief.compiler.plan import Cell, Database, Hardware, Plan
from benchbrief.runners import tools
from benchbrief.runners.plugins import driver
from benchbrief.runners.seams import (
    Command,
    Completed,
    Endpoint,
    Hosts,
    LoadShort,
    RunnerError,
    ServerFailed,
    ToolMissing,
)

_MARKER = "BENCHBRIEF"
_ROOM_FACTOR = 1.25
"""A load writes each record about once (to sorted files; its log is off); the rest is for indexes and compactions."""
_ROOM_SPARE = 64 << 20
_REMOVE_TIMEOUT_S = 600.0

# Every script gets the directory as $1 and leaves with 0, or says why not on standard output and leaves with 1.
_OPEN = """\
d=$1; marker=$2
case $d in /*) ;; *) echo "$d is not an absolute path"; exit 1 ;; esac
mkdir -p -- "$d" 2>/dev/null && [ -d "$d" ] || { echo "$d can't be made"; exit 1; }
real=$(readlink -f -- "$d")
home=$(readlink -f -- "${HOME:-/}")
case $real in
    / | "$home") echo "$d is $([ "$real" = / ] && echo "the root directory" || echo "a home directory")"; exit 1 ;;
esac
[ -w "$d" ] || { echo "$d can't be written"; exit 1; }
if [ ! -f "$d/$marker" ]; then
    other=$(ls -A -- "$d" | grep -vxF lost+found | head -n 1)
    [ -z "$other" ] || { echo "$d is not empty ($other), and was not made by benchbrief"; exit 1; }
    : >"$d/$marker" || exit 1
fi
"""

_HOLDS = """\
cd -- "$1" && [ -f CURRENT ] && [ -f IDENTITY ] || exit 1
[ "$(cat -- "$2")" = "$3 $(cat IDENTITY)" ]
"""

_EMPTY = """\
cd -- "$1" && [ -f "$2" ] || { echo "$1 does not hold the marker $2"; exit 1; }
: >"$2"
find . -mindepth 1 -maxdepth 1 ! -name "$2" ! -name lost+found -exec rm -rf -- {} +
"""

_FREE = "df -Pk -- \"$1\" | awk 'NR == 2 { print $4 }'"

# The marker is renamed into place: it names a data set either fully or not at all.
_REMEMBER = """\
cd -- "$1" || exit 1
[ -f CURRENT ] && [ -f IDENTITY ] || { echo "there is no RocksDB database in $1"; exit 1; }
printf '%s %s' "$3" "$(cat IDENTITY)" >"$2.new" && sync -- "$2.new" && mv -- "$2.new" "$2"
"""

_DESCRIBE = """\
if [ -f "$1/CURRENT" ]; then du -sk -- "$1" | cut -f 1; else echo empty; fi
[ -z "$2" ] || sha256sum -- "$2" | cut -d ' ' -f 1
"""


class RocksDB:
    """See `seams.Engine`."""

    name: ClassVar[str] = "rocksdb"

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> None:
        self.keep: Path | None = None  # there is no server whose output it could be
        self._plan = plan
        self._database = database
        self._hardware = hardware
        self._hosts = hosts
        self._host = hardware.hosts[0]
        self._opened = False

    def start(self) -> Endpoint:
        """Raises RunnerError for a directory that can't be used, and that is not ours to use."""
        path = self._path()
        if not self._opened:
            said = self._script(_OPEN, _MARKER)
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
        return self._run(_HOLDS, _MARKER, cell.dataset.hash).exit_code == 0

    def reset(self, cell: Cell) -> None:
        """Raises RunnerError when the directory is not ours, or has no room for the load."""
        said = self._script(_EMPTY, _MARKER)
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
        said = self._script(_REMEMBER, _MARKER, cell.dataset.hash)
        if said is not None:
            raise LoadShort(f"the load left no database on {self._host}: {said}", "look at the load's output")

    def counters(self) -> dict[str, float]:
        """None: a library has no counters after its process has ended."""
        return {}

    def healthy(self) -> None:
        if self._run('[ -f "$1/CURRENT" ]').exit_code != 0:
            raise ServerFailed(
                f"the database in {self._path()} on {self._host} has gone",
                "was its device unmounted, or the directory removed?",
            )

    def stop(self) -> None:
        """Nothing runs; the data stay for the next cell or run."""

    def _path(self) -> str:
        path = self._database.path
        if not path:
            raise RunnerError(
                f"database {self._database.name} has no path", f'add `path = "/directory"` ({self._database.origin})'
            )
        return path

    def _require_room(self, cell: Cell) -> None:
        properties = self._plan.workloads[cell.workload].properties
        record = float(properties.get("key_size", 0)) + float(properties.get("value_size", 0))
        records = cell.dataset.records if cell.dataset else float(properties.get("records", 0))
        needed = int(records * record * _ROOM_FACTOR) + _ROOM_SPARE
        free = self._run(_FREE).stdout.strip()
        if free.isdigit() and int(free) * 1024 < needed:
            raise RunnerError(
                f"the load needs about {needed / 1e9:.1f} GB in {self._path()} on {self._host}, "
                f"and {int(free) * 1024 / 1e9:.1f} GB are free",
                "make room, name another `path`, or declare fewer `records`",
            )

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
        return self._hosts[self._host].run(command, timeout_s=_REMOVE_TIMEOUT_S)
