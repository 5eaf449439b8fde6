"""Snapshots of a RocksDB database by hard links (`reset = links`).

They take as long for a terabyte as for a megabyte, and room only for what cells write. The files that they share with
the database are never written to again, so that each cell starts from the same files. The page cache may still hold
them.
"""

from __future__ import annotations

from benchbrief.runners.engines import data_directories
from benchbrief.runners.jobs.shell_scripts import read_script, with_values


def _script(name: str) -> str:
    values = {"marker": data_directories.MARKER, "snapshot": data_directories.SNAPSHOT, "list": data_directories.LIST}
    return with_values(read_script(__file__, f"scripts/{name}.sh"), **values)


TAKE = _script("take_links")
RESTORE = _script("restore_links")
HOLDS = _script("snapshot_holds_data")

ELSEWHERE = "grep -Eom 1 '^[[:space:]]*(wal_dir|db_paths|cf_paths)[[:space:]]*=[[:space:]]*[^[:space:]]+' -- \"$2\""
"""Prints the first option of the file $2 by which a part of a database lies outside its directory."""
