"""The classes for a probe, in addition to `common`: `ProbeKind`, the sampling loop that runs on a host, and the loop's
output."""

from benchbrief.runners.sampling import (
    FileReads,
    Reading,
    SampleStep,
    is_count,
    parse_readings,
    parse_recent,
    pressure,
    pressure_rule,
    reading_job,
    readings_in_window,
    sampling_job,
    steps_in_window,
)
from benchbrief.runners.seams import ProbeKind, ReadsAfter, RecordsStatus, TellsGaps, TellsNow
from benchbrief.runners.status_probe import StatusProbe

__all__ = [
    "FileReads",
    "ProbeKind",
    "Reading",
    "ReadsAfter",
    "RecordsStatus",
    "SampleStep",
    "StatusProbe",
    "TellsGaps",
    "TellsNow",
    "is_count",
    "parse_readings",
    "parse_recent",
    "pressure",
    "pressure_rule",
    "reading_job",
    "readings_in_window",
    "sampling_job",
    "steps_in_window",
]
