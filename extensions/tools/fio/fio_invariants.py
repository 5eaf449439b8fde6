"""The rules that fio's output must keep.

The rules follow fio's source (`stat.c`, `io_u.c`). If an I/O is in flight when a ramp ends, fio may count only its
submission or only its completion. The two counts may therefore differ by the queue depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchbrief.extend import invariants as rule
from benchbrief.extend.invariants import Invariant
from benchbrief.extensions.tools.fio.fio_output import (
    BUCKETS_END_NS,
    DIRECTIONS,
    NS_PER_S,
    Direction,
    FioJob,
    FioOutput,
    merge_jobs,
)

_UNIT_S = 1e-9
_MOST_CPU = 110.0
_OFF = 1e-4
"""The relative error of fio's rates, which fio computes from microseconds although it prints milliseconds."""


@dataclass(frozen=True)
class One:
    """A job in one direction. `block_size` is None if the job's I/Os have several sizes. `limit` is the limit of all
    jobs together, in I/Os per second."""

    job: str
    name: str
    found: Direction
    depth: int
    block_size: int | None
    patterns: str
    cpu: float | None = None
    limit: int | None = None

    @property
    def called(self) -> str:
        return f"{self.name} of job {self.job}"


def find_problems(output: FioOutput) -> list[str]:
    """Return the contradictions in an output, each with the values that disagree. Raises NotFio if the output has a bin
    that fio does not use."""
    return [*_odd_times(output), *(each for one in _each(output) for each in rule.find_broken(TABLE, one))]


def _each(output: FioOutput) -> Iterator[One]:
    for number, job in enumerate(output.jobs, start=1):
        for name, found in job.directions.items():
            yield One(
                f"{job.name} ({number})",
                name,
                found,
                max(1, number_of(output.option(job, "iodepth", "1")) or 1) * lanes(output, job),
                number_of(output.option(job, "bs", output.option(job, "blocksize", "4k"))),
                output.option(job, "rw", output.option(job, "readwrite", "")),
                job.usr_cpu + job.sys_cpu if job.usr_cpu is not None and job.sys_cpu is not None else None,
                (rate_limit(output, job, name) or 0) * lanes(output, job) or None,
            )


def lanes(output: FioOutput, job: FioJob) -> int:
    """Return how many fio jobs one JSON entry represents. With `group_reporting`, these are all jobs of a group.

    fio prints the options of only one section, and prints `group_reporting` only if that option has a value. But it
    adds up the times of all jobs that it reports together.
    """
    said, times = own_lanes(output, job), _times(job)
    return said if times is None or _is_near(times, said) else max(said, round(times))


def own_lanes(output: FioOutput, job: FioJob) -> int:
    """Return the `numjobs` of the section whose options are printed, or 1 if each of its jobs has its own entry."""
    alike = sum((each.name, each.groupid) == (job.name, job.groupid) for each in output.jobs)
    return max(1, number_of(output.option(job, "numjobs", "1")) or 1) if alike == 1 else 1


def rate_limit(output: FioOutput, job: FioJob, direction: str) -> int | None:
    """Return the limit of each job of a section in a direction, in I/Os per second, or None for no limit.

    A single rate applies to all directions. In a list, an empty rate means no limit, and the last rate also applies to
    the directions after it (HOWTO, "I/O rate").
    """
    rates = output.option(job, "rate_iops").split(",")
    return number_of(rates[min(DIRECTIONS.index(direction), len(rates) - 1)]) or None


def _times(job: FioJob) -> float | None:
    """Return the time of all jobs together as a multiple of the longest job's time, or None if fio does not print the
    times."""
    longest = max((each.runtime_ms for each in job.directions.values()), default=0)
    return job.runtime_ms / longest if job.runtime_ms and longest else None


def _is_near(times: float, jobs: int) -> bool:
    """Return whether the number of jobs fits `times`, the time of all jobs together as a multiple of the longest job's
    time. Some jobs may end early."""
    return times < jobs + 0.1


def _odd_times(output: FioOutput) -> Iterator[str]:
    """Yield the entries whose number of jobs can't be known, because the sections of a group ran for different
    times."""
    for job in output.jobs:
        said, times = own_lanes(output, job), _times(job)
        if times is not None and not _is_near(times, said) and abs(times - round(times)) > 0.1:
            longest = max(each.runtime_ms for each in job.directions.values())
            jobs = f"{said} jobs of up to" if said > 1 else "a job of"
            yield f"{job.name} has a job_runtime of {job.runtime_ms} ms, and its options are of {jobs} {longest} ms"


def number_of(text: str) -> int | None:
    """Return a number that is written with fio's suffixes, such as `4k`, in powers of 1024. Returns None for any other
    text."""
    digits, suffix = (text[:-1], text[-1].lower()) if text[-1:].isalpha() else (text, "")
    if not digits.isdecimal() or len(digits) > 15 or suffix not in ("", "k", "m", "g", "t"):
        return None
    return int(digits) << (10 * ("kmgt".index(suffix) + 1) if suffix else 0)


def _whole_bins(one: One) -> Iterator[str]:
    held = sum(one.found.clat_ns.bins.values())
    if held != one.found.clat_ns.count:
        yield f"{one.called} has {one.found.clat_ns.count} completion latencies, and its bins hold {held}"


def _counts(one: One) -> Iterator[str]:
    submitted, completed = one.found.total_ios, one.found.clat_ns.count
    if abs(submitted - completed) > one.depth:
        yield f"{one.called} submitted {submitted} I/Os, and {completed} completed, with {one.depth} at once"


def _bytes(one: One) -> Iterator[str]:
    if one.block_size is None or one.found.short_ios:
        return
    wanted = one.found.clat_ns.count * one.block_size
    if abs(wanted - one.found.io_bytes) > one.depth * one.block_size:
        computed = f"{one.found.clat_ns.count} I/Os of {one.block_size} bytes are {wanted}"
        yield f"{one.called} moved {one.found.io_bytes} bytes, and {computed}"


def _rates(one: One) -> Iterator[str]:
    found = one.found
    if not found.runtime_ms:
        yield f"{one.called} took no time"
        return
    seconds, off = found.runtime_ms / 1000, _OFF + 1.0 / found.runtime_ms
    for said, amount, unit in ((found.iops, found.total_ios, "I/Os"), (found.bw_bytes, found.io_bytes, "bytes")):
        if abs(said - amount / seconds) > off * amount / seconds + 1:
            computed = f"{amount} in {rule.format_number(seconds)} s are {rule.format_number(amount / seconds)}"
            yield f"{one.called} did {rule.format_number(said)} {unit} a second, and {computed}"


def _ends(one: One) -> Iterator[str]:
    latencies, name = one.found.clat_ns, f"the histogram of {one.called}"
    held = merge_jobs([latencies])
    high = latencies.high / NS_PER_S if latencies.high < BUCKETS_END_NS else None
    yield from rule.check_bucket_ends(name, held, latencies.low / NS_PER_S, high, _UNIT_S)
    if high is not None:
        yield from rule.check_bucket_mean(name, held, latencies.mean / NS_PER_S, _UNIT_S)


def _submission(one: One) -> Iterator[str]:
    """Check that submission and completion latency add up to the whole latency. For an I/O that is in flight when a
    ramp ends, fio counts only one of the two."""
    slat, clat, lat = one.found.slat_ns, one.found.clat_ns, one.found.lat_ns
    for name, latency in (("slat", slat), ("lat", lat)):
        if latency and latency.count and not latency.low - 1 <= latency.mean <= latency.high + 1:
            mean = rule.format_seconds(latency.mean / NS_PER_S)
            ends = f"{rule.format_seconds(latency.low / NS_PER_S)} to {rule.format_seconds(latency.high / NS_PER_S)}"
            yield f"{one.called} has a {name} of {mean} on average, and from {ends}"
    if slat is None or not slat.count or not lat.count:
        return
    both = slat.mean + clat.mean
    apart = max(slat.count, clat.count, lat.count) - min(slat.count, clat.count, lat.count)
    # An I/O that one of these counts leaves out may have been as slow as the slowest.
    off = 1.0 + apart * max(slat.high, clat.high, lat.high) / min(slat.count, clat.count or 1, lat.count)
    if apart <= one.depth and abs(both - lat.mean) > off + 1e-6 * both:
        parts = f"its slat and clat add up to {rule.format_seconds(both / NS_PER_S)}"
        yield f"{one.called} has a lat of {rule.format_seconds(lat.mean / NS_PER_S)} on average, and {parts}"


def _processors(one: One) -> Iterator[str]:
    """Check that a job used at most one processor, to within some clock ticks, since a job is one thread or process."""
    if one.cpu is not None and one.cpu > _MOST_CPU:
        yield f"job {one.job} used {rule.format_number(one.cpu)} % of one processor"


def _percentiles(one: One) -> Iterator[str]:
    latency = one.found.clat_ns
    if latency.high >= BUCKETS_END_NS:
        return
    printed = [
        (float(name), value / NS_PER_S)
        for name, value in latency.percentile.items()
        if name.replace(".", "").isdecimal()
    ]
    yield from rule.check_percentile(f"the histogram of {one.called}", merge_jobs([latency]), printed)


def _busy(one: One) -> Iterator[str]:
    """Check that the latencies fit into the run. A job has as many I/Os in flight as its depth. In each of these slots,
    one I/O follows another."""
    latency = one.found.lat_ns
    held, lanes = (
        latency.mean / NS_PER_S * latency.count,
        one.depth * (one.found.runtime_ms / 1000 + latency.high / NS_PER_S),
    )
    if held > lanes * (1 + rule.QUANTISED) + 0.01:
        yield f"the latencies of {one.called} add up to {held:.3f} s, and {one.depth} at once have {lanes:.3f} s"


def _within_limit(one: One) -> Iterator[str]:
    """Check that a job kept to its limit. It may catch up after a delay, but is never ahead for long."""
    seconds = one.found.runtime_ms / 1000
    due = (one.limit or 0) * seconds
    if due and one.found.total_ios > 1.25 * due + 5 * due**0.5 + one.depth:
        did = rule.format_number(round(one.found.total_ios / seconds, 1))
        yield f"{one.called} did {did} I/Os a second, and its rate_iops allows {one.limit}"


def _pattern(one: One) -> Iterator[str]:
    pattern = one.patterns.partition(":")[0]
    if pattern and one.name not in _DOES.get(pattern, (one.name,)):
        yield f"a job of `{pattern}` has the I/Os of {one.called}"


_DOES = {
    **dict.fromkeys(("read", "randread"), ("read",)),
    **dict.fromkeys(("write", "randwrite"), ("write",)),
    **dict.fromkeys(("rw", "readwrite", "randrw"), ("read", "write")),
}

TABLE: tuple[Invariant[One], ...] = (
    Invariant("The bins of completion latencies hold `N`", _whole_bins),
    Invariant("`N` is `total_ios`, but for the I/Os in flight", _counts),
    Invariant("`io_bytes` is `N` x `bs`", _bytes),
    Invariant("`iops` is `total_ios` / `runtime`, and `bw_bytes` is `io_bytes` / `runtime`", _rates),
    Invariant("`min`, `mean` and `max` lie where the bins have latencies", _ends),
    Invariant("Percentiles are those of the bins", _percentiles),
    Invariant("All latencies fit into the time of the queue's places", _busy),
    Invariant("`slat` and `clat` make `lat`, whose mean lies between its `min` and `max`", _submission),
    Invariant("A job uses no more than one processor", _processors),
    Invariant("A pattern has its own directions alone", _pattern),
    Invariant("No more I/Os a second than the `rate_iops` of all jobs", _within_limit),
)


def failed_job(output: FioOutput) -> FioJob | None:
    """Return the first job that ended with an error."""
    return next((job for job in output.jobs if job.error), None)
