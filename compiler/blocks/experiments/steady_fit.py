"""Whether an experiment's cells can end when they are steady: its tool, its client and its load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchbrief.compiler.blocks.experiments import schedule_errors
from benchbrief.compiler.blocks.experiments.arrivals import Said
from benchbrief.compiler.blocks.experiments.measured_times import Times
from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.blocks.workloads.workloads import Load
from benchbrief.compiler.extensions import EngineSpec, ToolSpec
from benchbrief.compiler.extensions.registry import TOOL_SPECS
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.planning import plan

EVEN = ("constant", "poisson", "closed")
"""The arrivals whose rate is to be steady."""


@dataclass(frozen=True)
class Steadied:
    """What an experiment has that may forbid its cells to end when they are steady."""

    tool: ToolSpec
    engine: EngineSpec
    client: plan.Client | None
    arrivals: Said | None
    loads: Sequence[Load]


def check_steady(times: Times, entry: Entry, of: Steadied, reader: Reader) -> None:
    """Report a tool, a client or a load that `until_steady` has no place with."""
    if times.rule is None:
        return
    if not of.tool.ends_when_steady:
        others = (TOOL_SPECS.usable(name) for name in of.engine.tools)
        able = tuple(other.word for other in others if other and other.ends_when_steady)
        reader.findings.add(schedule_errors.NotUntilSteady(times.rule, of.tool.word, able))
    elif of.client is not None and len(of.client.hosts) > 1:
        reader.findings.add(schedule_errors.SteadyOfSeveral(times.rule, of.client.name, len(of.client.hosts)))
    for what, why in _never_steady(entry, of):
        reader.findings.add(schedule_errors.NeverSteady(times.rule, entry.name, what, why))


def _never_steady(entry: Entry, of: Steadied) -> Iterator[tuple[str, str]]:
    if entry.all("at"):
        yield "its events", "an event disturbs it"
    kind = of.arrivals.arrivals.kind if of.arrivals else "constant"
    if kind not in EVEN:
        yield f"`arrivals = {kind}(...)`", f"the rate of `{kind}` is never steady"
    for load in of.loads:
        if load.of:
            yield f"`load({load.of})`", "a load ends with its last record"
        elif "operations" in load.workload.properties:
            name = load.workload.name
            yield f"`operations` of workload `{name}`", f"`operations` of workload `{name}` end it too"
