"""Mistakes in names (E02xx), in files and import cycles (E06xx), warnings, and extensions that can't be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from benchbrief.compiler.extension_samples import sample_meter, sample_tool
from benchbrief.compiler.problems import Again, Circle, CompileProblem, Misspelt
from benchbrief.compiler.registry import own_families, sample_databases
from benchbrief.dsl.diagnostics.plain_amounts import ticked
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.source import Span

if TYPE_CHECKING:
    from benchbrief.compiler.registry import RefusedExtension

_UNITS = ("s", "ms", "us", "min", "h", "ops", "op")

# --- E02xx: names ------------------------------------------------------------------------------------------------


class UnknownName(Misspelt):
    code = "E0201"
    says = "unknown {kind} `{word}`"
    mark = "not declared"
    when_none = "none is declared: add `{kind} {word} {{ ... }}`"


class DuplicateName(Again):
    code = "E0202"
    says = ("{kind} `{name}` is declared twice", "`{kind}` block is declared twice")
    mark = "declared again"
    remark = "first declared here"
    hint = "give one of them another name, or remove one"
    kind: str
    name: str


class UnknownBase(Misspelt):
    code = "E0203"
    says = "unknown {kind} `{word}`"
    mark = "not a base"
    when_none = "no {kind} of that name is declared"

    @property
    def help(self) -> str:
        family = own_families().get(self.word) if self.kind == "workload" else None
        if family is not None:
            return f"name one of its workloads, such as `{self.word}.{next(iter(family.workloads))}`"
        return super().help

    @property
    def replacement(self) -> str | None:
        letter = self.word.removeprefix("workload").strip("_").lower()  # as in the files of YCSB
        return letter if letter in self.known else super().replacement


class HasVariants(CompileProblem):
    code = "E0204"
    says = "hardware `{group}` has variants, so the group as a whole can't be measured"
    mark = "which variants?"
    hint = "write `{group}.variants` for all of them, or choose: {choices}"
    group: str
    variants: tuple[str, ...]

    @property
    def choices(self) -> str:
        return ticked(f"{self.group}.{variant}" for variant in self.variants)


class NoVariants(CompileProblem):
    code = "E0205"
    says = "hardware `{group}` has no variants"
    hint = "write `{group}`, or declare `variant some_name {{ ... }}` in it"
    group: str


class MustChoose(CompileProblem):
    """An experiment that names no client or no database although the spec does not have exactly one."""

    code = "E0206"
    says = "experiment `{experiment}` has no `{kind}`, and {count}"
    kind: str
    experiment: str
    known: tuple[str, ...]
    family: str = ""
    """The family of the experiment's workloads, such as `ycsb` or `db_bench`, or "" if it is unknown."""

    @property
    def count(self) -> str:
        return f"the spec declares {len(self.known) or 'none'}"

    @property
    def help(self) -> str:
        if self.known:
            return f"add `{self.kind} = {self.known[0]}`, or another: there are {ticked(self.known)}"
        if self.kind == "client":
            return f"declare one: `client load {{ hosts = local  tool = {sample_tool()} }}`"
        return f"declare one: {' or '.join(sample_databases(self.family))}"


class UnknownProfile(Misspelt):
    code = "E0207"
    says = "unknown profile `{word}`"
    when_none = "the spec declares no profile: add `profile {word} {{ ... }}`"


class UnknownParam(Misspelt):
    code = "E0208"
    says = "the spec has no parameter `{word}`"
    when_none = "declare it in the spec: `param {word} = ...`"


class NamedTwice(Again):
    code = "E0209"
    says = "{kind} `{name}` is named twice"
    remark = "first named here"
    hint = "remove one; to measure it more often, write `repeats = 2`"
    kind: str
    name: str


class NothingNamed(CompileProblem):
    """An empty list of hosts, hardware or workloads."""

    code = "E0211"
    says = "`{key}` names nothing"
    hint = "write {wanted}"
    key: str
    wanted: str


class NotAName(CompileProblem):
    """A word in a value that is not the name of a parameter."""

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
        if self.word in _UNITS:
            return "a unit follows its number, as in `10 s` or `1k ops/s`"
        return f"declare it: `param {self.word} = ...`; a text is written in quotes"


# --- E06xx: files and cycles -------------------------------------------------------------------------------------


class ImportNotFound(CompileProblem):
    code = "E0601"
    says = "can't use `{path}`: {why}"
    hint = ("did you mean `{guess}`?", "the path is relative to the folder of the file that holds this `use`")
    mend = '"{guess}"'
    path: str
    why: str
    guess: str | None = None


class ImportCycle(Circle):
    code = "E0602"
    says = "these files use each other in a circle"
    hint = "move what they share into a file of its own"


class InheritanceCycle(Circle):
    code = "E0603"
    says = "this {kind} inherits from itself"
    hint = "let {which} inherit from something else, or from nothing"
    kind: str


class ParamCycle(Circle):
    code = "E0604"
    says = "parameter `{chain[0]}` is computed from itself"
    hint = "give {which} a value that needs no other parameter"


class TooManyFiles(CompileProblem):
    """Too many files or, if `words` is set, too many tokens in all files together."""

    code = "E0605"
    says = "a spec can {what} at most"
    hint = "put the declarations together into fewer files, and leave out what it does not need"
    limit: int
    words: bool = False

    @property
    def what(self) -> str:
        return f"have {self.limit:,} words and signs in all its files" if self.words else f"use {self.limit} files"


class KneeCycle(Circle):
    code = "E0606"
    mark = "this knee depends on its own experiment"
    hint = "write a number in {which}"

    @property
    def summary(self) -> str:
        if len(self.chain) == 1:
            return f"experiment `{self.chain[0]}` waits for its own knee"
        return "these experiments wait for each other's knee"


# --- warnings ----------------------------------------------------------------------------------------------------

_USED_BY = {
    "hardware": "name it in an experiment's `hardware`",
    "client": "name it in an experiment's `client`",
    "database": "name it in an experiment's `database`",
    "workload": "name it in an experiment's `workloads`",
    "probe": "name it in an experiment's `probes`",
    "param": "name it where you need its value",
}


class Unused(CompileProblem):
    code = "W0201"
    says = "{kind} `{name}` is declared but never used"
    kind: str
    name: str

    @property
    def help(self) -> str:
        return f"{_USED_BY[self.kind]}, or remove it"


class OddFact(CompileProblem):
    """A fact whose name is nearly the same as `meant`. `what` says whether `meant` is an attribute or another fact."""

    code = "W0202"
    says = "fact `{name}` looks like the {what} `{meant}`"
    mark = "read as a separate fact"
    hint = "did you mean `{meant}`?"
    mend = "{meant}"
    name: str
    meant: str
    what: str


class UnsampledMeter(CompileProblem):
    """Hardware with a power meter, in experiments that never read it."""

    code = "W0207"
    says = "hardware `{hardware}` has a power meter that no experiment reads"
    mark = "never read"
    hint = "add `probes = [power every 1 s]` to {names:named experiment}, or remove the meter"
    hardware: str
    names: tuple[str, ...]


class MetersLeftBehind(CompileProblem):
    """A profile that replaces the hosts but not their power meters."""

    code = "W0203"
    says = "profile `{profile}` replaces the hosts of {names:ticked}, and the new hosts have no power meters"
    mark = "power will be missing with these hosts"
    hint = (
        "name a meter in the profile, such as `power = {sample_meter}` or `power = command(...)`, or write "
        "`power = none` to measure no power"
    )
    profile: str
    names: tuple[str, ...]

    @property
    def sample_meter(self) -> str:
        return sample_meter()


class InsertsFromOneHost(CompileProblem):
    """A workload with inserts on a client with several hosts, where each process of the tool would insert the same
    keys."""

    code = "W0204"
    says = "workload `{workload}` inserts, so its load comes from `{host}` alone, not from all of client `{client}`"
    mark = "every {tool} process would insert the same new keys"
    hint = "check that one host can offer the load, or measure this workload in an experiment of its own"
    workload: str
    client: str
    host: str
    tool: str


class PrintedPercentiles(CompileProblem):
    """A client with several hosts and a tool that provides no histograms."""

    code = "W0205"
    says = "`{tool}` prints percentiles only: percentiles of {hosts} hosts can't be merged, and will be missing"
    mark = "no percentiles of latency"
    hint = ("{remedy}, or give the client one host", "give the client one host")
    tool: str
    hosts: int
    remedy: str = ""


class ServiceKnee(CompileProblem):
    """A search over offered loads that judges by service latency."""

    code = "W0206"
    says = "this search uses the latency of `{tool}`, which leaves out the time that late operations wait"
    mark = "coordinated omission: the knee shows late, or not at all"
    hint = (
        "use a tool that measures latency from when each operation was due: {others:ticked}",
        "look for a knee over `threads`, or name the targets one by one",
    )
    tool: str
    others: tuple[str, ...]
    """The engine's tools that measure latency from the time when each operation was due."""


class NoExperiment(CompileProblem):
    code = "W0501"
    says = "the spec has no experiment, so there is nothing to run"
    hint = "add `experiment some_name {{ hardware = ...  workloads = ...  threads = [1, 2, 4]  measure = 1 min }}`"


class UnusableExtension(CompileProblem):
    """An extension from another package that can't be used. `source` is the package with its version."""

    code = "E0212"
    says = "the {kind} `{name}` of {source} can't be used: {why}"
    mark = "installed, and broken"
    hint = "{remedy}; `bench extensions` lists what is installed"
    kind: str
    name: str
    source: str
    why: str
    remedy: str

    @classmethod
    def of(cls, span: Span, refused: RefusedExtension) -> Self:
        return cls(span, refused.kind, refused.name, refused.source, refused.why, refused.hint)


class FoundByExtension(CompileProblem):
    """A mistake that another package's engine or load generator finds in the plan."""

    code = "E0214"
    says = "{name}: {what}"
    hint = "{remedy}"
    name: str
    what: str
    remedy: str


class WarnedByExtension(CompileProblem):
    """A warning about the plan from another package's engine or load generator."""

    code = "W0216"
    says = "{name}: {what}"
    hint = "{remedy}"
    name: str
    what: str
    remedy: str


class BrokenCheck(CompileProblem):
    """A check of another package that failed to run."""

    code = "W0217"
    says = "the {kind} `{name}` of {source} has not checked this spec: {why}"
    mark = "used here"
    hint = "tell its authors; what it would have found may still fail the run"
    kind: str
    name: str
    source: str
    why: str


class UntranslatedExtension(CompileProblem):
    """A report in a language for which some extension has no words."""

    code = "W0212"
    says = (
        "the {kind} `{name}` of {source} has no words in `{language}` for {missing:ticked 3}: they will be in English"
    )
    mark = "a language that it lacks"
    hint = "ask its authors for words in `{language}`"
    kind: str
    name: str
    source: str
    language: str
    missing: tuple[str, ...]
