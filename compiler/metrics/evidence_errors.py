"""Expressions that ask more than the planned measurements can tell (E0727, W0401, W0402, W070x to W072x)."""

from __future__ import annotations

from math import ceil

from benchbrief.compiler.measure_catalogue import STATISTICS
from benchbrief.compiler.planning.plan_numbers import Dimension
from benchbrief.compiler.problems import CompileProblem
from benchbrief.compiler.tail_operations import FEWEST, share_beyond
from benchbrief.dsl.diagnostics.plain_amounts import duration, enough_time, ticked


class FewRepeats(CompileProblem):
    """A statistic over repeats of a single measurement."""

    code = "W0720"
    says = "`{function}` needs at least two repeats, and there is one: its value will be missing"
    hint = "write `repeats = 3` or more in the experiment"
    function: str


class NeedsPhases(CompileProblem):
    """A steady state without an experiment of enough phases."""

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
    """"" for a sum by `+`."""
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
    hint = "the profile's points are {points:joined}"
    profile: str
    dim: str
    point: str
    points: tuple[str, ...]


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
    """The tools of the engine that measure from when each operation was due."""


class OtherLengths(CompileProblem):
    """A number from measurements that differ in their warm-up or measured time, in seconds."""

    code = "W0712"
    says = "`{text}` compares measurements of different lengths: {listed}"
    mark = "the lengths alone can make a difference"
    hint = "give these experiments the same `warm_up` and `measure`; otherwise the brief says so in a footnote"
    text: str
    experiments: tuple[tuple[str, float, float, float], ...]
    """Each with its warm-up, and how long it is measured at least and at most."""

    @property
    def listed(self) -> str:
        return ", ".join(
            f"`{name}` {f'{duration(least)} to ' if least < most else ''}{duration(most)} "
            f"after {f'{duration(warm_up)} of' if warm_up else 'no'} warm-up"
            for name, warm_up, least, most in self.experiments
        )


class UnmergedRepeats(CompileProblem):
    """A percentile of a repeated point whose tool prints percentiles only."""

    code = "W0713"
    says = "`{measure}` of `{experiment}` will be missing: `{tool}` has no histograms to merge over repeats"
    mark = "each repeat has its own percentiles"
    hint = (
        "use `tool = ycsb`, whose histograms can be merged; or measure once; or reduce over the repeats, as in "
        "`max({measure} over repeat)`"
    )
    measure: str
    experiment: str
    tool: str


class SingleRun(CompileProblem):
    """An `expect` over an experiment without repeats."""

    code = "W0401"
    says = "this `expect` judges cells that are measured only once"
    mark = "a single run can't tell a change from noise"
    hint = "write `repeats = 3` or more in {names:named experiment}"
    names: tuple[str, ...]


class PassesOver(CompileProblem):
    """An `expect` over cells of which some do not tell what it judges."""

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
    """A comparison of the size of a database after workloads that write for a time, as fast as they can."""

    code = "W0716"
    says = "`{measure}` after {workloads:ticked} measures how fast it wrote"
    mark = "compared here, after a closed loop of writes for a fixed time"
    hint = (
        "compare `database.size_loaded`, the size after a workload that only reads, or offer the same load to all by "
        "`target`"
    )
    measure: str
    workloads: tuple[str, ...]


class FewBeyond(CompileProblem):
    """A percentile of so few operations that chance decides it. `rate` is in ops/s, `seconds` of each of `repeats`.

    The rate is `even`, or a mean over bursts, steps or a trace.
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
        """What makes them enough. The last is the highest percentile that has enough operations beyond it."""
        more = self.times_more * (1 - 1e-9)
        times = f"{ceil(10 * more) / 10:g} times as"
        ways = [f"measure for {enough_time(self.seconds * more)}", f"offer {ceil(self.rate * more):,} ops/s"]
        if not self.even:
            ways = [f"measure {times} long", f"offer {times} much"]
        known = [(beyond, name) for name, of in STATISTICS.items() if (beyond := share_beyond(of)) is not None]
        enough = [(beyond, name) for beyond, name in known if self.operations * beyond >= self.fewest]
        ways += [f"ask for `{min(enough)[1]}`"] if enough else []
        return f"{', '.join(ways[:-1])}, or {ways[-1]}"
