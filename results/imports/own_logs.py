"""Which of the histogram logs in a folder are those of a YCSB output that stands there.

With `-p hdrhistogram.fileoutput=true`, YCSB writes a log for each row of its output that is an operation (READ.hdr,
UPDATE-FAILED.hdr, Intended-READ.hdr) to the path in `hdrhistogram.output.path`, which goes before their names
(`t8-READ.hdr`). Nothing in them says whose they are. So they are held against the rows: names, counts, means, maxima.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbrief.results.imports import hdr_logs
from benchbrief.results.imports.outputs import HDR, OutputProblem, read_rows
from benchbrief.runners import histogram as h
from benchbrief.runners.drivers.ycsb_output import Row, Text, operation_of

_MEAN_OFF, _HIGHEST_OFF = 0.01, 0.002
"""Of a log's values, which have three digits, from those that YCSB printed."""


@dataclass(frozen=True)
class OwnLogs:
    """`files` by the rows that they are of; `remark` is what is less than it could be, "" where all is there."""

    files: Mapping[str, Path]
    remark: str = ""


@dataclass(frozen=True)
class _Logged:
    count: int
    mean_s: float
    highest_s: tuple[float, float]


def row_of(path: Path) -> str:
    """The row that a log is of, by its name: `READ` for `t8-READ.hdr`; the whole name where it ends with none."""
    return split(path.stem)[1] or path.stem


def split(stem: str) -> tuple[str, str]:
    """What goes before the row's name, and that; "" for the second where no row of YCSB has such a name."""
    at = next((at for at in range(len(stem)) if stem[at:] in hdr_logs.OTHERS or operation_of(stem[at:])), len(stem))
    return stem[:at], stem[at:]


def logs_of(outputs: Iterable[Path], given: Collection[Path]) -> dict[Path, OwnLogs]:
    """Those in the folders of outputs. `given` are files that are another's by what was said of them.

    An output that can't be read has none: what is wrong with it is told where it is read.
    """
    logged: dict[Path, _Logged] = {}
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


def _logs_of(output: Path, given: Collection[Path], logged: dict[Path, _Logged]) -> OwnLogs:
    text = read_rows(output.name, output)
    rows = [row for row in text.rows.values() if row.count]
    sets: dict[str, dict[str, Path]] = {}
    for path in sorted(output.parent.glob(f"*{HDR}")):
        before, row = split(path.stem)
        if operation_of(row) and path not in given:
            sets.setdefault(before, {})[row] = path
    against = {before: _against(rows, paths, logged) for before, paths in sets.items()}
    own = [before for before, why in against.items() if not why]
    if len(own) == 1:
        return OwnLogs({row: path for row, path in sets[own[0]].items() if row in text.rows})
    return OwnLogs({}, _remark(output, text, against, own))


def _remark(output: Path, text: Text, against: Mapping[str, str], own: Sequence[str]) -> str:
    if own:
        why = f"several sets of histogram logs beside it fit ({', '.join(f'{before}*{HDR}' for before in own)})"
    elif against:
        # Of the sets of several outputs in one folder, the one with the output's name is to be spoken of.
        named = [before for before in against if before and output.name.startswith(before.rstrip("-_."))]
        why = f"the histogram logs beside it are not of it: {against[max(named, default=min(against))]}"
    else:
        why = "no histogram logs are beside it"
    lost = [row for name, row in text.rows.items() if row.count and not row.histogram and not operation_failed(name)]
    if not lost:
        return f"{why}; its percentiles are from its own buckets" if against else ""
    zero = ", ".join(f"[{row.name}]" for row in lost if row.zeros)
    told = f"{why}; only the percentiles that YCSB printed are known"
    return told + (f", and not those of {zero} that it printed as 0" if zero else "")


def operation_failed(row: str) -> bool:
    kind = operation_of(row)
    return kind is not None and kind[1]


def _against(rows: Sequence[Row], paths: Mapping[str, Path], logged: dict[Path, _Logged]) -> str:
    """Why logs are not those of an output's rows; "" where they are."""
    for row in rows:
        path = paths.get(row.name)
        if path is None:
            return f"there is {min(paths.values()).name}, and none of [{row.name}]"
        try:
            log = logged.get(path) or logged.setdefault(path, _read(path, row.name))
        except (hdr_logs.BadLine, OSError) as error:
            line = getattr(error, "line", None)
            return f"{path.name}{f':{line}' if line else ''}: {error}"
        if log.count != row.count:
            return f"it has {row.count} operations in [{row.name}], and {path.name} has {log.count}"
        if row.mean_s is not None and not math.isclose(log.mean_s, row.mean_s, rel_tol=_MEAN_OFF, abs_tol=1e-6):
            return f"[{row.name}] has a mean of {row.mean_s * 1e6:.1f} us, {path.name} one of {log.mean_s * 1e6:.1f}"
        low, high = log.highest_s
        if row.max_s is not None and not low * (1 - _HIGHEST_OFF) <= row.max_s <= high * (1 + _HIGHEST_OFF):
            return f"[{row.name}] has a maximum of {row.max_s * 1e6:.0f} us, {path.name} one of {high * 1e6:.0f}"
    return ""


def _read(path: Path, row: str) -> _Logged:
    """Raises hdr_logs.BadLine."""
    merged = h.merge(piece.histogram for piece in hdr_logs.read(path, row).get(row, ()))
    if not merged.buckets:
        return _Logged(0, 0.0, (0.0, 0.0))
    return _Logged(merged.count, h.mean(merged), (merged.buckets[-1].lo, merged.buckets[-1].hi))
