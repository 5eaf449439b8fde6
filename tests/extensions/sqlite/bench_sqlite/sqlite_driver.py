"""The driver of the load generator: see `benchbrief.runners.seams.Driver`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, ClassVar

from benchbrief.extend.common import Command, Job, JobFile, JobOutput, Requirement, Sample, StepKind
from benchbrief.extend.tools import (
    Bucket,
    CellContext,
    Histogram,
    Measurement,
    Operation,
    PhaseThroughput,
    bad_output,
    require_exit,
    require_few_errors,
    timeout_s,
)

_SCRIPT, _TASK = "sqlite_load.py", "task.json"
_CHECK = "import sqlite3; print(sqlite3.sqlite_version)"


class SqliteLoad:
    name: ClassVar[str] = "sqlite_load"

    def candidates(self, configured: str | None, tool_dirs: Sequence[str]) -> tuple[str, ...]:
        return (configured,) if configured else ("python3",)

    def requirements(self, path: str) -> tuple[Requirement, ...]:
        return (Requirement("SQLite in Python", Command((path, "-c", _CHECK)), "install Python 3.9 or later"),)

    def load(self, context: CellContext) -> Job | None:
        return _job(context, "load", 0.0)

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        return int(_printed(output)["records"])

    def warm_up(self, context: CellContext) -> Job | None:
        return _job(context, "warm_up", context.cell.warm_up_s) if context.cell.warm_up_s else None

    def measure(self, context: CellContext) -> Job:
        return _job(context, "measure", context.cell.measure_s)

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        found = _printed(output)
        operations = tuple(_operation(name, counts) for name, counts in sorted(found["latencies"].items()))
        count, errors, seconds = sum(each.count for each in operations), int(found["errors"]), float(found["seconds"])
        require_few_errors(output, self.name, errors, count, context.experiment.max_error_share)
        if not count or seconds < context.cell.measure_s:
            raise bad_output(output, f"{self.name} did {count} operations in {seconds:.1f} s")
        return Measurement(
            window=(found["began_at"], found["began_at"] + seconds),
            throughput=(PhaseThroughput(None, count, errors, seconds, count / seconds),),
            operations=operations,
            samples=(
                Sample("sqlite_load.cpu", "", "", seconds, float(found["cpu_s"]) / seconds, "cores", seconds),
                *(
                    Sample("sqlite_load.slowest", "", "", float(second) + 1, float(slowest), "s", 1.0)
                    for second, slowest in found["slowest"].items()
                ),
            ),
            tool_version=self.name,
            properties=(("latency", "service"), ("loop", "closed"), ("found by", "its key")),
        )


def _operation(name: str, counts: dict[str, int]) -> Operation:
    """Return an operation. Latencies are counted to the microsecond."""
    found = sorted((int(micros), count) for micros, count in counts.items())
    buckets = tuple(Bucket(micros / 1e6, (micros + 1) / 1e6, count) for micros, count in found)
    total = sum(count for _, count in found)
    mean = sum(micros * count for micros, count in found) / total / 1e6
    return Operation(name, total, 0, mean, found[0][0] / 1e6, found[-1][0] / 1e6, Histogram(buckets))


def _job(context: CellContext, step: StepKind, seconds: float) -> Job:
    given, database = context.workload.properties, context.database
    task = {
        "step": step,
        "path": context.endpoint.path,
        "records": int(float(given["records"])),
        "row_size": int(float(given["row_size"])),
        "read": given["read"],
        "threads": context.threads,
        "seconds": seconds,
        "seed": context.cell.repeat,
        "pragmas": {"journal_mode": database.settings.get("journal", "wal"), **database.options},
    }
    script = files("bench_sqlite").joinpath(_SCRIPT).read_text(encoding="utf-8")
    both = (JobFile(_SCRIPT, (script,)), JobFile(_TASK, (json.dumps(task),)))
    return Job(step, Command((context.tool_path, _SCRIPT, _TASK)), timeout_s(context.cell, step), files=both)


def _printed(output: JobOutput) -> dict[str, Any]:
    require_exit(output, "sqlite_load")
    try:
        found = json.loads(output.stdout.read_bytes())
    except ValueError as error:
        raise bad_output(output, "sqlite_load printed no result") from error
    return dict(found)
