"""Mistakes in what blocks hold and how they fit together (E05xx)."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler.errors import Again, CompileProblem, Misspelt, article, ticked
from benchbrief.dsl.suggest import did_you_mean


@dataclass(frozen=True)
class UnknownAttribute(Misspelt):
    code = "E0501"
    stands_alone = True
    says = "unknown attribute `{word}` in {a_kind}"
    mark = "not an attribute"
    otherwise = "it may hold {all_known}"


@dataclass(frozen=True)
class MissingAttribute(CompileProblem):
    code = "E0502"
    says = "{kind} `{name}` does not say `{key}`"
    hint = "add `{key} = ...`: {wanted}"
    kind: str
    name: str
    key: str
    wanted: str


@dataclass(frozen=True)
class DuplicateAttribute(Again):
    code = "E0503"
    stands_alone = True
    says = "`{key}` is said twice"
    remark = "said before here"
    hint = "take one of them away"
    key: str


@dataclass(frozen=True)
class WrongType(CompileProblem):
    code = "E0504"
    stands_alone = True
    says = "`{key}` can't be {found}"
    hint = "`{key}` is {wanted}"
    key: str
    wanted: str
    found: str


@dataclass(frozen=True)
class ExclusiveAttributes(Again):
    code = "E0505"
    says = "`{key}` can't be said beside `{other}`"
    remark = "`{other}` is said here"
    hint = "keep the one that is meant"
    key: str
    other: str


@dataclass(frozen=True)
class NotForThis(CompileProblem):
    """An attribute that belongs to another engine or family of workloads."""

    code = "E0506"
    says = "`{key}` is for {only}, and this is {actual}"
    hint = "take `{key}` away"
    key: str
    only: str
    actual: str


@dataclass(frozen=True)
class MisplacedBlock(Misspelt):
    """A block where it has no place; `kind` is the block around it, "" for the spec itself."""

    code = "E0507"
    stands_alone = True
    says = "{where} can't hold {a_block}"
    otherwise = "it may hold {all_known}"
    when_none = "it holds attributes only"

    @property
    def where(self) -> str:
        return f"{self.a_kind} block" if self.kind else "a spec"

    @property
    def a_block(self) -> str:
        return f"a block `{self.word}`"


@dataclass(frozen=True)
class WorkloadMismatch(CompileProblem):
    """A db_bench benchmark for MongoDB, or a YCSB workload for RocksDB."""

    code = "E0508"
    says = "workload `{workload}` is from {family}, and database `{database}` is {engine}"
    workload: str
    family: str
    database: str
    engine: str

    @property
    def help(self) -> str:
        if self.engine == "rocksdb":
            return "RocksDB is loaded by db_bench: `workload ... from db_bench.readrandom`"
        return "MongoDB is loaded by YCSB: `workload ... from ycsb.a`"


@dataclass(frozen=True)
class ToolMismatch(CompileProblem):
    code = "E0509"
    says = "{engine} can't be loaded by `{tool}`"
    hint = "it is loaded by {tools}"
    tool: str
    engine: str
    known: tuple[str, ...]

    @property
    def tools(self) -> str:
        return ticked(self.known)


@dataclass(frozen=True)
class NotReachable(CompileProblem):
    """A MongoDB database that says neither where it is nor that it is the built-in one."""

    code = "E0510"
    says = "database `{name}` does not say how it is reached"
    hint = (
        'add `uri = "mongodb://{{hosts}}/ycsb"` for a running server, or `server = embedded` for the built-in stand-in'
    )
    name: str


@dataclass(frozen=True)
class HostConflict(Again):
    """One host with two ways to log in."""

    code = "E0511"
    says = "host `{host}` has other ssh settings in another place"
    remark = "the other place"
    hint = "say the same `ssh {{ ... }}` in both, or put the settings into ~/.ssh/config"
    host: str


@dataclass(frozen=True)
class SameMachine(Again):
    """One machine under two names: its cells would not wait for each other."""

    code = "E0530"
    says = "`{host}` and `{other}` are one machine"
    remark = "`{other}` is named here"
    hint = "name it in one way everywhere, so that what runs on it is run in turn"
    host: str
    other: str


@dataclass(frozen=True)
class UnknownHole(Misspelt):
    """A hole in a path or a URI that no fact of the hardware fills."""

    code = "E0512"
    says = "`{word}` can't be filled in: hardware `{kind}` does not declare it"
    mark = "nothing to put here"
    otherwise = 'declare it in the hardware (`{word} = "..."`), or use one of {all_known}'


@dataclass(frozen=True)
class BadHole(CompileProblem):
    """A hole in a path or URI that is more than a name or a reference."""

    code = "E0513"
    says = "this hole can't stand in `{key}`: {why}"
    key: str
    why: str

    @property
    def help(self) -> str:
        if self.key == "uri":
            return "holes here are facts of the hardware, `{hosts}`, `{env(NAME)}` or `{secret(NAME)}`"
        return "holes here are facts of the hardware, such as `{path}` or `{mount}`"


@dataclass(frozen=True)
class HoleNotAllowed(CompileProblem):
    code = "E0514"
    stands_alone = True
    says = "`{key}` is a plain text: it can't have holes"
    hint = "write the text out; a brace itself is written `{{{{`"
    key: str


@dataclass(frozen=True)
class WorkloadWithoutBase(CompileProblem):
    code = "E0515"
    says = "workload `{name}` does not say what it is from"
    hint = "write `workload {name} from ycsb.a`, `from db_bench.readrandom`, or `from` another workload"
    name: str


@dataclass(frozen=True)
class OneHostOnly(CompileProblem):
    code = "E0516"
    says = "hardware `{hardware}` has {hosts} hosts, and RocksDB runs on one"
    hint = "declare a hardware group of one host for each"
    hardware: str
    hosts: int


@dataclass(frozen=True)
class ClientNotWanted(CompileProblem):
    code = "E0517"
    says = "database `{database}` is RocksDB, a library: db_bench runs on the hosts under test, not on a client"
    hint = 'take `client` away; where db_bench is goes into the database: `tool = db_bench("/path")`'
    database: str


@dataclass(frozen=True)
class CannotInherit(CompileProblem):
    code = "E0518"
    says = "{a_kind} can't be from this"
    kind: str

    @property
    def a_kind(self) -> str:
        return article(self.kind)

    @property
    def help(self) -> str:
        if self.kind == "profile":
            return "a profile stands alone: repeat its overrides"
        return f"after `from` stands the name of another {self.kind}"


@dataclass(frozen=True)
class CannotOverride(CompileProblem):
    code = "E0519"
    says = "a profile can't override `{kind}`"
    kind: str
    allowed: tuple[str, ...]

    @property
    def replacement(self) -> str | None:
        return did_you_mean(self.kind, self.allowed)

    @property
    def help(self) -> str:
        return f"did you mean `{self.replacement}`?" if self.replacement else f"it can override {self.choices}"

    @property
    def choices(self) -> str:
        return ticked(self.allowed)


@dataclass(frozen=True)
class UnnamedBlock(CompileProblem):
    code = "E0520"
    says = "this {kind} has no name"
    hint = "write `{kind} some_name {{ ... }}`"
    kind: str


@dataclass(frozen=True)
class StrayLabel(CompileProblem):
    code = "E0521"
    stands_alone = True
    says = "`{key}` takes no label"
    hint = "take the quoted text before the `=` away"
    key: str


@dataclass(frozen=True)
class UnknownWord(Misspelt):
    """A word that is none of an attribute's choices; `kind` is the attribute."""

    code = "E0522"
    stands_alone = True
    says = "`{kind}` can't be `{word}`"
    otherwise = "it is one of {all_known}"


@dataclass(frozen=True)
class BadArgument(CompileProblem):
    """An argument that a call does not take, or lacks."""

    code = "E0523"
    says = "`{call}` {why}"
    hint = "write {usage}"
    call: str
    why: str
    usage: str


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
class UnknownArgument(Misspelt):
    """A named argument that a call (`kind`) does not take."""

    code = "E0531"
    stands_alone = True
    says = "`{kind}` takes no `{word}:`"
    mark = "not an argument of `{kind}`"
    otherwise = "it takes {all_known}"


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
class OptionInUri(Again):
    """An option of the connection in the `options` block and in the uri; `name` is the uri's word for it."""

    code = "E0542"
    says = "`{key}` is said twice: the uri has `{name}` too"
    remark = "`{name}` is in this uri"
    hint = "keep one of them"
    key: str
    name: str


@dataclass(frozen=True)
class UriWord(CompileProblem):
    """An option by the connection string's word for it."""

    code = "E0543"
    says = "`{word}` is a connection string's word, and is called `{meant}` here"
    hint = "write `{meant}`, or put `{word}` into the uri"
    word: str
    meant: str

    @property
    def replacement(self) -> str:
        return self.meant


@dataclass(frozen=True)
class ReservedFlag(CompileProblem):
    """An option of a RocksDB database that the driver sets itself; `instead` is where a spec says it, if it can."""

    code = "E0544"
    says = "`{flag}` can't be an option of a database: benchbrief sets it itself"
    flag: str
    instead: str

    @property
    def help(self) -> str:
        return f"take it away, and say {self.instead}" if self.instead else "take it away"


@dataclass(frozen=True)
class NoFlag(CompileProblem):
    code = "E0545"
    says = "`{word}` can't be a flag of db_bench"
    hint = "its flags are in small letters, like `block_size`"
    word: str


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
class TopologyMismatch(CompileProblem):
    """A server that is started as a part of what its hosts don't make; `problem` says what would fit."""

    code = "E0568"
    says = "a server that is `{topology}` does not fit the {hosts} of `{hardware}`"
    topology: str
    hardware: str
    count: int
    problem: str

    @property
    def hosts(self) -> str:
        return f"{self.count} host{'s' if self.count > 1 else ''}"

    @property
    def help(self) -> str:
        return self.problem


@dataclass(frozen=True)
class BadConfigFile(CompileProblem):
    code = "E0569"
    says = "the configuration file `{name}` can't be read: {why}"
    hint = "its path begins at the folder of the spec"
    name: str
    why: str


@dataclass(frozen=True)
class ConfigNotOurs(CompileProblem):
    """A configuration file with what a server that is started for a run can't have."""

    code = "E0570"
    says = "the configuration file `{name}` asks for {why}"
    hint = "take it out of the file, or use a copy without it"
    name: str
    why: str


_SNAPSHOTS = {
    "attach": "one that is attached to is not stopped: say `reset = drop_and_load`, or bring the data back by "
    '`reset = command("...")`',
    "embedded": "the built-in stand-in is no MongoDB: say `reset = drop_and_load`",
}


@dataclass(frozen=True)
class NoSnapshot(CompileProblem):
    """A snapshot of a server's data, which is copied back while the server stands still."""

    code = "E0571"
    says = "database `{database}` can't be reset from a snapshot: only a server of `server = start` can"
    database: str
    server: str

    @property
    def help(self) -> str:
        return _SNAPSHOTS[self.server]


@dataclass(frozen=True)
class OnlyStarted(CompileProblem):
    code = "E0572"
    says = "`{key}` is for a server that is started, and this one is not"
    hint = "say `server = start`, or take `{key}` away"
    key: str


@dataclass(frozen=True)
class HalfALogin(CompileProblem):
    """Attributes that are said together or not at all."""

    code = "E0573"
    says = "`{key}` alone does nothing: {names} {are} missing"
    hint = "say {names} too"
    key: str
    missing: tuple[str, ...]

    @property
    def names(self) -> str:
        return ticked(self.missing)

    @property
    def are(self) -> str:
        return "are" if len(self.missing) > 1 else "is"
