"""Mistakes in how a run is scheduled (E055x), each with its stable code and all of its prose."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler.problems import CompileProblem


@dataclass(frozen=True)
class TooFewRepeats(CompileProblem):
    """Repeats that are to end by a confidence interval of fewer than can have a useful one."""

    code = "E0550"
    says = "a confidence interval of {count} {noun} says next to nothing"
    hint = "write `from: {fewest}` or more, or leave it out"
    count: int
    fewest: int

    @property
    def noun(self) -> str:
        return "repeat" if self.count == 1 else "repeats"


@dataclass(frozen=True)
class NoRoomToStop(CompileProblem):
    """`to:` is not above `from:`: there is nothing that confidence could spare."""

    code = "E0551"
    says = "there are {fewest} repeats at least, so `to: {most}` leaves none to be spared"
    hint = "write a larger `to:`, or `repeats = {most}` to have so many in any case"
    fewest: int
    most: int
