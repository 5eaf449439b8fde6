"""openload's command line for a cell. `loadgen/README.md` lists the flags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil

from benchbrief.extend.common import JobFile, PlanRefused, Secret
from benchbrief.extend.tools import Arrivals, AskedStatistics, CellContext
from benchbrief.extensions.tools.openload.openload_messages import say
from benchbrief.extensions.tools.ycsb import ycsb_properties as properties

TOOL = "openload"
TRACE_FILE = "trace.txt"
URI = "OPENLOAD_URI"
"""The environment variable that holds the server's URI, so that no argument shows a password."""

Flags = Mapping[str, object]

_USUAL = frozenset({"p99"})
"""The latencies that openload judges if the spec does not ask for any."""
_GIVE_UP_S, _QUEUE = 30.0, 10_000
"""openload's defaults for `--give-up` and `--queue`."""
_MOST_QUEUED = 1_000_000
"""How many operations may wait at most. openload needs 24 MB for them."""
_APART = 1_000_000
"""The difference between the seeds of load generators that send at the same time. With equal seeds they would send in
lockstep, and arrivals would come in batches."""
_SHARES = {
    "read": "read",
    "update": "update",
    "insert": "insert",
    "scan": "scan",
    "read_modify_write": "read-modify-write",
}


def load_flags(context: CellContext, target: Flags) -> list[str]:
    """Return the arguments of a load. `target` has the flags that describe the target and the layout of its records."""
    part = properties.load_part(context)
    flags = {
        **_records(context),
        **target,
        "insert-start": part.keys.start,
        "insert-count": len(part.keys),
        "workers": part.threads,
        "output": ".",
    }
    return _words(flags)


def run_flags(context: CellContext, target: Flags) -> list[str]:
    return _words({**_run(context), **target})


def recorded_flags(context: CellContext, target: Flags) -> dict[str, str]:
    """Return a run's flags with their values, but only those that are also known when an output is read again."""
    return {name: _text(value) for name, value in {**_run(context), **target}.items()}


def _run(context: CellContext) -> dict[str, object]:
    given = context.workload.properties
    flags: dict[str, object] = {
        **_records(context),
        **{flag: given[name] for name, flag in _SHARES.items() if given.get(name)},
        "distribution": given.get("distribution", "uniform"),
        **({"scan-length": given["scan_length"]} if "scan_length" in given else {}),
        **_schedule(context),
        **_until_steady(context),
        **_outlasting_events(context),
        **_bounds(context),
        "workers": context.threads,
        "seed": context.cell.repeat + _APART * context.part,
        "judge": ",".join(judged(context)),
        "accept-errors": context.accepted_errors,
        "output": ".",
    }
    if "operations" in given:
        flags["operations"] = max(1, len(context.range_of(int(float(given["operations"])))))
    return flags


def files_of(context: CellContext) -> tuple[JobFile, ...]:
    arrivals = context.experiment.arrivals
    if arrivals is None or arrivals.kind != "trace":
        return ()
    parts = len(context.cell.load_hosts)
    if parts > 1:
        raise PlanRefused(say.trace_split(), say.hint_one_host())
    return (JobFile(TRACE_FILE, (arrivals.trace,)),)


def environment(context: CellContext) -> Mapping[str, Secret]:
    uri = context.endpoint.uri
    return {URI: uri} if uri is not None else {}


def arrivals_of(context: CellContext) -> Arrivals | None:
    """Return the spacing of the operations of an offered load, or None in a closed loop."""
    said = context.experiment.arrivals
    if context.cell.target is None and (said is None or said.kind == "closed"):
        return None
    return said or Arrivals(kind="poisson")


def asked_latencies(context: CellContext) -> frozenset[str]:
    """Return the latencies that the spec asks for at this cell, such as `p99 read`, or `p99` for all operations. If the
    spec asks for none, return only p99."""
    return frozenset(AskedStatistics(context.plan).of(context.cell)) - {"throughput"} or _USUAL


def judged(context: CellContext) -> tuple[str, ...]:
    """Return the statistics of latency that the spec asks for: `mean`, percentiles such as `99.9` in rising order, and
    `max`. openload judges each of them for every operation."""
    asked = {name.partition(" ")[0] for name in asked_latencies(context)}
    percentiles = sorted(float(name[1:]) for name in asked if name[:1] == "p")
    ends = [[name for name in (end,) if name in asked] for end in ("mean", "max")]
    return (*ends[0], *(f"{percent:g}" for percent in percentiles), *ends[1])


def share_of_load(context: CellContext) -> float:
    """Return this load generator's share of the threads, which is also its share of the rates in `arrivals`."""
    return context.threads / (context.cell.threads or context.threads)


def step_rates(context: CellContext, arrivals: Arrivals) -> tuple[float, ...]:
    """Return the rate that this load generator offers in each step."""
    return tuple(rate * share_of_load(context) for rate in arrivals.rates)


def _schedule(context: CellContext) -> dict[str, object]:
    arrivals, cell = arrivals_of(context), context.cell
    if arrivals is None:
        return {"arrivals": "closed", "warm-up": cell.warm_up_s, "duration": cell.measure_s}
    times: dict[str, object] = {"warm-up": cell.warm_up_s, "duration": cell.measure_s}
    found: dict[str, object] = {"arrivals": arrivals.kind, "accept-drops": arrivals.drops, "accept-lag": arrivals.lag}
    if arrivals.queue is not None:
        found["queue"] = max(1, round(arrivals.queue * share_of_load(context)))
    match arrivals.kind:
        case "constant" | "poisson":
            found["rate"] = context.target
            if arrivals.kind == "constant" and (parts := len(cell.load_hosts)) > 1:  # they take turns
                found["phase"] = context.part / parts
        case "steps":
            rates = step_rates(context, arrivals)
            steps = [*([(rates[0], cell.warm_up_s)] if cell.warm_up_s else []), *((r, arrivals.each_s) for r in rates)]
            found |= {"steps": ",".join(f"{rate:g}x{seconds:g}" for rate, seconds in steps)}
            found["spacing"] = arrivals.spacing
        case "burst":
            found |= {"rate": context.target, "burst-rate": arrivals.burst_rate * share_of_load(context)}
            found |= {"burst-every": arrivals.every_s, "burst-length": arrivals.lasting_s, "spacing": arrivals.spacing}
        case "trace":
            found["trace"] = TRACE_FILE
    return found | times


def _until_steady(context: CellContext) -> dict[str, object]:
    rule = context.experiment.until_steady
    return {"steady-within": rule.within, "steady-from": rule.from_s} if rule else {}


def _outlasting_events(context: CellContext) -> dict[str, object]:
    """Return the flags that let a run continue while an event stops the system. Without these flags, openload ends a
    run if nothing succeeds for a long time. Unless the spec limits the queue, it holds all operations that become due
    in that time.
    """
    cell, arrivals = context.cell, arrivals_of(context)
    if not cell.events:
        return {}
    out_s = max(_GIVE_UP_S, cell.warm_up_s + cell.measure_s)
    found: dict[str, object] = {"give-up": out_s}
    if arrivals is not None and arrivals.queue is None and context.target is not None:
        due = ceil(max(context.target, arrivals.burst_rate * share_of_load(context)) * cell.measure_s)
        found["queue"] = min(_MOST_QUEUED, max(_QUEUE, due))
    return found


def _bounds(context: CellContext) -> dict[str, object]:
    """Return the limits that the spec itself sets, by flag."""
    said = context.experiment.arrivals
    bounds = {"accept-stalls": said.stalls, "timeout": said.timeout_s, "give-up": said.give_up_s} if said else {}
    return {name: value for name, value in bounds.items() if value is not None}


def _records(context: CellContext) -> dict[str, object]:
    given = context.workload.properties
    return {
        "record-count": properties.count_records(context.workload),
        "field-count": given.get("fields", 10.0),
        "field-length": given.get("field_length", 100.0),
    }


def _words(flags: Mapping[str, object]) -> list[str]:
    return list(_each_word(flags.items()))


def _each_word(flags: Iterable[tuple[str, object]]) -> Iterable[str]:
    for name, value in flags:
        yield f"--{name}={_text(value)}"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value == int(value) else repr(value)
    return str(value)
