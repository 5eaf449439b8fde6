"""Mistakes in the units and kinds of expressions (E0706 to E0708, W0707)."""

from __future__ import annotations

import re

from benchbrief.compiler.problems import CompileProblem
from benchbrief.compiler.units import DIMENSIONLESS, Dimension, Unit, base_unit
from benchbrief.dsl.diagnostics.diagnostic import Note
from benchbrief.dsl.source import Span

_NUMERAL = re.compile(r"-?[0-9][0-9_.]*[kMGT]?")


def unit_words(unit: Unit | Dimension | None) -> str:
    """Return what a term is: "in `ops/s`", "a plain number", "a condition". A dimension alone has its base unit."""
    if unit is None:
        return "a condition"
    dimension, text = (unit.dimension, unit.text) if isinstance(unit, Unit) else (unit, base_unit(unit))
    return "a plain number" if dimension == DIMENSIONLESS else f"in `{text}`"


class UnitMismatch(CompileProblem):
    """Adding or comparing different kinds. The notes give the kind of each side."""

    code = "E0706"
    stands_alone = True
    operator: str
    left: Unit | None
    right: Unit | None
    left_span: Span
    right_span: Span

    @property
    def summary(self) -> str:
        left, right = (unit_words(unit).removeprefix("in ") for unit in (self.left, self.right))
        if self.operator == "+":
            return f"can't add {right} to {left}"
        if self.operator == "-":
            return f"can't subtract {right} from {left}"
        return f"can't compare {left} with {right}"

    @property
    def notes(self) -> tuple[Note, ...]:
        return (
            Note(f"this is {unit_words(self.left)}", self.left_span),
            Note(f"this is {unit_words(self.right)}", self.right_span),
        )

    @property
    def help(self) -> str:
        sides = (self.left, self.left_span, self.right), (self.right, self.right_span, self.left)
        for bare, span, other in sides:
            if bare and other and bare.dimension == DIMENSIONLESS and _NUMERAL.fullmatch(span.text):
                units = ("ms", "s") if other.text == "s" else (other.text,)
                ways = " or ".join(f"`{span.text} {unit}`" for unit in units)
                return f"write the number with its unit, as in {ways}"
        return "write both sides in units of the same kind; benchbrief converts such units"


class WrongUnit(CompileProblem):
    """A metric whose expression has another unit than it declares. `parts` are the units of its operands."""

    code = "E0707"
    stands_alone = True
    says = "metric `{name}` is declared in `{declared}`, but its expression is {found}"
    mark = "{found}"
    name: str
    declared: str
    actual: Dimension
    declared_span: Span
    parts: tuple[tuple[Span, Unit | None], ...]

    @property
    def found(self) -> str:
        return unit_words(self.actual)

    @property
    def notes(self) -> tuple[Note, ...]:
        parts = (Note(f"this is {unit_words(unit)}", span) for span, unit in self.parts)
        return (Note("declared here", self.declared_span), *parts)

    @property
    def help(self) -> str:
        if self.actual == DIMENSIONLESS:
            return f"remove `in {self.declared}`, write `in %`, or correct the expression"
        return f"write `in {base_unit(self.actual)}`, or correct the expression"


class WrongKind(CompileProblem):
    """A condition in the place of a number, or the other way round."""

    code = "E0708"
    stands_alone = True
    says = "expected {wanted}, found {found}"
    hint = "{instead}"
    wanted: str
    found: str
    instead: str


class BareShare(CompileProblem):
    """A number without a unit beside a percentage: -5 is -500 %."""

    code = "W0707"
    says = "`{text}` is {percent:g} %, and the other side is shown in %"
    hint = "did you mean `{text} %`? Otherwise write `{percent:g} %`"
    mend = "{text} %"
    text: str
    percent: float
