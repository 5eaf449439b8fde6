"""Mistakes with signs, commas and comparisons (E0107, E0108, E0117 to E0120)."""

from __future__ import annotations

from benchbrief.dsl.diagnostics.problem import Mended, Problem


class WrongSign(Problem):
    """A sign that has another meaning here. `where` says what `wanted` is for."""

    code = "E0107"
    says = "`{found}` in place of `{wanted}`"
    mark = "write `{wanted}`"
    hint = "{where}"
    mend = "{wanted}"
    found: str
    wanted: str
    where: str


class Semicolon(Problem):
    code = "E0108"
    says = "a `;` is not allowed here"
    mark = "remove it"
    hint = "attributes need no separator: write each on its own line, or separate them with spaces"
    mend = ""


class QuotedKey(Mended):
    code = "E0107"
    says = "the name of an attribute has no quotes"
    hint = "an attribute is written `{mended} = value`, without quotes, `:` or a comma at its end"


class MissingComma(Problem):
    """`span` is what comes after the missing comma. `closer` could stand there, too; "" where nothing is open."""

    code = "E0117"
    says = "no `,` before {found}"
    mark = ("expected `,` or `{closer}`", "expected `,`")
    found: str
    closer: str

    @property
    def help(self) -> str:
        return "separate the items with `,`" if self.closer else "write `, higher is better` after the expression"


class MissingEvery(Problem):
    """`cpu 1 s`: a probe and an interval side by side. `span` is the interval."""

    code = "E0117"
    says = "no `every` before `{interval}`"
    mark = "how often `{probe}` samples"
    hint = "write `{probe} every {interval}`"
    probe: str
    interval: str


class StrayComma(Problem):
    code = "E0118"
    says = "this `,` separates nothing"
    mark = "remove it"
    mend = ""


class DigitsWithCommas(Mended):
    code = "E0118"
    says = "a number can't have commas"


class ChainedComparison(Problem):
    code = "E0119"
    says = "comparisons can't be chained"
    mark = "a second comparison"
    hint = "write `a < b and b < c`"


class LogicSign(Problem):
    code = "E0120"
    says = "`{found}` is written `{word}`"
    mark = "write `{word}`"
    mend = "{word}"
    found: str
    word: str
