"""Converts openload's record and log to a measurement: its window, phases, operations, intervals and disclosure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf

from benchbrief.extend import histograms as h
from benchbrief.extend.common import Event, PrintedNumber, Sample, figure, share_figure
from benchbrief.extend.tools import (
    Arrivals,
    CellContext,
    Histogram,
    Interval,
    Measurement,
    Operation,
    PhaseThroughput,
    SteadyEnd,
    UntilSteady,
    judge_window,
    unsteady_warnings,
)
from benchbrief.extensions.tools.openload.openload_flags import TRACE_FILE, arrivals_of, asked_latencies
from benchbrief.extensions.tools.openload.openload_messages import say
from benchbrief.extensions.tools.openload.openload_record import (
    FAILED,
    OPERATIONS,
    SERVICE,
    Latency,
    Log,
    OpenloadRun,
    successes,
)
from benchbrief.extensions.tools.openload.openload_refusals import milliseconds
from benchbrief.extensions.tools.ycsb import ycsb_properties as properties

_US = 1e-6


@dataclass(frozen=True)
class AskedLoad:
    """The load that a run was asked for, over all load generators together, and how the run is judged.

    `arrivals` is None in a closed loop. `due` is how many operations a trace has. `latencies` names latencies such as
    `p99 read`, or `p99` for all operations. The generator's own lateness is compared with them. `operations` is the
    number of operations after which the run ends, or "" if it has no such limit.
    """

    arrivals: Arrivals | None
    rate: float
    phases: int = 1
    rule: UntilSteady | None = None
    events: tuple[Event, ...] = ()
    latencies: frozenset[str] = frozenset()
    due: int = 0
    operations: str = ""


def asked_of(context: CellContext) -> AskedLoad:
    arrivals, cell = arrivals_of(context), context.cell
    lines = arrivals.trace.splitlines() if arrivals else []
    return AskedLoad(
        arrivals,
        cell.target or 0.0,
        phases=cell.phases,
        rule=context.experiment.until_steady,
        events=cell.events,
        latencies=asked_latencies(context),
        due=sum(1 for line in lines if line.strip() and not line.startswith("#")),
        operations=str(properties.operation_count(context)) if context.workload.properties.get("operations") else "",
    )


def measurement_of(asked: AskedLoad, run: OpenloadRun, log: Log) -> Measurement:
    """Return the measurement, without the beginning if a rule cuts it off. The output must have been checked."""
    ended, rule = _steady_of(asked, run), asked.rule
    cut_s = ended.cut_s or 0.0 if ended else 0.0
    start, end = run.started_at + run.warm_up_s + cut_s, run.started_at + run.warm_up_s + run.window_s
    count = round(run.throughput_per_s * run.window_s)
    phases = list(_phases(asked.phases, start, end))
    throughput = [PhaseThroughput(None, count, run.failed, run.window_s, run.throughput_per_s)]
    arrivals = asked.arrivals
    operations = list(_operations(run, log))
    if cut_s:  # what was due before the end, and was late, counts too
        operations = list(_operations_between(run, log, None, start, inf))
        done, failed = _ended_between(log, start, end), sum(each.errors for each in operations)
        throughput = [PhaseThroughput(None, done, failed, end - start, done / (end - start))]
    for phase, first, last in phases:
        parts = list(_operations_between(run, log, phase, first, last))
        done = _ended_between(log, first, last)
        errors = sum(part.errors for part in parts)
        throughput.append(PhaseThroughput(phase, done, errors, last - first, done / (last - first)))
        operations += parts
    intervals = tuple(_intervals(log, start, end, tails=bool(asked.events)))
    if arrivals is None:  # a closed loop has no time at which an operation is due
        operations = [each for each in operations if each.kind == "service"]
    # Steps, bursts and traces are meant to vary.
    even = arrivals is None or arrivals.kind in ("constant", "poisson")
    unsteady, verdict = judge_window(intervals, say.remedy_warm_up(), asked.events) if even else ((), {})
    return Measurement(
        window=(start, end),
        throughput=tuple(throughput),
        operations=tuple(operations),
        intervals=intervals,
        warnings=(*_warnings(asked, run), *(unsteady_warnings(ended, rule) if ended and rule else ()), *unsteady),
        tool_version=f"{run.program} {run.version} ({run.library})",
        tool_s=run.warm_up_s + run.window_s,
        due=None if arrivals is None or cut_s else run.offered,  # the due time of each operation is unknown
        dropped=run.dropped,
        steady=ended,
        samples=tuple(_samples(asked, run, log, (start, end))),
        properties=tuple({**_disclosed(asked, run, operations), **verdict}.items()),
    )


def _steady_of(asked: AskedLoad, run: OpenloadRun) -> SteadyEnd | None:
    """For a measurement that lasts until it is steady, return how it ended. Returns None for a measurement of fixed
    length."""
    rule, recorded = asked.rule, run.steady
    if rule is None or recorded is None:
        return None
    # `openload_invariants.py` has checked this verdict against its batches.
    throughput, latency = recorded.throughput_per_s, recorded.intended_us
    return SteadyEnd(
        steady=recorded.steady,
        lasted_s=run.window_s,
        cut_s=recorded.cut_s,
        throughput_half_width=throughput.half_width_share if throughput else None,
        throughput_correlation=throughput.autocorrelation if throughput else None,
        latency_half_width=latency.half_width_share if latency else None,
        latency_correlation=latency.autocorrelation if latency else None,
    )


def _phases(count: int, start: float, end: float) -> Iterator[tuple[int, float, float]]:
    """Yield (phase, start, end). Phases are cut at whole seconds after the run's start."""
    if count > 1:
        step = (end - start) / count
        cuts = [start + round(step * number) for number in range(count)] + [end]
        yield from ((number + 1, cuts[number], cuts[number + 1]) for number in range(count))


def _operations(run: OpenloadRun, log: Log) -> Iterator[Operation]:
    for name, of in run.operations.items():
        for kind in ("intended", "service"):
            latency = of.intended_us if kind == "intended" else of.service_us
            yield Operation(
                operation=OPERATIONS[name],
                count=of.completed,
                errors=of.failed if kind == "service" else 0,
                mean_s=latency["mean"] * _US if latency else None,
                min_s=latency["min"] * _US if latency else None,
                max_s=latency["max"] * _US if latency else None,
                histogram=log.whole(name if kind == "intended" else f"{name}{SERVICE}"),
                kind="intended" if kind == "intended" else "service",
                in_total=kind == "service",
            )


def _operations_between(run: OpenloadRun, log: Log, phase: int | None, start: float, end: float) -> Iterator[Operation]:
    for name in run.operations:
        failed = log.between(f"{name}{FAILED}", start, end).count
        for kind in ("intended", "service"):
            found = log.between(name if kind == "intended" else f"{name}{SERVICE}", start, end)
            yield Operation(
                operation=OPERATIONS[name],
                count=found.count,
                errors=failed if kind == "service" else 0,
                mean_s=h.mean(found) if found.buckets else None,
                min_s=found.buckets[0].lo if found.buckets else None,
                max_s=found.buckets[-1].hi if found.buckets else None,
                histogram=found,
                kind="intended" if kind == "intended" else "service",
                phase=phase,
                in_total=kind == "service",
            )


def _ended_between(log: Log, start: float, end: float) -> int:
    return sum(piece.histogram.count for piece in successes(log) if start <= piece.middle < end)


def _intervals(log: Log, start: float, end: float, *, tails: bool) -> Iterator[Interval]:
    """Yield each second of the window with the number of operations that ended successfully in it. With `tails`, add
    the 99th percentile of their latencies, counted from when they were due."""
    ended: list[list[Histogram]] = [[] for _ in range(ceil(end - start - 1e-6))]
    for piece in successes(log):
        if start <= piece.middle < end:
            ended[min(int(piece.middle - start), len(ended) - 1)].append(piece.histogram)
    for number, parts in enumerate(ended):
        count = sum(part.count for part in parts)
        p99_s = h.percentile(h.merge(parts), 99.0) if tails and count else None
        yield Interval(float(number), min(1.0, end - start - number), count, p99_s)


def _samples(asked: AskedLoad, run: OpenloadRun, log: Log, window: tuple[float, float]) -> Iterator[Sample]:
    seconds = window[1] - window[0]
    values = {"openload.cpu_per_operation": (run.own.cpu_us_per_operation * _US, "s")}
    values["openload.pauses"] = (run.own.gc_pause_share, "")
    values["openload.stalls"] = (run.own.stall_share, "")
    if run.own.hiccup_us:
        values["openload.hiccup"] = (run.own.hiccup_us["max"] * _US, "s")
    if asked.arrivals is not None:
        values["openload.drops"] = (run.dropped / run.offered if run.offered else 0.0, "")
        values["openload.queue"] = (float(run.longest_queue), "")
        late = log.between("lag", window[0], inf) if seconds < run.window_s else None
        if late is not None and late.count:
            values["openload.lag"] = (h.percentile(late, 99.0), "s")
        elif late is None and run.own.lag_us:
            values["openload.lag"] = (run.own.lag_us["p99"] * _US, "s")
        if shares := tuple(_lag_shares(asked, run)):
            values["openload.lag_share"] = (max(shares), "")
    for name, (value, unit) in values.items():
        yield Sample(name, "", "", seconds, value, unit, seconds)


def _lag_shares(asked: AskedLoad, run: OpenloadRun) -> Iterator[float]:
    """Yield the generator's own lateness as a share of each latency that the spec asks for. openload judges itself by
    the same share."""
    pairs = {OPERATIONS[operation]: (each.lag_us, each.intended_us) for operation, each in run.operations.items()}
    pairs[""] = (run.own.lag_us, run.all.intended_us)
    for asked_for in asked.latencies:
        name, _, operation = asked_for.partition(" ")
        lag, latency = pairs.get(operation, (None, None))
        if lag and latency and latency.get(name):
            yield _late_us(lag, run.own.hiccup_us, name) / latency[name]


def _late_us(lag: Latency, hiccup: Latency | None, name: str) -> float:
    """Return how late the generator was at a percentile, in microseconds. This is the delay that it added to
    operations, or how late its threads woke if that is more. For `max`, waking late does not count, because the latest
    wake-up may have delayed no operation.
    """
    woke = hiccup.get(name, 0.0) if hiccup and name != "max" else 0.0
    return max(lag.get(name, 0.0), woke)


def _warnings(asked: AskedLoad, run: OpenloadRun) -> Iterator[str]:
    if run.dropped:
        yield say.openload_dropped(dropped=run.dropped, n=run.offered, share=share_figure(run.dropped / run.offered, 2))
    # Failed operations are counted as errors already.
    missed = sum(max(0, of.not_found - of.failed) for of in run.operations.values())
    if missed:
        yield say.openload_not_found(n=missed, of=run.completed)
    lag, latency, arrivals = run.own.lag_us, run.all.intended_us, asked.arrivals
    if not lag or not latency or arrivals is None:
        return
    late = {name: _late_us(lag, run.own.hiccup_us, name) for name in ("p50", "p90", "p95", "p99", "p99.9", "p99.99")}
    beyond = [name for name in late if name not in asked.latencies and late[name] > arrivals.lag * latency[name]]
    if beyond:
        lowest, highest = (PrintedNumber(float(name[1:]), name) for name in (beyond[0], beyond[-1]))
        times = {"late": milliseconds(late[beyond[-1]]), "latency": milliseconds(latency[beyond[-1]])}
        yield say.openload_late_beside(lowest=lowest, highest=highest, **times)


def _disclosed(asked: AskedLoad, run: OpenloadRun, operations: Sequence[Operation]) -> dict[str, str]:
    arrivals = asked.arrivals
    texts: dict[str, str] = {
        "latency": say.latency_both() if arrivals else say.latency_service(),
        "loop": say.openload_open() if arrivals else say.loop_closed(),
        "arrivals": _spacing(asked, arrivals),
        "percentiles": say.openload_percentiles(),
    }
    if arrivals:
        texts["queue"] = say.openload_queue(bound=_bound(run))
        allowed = share_figure(arrivals.drops, 2)
        texts["drops"] = say.openload_drops(allowed=allowed) if arrivals.drops else say.openload_no_drops()
        texts["schedule lag"] = say.openload_lag(limit=share_figure(arrivals.lag))
        texts |= dict(_hidden(operations))
    own = run.own
    texts["generator"] = say.openload_own(
        cpu=_us(own.cpu_us_per_operation),
        pauses=share_figure(own.gc_pause_share, 2),
        longest=_us(own.gc_pause_longest_us),
    )
    if any(name == "read-modify-write" for name in run.operations):
        texts["throughput"] = say.openload_rmw()
    if asked.operations:
        texts["operationcount"] = asked.operations
    return texts


def _bound(run: OpenloadRun) -> str:
    """Return a phrase for the largest number of operations that may wait."""
    queue = run.settings.get("queue", "")
    return f"{int(queue):,}" if queue.isdecimal() else queue


def _hidden(operations: Sequence[Operation]) -> Iterator[tuple[str, str]]:
    """Yield a property with two 99th percentiles: of latencies from when operations were due, and from when they were
    sent. Their difference is what coordinated omission would hide."""
    due, sent = (
        h.merge(op.histogram for op in operations if op.histogram and op.kind == kind and op.phase is None)
        for kind in ("intended", "service")
    )
    if due.count and sent.count:
        p99 = {"intended": due, "service": sent}
        said = say.openload_hidden(**{k: _us(h.percentile(of, 99.0) / _US) for k, of in p99.items()})
        yield "coordinated omission", said


def _spacing(asked: AskedLoad, arrivals: Arrivals | None) -> str:
    if arrivals is None or arrivals.kind == "closed":
        return say.openload_closed()
    even = say.openload_evenly() if arrivals.spacing == "constant" else say.openload_exponential()
    rate = figure(asked.rate, ",g")
    match arrivals.kind:
        case "constant":
            return say.openload_constant()
        case "poisson":
            return say.openload_poisson()
        case "steps":
            first, last = figure(arrivals.rates[0], ",g"), figure(arrivals.rates[-1], ",g")
            times = figure(arrivals.each_s, "g")
            return say.openload_steps(n=len(arrivals.rates), first=first, last=last, seconds=times, spacing=even)
        case "burst":
            return say.openload_burst(
                rate=rate,
                burst=figure(arrivals.burst_rate, ",g"),
                every=figure(arrivals.every_s, "g"),
                lasting=figure(arrivals.lasting_s, "g"),
                spacing=even,
            )
        case "trace":
            return say.openload_trace(file=arrivals.file or TRACE_FILE, n=asked.due)


def _us(microseconds: float) -> str:
    """Format a time in microseconds with three digits, in the unit that fits it."""
    for size, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= size:
            return f"{microseconds / size:.3g} {unit}"
    return f"{microseconds:.3g} us"
