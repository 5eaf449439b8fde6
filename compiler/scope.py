"""What expressions may refer to: the declared world of a spec, after names and values were checked.

Made by `resolve.py` from the syntax tree; read by `metrics/expressions.py` and `briefs/report.py`. Where
something is declared makes no difference to an expression: two keys that differ in their spans only are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from benchbrief.compiler.plan import Quantity
from benchbrief.dsl import ast
from benchbrief.dsl.source import Span


@dataclass(frozen=True)
class HardwareKey:
    """A hardware group or variant. `aliases` are the other names it may be called by (`server.micron_7450`).

    `units` are those that the facts were declared in, where one was written (`price = 4 USD/h`).
    """

    key: str
    aliases: tuple[str, ...]
    label: str
    nodes: int
    facts: dict[str, Quantity]
    units: dict[str, str]
    texts: dict[str, str]
    span: Span = field(compare=False)


@dataclass(frozen=True)
class WorkloadKey:
    """`operations` are those it performs (read, update, ...), in the words of `runners/measurement.py`."""

    key: str
    label: str
    description: str
    operations: tuple[str, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True)
class ExperimentKey:
    """`axis` is None when its only point is yet to be found: `unknown` are such dimensions, and what finds them.

    `phase_s` is the length of a phase in seconds; of a measurement that is not cut into phases, its whole length.
    """

    key: str
    label: str
    hardware: tuple[str, ...]
    workloads: tuple[str, ...]
    axis: Literal["threads", "target"] | None
    points: tuple[float, ...]
    phases: int
    phase_s: float
    repeats: int
    probes: tuple[str, ...]
    span: Span = field(compare=False)
    unknown: tuple[tuple[str, str], ...] = ()
    service_only: tuple[Span, str] | None = None


@dataclass(frozen=True)
class Scope:
    """`experiment_visible`: whether `experiment` is a dimension of measures, or implied by the others. `profile` is the
    one that was applied: it may leave out points of a ramp that an expression names."""

    hardware: tuple[HardwareKey, ...]
    workloads: tuple[WorkloadKey, ...]
    experiments: tuple[ExperimentKey, ...]
    metrics: tuple[ast.Metric, ...]
    expects: tuple[ast.Expect, ...]
    reports: tuple[ast.Block, ...]
    params: dict[str, ast.Expr]
    experiment_visible: bool
    profile: str | None = None

    @cached_property
    def names(self) -> Mapping[str, Mapping[str, str]]:
        """For each dimension whose keys are words, its keys by all the names that they go by; the first one counts."""
        hardware: dict[str, str] = {}
        for each in self.hardware:
            for name in (each.key, *each.aliases):
                hardware.setdefault(name, each.key)
        return {
            "hardware": hardware,
            "workload": {each.key: each.key for each in self.workloads},
            "experiment": {each.key: each.key for each in self.experiments},
            "operation": {operation: operation for each in self.workloads for operation in each.operations},
        }

    @cached_property
    def labels(self) -> Mapping[str, Mapping[str, str]]:
        """The labels of the keys of a dimension."""
        return {
            "hardware": {each.key: each.label for each in self.hardware},
            "workload": {each.key: each.label for each in self.workloads},
            "experiment": {each.key: each.label for each in self.experiments},
        }
