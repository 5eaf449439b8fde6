"""What the record of a run that ends by itself says of its steadiness, against its own batches and the log."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, isclose

from benchbrief.runners.drivers.openload.openload_log import EDGE, Log, successes
from benchbrief.runners.drivers.openload.openload_record import Mean, Run, Steady
from benchbrief.runners.measurement.steady_ends import Estimate, Verdict, judge_batches

_SAME = 1e-9
_US = 1e-3
"""A microsecond's share of a nanosecond's count."""


def find_steady_problems(run: Run, log: Log) -> Iterator[str]:
    """Yield what contradicts the decision that the run was steady, or was not."""
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
    yield from _in_log(run, recorded, log)


def _times(run: Run, recorded: Steady) -> Iterator[str]:
    seconds = len(recorded.completed) * recorded.batch_s
    if not isclose(recorded.seen_s, seconds, abs_tol=_SAME) or recorded.seen_s > run.window_s + _SAME:
        yield f"it looked after {recorded.seen_s:g} s of {run.window_s:g} s, and its batches last {seconds:g} s"
    left = float(run.settings.get("duration", "0")) - run.window_s
    if not recorded.steady and run.complete and left > _SAME:
        yield f"it was not steady, and it ended {left:g} s before its time"


def _decision(run: Run, recorded: Steady, within: float) -> Iterator[str]:
    for batches in range(_first_look(run, recorded), len(recorded.completed)):
        if _look(run, recorded, batches).steady(within * (1 - _SAME)):
            yield f"it was steady after {batches} batches, and went on for {len(recorded.completed) - batches} more"
            return
    verdict = _look(run, recorded, len(recorded.completed))
    if len(recorded.completed) < _first_look(run, recorded):
        verdict = Verdict(None)
    if recorded.steady != verdict.steady(within * (1 + _SAME if recorded.steady else 1 - _SAME)):
        yield f"it says steady = {str(recorded.steady).lower()}, and its batches say otherwise"
    cut = None if verdict.cut is None else verdict.cut * recorded.batch_s
    if (cut is None) != (recorded.cut_s is None) or not isclose(cut or 0.0, recorded.cut_s or 0.0, abs_tol=_SAME):
        yield f"it says that {_seconds(recorded.cut_s)} are a transient, and its batches {_seconds(cut)}"
    units = (("throughput", recorded.throughput_per_s, 1 / recorded.batch_s), ("latency", recorded.intended_us, _US))
    found = (*verdict.estimates, None, None)[:2]
    for (name, said, unit), estimate in zip(units, found, strict=True):
        if not _same(said, estimate, unit):
            yield f"what it says of the {name} after its transient does not follow from its batches"


def _look(run: Run, recorded: Steady, batches: int) -> Verdict:
    open_loop = run.settings.get("arrivals") != "closed"
    return judge_batches(recorded.completed[:batches], recorded.intended_ns[:batches] if open_loop else None)


def _first_look(run: Run, recorded: Steady) -> int:
    return ceil(float(run.settings.get("steady-from", "0")) / recorded.batch_s - _SAME)


def _same(said: Mean | None, found: Estimate | None, unit: float) -> bool:
    if said is None or found is None:
        return said is None and found is None
    pairs = (
        (said.mean, found.mean * unit),
        (said.half_width_share, found.half_width),
        (said.autocorrelation, found.autocorrelation),
    )
    return all(isclose(a, b, rel_tol=_SAME, abs_tol=_SAME) for a, b in pairs)


def _in_log(run: Run, recorded: Steady, log: Log) -> Iterator[str]:
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
