"""fio, used on a file or a block device of the host under test.

How to read its numbers:
- Throughput counts the I/Os that completed in the measured time, for all jobs and both directions.
- Latencies are completion latencies (`clat`): from the submission of an I/O to its completion. The bins of all jobs are
  added to one histogram for each direction.
- Warm-up and measurement are one process: fio counts nothing during `ramp_time`.
- An offered load is fio's `rate_iops` with Poisson arrivals. It is split evenly over the jobs, and over the two
  directions according to the mix. Latency still begins with the submission, so it leaves out the time spent waiting for
  a place in the queue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from benchbrief.extend.common import (
    Command,
    Database,
    Job,
    JobOutput,
    Message,
    PlanRefused,
    Requirement,
    Sample,
    Workload,
    figure,
    read_script,
)
from benchbrief.extend.tools import (
    CellContext,
    Interim,
    Measurement,
    Operation,
    PhaseThroughput,
    bad_output,
    best_line,
    judge_window,
    require_consistent,
    require_exit,
    require_few_errors,
    timeout_s,
)
from benchbrief.extensions.tools.fio import fio_invariants, fio_output
from benchbrief.extensions.tools.fio.fio_output import NS_PER_S, Direction, FioOutput, NotFio, say

_TRY_IO = read_script(__file__, "scripts/try_io.sh")
_OUTPUT = "fio.json"
_LOGS = "fio_iops.*.log"
_UNIT = 1 << 20
_SHORT_S = 0.5
"""How many seconds shorter than requested a measurement may be."""
_STEADY_S = 5
_ORDERED = frozenset({"read", "write", "readwrite"})
_STATUS = re.compile(r"\[[^\]]*IOPS\]")
_RATE = re.compile(r"(?:[rwt]=)?(\d+(?:\.\d+)?)([kMG]?)(?=[, ])")
_SCALE = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}


class Fio:
    """The driver of fio. Implements `seams.Driver` and `host_checks.TriesOut`."""

    name: ClassVar[str] = "fio"

    def candidates(self, configured: str | None, tool_dirs: Sequence[str]) -> tuple[str, ...]:
        if configured:
            return (configured, f"{configured}/fio")
        return (*(f"{folder}/fio/fio" for folder in tool_dirs), "fio")

    def requirements(self, path: str) -> tuple[Requirement, ...]:
        hint = 'install it with `sudo apt-get install fio`, or name it: tool = fio("/path")'
        return (Requirement("fio", Command((path, "--version")), hint),)

    def trials(self, path: str, workload: Workload, database: Database) -> tuple[Requirement, ...]:
        """Implement `host_checks.TriesOut`: try the engine, direct I/O and the block size on the file system or
        device."""
        if not database.path:
            return ()
        given = workload.properties
        engine, block = str(given["io_engine"]), int(float(given["block_size"]))
        direct = bool(given.get("direct", True))
        how = "direct I/O" if direct else "I/O through the page cache"
        command = Command(("sh", "-c", _TRY_IO, "sh", path, engine, str(int(direct)), str(block), database.path))
        other = "another `io_engine`, `direct = false`, another `block_size`" if direct else "another `io_engine`"
        hint = f"use {other}, or another `path` ({workload.origin})"
        return (Requirement(f"{engine}, {how}, blocks of {block} B in {database.path}", command, hint),)

    def load(self, context: CellContext) -> Job:
        """Lay out the file, or write the device once. Blocks are written in order, so that none is left out."""
        flags = {
            "name": "layout",
            "filename": _filename(context),
            "size": str(_extent(context)),
            "rw": "write",
            "bs": str(_UNIT),
            "ioengine": "psync",
            "refill_buffers": "1",
            "end_fsync": "1",
            "output-format": "json+",
            "output": _OUTPUT,
        }
        command = Command((context.tool_path, *_words(flags)))
        return Job("load", command, timeout_s(context.cell, "load"), collect=(_OUTPUT,))

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        """Return how many bytes were written. Raises BadOutput."""
        del context
        require_exit(output, "fio")
        found = _read(output)
        failed = fio_invariants.failed_job(found)
        if failed or not found.jobs[0].write.io_bytes:
            raise bad_output(output, say.fio_layout_cut(said=best_line(output)))
        require_consistent(output, "fio", _problems(output, found))
        return found.jobs[0].write.io_bytes

    def warm_up(self, context: CellContext) -> Job | None:
        del context  # fio's ramp is the first part of the measured process
        return None

    def measure(self, context: CellContext) -> Job:
        """Return the measured job. Raises RunnerError for a cell that fio can't run."""
        if context.cell.phases > 1:
            raise PlanRefused(say.no_phases(tool="fio"), say.hint_no_phases())
        words = [*_words(_global_flags(context))]
        for job in _jobs(context):
            words += _words(job)
        command = Command((context.tool_path, *words))
        return Job("measure", command, timeout_s(context.cell, "measure"), collect=(_OUTPUT, _LOGS))

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        require_exit(output, "fio")
        found = _read(output)
        failed = fio_invariants.failed_job(found)
        if failed:
            raise bad_output(output, say.fio_job_failed(job=failed.name, code=failed.error, said=best_line(output)))
        require_consistent(output, "fio", [*_foreign(context, found), *_problems(output, found)])
        seconds, operations = found.seconds, tuple(read_operations(found))
        count, errors = sum(each.count for each in operations), sum(job.total_err for job in found.jobs)
        if not count:
            raise bad_output(output, say.no_operations(tool="fio", said=best_line(output)))
        require_few_errors(output, "fio", errors, count, context.experiment.max_error_share)
        wanted = context.cell.measure_s
        ended_steady = any(job.steadystate and job.steadystate.attained for job in found.jobs)
        if seconds < wanted - _SHORT_S and not ended_steady:
            said = best_line(output)
            raise bad_output(
                output,
                say.ended_early(tool="fio", seconds=figure(seconds, ".1f"), wanted=figure(wanted, "g"), said=said),
            )
        intervals = fio_output.read_intervals(sorted(output.directory.glob(_LOGS)), seconds)
        unsteady, properties = judge_window(intervals, say.remedy_warm_up(), context.cell.events)
        ended = min(output.ended_at, max(output.started_at + seconds, found.timestamp_ms / 1000))
        remarks, own = describe_own(found)
        return Measurement(
            window=(ended - seconds, ended),
            throughput=(PhaseThroughput(None, count, errors, seconds, count / seconds),),
            operations=operations,
            intervals=intervals,
            warnings=(*unsteady, *remarks),
            tool_version=found.version.replace("-", " ", 1),
            samples=tuple(read_own_samples(found)),
            properties=tuple({**describe(offered=context.cell.target is not None), **properties, **own}.items()),
        )

    def interim(self, context: CellContext, text: str) -> Interim | None:
        """Implement `seams.TellsInterim`. There is a rate, summed over reads and writes, but no latency."""
        del context
        status = _STATUS.findall(text)
        rates = [float(number) * _SCALE[unit] for number, unit in _RATE.findall(status[-1])] if status else []
        return Interim(sum(rates)) if rates else None


def read_operations(found: FioOutput) -> Iterator[Operation]:
    """Yield each direction with the latencies of all jobs merged."""
    for name in fio_output.DIRECTIONS:
        parts = [job.directions[name] for job in found.jobs if name in job.directions]
        if parts and any(part.clat_ns.count for part in parts):
            yield _operation(name, parts)


def read_own_samples(found: FioOutput) -> Iterator[Sample]:
    """Yield a sample of each of fio's own measures that the output contains. Each is for the whole measurement."""
    seconds = found.seconds
    parts = [part for job in found.jobs for part in job.directions.values()]
    submitted = [part.slat_ns for part in parts if part.slat_ns and part.slat_ns.count]
    count = sum(each.count for each in submitted)
    cores = [job.usr_cpu + job.sys_cpu for job in found.jobs if job.usr_cpu is not None and job.sys_cpu is not None]
    yield Sample("fio.bandwidth", "", "", seconds, float(sum(part.bw_bytes for part in parts)), "B/s", seconds)
    if count:
        mean_s = sum(each.mean * each.count for each in submitted) / count / NS_PER_S
        yield Sample("fio.submission", "", "", seconds, mean_s, "s", seconds)
    if len(cores) == len(found.jobs):
        yield Sample("fio.cpu", "", "", seconds, sum(cores) / 100, "cores", seconds)


def _operation(name: str, parts: Sequence[Direction]) -> Operation:
    latencies = [part.clat_ns for part in parts if part.clat_ns.count]
    count = sum(each.count for each in latencies)
    return Operation(
        operation=name,
        count=count,
        mean_s=sum(each.mean * each.count for each in latencies) / count / NS_PER_S,
        min_s=min(each.low for each in latencies) / NS_PER_S,
        max_s=max(each.high for each in latencies) / NS_PER_S,
        histogram=fio_output.merge_jobs(latencies),
    )


def describe(*, offered: bool) -> dict[str, Message]:
    """Return the disclosure of how fio defines its numbers: latencies, loop and percentiles."""
    return {
        "latency": say.fio_submitted() if offered else say.fio_completion(),
        "loop": say.loop_open() if offered else say.loop_closed(),
        "percentiles": say.fio_percentiles(),
    }


def describe_own(found: FioOutput) -> tuple[tuple[Message, ...], dict[str, str]]:
    """Return warnings, and fio's own report on its steady state and latency target."""
    warnings: list[Message] = []
    properties: dict[str, str] = {}
    first = found.jobs[0]
    steady = next((job.steadystate for job in found.jobs if job.steadystate), None)
    if steady:
        about = {"criterion": steady.criterion, "asked": steady.ss, "seconds": steady.duration}
        attained = say.fio_steady(**about) if steady.attained else say.fio_not_steady(**about)
        properties["fio steadystate"] = attained
        warnings += [] if steady.attained else [say.fio_never_steady()]
    target = found.option(first, "latency_target")
    if target:
        depths = sorted({job.latency_depth for job in found.jobs})
        shown = f"{depths[0]}" if len(depths) == 1 else f"{depths[0]}–{depths[-1]}"
        properties["fio latency_target"] = say.fio_depth(
            depth=shown,
            most=found.option(first, "iodepth", "1"),
            share=f"{found.option(first, 'latency_percentile', '100')} %",
            target=target,
        )
    if any(each.clat_ns.high >= fio_output.BUCKETS_END_NS for job in found.jobs for each in job.directions.values()):
        warnings.append(say.fio_beyond_buckets())
    return tuple(warnings), properties


def _read(output: JobOutput) -> FioOutput:
    try:
        return fio_output.read_output(output.directory / _OUTPUT)
    except NotFio as error:
        raise bad_output(output, say.fio_cut(said=str(error))) from error


def _problems(output: JobOutput, found: FioOutput) -> list[str]:
    try:
        return fio_invariants.find_problems(found)
    except NotFio as error:
        raise bad_output(output, say.fio_cut(said=str(error))) from error


def _foreign(context: CellContext, found: FioOutput) -> Iterator[str]:
    """Yield each difference between the output and the cell in jobs, pattern, block size, depth, engine or direct
    I/O."""
    if len(found.jobs) != context.threads:
        yield say.fio_other_jobs(jobs=len(found.jobs), threads=context.threads)
    asked = _global_flags(context, context.endpoint.path or "-")
    for name in ("rw", "bs", "iodepth", "ioengine", "direct"):
        said = found.option(found.jobs[0], name)
        if said != asked[name]:
            yield say.fio_other_option(name=name, found=said or say.nothing_given(), asked=asked[name])


def _filename(context: CellContext) -> str:
    if not context.endpoint.path:
        raise PlanRefused(say.needs_place(tool="fio", place=say.a_file_or_device()), say.hint_path_of())
    return context.endpoint.path.replace("\\", "\\\\").replace(":", "\\:")  # fio separates files by colons


def _extent(context: CellContext) -> int:
    size = context.database.size_bytes
    if not size:
        raise PlanRefused(say.fio_sizeless(), say.hint_size_of())
    return int(size) // _UNIT * _UNIT


def _global_flags(context: CellContext, filename: str = "") -> dict[str, str]:
    given = context.workload.properties
    pattern, depth, engine = context.workload.benchmark, int(float(given["io_depth"])), str(given["io_engine"])
    if engine == "psync" and depth > 1:
        raise PlanRefused(say.fio_psync(), say.hint_fio_psync())
    flags = {
        "name": "global",
        "filename": filename or _filename(context),
        "rw": pattern,
        "bs": str(int(float(given["block_size"]))),
        "iodepth": str(depth),
        "ioengine": engine,
        "direct": "1" if given.get("direct", True) else "0",
        "time_based": "1",
        "runtime": _milliseconds(context.cell.measure_s),
        # Fixed, so that a cell asks for the same blocks on every host. Each repeat has another seed.
        "allrandrepeat": "1",
        "randseed": str(context.cell.repeat),
        "group_reporting": "0",
        "write_iops_log": "fio",
        "log_avg_msec": "1000",
        "output-format": "json+",
        "output": _OUTPUT,
        "eta": "always",
        "eta-newline": "1",
    }
    if context.cell.warm_up_s:
        flags["ramp_time"] = _milliseconds(context.cell.warm_up_s)
    if "read" in given:
        flags["rwmixread"] = str(_read_percent(context))
    if "steady_slope" in given:
        flags["steadystate"] = f"iops_slope:{100 * float(given['steady_slope']):g}%"
        flags["steadystate_duration"] = f"{given.get('steady_window', _STEADY_S):g}"
    if "latency_target" in given:
        flags["latency_target"] = _microseconds(given["latency_target"])
        flags["latency_window"] = _microseconds(given.get("latency_window", 1.0))
        flags["latency_percentile"] = f"{100 * float(given.get('latency_share', 1.0)):g}"
    if context.target is not None:
        flags["rate_process"] = "poisson"
    if context.experiment.max_error_share:
        flags["continue_on_error"] = "io"
    return flags


def _jobs(context: CellContext) -> Iterator[dict[str, str]]:
    """Yield the options of each job: its name, its part of the storage, and its share of an offered load.

    Jobs that read or write in order divide the storage among them. Otherwise each job uses all of it.
    """
    size, block, jobs = _extent(context), int(float(context.workload.properties["block_size"])), context.threads
    part = size // jobs // block * block if context.workload.benchmark in _ORDERED else size // block * block
    if not part:
        raise PlanRefused(say.fio_no_room(jobs=jobs, block=block, size=size), say.hint_fio_no_room())
    for number in range(jobs):
        job = {"name": f"job{number + 1}", "size": str(part)}
        if context.workload.benchmark in _ORDERED:
            job["offset"] = str(number * part)
        if context.target is not None:
            job["rate_iops"] = ",".join(str(rate) for rate in _rates(context, number))
        yield job


def _rates(context: CellContext, number: int) -> tuple[int, ...]:
    """Return how many reads and writes per second one job does. Raises PlanRefused if a rate is below one per second.

    fio takes whole numbers, and 0 means no limit. The rates of all jobs add up to the offered load.
    """
    whole, jobs = round(context.target or 0.0), context.threads
    reads = round(whole * _read_percent(context) / 100) if "read" in context.workload.properties else None
    parts = (whole,) if reads is None else (reads, whole - reads)
    rates = tuple(part // jobs + (1 if number < part % jobs else 0) for part in parts)
    if any(part and not rate for part, rate in zip(parts, rates, strict=True)):
        raise PlanRefused(say.fio_rate_low(rate=whole, jobs=jobs), say.hint_fio_rate())
    both = rates * 2 if len(rates) == 1 else rates
    return tuple(rate or 1 for rate in both)  # 0, of a direction that the mix leaves out, means no limit


def _read_percent(context: CellContext) -> int:
    share = 100 * float(context.workload.properties["read"])
    if abs(share - round(share)) > 1e-6:
        raise PlanRefused(
            say.fio_percent(share=figure(share, "g")),
            say.hint_fio_percent(share=round(share), workload=context.workload.name),
        )
    return round(share)


def _milliseconds(seconds: float) -> str:
    return f"{round(1000 * seconds)}ms"


def _microseconds(seconds: str | float) -> str:
    return f"{round(1e6 * float(seconds))}us"


def _words(flags: dict[str, str]) -> Iterator[str]:
    return (f"--{name}={value}" for name, value in flags.items())
