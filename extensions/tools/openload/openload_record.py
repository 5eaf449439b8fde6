"""Reads openload's final record (`record.json`), its log, and the lines of its standard output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchbrief.extend import histograms as h
from benchbrief.extend.tools import Histogram, Interim, read_output_lines
from benchbrief.extensions.tools.openload.openload_messages import say
from benchbrief.extensions.tools.ycsb.ycsb_output import TimeSlice, line_of_log, log_start

LOG = "histograms.hlog"
WARM_UP, SERVICE, FAILED = "warm-up-", "-service", "-failed"
OPERATIONS: Mapping[str, str] = {
    "read": "read",
    "update": "update",
    "insert": "insert",
    "scan": "scan",
    "read-modify-write": "read_modify_write",
}
"""Maps openload's names of operations to benchbrief's."""
HICCUP = "hiccup"
OWN = ("lag", HICCUP)
_NS_IN_US = 1e-3
EDGE = 0.1
"""How many of a second's operations may lie beyond its end, as a share. openload ends a second only when a thread
wakes."""
_VERSION = "#[Histogram log format version 1.3]"


class BadOpenloadLog(ValueError):
    """Raised if the log is missing or damaged."""


@dataclass(frozen=True)
class Tag:
    """The meaning of a tag in the log. For the generator's own tags, `operation` is their name."""

    operation: str
    service: bool = False
    failed: bool = False
    warm_up: bool = False


@cache
def tag_of(text: str) -> Tag | None:
    """Parse a tag. Returns None if openload does not use it."""
    if text in OWN:
        return Tag(text)
    name = text.removeprefix(WARM_UP)
    plain = name.removesuffix(SERVICE)
    base = plain.removesuffix(FAILED)
    if base not in OPERATIONS:
        return None
    return Tag(base, service=plain != name, failed=base != plain, warm_up=name != text)


@dataclass(frozen=True)
class Log:
    """The slices of each tag, in epoch seconds by the load generator's clock. The times in the log itself count from
    `base`."""

    base: float
    slices: Mapping[str, tuple[TimeSlice, ...]]

    def whole(self, tag: str) -> Histogram:
        return h.merge(piece.histogram for piece in self.slices.get(tag, ()))

    def between(self, tag: str, start: float, end: float) -> Histogram:
        """Return a histogram of the slices whose middle lies between two times in epoch seconds."""
        return h.merge(piece.histogram for piece in self.slices.get(tag, ()) if start <= piece.middle < end)


def read_log(path: Path) -> Log:
    """Read the histogram log. Raises BadOpenloadLog."""
    if not path.is_file():
        raise BadOpenloadLog(say.file_absent(file=path.name))
    base, known = 0.0, False
    found: dict[str, list[TimeSlice]] = {}
    try:
        for line in read_output_lines(path):
            known = known or line.startswith(_VERSION)
            if (start := log_start(line)) is not None:
                base = start
            elif line[:1] not in ("#", '"', ""):
                tag, piece = line_of_log(line, base)
                if tag_of(tag) is None:
                    raise BadOpenloadLog(say.log_tag(file=path.name, tag=tag[:40]))
                found.setdefault(tag, []).append(_of_nanoseconds(piece))
    except BadOpenloadLog:
        raise
    except ValueError as error:
        raise BadOpenloadLog(say.file_says(file=path.name, said=error)) from error
    if not known:
        raise BadOpenloadLog(say.log_start_missing(file=path.name))
    return Log(base, {tag: tuple(pieces) for tag, pieces in found.items()})


def successes(log: Log) -> Iterable[TimeSlice]:
    """Yield the slices of operations that succeeded, including the warm-up. Each operation is counted once."""
    for name, pieces in log.slices.items():
        tag = tag_of(name)
        if tag and tag.operation in OPERATIONS and not tag.failed and not tag.service:
            yield from pieces


def _of_nanoseconds(piece: TimeSlice) -> TimeSlice:
    return replace(piece, histogram=h.scaled(piece.histogram, _NS_IN_US))


RECORD = "record.json"
FORMAT = 1

Latency = dict[str, float]
"""`count`, `mean`, `min`, `max` and percentiles such as `p99.9`, in microseconds."""


class NotRecord(ValueError):
    """Raised if the final record is missing, cut, or of another format."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class Counts(_Part):
    """The number of operations with each outcome. See `loadgen/README.md`."""

    offered: int = Field(ge=0)
    started: int = Field(ge=0)
    dropped: int = Field(ge=0)
    abandoned: int = Field(ge=0)
    completed: int = Field(ge=0)
    failed: int = Field(ge=0)
    unfinished: int = Field(ge=0)

    @property
    def numbers(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in Counts.model_fields}


class LatencyKinds(_Part):
    intended_us: Latency | None
    service_us: Latency | None


class OpenloadOperation(Counts):
    not_found: int = Field(ge=0)
    intended_us: Latency | None
    service_us: Latency | None
    lag_us: Latency | None = None
    """The part of `intended_us` that the generator itself caused, or None in records before version 1.2.0."""


class Refusal(_Part):
    """Why openload does not accept its numbers. In records before version 1.4.0, `text` includes the advice, `advice`
    is None, and the fields after it have their defaults."""

    code: str
    value: float
    limit: float
    percentile: float | None
    text: str
    advice: str | None = None
    statistic: str = ""
    operation: str = ""
    late_us: float | None = None
    intended_us: float | None = None
    count: int | None = None
    of: int | None = None


class Failure(_Part):
    text: str
    count: int


class Self(_Part):
    """The generator's measurements of itself in the window."""

    lag_us: Latency | None
    hiccup_us: Latency | None
    stall_share: float = 0.0
    stall_longest_us: float = 0.0
    gc_pause_share: float
    gc_pause_longest_us: float
    cpu_us_per_operation: float
    cpu_share: float
    cores: float
    clock_step_s: float
    clamped: int


class Mean(_Part):
    mean: float
    half_width_share: float
    autocorrelation: float


class Steady(_Part):
    """Whether the window was steady, and the batches that show it."""

    steady: bool
    batch_s: float = Field(gt=0)
    seen_s: float = Field(ge=0)
    cut_s: float | None
    throughput_per_s: Mean | None
    intended_us: Mean | None
    completed: tuple[int, ...]
    intended_ns: tuple[int, ...]


class _Head(_Part):
    format: int
    program: str
    version: str
    library: str
    target: str
    settings: dict[str, str]
    complete: bool
    ended: Literal["whole", "gave-up", "interrupted"]
    refusals: tuple[Refusal, ...]
    started_at: float
    errors: tuple[Failure, ...] = ()


_Record = TypeVar("_Record", bound=_Head)


class OpenloadRun(_Head, Counts):
    """The record that `openload run` writes. It counts the operations that were due in the window."""

    command: Literal["run"]
    warm_up_s: float = Field(ge=0)
    window_s: float = Field(ge=0)
    offered_per_s: float
    throughput_per_s: float
    longest_queue: int
    most_in_flight: int
    warm_up: Counts
    operations: dict[str, OpenloadOperation]
    all: LatencyKinds
    own: Self = Field(alias="self")
    steady: Steady | None = None


class OpenloadLoad(_Head):
    command: Literal["load"]
    seconds_s: float
    records: int
    completed: int
    failed: int
    rate_per_s: float


def read_run(folder: Path) -> OpenloadRun:
    """Read the record in a run's folder. Raises NotRecord."""
    return read_run_file(folder / RECORD)


def read_run_file(path: Path) -> OpenloadRun:
    """Read a run's record. Raises NotRecord."""
    return _read(OpenloadRun, path)


def read_load(folder: Path) -> OpenloadLoad:
    """Read the record in a load's folder. Raises NotRecord."""
    return _read(OpenloadLoad, folder / RECORD)


def _read(kind: type[_Record], path: Path) -> _Record:
    try:
        found = kind.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise NotRecord(say.file_absent(file=RECORD)) from None
    except (OSError, ValidationError) as error:
        raise NotRecord(_why(error)) from None
    if found.format != FORMAT:
        raise NotRecord(say.file_format(file=RECORD, found=found.format, wanted=FORMAT))
    return found


def _why(error: OSError | ValidationError) -> str:
    if isinstance(error, OSError):
        return say.file_unread(file=RECORD, said=error.strerror)
    first = error.errors(include_url=False)[0]
    at = ".".join(str(part) for part in first["loc"])
    return say.file_not_whole(file=RECORD, said=f"{at}: {first['msg']}" if at else first["msg"])


def interim(text: str) -> Interim | None:
    """Return the throughput and p99 of the last complete line, which covers one second. Latencies count from when
    operations were due."""
    for line in reversed(text.split("\n")[:-1]):
        if '"second"' not in line:
            continue
        try:
            second = json.loads(line)
            if second["kind"] != "second":
                continue
            if second["phase"] == "load":
                return Interim(float(second["rate_per_s"]), done=int(second["records"]))
            latency = second["intended_us"]
            p99 = float(latency["p99"]) * 1e-6 if latency else None
            of, elapsed = "p99" if p99 is not None else "", float(second["elapsed_s"])
            return Interim(float(second["completed"]), p99, of, elapsed_s=elapsed)
        except (ValueError, KeyError, TypeError):
            continue
    return None
