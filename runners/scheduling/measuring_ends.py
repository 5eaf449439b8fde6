"""The records and warnings about measurements that end by themselves once they are steady."""

from __future__ import annotations

from dataclasses import asdict

from benchbrief.model import events as j
from benchbrief.model.measurement import SteadyEnd
from benchbrief.model.message import Message, figure, share_figure
from benchbrief.model.plan import Cell, UntilSteady
from benchbrief.model.run_messages import say
from benchbrief.model.steadiness import BATCH_S, SteadyVerdict
from benchbrief.runners.journal.controller_clock import now


def steady_end(verdict: SteadyVerdict, within: float, lasted_s: float) -> SteadyEnd:
    throughput, latency = (*verdict.estimates, None, None)[:2]
    return SteadyEnd(
        steady=verdict.steady(within),
        lasted_s=lasted_s,
        cut_s=None if verdict.cut is None else verdict.cut * BATCH_S,
        throughput_half_width=throughput.half_width if throughput else None,
        throughput_correlation=throughput.autocorrelation if throughput else None,
        latency_half_width=latency.half_width if latency else None,
        latency_correlation=latency.autocorrelation if latency else None,
    )


def measuring_ended(cell: Cell, attempt: int, rule: UntilSteady, end: SteadyEnd) -> j.MeasuringEnded:
    """Return the journal record about how a cell's measurement ended."""
    times = {"from_s": rule.from_s, "most_s": cell.measure_s}
    return j.MeasuringEnded(at=now(), cell=cell.id, attempt=attempt, within=rule.within, **times, **asdict(end))


def unsteady_warnings(end: SteadyEnd, rule: UntilSteady) -> tuple[str, ...]:
    """Return a warning, with the reason, if time ran out before the measurement was steady. Otherwise return ()."""
    if end.steady:
        return ()
    return (
        say.never_steady(seconds=figure(end.lasted_s, "g"), within=figure(100 * rule.within, "g"), why=_why(end, rule)),
    )


def _why(end: SteadyEnd, rule: UntilSteady) -> Message:
    if end.cut_s is None:
        return say.never_steady_transient()
    widths = {"throughput": end.throughput_half_width or 0.0, "latency": end.latency_half_width or 0.0}
    of = max(widths, key=lambda each: widths[each])
    if widths[of] <= rule.within:
        return say.never_steady_idle()
    width = share_figure(widths[of], 1)
    return say.never_steady_latency(width=width) if of == "latency" else say.never_steady_throughput(width=width)
