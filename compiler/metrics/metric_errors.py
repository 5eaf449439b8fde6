"""Mistakes in metrics and conditions (E070x to E072x, W07xx).

`compiler/briefs/report_errors.py` has the mistakes in reports.
"""

from __future__ import annotations

import re

from benchbrief.compiler.problems import Circle, CompileProblem, Misspelt
from benchbrief.dsl.diagnostics.plain_amounts import ticked

_OF_PERCENTILES = re.compile(r"p[0-9]{2,}|percentiles?|quantiles?")
_PERCENTILE = re.compile(r"p[0-9]{2,4}")


class UnknownQuantity(Misspelt):
    """An unknown name in an expression."""

    code = "E0701"
    stands_alone = True
    declared = True
    says = "unknown metric or measure `{word}`"
    mark = "not a metric, a measure or a declared fact"
    otherwise = "write a metric, a measure such as `throughput` or `latency.p99[read]`, or a declared quantity"

    @property
    def help(self) -> str:
        if _PERCENTILE.fullmatch(self.word):
            return f"a percentile is one of latency, as in `latency.{self.word}[read]`"
        return super().help


class UnknownPercentile(UnknownQuantity):
    """A percentile that is not computed. It is no slip: another percentile would be another number."""

    otherwise = "there are {all_known}"

    @property
    def replacement(self) -> None:
        return None


class NotANumber(CompileProblem):
    """A name of something other than a number: a hardware group, a text, a family of measures."""

    code = "E0702"
    says = "`{word}` is {what}, not a number"
    hint = "{instead}"
    word: str
    what: str
    instead: str


class ShadowsMeasure(CompileProblem):
    code = "E0703"
    stands_alone = True
    says = "a metric can't be called `{name}`: that is {what}"
    mark = "taken"
    hint = "give it another name, such as `my_{name}`"
    name: str
    what: str


class CircularMetric(Circle):
    code = "E0704"
    stands_alone = True
    hint = "compute {which} from measures"

    @property
    def summary(self) -> str:
        if len(self.chain) == 1:
            return f"metric `{self.chain[0]}` is computed from itself"
        return "these metrics are computed from each other in a circle"


class TooComplex(CompileProblem):
    code = "E0705"
    says = "{whole} too large: with the formulas of all its metrics, it has {what}"
    hint = "{instead}"
    what: str
    whole: str = "this expression is"
    instead: str = "compute less in one metric"


class UnknownKey(Misspelt):
    """A word in an index that is no key."""

    code = "E0710"
    says = "`{base}` has {nothing} `{word}`"
    otherwise = "it has {all_known}"
    when_none = "it has one value only: leave the index out"
    base: str
    by_dimension: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The keys by dimension, where there are several."""

    @property
    def nothing(self) -> str:
        return "nothing called" if self.kind == "key" else f"no {self.kind}"

    @property
    def all_known(self) -> str:
        dimensions = (f"{dim} {ticked(keys, limit=30)}" for dim, keys in self.by_dimension)
        return "; ".join(dimensions) or super().all_known


class AmbiguousKey(CompileProblem):
    code = "E0711"
    says = "`{word}` is the name of {owners}"
    mark = "which one?"
    hint = "write {ways}"
    word: str
    dims: tuple[str, ...]

    @property
    def owners(self) -> str:
        return " and of ".join(f"a {dim}" if dim != "operation" else "an operation" for dim in self.dims)

    @property
    def ways(self) -> str:
        return " or ".join(f"`{dim}: {self.word}`" for dim in self.dims)


class UnknownDimension(Misspelt):
    code = "E0712"
    stands_alone = True
    declared = True
    says = "unknown dimension `{word}`"
    otherwise = "dimensions are {all_known}"


class DimensionAbsent(CompileProblem):
    """Reducing, fixing or drawing along a dimension that the value lacks."""

    code = "E0713"
    says = "`{base}` has no `{dim}`"
    base: str
    dim: str
    dims: tuple[str, ...]

    @property
    def help(self) -> str:
        if not self.dims:
            return f"leave `{self.dim}` out: `{self.base}` is a single number"
        return f"use {'a' if len(self.dims) > 1 else 'the'} dimension that it has: {ticked(self.dims)}"


class PointNotKnown(CompileProblem):
    """An index by a dimension whose only point is not found yet."""

    code = "E0723"
    says = "`{dim}` of `{expr}` is `{search}`, which is not known before the run"
    mark = "the search finds its only point"
    hint = "remove it: `{expr}` has only one value of `{dim}`"
    expr: str
    dim: str
    search: str


class PointNotOnRamp(CompileProblem):
    code = "E0714"
    says = "{dim} {point} is not measured"
    mark = "not on the ramp"
    hint = "the points are {points:joined}"
    dim: str
    point: str
    points: tuple[str, ...]


class NothingPlanned(CompileProblem):
    """An expression for which no experiment measures anything."""

    code = "E0716"
    says = "`{base}` is measured nowhere{where}"
    hint = "no experiment measures these points together: choose others, or add them to an experiment"
    base: str
    where: str


class NotByPhase(CompileProblem):
    code = "E0717"
    says = "`{measure}` is not recorded by phase"
    hint = "use it over `time` instead, or leave `phase` out"
    measure: str


class NeedsOperation(CompileProblem):
    code = "E0715"
    says = "`{measure}` needs an operation"
    measure: str
    operations: tuple[str, ...]

    @property
    def help(self) -> str:
        known = f" (there are {ticked(self.operations)})" if len(self.operations) > 1 else ""
        return f"write `{self.measure}[{self.operations[0] if self.operations else 'read'}]`{known}"


class UnknownFunction(Misspelt):
    code = "E0718"
    stands_alone = True
    says = "unknown function `{word}`"
    otherwise = "functions are {all_known}"

    @property
    def help(self) -> str:
        if _OF_PERCENTILES.fullmatch(self.word):
            return "a percentile is a measure, without brackets: `latency.p99[read]`"
        return super().help


class BadReduction(CompileProblem):
    code = "E0719"
    says = "`{function}` {why}"
    hint = "{instead}"
    function: str
    why: str
    instead: str


class ConditionDimension(CompileProblem):
    code = "E0720"
    says = "this condition has {dims:ticked}, which `{operand}` does not have"
    hint = "fix or reduce {dims:ticked} in the condition"
    dims: tuple[str, ...]
    operand: str


class NotAnExpression(CompileProblem):
    code = "E0721"
    stands_alone = True
    says = "an expression can't contain {found}"
    hint = "an expression is made of metrics, measures, facts and numbers, such as `throughput / power`"
    found: str


class BadIndex(CompileProblem):
    code = "E0722"
    says = "{why}"
    hint = "{instead}"
    why: str
    instead: str


class UnknownArgument(Misspelt):
    code = "E0726"
    says = "`{kind}` takes no `{word}`"
    otherwise = "it takes {all_known}"
    when_none = "it takes only an expression and the dimension after `over`"


class UnknownField(Misspelt):
    code = "E0750"
    says = "`{kind}` gives no `{word}`"
    otherwise = "it gives {all_known}"
    when_none = "it gives one number: remove the part after the dot"


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
