"""Imports sysbench's plain output: https://github.com/akopytov/sysbench.

Number of threads: 8

SQL statistics:
    transactions:                        300000 (4999.17 per sec.)
    ignored errors:                      0      (0.00 per sec.)
General statistics:
    total time:                          60.0099s
    total number of events:              300000
Latency (ms):
         min:                                    0.41
         avg:                                    1.60
         max:                                   20.15
         95th percentile:                        2.71
         sum:                               479890.44
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from benchbrief.extend.importers import (
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
from benchbrief.extend.tools import Interval, Measurement, Operation, PhaseThroughput

_VALUE = re.compile(r"\s*([a-z0-9][\w ]*?):\s+(\d+(?:\.\d+)?)s?\s*(?:\((\d+(?:\.\d+)?) per sec\.\))?")
_THREADS = re.compile(r"Number of threads: (\d{1,6})")
_INTERVAL = re.compile(r"\[ (\d+)s \] thds: \d+ tps: (\d+(?:\.\d+)?) ")
_PERCENTILE = re.compile(r"(\d+)th percentile")


class SysbenchImporter(OutputImporter):
    def read(self, files: Mapping[str, Path], benchmark: str, options: Options) -> Measurement:
        name, path = only_file(files, "sysbench")
        text = read_lines(name, path)
        if not any(line.startswith("sysbench ") for line in text):
            raise OutputProblem(name, None, "not an output of sysbench", tool_that_wrote(text))
        found = {match[1]: (float(match[2]), match[3]) for line in text if (match := _VALUE.fullmatch(line))}
        lacking = [key for key in ("transactions", "total time", "avg", "sum") if key not in found]
        if lacking:
            raise OutputProblem(name, len(text), f"cut: it has no {' and no '.join(lacking)}")
        value = {key: number for key, (number, _) in found.items()}
        count, seconds = int(value["transactions"]), value["total time"]
        refuse_contradictions(name, [*_problems(count, seconds, value, found["transactions"][1])])
        printed = ((float(match[1]), value[key] / 1e3) for key in value if (match := _PERCENTILE.fullmatch(key)))
        read = Operation(
            operation=str(options.get("operation", "read")),
            count=count,
            errors=int(value.get("ignored errors", 0)),
            mean_s=value["avg"] / 1e3,
            min_s=value["min"] / 1e3,
            max_s=value["max"] / 1e3,
            printed=tuple(printed),
        )
        return Measurement(
            window=(0.0, seconds),
            throughput=(PhaseThroughput(None, count, read.errors, seconds, count / seconds),),
            operations=(read,),
            intervals=tuple(_intervals(text)),
            tool_version=" ".join(text[0].split()[:2]),
            properties=(
                ("latency", "service"),
                ("percentiles", "as printed by sysbench: they can't be merged with others"),
                whole_run(),
            ),
        )

    def settings(self, path: Path) -> Mapping[str, Setting]:
        for number, line in enumerate(read_lines(path.name, path)[:50], start=1):
            if match := _THREADS.fullmatch(line):
                return {"threads": Setting(number, float(match[1]), line)}
        return {}


def _problems(count: int, seconds: float, value: Mapping[str, float], rate: str | None) -> list[str]:
    """Return the contradictions in an output. It contains its rate and the sum of its latencies twice, each rounded."""
    found = []
    if not count or not seconds:
        found.append(f"it did {count} transactions in {seconds} s")
    elif rate and abs(count / seconds - float(rate)) > 0.01 + 0.001 * float(rate):
        found.append(f"{count} transactions in {seconds} s are not {rate} a second")
    if abs(value["sum"] - value["avg"] * count) > 0.006 * count + 0.01:
        found.append(f"{count} latencies of {value['avg']} ms on average do not add up to {value['sum']} ms")
    return found


def _intervals(text: list[str]) -> list[Interval]:
    ends = [(int(match[1]), float(match[2])) for line in text if (match := _INTERVAL.match(line))]
    starts = [0, *(end for end, _ in ends)]
    return [
        Interval(float(start), float(end - start), round(tps * (end - start)))
        for start, (end, tps) in zip(starts, ends, strict=False)
        if end > start
    ]
