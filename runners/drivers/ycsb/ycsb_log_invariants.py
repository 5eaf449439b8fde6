"""What one run's histogram logs must agree on: with each other, and with the rows that YCSB printed.

YCSB writes all logs at the same moments, one line for each interval (`OneMeasurementHdrHistogram`). The next
interval begins where the previous one ended (HdrHistogram's `Recorder`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median

from benchbrief.model import histogram as h
from benchbrief.model.measurement import Histogram
from benchbrief.runners.drivers import output_invariants as rule
from benchbrief.runners.drivers.output_invariants import Invariant
from benchbrief.runners.drivers.ycsb.ycsb_output import INTENDED, Row, Slice, Text, operation_of

_RMW = "READ-MODIFY-WRITE"
_FIRST, _LAST = 946_684_800.0, 4_102_444_800.0
"""The years 2000 to 2100: a log of another time has lost its `#[StartTime: ...]`."""
_STAMP_S = 0.01
"""In seconds. Time stamps have three digits, and another thread may run in between."""
_LENGTH_OFF = 0.1
_NEARLY = 0.95
_PATIENCE = 20.0
"""An operation at random times is absent for this many times its mean distance once in 10^8 runs."""


@dataclass(frozen=True)
class Logs:
    """The intervals by YCSB's names of their rows. `text` is None when there are only logs."""

    slices: Mapping[str, Sequence[Slice]]
    text: Text | None = None
    merged: dict[str, Histogram] = field(default_factory=dict)

    def whole(self, name: str) -> Histogram:
        if name not in self.merged:
            self.merged[name] = h.merge(piece.histogram for piece in self.slices.get(name, ()))
        return self.merged[name]


class LogProblem(str):
    """What is wrong, in words. `log` is YCSB's name of the row whose log it is wrong in; "" for all of them."""

    log: str

    def __new__(cls, text: str, log: str = "") -> LogProblem:
        problem = super().__new__(cls, text)
        problem.log = log
        return problem


def find_log_problems(slices: Mapping[str, Sequence[Slice]], text: Text | None = None) -> list[LogProblem]:
    """Return the contradictions between a run's logs, or with its rows, each with the values that disagree."""
    found = rule.find_broken(TABLE, Logs(slices, text))
    return [each if isinstance(each, LogProblem) else LogProblem(each) for each in found]


def _in_our_time(logs: Logs) -> Iterator[str]:
    for name, pieces in logs.slices.items():
        wrong = next((piece for piece in pieces if not _FIRST < piece.start <= piece.end < _LAST), None)
        if wrong is not None:
            said = f"begins {rule.format_number(round(wrong.start, 3))} s after 1970"
            wrong_at = f"an interval in the log of {name} {said}"
            yield LogProblem(f"{wrong_at}: a time stamp, or the line `#[StartTime: ...]`, is wrong", name)


def _one_after_another(logs: Logs) -> Iterator[str]:
    for name, pieces in logs.slices.items():
        for before, after in pairwise(pieces):
            apart = after.start - before.end
            if abs(apart) <= _STAMP_S + _LENGTH_OFF * min(before.end - before.start, after.end - after.start):
                continue
            ended, begins = _clock(before.end), _clock(after.start)
            if apart > 0:
                problem = f"no interval from {ended} to {begins} ({rule.format_number(round(apart, 3))} s)"
            else:
                problem = f"an interval that begins at {begins}, before the one above it ended at {ended}"
            yield LogProblem(f"the log of {name} has {problem}", name)
            break


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S.%f")[:-3] if _FIRST < at < _LAST else f"{at:.3f} s"


def _begin_and_end_together(logs: Logs) -> Iterator[str]:
    """One thread writes all logs, one after the other. An operation's log begins with its first operation."""
    known = {name: pieces for name, pieces in logs.slices.items() if pieces and operation_of(name)}
    if len(known) < 2:
        return
    first, last = min(known, key=lambda name: known[name][0].start), max(known, key=lambda name: known[name][-1].end)
    start, end = known[first][0].start, known[last][-1].end
    slowest = max((logs.whole(name).buckets[-1].hi for name in known if logs.whole(name).buckets), default=0.0)
    for name, pieces in known.items():
        length = median(piece.end - piece.start for piece in pieces)
        slack = max(0.25, 0.6 * length)
        # The last of a kind may be over while slow ones of another are out. A log that was cut lacks an interval.
        own = (pieces[-1].end - pieces[0].start) / max(1, logs.whole(name).count) + slowest
        if end - pieces[-1].end > max(slack, min(slack + own, _NEARLY * length)):
            lacking = rule.format_number(round(end - pieces[-1].end, 3))
            said = f"the log of {name} ends {lacking} s before that of {last}"
            yield LogProblem(f"{said}: it was cut, or is of another run", name)
        counted = logs.whole(name)
        if (operation_of(name) or ("", True))[1] or not counted.buckets:
            continue
        rare = _PATIENCE * (pieces[-1].end - pieces[0].start) / counted.count + counted.buckets[-1].hi
        if pieces[0].start - start > slack + rare:
            late = rule.format_number(round(pieces[0].start - start, 3))
            said = f"the log of {name} begins {late} s after that of {first}"
            yield LogProblem(f"{said}: it was cut, or is of another run", name)


def _of_both_kinds(logs: Logs) -> Iterator[str]:
    rows = {name for name, pieces in logs.slices.items() if pieces}
    if not any(name.startswith(INTENDED) for name in rows):
        return
    for name in sorted(rows):
        plain = name.removeprefix(INTENDED)
        other = plain if name != plain else INTENDED + name
        count = logs.whole(name).count
        if count and logs.whole(other).count != count:
            have = f"{logs.whole(other).count}" if other in rows else "no log"
            said = f"the log of {name} has {count} operations, and {other} has {have}"
            yield LogProblem(f"{said}: each has a log of both kinds", name)


def _read_modify_write(logs: Logs) -> Iterator[str]:
    again = logs.whole(_RMW).count
    for half in ("READ", "UPDATE"):
        names = [name for name in logs.slices if name == half or name.startswith(f"{half}-")]
        own = sum(logs.whole(name).count for name in names)
        if again > own:
            yield LogProblem(f"the log of {_RMW} has {again} operations, and that of {half} only {own}", _RMW)


def _as_printed(logs: Logs) -> Iterator[str]:
    if logs.text is None:
        return
    for name, row in logs.text.rows.items():
        count = logs.whole(name).count
        if count != row.count:
            have = f"its histogram log holds {count}" if logs.slices.get(name) else "there is no histogram log of it"
            yield LogProblem(f"YCSB counted {row.count} operations in [{name}], and {have}", name)
        else:
            for problem in check_against_row(row, logs.whole(name), f"the log of {name}"):
                yield LogProblem(problem, name)
    for name in logs.slices:
        if name not in logs.text.rows and logs.whole(name).count:
            said = f"the log of {name} holds {logs.whole(name).count} operations"
            yield LogProblem(f"{said}, and YCSB printed no [{name}]", name)


def check_against_row(row: Row, log: Histogram, called: str) -> Iterator[str]:
    """Yield where a log with as many operations as a row has other latencies.

    HdrHistogram's mean takes the middle of each bucket. Its minimum and maximum are ends of buckets.
    """
    if not log.buckets:
        return
    own = {"mean": h.mean(log), "minimum": log.buckets[0].lo, "maximum": log.buckets[-1].hi}
    for what, said in (("mean", row.mean_s), ("minimum", row.min_s), ("maximum", row.max_s)):
        if said is not None and abs(own[what] - said) > rule.QUANTISED * max(said, own[what]) + 1.01e-6:
            claim = f"[{row.name}] has a {what} of {rule.format_seconds(said)}"
            yield f"{claim}, and {called} one of {rule.format_seconds(own[what])}"
    for percent, said in row.printed:
        if any(rule.check_percentile("", log, [(percent, said)])):
            has = rule.format_seconds(h.percentile(log, percent))
            claim = f"[{row.name}] has a p{rule.format_number(percent)} of {rule.format_seconds(said)}"
            yield f"{claim}, and {called} one of {has}"


def _within_run(logs: Logs) -> Iterator[str]:
    pieces = [piece for each in logs.slices.values() for piece in each]
    if logs.text is None or "RunTime(ms)" not in logs.text.overall or not pieces:
        return
    span = max(piece.end for piece in pieces) - min(piece.start for piece in pieces)
    run_s = logs.text.runtime_s
    # The last lines are written when the run is over.
    if span > run_s + max(2.0, 0.1 * run_s):
        claim = f"the logs reach over {rule.format_number(round(span, 3))} s"
        yield f"{claim}, and the run took {rule.format_number(run_s)} s"


TABLE: tuple[Invariant[Logs], ...] = (
    Invariant("Each row has a log, and each log a row, with its count, mean, ends and percentiles", _as_printed),
    Invariant("Each interval has a time stamp of our time", _in_our_time),
    Invariant("Each interval begins where the one before ended: none lacks, none is there twice", _one_after_another),
    Invariant("The logs of a run begin and end together", _begin_and_end_together),
    Invariant(
        "With intended latencies, each operation has a log of both kinds, with as many operations", _of_both_kinds
    ),
    Invariant("`READ-MODIFY-WRITE` has no more operations than `READ` and `UPDATE`", _read_modify_write),
    Invariant("The logs reach over no longer time than `RunTime`", _within_run),
)
