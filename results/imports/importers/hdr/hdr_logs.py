"""HdrHistogram's interval logs (https://hdrhistogram.github.io/HdrHistogram/): one file for an operation, or one with
tags for several.

    #[StartTime: 1700000000.000 (seconds since epoch), ...]
    "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
    Tag=READ,0.127,1.007,2.769,HISTFAAAAE54nJN...

The values have no unit: YCSB's are microseconds, those of most others nanoseconds.
"""

from __future__ import annotations

from pathlib import Path

from benchbrief.model.histogram import scaled
from benchbrief.results.imports.import_problems import BadLine
from benchbrief.runners.drivers.output_evidence import read_output_lines
from benchbrief.runners.drivers.ycsb.ycsb_output import OPERATIONS, Slice, line_of_log, log_start, operation_of
from benchbrief.runners.errors import BadOutput

OTHERS = ("CLEANUP", "Intended-CLEANUP")
"""YCSB's rows with a log of their own that are no operations."""
_ROWS = {ours: row for row, ours in OPERATIONS.items()}


def read(path: Path, name: str, unit_s: float = 1e-6) -> dict[str, tuple[Slice, ...]]:
    """Return the slices of each operation, by YCSB's names. `name` is that of lines without a tag. Raises BadLine.

    Leaves out logs of anything but operations, such as YCSB's CLEANUP.
    """
    found: dict[str, list[Slice]] = {}
    base, number, logged = 0.0, 0, False
    try:
        for number, line in enumerate(read_output_lines(path), start=1):
            start = log_start(line)
            base = base if start is None else start
            logged |= start is not None or line.startswith(('"StartTimestamp"', "#[Histogram log format"))
            if line[:1] in ("#", '"', "") or start is not None:
                continue
            tag, piece = line_of_log(line, base)
            row = _row(tag or name, number)
            found.setdefault(row, []).append(Slice(piece.start, piece.end, scaled(piece.histogram, unit_s / 1e-6)))
    except BadOutput as error:
        raise BadLine(None, str(error)) from error
    except ValueError as error:
        what = "" if logged or found else ", and not a log of histograms at all"
        raise BadLine(number, f"{error}{what}") from error
    if not logged and not found:
        raise BadLine(None, "not a log of histograms: it has no line of `start,length,max,payload`")
    return {row: tuple(slices) for row, slices in found.items() if operation_of(row)}


def _row(name: str, line: int) -> str:
    """Return YCSB's name of an operation, from its own or from ours."""
    row = _ROWS.get(name.lower().replace("-", "_"), name)
    if operation_of(row) is None and row not in OTHERS:
        known = ", ".join(_ROWS)
        raise BadLine(line, f"`{name}` is no operation; these are {known}")
    return row


def row_of(path: Path) -> str:
    """Return the row of a log, from its name: `READ` for `t8-READ.hdr`; the full name when it ends with no row."""
    return split(path.stem)[1] or path.stem


def split(stem: str) -> tuple[str, str]:
    """Return the prefix and the row's name; "" as the second when no row of YCSB has such a name."""
    at = next((at for at in range(len(stem)) if stem[at:] in OTHERS or operation_of(stem[at:])), len(stem))
    return stem[:at], stem[at:]
