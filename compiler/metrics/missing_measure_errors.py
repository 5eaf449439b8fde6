"""Mistakes in measures that nothing of an experiment tells (E0566, E0598, E0709, E0724, W0711), with their prose."""

from __future__ import annotations

from benchbrief.compiler.problems import CompileProblem


class NeedsProbe(CompileProblem):
    code = "E0709"
    says = "`{measure}` needs the probe `{probe}`"
    mark = "no experiment samples `{probe}`"
    hint = "add `probes = [{probe} every 1 s]` to {experiments:named experiment}{meter}"
    measure: str
    probe: str
    experiments: tuple[str, ...]

    @property
    def meter(self) -> str:
        return ", and a meter such as `power = rapl` to the hardware" if self.probe == "power" else ""


class NeedsTool(CompileProblem):
    """A measure that only another load generator tells."""

    code = "E0724"
    says = "`{measure}` needs the load generator {tool}"
    mark = "no experiment uses {tool}"
    hint = "measure a workload of {tool}, or remove `{measure}`: the load generator here is {tools:ticked}"
    measure: str
    tool: str
    tools: tuple[str, ...]


class NeedsEvent(CompileProblem):
    """A measure of what events do, where no experiment has any."""

    code = "E0598"
    says = "`{measure}` needs an event"
    mark = "no experiment has one"
    hint = 'add `at 5 min "What happens" {{ command("...", on: first) }}` to {experiments:named experiment}'
    measure: str
    experiments: tuple[str, ...]


class NeedsPromise(CompileProblem):
    """What a search for a promise finds, where no experiment has one."""

    code = "E0566"
    says = "`{measure}` needs a search for a promise"
    mark = "no experiment has one"
    hint = (
        "write `target = highest(1k ops/s..200k ops/s, where: latency.p99[read] < 5 ms, within: 3 %)` in "
        "{experiments:named experiment}"
    )
    measure: str
    experiments: tuple[str, ...]


class DeclaredNotSampled(CompileProblem):
    """The name of a measure that no experiment samples, and of a quantity that hardware declares."""

    code = "W0711"
    says = "`{name}` is the declared number of hardware {hardware:ticked} here: no experiment samples `{name}`"
    mark = "declared, not measured"
    name: str
    probe: str
    hardware: tuple[str, ...]

    @property
    def help(self) -> str:
        meter = " and a meter, such as `power = ipmi(...)`" if self.probe == "power" else ""
        return f"add `probes = [{self.probe} every 1 s]`{meter}; or call the declared number `rated_{self.name}`"
