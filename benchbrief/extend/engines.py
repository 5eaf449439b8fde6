"""What an engine needs beside `common`: `Engine` and its further protocols, and what most engines do alike."""

from benchbrief.runners.engines.command_files import command_files
from benchbrief.runners.engines.connection_strings import resolve_uri
from benchbrief.runners.engines.data_directories import warn_of_aged
from benchbrief.runners.engines.declared_hooks import run_hooks
from benchbrief.runners.engines.started_server import StartedServer
from benchbrief.runners.seams import (
    ChecksPlace,
    CountsWriters,
    Engine,
    KnowsChanges,
    KnowsRoom,
    KnowsUnchanged,
    KnowsWhy,
    OutlivesController,
    Restores,
    Room,
    Settles,
    ShapesData,
    Size,
    TellsSize,
    TellsStatus,
    Undoes,
)

__all__ = [
    "ChecksPlace",
    "CountsWriters",
    "Engine",
    "KnowsChanges",
    "KnowsRoom",
    "KnowsUnchanged",
    "KnowsWhy",
    "OutlivesController",
    "Restores",
    "Room",
    "Settles",
    "ShapesData",
    "Size",
    "StartedServer",
    "TellsSize",
    "TellsStatus",
    "Undoes",
    "command_files",
    "resolve_uri",
    "run_hooks",
    "warn_of_aged",
]
