"""Mistakes in the schedule of a run (E055x)."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler.problems import CompileProblem


@dataclass(frozen=True)
class TooFewRepeats(CompileProblem):
    """Too few repeats for a useful confidence interval."""

    code = "E0550"
    says = "{count} {noun} {are} too few for a useful confidence interval"
    hint = "write `from: {fewest}` or more, or leave it out"
    count: int
    fewest: int

    @property
    def noun(self) -> str:
        return "repeat" if self.count == 1 else "repeats"

    @property
    def are(self) -> str:
        return "is" if self.count == 1 else "are"


@dataclass(frozen=True)
class NoRoomToStop(CompileProblem):
    """A `to:` that is not above `from:`, so that confidence can save no repeat."""

    code = "E0551"
    says = "`to: {most}` must be above `from: {fewest}`, or no repeat can be saved"
    hint = "write a larger `to:`, or `repeats = {most}` for a fixed number"
    fewest: int
    most: int
