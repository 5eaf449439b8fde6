"""The classes for an engine, in addition to `common`: `Engine`, its optional protocols, and helpers that most engines
need."""

from benchbrief.compiler.planning.data_states import changes_of, record_bytes, tolerated, worse, writes
from benchbrief.model.engine_spec import Reset
from benchbrief.model.plan import DatabaseKey, Reference, ServerStart
from benchbrief.model.tool_spec import Change
from benchbrief.runners.engines.command_files import command_files
from benchbrief.runners.engines.connection_strings import resolve_uri
from benchbrief.runners.engines.declared_hooks import run_hooks
from benchbrief.runners.engines.directory_engine import DirectoryEngine
from benchbrief.runners.engines.server_addresses import address_of, listening_address
from benchbrief.runners.engines.server_job import END_TIMEOUT_S, ServerJob, ask_to_end, end_old_servers, server_command
from benchbrief.runners.engines.started_server import StartedServer
from benchbrief.runners.journal.secret_references import read_reference, secrets_of
from benchbrief.runners.plugins import driver
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
    "END_TIMEOUT_S",
    "Change",
    "ChecksPlace",
    "CountsWriters",
    "DatabaseKey",
    "DirectoryEngine",
    "Engine",
    "KnowsChanges",
    "KnowsRoom",
    "KnowsUnchanged",
    "KnowsWhy",
    "OutlivesController",
    "Reference",
    "Reset",
    "Restores",
    "Room",
    "ServerJob",
    "ServerStart",
    "Settles",
    "ShapesData",
    "Size",
    "StartedServer",
    "TellsSize",
    "TellsStatus",
    "Undoes",
    "address_of",
    "ask_to_end",
    "changes_of",
    "command_files",
    "driver",
    "end_old_servers",
    "listening_address",
    "read_reference",
    "record_bytes",
    "resolve_uri",
    "run_hooks",
    "secrets_of",
    "server_command",
    "tolerated",
    "worse",
    "writes",
]
