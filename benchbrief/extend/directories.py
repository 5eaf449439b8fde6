"""The database's directory on a host: which may be emptied, its marker, and its snapshots, also those of file systems.

`from benchbrief.extend import directories`. What its functions return in place of None says what is wrong."""

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
