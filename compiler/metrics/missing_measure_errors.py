"""Mistakes in measures that nothing of an experiment tells (E0566, E0598, E0709, E0724, W0711), with their prose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from benchbrief.compiler.problems import CompileProblem, experiments_named, ticked
from benchbrief.dsl.diagnostics.diagnostic import Severity


@dataclass(frozen=True)
class NeedsProbe(CompileProblem):
    code = "E0709"
    says = "`{measure}` needs the probe `{probe}`"
    mark = "no experiment samples `{probe}`"
    hint = "add `probes = [{probe} every 1 s]` to {where}{meter}"
    measure: str
    probe: str
    experiments: tuple[str, ...]

    @property
    def where(self) -> str:
        return experiments_named(self.experiments)

    @property
    def meter(self) -> str:
        return ", and a meter such as `power = rapl` to the hardware" if self.probe == "power" else ""


@dataclass(frozen=True)
class NeedsTool(CompileProblem):
    """A measure that only another load generator tells."""

    code = "E0724"
    says = "`{measure}` needs the load generator {tool}"
    mark = "no experiment uses {tool}"
    hint = "measure a workload of {tool}, or remove `{measure}`: the load generator here is {others}"
    measure: str
    tool: str
    tools: tuple[str, ...]

    @property
    def others(self) -> str:
        return ticked(self.tools)


@dataclass(frozen=True)
class NeedsEvent(CompileProblem):
    """A measure of what events do, where no experiment has any."""

    code = "E0598"
    says = "`{measure}` needs an event"
    mark = "no experiment has one"
    hint = 'add `at 5 min "What happens" {{ command("...", on: first) }}` to {where}'
    measure: str
    experiments: tuple[str, ...]

    @property
    def where(self) -> str:
        return experiments_named(self.experiments)


@dataclass(frozen=True)
class NeedsPromise(CompileProblem):
    """What a search for a promise finds, where no experiment has one."""

    code = "E0566"
    says = "`{measure}` needs a search for a promise"
    mark = "no experiment has one"
    hint = "write `target = highest(1k ops/s..200k ops/s, where: latency.p99[read] < 5 ms, within: 3 %)` in {where}"
    measure: str
    experiments: tuple[str, ...]

    @property
    def where(self) -> str:
        return experiments_named(self.experiments)


@dataclass(frozen=True)
class DeclaredNotSampled(CompileProblem):
    """The name of a measure that no experiment samples, and of a quantity that hardware declares."""

    code = "W0711"
    severity: ClassVar[Severity] = "warning"
    says = "`{name}` is the declared number of hardware {declaring} here: no experiment samples `{name}`"
    mark = "declared, not measured"
    name: str
    probe: str
    hardware: tuple[str, ...]

    @property
    def declaring(self) -> str:
        return ticked(self.hardware)

    @property
    def help(self) -> str:
        meter = " and a meter, such as `power = ipmi(...)`" if self.probe == "power" else ""
        return f"add `probes = [{self.probe} every 1 s]`{meter}; or call the declared number `rated_{self.name}`"
