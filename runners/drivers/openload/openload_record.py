"""What openload writes: the final record (`record.json`), and the lines of its standard output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchbrief.runners.seams import Interim

RECORD = "record.json"
FORMAT = 1

Latency = dict[str, float]
"""`count`, `mean`, `min`, `max` and percentiles such as `p99.9`, in microseconds."""


class NotRecord(ValueError):
    """The final record is missing, cut, or of another format."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class Counts(_Part):
    """Operations by what became of them. See `loadgen/README.md`."""

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


class Latencies(_Part):
    intended_us: Latency | None
    service_us: Latency | None


class Operation(Counts):
    not_found: int = Field(ge=0)
    intended_us: Latency | None
    service_us: Latency | None
    lag_us: Latency | None = None
    """The generator's own part of `intended_us`; records before version 1.2.0 have none."""


class Refusal(_Part):
    """Why openload does not stand by its numbers. `advice` is None before version 1.4.0, whose `text` has it, too; then
    the rest is not there either."""

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
    """What the generator saw of itself in the window."""

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
    """Whether the window was steady, and the batches that this was decided from."""

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


class Run(_Head, Counts):
    """The record of `run`: its counts are of operations due in the window."""

    command: Literal["run"]
    warm_up_s: float = Field(ge=0)
    window_s: float = Field(ge=0)
    offered_per_s: float
    throughput_per_s: float
    longest_queue: int
    most_in_flight: int
    warm_up: Counts
    operations: dict[str, Operation]
    all: Latencies
    own: Self = Field(alias="self")
    steady: Steady | None = None


class Load(_Head):
    command: Literal["load"]
    seconds_s: float
    records: int
    completed: int
    failed: int
    rate_per_s: float


def read_run(folder: Path) -> Run:
    """Raises NotRecord."""
    return read_run_file(folder / RECORD)


def read_run_file(path: Path) -> Run:
    """Raises NotRecord."""
    return _read(Run, path)


def read_load(folder: Path) -> Load:
    """Raises NotRecord."""
    return _read(Load, folder / RECORD)


def _read(kind: type[_Record], path: Path) -> _Record:
    try:
        found = kind.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise NotRecord(f"there is no {RECORD}") from None
    except (OSError, ValidationError) as error:
        raise NotRecord(_why(error)) from None
    if found.format != FORMAT:
        raise NotRecord(f"{RECORD} has format {found.format}, and this benchbrief reads format {FORMAT}")
    return found


def _why(error: OSError | ValidationError) -> str:
    if isinstance(error, OSError):
        return f"{RECORD} can't be read: {error.strerror}"
    first = error.errors(include_url=False)[0]
    at = ".".join(str(part) for part in first["loc"])
    return f"{RECORD} is not whole: {at + ': ' if at else ''}{first['msg']}"


def interim(text: str) -> Interim | None:
    """Read the last whole line of a second: its throughput and its p99, from when operations were due."""
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
