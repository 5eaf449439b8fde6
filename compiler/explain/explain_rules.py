"""Describes the rules of an experiment in words, for `bench plan`: its points, loads, lengths, probes and events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

from benchbrief.compiler.estimates.estimate import shares_points
from benchbrief.compiler.explain.plain_text import number
from benchbrief.compiler.registry import SNAPSHOT_SPECS
from benchbrief.dsl.diagnostics.plain_amounts import duration, plural
from benchbrief.model.achieved_load import to_serve
from benchbrief.model.engine_spec import Reset
from benchbrief.model.plan import Adaptive, Arrivals, Cell, Event, Experiment, KneeSearch, Plan, Promise, UntilSteady
from benchbrief.model.rate_search import CONFIDENCE, LEAD
from benchbrief.model.steadiness import BATCH_S
from benchbrief.model.tool_spec import Bound


def describe_promise(rule: Promise) -> Iterator[tuple[str, str]]:
    """Yield the rows of an experiment's table about its promise, and about the search for the highest rate that keeps
    it."""
    yield "promise", rule.text
    yield "served", f"{100 * to_serve(rule):g} % of the offered load at least, or the promise is broken"
    apart, within = (f"{share * rule.within:g} %" for share in (50, 100))
    yield "search", f"the highest that keeps it, of rates {apart} apart, to be within {within}: doubling, then halving"
    yield (
        "at the edge",
        (
            f"again, until {LEAD} more runs keep the promise than break it, or the reverse ({100 * CONFIDENCE:.0f} % "
            f"confidence, Wald's sequential test), {rule.judged} times a rate at most"
        ),
    )
    runs = plural(rule.held_out, "run")
    yield "held out", f"{runs} more at the rate that was found, and at a lower one as soon as one breaks the promise"
    yield "cells", f"about {rule.usual} for each search, {rule.most} at most"
    yield "assumes", "a promise that is broken at one rate is broken at each higher one"


def describe_adaptive(plan: Plan, e: Experiment, rule: Adaptive) -> str:
    """Return, in words, how the points of an adaptive ramp are chosen."""
    shared = shares_points(plan, e.name)
    turns = "; hardware that takes turns is measured at the same points" if shared else ""
    return (
        f"{rule.points} of the {len(e.points)} candidates, chosen while it runs: both ends, the middle, then where the "
        f"throughput bends most{turns}"
    )


def describe_knee(search: KneeSearch, points: int) -> str:
    """Return, in words, how a knee is searched for among a number of points."""
    rise, gain = (f"{100 * share:g} %" for share in (search.rise, search.gain))
    return (
        f"up to {points} points, stops at the knee: {search.latency} +{rise} or more while throughput gains < {gain} "
        "at the next point" + (f"; without a knee, {number(search.otherwise)}" if search.otherwise else "")
    )


def measured_for(e: Experiment) -> str:
    """Return how long an experiment's cells are measured: `20 min`, or `2 min to 30 min, until steady within 2 %`."""
    if e.until_steady is None:
        return duration(e.measure_s)
    return f"{duration(e.until_steady.from_s)} to {duration(e.measure_s)}, until steady within {_share(e.until_steady)}"


def describe_steadiness(e: Experiment, rule: UntilSteady) -> Iterator[tuple[str, str]]:
    """Yield rows for the table of an experiment: when its cells end, and which part of each cell counts."""
    offered = e.axis == "target"
    means = "mean throughput and of the mean latency" if offered else "mean throughput"
    of = "each" if offered else "it"
    looks = f"first looked at after {duration(rule.from_s)}, then every {duration(BATCH_S)}"
    yield (
        "measured",
        (
            f"until half the 95 % interval of the {means} is at most {_share(rule)} of {of}: {looks}, for "
            f"{duration(e.measure_s)} at most"
        ),
    )
    yield "counted", "what comes after the transient, which MSER-5 cuts off (White 1997)"
    batches = duration(BATCH_S)
    yield (
        "assumes",
        f"batches of {batches} that are independent; who stops when an interval is narrow has luck on their side",
    )


def _share(rule: UntilSteady) -> str:
    return f"{100 * rule.within:g} %"


_TIMES = {"timeout": "timeout_s", "give_up": "give_up_s"}
"""Maps each bound that is a time to its field."""


def describe_arrivals(arrivals: Arrivals) -> str:
    """Return the kind of arrivals with the bounds that the spec sets: `poisson; drops 1 %, lag 50 %`."""
    bounds = ", ".join(_bounds(arrivals))
    return f"{arrivals.kind}; {bounds}" if bounds else arrivals.kind


def _bounds(arrivals: Arrivals) -> Iterator[str]:
    for name in get_args(Bound):
        field = _TIMES.get(name, name)
        value = getattr(arrivals, field)
        if value == getattr(Arrivals, field):
            continue
        if name in _TIMES:
            yield f"{name} {duration(value)}"
        else:
            yield f"{name} {number(value) if name == 'queue' else f'{100 * value:g} %'}"


def describe_probes(cells: Iterable[Cell]) -> list[str]:
    devices: dict[str, list[str]] = {}
    for cell in cells:
        for probe in cell.probes:
            found = devices.setdefault(f"{probe.name} every {duration(probe.every_s)}", [])
            device = probe.options.get("device") or probe.options.get("interface")
            if device and device not in found:
                found.append(device)
    return [f"{name} on {' or '.join(on)}" if on else name for name, on in devices.items()]


def describe_events(cells: Iterable[Cell]) -> list[str]:
    """Return a line for each event, with the hosts of all cells, since each cell runs the event on its own hosts."""
    found: dict[tuple[float, str], tuple[Event, dict[str, None]]] = {}
    for cell in cells:
        for event in cell.events:
            _, hosts = found.setdefault((event.at_s, event.line), (event, {}))
            hosts.update(dict.fromkeys(event.hosts))
    return [_describe_event(event, hosts) for event, hosts in found.values()]


def _describe_event(event: Event, hosts: Iterable[str]) -> str:
    data = "" if event.data == "kept" else "; the data set counts as changed"
    return f'at {duration(event.at_s)} "{event.label}" on {", ".join(hosts)}: {event.line}{data}'


_RESET_WORDS: Mapping[Reset, str] = {
    "drop_and_load": "loaded again for each cell",
    "after_writes": "loaded once, and again after cells that write",
    "as_needed": "loaded once, and again after cells that insert",
    "undo": "loaded once, and what cells insert is deleted",
    "snapshot": "loaded once, and copied back after cells that write",
    "links": "loaded once, and linked back after cells that write",
    "reuse": "loaded once and kept",
    "command": "brought back by a command for each cell",
}


def reset_words(reset: Reset) -> str:
    """Return how the data are reset, in words."""
    if reset in _RESET_WORDS:
        return _RESET_WORDS[reset]
    system = SNAPSHOT_SPECS.usable(reset)
    return f"loaded once, and a snapshot by {system.label if system else reset} put back for each cell"


_BOUNDARY = {
    "wall": "at the wall",
    "node": "of the node",
    "cpu": "of the CPU packages only",
    "formula": "by a formula",
    "unknown": "of an unknown part of it",
}


def describe_meters(plan: Plan, e: Experiment) -> Iterator[str]:
    """Return each meter with its hardware and with the boundary of its measurement."""
    found: dict[str, list[str]] = {}
    for hardware in (plan.hardware[key] for key in e.hardware):
        if hardware.power:
            first = hardware.power[0]
            by = f"{first.kind}, {_BOUNDARY[first.boundary]}{', shared by its hosts' if first.shared else ''}"
            found.setdefault(by, []).append(hardware.key)
    for by, keys in found.items():
        yield by if len(keys) == len(e.hardware) else f"{' and '.join(keys)} by {by}"
