"""Mistakes in the structure of blocks and in how blocks fit together (E05xx)."""

from __future__ import annotations

import re
from dataclasses import field

from benchbrief.compiler.extension_samples import (
    sample_engine,
    sample_tool_in_process,
    sample_uri,
    sample_workloads,
)
from benchbrief.compiler.problems import Again, CompileProblem, Misspelt, article
from benchbrief.compiler.schemas import OVERRIDABLE
from benchbrief.dsl.diagnostics.plain_amounts import ticked
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.syntax.parser_stop import DECLARATIONS, INNER_BLOCKS
from benchbrief.model.value_shapes import BlockSchema

_BASE = re.compile(r"[a-z_]+\.\w+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


_A_VALUE = "declare a named value with `param some_name = value`, outside of any block"
_ELSEWHERE = {
    **dict.fromkeys(("variable", "variables", "locals", "var", "let", "const", "params"), _A_VALUE),
    "module": 'include another file with `use "lab.bench"`',
    "resource": "declare machines with `hardware some_name { hosts = ... }`",
    "output": "compute a value from the results with `metric some_name = expression`",
}
"""Advice for authors who write blocks as other infrastructure languages do."""
NO_FACTS = {
    "tool": "a load generator is the `tool` of a `client`, or of a database without a server: "
    f"`tool = {sample_tool_in_process()}`",
    "engine": f"an engine is that of a database: `database some_name {{ engine = {sample_engine()} }}`",
}
"""Words that can't be facts of hardware, unless their values are quoted."""
_OF_REPORTS = ("headline", "footnote")
_WRITTEN_OTHERWISE = {
    ("experiment", "reset"): "write it in the `database` block: all experiments on a database bring its data back in "
    "the same way",
    ("experiment", "depends_on"): "remove it: an experiment follows another one when it uses its result, as in "
    "`threads = find.knee`",
    ("workload", "mix"): "each share is an attribute of the workload: `read = 95 %  update = 5 %`",
    ("database", "host"): f"the hardware names the hosts: `{sample_uri()}`",
    **{("workload", key): "write it in an experiment" for key in ("threads", "target", "measure", "repeats")},
    ("workload", "type"): f"the kind follows `from`: `workload some_name from {sample_workloads()[0]}`",
    **{
        (kind, key): "write it in the report itself" for kind in ("section", "each") for key in ("headline", "footnote")
    },
    ("report", "title"): 'the title follows the name: `report some_name "Title" { ... }`',
    ("figure", "x"): "the axis follows the values: `line = throughput by threads`",
    ("figure", "y"): "name the values and their axis in one attribute: `line = throughput by threads`",
    ("figure", "kind"): "the attribute itself is the kind: `line`, `bars` or `curve`",
    ("figure", "type"): "the attribute itself is the kind: `line`, `bars` or `curve`",
}
"""Advice for authors who write attributes as other languages do, by the kind of the block."""
_BLOCKS = frozenset((*DECLARATIONS, *INNER_BLOCKS, "at"))
_OPTIONS = ("color", "colour", "style", "band", "dashed", "estimated", "label", "format")
"""Options that follow the values of a figure."""


class UnknownAttribute(Misspelt):
    code = "E0501"
    stands_alone = True
    says = "unknown attribute `{word}` in {a_kind}"
    mark = "not an attribute"
    otherwise = "its attributes are {all_known}"
    schema: BlockSchema | None = field(default=None, compare=False)

    @property
    def a_kind(self) -> str:
        if self.kind in ("hardware", "options", "ssh"):
            return f"{super().a_kind} block"
        return {"at": "an event", "compare": "a comparison"}.get(self.kind, super().a_kind)

    @property
    def all_known(self) -> str:
        return ticked(self.schema.listed or self.known if self.schema else self.known, limit=30)

    @property
    def help(self) -> str:
        for block, names in self.schema.inner.items() if self.schema and not self.replacement else ():
            if meant := self.word if self.word in names else did_you_mean(self.word, names):
                return f"write it in the block `{block}`: `{block} {{ {meant} = ... }}`"
        if not self.replacement and (inner := self._block_meant):
            held = "line = throughput by threads" if inner == "figure" else "..."
            return f'`{inner}` is a block: `{inner} "..." {{ {held} }}`'
        if self.kind in ("hardware", "variant") and self.word in NO_FACTS:
            return NO_FACTS[self.word]
        if self.kind == "figure" and self.word in _OPTIONS:
            option = self.word.replace("colour", "color")
            return f"`{option}` follows the values, without `=`, as in `line = throughput by threads, color hardware`"
        return _WRITTEN_OTHERWISE.get((self.kind, self.word)) or super().help

    @property
    def _block_meant(self) -> str | None:
        if self.word in INNER_BLOCKS:
            return self.word
        return did_you_mean(self.word, INNER_BLOCKS) if self.kind in ("report", "section", "each") else None


class MissingAttribute(CompileProblem):
    code = "E0502"
    says = "{kind} `{name}` has no `{key}`"
    hint = "add `{key} = ...`: {wanted}"
    kind: str
    name: str
    key: str
    wanted: str


class DuplicateAttribute(Again):
    code = "E0503"
    stands_alone = True
    says = "`{key}` is set twice"
    remark = "first set here"
    hint = "remove one of them"
    key: str


class WrongType(CompileProblem):
    code = "E0504"
    stands_alone = True
    says = "`{key}` can't be {found}"
    mend = "{meant}"
    key: str
    wanted: str
    found: str
    meant: str | None = None
    varies: bool = False
    """Whether the value is a list in a place where a factor is allowed."""

    @property
    def help(self) -> str:
        if self.key == "workloads" and self.span and _BASE.fullmatch(self.span.text):
            return f"declare `workload some_name from {self.span.text}`, and write its name here"
        if self.meant:
            return f"write `{self.meant}`"
        vary = "; to measure each of them, declare a `factor` with these `levels` and name it here"
        return f"`{self.key}` is {self.wanted}{vary if self.varies else ''}"


class ExclusiveAttributes(Again):
    code = "E0505"
    says = "`{other}` and `{key}` can't both be set"
    remark = "`{other}` is set here"
    hint = "keep one of them"
    key: str
    other: str


class NotForThis(CompileProblem):
    """An attribute that belongs to another engine or another family of workloads."""

    code = "E0506"
    says = "`{key}` is for {only}, and this is {actual}"
    hint = "remove `{key}`"
    key: str
    only: str
    actual: str


class MisplacedBlock(Misspelt):
    """A block in the wrong place. `kind` is the kind of the block around it, or "" for the spec itself."""

    code = "E0507"
    stands_alone = True
    otherwise = "it can hold {all_known}"
    when_none = "it can hold attributes only"

    @property
    def summary(self) -> str:
        where = f"{self.a_kind} block" if self.kind else "a spec"
        if self.word in _BLOCKS:
            return f"{where} can't hold a block `{self.word}`"
        return f"unknown block `{self.word}`" + (f" in {where}" if self.kind else "")

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
        if self.word == "at":
            return "an event belongs in an experiment"
        return f"write `override {self.word} ...`" if self.overrides else super().help


class HostConflict(Again):
    """One host that has two ways to log in."""

    code = "E0511"
    says = "host `{host}` has different `ssh` settings in two places"
    remark = "the first place"
    hint = "write the same `ssh {{ ... }}` in both, or put the settings into ~/.ssh/config"
    host: str


class SameMachine(Again):
    """One machine with two names. Cells that name it differently would not wait for each other."""

    code = "E0530"
    says = "`{host}` and `{other}` are the same machine"
    remark = "`{other}` is named here"
    hint = "use one name for it everywhere, so that its cells run one after another"
    host: str
    other: str


class HoleNotAllowed(CompileProblem):
    code = "E0514"
    stands_alone = True
    says = "`{key}` is plain text: it can't hold `{{...}}`"
    key: str

    @property
    def help(self) -> str:
        if self.key == "hosts":
            return 'write a range of hosts in brackets: `"db-[1-3].lab"`'
        return "write the text itself; for a brace write `{{`"


class WorkloadWithoutBase(CompileProblem):
    code = "E0515"
    says = "workload `{name}` has no base"
    hint = "write `workload {name} from {first}`{others}, or `from` another workload"
    name: str

    @property
    def first(self) -> str:
        return sample_workloads()[0]

    @property
    def others(self) -> str:
        return "".join(f", `from {each}`" for each in sample_workloads()[1:])


class CannotInherit(CompileProblem):
    code = "E0518"
    says = "{a_kind} can't inherit from `{found}`"
    kind: str

    @property
    def a_kind(self) -> str:
        return article(self.kind)

    @property
    def found(self) -> str:
        return self.span.text if self.span else "this"

    @property
    def help(self) -> str:
        if self.kind == "profile":
            return "a profile can't inherit: repeat the overrides"
        return f"write the name of another {self.kind} after `from`, or remove `from`"


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


class StrayLabel(CompileProblem):
    code = "E0521"
    stands_alone = True
    says = "`{key}` takes no label"
    hint = "remove the quoted text before the `=`"
    key: str


class UnknownWord(Misspelt):
    """A word that is not one of an attribute's choices. `kind` is the attribute."""

    code = "E0522"
    stands_alone = True
    says = "`{kind}` can't be `{word}`"
    otherwise = "{it_is} {all_known}"

    @property
    def it_is(self) -> str:
        return "write one of" if len(self.known) > 1 else "it can only be"


class BadArgument(CompileProblem):
    """A wrong or missing argument of a call. `mended` is a replacement, if one is known."""

    code = "E0523"
    says = "`{call}` {why}"
    hint = "write {usage}"
    mend = "{mended}"
    call: str
    why: str
    usage: str
    mended: str | None = None


class UnknownArgument(Misspelt):
    """A named argument that a call of this `kind` does not take."""

    code = "E0531"
    stands_alone = True
    says = "`{kind}` takes no `{word}:`"
    mark = "not an argument of `{kind}`"
    otherwise = "it takes {all_known}"
