"""Imports one benchmark's part of a finished db_bench output.

The measured time is the whole run, and its date is unknown. An output that contradicts itself is refused: see the
tables of `db_bench_invariants.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from benchbrief.extend.common import Cell, Plan
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
from benchbrief.extensions.importers.db_bench.spec import SPEC
from benchbrief.extensions.tools.db_bench import db_bench_invariants, db_bench_output
from benchbrief.extensions.tools.db_bench.db_bench_invariants import warn_of_few_found
from benchbrief.extensions.tools.db_bench.db_bench_output import say

_WITHOUT_HISTOGRAM = "db_bench was run without --histogram, so there is no latency"
_RATE_ALONE = f"{_WITHOUT_HISTOGRAM}, and its version prints neither the operations nor the time: the rate is all"
_HEAD = 200
"""How many lines at the beginning of an output are searched for db_bench's settings."""
_RESULT = re.compile(SPEC.line)
_HEADLINE = re.compile(r"(\s*(\w+)\s*:\s+([\d.]+) micros/op\s+(\d+) ops/sec)(?: ([\d.]+) seconds)?")
_DB_PATH = re.compile(r"\s*DB path: \[(.+)\]")
_BANNER = re.compile(
    r"(Date|CPU|CPUCache|Keys|Values|Entries|Prefix|Write rate|Read rate|Compression|Memtablerep):[ \t]+(\S.*)"
)
_WRITE_RATE = re.compile(r"\s*Write rate:\s+(\d+) bytes/second")
_COMPRESSION = re.compile(r"\s*Compression:\s+(\w+)\s*$")
_COMPRESSIONS = frozenset(["none", "snappy", "zlib", "bzip2", "lz4", "lz4hc", "zstd"])
_SIZES = re.compile(r"\s*(Keys|Values|Entries):\s+(\d+)\b")
_SIZE_NAMES = {
    "Keys": ("key_size", "keys of {} bytes"),
    "Values": ("value_size", "values of {} bytes"),
    "Entries": ("records", "{} entries"),
}
_MORE = 1.1
"""The most threads that may seem to run at once, as a share of the cell's threads."""


class DbBenchImporter(OutputImporter):
    def read(self, files: Mapping[str, Path], benchmark: str, options: Options) -> Measurement:
        name, path = only_file(files, "db_bench")
        text = read_lines(name, path)
        part = list(_of_benchmark(name, text, benchmark))
        found = db_bench_output.read(part, ())
        headline = found.headline(benchmark)
        if headline is None:
            refuse_contradictions(name, found.oddities)
            raise OutputProblem(name, len(text), f"cut: the line of {benchmark} is not whole")
        hits, asked = headline.found or (1, 1)
        if not hits and asked and benchmark != "readmissing":
            raise OutputProblem(
                name, None, f"{benchmark} found none of the {asked} keys it looked up: there was no database"
            )
        blocks = [block for block in found.blocks if block.operation not in ("compress", "uncompress")]
        for block in blocks:
            if not block.whole:
                counted = f"its head says {block.count} operations, and its buckets count {block.histogram.count}"
                why = "it is cut, or one of these numbers was changed"
                raise OutputProblem(name, None, f"a histogram of {benchmark} is not whole: {counted}: {why}")
        count = headline.operations if headline.operations is not None else sum(block.count for block in blocks)
        if not headline.ops_per_s or headline.operations == 0:
            raise OutputProblem(name, None, f"{benchmark} did no operations")
        refuse_contradictions(name, db_bench_invariants.find_problems(found, headline))
        exact = headline.seconds is not None and headline.ops_per_s < 1000
        seconds = headline.seconds if exact and headline.seconds else count / headline.ops_per_s
        operations = tuple(block.as_operation() for block in blocks)
        missing = () if operations else (_WITHOUT_HISTOGRAM if count else _RATE_ALONE,)
        how = say.percentiles_db_bench() if operations else say.none_without_histogram()
        return Measurement(
            window=(0.0, seconds),
            # Up to RocksDB 7.2, a result without a histogram has only the rate.
            throughput=(PhaseThroughput(None, count, 0, seconds, count / seconds if count else headline.ops_per_s),),
            operations=operations,
            warnings=(*found.warnings, *warn_of_few_found(headline), *missing),
            tool_version=f"db_bench {found.version}".strip(),
            properties=(
                ("latency", say.latency_service() if operations else say.none()),
                ("percentiles", how),
                whole_run(),
                *_disclosed(text),
            ),
        )

    def settings(self, path: Path) -> Mapping[str, Setting]:
        found: dict[str, Setting] = {}
        for number, line in enumerate(islice(read_output_lines(path), _HEAD), start=1):
            if match := _SIZES.match(line):
                name, text = _SIZE_NAMES[match[1]]
                found.setdefault(name, Setting(number, float(match[2]), text.format(match[2])))
        return found

    def contradictions(self, path: Path, cell: Cell, plan: Plan) -> Iterator[ImportProblem]:
        """Yield a problem if the database belongs to other hardware, or if the number of threads differs from the
        cell's.

        db_bench does not print how many threads it ran. But it prints the thread-seconds per operation, and the
        operations per elapsed second (`seconds_` and `elapsed` of `Stats::Report` in tools/db_bench_tool.cc). Their
        product is the number of threads that ran at once.
        """
        benchmark = plan.workload_of(cell).benchmark
        folder: tuple[int, str] | None = None
        headline: tuple[int, str, float, float] | None = None
        yield from _other_settings(path, cell, plan)
        for number, line in enumerate(read_output_lines(path), start=1):
            if match := _DB_PATH.match(line):
                folder = number, match[1]
            elif (match := _HEADLINE.match(line)) and match[2] == benchmark:
                seconds = float(match[5]) if match[5] else cell.measure_s
                headline = number, match[1], float(match[3]) * float(match[4]) / 1e6, seconds
                break
        if folder and (others := _hardware_at(folder[1], cell, plan)):
            text = f"its DB path is {folder[1]}, which is of {others}, and cell {cell.id} is of {cell.hardware}"
            yield ImportProblem(str(path), folder[0], text, WRONG_CELL)
        if headline and cell.threads is not None and cell.threads_from is None:
            number, words, at_once, seconds = headline
            if at_once and not db_bench_invariants.fewest(cell.threads, seconds) < at_once < _MORE * cell.threads:
                ran = f"`{' '.join(words.split())}` is of {at_once:.2g} threads at once"
                text = f"{ran}, and cell {cell.id} has threads = {cell.threads}"
                yield ImportProblem(str(path), number, text, WRONG_CELL)


def _other_settings(path: Path, cell: Cell, plan: Plan) -> Iterator[ImportProblem]:
    """Yield a problem if the write rate or the compression differs from the spec's.

    Without an option, db_bench uses its default compression, which depends on the build. With an options file, the
    printed flag is not the compression in use.
    """
    workload, database = plan.workload_of(cell), plan.databases[cell.database]
    limit, compression = float(workload.properties.get("write_rate", 0.0)), database.options.get("compression")
    for number, line in enumerate(islice(read_output_lines(path), _HEAD), start=1):
        if (match := _WRITE_RATE.match(line)) and workload.writes and float(match[1]) != float(int(limit)):
            has = f"write_rate = {limit:.15g}" if limit else "no write_rate"
            text = f"it was run with a write rate of {match[1]} bytes/second, and workload {workload.name} has {has}"
            yield ImportProblem(str(path), number, text, WRONG_CELL)
        elif (match := _COMPRESSION.match(line)) and isinstance(compression, str) and not database.options_file:
            known = match[1].lower().replace("nocompression", "none")
            if known in _COMPRESSIONS and known != compression:
                has = f"database {database.name} has compression = {compression}"
                yield ImportProblem(
                    str(path), number, f"it was run with Compression: {match[1]}, and {has}", WRONG_CELL
                )


def _disclosed(text: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the names and values in the banner, the lines that db_bench prints first."""
    return tuple({match[1]: match[2] for line in text[:_HEAD] if (match := _BANNER.fullmatch(line.strip()))}.items())


def _of_benchmark(name: str, text: Sequence[str], benchmark: str) -> Iterator[str]:
    """Yield the lines before the first result, then the lines about one benchmark. A file may contain several
    benchmarks."""
    places = [(number, match[1]) for number, line in enumerate(text) if (match := _RESULT.match(line))]
    if not places:
        problem = "not an output of db_bench: it has no result such as `readrandom : ... micros/op`"
        raise OutputProblem(name, None, problem, tool_that_wrote(text))
    own = [number for number, each in places if each == benchmark]
    if not own:
        others = ", ".join(dict.fromkeys(each for _, each in places))
        raise OutputProblem(name, places[0][0] + 1, f"no result of {benchmark}: it has {others}")
    if len(own) > 1:
        hint = "give each run a file of its own"
        raise OutputProblem(name, own[1] + 1, f"a second result of {benchmark} begins here", hint)
    end = next((number for number, _ in places if number > own[0]), len(text))
    yield from text[: places[0][0]]
    yield from text[own[0] : end]


def _hardware_at(folder: str, cell: Cell, plan: Plan) -> str:
    """Return the hardware groups that declare a database in `folder`. Returns "" if there are none, or if the cell's
    own group is among them."""
    at: dict[int, set[str]] = {}
    for key, database in plan.databases.items():
        place = (database.path or "").rstrip("/")
        if place and f"{folder.rstrip('/')}/".startswith(f"{place}/"):
            at.setdefault(len(place), set()).add(key.hardware)
    found = at[max(at)] if at else set()
    return "" if cell.hardware in found else ", ".join(sorted(found))
