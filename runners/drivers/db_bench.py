"""db_bench, RocksDB's load generator: the database is a library in its own process, so it runs on the host under test.

What its numbers are:
- Throughput is the headline's: with a background writer (readwhilewriting) it counts the readers' operations alone.
- Latencies are its histograms'; percentiles come from their buckets, so p95 can be had although it is not printed.
- `--statistics` is left off: in our measurements its cost was within the noise of one thread, but RocksDB's wiki puts
  it at 5 to 10 %. `statistics = true` among the database's options turns it on, and adds the writer's latencies; the
  probe `database` turns on the counters alone, in the measurement only (`rocksdb_statistics.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from benchbrief.compiler.db_bench_flags import FLAG, RESERVED
from benchbrief.compiler.plan import Probe
from benchbrief.runners.contexts import CellContext
from benchbrief.runners.drivers import db_bench_output as text
from benchbrief.runners.drivers import rocksdb_statistics as history
from benchbrief.runners.drivers.evidence import bad, lines, require_exit, timeout_s
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.measurement import Interval, Measurement, Operation, PhaseThroughput, Sample
from benchbrief.runners.seams import Interim, Requirement
from benchbrief.runners.steady import MEASURE, WARM_UP, judged
from benchbrief.runners.tasks import Command, Job, JobOutput

_REPORT = "report.csv"
_LOAD = "fillseq"
_SHORT_S = 0.5
"""By how much a timed benchmark may fall short of its time: it looks at the clock every so many operations."""

_UNTIMED = frozenset({"fillseq", "filluniquerandom", "fillseqdeterministic", "readseq", "readreverse", "compact"})
"""Benchmarks that ignore `--duration` and run to their end."""

_BACKGROUND: Mapping[str, str] = {
    "readwhilewriting": "write",
    "readwhilemerging": "merge",
    "readwhilescanning": "scan",
    "multireadwhilewriting": "write",
    "seekrandomwhilewriting": "write",
    "seekrandomwhilemerging": "merge",
    "newiteratorwhilewriting": "write",
}
"""Benchmarks with one more thread (number 0) that is in no headline and no histogram, and what that thread does."""

_TICKERS: Mapping[str, str] = {"write": "rocksdb.db.write.micros", "merge": "rocksdb.db.write.micros"}


class DbBench:
    """See `seams.Driver`."""

    name: ClassVar[str] = "db_bench"

    def candidates(self, configured: str | None, tool_dirs: Sequence[str]) -> tuple[str, ...]:
        if configured:
            return (configured, f"{configured}/db_bench")
        return (*(f"{folder}/rocksdb/bin/db_bench" for folder in tool_dirs), "db_bench")

    def requirements(self, path: str) -> tuple[Requirement, ...]:
        return (
            Requirement(
                "db_bench",
                Command((path, "--version")),
                'install it (Debian and Ubuntu: the package rocksdb-tools) or name it: tool = db_bench("/path")',
            ),
        )

    def load(self, context: CellContext) -> Job | None:
        """Fills with `fillseq`: each key once, in order, by one thread.

        So every key is there and none twice, memory does not grow with the data (`filluniquerandom` shuffles all keys
        in memory: 8 bytes each), and no compaction is owed that the first measured cell would pay for. The log is off
        while filling; `flush` and `waitforcompaction` leave all of it in sorted files.
        """
        if _makes_its_data(context.workload.benchmark):
            return None
        flags = {
            **_common(context),
            "benchmarks": f"{_LOAD},flush,waitforcompaction",
            "use_existing_db": "0",
            "threads": "1",
            "seed": "1",
            "sync": "0",
            "disable_wal": "1",
        }
        flags.pop("benchmark_write_rate_limit", None)
        return Job("load", _command(context, flags), timeout_s(context.cell, "load"))

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        found = _read(context, output)
        require_exit(output, "db_bench")
        headline = found.headline(_LOAD)
        if headline is None or found.errors:
            raise bad(output, "db_bench did not finish the load")
        written = next((block.count for block in found.blocks if block.operation == "write"), None)
        count = headline.operations if headline.operations is not None else written
        if count is None:
            raise bad(output, "db_bench does not say how many keys it loaded")
        return count

    def warm_up(self, context: CellContext) -> Job | None:
        """The same benchmark in a process of its own: files and page cache are warm then, the block cache is not."""
        benchmark = context.workload.benchmark
        if not context.cell.warm_up_s or benchmark in _UNTIMED or _makes_its_data(benchmark):
            return None
        # Another seed than the measurement's, so that it does not just replay the same keys.
        flags = {**_measured(context, context.cell.warm_up_s), "seed": str(1_000_000 + context.cell.repeat)}
        return Job("warm_up", _command(context, flags), timeout_s(context.cell, "warm_up"))

    def measure(self, context: CellContext) -> Job:
        """Raises RunnerError for a cell that db_bench can't run: phases, or an offered load."""
        if context.cell.phases > 1:
            raise RunnerError(
                "db_bench has one histogram for a whole run, so it can't measure phases",
                "use `measure = ...` instead of `phases`",
            )
        if context.cell.target is not None:
            raise RunnerError("db_bench has no offered load (closed loop only)", "use `threads` instead of `target`")
        flags = _measured(context, context.cell.measure_s)
        if probe := _database_probe(context):
            flags |= history.flags(probe.every_s, flags)
            flags["benchmarks"] += f",{history.BENCHMARK}"
        return Job("measure", _command(context, flags), timeout_s(context.cell, "measure"), collect=(_REPORT,))

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        found = _read(context, output)
        benchmark = context.workload.benchmark
        headline = _proven(context, output, found)
        blocks = [block for block in found.blocks if block.operation not in ("compress", "uncompress")]
        count = headline.operations if headline.operations is not None else sum(block.count for block in blocks)
        # The printed rate is a whole number, the printed seconds have three decimals: take the finer of the two.
        if headline.seconds is None or headline.ops_per_s >= 1000:
            seconds = count / headline.ops_per_s
        else:
            seconds = headline.seconds
        if not _untimed(benchmark) and seconds < context.cell.measure_s - _SHORT_S:
            raise bad(output, f"{benchmark} ended after {seconds:.1f} s of {context.cell.measure_s:g} s")

        operations = [block.as_operation() for block in blocks]
        properties = _properties(context, found)
        background = _BACKGROUND.get(benchmark)
        if background:
            writer, said = _background(found, background, seconds)
            operations += [writer] if writer else []
            properties["background thread"] = said
            readers = [line for line in found.status if line.thread != 0]
            counted = text.counts_by_second(readers, seconds, count)
        else:
            counted = text.intervals(lines(output.directory / _REPORT))

        intervals = tuple(Interval(*each) for each in counted)
        no_warm_up = _makes_its_data(benchmark) or _untimed(benchmark)
        unsteady, told = judged(intervals, MEASURE if no_warm_up else WARM_UP)
        properties |= told
        started = text.started_at(found, output.started_at, output.ended_at, seconds)
        return Measurement(
            window=(started, started + seconds),
            throughput=(PhaseThroughput(None, count, 0, seconds, count / seconds),),
            operations=tuple(operations),
            intervals=intervals,
            warnings=(*found.warnings, *_not_found(headline), *unsteady),
            tool_version=f"db_bench {found.version}".strip(),
            properties=tuple(properties.items()),
        )

    def database_samples(
        self, context: CellContext, output: JobOutput, window: tuple[float, float]
    ) -> tuple[Sample, ...]:
        """See `seams.TellsDatabase`."""
        probe = _database_probe(context)
        found = history.slices(lines(output.stdout, history.PRINTED_BYTES)) if probe else ()
        if probe is None or not found:
            raise bad(output, "db_bench printed no history of RocksDB's statistics")
        return history.samples(found, probe.every_s, output.host, window)

    def interim(self, context: CellContext, text_so_far: str) -> Interim | None:
        """See `seams.TellsInterim`."""
        return text.interim(text_so_far, background=context.workload.benchmark in _BACKGROUND)


def _database_probe(context: CellContext) -> Probe | None:
    return next((probe for probe in context.cell.probes if probe.name == "database"), None)


def _makes_its_data(benchmark: str) -> bool:
    return benchmark.startswith("fill")


def _untimed(benchmark: str) -> bool:
    return benchmark in _UNTIMED


def _measured(context: CellContext, seconds: float) -> dict[str, str]:
    benchmark = context.workload.benchmark
    flags = {
        **_common(context),
        "benchmarks": benchmark,
        "use_existing_db": "0" if _makes_its_data(benchmark) else "1",
        "threads": str(context.threads),
        # Fixed, so that a cell asks for the same keys wherever it runs; another one for each repeat. 0 means random.
        "seed": str(context.cell.repeat),
        "histogram": "1",
        "report_file": _REPORT,
        "report_interval_seconds": "1",
        # A status line of each thread every second: they tell readers from the background writer. Looked at every 100
        # operations, they cost nothing that could be measured.
        "stats_interval": "100",
        "stats_interval_seconds": "1",
    }
    if not _untimed(benchmark):
        flags["duration"] = _whole_seconds(seconds)
        # By default the clock is looked at every 1000 operations, which a slow device may take minutes for.
        flags["ops_between_duration_checks"] = "100"
    return flags


def _whole_seconds(seconds: float) -> str:
    if seconds != int(seconds):
        raise RunnerError(f"db_bench runs for whole seconds, not {seconds:g} s", "declare whole seconds")
    return str(int(seconds))


def _common(context: CellContext) -> dict[str, str]:
    """Flags that load, warm-up and measurement share: the data's shape, and the database's options."""
    properties = context.workload.properties
    flags = {"db": _path(context), "num": _value(properties["records"])}
    for name, flag in (("key_size", "key_size"), ("value_size", "value_size")):
        if name in properties:
            flags[flag] = _value(properties[name])
    if "write_rate" in properties:
        flags["benchmark_write_rate_limit"] = _value(properties["write_rate"])
    if "scan_length" in properties:
        flags["seek_nexts"] = _value(properties["scan_length"])
    if context.workload.benchmark == "readrandomwriterandom" and "read" in properties:
        flags["readwritepercent"] = str(round(100 * float(properties["read"])))
    if context.database.options_file:
        flags["options_file"] = context.database.options_file
    return {**flags, **_options(context.database.options)}


def _path(context: CellContext) -> str:
    path = context.endpoint.path or context.database.path
    if not path:
        raise RunnerError("a RocksDB database needs a path", 'add `path = "/directory"` to the database')
    return path


def _options(options: Mapping[str, str | float | bool]) -> dict[str, str]:
    """The database's options as flags; a name that is not ours is passed on as it is."""
    flags: dict[str, str] = {}
    for name, value in options.items():
        text_value = _value(value)
        match name:
            case "compression":
                flags["compression_type"] = text_value
            case "cache":
                flags["cache_size"] = text_value
            case "write_buffer":
                flags["write_buffer_size"] = text_value
            case "direct_io":
                flags["use_direct_reads"] = text_value
                flags["use_direct_io_for_flush_and_compaction"] = text_value
            case "wal":
                flags["disable_wal"] = "0" if value else "1"
            case _ if name in RESERVED or not FLAG.match(name):
                raise RunnerError(
                    f"`{name}` can't be an option of a RocksDB database",
                    "it is set by benchbrief itself" if name in RESERVED else "db_bench's flags are like `block_size`",
                )
            case _:
                flags[name] = text_value
    return flags


def _value(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        return str(int(value)) if value == int(value) else repr(value)
    return str(value)


def _command(context: CellContext, flags: Mapping[str, str]) -> Command:
    return Command((context.tool_path, *(f"--{name}={value}" for name, value in flags.items())))


def _read(context: CellContext, output: JobOutput) -> text.Output:
    stdout = lines(output.stdout, history.PRINTED_BYTES) if _database_probe(context) else lines(output.stdout)
    return text.read(stdout, lines(output.stderr))


def _proven(context: CellContext, output: JobOutput, found: text.Output) -> text.Headline:
    """The benchmark's headline, when all that must be there is. Raises BadOutput."""
    benchmark = context.workload.benchmark
    require_exit(output, "db_bench")
    headline = found.headline(benchmark)
    if headline is None:
        raise bad(output, f"db_bench printed no result for {benchmark}")
    if found.errors:
        raise BadOutput(f"db_bench met an error: {found.errors[0][:300]}", f"see {output.stderr}")
    if not found.blocks or not all(block.whole for block in found.blocks):
        raise bad(output, f"db_bench's histogram for {benchmark} is missing or cut off")
    if headline.ops_per_s == 0 or not sum(block.count for block in found.blocks):
        raise bad(output, f"{benchmark} did no operations")
    if headline.found is not None and benchmark != "readmissing":
        hits, asked = headline.found
        if hits == 0 and asked > 0:
            raise BadOutput(
                f"{benchmark} found none of the {asked} keys it looked up: the database was empty or missing",
                "load it again (the database's `reset = drop_and_load`), and look at its path",
            )
    return headline


def _not_found(headline: text.Headline) -> tuple[str, ...]:
    if headline.found is None or headline.name == "readmissing":
        return ()
    hits, asked = headline.found
    if hits >= asked:
        return ()
    return (f"{headline.name} found {hits / asked:.1%} of the keys it looked up: the database holds fewer records",)


def _properties(context: CellContext, found: text.Output) -> dict[str, str]:
    properties = {
        "latency": "service",
        "loop": "closed",
        "percentiles": "interpolated in db_bench's histogram buckets",
        "statistics": "on" if found.tickers else "off",
    }
    if probe := _database_probe(context):
        asked = context.database.options.get("statistics") is True
        kept = f"every {probe.every_s:g} s of the measuring process, its opening, the load and the warm-up left out"
        kept += "; what that costs is in the throughput"
        properties["statistics"] = f"on, {'counters and histograms' if asked else 'counters alone'}; kept {kept}"
    if context.cell.warm_up_s and not _untimed(context.workload.benchmark):
        direct = context.database.options.get("direct_io") is True
        page_cache = "and reads go around the page cache" if direct else "the page cache warm"
        properties["warm-up"] = f"in a process of its own: RocksDB's block cache starts cold, {page_cache}"
    return properties


def _background(found: text.Output, operation: str, seconds: float) -> tuple[Operation | None, str]:
    """The background thread's operations, and how they are known."""
    ticker = found.tickers.get(_TICKERS.get(operation, ""))
    if ticker and ticker.count:
        writer = Operation(
            operation=operation,
            count=ticker.count,
            mean_s=ticker.mean_s,
            max_s=ticker.max_s,
            printed=ticker.printed,
            in_total=False,
        )
        return writer, "counted and timed by --statistics; not in the throughput"
    last = max((line for line in found.status if line.thread == 0), key=lambda line: line.seconds, default=None)
    if last is None:
        return None, "not counted: the run was too short for a status line"
    count = round(last.count / last.seconds * seconds)
    return (
        Operation(operation=operation, count=count, in_total=False),
        f"{last.count} operations in its first {last.seconds:.1f} s, scaled to {seconds:.1f} s; not in the throughput",
    )
