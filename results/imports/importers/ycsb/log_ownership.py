"""Which of the histogram logs in a folder belong to a YCSB output there.

With `-p hdrhistogram.fileoutput=true`, YCSB writes a log for each of its output's rows that is an operation
(READ.hdr, UPDATE-FAILED.hdr, Intended-READ.hdr). The path in `hdrhistogram.output.path` is their prefix
(`t8-READ.hdr`). Nothing in them names the output, so they are compared with its rows: names, counts, means, maxima.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbrief.results.imports.import_problems import BadLine
from benchbrief.results.imports.imported_files import HDR, OutputProblem
from benchbrief.results.imports.importers.hdr import hdr_logs
from benchbrief.results.imports.importers.hdr.hdr_logs import split
from benchbrief.results.imports.importers.ycsb.ycsb_files import read_rows
from benchbrief.runners.drivers.ycsb.ycsb_log_invariants import check_against_row
from benchbrief.runners.drivers.ycsb.ycsb_output import Row, Text, operation_of
from benchbrief.runners.measurement import histogram as h
from benchbrief.runners.measurement.measurement import Histogram


class _Damaged(Exception):
    """A log can't be read."""


@dataclass(frozen=True)
class OwnLogs:
    """An output's logs: `files` by their rows. `remark` names what is incomplete, "" when nothing is."""

    files: Mapping[str, Path]
    remark: str = ""


def logs_of(outputs: Iterable[Path], given: Collection[Path]) -> dict[Path, OwnLogs]:
    """Return the logs in the folders of outputs. `given` are files that the user assigned to another output.

    An unreadable output has none: its reader reports what is wrong. So it does for damaged logs, which are an output's
    own where no others are beside it.
    """
    logged: dict[Path, Histogram] = {}
    found: dict[Path, OwnLogs] = {}
    for output in outputs:
        try:
            found[output] = _logs_of(output, given, logged)
        except OutputProblem:
            continue
    claims = Counter(path for each in found.values() for path in each.files.values())
    for output, each in found.items():
        if any(claims[path] > 1 for path in each.files.values()):
            some = min(each.files.values()).name
            found[output] = OwnLogs({}, f"{some} and the other logs beside it fit another output as well: not taken")
    return found


def _logs_of(output: Path, given: Collection[Path], logged: dict[Path, Histogram]) -> OwnLogs:
    text = read_rows(output.name, output)
    rows = [row for row in text.rows.values() if row.count]
    sets: dict[str, dict[str, Path]] = {}
    for path in sorted(output.parent.glob(f"*{HDR}")):
        before, row = split(path.stem)
        if operation_of(row) and path not in given:
            sets.setdefault(before, {})[row] = path
    against: dict[str, str] = {}
    damaged: list[str] = []
    for before, paths in sets.items():
        try:
            against[before] = _against(rows, paths, logged)
        except _Damaged as why:
            against[before] = str(why)
            damaged.append(before)
    own = [before for before, why in against.items() if not why]
    if not own and damaged == list(sets):
        own = damaged[:1]  # its reader says which line is damaged
    if len(own) == 1:
        return OwnLogs({row: path for row, path in sets[own[0]].items() if row in text.rows})
    return OwnLogs({}, _remark(output, text, against, own))


def _remark(output: Path, text: Text, against: Mapping[str, str], own: Sequence[str]) -> str:
    if own:
        why = f"several sets of histogram logs beside it fit ({', '.join(f'{before}*{HDR}' for before in own)})"
    elif against:
        # Of several outputs' logs in one folder, name those with the output's prefix.
        named = [before for before in against if before and output.name.startswith(before.rstrip("-_."))]
        why = f"the histogram logs beside it are not of it: {against[max(named, default=min(against))]}"
    else:
        why = "no histogram logs are beside it"
    lost = [row for name, row in text.rows.items() if row.count and not row.histogram and not operation_failed(name)]
    if not lost:
        return f"{why}; its percentiles are from its own buckets" if against else ""
    zero = ", ".join(f"[{row.name}]" for row in lost if row.zeros)
    remark = f"{why}; only the percentiles that YCSB printed are known"
    return remark + (f", and not those of {zero} that it printed as 0" if zero else "")


def operation_failed(row: str) -> bool:
    kind = operation_of(row)
    return kind is not None and kind[1]


def _against(rows: Sequence[Row], paths: Mapping[str, Path], logged: dict[Path, Histogram]) -> str:
    """Return why logs do not belong to an output's rows; "" when they do. Raises _Damaged when one can't be read."""
    for row in rows:
        path = paths.get(row.name)
        if path is None:
            return f"there is {min(paths.values()).name}, and none of [{row.name}]"
        try:
            log = logged[path] if path in logged else logged.setdefault(path, _read(path, row.name))
        except (BadLine, OSError) as error:
            line = getattr(error, "line", None)
            raise _Damaged(f"{path.name}{f':{line}' if line else ''}: {error}") from error
        if log.count != row.count:
            return f"it has {row.count} operations in [{row.name}], and {path.name} has {log.count}"
        if why := next(check_against_row(row, log, path.name), ""):
            return why
    return ""


def _read(path: Path, row: str) -> Histogram:
    """Read a log. Raises BadLine."""
    return h.merge(piece.histogram for piece in hdr_logs.read(path, row).get(row, ()))
