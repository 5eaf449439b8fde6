"""Mistakes in what blocks hold and how they fit together (E05xx)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchbrief.compiler.blocks.schema import OVERRIDABLE
from benchbrief.compiler.problems import Again, CompileProblem, Misspelt, article, ticked
from benchbrief.dsl.stop import INNER_BLOCKS
from benchbrief.dsl.suggest import did_you_mean

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


_A_VALUE = "a value with a name is written `param some_name = value`, outside of any block"
_ELSEWHERE = {
    **dict.fromkeys(("variable", "variables", "locals", "var", "let", "const", "params"), _A_VALUE),
    "module": 'another file is used by `use "lab.bench"`',
    "resource": "machines are said by `hardware some_name { hosts = ... }`",
    "output": "what is computed of the results is `metric some_name = expression`",
}
"""What blocks of infrastructure languages are called here."""


@dataclass(frozen=True)
class UnknownAttribute(Misspelt):
    code = "E0501"
    stands_alone = True
    says = "unknown attribute `{word}` in {a_kind}"
    mark = "not an attribute"
    otherwise = "it may hold {all_known}"

    @property
    def help(self) -> str:
        if self.word in INNER_BLOCKS and not self.replacement:
            return f'`{self.word}` is a block: `{self.word} "..." {{ ... }}`'
        if (self.kind, self.word) == ("experiment", "depends_on"):
            return "an experiment comes after another one by what it takes from it: `threads = find.knee`"
        return super().help


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
    key: str
    wanted: str
    found: str
    meant: str | None = None

    @property
    def help(self) -> str:
        return f"write `{self.meant}`" if self.meant else f"`{self.key}` is {self.wanted}"

    @property
    def replacement(self) -> str | None:
        return self.meant


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

    @property
    def overrides(self) -> bool:
        return self.kind == "profile" and "override" in self.known and self.word in OVERRIDABLE

    @property
    def replacement(self) -> str | None:
        return f"override {self.word}" if self.overrides else super().replacement

    @property
    def help(self) -> str:
        if not self.kind and self.word in _ELSEWHERE:
            return _ELSEWHERE[self.word]
        return f"write `override {self.word} ...`" if self.overrides else super().help


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
class HoleNotAllowed(CompileProblem):
    code = "E0514"
    stands_alone = True
    says = "`{key}` is a plain text: it can't have holes"
    key: str

    @property
    def help(self) -> str:
        if self.key == "hosts":
            return 'hosts are counted in brackets: `"db-[1-3].lab"`'
        return "write the text out; a brace itself is written `{{`"


@dataclass(frozen=True)
class WorkloadWithoutBase(CompileProblem):
    code = "E0515"
    says = "workload `{name}` does not say what it is from"
    hint = "write `workload {name} from ycsb.a`, `from db_bench.readrandom`, or `from` another workload"
    name: str


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
    kind: str
    text: str = ""

    @property
    def help(self) -> str:
        if _NAME.fullmatch(self.text):
            return f"a name has no quotes: `{self.kind} {self.text} {{ ... }}`"
        return f"write `{self.kind} some_name {{ ... }}`"


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
    otherwise = "{it_is} {all_known}"

    @property
    def it_is(self) -> str:
        return "it is one of" if len(self.known) > 1 else "it can only be"


@dataclass(frozen=True)
class BadArgument(CompileProblem):
    """An argument that a call does not take, or lacks; `mended` is what to put in its place where that is known."""

    code = "E0523"
    says = "`{call}` {why}"
    hint = "write {usage}"
    call: str
    why: str
    usage: str
    mended: str | None = None

    @property
    def replacement(self) -> str | None:
        return self.mended


@dataclass(frozen=True)
class UnknownArgument(Misspelt):
    """A named argument that a call (`kind`) does not take."""

    code = "E0531"
    stands_alone = True
    says = "`{kind}` takes no `{word}:`"
    mark = "not an argument of `{kind}`"
    otherwise = "it takes {all_known}"
