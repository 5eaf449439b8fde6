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


class NoLabel(CompileProblem):
    code = "E0820"
    says = "the label of level `{level}` is empty"
    hint = "write what readers call it; without a label, it is called `{level}`"
    level: str


class SameLabels(Again):
    code = "E0821"
    says = "levels `{one}` and `{other}` are both called `{called}`"
    mark = "the same label again"
    remark = "the same label"
    hint = "give each level a label of its own: readers could not tell them apart"
    called: str
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


class SameCells(CompileProblem):
    """A factor whose levels make no difference to a workload and its database."""

    code = "E0812"
    says = "experiment `{experiment}` varies `{factor}`, {why}"
    mark = "{count:plural level} of one and the same cell"
    hint = "use `{factor}` in one of them, or measure `{workload}` in an experiment that does not vary it"
    experiment: str
    factor: str
    workload: str
    database: str
    count: int
    used: bool = False
    """Whether the workload or the database uses the factor, but only in ways that do not affect the workload's cells.
    """

    @property
    def why(self) -> str:
        if self.used:
            return f"but cells of workload `{self.workload}` are the same at its levels"
        return f"which neither workload `{self.workload}` nor database `{self.database}` uses"


# --- names and places --------------------------------------------------------------------------------------------


class TakenName(CompileProblem):
    code = "E0813"
    says = "factor `{name}` has the name of {what}"
    mark = "taken"
    hint = "give it another name: results have a column, and expressions a dimension, by the name of each factor"
    name: str
    what: str


class FactorNotHere(CompileProblem):
    code = "E0814"
    says = "factor `{factor}` can't stand in {where}"
    mark = "not varied here"
    hint = (
        "it may stand in options of a database and in attributes of a workload, as `{{{factor}}}` in `path` and `uri`, "
        "and in `with:` of a database's commands; a word that is meant here needs a factor of another name"
    )
    factor: str
    where: str


class FactorIsWord(CompileProblem):
    code = "E0815"
    says = "`{word}` is a word of `{key}`, and a factor too"
    mark = "which of them?"
    hint = "give the factor another name"
    word: str
    key: str


class WholeBundle(CompileProblem):
    code = "E0816"
    says = "factor `{factor}` sets {settings:ticked}, so it is no single value"
    mark = "which of them?"
    hint = "write {ways}"
    factor: str
    settings: tuple[str, ...]

    @property
    def ways(self) -> str:
        return " or ".join(f"`{self.factor}.{setting}`" for setting in self.settings)


class UnknownSetting(Misspelt):
    code = "E0817"
    says = "factor `{factor}` has no setting `{word}`"
    mark = "not one of its settings"
    when_none = "it is a single value: write `{factor}`"
    factor: str


class UnusedFactor(CompileProblem):
    code = "E0818"
    says = "nothing uses `{word}`"
    mark = "its levels change nothing"
    hint = "write `{word}` in place of a value in a database or a workload, or remove it"
    factor: str
    word: str


class FactorNotVaried(CompileProblem):
    code = "W0214"
    says = "no experiment varies factor `{factor}`"
    mark = "always at its default"
    hint = "write `vary = {factor}` in an experiment, or the value in place of the factor"
    factor: str


# --- order -------------------------------------------------------------------------------------------------------


class TurnsNeedLoads(CompileProblem):
    """Levels that take turns in one storage place although they have different data sets."""

    code = "E0819"
    says = "`interleaved` makes experiment `{experiment}` load {loads:,} times, about {load_s:duration} of loading"
    mark = "each turn to another level of {factors:ticked} loads its data again"
    hint = "write {holes} in `{where}`: a data set for each level, loaded once; or measure `grouped`, level by level"
    experiment: str
    factors: tuple[str, ...]
    words: tuple[str, ...]
    """The words that tell each factor's levels apart in a path: `codec`, or `tuning.cache` for a bundle."""
    loads: int
    load_s: float
    where: str

    @property
    def holes(self) -> str:
        return " and ".join(f"`{{{word}}}`" for word in self.words)
