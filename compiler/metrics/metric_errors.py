"""Mistakes in metrics and conditions (E070x to E072x, W07xx), with their stable codes and their prose.

What is wrong in a report is in `compiler/briefs/report_errors.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from benchbrief.compiler.problems import CompileProblem, Misspelt, ticked
from benchbrief.compiler.units import DIMENSIONLESS, Dimension, Unit, base_unit
from benchbrief.dsl.diagnostics import Note, Severity
from benchbrief.dsl.source import Span

_OF_PERCENTILES = re.compile(r"p[0-9]{2,}|percentiles?|quantiles?")


def unit_words(unit: Unit | Dimension | None) -> str:
    """What a term is: "in `ops/s`", "a plain number", "a condition". A dimension alone is told by its base unit."""
    if unit is None:
        return "a condition"
    dimension, text = (unit.dimension, unit.text) if isinstance(unit, Unit) else (unit, base_unit(unit))
    return "a plain number" if dimension == DIMENSIONLESS else f"in `{text}`"


@dataclass(frozen=True)
class UnknownQuantity(Misspelt):
    """A name in an expression that means nothing there."""

    code = "E0701"
    stands_alone = True
    declared = True
    says = "unknown metric or measure `{word}`"
    mark = "not a metric, a measure or a declared fact"
    otherwise = "write a metric, a measure such as `throughput` or `latency.p99[read]`, or a declared quantity"


@dataclass(frozen=True)
class UnknownPercentile(UnknownQuantity):
    """A percentile that is not computed. It is no slip of another one: what is asked for is another number."""

    otherwise = "there are {all_known}"

    @property
    def replacement(self) -> None:
        return None


@dataclass(frozen=True)
class NotANumber(CompileProblem):
    """A name that stands for something else than a number: a hardware group, a text, a family of measures."""

    code = "E0702"
    says = "`{word}` is {what}, not a number"
    hint = "{instead}"
    word: str
    what: str
    instead: str


@dataclass(frozen=True)
class ShadowsMeasure(CompileProblem):
    code = "E0703"
    stands_alone = True
    says = "a metric can't be called `{name}`: that is {what}"
    mark = "taken"
    hint = "give it another name, such as `my_{name}`"
    name: str
    what: str


@dataclass(frozen=True)
class CircularMetric(CompileProblem):
    code = "E0704"
    stands_alone = True
    hint = "compute one of them from measures"
    chain: tuple[str, ...]

    @property
    def summary(self) -> str:
        if len(self.chain) == 1:
            return f"metric `{self.chain[0]}` is computed from itself"
        return "these metrics are computed from each other in a circle"

    @property
    def notes(self) -> tuple[Note, ...]:
        return (Note(" -> ".join((*self.chain, self.chain[0]))),)


@dataclass(frozen=True)
class TooComplex(CompileProblem):
    code = "E0705"
    says = "{whole} too large: with all its metrics written out it has {what}"
    hint = "{instead}"
    what: str
    whole: str = "this expression is"
    instead: str = "compute less in one metric"


@dataclass(frozen=True)
class UnitMismatch(CompileProblem):
    """Adding or comparing what is not of one kind. The notes say what each side is."""

    code = "E0706"
    stands_alone = True
    hint = "both sides must measure the same thing; units of one kind convert by themselves"
    operator: str
    left: Unit | None
    right: Unit | None
    left_span: Span
    right_span: Span

    @property
    def summary(self) -> str:
        left, right = (unit_words(unit).removeprefix("in ") for unit in (self.left, self.right))
        if self.operator == "+":
            return f"can't add {right} to {left}"
        if self.operator == "-":
            return f"can't subtract {right} from {left}"
        return f"can't compare {left} with {right}"

    @property
    def notes(self) -> tuple[Note, ...]:
        return (
            Note(f"this is {unit_words(self.left)}", self.left_span),
            Note(f"this is {unit_words(self.right)}", self.right_span),
        )


@dataclass(frozen=True)
class WrongUnit(CompileProblem):
    """A metric declared in one unit whose expression is in another. `parts` are the units of its operands."""

    code = "E0707"
    stands_alone = True
    says = "metric `{name}` is declared in `{declared}`, but its expression is {found}"
    mark = "{found}"
    name: str
    declared: str
    actual: Dimension
    declared_span: Span
    parts: tuple[tuple[Span, Unit | None], ...]

    @property
    def found(self) -> str:
        return unit_words(self.actual)

    @property
    def notes(self) -> tuple[Note, ...]:
        parts = (Note(f"this is {unit_words(unit)}", span) for span, unit in self.parts)
        return (Note("declared here", self.declared_span), *parts)

    @property
    def help(self) -> str:
        if self.actual == DIMENSIONLESS:
            return f"take `in {self.declared}` away, say `in %`, or correct the expression"
        return f"say `in {base_unit(self.actual)}`, or correct the expression"


@dataclass(frozen=True)
class WrongKind(CompileProblem):
    """A condition where a number is wanted, or the other way round."""

    code = "E0708"
    stands_alone = True
    says = "{wanted} is wanted here, and this is {found}"
    hint = "{instead}"
    wanted: str
    found: str
    instead: str


@dataclass(frozen=True)
class NeedsProbe(CompileProblem):
    code = "E0709"
    says = "`{measure}` needs a probe"
    mark = "no experiment samples `{probe}`"
    hint = "add a probe: `probes = [{probe} every 1 s]` in experiment {where}"
    measure: str
    probe: str
    experiments: tuple[str, ...]

    @property
    def where(self) -> str:
        return ticked(self.experiments)


@dataclass(frozen=True)
class UnknownKey(Misspelt):
    """A word in an index that is no key of what is indexed."""

    code = "E0710"
    says = "`{base}` has no {kind} `{word}`"
    otherwise = "it has {all_known}"
    when_none = "it has nothing to fix: leave the index out"
    base: str
    by_dimension: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The same keys by their dimension, where they are of several."""

    @property
    def all_known(self) -> str:
        told = (f"{dim} {ticked(keys, limit=30)}" for dim, keys in self.by_dimension)
        return "; ".join(told) or super().all_known


@dataclass(frozen=True)
class AmbiguousKey(CompileProblem):
    code = "E0711"
    says = "`{word}` is the name of {owners}"
    mark = "which one?"
    hint = "say which: {ways}"
    word: str
    dims: tuple[str, ...]

    @property
    def owners(self) -> str:
        return " and of ".join(f"a {dim}" if dim != "operation" else "an operation" for dim in self.dims)

    @property
    def ways(self) -> str:
        return " or ".join(f"`{dim}: {self.word}`" for dim in self.dims)


@dataclass(frozen=True)
class UnknownDimension(Misspelt):
    code = "E0712"
    stands_alone = True
    declared = True
    says = "unknown dimension `{word}`"
    otherwise = "dimensions are {all_known}"


@dataclass(frozen=True)
class DimensionAbsent(CompileProblem):
    """Reducing, fixing or drawing along a dimension that a value does not have."""

    code = "E0713"
    says = "`{base}` has no `{dim}`"
    base: str
    dim: str
    dims: tuple[str, ...]

    @property
    def help(self) -> str:
        return f"it has {ticked(self.dims)}" if self.dims else "it is a single number"


@dataclass(frozen=True)
class PointNotKnown(CompileProblem):
    """An index by a dimension whose only point a search has yet to find."""

    code = "E0723"
    says = "`{dim}` of `{expr}` is `{search}`, which is not known before the run"
    mark = "has only the one that is found"
    hint = "leave it out: there is only one number of {what} in it"
    expr: str
    dim: str
    search: str

    @property
    def what(self) -> str:
        return "threads" if self.dim == "threads" else "operations per second"


@dataclass(frozen=True)
class PointNotOnRamp(CompileProblem):
    code = "E0714"
    says = "{dim} {point} is not measured"
    mark = "not on the ramp"
    hint = "the points are {listed}"
    dim: str
    point: str
    points: tuple[str, ...]

    @property
    def listed(self) -> str:
        return ", ".join(self.points)


@dataclass(frozen=True)
class NeedsOperation(CompileProblem):
    code = "E0715"
    says = "`{measure}` does not say of which operation"
    measure: str
    operations: tuple[str, ...]

    @property
    def help(self) -> str:
        known = f" (there are {ticked(self.operations)})" if len(self.operations) > 1 else ""
        return f"write `{self.measure}[{self.operations[0] if self.operations else 'read'}]`{known}"


@dataclass(frozen=True)
class NothingPlanned(CompileProblem):
    """An expression for which no experiment measures anything."""

    code = "E0716"
    says = "`{base}` is measured nowhere{where}"
    hint = "no experiment plans these points together: choose others, or add them to an experiment"
    base: str
    where: str


@dataclass(frozen=True)
class NotByPhase(CompileProblem):
    code = "E0717"
    says = "`{measure}` is not recorded by phase"
    hint = "use it over `time` instead, or leave `phase` out"
    measure: str


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class BadReduction(CompileProblem):
    code = "E0719"
    says = "`{function}` {why}"
    hint = "{instead}"
    function: str
    why: str
    instead: str


@dataclass(frozen=True)
class ConditionDimension(CompileProblem):
    code = "E0720"
    says = "this condition has {extra}, which `{operand}` does not have"
    hint = "fix or reduce {extra} in the condition"
    dims: tuple[str, ...]
    operand: str

    @property
    def extra(self) -> str:
        return ticked(self.dims)


@dataclass(frozen=True)
class NotAnExpression(CompileProblem):
    code = "E0721"
    stands_alone = True
    says = "{found} can't stand in an expression"
    hint = "an expression is made of metrics, measures, facts and numbers, such as `throughput / power`"
    found: str


@dataclass(frozen=True)
class BadIndex(CompileProblem):
    code = "E0722"
    says = "{why}"
    hint = "{instead}"
    why: str
    instead: str


@dataclass(frozen=True)
class UnknownArgument(Misspelt):
    code = "E0726"
    says = "`{kind}` takes no `{word}`"
    otherwise = "it takes {all_known}"
    when_none = "it takes an expression and the dimension after `over`, and no more"


class UnknownField(Misspelt):
    code = "E0750"
    says = "`{kind}` gives no `{word}`"
    otherwise = "it gives {all_known}"
    when_none = "it gives one number: leave out what is behind the dot"


@dataclass(frozen=True)
class FewRepeats(CompileProblem):
    """A statistic over repeats of what is measured once."""

    code = "W0720"
    severity: ClassVar[Severity] = "warning"
    says = "`{function}` takes two repeats at least, so this will be missing: there is one"
    hint = "say `repeats = 3` or more in the experiment"
    function: str


@dataclass(frozen=True)
class NeedsPhases(CompileProblem):
    """A steady state asked for where no experiment is measured in enough phases."""

    code = "E0727"
    says = "`{word}` needs an experiment of at least {fewest} phases"
    mark = "{found}"
    hint = "measure one in phases: `phases = 6 x 10 min` in place of `measure`{where}"
    word: str
    fewest: int
    most: int
    experiments: tuple[str, ...]

    @property
    def found(self) -> str:
        return "here is none with phases" if self.most < 2 else f"here are {self.most} at most"

    @property
    def where(self) -> str:
        return f", in {'one of ' if len(self.experiments) > 1 else 'experiment '}{ticked(self.experiments)}"


@dataclass(frozen=True)
class MeanOfPercentiles(CompileProblem):
    code = "W0701"
    severity: ClassVar[Severity] = "warning"
    says = "a {function} of {what} of anything"
    function: str
    over: tuple[str, ...]
    """Empty for a sum by `+`."""
    ratios: bool = False

    @property
    def what(self) -> str:
        return "ratios of percentiles is not a ratio" if self.ratios else "percentiles is not a percentile"

    @property
    def help(self) -> str:
        if not self.over:
            return "tell each by itself, or the worst by `max(... over ...)`; a difference or a ratio of two is sound"
        if "repeat" in self.over:
            return "leave `over repeat` out: a percentile is then that of all repeats, from their merged histograms"
        return f"use `max(... over {', '.join(self.over)})`, or `range` in a text: both are true of every point"


@dataclass(frozen=True)
class BareShare(CompileProblem):
    """What is shown in per cent beside a number without a unit: -5 is -500 %."""

    code = "W0707"
    severity: ClassVar[Severity] = "warning"
    says = "`{text}` is {percent:g} %, and the other side is shown in %"
    hint = "did you mean `{text} %`? Else write `{percent:g} %`"
    text: str
    percent: float

    @property
    def replacement(self) -> str:
        return f"{self.text} %"


@dataclass(frozen=True)
class TooFewPoints(CompileProblem):
    """What is read off ramps that are too short to show it."""

    code = "W0706"
    severity: ClassVar[Severity] = "warning"
    says = "{what} takes {fewest} points at least, so this will be missing: `{dim}` has {points}"
    hint = "measure more points"
    what: str
    dim: str
    fewest: int
    points: int


@dataclass(frozen=True)
class OffTheProfile(CompileProblem):
    """A point of the spec's own ramp that the profile does not measure."""

    code = "W0702"
    severity: ClassVar[Severity] = "warning"
    says = "{dim} {point} is not measured with profile `{profile}`, so this will be missing"
    hint = "the profile's points are {listed}"
    profile: str
    dim: str
    point: str
    points: tuple[str, ...]

    @property
    def listed(self) -> str:
        return ", ".join(self.points)


@dataclass(frozen=True)
class ServiceLatencyOnly(CompileProblem):
    """Latency at an offered load from a tool that only knows how long the server took."""

    code = "W0710"
    severity: ClassVar[Severity] = "warning"
    says = "`{tool}` does not count the wait behind late operations in latency at the offered load of `{experiment}`"
    mark = "coordinated omission: a stall delays what is sent, and does not show in its latency"
    hint = (
        "load with `ycsb`, which counts latency from when each operation was due, or call it service time in the report"
    )
    experiment: str
    tool: str


@dataclass(frozen=True)
class DeclaredNotSampled(CompileProblem):
    """The name of a measure that no experiment samples, where hardware declares a quantity of that name."""

    code = "W0711"
    severity: ClassVar[Severity] = "warning"
    says = "`{name}` here is the number declared for hardware {declaring}: no experiment samples it"
    mark = "declared, not measured"
    name: str
    probe: str
    hardware: tuple[str, ...]

    @property
    def declaring(self) -> str:
        return ticked(self.hardware)

    @property
    def help(self) -> str:
        meter = "name a meter, such as `power = ipmi(...)`, and " if self.probe == "power" else ""
        measured = f"to measure it, {meter}say `probes = [{self.probe} every 1 s]`"
        return f"{measured}; else declare it by a name of its own, such as `rated_{self.name}`"
