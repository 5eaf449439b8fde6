"""The base classes for a power meter, in addition to `common`, and the points at which meters are read."""

from benchbrief.model.plan import PowerMeter
from benchbrief.runners.meters.meter_base import (
    AnyMeter,
    CountingMeter,
    Meter,
    RecordedMeter,
    SampledMeter,
    parse_watts,
    sampler_job,
)
from benchbrief.runners.meters.meter_points import ANSWER_S, MeterPoint, MeterReader, given, name_and_port, secret

__all__ = [
    "ANSWER_S",
    "AnyMeter",
    "CountingMeter",
    "Meter",
    "MeterPoint",
    "MeterReader",
    "PowerMeter",
    "RecordedMeter",
    "SampledMeter",
    "given",
    "name_and_port",
    "parse_watts",
    "sampler_job",
    "secret",
]
