"""db_bench, RocksDB's load generator. The database is a library in the db_bench process, so db_bench runs on the host
under test.

How to read its numbers:
- The result line gives the throughput. With a background writer (readwhilewriting) it counts only
  the readers' operations.
- Latencies come from the histograms. Percentiles are computed from the histograms' buckets, so p95 exists although
  db_bench does not print it.
- `--statistics` is off: in our measurements its cost was within the noise of one thread, but RocksDB's wiki puts it
  at 5 to 10 %. `statistics = true` among the database's options turns it on, and adds the writer's latencies. The
  probe `database` turns on only the counters, and only in the measurement (`db_bench_output.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from benchbrief.extend.common import (
    BadOutput,
    Command,
    Database,
    Job,
    JobOutput,
    Message,
    PlanRefused,
    Probe,
    Requirement,
    Sample,
    Workload,
    figure,
    read_script,
)
from benchbrief.extend.tools import (
    CellContext,
    Interim,
    Interval,
    Measurement,
    Operation,
    PhaseThroughput,
    bad_output,
    best_line,
    judge_window,
    read_output_lines,
    require_consistent,
    require_exit,
    timeout_s,
)
from benchbrief.extensions.tools.db_bench import db_bench_invariants
from benchbrief.extensions.tools.db_bench import db_bench_output as history
from benchbrief.extensions.tools.db_bench import db_bench_output as text
from benchbrief.extensions.tools.db_bench.db_bench_flags import FLAG, RESERVED
from benchbrief.extensions.tools.db_bench.db_bench_invariants import require_found, warn_of_few_found
from benchbrief.extensions.tools.db_bench.db_bench_output import say

_REPORT = "report.csv"
_LOAD = "fillseq"
_BATCH = 100
"""How many keys a load writes at once. A batch of 100 took 0.6 times as long as single keys, and 1000 were no faster
(db_bench 7.8.3)."""
_SHORT_S = 0.5
"""How many seconds shorter than requested a timed benchmark may be, since db_bench looks at the clock only after a
number of operations."""

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
"""The operation of thread 0 in each benchmark that uses this thread for work in the background. No headline or
histogram includes that work."""

_STATS = "stats"
"""A pseudo-benchmark that prints RocksDB's permanent counters, such as the number of keys written."""

_TICKERS: Mapping[str, str] = {"write": "rocksdb.db.write.micros", "merge": "rocksdb.db.write.micros"}


_TRY_OPTIONS = read_script(__file__, "scripts/try_options.sh")


class DbBench:
    """The driver of db_bench. Implements `seams.Driver` and `host_checks.TriesOut`."""

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
                say.hint_db_bench(),
            ),
        )

    def trials(self, path: str, workload: Workload, database: Database) -> tuple[Requirement, ...]:
        """Implement `host_checks.TriesOut`: try the database options, such as a compression that the build may lack."""
        del workload
        flags = _options(database.options)
        if not flags or not database.path:
            return ()
        given = [f"--{name}={value}" for name, value in flags.items()]
        hint = f"use another value, or another build of db_bench ({database.origin})"
        command = Command(("sh", "-c", _TRY_OPTIONS, "sh", path, database.path, *given))
        return (Requirement(" ".join(given), command, hint),)

    def load(self, context: CellContext) -> Job | None:
        """Fill the database with `fillseq`: each key once, in order, from one thread.

        This way every key exists exactly once, memory does not grow with the data, and no compaction is left over for
        the first measured cell. (`filluniquerandom` would shuffle all keys in memory, at 8 bytes each.) The log is off
        while filling. `flush` and `waitforcompaction` leave everything in sorted files.
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
        flags |= {"stats_interval": "1000", "stats_interval_seconds": "2"}  # for `bench watch`
        if int(flags["num"]) % _BATCH == 0:  # otherwise the last batch would add too many keys
            flags.setdefault("batch_size", str(_BATCH))
        flags.pop("benchmark_write_rate_limit", None)
        return Job("load", _command(context, flags), timeout_s(context.cell, "load"))

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        found = _read(context, output)
        require_exit(output, "db_bench")
        headline = found.headline(_LOAD)
        if headline is None or found.errors:
            raise bad_output(output, say.load_unfinished(tool="db_bench", said=best_line(output)))
        written = next((block.count for block in found.blocks if block.operation == "write"), None)
        count = headline.operations if headline.operations is not None else written
        if count is None:
            raise bad_output(output, say.no_keys_told(said=best_line(output)))
        require_consistent(output, "db_bench", db_bench_invariants.find_problems(found, headline))
        return count

    def warm_up(self, context: CellContext) -> Job | None:
        """Run the same benchmark in a separate process. This warms files and page cache, but not the block cache."""
        benchmark = context.workload.benchmark
        if not context.cell.warm_up_s or benchmark in _UNTIMED or _makes_its_data(benchmark):
            return None
        # Another seed than the measurement's, so that it does not replay the same keys.
        flags = {**_measured(context, context.cell.warm_up_s), "seed": str(1_000_000 + context.cell.repeat)}
        return Job("warm_up", _command(context, flags), timeout_s(context.cell, "warm_up"))

    def measure(self, context: CellContext) -> Job:
        """Return the measured job. Raises RunnerError if db_bench can't run the cell because it has phases or an
        offered load."""
        if context.cell.phases > 1:
            raise PlanRefused(say.no_phases(tool="db_bench"), say.hint_no_phases())
        if context.cell.target is not None:
            raise PlanRefused(say.no_offered_load(), say.hint_threads())
        flags = _measured(context, context.cell.measure_s)
        if _BACKGROUND.get(context.workload.benchmark) in _TICKERS:
            flags["benchmarks"] += f",{_STATS}"
        if probe := _database_probe(context):
            flags |= history.statistics_flags(probe.every_s, flags)
            flags["benchmarks"] += f",{history.BENCHMARK}"
        return Job("measure", _command(context, flags), timeout_s(context.cell, "measure"), collect=(_REPORT,))

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        found = _read(context, output)
        benchmark = context.workload.benchmark
        headline = _proven(context, output, found)
        blocks = [block for block in found.blocks if block.operation not in ("compress", "uncompress")]
        count = headline.operations if headline.operations is not None else sum(block.count for block in blocks)
        # The printed rate is a whole number, and the printed seconds have three decimals. Use the more exact of the
        # two.
        if headline.seconds is None or headline.ops_per_s >= 1000:
            seconds = count / headline.ops_per_s
        else:
            seconds = headline.seconds
        if not _untimed(benchmark) and seconds < context.cell.measure_s - _SHORT_S:
            wanted = figure(context.cell.measure_s, "g")
            said = best_line(output)
            raise bad_output(
                output, say.ended_early(tool=benchmark, seconds=figure(seconds, ".1f"), wanted=wanted, said=said)
            )

        operations = [block.as_operation() for block in blocks]
        properties = _properties(context, found)
        background = _BACKGROUND.get(benchmark)
        if background:
            writer, said = _background(found, background, seconds)
            operations += [writer] if writer else []
            properties["background thread"] = said
            readers = [line for line in found.status if line.thread != 0]
            counted = text.count_by_second(readers, seconds, count)
        else:
            counted = text.read_intervals(read_output_lines(output.directory / _REPORT))

        intervals = tuple(Interval(*each) for each in counted)
        no_warm_up = _makes_its_data(benchmark) or _untimed(benchmark)
        remedy = say.hint_longer() if no_warm_up else say.remedy_warm_up()
        unsteady, judged = judge_window(intervals, remedy, context.cell.events)
        properties |= judged
        started = text.started_at(found, output.started_at, output.ended_at, seconds)
        return Measurement(
            window=(started, started + seconds),
            throughput=(PhaseThroughput(None, count, 0, seconds, count / seconds),),
            operations=tuple(operations),
            intervals=intervals,
            warnings=(*found.warnings, *warn_of_few_found(headline), *unsteady),
            tool_version=f"db_bench {found.version}".strip(),
            properties=tuple(properties.items()),
        )

    def database_samples(
        self, context: CellContext, output: JobOutput, window: tuple[float, float]
    ) -> tuple[Sample, ...]:
        """Implement `seams.TellsDatabase`, from the statistics history in db_bench's output."""
        probe = _database_probe(context)
        found = history.read_slices(read_output_lines(output.stdout, history.PRINTED_BYTES)) if probe else ()
        if probe is None or not found:
            raise bad_output(output, say.no_history(said=best_line(output)))
        return history.make_samples(found, probe.every_s, output.host, window)

    def interim(self, context: CellContext, text_so_far: str) -> Interim | None:
        """Implement `seams.TellsInterim`. There is a rate, but no latency yet."""
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
        # Fixed, so that a cell asks for the same keys on every host. Each repeat has another seed. 0 means random.
        "seed": str(context.cell.repeat),
        "histogram": "1",
        "report_file": _REPORT,
        "report_interval_seconds": "1",
        # A status line of each thread every second separates readers from the background writer. A check every 100
        # operations has no measurable cost.
        "stats_interval": "100",
        "stats_interval_seconds": "1",
    }
    if not _untimed(benchmark):
        flags["duration"] = _whole_seconds(seconds)
        # By default db_bench checks the clock every 1000 operations, which may take minutes on a slow device.
        flags["ops_between_duration_checks"] = "100"
    return flags


def _whole_seconds(seconds: float) -> str:
    if seconds != int(seconds):
        raise PlanRefused(say.whole_seconds(seconds=figure(seconds, "g")), say.hint_whole_seconds())
    return str(int(seconds))


def _common(context: CellContext) -> dict[str, str]:
    """Return the flags that load, warm-up and measurement share: the shape of the data, and the database's options."""
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
        raise PlanRefused(say.database_pathless(database=context.database.name), say.hint_path_of())
    return path


def _options(options: Mapping[str, str | float | bool]) -> dict[str, str]:
    """Return the database's options as flags. Options that the language does not define are passed on unchanged."""
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
                raise PlanRefused(
                    say.no_rocksdb_option(name=name),
                    say.hint_own_option() if name in RESERVED else say.hint_flag_names(),
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


def _read(context: CellContext, output: JobOutput) -> text.DbBenchOutput:
    stdout = (
        read_output_lines(output.stdout, history.PRINTED_BYTES)
        if _database_probe(context)
        else read_output_lines(output.stdout)
    )
    return text.read(stdout, read_output_lines(output.stderr))


def _proven(context: CellContext, output: JobOutput, found: text.DbBenchOutput) -> text.Headline:
    """Return the benchmark's headline. Raises BadOutput if the output is not complete."""
    benchmark = context.workload.benchmark
    require_exit(output, "db_bench")
    headline = found.headline(benchmark)
    if headline is None:
        raise bad_output(output, say.no_result(benchmark=benchmark, said=best_line(output)))
    if found.errors:
        raise BadOutput(say.db_bench_error(said=found.errors[0][:300]), say.hint_see(path=output.stderr))
    if not found.blocks or not all(block.whole for block in found.blocks):
        raise bad_output(output, say.no_db_bench_histogram(benchmark=benchmark, said=best_line(output)))
    if headline.ops_per_s == 0 or not sum(block.count for block in found.blocks):
        raise bad_output(output, say.no_operations(tool=benchmark, said=best_line(output)))
    threads = None if _untimed(benchmark) else context.threads
    require_consistent(output, "db_bench", db_bench_invariants.find_problems(found, headline, threads))
    require_found(context, headline)
    return headline


def _properties(context: CellContext, found: text.DbBenchOutput) -> dict[str, str]:
    properties: dict[str, str] = {
        "latency": say.latency_service(),
        "loop": say.loop_closed(),
        "percentiles": say.percentiles_db_bench(),
        "statistics": say.on() if found.tickers else say.off(),
    }
    if probe := _database_probe(context):
        asked = context.database.options.get("statistics") is True
        kept = say.statistics_kept(seconds=figure(probe.every_s, "g"))
        properties["statistics"] = say.statistics_both(said=kept) if asked else say.statistics_counters(said=kept)
    if context.workload.writes:
        properties["write-ahead log"] = _log_said(context)
    if _untimed(context.workload.benchmark):
        properties["window"] = say.window_to_end()
    elif context.cell.warm_up_s:
        direct = context.database.options.get("direct_io") is True
        properties["warm-up"] = say.warm_up_db_bench_direct() if direct else say.warm_up_db_bench()
    return properties


def _log_said(context: CellContext) -> Message:
    """Describe what a write waits for, according to the options and db_bench's defaults (`--sync=0`,
    `--disable_wal=0`)."""
    flags = _options(context.database.options)
    if flags.get("disable_wal") == "1":
        return say.log_off()
    is_synced = flags.get("sync") == "1" or context.workload.benchmark == "fillsync"
    return say.log_synced() if is_synced else say.log_unsynced()


def _background(found: text.DbBenchOutput, operation: str, seconds: float) -> tuple[Operation | None, str]:
    """Return the number of the background thread's operations, and the source of that number."""
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
        return writer, say.background_timed()
    last = max((line for line in found.status if line.thread == 0), key=lambda line: line.seconds, default=None)
    counted = found.written if operation in _TICKERS else None
    if last is None and counted is None:
        return None, say.background_unknown()
    count = sum(counted) / 2 if counted else 0.0
    if last is not None:
        count = last.count / last.seconds * seconds
        count = min(max(count, counted[0]), counted[1]) if counted else count
    return (
        Operation(operation=operation, count=round(count), in_total=False),
        say.background_by_rocksdb() if counted else say.background_by_status(),
    )
