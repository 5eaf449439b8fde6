"""Imports a finished go-ycsb output in the plain style.

The measured time is the whole run, which may include a warm-up. The run's date is unknown. An output that contradicts
itself is refused: see the tables of `go_ycsb_invariants.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from benchbrief.extend.common import Cell, Plan, Workload
from benchbrief.extend.importers import (
    WRONG_CELL,
    ImportProblem,
    Options,
    OutputImporter,
    OutputProblem,
    Setting,
    only_file,
    read_lines,
    refuse_contradictions,
    tool_that_wrote,
    whole_run,
)
from benchbrief.extend.tools import Measurement, PhaseThroughput, read_output_lines
from benchbrief.extensions.importers.ycsb.ycsb_command_line import HEAD, disclosed, planned
from benchbrief.extensions.tools.go_ycsb import go_ycsb, go_ycsb_invariants, go_ycsb_output
from benchbrief.extensions.tools.go_ycsb.go_ycsb_output import say

_KEYS = re.compile(r"\s*Using request distribution '(\w+)' a keyrange of \[0 (\d+)\]")
_PROPERTY = re.compile(r'\s*"([\w.]+)"="([^"]*)"')


class GoYcsbImporter(OutputImporter):
    def read(self, files: Mapping[str, Path], benchmark: str, options: Options) -> Measurement:
        name, path = only_file(files, "go-ycsb")
        text = read_lines(name, path)
        finished = [
            number for number, line in enumerate(text, start=1) if line.lstrip().startswith("Run finished, takes")
        ]
        if len(finished) > 1:
            raise OutputProblem(
                name, finished[1], "a second run of go-ycsb ends here", "give each run a file of its own"
            )
        found = go_ycsb_output.read(text)
        if not finished and not found.interim:
            problem = "not an output of go-ycsb in its plain style: it has no row such as `READ - Takes(s): ...`"
            raise OutputProblem(name, None, problem, tool_that_wrote(text))
        count, seconds = _total(name, text, found)
        refuse_contradictions(name, go_ycsb_invariants.find_problems(found))
        failed = {row: each.count for row, each in found.final.items() if row.endswith("_ERROR")}
        printed = say.percentiles_go_ycsb()
        latencies = [value for row in found.final.values() for _, value in row.printed]
        if latencies and all(math.isclose(value * 1000, round(value * 1000)) for value in latencies):
            printed = say.percentiles_go_ycsb_ms()
        return Measurement(
            window=(0.0, seconds),
            throughput=(PhaseThroughput(None, count, sum(failed.values()), seconds, count / seconds),),
            operations=tuple(go_ycsb.read_operations(found.final, failed)),
            intervals=go_ycsb.read_intervals(found, seconds),
            tool_version="go-ycsb",
            properties=(
                ("latency", say.latency_service()),
                ("percentiles", printed),
                whole_run(),
                *disclosed(_properties(text)),
            ),
        )

    def settings(self, path: Path) -> Mapping[str, Setting]:
        """Return the settings. go-ycsb's record count is one less than the number of records, since its keys run from 0
        to the record count inclusive."""
        return {name: each for name, each in planned(_properties(read_output_lines(path))).items() if name != "records"}

    def contradictions(self, path: Path, cell: Cell, plan: Plan) -> Iterator[ImportProblem]:
        """Yield a problem if the output's phase, key range or distribution differs from the workload's."""
        workload, text = plan.workload_of(cell), list(islice(read_output_lines(path), HEAD))
        said = _properties(text)
        for name, phases in go_ycsb_invariants.PHASES.items():
            if (command := said.get(name)) and phases.get(str(command.value), workload.phase) != workload.phase:
                problem = f"it was run with {command.text}, and workload {workload.name} is a {workload.phase}"
                yield ImportProblem(str(path), command.line, problem, WRONG_CELL)
                return
        records, distribution = workload.properties.get("records"), workload.properties.get("distribution")
        for number, line in enumerate(text if workload.phase == "run" else (), start=1):
            if (match := _KEYS.match(line)) is None:
                continue
            if distribution is not None and match[1] != distribution:
                problem = f"distribution '{match[1]}', and workload {workload.name} has distribution = {distribution}"
                yield ImportProblem(str(path), number, f"it was run with {problem}", WRONG_CELL)
            yield from _other_records(path, number, f"keys up to {match[2]}", float(match[2]), workload)
        if (count := said.get("recordcount")) and str(count.value).isdecimal() and isinstance(records, float):
            yield from _other_records(path, count.line, count.text, float(count.value), workload)


def _other_records(path: Path, line: int, given: str, last: float, workload: Workload) -> Iterator[ImportProblem]:
    """Yield a problem if the last key does not fit the number of records.

    go-ycsb's key range includes both of its ends, so a careful user sets a record count that is one less than the
    number of records.
    """
    records = workload.properties.get("records")
    if isinstance(records, float) and last not in (records, records - 1):
        text = f"it was run with {given}, and workload {workload.name} has records = {records:.15g}"
        yield ImportProblem(str(path), line, text, WRONG_CELL)


def _properties(text: Iterable[str]) -> Mapping[str, Setting]:
    return {
        match[1]: Setting(number, match[2], f"{match[1]} = {match[2]}")
        for number, line in enumerate(islice(text, HEAD), start=1)
        if (match := _PROPERTY.match(line))
    }


def _total(name: str, text: Sequence[str], found: go_ycsb_output.GoYcsbOutput) -> tuple[int, float]:
    """Return the number of operations and their seconds, from the TOTAL row.

    Older versions do not print that row. For them, returns the sum over the other rows, and the time printed before
    those rows. Raises OutputProblem.
    """
    total = found.final.get("TOTAL")
    if total is not None and total.count and total.seconds:
        return go_ycsb.read_transactions(found.final), total.seconds
    # A row that can't be read is there, so the output is not cut off. Report the row instead.
    refuse_contradictions(name, found.oddities)
    if total is not None or not found.final or any("TOTAL" in rows for rows in found.interim):
        raise OutputProblem(name, len(text), "cut: it has no final TOTAL row")
    counts = {row: each.count for row, each in found.final.items() if row in go_ycsb_output.OPERATIONS}
    # A read-modify-write is one operation, although READ and UPDATE count it again.
    count, seconds = sum(counts.values()) - 2 * counts.get("READ_MODIFY_WRITE", 0), found.finished_s
    if found.properties.get("warmuptime", "0") != "0":  # the run's time includes it, the rows' time does not
        seconds = max(row.seconds for row in found.final.values())
    if count <= 0 or not seconds:
        raise OutputProblem(name, len(text), "no operation was done")
    return count, seconds
