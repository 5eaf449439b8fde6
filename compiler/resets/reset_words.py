"""How `bench plan` says how cells get their data."""

from collections.abc import Mapping

from benchbrief.compiler.extensions.engine_spec import Reset

RESET_WORDS: Mapping[Reset, str] = {
    "drop_and_load": "loaded again for each cell",
    "after_writes": "loaded once, and again after cells that write",
    "as_needed": "loaded once, and again after cells that insert",
    "undo": "loaded once, and what cells insert is deleted",
    "snapshot": "loaded once, and copied back for each cell",
    "links": "loaded once, and linked back for each cell",
    "btrfs": "loaded once, and a btrfs snapshot put back for each cell",
    "reuse": "loaded once and kept",
    "command": "brought back by a command for each cell",
}
