"""The rules of `loadgen/README.md` for openload's final record and its histogram log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isclose

from benchbrief.extend import histograms as h
from benchbrief.extend import invariants as rule
from benchbrief.extend.invariants import Invariant, PrintedLatencies
from benchbrief.extend.tools import Histogram, SteadyMean, SteadyVerdict, judge_batches
from benchbrief.extensions.tools.openload.openload_record import (
    EDGE,
    FAILED,
    OPERATIONS,
    OWN,
    SERVICE,
    WARM_UP,
    Counts,
    Latency,
    Log,
    Mean,
    OpenloadRun,
    Steady,
    successes,
    tag_of,
)

_SAME = 1e-9
_US_PER_NS = 1e-3
"""The length of a nanosecond in microseconds."""


def find_steady_problems(run: OpenloadRun, log: Log) -> Iterator[str]:
    """Yield everything that contradicts the run's verdict on whether it was steady."""
    within = float(run.settings.get("steady-within", "0"))
    recorded = run.steady
    if (recorded is not None) != (within > 0):
        says = "says" if recorded else "does not say"
        yield f"it ran with --steady-within={within:g}, and its record {says} if it was"
    if recorded is None or within <= 0:
        return
    if len(recorded.completed) != len(recorded.intended_ns):
        yield f"it has {len(recorded.completed)} batches of operations, and {len(recorded.intended_ns)} of latencies"
        return
    yield from _times(run, recorded)
    yield from _decision(run, recorded, within)
    yield from _steady_in_log(run, recorded, log)


def _times(run: OpenloadRun, recorded: Steady) -> Iterator[str]:
    seconds = len(recorded.completed) * recorded.batch_s
    if not isclose(recorded.seen_s, seconds, abs_tol=_SAME) or recorded.seen_s > run.window_s + _SAME:
        yield f"it looked after {recorded.seen_s:g} s of {run.window_s:g} s, and its batches last {seconds:g} s"
    left = float(run.settings.get("duration", "0")) - run.window_s
    if not recorded.steady and run.complete and left > _SAME:
        yield f"it was not steady, and it ended {left:g} s before its time"


def _decision(run: OpenloadRun, recorded: Steady, within: float) -> Iterator[str]:
    for batches in range(_first_look(run, recorded), len(recorded.completed)):
        if _look(run, recorded, batches).steady(within * (1 - _SAME)):
            yield f"it was steady after {batches} batches, and went on for {len(recorded.completed) - batches} more"
            return
    verdict = _look(run, recorded, len(recorded.completed))
    if len(recorded.completed) < _first_look(run, recorded):
        verdict = SteadyVerdict(None)
    if recorded.steady != verdict.steady(within * (1 + _SAME if recorded.steady else 1 - _SAME)):
        yield f"it says steady = {str(recorded.steady).lower()}, and its batches say otherwise"
    cut = None if verdict.cut is None else verdict.cut * recorded.batch_s
    if (cut is None) != (recorded.cut_s is None) or not isclose(cut or 0.0, recorded.cut_s or 0.0, abs_tol=_SAME):
        yield f"it says that {_seconds(recorded.cut_s)} are a transient, and its batches {_seconds(cut)}"
    units = (
        ("throughput", recorded.throughput_per_s, 1 / recorded.batch_s),
        ("latency", recorded.intended_us, _US_PER_NS),
    )
    found = (*verdict.estimates, None, None)[:2]
    for (name, said, unit), estimate in zip(units, found, strict=True):
        if not _same(said, estimate, unit):
            yield f"what it says of the {name} after its transient does not follow from its batches"


def _look(run: OpenloadRun, recorded: Steady, batches: int) -> SteadyVerdict:
    open_loop = run.settings.get("arrivals") != "closed"
    return judge_batches(recorded.completed[:batches], recorded.intended_ns[:batches] if open_loop else None)


def _first_look(run: OpenloadRun, recorded: Steady) -> int:
    return ceil(float(run.settings.get("steady-from", "0")) / recorded.batch_s - _SAME)


def _same(said: Mean | None, found: SteadyMean | None, unit: float) -> bool:
    if said is None or found is None:
        return said is None and found is None
    pairs = (
        (said.mean, found.mean * unit),
        (said.half_width_share, found.half_width),
        (said.autocorrelation, found.autocorrelation),
    )
    return all(isclose(a, b, rel_tol=_SAME, abs_tol=_SAME) for a, b in pairs)


def _steady_in_log(run: OpenloadRun, recorded: Steady, log: Log) -> Iterator[str]:
    start, batches = log.base + run.warm_up_s, len(recorded.completed)
    inside, off, most = [0] * batches, [1.0] * batches, 0
    for piece in successes(log):
        count, seconds = piece.histogram.count, piece.end - piece.start
        most = max(most, count)
        number, last = (int((at - start) // recorded.batch_s) for at in (piece.middle, piece.end))
        if 0 <= number < batches:
            inside[number] += count
        edge = start + last * recorded.batch_s
        if piece.start < edge < piece.end:
            for beside in (last - 1, last):
                if 0 <= beside < batches:
                    off[beside] += 2 * count * min(edge - piece.start, piece.end - edge) / seconds
    for number, count in enumerate(recorded.completed):
        if abs(count - inside[number]) > off[number] + 2 * EDGE * most:
            yield f"it counted {count} operations in batch {number + 1}, and the log has {inside[number]}"
            return


def _seconds(said: float | None) -> str:
    return "more than half" if said is None else f"{said:g} s"


_US = 1e-6
_STAMP_S = 0.0021
"""How many seconds the rounded time stamps of two successive slices may overlap."""
_DIGIT_S = 1e-9
"""The size of the last digit of a printed latency, in seconds: a nanosecond."""


@dataclass(frozen=True)
class CheckedOpenload:
    run: OpenloadRun
    log: Log

    def counted(self) -> Iterator[tuple[str, Counts]]:
        """Yield each set of counts and its name."""
        yield "the window", self.run
        yield "the warm-up", self.run.warm_up
        yield from self.run.operations.items()

    def latencies(self) -> Iterator[tuple[str, str, Latency | None]]:
        """Yield each operation's latencies as a name for messages, the tag in the log, and the recorded statistics."""
        for name, each in self.run.operations.items():
            yield f"intended latency of {name}", name, each.intended_us
            yield f"service latency of {name}", f"{name}{SERVICE}", each.service_us


def find_problems(run: OpenloadRun, log: Log) -> list[str]:
    """Return the contradictions in an output, each with the values that disagree."""
    return list(rule.find_broken(TABLE, CheckedOpenload(run, log)))


def _offered(output: CheckedOpenload) -> Iterator[str]:
    for name, of in output.counted():
        parts = of.started + of.dropped + of.abandoned
        if of.offered != parts:
            parts_said = f"{of.started} started, {of.dropped} dropped, {of.abandoned} abandoned"
            yield f"{name} has {of.offered} offered, and {parts_said}: {parts}"


def _started(output: CheckedOpenload) -> Iterator[str]:
    for name, of in output.counted():
        parts = of.completed + of.failed + of.unfinished
        if of.started != parts:
            ended = f"{of.completed} completed, {of.failed} failed, {of.unfinished} unfinished"
            yield f"{name} has {of.started} started, and {ended}: {parts}"


def _sums(output: CheckedOpenload) -> Iterator[str]:
    for name, whole in output.run.numbers.items():
        parts = sum(of.numbers[name] for of in output.run.operations.values())
        if parts != whole:
            yield f"the window has {whole} {name}, and its operations {parts}"


def _known(output: CheckedOpenload) -> Iterator[str]:
    for name in output.run.operations:
        if name not in OPERATIONS:
            yield f"it has an operation `{name[:40]}`, which openload does not do"


def _completed(output: CheckedOpenload) -> Iterator[str]:
    for name, of in output.run.operations.items():
        counts = {
            "intended latencies": _count(of.intended_us),
            "service latencies": _count(of.service_us),
            f"values in the log under `{name}`": output.log.whole(name).count,
            f"values in the log under `{name}{SERVICE}`": output.log.whole(f"{name}{SERVICE}").count,
        }
        for what, count in counts.items():
            if count != of.completed:
                yield f"{name} has {of.completed} completed, and {count:g} {what}"


def _failed(output: CheckedOpenload) -> Iterator[str]:
    for name, of in output.run.operations.items():
        for tag in (f"{name}{FAILED}", f"{name}{FAILED}{SERVICE}"):
            count = output.log.whole(tag).count
            if count != of.failed:
                yield f"{name} has {of.failed} failed, and the log {count} under `{tag}`"


def _warmed_up(output: CheckedOpenload) -> Iterator[str]:
    for kind in ("", SERVICE):
        count = sum(output.log.whole(f"{WARM_UP}{name}{kind}").count for name in OPERATIONS)
        if count != output.run.warm_up.completed:
            yield f"the warm-up has {output.run.warm_up.completed} completed, and {count} in the log"


def _tags_of_record(output: CheckedOpenload) -> Iterator[str]:
    for name, pieces in output.log.slices.items():
        tag = tag_of(name)
        if tag and not tag.warm_up and tag.operation not in (*output.run.operations, *OWN) and pieces:
            yield f"the log has values under `{name}`, and the record no such operation"


def _complete(output: CheckedOpenload) -> Iterator[str]:
    run = output.run
    if run.complete != (run.ended == "whole"):
        yield f"it has complete = {str(run.complete).lower()}, and it ended as `{run.ended}`"
    for name, of in output.counted():
        if run.complete and (of.abandoned or of.unfinished):
            yield f"it is complete, and {name} has {of.abandoned} abandoned, {of.unfinished} unfinished"


def _rates(output: CheckedOpenload) -> Iterator[str]:
    run = output.run
    if run.window_s <= 0:
        return
    if abs(run.offered_per_s * run.window_s - run.offered) > 1e-6 * max(1, run.offered):
        yield f"it offered {run.offered} in {run.window_s:g} s, and {run.offered_per_s:g} a second"
    rate = run.settings.get("rate", "")
    if run.settings.get("arrivals") == "constant" and run.complete and not int(run.settings.get("operations", "0")):
        due = float(rate) * run.window_s
        if abs(run.offered - due) > 1 + 1e-9 * due:
            yield f"it offered {run.offered}, and {rate} a second for {run.window_s:g} s are {due:g}"


def _closed(output: CheckedOpenload) -> Iterator[str]:
    run = output.run
    if run.settings.get("arrivals") == "closed" and (run.dropped or run.abandoned):
        yield f"a closed loop has {run.dropped} dropped and {run.abandoned} abandoned"


def _in_order(output: CheckedOpenload) -> Iterator[str]:
    for name, _, latency in output.latencies():
        if latency:
            yield from rule.check_order(_as_latencies(name, latency))
            yield from rule.check_mean(_as_latencies(name, latency))


def _in_log(output: CheckedOpenload) -> Iterator[str]:
    for name, tag, latency in output.latencies():
        if latency:
            yield from _against(name, latency, output.log.whole(tag))
    for kind, latency in (("intended", output.run.all.intended_us), ("service", output.run.all.service_us)):
        ending = SERVICE if kind == "service" else ""
        merged = h.merge(output.log.whole(f"{name}{ending}") for name in output.run.operations)
        if _count(latency) != merged.count:
            yield f"all operations have {_count(latency):g} {kind} latencies, and the log {merged.count}"
        elif latency:
            yield from _against(f"{kind} latency of all operations", latency, merged)


def _against(name: str, latency: Latency, log: Histogram) -> Iterator[str]:
    if not log.buckets or log.count != latency["count"]:
        return  # another rule reports that
    yield from rule.check_bucket_mean(name, log, latency["mean"] * _US, _DIGIT_S)
    yield from rule.check_bucket_ends(name, log, latency["min"] * _US, latency["max"] * _US, _DIGIT_S)
    for percent, value in _percentiles(latency):
        # Rounding may move a rank to the next operation.
        low, high = (h.percentile(log, min(100.0, max(0.0, percent + 100 * off / log.count))) for off in (-1, 1))
        if not low * (1 - rule.QUANTISED) - _DIGIT_S <= value <= high * (1 + rule.QUANTISED) + _DIGIT_S:
            span = f"{rule.format_seconds(low)} to {rule.format_seconds(high)}"
            claim = f"{name} has a p{rule.format_number(percent)} of {rule.format_seconds(value)}"
            yield f"{claim}, and its log one of {span}"


def _waits(output: CheckedOpenload) -> Iterator[str]:
    for name, of in output.run.operations.items():
        if not of.intended_us or not of.service_us:
            continue
        for what in ("mean", "max", "p50", "p99"):
            due, sent = of.intended_us[what], of.service_us[what]
            if due < sent * (1 - rule.QUANTISED) - 0.001:
                yield f"{name} has an intended {what} of {due:g} us, below its service {what} of {sent:g} us"


def _once(output: CheckedOpenload) -> Iterator[str]:
    for name, pieces in output.log.slices.items():
        for before, after in pairwise(pieces):
            if after.start < before.end - _STAMP_S:
                at = f"{before.end - output.log.base:.3f} s"
                yield f"the log has an interval of `{name}` that begins before the one above it ended, at {at}"
                break


def _throughput(output: CheckedOpenload) -> Iterator[str]:
    run, base = output.run, output.log.base
    start = base + run.warm_up_s
    end = start + run.window_s
    inside, off, most = 0, 1.0, 0
    for piece in successes(output.log):
        count, seconds = piece.histogram.count, piece.end - piece.start
        inside += count if start <= piece.middle < end else 0
        most = max(most, count)
        for edge in (start, end):
            if piece.start < edge < piece.end:
                off += 2 * count * min(edge - piece.start, piece.end - edge) / seconds
    said = run.throughput_per_s * run.window_s
    if abs(said - inside) > off + 2 * EDGE * most:
        yield f"its throughput makes {said:.0f} operations in the window, and the log has {inside}"


def _steady(output: CheckedOpenload) -> Iterator[str]:
    yield from find_steady_problems(output.run, output.log)


def _own_lag(output: CheckedOpenload) -> Iterator[str]:
    for tag, latency in zip(OWN, (output.run.own.lag_us, output.run.own.hiccup_us), strict=True):
        count = output.log.whole(tag).count
        if _count(latency) != count:
            yield f"it has {_count(latency):g} values of {tag}, and the log of {count}"


def _clamped(output: CheckedOpenload) -> Iterator[str]:
    if output.run.own.clamped:
        yield f"{output.run.own.clamped} latencies are above the hour at which its histograms end"


def _count(latency: Latency | None) -> float:
    return latency["count"] if latency else 0


def _percentiles(latency: Latency) -> Iterable[tuple[float, float]]:
    return sorted((float(name[1:]), value * _US) for name, value in latency.items() if name[0] == "p")


def _as_latencies(name: str, latency: Latency) -> PrintedLatencies:
    ends = latency["mean"] * _US, latency["min"] * _US, latency["max"] * _US
    # A percentile is the upper end of its bucket.
    below = max(value for _, value in _percentiles(latency)) * rule.QUANTISED
    return PrintedLatencies(
        name, int(latency["count"]), *ends, tuple(_percentiles(latency)), unit=_DIGIT_S, below=below
    )


TABLE: tuple[Invariant[CheckedOpenload], ...] = (
    Invariant("What was offered was started, dropped or abandoned", _offered),
    Invariant("What was started completed, failed or did not end", _started),
    Invariant("The counts of the operations add up to those of the window", _sums),
    Invariant("Each operation is one that openload does", _known),
    Invariant("Each completed operation has both latencies, in the record and in the log", _completed),
    Invariant("Each failed operation is in the log", _failed),
    Invariant("Each completed operation of the warm-up is in the log", _warmed_up),
    Invariant("The log has no operation that the record does not have", _tags_of_record),
    Invariant("In a complete run, nothing is abandoned and nothing is out", _complete),
    Invariant("What was offered is the rate times the time", _rates),
    Invariant("A closed loop drops and abandons nothing", _closed),
    Invariant("Minimum, percentiles and maximum rise, and allow the mean", _in_order),
    Invariant("Latencies in the record are those of the log", _in_log),
    Invariant("No operation is faster from when it was due than from when it was sent", _waits),
    Invariant("Each interval of the log is there once", _once),
    Invariant("The throughput is that of the log", _throughput),
    Invariant("Whether it was steady follows from its batches, and these from the log", _steady),
    Invariant("The generator's own lateness is in the log", _own_lag),
    Invariant("No latency is beyond the histograms", _clamped),
)
