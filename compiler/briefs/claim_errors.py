"""Mistakes in claims (E083x, W076x), each with a stable code and the full text of its message."""

from __future__ import annotations

from benchbrief.compiler.problems import Again, CompileProblem, Misspelt
from benchbrief.dsl.diagnostics.diagnostic import Edit, Suggestion
from benchbrief.dsl.diagnostics.plain_amounts import ticked
from benchbrief.dsl.source import Span


class ClaimWithoutValue(CompileProblem):
    code = "E0830"
    stands_alone = True
    says = "the claim `{name}` lacks its sentence or its value"
    hint = 'write both: `claim {name} "{{value:.1f}} times the work" {{ value = max(gain over threads) }}`'
    name: str


class OneValue(CompileProblem):
    code = "E0831"
    stands_alone = True
    says = "a claim says one number, and this sentence has {count}"
    hint = (
        "write `{{value}}` once, with a format such as `{{value:.1f}}`; two numbers are two claims, and the ends of a "
        "range are one: `value = range(...)`"
    )
    count: int


class UnclearBase(CompileProblem):
    """A value that is divided by several contenders, so that it could be compared with any of them. `labels` are their
    labels, and `first` is the name of the first one."""

    code = "E0832"
    says = "what is this compared with? It is divided by {listed}"
    hint = "say which one the reader compares with: `against = {first}`"
    labels: tuple[str, ...]
    first: str

    @property
    def listed(self) -> str:
        return ticked(self.labels)


class NoRange(CompileProblem):
    code = "E0833"
    stands_alone = True
    says = "`{words}` speaks of a range, but `{value}` is one value"
    hint = "take the highest: `value = max({value} over threads)`, or say the value without `{words}`"
    words: str
    value: str


class OtherEnd(CompileProblem):
    code = "E0834"
    stands_alone = True
    says = "`{words}` promises the {promised} value, but `{value}` is the {taken}"
    hint = "take the {promised}{instead}, or say it in other words"
    words: str
    value: str
    promised: str
    taken: str
    instead: str = ""


class TimesMore(CompileProblem):
    code = "E0835"
    stands_alone = True
    says = "`{words}` can mean two things: 2 times faster is 2 times or 3 times as fast"
    hint = "write `times as fast`, `times the throughput`; or per cent, for a value that is a change (`a / b - 1`)"
    words: str


class RatioAsChange(CompileProblem):
    code = "E0836"
    stands_alone = True
    says = "`{value}` is a ratio: 117 % of the base is 17 % higher, not 117 %"
    hint = "subtract 1 in the value (`a / b - 1`), or write `of` behind the per cent, not `{words}`"
    words: str
    value: str


class ChangeAsRatio(CompileProblem):
    code = "E0840"
    stands_alone = True
    says = "`{value}` is a change: 17 % more is 117 % of the base, not 17 % of it"
    hint = "write `more than` or `higher than` behind the per cent, not `{words}`; or take the ratio, `a / b`"
    words: str
    value: str


class UndecidableClaim(CompileProblem):
    code = "E0841"
    says = "what `{value}` is when it equals {base} can't be told, so no repeats can decide the claim"
    hint = 'claim a ratio (`a / b`) or a change (`a / b - 1`), or say why not: `allow "reason" = decided`'
    value: str
    base: str


class RatioOfNothing(CompileProblem):
    code = "E0850"
    stands_alone = True
    says = "`{words}` compares, and `{value}` is compared with nothing"
    hint = "divide by what the sentence compares with, as in `throughput[eco] / throughput[legacy]`, or use other words"
    words: str
    value: str


class NestedExtreme(CompileProblem):
    code = "E0842"
    stands_alone = True
    says = "`{value}` computes with `{extreme}`, so the point where it was found is lost"
    hint = "compute inside: `max(a / b - 1 over threads)` in place of `max(a / b over threads) - 1`"
    value: str
    extreme: str


class ClaimOfName(CompileProblem):
    code = "E0843"
    stands_alone = True
    says = "`{name}` is {what}, and the value of a claim is a number"
    hint = "write an expression of what is measured, such as `max(gain over threads)`"
    name: str
    what: str


class ClaimOfClaim(ClaimOfName):
    hint = "write the expression of its value here"
    what: str = "a claim"


class NoClaim(CompileProblem):
    code = "E0844"
    stands_alone = True
    says = "only names of claims can stand here, not {found}"
    hint = 'declare it, `claim name "{{value:.1f}}X" {{ value = ... }}`, or write `headline "{{...}}" = "..."`'
    found: str


class HeadlinedTwice(Again):
    code = "E0851"
    stands_alone = True
    says = "the headline says the claim `{name}` twice"
    remark = "said here"
    hint = "keep one; each number of the first page is another claim"
    name: str


class NoSuchBase(Misspelt):
    code = "E0845"
    says = "the value is not compared with `{word}`"
    otherwise = "it is compared with {all_known}"
    when_none = "it is compared with nothing that has a name"


class OtherDirection(CompileProblem):
    code = "E0846"
    stands_alone = True
    says = "`{words}` is the other way: `{value}` is above 0 where there is {actual}"
    hint = "say {actual}, or turn the value round: `a / b - 1` is how much more, `1 - a / b` how much less"
    words: str
    value: str
    actual: str


class BestAgainstWorst(CompileProblem):
    code = "E0847"
    stands_alone = True
    says = "`{value}` compares the best of one side with the worst of the other"
    hint = "compare like with like: `max(a / b over threads)` at each point, or `max(a) / max(b)`, the best of both"
    value: str


class TypedResult(CompileProblem):
    code = "E0837"
    stands_alone = True
    says = "`{found}` in {where} is a result that nothing computes: it stays when the data change"
    hint = 'write `{{value:.1f}}` in its place; a number that is no result is allowed by `allow "reason" = typed`'
    found: str
    where: str


class NoReason(CompileProblem):
    code = "E0838"
    stands_alone = True
    says = "an exception needs its reason, which `bench claims` tells"
    hint = 'write it in quotes: `allow "as the data sheet rounds" = {rule}`'
    rule: str


class LuckiestRepeat(CompileProblem):
    code = "E0849"
    stands_alone = True
    says = "`{value}` takes the luckiest repeat, which is chance"
    hint = "leave `repeat` out: a value is the mean of its repeats"
    value: str


class AllowedTwice(CompileProblem):
    code = "E0848"
    stands_alone = True
    says = "the rule `{rule}` is set aside twice"
    hint = "write one reason; `bench claims` tells one for each rule"
    rule: str


class ClaimTaken(CompileProblem):
    code = "E0839"
    stands_alone = True
    says = "`{name}` is the name of a {kind}, so that `{{{name}}}` in a text would be unclear"
    hint = "give the claim another name"
    name: str
    kind: str


class TypedValue(TypedResult):
    hint = 'compute it of what is measured; a number that is no result is allowed by `allow "reason" = typed`'


class TypedInTitle(TypedResult):
    """A result that is typed into a title, a subtitle or a headline by hand, although no claim states it."""

    code = "W0760"
    hint = "make it a claim, and write its name in its place, as in `{{speedup}}`"


class OtherBase(CompileProblem):
    """Words that compare with one contender although the value is compared with another."""

    code = "W0763"
    says = "the words compare with `{named}`, and `{value}` is compared with {base}"
    hint = "name {base}, or divide by `{named}`"
    named: str
    value: str
    base: str


class ComputedWithoutClaim(CompileProblem):
    """A comparison, or an end of a range, that is computed although a claim is required. `claim` is the claim to write,
    or "" if it takes more than a line. `mended` has the span of the text, the new text, and the offset at which to
    insert the claim.
    """

    code = "W0762"
    says = "`{value}` in {where} is a result, and no claim: nothing tells its range, or whether the repeats decide it"
    value: str
    where: str
    can_be_claim: bool = True
    claim: str = ""
    mended: tuple[Span, str, Span] | None = None

    @property
    def help(self) -> str:
        if self.claim:
            return f"declare `{self.claim}`, and write its name here"
        if not self.can_be_claim:
            return "write `range(...)`, which tells the lowest value, too"
        return (
            "make its sentence a claim, and write the claim's name in its place; or say in the report why not: "
            '`allow "reason" = computed`'
        )

    @property
    def suggestion(self) -> Suggestion | None:
        if self.mended is None:
            return None
        place, written, before = self.mended
        start = Span(before.source, before.start, before.start)
        return Suggestion(place, written, (Edit(start, f"{self.claim}\n\n"),))


class WordsAround(CompileProblem):
    """Words around a claim's name in a text that contradict or exceed the claim's number.

    `rule` is the code of a rule, and `found` is that rule's message about the whole sentence.
    """

    code = "W0761"
    stands_alone = True
    says = "the words around `{{{claim}}}` go further than its number: {found}"
    hint = "leave them out, or change the claim so that they are right: `bench explain {rule}`"
    claim: str
    found: str
    rule: str
