"""Mistakes in experiments: ramps, searches, phases, measured loads and probes (E05xx)."""

from __future__ import annotations

from benchbrief.compiler.problems import CompileProblem


class NoMeasuredTime(CompileProblem):
    code = "E0524"
    says = "experiment `{experiment}` has no measured time"
    hint = "add `measure = 10 min`, or `phases = 6 x 10 min` for consecutive intervals of one run"
    experiment: str


class ClosedLoopOnly(CompileProblem):
    code = "E0525"
    says = "`{tool}` runs as fast as it can: it can't offer a `target` load"
    hint = ("use `tool = {instead[0]}`, or remove `target`, and ramp `threads`", "remove `target`, and ramp `threads`")
    tool: str
    instead: tuple[str, ...] = ()
    """Tools of the database that can."""


class TwoRamps(CompileProblem):
    code = "E0526"
    says = "`threads` {ramp}, and `target` is set too: an experiment has one ramp"
    hint = "write one number of threads, or one experiment for each number"
    ramp: str
    """What the threads are: "has 3 points", "is a search"."""


class NoPhases(CompileProblem):
    """`instead` is a tool of the same engine that has phases."""

    code = "E0528"
    says = "`{tool}` reports the latencies of a whole run only, so it can't measure phases"
    hint = ("write `measure = ...` instead, or use `tool = {instead}`", "write `measure = ...` instead")
    tool: str
    instead: str = ""


class TwoSizes(CompileProblem):
    """A workload without `records` used with databases of different sizes."""

    code = "E0529"
    says = "workload `{workload}` has no `records`, and its databases give different numbers: {records}"
    hint = "set `records` in the workload, or declare a workload for each database"
    workload: str
    records: str


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


class ManyKnees(CompileProblem):
    """Several knees for several hardware groups or workloads, of which none belongs to the cell."""

    code = "E0533"
    says = "experiment `{experiment}` finds a knee for each {kind}, and none for `{wanted}`"
    mark = "which one?"
    hint = "it searches with {known:ticked}: let it search with `{wanted}` too, or with one {kind} only"
    experiment: str
    kind: str
    wanted: str
    known: tuple[str, ...]


class SearchInRandomOrder(CompileProblem):
    code = "E0534"
    says = "a search goes upwards from point to point, so it can't be in random order"
    hint = "write `grouped`, or `interleaved` to measure every hardware at each point in turn"


class NoMeasuredLoad(CompileProblem):
    code = "E0535"
    says = "`load({workload})` can't be measured: the loads of {tool} are workloads of their own"
    hint = "declare `workload fill from {tool}.{fill}`, and measure `fill`"
    workload: str
    tool: str
    fill: str


class LoadInPhases(CompileProblem):
    code = "E0536"
    says = "`{workload}` ends with its last record, so it can't be measured in phases"
    hint = "measure it in an experiment of its own, with `measure = ...`"
    workload: str


class MeterCount(CompileProblem):
    code = "E0537"
    says = "`{meter}` names {meter_count:plural meter}, and hardware `{hardware}` has {host_count:plural host}"
    mark = "{meter_count:plural meter}"
    hint = "name one meter for each host, in the order of the hosts; for a meter of all hosts, write `shared: true`"
    meter: str
    hardware: str
    meter_count: int
    host_count: int


class NoMeter(CompileProblem):
    """The probe `power` on hardware without a power meter. `declared` is the fact that it has instead."""

    code = "E0538"
    says = "the probe `power` needs a power meter, and {names:ticked} {have} none"
    hint = (
        (
            "`power = {declared}` in `{names[0]}` is a declared number: write a meter in its place, or remove the "
            "probe and compute with the number"
        ),
        (
            'add a meter to `{names[0]}`: `power = ipmi("bmc-[1-4].lab", user: env("BMC_USER"), '
            'password: secret("BMC_PASSWORD"))`, `rapl` or `command("...")`'
        ),
    )
    names: tuple[str, ...]
    declared: str

    @property
    def have(self) -> str:
        return "have" if len(self.names) > 1 else "has"


class FewThreads(CompileProblem):
    """Fewer threads than hosts. `threads` are for all load generators; `search` is the experiment that starts at
    them."""

    code = "E0540"
    says = (
        (
            "`threads` are the total over all load generators, and {threads}, where the search of `{search}` begins, "
            "can't be split over {hosts} hosts"
        ),
        "`threads` are the total over all load generators, and {threads} can't be split over {hosts} hosts",
    )
    mark = "client `{client}` has {hosts} hosts"
    hint = (
        "start the search of `{search}` at {hosts} threads, or give the client fewer hosts",
        "start with {hosts} threads or more, or give the client fewer hosts",
    )
    threads: int
    client: str
    hosts: int
    search: str = ""


class SmallTarget(CompileProblem):
    """A target too small to split over the hosts, as `FewThreads` for threads."""

    code = "E0541"
    says = (
        (
            "`target` is the total over all load generators, and {target:g} ops/s, where the search of `{search}` "
            "begins, can't be split over {hosts} hosts"
        ),
        "`target` is the total over all load generators, and {target:g} ops/s can't be split over {hosts} hosts",
    )
    mark = "client `{client}` has {hosts} hosts"
    hint = (
        "start the search of `{search}` at {hosts} ops/s, or give the client fewer hosts",
        "offer {hosts} ops/s or more, or give the client fewer hosts",
    )
    target: float
    client: str
    hosts: int
    search: str = ""


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


class NoProbeOfEngine(CompileProblem):
    """A probe that asks the database, which an engine has no answer for."""

    code = "E0559"
    says = "the probe `{probe}` can't read {engine}"
    mark = "it reads databases of other engines"
    hint = ("use {probes:ticked} for {engine}", "remove it from `probes`")
    probe: str
    engine: str
    probes: tuple[str, ...]


class ShortForProbe(CompileProblem):
    """A measured time in which a probe reads at most once. Times are in seconds."""

    code = "W0506"
    says = (
        "experiment `{experiment}` measures for {measure_s:g} s: `{kind} every {every_s:g} s` reads at most once in "
        "that time"
    )
    mark = "{consequence}"
    hint = "measure for {enough} or longer, or write a shorter `every`"
    experiment: str
    kind: str
    every_s: float
    measure_s: float
    consequence: str

    @property
    def enough(self) -> str:
        return f"{3 * self.every_s:g} s"


class ClientsUnfit(CompileProblem):
    """A list of clients that is not one for each hardware group, or whose clients have different tools (`unlike`)."""

    code = "E0599"
    says = (
        "the clients {unlike:ticked} have different tools",
        "`client` names {clients} clients, and `hardware` {groups:plural group}",
    )
    clients: int
    groups: int
    unlike: tuple[str, ...] = ()

    @property
    def help(self) -> str:
        if self.unlike:
            return "write the same `tool` in both: numbers of different load generators do not compare"
        return "name one client for each group, in the order of `hardware`, or one for all"
