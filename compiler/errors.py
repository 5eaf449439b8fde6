"""Mistakes in names, files and cycles, each with its stable code and all of its prose.

E02xx names, E06xx files and cycles, W warnings. Values and their units (E03xx, E04xx) are in
`blocks/value_errors.py`, what blocks hold (E05xx) in `blocks/structure_errors.py`, `blocks/database_errors.py` and
`blocks/experiment_errors.py`, schedules (E055x) in `blocks/schedule_errors.py`, metrics (E070x to E072x) in
`metrics/metric_errors.py`, reports (from E0730 on) in `briefs/report_errors.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler.problems import Again, Circle, CompileProblem, Misspelt, ticked
from benchbrief.dsl.suggest import did_you_mean

# --- E02xx: names ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnknownName(Misspelt):
    code = "E0201"
    says = "unknown {kind} `{word}`"
    mark = "not declared"
    when_none = "none is declared: add `{kind} {word} {{ ... }}`"


@dataclass(frozen=True)
class DuplicateName(Again):
    code = "E0202"
    says = "a second {what}"
    mark = "declared again"
    remark = "first declared here"
    hint = "give one of them another name, or take one away"
    kind: str
    name: str

    @property
    def what(self) -> str:
        return f"{self.kind} `{self.name}`" if self.name else f"`{self.kind}` block"


@dataclass(frozen=True)
class UnknownBase(Misspelt):
    code = "E0203"
    says = "unknown {kind} `{word}`"
    mark = "can't be from this"
    when_none = "no {kind} of that name is declared"

    @property
    def replacement(self) -> str | None:
        letter = self.word.removeprefix("workload").strip("_").lower()  # as in the files of YCSB
        return letter if letter in self.known else super().replacement


@dataclass(frozen=True)
class HasVariants(CompileProblem):
    code = "E0204"
    says = "hardware `{group}` has variants, so the group as a whole can't be measured"
    mark = "which variants?"
    hint = "say `{group}.variants` for all of them, or choose: {choices}"
    group: str
    variants: tuple[str, ...]

    @property
    def choices(self) -> str:
        return ticked(f"{self.group}.{variant}" for variant in self.variants)


@dataclass(frozen=True)
class NoVariants(CompileProblem):
    code = "E0205"
    says = "hardware `{group}` has no variants"
    hint = "say `{group}`, or declare `variant some_name {{ ... }}` in it"
    group: str


@dataclass(frozen=True)
class MustChoose(CompileProblem):
    """An experiment that leaves off its client or database while there is not exactly one."""

    code = "E0206"
    says = "experiment `{experiment}` does not say its {kind}, and {count}"
    kind: str
    experiment: str
    known: tuple[str, ...]

    @property
    def count(self) -> str:
        return f"there are {len(self.known)}" if self.known else "none is declared"

    @property
    def help(self) -> str:
        if self.known:
            return f"add `{self.kind} = {self.known[0]}`; there are {ticked(self.known)}"
        if self.kind == "client":
            return "declare one: `client load { hosts = local  tool = ycsb }`"
        return "declare one: `database db { engine = mongodb  server = embedded }`"


@dataclass(frozen=True)
class UnknownProfile(Misspelt):
    code = "E0207"
    says = "unknown profile `{word}`"
    when_none = "the spec declares no profile: add `profile {word} {{ ... }}`"


@dataclass(frozen=True)
class UnknownParam(Misspelt):
    code = "E0208"
    says = "the spec has no parameter `{word}`"
    when_none = "declare it in the spec: `param {word} = ...`"


@dataclass(frozen=True)
class NamedTwice(Again):
    code = "E0209"
    says = "{kind} `{name}` is named twice"
    remark = "named before here"
    hint = "take one away; to measure it more often, say `repeats = 2`"
    kind: str
    name: str


@dataclass(frozen=True)
class NothingNamed(CompileProblem):
    """An empty list of hosts, hardware or workloads."""

    code = "E0211"
    says = "`{key}` names nothing"
    hint = "write {wanted}"
    key: str
    wanted: str


@dataclass(frozen=True)
class NotAName(CompileProblem):
    """A word in a value that is no parameter."""

    code = "E0210"
    says = "`{word}` is not a parameter, so it has no value here"
    word: str
    known: tuple[str, ...]

    @property
    def replacement(self) -> str | None:
        return did_you_mean(self.word, self.known)

    @property
    def help(self) -> str:
        if self.replacement:
            return f"did you mean `{self.replacement}`?"
        return f"declare it: `param {self.word} = ...`; a text is written in quotes"


# --- E06xx: files and cycles -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ImportNotFound(CompileProblem):
    code = "E0601"
    says = "can't use `{path}`: {why}"
    hint = "a path after `use` starts at the folder of the file that says it"
    path: str
    why: str


@dataclass(frozen=True)
class ImportCycle(Circle):
    code = "E0602"
    says = "these files use each other in a circle"
    hint = "move what they share into a file of its own"


@dataclass(frozen=True)
class InheritanceCycle(Circle):
    code = "E0603"
    says = "this {kind} is from itself"
    hint = "let one of the circle stand alone"
    kind: str


@dataclass(frozen=True)
class ParamCycle(Circle):
    code = "E0604"
    says = "parameter `{name}` is computed from itself"
    hint = "give one of the circle a value"

    @property
    def name(self) -> str:
        return self.chain[0]


@dataclass(frozen=True)
class TooManyFiles(CompileProblem):
    """Or, where `words` says so, too many words and signs in all of them."""

    code = "E0605"
    says = "a spec may {what} at most"
    hint = "put the declarations together into fewer files, and leave out what it does not need"
    limit: int
    words: bool = False

    @property
    def what(self) -> str:
        return f"have {self.limit:,} words and signs in all its files" if self.words else f"use {self.limit} files"


@dataclass(frozen=True)
class KneeCycle(Circle):
    code = "E0606"
    says = "these experiments wait for each other's knee"
    mark = "can't be known before its own experiment"
    hint = "write the number in one of them"


# --- warnings ----------------------------------------------------------------------------------------------------

_USED_BY = {
    "hardware": "name it in an experiment's `hardware`",
    "client": "name it in an experiment's `client`",
    "database": "name it in an experiment's `database`",
    "workload": "name it in an experiment's `workloads`",
    "probe": "name it in an experiment's `probes`",
    "param": "name it where its value is wanted",
}


@dataclass(frozen=True)
class Unused(CompileProblem):
    code = "W0201"
    severity = "warning"
    says = "{kind} `{name}` is declared but never used"
    kind: str
    name: str

    @property
    def help(self) -> str:
        return f"{_USED_BY[self.kind]}, or take it away"


@dataclass(frozen=True)
class OddFact(CompileProblem):
    """A fact whose name is a slip away from `meant`, which is an attribute or a fact (`what`)."""

    code = "W0202"
    severity = "warning"
    says = "fact `{name}` is nearly the {what} `{meant}`"
    mark = "taken as a fact of its own"
    hint = "did you mean `{meant}`?"
    name: str
    meant: str
    what: str

    @property
    def replacement(self) -> str:
        return self.meant


@dataclass(frozen=True)
class UnsampledMeter(CompileProblem):
    """Hardware that says how its power is read, in experiments that never do."""

    code = "W0207"
    severity = "warning"
    says = "hardware `{hardware}` says how its power is read, and nothing reads it"
    mark = "never read"
    hint = "say `probes = [power every 1 s]` in experiment {experiments}"
    hardware: str
    names: tuple[str, ...]

    @property
    def experiments(self) -> str:
        return ticked(self.names)


@dataclass(frozen=True)
class MetersLeftBehind(CompileProblem):
    """A profile that replaces the hosts, but not what reads their power."""

    code = "W0203"
    severity = "warning"
    says = "profile `{profile}` replaces the hosts of {hardware}, and their power meters are not those of the new ones"
    mark = "power will be missing with these hosts"
    hint = (
        "say how power is read there, `power = rapl` or `power = command(...)` in the profile, "
        "or `power = none` to do without"
    )
    profile: str
    names: tuple[str, ...]

    @property
    def hardware(self) -> str:
        return ticked(self.names)


@dataclass(frozen=True)
class InsertsFromOneHost(CompileProblem):
    """A workload that inserts, and a client of several hosts: each process of YCSB would make the same new keys."""

    code = "W0204"
    severity = "warning"
    says = "workload `{workload}` inserts, so its load comes from `{host}` alone, not from all of client `{client}`"
    mark = "every YCSB process would insert the same new keys"
    hint = "see that one host can offer the load, or leave the workload out where the client's hosts are compared"
    workload: str
    client: str
    host: str


@dataclass(frozen=True)
class PrintedPercentiles(CompileProblem):
    """A client of several hosts whose tool tells no distribution."""

    code = "W0205"
    severity = "warning"
    says = "`{tool}` prints percentiles only, and those of {hosts} hosts can't be merged: they will be missing"
    mark = "no percentiles of latency"
    hint = "load with `ycsb`, whose histograms are merged, or give the client one host"
    tool: str
    hosts: int


@dataclass(frozen=True)
class ServiceKnee(CompileProblem):
    """A search over offered loads that goes by service latency."""

    code = "W0206"
    severity = "warning"
    says = "this search goes by the latency of `{tool}`, which leaves out the wait behind late operations"
    mark = "coordinated omission: the knee shows late, or not at all"
    hint = "load with `ycsb`, which counts latency from when each operation was due"
    tool: str


@dataclass(frozen=True)
class AgedData(CompileProblem):
    """Cells that are measured on data to which an earlier cell wrote; `cells` are those, in their order."""

    code = "W0210"
    severity = "warning"
    says = "{count} of database `{database}` would run on data that earlier ones have changed"
    mark = "{writers} will have written to them"
    hint = (
        "for {some} say `reset = after_writes`, `drop_and_load` or `snapshot`; or leave it, and the brief says what "
        "the data have been through"
    )
    database: str
    written_by: tuple[str, ...]
    cells: tuple[str, ...]

    @property
    def count(self) -> str:
        return f"{len(self.cells):,} cell{'s' if len(self.cells) > 1 else ''}"

    @property
    def writers(self) -> str:
        return ticked(self.written_by)

    @property
    def some(self) -> str:
        return ticked(self.cells, 3)


@dataclass(frozen=True)
class SingleRun(CompileProblem):
    """An `expect` over an experiment without repeats."""

    code = "W0401"
    severity = "warning"
    says = "an `expect` judges experiments that are measured only once"
    mark = "a single run can't tell a change from noise"
    hint = "say `repeats = 3` or more in experiment {experiments}"
    names: tuple[str, ...]

    @property
    def experiments(self) -> str:
        return ticked(self.names)


@dataclass(frozen=True)
class NoExperiment(CompileProblem):
    code = "W0501"
    severity = "warning"
    says = "there is no experiment, so nothing would be run"
    hint = "add `experiment some_name {{ hardware = ...  workloads = ...  threads = [1, 2, 4]  measure = 1 min }}`"
