"""Mistakes in metrics and conditions (E070x to E072x, W07xx).

`compiler/briefs/report_errors.py` has the mistakes in reports."""

from __future__ import annotations

import re
from math import ceil

from benchbrief.compiler.extension_samples import sample_meter
from benchbrief.compiler.measure_catalogue import STATISTICS
from benchbrief.compiler.problems import Circle, CompileProblem, Misspelt
from benchbrief.dsl.diagnostics.diagnostic import Note
from benchbrief.dsl.diagnostics.plain_amounts import duration, enough_time, ticked
from benchbrief.dsl.source import Span
from benchbrief.model.plan import DIMENSIONS, Dimension
from benchbrief.model.precision import FEWEST, share_beyond
from benchbrief.model.units import DIMENSIONLESS, Unit, base_unit, divide, parse_unit
from benchbrief.model.units import Dimension as UnitDimension


class FewRepeats(CompileProblem):
    """A statistic over the repeats of a measurement that is made only once."""

    code = "W0720"
    says = "`{function}` needs at least two repeats, and there is one: its value will be missing"
    hint = "write `repeats = 3` or more in the experiment"
    function: str


class NeedsPhases(CompileProblem):
    """A steady state in a spec without an experiment that has enough phases."""

    code = "E0727"
    says = "`{word}` needs an experiment of at least {fewest} phases"
    mark = "{found}"
    hint = "write `phases = 6 x 10 min` in place of `measure`{where}"
    word: str
    fewest: int
    most: int
    experiments: tuple[str, ...]

    @property
    def found(self) -> str:
        return "no experiment here has phases" if self.most < 2 else f"the experiments here have at most {self.most}"

    @property
    def where(self) -> str:
        return f" in {'one of ' if len(self.experiments) > 1 else 'experiment '}{ticked(self.experiments)}"


class MeanOfPercentiles(CompileProblem):
    code = "W0701"
    says = "a {function} of {what} of anything"
    function: str
    over: tuple[str, ...]
    """The reduced dimensions. It is empty for a sum by `+`."""
    ratios: bool = False

    @property
    def what(self) -> str:
        return "ratios of percentiles is not a ratio" if self.ratios else "percentiles is not a percentile"

    @property
    def help(self) -> str:
        if not self.over:
            return "show each one, or the worst with `max(... over ...)`; a difference or a ratio of two is valid"
        if "repeat" in self.over:
            return "remove `over repeat`: the percentile is then computed over all repeats, from merged histograms"
        return f"use `max(... over {', '.join(self.over)})`, or `range` in a text: both hold for every point"


class MeanOfMeans(CompileProblem):
    """A mean of mean latencies that come from different numbers of operations. `weight` is the rate of these
    operations, and `when` is the text of a condition."""

    code = "W0719"
    says = "`{text}` counts each mean alike, however few operations it is of"
    mark = "the mean latency of all operations is another number"
    text: str
    operand: str
    weight: str
    over: tuple[str, ...]
    when: str

    @property
    def help(self) -> str:
        if "repeat" in self.over:
            return "leave `repeat` out: a mean latency is that of all operations of all repeats"
        of = f"over {', '.join(self.over)}{self.when}"
        return f"weigh each by its operations: `sum({self.operand} * {self.weight} {of}) / sum({self.weight} {of})`"


class TooFewPoints(CompileProblem):
    """A function over ramps that are too short for it."""

    code = "W0706"
    says = "{what} needs at least {fewest} points, and `{dim}` has {points}: its value will be missing"
    hint = "measure more points"
    what: str
    dim: str
    fewest: int
    points: int


class OffTheProfile(CompileProblem):
    """A point of the spec's ramp that the profile does not measure."""

    code = "W0702"
    says = "{dim} {point} is not measured with profile `{profile}`, so this value will be missing"
    hint = ("the profile's {kind} are {points:joined}", "the profile does not vary `{dim}`")
    profile: str
    dim: str
    point: str
    points: tuple[str, ...]

    @property
    def kind(self) -> str:
        return "points" if self.dim in DIMENSIONS else "levels"


class ServiceLatencyOnly(CompileProblem):
    """Latency at an offered load from a tool that knows only the server's time."""

    code = "W0710"
    says = (
        "at the offered load of `{experiment}`, the latency of `{tool}` leaves out the time that late operations wait"
    )
    mark = "coordinated omission: a stall delays the next operations, and their latency does not show it"
    hint = (
        (
            "use a tool that measures latency from when each operation was due ({others:ticked}), or call it service "
            "time in the report"
        ),
        "call it service time in the report",
    )
    experiment: str
    tool: str
    others: tuple[str, ...]
    """The engine's tools that measure latency from the time when each operation was due."""


class OtherLengths(CompileProblem):
    """A number from measurements that differ in their warm-up or measured time, in seconds."""

    code = "W0712"
    says = "`{text}` compares measurements of different lengths: {listed}"
    mark = "the lengths alone can make a difference"
    hint = "give these experiments the same `warm_up` and `measure`; otherwise the brief says so in a footnote"
    text: str
    experiments: tuple[tuple[str, float, float, float], ...]
    """The experiments, each with its warm-up, and the shortest and the longest measured time."""

    @property
    def listed(self) -> str:
        return ", ".join(
            f"`{name}` {f'{duration(least)} to ' if least < most else ''}{duration(most)} "
            f"after {f'{duration(warm_up)} of' if warm_up else 'no'} warm-up"
            for name, warm_up, least, most in self.experiments
        )


class UnmergedRepeats(CompileProblem):
    """A percentile of a repeated point, measured by a tool that prints percentiles only."""

    code = "W0713"
    says = "`{measure}` of `{experiment}` will be missing: `{tool}` has no histograms to merge over repeats"
    mark = "each repeat has its own percentiles"
    hint = (
        "{remedy}; or measure once; or reduce over the repeats, as in `max({measure} over repeat)`",
        "measure once; or reduce over the repeats, as in `max({measure} over repeat)`",
    )
    measure: str
    experiment: str
    tool: str
    remedy: str = ""


class SingleRun(CompileProblem):
    """An `expect` over an experiment without repeats."""

    code = "W0401"
    says = "this `expect` judges cells that are measured only once"
    mark = "a single run can't tell a change from noise"
    hint = "write `repeats = 3` or more in {names:named experiment}"
    names: tuple[str, ...]


class PassesOver(CompileProblem):
    """An `expect` that leaves some cells unjudged, because they lack its measure."""

    code = "W0402"
    says = "this `expect` does not judge {dim} {missing_keys:ticked}"
    mark = "`{measure}` is not measured there"
    hint = "name what it judges, as in `{measure_at}`{or_probe}"
    measure: str
    dim: Dimension
    missing_keys: tuple[str, ...]
    judged_keys: tuple[str, ...]
    probe: str = ""

    @property
    def measure_at(self) -> str:
        name, _, index = self.measure.partition("[")
        return f"{name}[{self.judged_keys[0]}{', ' if index else ']'}{index}"

    @property
    def or_probe(self) -> str:
        return f", or sample `{self.probe}` there too" if self.probe else ""


class SizeOfTime(CompileProblem):
    """A comparison of database sizes after workloads that write as fast as they can for a fixed time."""

    code = "W0716"
    says = "`{measure}` after {workloads:ticked} measures how fast it wrote"
    mark = "compared here, after a closed loop of writes for a fixed time"
    hint = (
        "compare `database.size_loaded`, the size after a workload that only reads, or offer the same load to all by "
        "`target`"
    )
    measure: str
    workloads: tuple[str, ...]


class RaggedPoints(CompileProblem):
    """A reduction over factors whose combinations are not all measured."""

    code = "W0718"
    says = "`{text}` goes over different points: not all combinations of {dims:ticked} are measured"
    hint = "compare like with like, as in `[{index}]`; otherwise the brief says so in a footnote"
    text: str
    dims: tuple[str, ...]
    index: str


class FewBeyond(CompileProblem):
    """A percentile of so few operations that its value depends on chance.

    `rate` is in ops/s, and `seconds` is the length of each of the `repeats`. `even` means that the rate is constant,
    and not a mean over bursts, steps or a trace.
    """

    code = "W0709"
    says = "at {offered}, `{measure}` of `{workload}` has {beyond} beyond it: chance decides its value"
    mark = "{share} of the operations in {time} are {operations:,.0f}"
    hint = "{ways}: {fewest} operations beyond it are needed"
    measure: str
    workload: str
    statistic: str
    rate: float
    of_operations: float
    seconds: float
    repeats: int = 1
    even: bool = True
    fewest: int = FEWEST

    @property
    def operations(self) -> float:
        return self.rate * self.of_operations * self.seconds * self.repeats

    @property
    def times_more(self) -> float:
        return self.fewest / (self.operations * (share_beyond(self.statistic) or 1.0))

    @property
    def beyond(self) -> str:
        found = self.operations * (share_beyond(self.statistic) or 1.0)
        return "less than one operation" if found < 1 else "1 operation" if found < 2 else f"{int(found)} operations"

    @property
    def share(self) -> str:
        return f"{100 * self.of_operations:.3g} %"

    @property
    def time(self) -> str:
        return f"{self.repeats} x {duration(self.seconds)}" if self.repeats > 1 else duration(self.seconds)

    @property
    def offered(self) -> str:
        return f"{self.rate:,g} ops/s" if self.even else f"{self.rate:,.3g} ops/s on average"

    @property
    def ways(self) -> str:
        """A phrase that lists the ways to get enough operations. The last way is to ask for the highest percentile with
        enough operations beyond it, if there is one."""
        more = self.times_more * (1 - 1e-9)
        times = f"{ceil(10 * more) / 10:g} times as"
        ways = [f"measure for {enough_time(self.seconds * more)}", f"offer {ceil(self.rate * more):,} ops/s"]
        if not self.even:
            ways = [f"measure {times} long", f"offer {times} much"]
        known = [(beyond, name) for name, of in STATISTICS.items() if (beyond := share_beyond(of)) is not None]
        enough = [(beyond, name) for beyond, name in known if self.operations * beyond >= self.fewest]
        ways += [f"ask for `{min(enough)[1]}`"] if enough else []
        return f"{', '.join(ways[:-1])}, or {ways[-1]}"


_NUMERAL = re.compile(r"-?[0-9][0-9_.]*[kMGT]?")


def unit_words(unit: Unit | UnitDimension | None) -> str:
    """Describe the unit or the kind of a term: "in `ops/s`", "a plain number", "a condition". The term of a single
    dimension is described by the dimension's base unit."""
    if unit is None:
        return "a condition"
    dimension, text = (unit.dimension, unit.text) if isinstance(unit, Unit) else (unit, base_unit(unit))
    return "a plain number" if dimension == DIMENSIONLESS else f"in `{text}`"


class UnitMismatch(CompileProblem):
    """An addition or comparison of values of different kinds. The notes give the kind of each side."""

    code = "E0706"
    stands_alone = True
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

    @property
    def help(self) -> str:
        sides = (self.left, self.left_span, self.right), (self.right, self.right_span, self.left)
        for bare, span, other in sides:
            if bare and other and bare.dimension == DIMENSIONLESS and _NUMERAL.fullmatch(span.text):
                units = ("ms", "s") if other.text == "s" else (other.text,)
                ways = " or ".join(f"`{span.text} {unit}`" for unit in units)
                return f"write the number with its unit, as in {ways}"
        return "write both sides in units of the same kind; benchbrief converts such units"


class WrongUnit(CompileProblem):
    """A metric whose expression does not have the declared unit. `parts` are the units of its operands."""

    code = "E0707"
    stands_alone = True
    says = "metric `{name}` is declared in `{declared}`, but its expression is {found}"
    mark = "{found}"
    name: str
    declared: str
    actual: UnitDimension
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
            return f"remove `in {self.declared}`, write `in %`, or correct the expression"
        surplus = divide(self.actual, parse_unit(self.declared).dimension)
        if surplus == parse_unit("op").dimension:  # a rate of operations times the size of an operation
            return f"divide it by `1 op`: a size is not one for each operation; or write `in {base_unit(self.actual)}`"
        return f"write `in {base_unit(self.actual)}`, or correct the expression"


class WrongKind(CompileProblem):
    """A condition where a number is needed, or a number where a condition is needed."""

    code = "E0708"
    stands_alone = True
    says = "expected {wanted}, found {found}"
    hint = "{instead}"
    wanted: str
    found: str
    instead: str


class BareShare(CompileProblem):
    """A number without a unit that is combined with a percentage. An author who writes -5 probably means -5 %, but the
    number means -500 %."""

    code = "W0707"
    says = "`{text}` is {percent:g} %, and the other side is shown in %"
    hint = "did you mean `{text} %`? Otherwise write `{percent:g} %`"
    mend = "{text} %"
    text: str
    percent: float


_OF_PERCENTILES = re.compile(r"p[0-9]{2,}|percentiles?|quantiles?")
_PERCENTILE = re.compile(r"p[0-9]{2,4}")


class UnknownQuantity(Misspelt):
    """A name in an expression that does not name anything."""

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
    """A percentile that is not computed. No other percentile is suggested, since that would be a different number."""

    otherwise = "there are {all_known}"

    @property
    def replacement(self) -> None:
        return None


class NotANumber(CompileProblem):
    """A name that is not the name of a number, but of a hardware group, a text or a family of measures."""

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
    """A word in an index that is not a key."""

    code = "E0710"
    says = "`{base}` has {nothing} `{word}`"
    otherwise = "it has {all_known}"
    when_none = "it has one value only: leave the index out"
    base: str
    by_dimension: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The keys of each dimension, if several dimensions have keys."""

    @property
    def nothing(self) -> str:
        return "nothing called" if self.kind == "key" else f"no {self.kind}"

    @property
    def all_known(self) -> str:
        dimensions = (f"{dim} {ticked(keys, limit=30)}" for dim, keys in self.by_dimension)
        return "; ".join(dimensions) or super().all_known


def _owner(dim: str) -> str:
    if dim not in DIMENSIONS:
        return f"a level of `{dim}`"
    return "an operation" if dim == "operation" else f"a {dim}"


class AmbiguousKey(CompileProblem):
    code = "E0711"
    says = "`{word}` is the name of {owners}"
    mark = "which one?"
    hint = "write {ways}"
    word: str
    dims: tuple[str, ...]

    @property
    def owners(self) -> str:
        return " and of ".join(_owner(dim) for dim in self.dims)

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
    """A reduction, an index or a drawing along a dimension that the value lacks."""

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
    """A key of a dimension whose only point has not been found yet."""

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
    mark = "not {among}"
    hint = "the {kind} are {points:joined}"
    dim: str
    point: str
    points: tuple[str, ...]

    @property
    def among(self) -> str:
        return "on the ramp" if self.dim in DIMENSIONS else "one of the levels"

    @property
    def kind(self) -> str:
        return "points" if self.dim in DIMENSIONS else "levels"


class NothingPlanned(CompileProblem):
    """An expression whose values no experiment measures."""

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


class UnknownFunctionArgument(Misspelt):
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
        return f", and a meter such as `power = {sample_meter()}` to the hardware" if self.probe == "power" else ""


class NeedsTool(CompileProblem):
    """A measure that only another load generator reports."""

    code = "E0724"
    says = "`{measure}` needs the load generator {tool}"
    mark = "no experiment uses {tool}"
    hint = "measure a workload of {tool}, or remove `{measure}`: the load generator here is {tools:ticked}"
    measure: str
    tool: str
    tools: tuple[str, ...]


class NeedsEvent(CompileProblem):
    """A measure of the effects of events in a spec whose experiments have no events."""

    code = "E0598"
    says = "`{measure}` needs an event"
    mark = "no experiment has one"
    hint = 'add `at 5 min "What happens" {{ command("...", on: first) }}` to {experiments:named experiment}'
    measure: str
    experiments: tuple[str, ...]


class NeedsPromise(CompileProblem):
    """A measure that only a search for a promise has, used in a spec without such a search."""

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
    """A measure that no experiment samples. Hardware declares a quantity with the same name."""

    code = "W0711"
    says = "`{name}` is the declared number of hardware {hardware:ticked} here: no experiment samples `{name}`"
    mark = "declared, not measured"
    name: str
    probe: str
    hardware: tuple[str, ...]

    @property
    def help(self) -> str:
        meter = f" and a meter, such as `power = {sample_meter()}`" if self.probe == "power" else ""
        return f"add `probes = [{self.probe} every 1 s]`{meter}; or call the declared number `rated_{self.name}`"
