"""Measuring until it is steady in words, for `bench plan` and hover."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler.planning.plan import Experiment, UntilSteady
from benchbrief.compiler.planning.steady_rule import BATCH_S
from benchbrief.dsl.diagnostics.plain_amounts import duration


def measured_for(e: Experiment) -> str:
    """Return how long its cells are measured: `20 min`, or `2 min to 30 min, until steady within 2 %`."""
    if e.until_steady is None:
        return duration(e.measure_s)
    return f"{duration(e.until_steady.from_s)} to {duration(e.measure_s)}, until steady within {_share(e.until_steady)}"


def describe_steadiness(e: Experiment, rule: UntilSteady) -> Iterator[tuple[str, str]]:
    """Yield the rows of an experiment's table: when its cells end, and what counts of each."""
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
