"""Mistakes in experiments: ramps, searches, phases, measured loads and probes (E05xx)."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler.plain_amounts import counted
from benchbrief.compiler.problems import CompileProblem, ticked


@dataclass(frozen=True)
class NoMeasuredTime(CompileProblem):
    code = "E0524"
    says = "experiment `{experiment}` has no measured time"
    hint = "add `measure = 10 min`, or `phases = 6 x 10 min` for consecutive intervals of one run"
    experiment: str


@dataclass(frozen=True)
class ClosedLoopOnly(CompileProblem):
    code = "E0525"
    says = "`{tool}` runs as fast as it can: it can't offer a `target` load"
    tool: str
    instead: tuple[str, ...] = ()
    """Tools of the database that can."""

    @property
    def help(self) -> str:
        use = f"use `tool = {self.instead[0]}`, or " if self.instead else ""
        return f"{use}remove `target`, and ramp `threads`"


@dataclass(frozen=True)
class TwoRamps(CompileProblem):
    code = "E0526"
    says = "`threads` {ramp}, and `target` is set too: an experiment has one ramp"
    hint = "write one number of threads, or one experiment for each number"
    ramp: str
    """What the threads are: "has 3 points", "is a search"."""


@dataclass(frozen=True)
class NotTimed(CompileProblem):
    """A workload that ends by itself, while experiments measure for a time."""

    code = "E0527"
    says = "`{benchmark}` of {tool} ends after its last record, so it can't be measured for a fixed time"
    hint = "use one that runs for a fixed time: {choices}"
    benchmark: str
    instead: tuple[str, ...]
    tool: str

    @property
    def choices(self) -> str:
        return ticked(self.instead, limit=20)


@dataclass(frozen=True)
class NoPhases(CompileProblem):
    """`instead` is a tool of the same engine that has phases."""

    code = "E0528"
    says = "`{tool}` reports the latencies of a whole run only, so it can't measure phases"
    tool: str
    instead: str = ""

    @property
    def help(self) -> str:
        return "write `measure = ...` instead" + (f", or use `tool = {self.instead}`" if self.instead else "")


@dataclass(frozen=True)
class TwoSizes(CompileProblem):
    """A workload without `records` used with databases of different sizes."""

    code = "E0529"
    says = "workload `{workload}` has no `records`, and its databases give different numbers: {records}"
    hint = "set `records` in the workload, or declare a workload for each database"
    workload: str
    records: str


@dataclass(frozen=True)
class NoSearch(CompileProblem):
    """`other.knee` where the other experiment looks for no such knee. `searched` is what it looks for."""

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
            f"let it search with `{self.key} = knee(from: {first}, factor: 2, to: {last})` in `{self.experiment}`, "
            "or write the number here"
        )


@dataclass(frozen=True)
class ManyKnees(CompileProblem):
    """Several knees for several hardware groups or workloads, of which none belongs to the cell."""

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
    hint = "write `grouped`, or `interleaved` to measure every hardware at each point in turn"


@dataclass(frozen=True)
class NoMeasuredLoad(CompileProblem):
    code = "E0535"
    says = "`load({workload})` can't be measured: the loads of {tool} are workloads of their own"
    hint = "declare `workload fill from {tool}.{fill}`, and measure `fill`"
    workload: str
    tool: str
    fill: str


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
    hint = "name one meter for each host, in the order of the hosts; for a meter of all hosts, write `shared: true`"
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
    """The probe `power` on hardware without a power meter. `declared` is the fact that it has instead."""

    code = "E0538"
    says = "the probe `power` needs a power meter, and {hardware} {have} none"
    names: tuple[str, ...]
    declared: str

    @property
    def hardware(self) -> str:
        return ticked(self.names)

    @property
    def have(self) -> str:
        return "have" if len(self.names) > 1 else "has"

    @property
    def help(self) -> str:
        if self.declared:
            return (
                f"`power = {self.declared}` in `{self.names[0]}` is a declared number: write a meter in its place, "
                "or remove the probe and compute with the number"
            )
        return (
            f'add a meter to `{self.names[0]}`: `power = ipmi("bmc-[1-4].lab", user: env("BMC_USER"), '
            'password: secret("BMC_PASSWORD"))`, `rapl` or `command("...")`'
        )


@dataclass(frozen=True)
class FewThreads(CompileProblem):
    """Fewer threads than hosts. `threads` are for all load generators; `search` is the experiment that starts at
    them."""

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
        first = f"start the search of `{self.search}` at {self.hosts} threads" if self.search else ""
        return f"{first or f'start with {self.hosts} threads or more'}, or give the client fewer hosts"


@dataclass(frozen=True)
class SmallTarget(CompileProblem):
    """A target too small to split over the hosts, as `FewThreads` for threads."""

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
        first = f"start the search of `{self.search}` at {self.hosts} ops/s" if self.search else ""
        return f"{first or f'offer {self.hosts} ops/s or more'}, or give the client fewer hosts"


@dataclass(frozen=True)
class NotForThisProbe(CompileProblem):
    """An `on` that belongs to another probe. `known` are the probes with one, by kind."""

    code = "E0558"
    says = "the probe `{kind}` has no `{key}`"
    key: str
    kind: str
    known: tuple[tuple[str, str], ...]

    @property
    def help(self) -> str:
        known = dict(self.known)
        if self.kind in known:
            return f"did you mean `{known[self.kind]}`?"
        owner = next(kind for kind, key in self.known if key == self.key)
        return f"remove it: `{self.key}` is for the probe `{owner}`"


@dataclass(frozen=True)
class NoProbeOfEngine(CompileProblem):
    """A probe that asks the database, which an engine has no answer for."""

    code = "E0559"
    says = "the probe `{probe}` can't read {engine}"
    mark = "it reads databases of other engines"
    probe: str
    engine: str
    probes: tuple[str, ...]

    @property
    def help(self) -> str:
        return f"use {ticked(self.probes)} for {self.engine}" if self.probes else "remove it from `probes`"


@dataclass(frozen=True)
class ShortForProbe(CompileProblem):
    """A measured time in which a probe reads at most once. Times are in seconds."""

    code = "W0506"
    severity = "warning"
    says = "experiment `{experiment}` measures for {measured}: `{kind} every {every}` reads at most once in that time"
    mark = "{consequence}"
    hint = "measure for {enough} or longer, or write a shorter `every`"
    experiment: str
    kind: str
    every_s: float
    measure_s: float
    consequence: str

    @property
    def measured(self) -> str:
        return f"{self.measure_s:g} s"

    @property
    def every(self) -> str:
        return f"{self.every_s:g} s"

    @property
    def enough(self) -> str:
        return f"{3 * self.every_s:g} s"


@dataclass(frozen=True)
class ClientsUnfit(CompileProblem):
    """A list of clients that is not one for each hardware group, or whose clients have different tools (`unlike`)."""

    code = "E0599"
    says = "{what}"
    clients: int
    groups: int
    unlike: tuple[str, ...] = ()

    @property
    def what(self) -> str:
        if self.unlike:
            return f"the clients {ticked(self.unlike)} have different tools"
        return f"`client` names {self.clients} clients, and `hardware` {counted(self.groups, 'group', 'groups')}"

    @property
    def help(self) -> str:
        if self.unlike:
            return "write the same `tool` in both: numbers of different load generators do not compare"
        return "name one client for each group, in the order of `hardware`, or one for all"
