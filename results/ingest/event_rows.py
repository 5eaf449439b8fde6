"""The events of a cell: how they ran by the journal, and what the throughput did around them."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler.messages.text import figure, share_figure
from benchbrief.compiler.planning.plan import Event
from benchbrief.results.ingest.cell_measurement import Measured
from benchbrief.results.ingest.cell_verdicts import Verdict
from benchbrief.results.statistics.recovery import Recovery, Sample, add_sources, recovery
from benchbrief.results.store.cell_tables import EventRow
from benchbrief.runners.messages.run_messages import say


def event_rows(run_id: str, verdict: Verdict, measured: Measured) -> Iterator[EventRow]:
    """Yield a row for each event of a measured cell."""
    if not measured.sources:
        return
    start, end = measured.window
    samples = _samples(measured)
    ran = {(each.number, each.host): each for each in verdict.events}
    events = verdict.cell.events
    began = []
    for number, event in enumerate(events, 1):
        times = [each.began_at for (n, _), each in ran.items() if n == number and each.began_at is not None]
        began.append(min(times) - start if times else event.at_s)
    for number, event in enumerate(events, 1):
        at, until = began[number - 1], began[number] if number < len(events) else end - start
        found = recovery(samples, event, at, until)
        yield EventRow(
            run_id,
            verdict.cell.id,
            number,
            event.label,
            ", ".join(event.hosts),
            event.at_s,
            at,
            max((each.seconds for (n, _), each in ran.items() if n == number), default=0.0),
            0,
            found.before if found else None,
            found.lowest if found else None,
            found.dip if found else None,
            found.recovery_s if found else None,
            found.outage_s if found else None,
            found.latency_s if found else None,
            why_missing(event, found, until - at),
            why_no_latency(event, found, until - at),
        )


def why_missing(event: Event, found: Recovery | None, left_s: float) -> str | None:
    """Say why an event has no recovery, or nothing at all; None when it has."""
    if found is None:
        return say.event_nothing_before(label=event.label)
    if found.recovery_s is None:
        return say.event_not_back(label=event.label, share=share_figure(event.within), seconds=figure(left_s, ".0f"))
    return None


def why_no_latency(event: Event, found: Recovery | None, left_s: float) -> str | None:
    """Say why the time until the latency was back is missing; None when it is not."""
    if found is None or found.latency_s is not None:
        return why_missing(event, found, left_s) if found is None else None
    if not found.has_latency:
        return say.event_latency_untold(label=event.label)
    share, seconds = share_figure(event.within), figure(left_s, ".0f")
    return say.event_latency_not_back(label=event.label, share=share, seconds=seconds)


def _samples(measured: Measured) -> list[Sample]:
    start, _ = measured.window
    return add_sources(
        [
            [
                Sample(at, at + each.seconds, each.count / each.seconds, each.p99_s)
                for each in measurement.intervals
                if each.seconds > 0
                for at in [each.start_s + measurement.window[0] - start]
            ]
            for measurement in measured.sources.values()
        ]
    )
