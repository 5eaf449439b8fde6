"""Imports the output of `redis-benchmark --csv`, which has one line per test, in the order of the tests."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from bench_redis.redis_driver import NUMBER, contradictions
from benchbrief.extend.common import say
from benchbrief.extend.importers import (
    Options,
    OutputImporter,
    OutputProblem,
    only_file,
    read_lines,
    refuse_contradictions,
    whole_run,
)
from benchbrief.extend.tools import Measurement, Operation, PhaseThroughput

_LATENCIES = ("avg", "min", "p50", "p95", "p99", "max")
_HEAD = ["test", "rps", *(f"{each}_latency_ms" for each in _LATENCIES)]
_BENCHMARKS = {"GET": "get", "SET": "set", "EVAL": "mix"}
_OPERATIONS = {"get": "read", "set": "update", "mix": "read_modify_write"}


class RedisBenchmarkCsv(OutputImporter):
    name: ClassVar[str] = "redis_benchmark"

    def may_repeat(self, name: str) -> bool:
        """Return True, since a file may have lines of several tests, and each line may belong to a different cell."""
        return True

    def read(self, files: Mapping[str, Path], benchmark: str, options: Options) -> Measurement:
        name, path = only_file(files, "redis-benchmark")
        try:
            rows = list(csv.reader(read_lines(name, path)))
        except csv.Error as error:
            raise OutputProblem(name, None, f"it is no CSV: {error}") from error
        if not rows or rows[0] != _HEAD:
            raise OutputProblem(name, 1, "it does not begin as redis-benchmark's CSV does", "it was run with `--csv`")
        found: list[tuple[str, list[float]]] = []
        for line, row in enumerate(rows[1:], start=2):
            if len(row) != len(_HEAD) or not all(re.fullmatch(NUMBER, each) for each in row[1:]):
                raise OutputProblem(name, line, f"the line has not the name of a test and {len(_HEAD) - 1} numbers")
            does = _BENCHMARKS.get(row[0].partition(" ")[0], "")
            if does and benchmark in {does, ""}:
                found.append((does, [float(each) for each in row[1:]]))
        if len(found) != 1:
            raise OutputProblem(name, None, f"it has {len(found)} lines of the workload, and one is needed")
        ((does, (rate, *told)),) = found
        mean, least, p50, p95, p99, most = (each / 1000 for each in told)
        refuse_contradictions(name, [*contradictions(told), *([] if rate else ["it did no requests"])])
        printed = ((50.0, p50), (95.0, p95), (99.0, p99))
        return Measurement(
            window=(0.0, 0.0),
            throughput=(PhaseThroughput(None, 0, 0, 0.0, rate),),
            operations=(Operation(_OPERATIONS[does], 0, 0, mean, least, most, None, printed),),
            properties=(("latency", say.latency_service()), ("loop", say.loop_closed()), whole_run()),
        )
