"""The classes for a load generator, in addition to `common`: `Driver`, its view of a cell, the evidence, and
measurements."""

from benchbrief.model.measurement import (
    Bucket,
    Histogram,
    Interval,
    Measurement,
    Operation,
    PhaseThroughput,
    SteadyEnd,
    transactions,
)
from benchbrief.model.plan import Arrivals, UntilSteady
from benchbrief.model.steadiness import SteadyMean, SteadyVerdict, judge_batches, judge_window
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.drivers.counted_runs import COUNT, CountedRun, counted_from, counted_job, counted_run
from benchbrief.runners.drivers.hdr_codec import decode_hdr
from benchbrief.runners.drivers.output_evidence import (
    bad_output,
    best_line,
    read_output_lines,
    require_consistent,
    require_exit,
    require_few_errors,
    timeout_s,
)
from benchbrief.runners.errors import BeganLate, GeneratorLate, NotServed
from benchbrief.runners.scheduling.measuring_ends import unsteady_warnings
from benchbrief.runners.scheduling.promise_search import is_kept_though_late
from benchbrief.runners.scheduling.reported_statistics import AskedStatistics
from benchbrief.runners.seams import (
    Driver,
    HoldsEngine,
    Interim,
    NamesKeys,
    TellsBeginning,
    TellsDatabase,
    TellsInterim,
)

__all__ = [
    "COUNT",
    "Arrivals",
    "AskedStatistics",
    "BeganLate",
    "Bucket",
    "CellContext",
    "CountedRun",
    "Driver",
    "GeneratorLate",
    "Histogram",
    "HoldsEngine",
    "Interim",
    "Interval",
    "Measurement",
    "NamesKeys",
    "NotServed",
    "Operation",
    "PhaseThroughput",
    "SteadyEnd",
    "SteadyMean",
    "SteadyVerdict",
    "TellsBeginning",
    "TellsDatabase",
    "TellsInterim",
    "UntilSteady",
    "bad_output",
    "best_line",
    "counted_from",
    "counted_job",
    "counted_run",
    "decode_hdr",
    "is_kept_though_late",
    "judge_batches",
    "judge_window",
    "read_output_lines",
    "require_consistent",
    "require_exit",
    "require_few_errors",
    "timeout_s",
    "transactions",
    "unsteady_warnings",
]
