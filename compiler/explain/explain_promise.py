"""Adaptive ramps, and searches for a knee or a promise, in words, for `bench plan`."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler.estimates.grouped_hardware import shares_points
from benchbrief.compiler.explain.plain_text import number
from benchbrief.compiler.planning.achieved_load import to_serve
from benchbrief.compiler.planning.plan import Adaptive, Experiment, KneeSearch, Plan, Promise
from benchbrief.compiler.searches.rate_search import CONFIDENCE, LEAD
from benchbrief.dsl.diagnostics.plain_amounts import plural


def describe_promise(rule: Promise) -> Iterator[tuple[str, str]]:
    """Yield the rows of an experiment's table: what is promised, and how its highest rate is searched for."""
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
    """Return how the points of an adaptive ramp are chosen."""
    shared = shares_points(plan, e.name)
    turns = "; hardware that takes turns is measured at the same points" if shared else ""
    return (
        f"{rule.points} of the {len(e.points)} candidates, chosen while it runs: both ends, the middle, then where the "
        f"throughput bends most{turns}"
    )


def describe_knee(search: KneeSearch, points: int) -> str:
    """Return how a knee is searched for among so many points."""
    rise, gain = (f"{100 * share:g} %" for share in (search.rise, search.gain))
    return (
        f"up to {points} points, stops at the knee: {search.latency} +{rise} or more while throughput gains < {gain} "
        "at the next point" + (f"; without a knee, {number(search.otherwise)}" if search.otherwise else "")
    )
