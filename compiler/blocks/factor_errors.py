"""Mistakes in factors and in the levels that experiments measure (E08xx)."""

from __future__ import annotations

from benchbrief.compiler.problems import Again, CompileProblem, Misspelt
from benchbrief.dsl.diagnostics.plain_amounts import plural, ticked

# --- levels ------------------------------------------------------------------------------------------------------


class NotAFactor(Misspelt):
    code = "E0801"
    says = "unknown factor `{word}`"
    mark = "not declared"
    when_none = "none is declared: add `factor {word} {{ levels = [...] }}`"


class UnknownLevel(Misspelt):
    code = "E0802"
    says = "factor `{factor}` has no level `{word}`"
    mark = "not one of its levels"
    factor: str


class TooFewLevels(CompileProblem):
    code = "E0803"
    says = "factor `{factor}` has {found}, and to vary it takes two"
    hint = 'write `levels = [100 B, 1 kB]`, or levels with names: `none "No compression" = "none"`'
    factor: str
    count: int

    @property
    def found(self) -> str:
        return plural(self.count, "level") if self.count else "no levels"


class TwoKindsOfLevels(Again):
    code = "E0804"
    says = "factor `{factor}` has levels of two kinds"
    mark = "of another kind"
    remark = "of one kind"
    hint = "write all of them in `levels`, or all with names, or all as `level name {{ ... }}`"
    factor: str


class SameLevels(Again):
    code = "E0805"
    says = "levels `{one}` and `{other}` of factor `{factor}` are the same"
    mark = "the same again"
    remark = "the same level"
    hint = "remove one of them, or change its value: equal levels measure the same twice"
    factor: str
    one: str
    other: str


class NoLevelValue(CompileProblem):
    code = "E0806"
    says = "level `{level}` is {found}"
    hint = "a level is a number, a quoted text, a word, `true` or `false`; a ramp of them belongs in `levels`"
    level: str
    found: str


class NoLevelWord(CompileProblem):
    code = "E0807"
    says = "{found} can't be a level in `levels` of factor `{factor}`, where all are words, or all are numbers"
    mark = "no word"
    hint = 'give each level a name, in place of `levels`: `w1 "w: 1" = 1`'
    factor: str
    found: str


class OtherSettings(CompileProblem):
    code = "E0808"
    says = "level `{level}` {differs}"
    hint = "give each level of a factor the same settings"
    level: str
    first: str
    lacking: tuple[str, ...]
    surplus: tuple[str, ...]

    @property
    def differs(self) -> str:
        if self.lacking:
            return f"lacks {ticked(self.lacking)}, which `{self.first}` has"
        return f"has {ticked(self.surplus)}, which `{self.first}` lacks"


# --- what an experiment varies -----------------------------------------------------------------------------------


class TooManyCombinations(CompileProblem):
    code = "E0809"
    says = "experiment `{experiment}` has {count:,} combinations of levels, and the most are {most:,}"
    mark = "{sizes:joined}"
    hint = "vary fewer factors, fewer levels with `codec[none, zstd]`, or leave combinations out with `when`"
    experiment: str
    count: int
    most: int
    sizes: tuple[str, ...]


class NothingLeft(CompileProblem):
    code = "E0810"
    says = "no combination of levels is left of the {count:,} in experiment `{experiment}`"
    mark = "holds for none of them"
    hint = "change the condition so that it holds for the combinations to measure"
    experiment: str
    count: int


class NoCondition(CompileProblem):
    code = "E0811"
    says = "`when` {why}"
    hint = "compare factors that are varied with their levels: `codec != none or vsize > 100 B`"
    why: str
