"""Mistakes in databases: addresses, starts, options and data sets (E05xx), and warnings about their data (W021x)."""

from __future__ import annotations

from benchbrief.compiler.problems import Again, CompileProblem, Misspelt
from benchbrief.dsl.diagnostics.diagnostic import Suggestion
from benchbrief.dsl.diagnostics.plain_amounts import ticked


class MetersDontAddUp(Again):
    """Meters in a list whose watts can't be added up."""

    code = "E0562"
    says = "the watts of these meters can't be added up: {why}"
    remark = "the first of them"
    hint = "{instead}"
    why: str
    instead: str


class ArgumentAlone(CompileProblem):
    """An argument of a meter that has no effect without another argument."""

    code = "E0563"
    says = "`{meter}` takes `{key}:` only together with `{needed}:`"
    hint = "add `{needed}: ...`, as in {usage}"
    meter: str
    key: str
    needed: str
    usage: str


class UnverifiedMeter(CompileProblem):
    """A login to a power meter (a BMC) whose identity is not verified."""

    code = "W0504"
    says = "the identity of the BMC `{address}` is not checked: {why}"
    mark = "any machine that answers gets the password"
    hint = 'trust its own certificate (`fingerprint: "..."`) or the authority that signed it (`ca_file: "/..."`)'
    address: str
    why: str


class MixedBoundaries(CompileProblem):
    """Hardware groups of one experiment whose meters measure different things."""

    code = "W0505"
    says = "experiment `{experiment}` compares the power of different parts: {parts}"
    hint = "use the same kind of meter for all hardware of the experiment"
    experiment: str
    parts: str


class WorkloadMismatch(CompileProblem):
    """A workload whose tool can't load the database. `tool` is a tool that can."""

    code = "E0508"
    says = "workload `{workload}` is from {family}, and database `{database}` {engine}"
    workload: str
    family: str
    database: str
    engine: str
    called: str
    tool: str
    base: str
    other: str = ""
    """The name of another tool of the engine, which has workloads of the same family, or "" if there is none."""

    @property
    def help(self) -> str:
        usual = f"{self.called} is loaded by {self.tool}: `workload ... from {self.base}`"
        return f"{usual}; or write `tool = {self.other}` in the database" if self.other else usual


class ToolMismatch(CompileProblem):
    code = "E0509"
    says = "`{tool}` can't measure {engine}"
    tool: str
    engine: str
    known: tuple[str, ...]
    in_database: bool = False
    """Whether the tool is named in the database instead of a client."""

    @property
    def help(self) -> str:
        if self.in_database:
            return f"write {' or '.join(f'`tool = {tool}`' for tool in self.known)}"
        return f"use a client with one of these tools: {ticked(self.known)}"


class NotReachable(CompileProblem):
    """A database with neither an address nor a start. `ways` are the attributes that would make it reachable."""

    code = "E0510"
    says = "database `{name}` has no address"
    hint = "add {ways}"
    name: str
    ways: str


class UnknownHole(Misspelt):
    """A hole in a path or URI whose name is not a fact of the hardware."""

    code = "E0512"
    says = "`{word}` can't be filled in: hardware `{kind}` does not declare it"
    mark = "no such fact"
    otherwise = 'declare it in the hardware (`{word} = "..."`), or use one of these: {all_known}'


class BadHole(CompileProblem):
    """A hole in a path or URI that contains more than a name or a reference."""

    code = "E0513"
    says = "`{key}` can't hold `{hole}`: {why}"
    key: str
    why: str

    @property
    def hole(self) -> str:
        return self.span.text if self.span else "{...}"

    @property
    def help(self) -> str:
        if self.key == "uri":
            return "braces here hold a fact of the hardware, `{hosts}`, `{env(NAME)}` or `{secret(NAME)}`"
        return "braces here hold a fact of the hardware, such as `{path}` or `{mount}`"


class OneHostOnly(CompileProblem):
    code = "E0516"
    says = "hardware `{hardware}` has {hosts} hosts, and {engine} runs on one"
    hint = "declare a hardware group of one host for each"
    hardware: str
    hosts: int
    engine: str


class ClientNotWanted(CompileProblem):
    code = "E0517"
    says = "database `{database}` is {engine}, a library: {tool} runs on the hosts under test, not on a client"
    hint = 'remove `client`; write the path of {tool} in the database: `tool = {tool}("/path")`'
    database: str
    engine: str
    tool: str


class OptionInUri(Again):
    """An option of the connection that is set both in the `options` block and in the URI. `name` is the URI's word for
    the option."""

    code = "E0542"
    says = "`{key}` is set twice: the uri sets `{name}` too"
    remark = "`{name}` is in this uri"
    hint = "keep one of them"
    key: str
    name: str


class UriWord(CompileProblem):
    """An option written in the spec under the name that it has in connection strings."""

    code = "E0543"
    says = "`{word}` is the name in a connection string: the option here is `{meant}`"
    hint = "write `{meant}`, or put `{word}` into the uri"
    mend = "{meant}"
    word: str
    meant: str


class ReservedFlag(CompileProblem):
    """An option that the driver sets itself. `instead` names the place where a spec can set it, if there is one."""

    code = "E0544"
    says = "`{flag}` can't be an option of a database: benchbrief sets it itself"
    hint = ("remove it, and set {instead}", "remove it")
    flag: str
    instead: str


class NoFlag(CompileProblem):
    """An option that is not a flag of the tool. `meant` is the option or flag that the spec most likely means, if
    any."""

    code = "E0545"
    says = "`{word}` is not {a_flag} of {tool}"
    mark = "{tool} would refuse it"
    mend = "{meant}"
    hint = ("did you mean `{meant}`?", "{otherwise}")
    word: str
    meant: str | None
    tool: str
    complete: bool = False
    """Whether the tool is a library, whose options are all known, and not a program with flags."""

    @property
    def a_flag(self) -> str:
        return "an option" if self.complete else "a flag"

    @property
    def otherwise(self) -> str:
        if self.complete:
            return "its options are those of the file OPTIONS-* in a database, like `max_background_jobs`"
        return "its flags have lower-case letters, like `block_size`"


class UnknownFlag(CompileProblem):
    """An option that is not a known flag of the tool. It may be a flag of a newer version or of a fork, or no flag at
    all."""

    code = "W0507"
    says = "`{word}` is not a flag of {tool} in {versions}"
    mark = "{tool} ends at once on an unknown flag"
    hint = "look for it in `{tool} --help` on the host, and remove it if it is not there"
    word: str
    tool: str
    versions: str


class BadFlagValue(CompileProblem):
    """A value that the tool refuses for its flag, or reads as another value. `write` is the value to write instead."""

    code = "E0575"
    says = "`{flag}` of {tool} takes {wanted}, not {found}"
    mark = "{effect}"
    hint = "write {write}"
    flag: str
    tool: str
    wanted: str
    found: str
    effect: str
    write: str


class TopologyMismatch(CompileProblem):
    """A server with a topology that does not fit its number of hosts. `problem` says which numbers of hosts would
    fit."""

    code = "E0568"
    says = "`topology = {topology}` does not fit the {count:plural host} of hardware `{hardware}`"
    topology: str
    hardware: str
    count: int
    problem: str

    @property
    def help(self) -> str:
        return self.problem


class ConfigNotOurs(CompileProblem):
    """A configuration file with a setting that is not allowed if the run starts the server."""

    code = "E0570"
    says = "the configuration file `{name}` sets {why}"
    hint = "remove it from the file, or use a copy without it"
    name: str
    why: str


_SNAPSHOTS = {
    "attach": "benchbrief does not stop a server that runs already: write `reset = as_needed`, or restore the data "
    'with `reset = command("...")`',
    "embedded": "the built-in stand-in for {engine} has no snapshots: write `reset = as_needed`",
}


class NoSnapshot(CompileProblem):
    """A snapshot of a server that the run does not start. A snapshot can be copied back only while the server is
    stopped."""

    code = "E0571"
    says = "database `{database}` can't use `reset = snapshot`: that needs `server = start`"
    database: str
    server: str
    engine: str

    @property
    def help(self) -> str:
        return _SNAPSHOTS[self.server].format(engine=self.engine)


class ResetNotHere(CompileProblem):
    """A kind of `reset` that this engine does not have. `known` are the kinds that it has."""

    code = "E0574"
    says = "{engine} has no `reset = {word}`"
    hint = "write one of {known:ticked 50}"
    word: str
    engine: str
    known: tuple[str, ...]


class OnlyStarted(CompileProblem):
    code = "E0572"
    says = "`{key}` takes effect only with `server = start`"
    key: str

    @property
    def help(self) -> str:
        free = ": the stand-in of `server = embedded` chooses a free port" if self.key == "port" else ""
        return f"write `server = start`, or remove `{self.key}`{free}"


class HalfALogin(CompileProblem):
    """A login with some of its attributes missing."""

    code = "E0573"
    says = "`{key}` alone has no effect: {missing:ticked} {are} missing"
    hint = "set {missing:ticked} too, or remove `{key}`"
    key: str
    missing: tuple[str, ...]

    @property
    def are(self) -> str:
        return "are" if len(self.missing) > 1 else "is"


class AgedData(CompileProblem):
    """Cells that use data changed by an earlier cell. `cells` has them in running order."""

    code = "W0210"
    says = "{cells:plural cell} of database `{database}` would run on data that earlier cells have changed"
    mark = "{written_by:ticked} {write} to the data"
    hint = (
        "this concerns {cells:ticked 3}: write `reset = after_writes`, `drop_and_load`{faster}; or keep `reuse`, and "
        "the brief says how many cells have written to the data"
    )
    database: str
    written_by: tuple[str, ...]
    cells: tuple[str, ...]
    quick: str = ""
    """A reset of the engine that is quicker than a load, or "" if this database can't have one."""

    @property
    def write(self) -> str:
        return "writes" if len(self.written_by) == 1 else "write"

    @property
    def faster(self) -> str:
        return f" or `{self.quick}`" if self.quick else ""


class ReplacedData(CompileProblem):
    """Cells that load their data again because other cells replaced it. `seconds` is how long the loads take."""

    code = "W0211"
    says = (
        "{cells:plural cell} of database `{database}` would load data again that others replace: about "
        "{seconds:duration} of loading"
    )
    mark = "{sharing} keep their data in one place"
    hint = (
        'give each its own place, such as `path = "{{path}}/data"` with a `path` in each variant; or measure '
        "one hardware after the other, without `interleaved` and `random`"
    )
    database: str
    hardware: tuple[str, ...]
    cells: tuple[str, ...]
    seconds: float

    @property
    def sharing(self) -> str:
        return ticked(self.hardware) if len(self.hardware) > 1 else f"all data sets of {ticked(self.hardware)}"


KEEP = "or keep it where no cell may find traces of another, such as a warm cache"
"""Words that end the advice against a costly reset. They say when the reset is right in spite of its cost."""


class CostlyReset(CompileProblem):
    """A declared reset that takes longer than the measurements. `better` is a reset that takes less time."""

    code = "W0213"
    says = (
        "resetting the data of database `{database}` would take about {seconds:duration}, and all its measuring "
        "{measured_s:duration}"
    )
    mark = "{count}"
    hint = "write `reset = {better}`, which takes about {better_s:duration}: {why}"
    database: str
    cells: int
    seconds: float
    measured_s: float
    better: str
    why: str
    better_s: float

    @property
    def count(self) -> str:
        return f"{self.cells:,} cells reset their data" if self.cells > 1 else "one cell resets its data"


class VariantsOfOptions(CompileProblem):
    """Hardware variants that only set options of the database. `change` rewrites them as a factor."""

    code = "W0215"
    says = "the variants of `{hardware}` differ in options alone, and the brief would call them hardware"
    mark = "no other hardware: {settings:ticked}"
    hint = "write a factor of these levels in their place, and `vary = {factor}` in the experiments"
    hardware: str
    settings: tuple[str, ...]
    factor: str
    change: Suggestion | None

    @property
    def suggestion(self) -> Suggestion | None:
        return self.change
