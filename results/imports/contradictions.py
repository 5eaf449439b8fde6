"""What an output says of its own run, held against the cell that it is said to be of.

A file name is easily wrong; the file's own command line, settings and counts are not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

from benchbrief.compiler.plan import Cell, Plan, Workload
from benchbrief.results.imports.problems import Problem
from benchbrief.runners.drivers.evidence import lines
from benchbrief.runners.drivers.ycsb_measurement import transactions
from benchbrief.runners.measurement import Measurement

_HEAD = 200
"""Lines in which a tool says what it was asked for."""
_PROPORTIONS = ("read", "update", "insert", "scan", "read_modify_write")
_OFF = 0.02
"""How far the mix of operations may be from the declared one, beside what chance explains."""
_FAILED = 0.05
"""Of operations that failed: above, the mix of those that are counted says nothing of what was asked for."""
_HINT = "name the cell that it is of, or write into the spec what was run"
_SIZES = re.compile(r"(Keys|Values):\s+(\d+) bytes each")
_DB_PATH = re.compile(r"DB path: \[(.+)\]")
_HEADLINE = re.compile(r"(\w+)\s*:\s+([\d.]+) micros/op (\d+) ops/sec")
_MORE, _FEWER = 1.1, 0.55
"""Of the threads of a cell: what its output may say of how many ran at once. They never are more; they are fewer where
some end before others."""
_GO_YCSB = re.compile(r'"(\w+)"="([^"]*)"')


@dataclass(frozen=True)
class _Said:
    """A setting in a file's own words: `threads`, `target`, or a property of the workload as a plan names it."""

    line: int
    value: float
    text: str


def contradictions(
    kind: str, outputs: Mapping[str, Path], measured: Mapping[str, Measurement], cell: Cell, plan: Plan
) -> Iterator[Problem]:
    """`outputs` are the tool's own, by load generator, each with what was measured by it."""
    workload = plan.workloads[cell.workload]
    if kind == "db_bench":
        for path in outputs.values():
            yield from _of_db_bench(path, cell, plan)
    said = {host: _said(kind, path) for host, path in outputs.items()}
    for host, path in outputs.items():
        for name, each in said[host].items():
            planned = workload.properties.get(name)
            if isinstance(planned, float) and not math.isclose(each.value, planned):
                text = f"it was run with {each.text}, and workload {workload.name} has {name} = {planned:.15g}"
                yield Problem(str(path), each.line, text, _HINT)
        if workload.family == "ycsb" and kind != "db_bench":
            yield from _mix(path, measured[host], workload)
    for name, wanted in (("threads", cell.threads), ("target", cell.target)):
        told = [settings.get(name) for settings in said.values()]
        known = [each for each in told if each is not None]
        if len(known) < len(told) or not known:
            continue
        total = sum(each.value for each in known)
        planned_at = cell.threads_from if name == "threads" else cell.target_from
        if planned_at is None and not (wanted is not None and math.isclose(total, wanted, rel_tol=0.001)):
            words = f"{name} = {wanted:g}" if wanted is not None else f"no {name}"
            beside = f", {total:g} with the other load generators" if len(known) > 1 else ""
            text = f"it was run with {known[0].text}{beside}, and cell {cell.id} has {words}"
            yield Problem(str(next(iter(outputs.values()))), known[0].line, text, _HINT)


def _said(kind: str, path: Path) -> dict[str, _Said]:
    head = list(enumerate(islice(lines(path), _HEAD), start=1))
    if kind == "ycsb":
        return _of_ycsb(head)
    found: dict[str, _Said] = {}
    for number, line in head:
        if kind == "db_bench" and (match := _SIZES.match(line)):
            name = "key_size" if match[1] == "Keys" else "value_size"
            found.setdefault(name, _Said(number, float(match[2]), f"{match[1].lower()} of {match[2]} bytes"))
        elif kind == "go-ycsb" and (match := _GO_YCSB.match(line)):
            found |= _named(number, match[1], match[2], counted_from_zero=True)
    return found


def _of_ycsb(head: Sequence[tuple[int, str]]) -> dict[str, _Said]:
    """From the command line, which its script and its client both print."""
    for number, line in head:
        words = line.split()
        if not (line.startswith("Command line:") or any(word.endswith("ycsb.Client") for word in words)):
            continue
        found: dict[str, _Said] = {}
        for word, after in pairwise(words):
            if word == "-p":
                key, _, value = after.partition("=")
                found |= _named(number, key, value)
        for word, after in pairwise(words):
            if word in ("-threads", "-target"):
                found |= _named(number, word, after)
        return found
    return {}


_NAMES = {
    "-threads": "threads",
    "threadcount": "threads",
    "-target": "target",
    "target": "target",
    "recordcount": "records",
    "fieldcount": "fields",
    "fieldlength": "field_length",
}


def _named(line: int, key: str, value: str, *, counted_from_zero: bool = False) -> dict[str, _Said]:
    name = _NAMES.get(key)
    # go-ycsb reads keys from 0 to its record count, both included: what is right for it is one less than the records.
    if name is None or not value.isdecimal() or (counted_from_zero and name == "records"):
        return {}
    if name == "target" and int(value) == 0:
        return {}  # YCSB's word for as fast as can be
    return {name: _Said(line, float(value), f"{key} {value}" if key.startswith("-") else f"{key} = {value}")}


def _mix(path: Path, measured: Measurement, workload: Workload) -> Iterator[Problem]:
    """Whether the operations that were done are those of the workload, but for chance."""
    done = [each for each in measured.operations if each.phase is None]
    done = [each for each in done if each.kind == "service"] or done
    count, failed = transactions(done), sum(each.errors for each in done)
    if count <= 0 or failed > _FAILED * count:
        return
    counts = {name: sum(each.count for each in done if each.operation == name) for name in _PROPORTIONS}
    for half in ("read", "update"):
        counts[half] -= counts["read_modify_write"]
    for name, number in counts.items():
        wanted, share = float(workload.properties.get(name, 0.0)), number / count
        if abs(share - wanted) > max(_OFF, 5 * math.sqrt(wanted * (1 - wanted) / count)):
            told = f"{share:.0%} of its operations are {name.replace('_', '-')}s"
            text = f"{told}, and {wanted:.0%} are in workload {workload.name} ({workload.family}.{workload.benchmark})"
            yield Problem(str(path), None, text, _HINT)
            return


def _of_db_bench(path: Path, cell: Cell, plan: Plan) -> Iterator[Problem]:
    """Its database is where another hardware has its own, or it ran with another number of threads.

    db_bench names no threads, but prints the seconds of all of them by operation, and the rate by the seconds that
    passed: `seconds_` and `elapsed` of `Stats::Report` in its source (tools/db_bench_tool.cc). How many ran at once is
    their product.
    """
    benchmark = plan.workloads[cell.workload].benchmark
    folder: tuple[int, str] | None = None
    headline: tuple[int, str, float] | None = None
    for number, line in enumerate(lines(path), start=1):
        if match := _DB_PATH.match(line):
            folder = number, match[1]
        elif (match := _HEADLINE.match(line)) and match[1] == benchmark:
            headline = number, match[0], float(match[2]) * float(match[3]) / 1e6
            break
    if folder and (others := _hardware_at(folder[1], cell, plan)):
        text = f"its DB path is {folder[1]}, which is of {others}, and cell {cell.id} is of {cell.hardware}"
        yield Problem(str(path), folder[0], text, _HINT)
    if headline and cell.threads is not None and cell.threads_from is None:
        number, words, at_once = headline
        if at_once and not _FEWER * cell.threads < at_once < _MORE * cell.threads:
            ran = f"`{' '.join(words.split())}` is of {at_once:.2g} threads at once"
            text = f"{ran}, and cell {cell.id} has threads = {cell.threads}"
            yield Problem(str(path), number, text, _HINT)


def _hardware_at(folder: str, cell: Cell, plan: Plan) -> str:
    """The hardware groups that declare to have their database there; "" where none does, or the cell's own is one."""
    at: dict[int, set[str]] = {}
    for key, database in plan.databases.items():
        place = (database.path or "").rstrip("/")
        if place and f"{folder.rstrip('/')}/".startswith(f"{place}/"):
            at.setdefault(len(place), set()).add(key.rpartition("@")[2])
    found = at[max(at)] if at else set()
    return "" if cell.hardware in found else ", ".join(sorted(found))
