"""The database's directory on a host: whether it may be emptied, its marker, and its snapshots, including those made by
file systems.

`from benchbrief.extend import directories`. Functions that return a text or None return the problem, or None if there
is no problem.
"""

from benchbrief.model.engine_spec import by_file_system
from benchbrief.runners.engines.data_directories import (
    LIST,
    MARKER,
    RESTORE,
    SNAPSHOT,
    TAKE,
    empty_directory,
    mark_directory,
    open_directory,
    read_mark,
    restore_snapshot,
    take_snapshot,
    warn_of_aged,
)
from benchbrief.runners.engines.file_system_snapshots import FileSystemSnapshots

__all__ = [
    "LIST",
    "MARKER",
    "RESTORE",
    "SNAPSHOT",
    "TAKE",
    "FileSystemSnapshots",
    "by_file_system",
    "empty_directory",
    "mark_directory",
    "open_directory",
    "read_mark",
    "restore_snapshot",
    "take_snapshot",
    "warn_of_aged",
]
