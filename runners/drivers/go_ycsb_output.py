"""What go-ycsb prints (v1.0): cumulative rows every interval, and after `Run finished` the final ones.

    READ   - Takes(s): 3.0, Count: 26834, OPS: 8995.2, Avg(us): 292, ..., 99th(us): 3115, 99.9th(us): 6527, ...
    READ_ERROR - Takes(s): 2.8, Count: 22, ...
    TOTAL  - Takes(s): 3.0, Count: 40267, ...

TOTAL counts successes, READ_MODIFY_WRITE what READ and UPDATE count again. Rows stand in alphabetical order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchbrief.runners.seams import Interim

OPERATIONS: Mapping[str, str] = {
    "READ": "read",
    "UPDATE": "update",
    "INSERT": "insert",
    "SCAN": "scan",
    "DELETE": "delete",
    "READ_MODIFY_WRITE": "read_modify_write",
}

_ROW = re.compile(r"([A-Z_]+)\s+- (Takes\(s\): .*)")
_CELL = re.compile(r"([^:,]+): (-?\d{1,18}(?:\.\d+)?)")
_PERCENTILE = re.compile(r"(\d{1,3}(?:\.\d+)?)th\(us\)")
_COLUMNS = ("Takes(s)", "Count", "OPS", "Avg(us)", "Min(us)", "Max(us)", "99th(us)")


@dataclass(frozen=True)
class Row:
    """One row; times in seconds. `printed` pairs a percentage with its latency."""

    count: int
    seconds: float
    mean_s: float
    min_s: float
    max_s: float
    printed: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Output:
    """`final` is empty when the run did not end in order; `interim` are the blocks before it, in order."""

    final: Mapping[str, Row]
    interim: tuple[Mapping[str, Row], ...]


def read(stdout: Iterable[str]) -> Output:
    final: dict[str, Row] = {}
    blocks: list[dict[str, Row]] = []
    last = ""
    finished = False
    for line in stdout:
        if line.startswith("Run finished, takes"):
            finished = True
        elif (match := _ROW.match(line)) and (row := _row(match[2])) is not None:
            name = match[1]
            if finished:
                final[name] = row
                continue
            # Names rise within a block: one that does not begins the next block.
            if name <= last or not blocks:
                blocks.append({})
            blocks[-1][name] = row
            last = name
    return Output(final, tuple(blocks))


def interim(stdout: str) -> Interim | None:
    """The rate between the last two TOTAL rows, and the p99 since the start of the operation that there is most of.

    Rows are cumulative. One TOTAL row alone gives the rate since the start.
    """
    found = read(stdout.split("\n")[:-1])
    blocks = [rows for rows in found.interim if "TOTAL" in rows]
    if not blocks:
        return None
    last = blocks[-1]["TOTAL"]
    before = blocks[-2]["TOTAL"] if len(blocks) > 1 else None
    if before is not None and last.seconds > before.seconds:
        rate = (last.count - before.count) / (last.seconds - before.seconds)
    else:
        rate = last.count / last.seconds if last.seconds else 0.0
    rows = [(row.count, name) for name, row in blocks[-1].items() if name in OPERATIONS]
    count, name = max(rows, default=(0, ""))
    p99 = dict(blocks[-1][name].printed).get(99.0) if count else None
    return Interim(rate, p99, f"p99 {OPERATIONS[name].replace('_', '-')} so far" if p99 is not None else "")


def _row(text: str) -> Row | None:
    """None for a half-written row."""
    cells = {key.strip(): float(value) for key, value in _CELL.findall(text)}
    if not all(column in cells for column in _COLUMNS):
        return None
    count = int(cells["Count"])
    # The rate has more digits than the time, which is printed to a tenth of a second.
    seconds = count / cells["OPS"] if cells["OPS"] > 0 else cells["Takes(s)"]
    # 0 is what lies beyond its last bucket, or below the first one's end: how much is not told.
    printed = ((float(m[1]), us / 1e6) for key, us in cells.items() if us > 0 and (m := _PERCENTILE.fullmatch(key)))
    return Row(
        count,
        seconds,
        cells["Avg(us)"] / 1e6,
        cells["Min(us)"] / 1e6,
        cells["Max(us)"] / 1e6,
        tuple(sorted(printed)),
    )
