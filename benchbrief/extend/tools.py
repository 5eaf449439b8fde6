"""What a load generator needs beside `common`: `Driver`, the cell that it sees, evidence, and what it measured."""

from benchbrief.model.histogram import US_PER_S, from_counts, percentile
from benchbrief.model.measurement import Bucket, Histogram, Interval, Measurement, Operation, PhaseThroughput
from benchbrief.model.steadiness import judge_window
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.drivers.counted_runs import COUNT, CountedRun, counted_from, counted_job, counted_run
from benchbrief.runners.drivers.output_evidence import (
    bad_output,
    best_line,
    read_output_lines,
    require_consistent,
    require_exit,
    require_few_errors,
    timeout_s,
)
from benchbrief.runners.drivers.output_invariants import QUANTISED, format_number
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
    "QUANTISED",
    "US_PER_S",
    "Bucket",
    "CellContext",
    "CountedRun",
    "Driver",
    "Histogram",
    "HoldsEngine",
    "Interim",
    "Interval",
    "Measurement",
    "NamesKeys",
    "Operation",
    "PhaseThroughput",
    "TellsBeginning",
    "TellsDatabase",
    "TellsInterim",
    "bad_output",
    "best_line",
    "counted_from",
    "counted_job",
    "counted_run",
    "format_number",
    "from_counts",
    "judge_window",
    "percentile",
    "read_output_lines",
    "require_consistent",
    "require_exit",
    "require_few_errors",
    "timeout_s",
]
