"""Reads fio's JSON with bins (`--output-format=json+`) and its log of IOPS, without judging them.

The bins of latencies are a histogram with 64 buckets for each power of two, in nanoseconds (`stat.h` in fio's source).
A bin is named by the middle of its bucket (`plat_idx_to_val` in `stat.c`). Below 128 ns, each value has its own bucket.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchbrief.extend import histograms as h
from benchbrief.extend.common import CommonSentences, Message, speaker
from benchbrief.extend.tools import Histogram, Interval


class FioMessages(CommonSentences, Protocol):
    def a_file_or_device(self) -> Message: ...
    def fio_percentiles(self) -> Message: ...
    def fio_completion(self) -> Message: ...
    def fio_submitted(self) -> Message: ...
    def fio_cut(self, *, said: object) -> Message: ...
    def fio_job_failed(self, *, job: object, code: object, said: object) -> Message: ...
    def fio_steady(self, *, criterion: object, asked: object, seconds: object) -> Message: ...
    def fio_not_steady(self, *, criterion: object, asked: object, seconds: object) -> Message: ...
    def fio_never_steady(self) -> Message: ...
    def fio_depth(self, *, depth: object, most: object, share: object, target: object) -> Message: ...
    def fio_beyond_buckets(self) -> Message: ...
    def fio_layout_cut(self, *, said: object) -> Message: ...
    def fio_sizeless(self) -> Message: ...
    def fio_psync(self) -> Message: ...
    def fio_no_room(self, *, jobs: object, block: object, size: object) -> Message: ...
    def fio_rate_low(self, *, rate: object, jobs: object) -> Message: ...
    def fio_percent(self, *, share: object) -> Message: ...
    def fio_other_jobs(self, *, jobs: object, threads: object) -> Message: ...
    def fio_other_option(self, *, name: object, found: object, asked: object) -> Message: ...
    def nothing_given(self) -> Message: ...
    def hint_size_of(self) -> Message: ...
    def hint_fio_psync(self) -> Message: ...
    def hint_fio_no_room(self) -> Message: ...
    def hint_fio_rate(self) -> Message: ...
    def hint_fio_percent(self, *, share: object, workload: object) -> Message: ...
    def fio_too_large(self, *, most: object) -> Message: ...
    def fio_empty(self) -> Message: ...
    def fio_not_whole(self, *, said: object) -> Message: ...
    def fio_not_its_own(self, *, place: object, said: object) -> Message: ...
    def fio_bin_name(self, *, name: object) -> Message: ...
    def fio_no_such_bin(self, *, middle: object) -> Message: ...
    def hint_fio_cut(self) -> Message: ...
    def hint_fio_version(self) -> Message: ...
    def fio_too_old(self, *, version: object) -> Message: ...


say: FioMessages = speaker(FioMessages)


NS_PER_S = 1_000_000_000
DIRECTIONS = ("read", "write", "trim")
BUCKETS_END_NS = 1 << 34
"""The end of the second-to-last bucket. The last bucket holds all longer latencies."""

_MOST_BYTES = 256 << 20
_EXACT = 128
_BITS = 6
_LOG_LINE = re.compile(r"(\d{1,15}), (\d{1,15}), (\d), \d+(?:, \S+)*")

Count = Annotated[int, Field(ge=0, le=1 << 62)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


_MORE_JSON = re.compile(r"[^\S\n]*\S|\s*[]{}\[,\"]")
"""Matches text that may not follow the JSON: more text on its last line, or more JSON."""
_BEFORE_BINS = re.compile(r"fio-[12]\.")


class NotFio(ValueError):
    """Raised if the text is not a complete JSON output of fio. The message gives the reason, and `hint` suggests the
    next step."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.hint = hint


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class FioLatencies(_Part):
    """Latencies in nanoseconds. `bins` and `percentile` are keyed as fio prints them."""

    low: Annotated[Count, Field(alias="min")]
    high: Annotated[Count, Field(alias="max")]
    mean: Amount
    count: Annotated[Count, Field(alias="N")]
    percentile: Mapping[str, Count] = {}
    bins: Mapping[str, Count] = {}


class Direction(_Part):
    """A job's I/O in one direction. `total_ios` counts submitted I/Os, and `clat_ns.count` counts completed ones."""

    io_bytes: Count
    bw_bytes: Count
    iops: Amount
    runtime_ms: Annotated[Count, Field(alias="runtime")]
    total_ios: Count
    short_ios: Count
    slat_ns: FioLatencies | None = None
    clat_ns: FioLatencies
    lat_ns: FioLatencies


class SteadyState(_Part):
    ss: str
    duration: Count
    attained: int
    criterion: str


class FioJob(_Part):
    name: Annotated[str, Field(alias="jobname")]
    groupid: int = 0
    error: int
    total_err: Count = 0
    options: Annotated[Mapping[str, str], Field(alias="job options")] = {}
    read: Direction
    write: Direction
    trim: Direction
    usr_cpu: Amount | None = None
    sys_cpu: Amount | None = None
    steadystate: SteadyState | None = None
    latency_depth: Count = 0
    runtime_ms: Annotated[Count | None, Field(alias="job_runtime")] = None
    """The sum of the times of all fio jobs in this entry."""

    @property
    def directions(self) -> Mapping[str, Direction]:
        """The directions in which the job did I/O."""
        every = {"read": self.read, "write": self.write, "trim": self.trim}
        return {name: each for name, each in every.items() if each.total_ios or each.clat_ns.count}


class FioOutput(_Part):
    version: Annotated[str, Field(alias="fio version", pattern=r"^fio-[\w.+-]{1,60}$")]
    timestamp_ms: Count
    options: Annotated[Mapping[str, str], Field(alias="global options")] = {}
    jobs: Annotated[tuple[FioJob, ...], Field(min_length=1)]

    def option(self, job: FioJob, name: str, otherwise: str = "") -> str:
        return job.options.get(name, self.options.get(name, otherwise))

    @property
    def seconds(self) -> float:
        """The longest time that a job measured in one direction."""
        return max((each.runtime_ms for job in self.jobs for each in job.directions.values()), default=0) / 1000


@dataclass(frozen=True)
class Bin:
    """`count` latencies in [lo, hi) nanoseconds."""

    lo: int
    hi: int
    count: int


def read_output(path: Path) -> FioOutput:
    """Read the JSON in a file, after any notes before it. Raises NotFio."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise NotFio(say.fio_too_large(most=_MOST_BYTES))
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise NotFio(error.strerror or str(error)) from error
    return parse_output(text)


def parse_output(text: str) -> FioOutput:
    """Parse the one JSON object. Notes may come before it, and the text of `--output-format=json+,normal` after it.

    Raises NotFio.
    """
    begins = re.search(r"^\{", text, re.MULTILINE)
    if begins is None:
        raise NotFio(text.strip()[:200] or say.fio_empty())
    try:
        found, end = json.JSONDecoder().raw_decode(text, begins.start())
        if _MORE_JSON.match(text, end):
            json.loads(text[begins.start() :])
    except (ValueError, RecursionError) as error:
        raise NotFio(say.fio_not_whole(said=str(error)[:200]), say.hint_fio_cut()) from error
    version = str(found.get("fio version", ""))[:60]
    if _BEFORE_BINS.match(version):
        raise NotFio(say.fio_too_old(version=version.replace("-", " ", 1)), say.hint_fio_version())
    try:
        return FioOutput.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise NotFio(say.fio_not_its_own(place=place, said=first["msg"])) from error


def read_bins(latencies: FioLatencies) -> tuple[Bin, ...]:
    """Return the buckets in rising order. Raises NotFio if there is a bin that fio does not use."""
    found = []
    for name, count in latencies.bins.items():
        if not re.fullmatch(r"\d{1,11}", name):
            raise NotFio(say.fio_bin_name(name=repr(name[:40])))
        middle = int(name)
        width = 1 if middle < _EXACT else 1 << (middle.bit_length() - 1 - _BITS)
        lo = middle - width // 2
        if lo % width or lo >= BUCKETS_END_NS:
            raise NotFio(say.fio_no_such_bin(middle=middle))
        if count:
            found.append(Bin(lo, lo + width, count))
    return tuple(sorted(found, key=lambda each: each.lo))


def merge_jobs(each: Iterable[FioLatencies]) -> Histogram:
    """Merge the bins of all jobs into one histogram, in seconds. Raises NotFio if there is a bin that fio does not
    use."""
    counts: Counter[tuple[int, int]] = Counter()
    for one in (found for latencies in each for found in read_bins(latencies)):
        counts[one.lo, one.hi] += one.count
    return h.from_counts(counts.items(), NS_PER_S)


def read_intervals(paths: Iterable[Path], seconds: float) -> tuple[Interval, ...]:
    """Return the operations of all jobs by second, from their logs. Unreadable lines and a partial last second are left
    out.

    fio does not log the last second of a job that ended a little early. That second is then left out for all jobs.
    """
    logs = [_counts_by_second(path) for path in paths]
    whole = math.floor(seconds + 0.05)
    if whole and not all(whole in log for log in logs):
        whole -= 1
    totals = (sum(log.get(number, 0) for log in logs) for number in range(1, whole + 1))
    return tuple(Interval(float(start), 1.0, count) for start, count in enumerate(totals))


def _counts_by_second(path: Path) -> dict[int, int]:
    """Return one job's I/Os in both directions by second. fio logs the count of a second at its end."""
    found: dict[int, int] = {}
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if match := _LOG_LINE.fullmatch(line.strip()):
                second = round(int(match[1]) / 1000)
                found[second] = found.get(second, 0) + int(match[2])
    return found
