"""Mistakes in databases: how servers are reached and started, and what they and their tools are told (E05xx)."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler.problems import Again, CompileProblem, Misspelt, ticked


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
    key: str

    @property
    def help(self) -> str:
        free = ": the stand-in of `server = embedded` takes a port that is free" if self.key == "port" else ""
        return f"say `server = start`, or take `{self.key}` away{free}"


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
