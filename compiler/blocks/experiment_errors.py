"""Mistakes in experiments: ramps, searches, phases, measured loads, and what is sampled beside them (E05xx)."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler.problems import CompileProblem, ticked


@dataclass(frozen=True)
class NoMeasuredTime(CompileProblem):
    code = "E0524"
    says = "experiment `{experiment}` does not say how long to measure"
    hint = "add `measure = 10 min`, or `phases = 6 x 10 min` for consecutive intervals of one run"
    experiment: str


@dataclass(frozen=True)
class ClosedLoopOnly(CompileProblem):
    code = "E0525"
    says = "`{tool}` runs as fast as it can: it can't offer a `target` load"
    hint = "take `target` away, and ramp the `threads`"
    tool: str


@dataclass(frozen=True)
class TwoRamps(CompileProblem):
    code = "E0526"
    says = "`threads` has {threads} points beside a `target`: an experiment ramps one of them"
    hint = "give one number of threads here, or make an experiment for each"
    threads: int


@dataclass(frozen=True)
class NotTimed(CompileProblem):
    """A db_bench benchmark that ends by itself, although experiments measure for a time."""

    code = "E0527"
    says = "db_bench ends `{benchmark}` after its records, so it can't be measured for a time"
    hint = "take one that runs for a time: {choices}"
    benchmark: str
    instead: tuple[str, ...]

    @property
    def choices(self) -> str:
        return ticked(self.instead, limit=20)


@dataclass(frozen=True)
class NoPhases(CompileProblem):
    """`instead` is a tool of the same engine that can."""

    code = "E0528"
    says = "`{tool}` tells the latencies of a whole run only, so it can't measure phases"
    tool: str
    instead: str = ""

    @property
    def help(self) -> str:
        return "say `measure = ...` instead" + (f", or take `tool = {self.instead}`" if self.instead else "")


@dataclass(frozen=True)
class TwoSizes(CompileProblem):
    """A workload without `records` used with databases of different sizes."""

    code = "E0529"
    says = "workload `{workload}` would have {records} records, by the sizes of its databases"
    hint = "say `records` in the workload, or make a workload for each database"
    workload: str
    records: str


@dataclass(frozen=True)
class NoSearch(CompileProblem):
    """`other.knee` where the other experiment does not look for a knee of that kind; `searched` is what it does."""

    code = "E0532"
    says = "experiment `{experiment}` finds no knee of `{key}`: {searched}"
    mark = "no such knee"
    experiment: str
    key: str
    searched: str

    @property
    def help(self) -> str:
        first, last = ("1", "512") if self.key == "threads" else ("1k ops/s", "100k ops/s")
        return (
            f"let it search, by `{self.key} = knee(from: {first}, factor: 2, to: {last})` in `{self.experiment}`, "
            "or write the number here"
        )


@dataclass(frozen=True)
class ManyKnees(CompileProblem):
    """A knee for each of several hardware or workloads, none of which is that of the cell that wants it."""

    code = "E0533"
    says = "experiment `{experiment}` finds a knee for each {kind}, and none for `{wanted}`"
    mark = "which one?"
    hint = "it searches with {choices}: let it search with `{wanted}` too, or with one {kind} only"
    experiment: str
    kind: str
    wanted: str
    known: tuple[str, ...]

    @property
    def choices(self) -> str:
        return ticked(self.known)


@dataclass(frozen=True)
class SearchInRandomOrder(CompileProblem):
    code = "E0534"
    says = "a search goes upwards from point to point, so it can't be in random order"
    hint = "say `grouped`, or `interleaved` to measure every hardware at each point in turn"


@dataclass(frozen=True)
class LoadOfDbBench(CompileProblem):
    code = "E0535"
    says = "`load({workload})` can't be measured: the loads of db_bench are benchmarks of their own"
    hint = "declare `workload fill from db_bench.fillrandom`, and measure `fill`"
    workload: str


@dataclass(frozen=True)
class LoadInPhases(CompileProblem):
    code = "E0536"
    says = "`{workload}` ends with its last record, so it can't be measured in phases"
    hint = "measure it in an experiment of its own, with `measure = ...`"
    workload: str


@dataclass(frozen=True)
class MeterCount(CompileProblem):
    code = "E0537"
    says = "`{meter}` names {meters}, and hardware `{hardware}` has {hosts}"
    mark = "{meters}"
    hint = "name one meter for each host, in the order of the hosts, or say `shared: true` of what they have together"
    meter: str
    hardware: str
    meter_count: int
    host_count: int

    @property
    def meters(self) -> str:
        return f"{self.meter_count} meter{'s' if self.meter_count > 1 else ''}"

    @property
    def hosts(self) -> str:
        return f"{self.host_count} host{'s' if self.host_count > 1 else ''}"


@dataclass(frozen=True)
class NoMeter(CompileProblem):
    """The probe `power` on hardware that does not say how its power is read; `declared` is what it says instead."""

    code = "E0538"
    says = "power can't be sampled on {hardware}: nothing says how it is read there"
    names: tuple[str, ...]
    declared: str

    @property
    def hardware(self) -> str:
        return ticked(self.names)

    @property
    def help(self) -> str:
        if self.declared:
            return (
                f"`power = {self.declared}` in `{self.names[0]}` is a declared number: name a meter in its place, "
                "or take the probe away and use the number"
            )
        return (
            f'add a meter to `{self.names[0]}`: `power = ipmi("bmc-[1-4].lab", user: env("BMC_USER"), '
            'password: secret("BMC_PASSWORD"))`, `rapl` or `command("...")`'
        )


@dataclass(frozen=True)
class FewThreads(CompileProblem):
    """`threads` are those of all load generators; `search`: the experiment that looks for them from these on."""

    code = "E0540"
    says = "`threads` are the total over all load generators, and {lowest} can't be split over {hosts} hosts"
    mark = "client `{client}` has {hosts} hosts"
    threads: int
    client: str
    hosts: int
    search: str = ""

    @property
    def lowest(self) -> str:
        return f"{self.threads}, where the search of `{self.search}` begins," if self.search else str(self.threads)

    @property
    def help(self) -> str:
        first = f"let `{self.search}` search from {self.hosts} threads on" if self.search else ""
        return f"{first or f'start with {self.hosts} threads or more'}, or give the client fewer hosts"


@dataclass(frozen=True)
class SmallTarget(CompileProblem):
    """As `FewThreads`, of the load that is offered."""

    code = "E0541"
    says = "`target` is the total over all load generators, and {lowest} can't be split over {hosts} hosts"
    mark = "client `{client}` has {hosts} hosts"
    target: float
    client: str
    hosts: int
    search: str = ""

    @property
    def lowest(self) -> str:
        number = f"{self.target:g} ops/s"
        return f"{number}, where the search of `{self.search}` begins," if self.search else number

    @property
    def help(self) -> str:
        first = f"let `{self.search}` search from {self.hosts} ops/s on" if self.search else ""
        return f"{first or f'offer {self.hosts} ops/s or more'}, or give the client fewer hosts"


@dataclass(frozen=True)
class NotForThisProbe(CompileProblem):
    """What a probe is to look at, said of one that looks at something else; `known` are those of each kind."""

    code = "E0558"
    says = "`{key}` is nothing that the probe `{kind}` looks at"
    key: str
    kind: str
    known: tuple[tuple[str, str], ...]

    @property
    def help(self) -> str:
        known = dict(self.known)
        if self.kind in known:
            return f"did you mean `{known[self.kind]}`?"
        owner = next(kind for kind, key in self.known if key == self.key)
        return f"take `{self.key}` away: it is for the probe `{owner}`, and `{self.kind}` looks at the whole"


@dataclass(frozen=True)
class ShortForProbe(CompileProblem):
    """A measured time that ends before a probe has anything to tell of it; both times in seconds."""

    code = "W0506"
    severity = "warning"
    says = "experiment `{experiment}` measures for {measured}, too short for `{kind} every {every}` to sample anything"
    mark = "two readings have to be inside the measured time"
    hint = "measure for {enough} or longer, or let it sample more often"
    experiment: str
    kind: str
    every_s: float
    measure_s: float

    @property
    def measured(self) -> str:
        return f"{self.measure_s:g} s"

    @property
    def every(self) -> str:
        return f"{self.every_s:g} s"

    @property
    def enough(self) -> str:
        return f"{3 * self.every_s:g} s"
