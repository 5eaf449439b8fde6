"""The operation of a histogram log, by its name as YCSB writes it."""

from __future__ import annotations

from pathlib import Path

from benchbrief.results.imports.importers.hdr import hdr_logs
from benchbrief.runners.drivers.ycsb.ycsb_output import operation_of


def row_of(path: Path) -> str:
    """Return the row of a log, from its name: `READ` for `t8-READ.hdr`; the full name when it ends with no row."""
    return split(path.stem)[1] or path.stem


def split(stem: str) -> tuple[str, str]:
    """Return the prefix and the row's name; "" as the second when no row of YCSB has such a name."""
    at = next((at for at in range(len(stem)) if stem[at:] in hdr_logs.OTHERS or operation_of(stem[at:])), len(stem))
    return stem[:at], stem[at:]
