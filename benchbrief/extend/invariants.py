"""Rules that the numbers in a tool's output always obey. An output that breaks a rule is not evidence.

A tool has a table of `Invariant`s. Its driver and its importer both check it with `require_consistent`.
"""

from benchbrief.runners.drivers.output_invariants import (
    QUANTISED,
    Invariant,
    Printed,
    PrintedLatencies,
    check_bucket_ends,
    check_bucket_mean,
    check_bucket_spread,
    check_halves,
    check_mean,
    check_order,
    check_percentile,
    check_run_length,
    check_threads,
    find_broken,
    format_number,
    format_seconds,
    parse_printed,
)

__all__ = [
    "QUANTISED",
    "Invariant",
    "Printed",
    "PrintedLatencies",
    "check_bucket_ends",
    "check_bucket_mean",
    "check_bucket_spread",
    "check_halves",
    "check_mean",
    "check_order",
    "check_percentile",
    "check_run_length",
    "check_threads",
    "find_broken",
    "format_number",
    "format_seconds",
    "parse_printed",
]
