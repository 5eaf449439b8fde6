"""How `bench plan` says how cells get their data."""

from collections.abc import Mapping

from benchbrief.compiler.extensions.engine_spec import BY_FILE_SYSTEM, Reset

RESET_WORDS: Mapping[Reset, str] = {
    "drop_and_load": "loaded again for each cell",
    "after_writes": "loaded once, and again after cells that write",
    "as_needed": "loaded once, and again after cells that insert",
    "undo": "loaded once, and what cells insert is deleted",
    "snapshot": "loaded once, and copied back after cells that write",
    "links": "loaded once, and linked back after cells that write",
    **{how: f"loaded once, and a snapshot by {name} put back for each cell" for how, name in BY_FILE_SYSTEM.items()},
    "reuse": "loaded once and kept",
    "command": "brought back by a command for each cell",
}
