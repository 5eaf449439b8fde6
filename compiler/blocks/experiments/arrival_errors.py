"""Mistakes in how an offered load is spaced, and in what a tool is to do (E058x)."""

from __future__ import annotations

from benchbrief.compiler.extensions.tool_spec import Bound
from benchbrief.compiler.problems import CompileProblem

_LACKS: dict[Bound, str] = {
    "queue": "does not limit the operations that wait",
    "drops": "does not limit the operations that wait",
    "lag": "does not judge its own lateness",
    "stalls": "does not judge its own stalls",
    "timeout": "takes no time limit for an operation",
    "give_up": "takes no limit for the time without a success",
}


class ArrivalsNotOfTool(CompileProblem):
    """`known` are the arrivals that the tool can offer; `instead` are tools of the same engine that can offer these."""

    code = "E0580"
    says = "`{tool}` can't offer a load with `{kind}` arrivals"
    mark = ("it offers {known:ticked}", "it does not tell how it spaces a load")
    hint = ("use `tool = {instead[0]}`, or remove `arrivals`", "remove `arrivals`")
    tool: str
    kind: str
    known: tuple[str, ...]
    instead: tuple[str, ...] = ()


class ArrivalsWithoutTarget(CompileProblem):
    """Arrivals of a load that nobody offers."""

    code = "E0581"
    says = "`{kind}` arrivals need a rate, and experiment `{experiment}` has no `target`"
    hint = "add `target = 1k ops/s`; without one, each thread sends its next operation when the last one has ended"
    kind: str
    experiment: str


class ArrivalsBesideTarget(CompileProblem):
    code = "E0582"
    says = "{what}, and experiment `{experiment}` has a `target` too"
    hint = "remove `target`{other}"
    kind: str
    experiment: str

    @property
    def what(self) -> str:
        if self.kind == "closed":
            return "a closed loop has no rate"
        return f"`{self.kind}` arrivals have rates of their own"

    @property
    def other(self) -> str:
        return ", or write `poisson` or `constant` in place of `closed`" if self.kind == "closed" else ""


class TimesOfSteps(CompileProblem):
    code = "E0583"
    says = "`steps(...)` sets the measured time, and experiment `{experiment}` has `{key}` too"
    hint = "remove `{key}`: {steps} steps of {each} are measured for {whole}"
    experiment: str
    key: str
    steps: int
    each: str
    whole: str


class BadTrace(CompileProblem):
    """A trace whose `line` is no due time, or that is earlier than the one before."""

    code = "E0584"
    says = "line {line} of `{file}` {why}"
    hint = (
        "{instead}",
        (
            "write a due time in each line, in seconds from the start, in rising order and at most 10 s apart; lines "
            "with `#` are left out"
        ),
    )
    file: str
    line: int
    why: str
    instead: str = ""
    """What to do where its lines are right."""


class BoundNotOfTool(CompileProblem):
    code = "E0585"
    says = "`{tool}` {lacks}, so `{key}` has no effect"
    hint = "remove `{key}`"
    tool: str
    key: Bound

    @property
    def lacks(self) -> str:
        return _LACKS[self.key]


class LongBursts(CompileProblem):
    code = "E0586"
    says = "a burst of {lasting} that begins every {every} leaves no time between bursts"
    hint = "write a shorter `lasting:`, or a longer `every:`"
    lasting: str
    every: str


class NotOfTool(CompileProblem):
    """A workload's attribute with a value that only other tools know. `instead` is one of those."""

    code = "E0587"
    says = "`{tool}` does not know `{key} = {value}` of workload `{workload}`"
    hint = ("write another `{key}`, or use `tool = {instead}`", "write another `{key}`")
    tool: str
    key: str
    value: str
    workload: str
    instead: str = ""


class LoadingNotTimed(CompileProblem):
    code = "E0588"
    says = "`{tool}` can load data, but can't measure `{workload}`"
    hint = ("remove it from `workloads`, or use `tool = {instead}`", "remove it from `workloads`")
    tool: str
    workload: str
    instead: str = ""
