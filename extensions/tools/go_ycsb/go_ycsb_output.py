"""Parses the output of go-ycsb (v1.0): cumulative rows at intervals, and the final rows after `Run finished`.

    READ   - Takes(s): 3.0, Count: 26834, OPS: 8995.2, Avg(us): 292, ..., 99th(us): 3115, 99.9th(us): 6527, ...
    READ_ERROR - Takes(s): 2.8, Count: 22, ...
    TOTAL  - Takes(s): 3.0, Count: 40267, ...

TOTAL counts only operations that succeeded. Each READ_MODIFY_WRITE is also counted as a READ and as an UPDATE. Rows are
in alphabetical order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from benchbrief.extend.common import CommonSentences, Message, speaker
from benchbrief.extend.tools import Interim


class GoYcsbMessages(CommonSentences, Protocol):
    def percentiles_go_ycsb(self) -> Message: ...
    def warm_up_process(self) -> Message: ...
    def go_inserts_failed(self, *, failed: object, n: object, said: object) -> Message: ...
    def no_total(self, *, said: object) -> Message: ...
    def strays(self, *, errors: object, n: object, share: object) -> Message: ...
    def errors_accepted(self, *, share: object) -> Message: ...
    def percentiles_go_ycsb_ms(self) -> Message: ...
    def go_ycsb_no_phases(self) -> Message: ...
    def go_ycsb_database(self, *, own: object, named: object) -> Message: ...
    def hint_go_ycsb_phases(self) -> Message: ...
    def hint_go_ycsb_database(self, *, own: object) -> Message: ...


say: GoYcsbMessages = speaker(GoYcsbMessages)


OPERATIONS: Mapping[str, str] = {
    "READ": "read",
    "UPDATE": "update",
    "INSERT": "insert",
    "SCAN": "scan",
    "DELETE": "delete",
    "READ_MODIFY_WRITE": "read_modify_write",
}

_ROW = re.compile(r"\s*([A-Z_]+)\s*-\s*(Takes\(s\)\s*:.*?)\s*")
_CELL = re.compile(r"\s*([^:,]+?)\s*:\s*(-?\d{1,18}(?:\.\d{1,18})?)\s*")
_PERCENTILE = re.compile(r"(\d{1,3}(?:\.\d+)?)th\(us\)")
_COLUMNS = ("Takes(s)", "Count", "OPS", "Avg(us)", "Min(us)", "Max(us)", "99th(us)")
_FINISHED = re.compile(r"\s*Run finished, takes ((?:[\d.]+[a-zµ]+)+)\s*")
_TIME = re.compile(r"([\d.]{1,20})([a-zµ]+)")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
"""The units in Go's durations (such as 8m59.035740975s), converted to seconds."""
_PROPERTY = re.compile(r'\s*"([\w.]+)"="([^"]*)"')


FIGURES = (
    r"[A-Z_]{1,40} +- Takes[(]s[)]: [0-9.]{1,24}(, [A-Za-z0-9.() ]{1,20}: -?[0-9.]{1,24})+",
    r"Run finished, takes [0-9.a-z]{1,40}",
)
"""Patterns of the lines that are read: see `tasks.Job.figures`."""


@dataclass(frozen=True)
class GoYcsbRow:
    """One row, with times in seconds. `printed` has pairs of a percentage and its latency. `cells` are the numbers as
    printed."""

    count: int
    seconds: float
    mean_s: float
    min_s: float
    max_s: float
    printed: tuple[tuple[float, float], ...]
    cells: Mapping[str, str]


@dataclass(frozen=True)
class GoYcsbOutput:
    """The parsed output. `final` is empty if the run did not end normally. `interim` has the earlier blocks of rows, in
    order.

    `finished_s` is how long the run took, including its warm-up, or None if not printed. `oddities` describe the rows
    that appear twice or can't be read. go-ycsb itself never prints such rows.
    """

    final: Mapping[str, GoYcsbRow]
    interim: tuple[Mapping[str, GoYcsbRow], ...]
    finished_s: float | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    oddities: tuple[str, ...] = ()


def read(stdout: Iterable[str]) -> GoYcsbOutput:
    final: dict[str, GoYcsbRow] = {}
    blocks: list[dict[str, GoYcsbRow]] = []
    properties: dict[str, str] = {}
    oddities: list[str] = []
    last = ""
    finished = False
    finished_s: float | None = None
    for line in stdout:
        if line.lstrip().startswith("Run finished, takes"):
            if finished:
                oddities.append("a second run of go-ycsb ends here")
            finished = True
            finished_s = _duration(line)
            if finished_s is None:
                oddities.append(f"`{line.strip()[:60]}` has no time that Go prints")
        elif match := _PROPERTY.match(line):
            properties.setdefault(match[1], match[2])
        elif match := _ROW.fullmatch(line):
            name, row = match[1], _row(match[2])
            if row is None:
                oddities.append(f"`{line.strip()[:80]}` is not a whole row of go-ycsb")
                continue
            if finished:
                if name in final:
                    oddities.append(f"{name} has two final rows: of {final[name].count} and of {row.count} operations")
                final.setdefault(name, row)
                continue
            # Names rise within a block. One that does not begins the next block.
            if name <= last or not blocks:
                blocks.append({})
            blocks[-1][name] = row
            last = name
    return GoYcsbOutput(final, tuple(blocks), finished_s, properties, tuple(oddities))


def _duration(line: str) -> float | None:
    match = _FINISHED.fullmatch(line)
    try:
        parts = [float(number) * _UNITS[unit] for number, unit in _TIME.findall(match[1])] if match else []
    except (KeyError, ValueError):
        return None
    return sum(parts) if parts else None


def interim(stdout: str) -> Interim | None:
    """Return the rate between the last two TOTAL rows, and the p99 of the most frequent operation since the run's
    start.

    Rows are cumulative. If there is only one TOTAL row, the rate is the one since the start.
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
    of = f"p99 {OPERATIONS[name].replace('_', '-')} so far" if p99 is not None else ""
    return Interim(rate, p99, of, last.count, last.seconds)


def _row(text: str) -> GoYcsbRow | None:
    """Parse a row. Returns None if the row is half-written, or if it has numbers or columns that go-ycsb does not
    write."""
    pairs = [_CELL.fullmatch(part) for part in text.split(",")]
    printed_cells = {match[1]: match[2] for match in pairs if match}
    known = all(column in _COLUMNS or _PERCENTILE.fullmatch(column) for column in printed_cells)
    if len(printed_cells) < len(pairs) or not known or not all(column in printed_cells for column in _COLUMNS):
        return None
    cells = {key: float(value) for key, value in printed_cells.items()}
    count = int(cells["Count"])
    # The rate has more digits than the time, which is printed to a tenth of a second.
    seconds = count / cells["OPS"] if cells["OPS"] > 0 else cells["Takes(s)"]
    # 0 means beyond the last bucket or below the end of the first, by an unknown amount.
    printed = ((float(m[1]), us / 1e6) for key, us in cells.items() if us > 0 and (m := _PERCENTILE.fullmatch(key)))
    return GoYcsbRow(
        count,
        seconds,
        cells["Avg(us)"] / 1e6,
        cells["Min(us)"] / 1e6,
        cells["Max(us)"] / 1e6,
        tuple(sorted(printed)),
        printed_cells,
    )
