"""Mistakes in the held-out repeats of claims, each with a stable code and the full text of its message."""

from __future__ import annotations

from benchbrief.compiler.problems import CompileProblem
from benchbrief.dsl.diagnostics.plain_amounts import plural


class HeldOutOfOne(CompileProblem):
    code = "E0855"
    stands_alone = True
    says = "`held_out` measures the point of a highest or lowest value again, and `{value}` has none"
    hint = "take the highest, `value = max({value} over threads)`, or leave `held_out` out"
    value: str


class HeldOutOfSome(CompileProblem):
    code = "E0856"
    stands_alone = True
    says = "`{extreme}` is chosen by a condition, so the point to measure again can't be told"
    hint = "put the condition into a metric, or leave `held_out` out"
    extreme: str


class HeldOutOfParts(CompileProblem):
    code = "E0858"
    stands_alone = True
    says = "`{extreme}` has no one point to measure again: it is made of other extremes, or is within one measurement"
    hint = "take one highest over all its dimensions, `max(... over threads, workload)`, or leave `held_out` out"
    extreme: str


class HeldOutAlready(CompileProblem):
    code = "E0857"
    stands_alone = True
    says = "`{value}` is the rate of a search, which its own held-out runs confirm"
    hint = (
        "leave `held_out` out here; `highest(..., held_out: 5)` of the experiment says how many runs confirm the rate"
    )
    value: str


class FewHeldOut(CompileProblem):
    """Held-out repeats that will hardly confirm a true difference, because several claims share the allowed chance of
    error."""

    code = "W0765"
    says = "{repeats} of {all_claims} would leave open more than one in five differences of 10 % with noise of 2 %"
    hint = "write `held_out = {advised}`: all claims of a brief share the 5 % chance to be wrong"
    times: int
    claims: int
    advised: int

    @property
    def repeats(self) -> str:
        return plural(self.times, "held-out repeat")

    @property
    def all_claims(self) -> str:
        return "one claim" if self.claims == 1 else f"each of {self.claims} claims"


class HighestNotHeldOut(CompileProblem):
    """A comparison of highest values that are not measured again, although each may be the luckiest of several.
    `advised` is the number of held-out repeats needed, or 0 if none are possible."""

    code = "W0767"
    says = "`{value}` compares the best of several, chosen for its noise: without `held_out` the claim is not said"
    value: str
    extremes: int
    advised: int

    @property
    def help(self) -> str:
        if not self.advised:
            return (
                "no one point can be measured again; take one highest, `max(... over threads, workload)`, or say why "
                'not: `allow "reason" = decided`'
            )
        points = "the point that won is" if self.extremes == 1 else f"the {self.extremes} points that won are"
        return f"write `held_out = {self.advised}`: {points} measured again, and the claim takes these repeats alone"
