"""The unit that an author writes behind a hole: the number before it is to be in that unit, whatever it is kept in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchbrief.compiler.briefs.report_errors import UnitBehind
from benchbrief.compiler.metrics.metric_errors import unit_words
from benchbrief.compiler.metrics.typed import Typed
from benchbrief.compiler.problems import CompileProblem
from benchbrief.compiler.units import DIMENSIONLESS, Unit, UnknownUnitError, base_unit, parse_unit
from benchbrief.dsl.source import Span

_BEHIND = re.compile(
    r"(?P<blanks>[\s\u00a0]*)(?P<marks>[*_`]*)(?P<more>[\s\u00a0]*)(?P<unit>%|[A-Za-zµ]+(?:[/*][A-Za-zµ]+)*)"
)
_PER = re.compile(r"[\s\u00a0]+(?:per|an?|in[\s\u00a0]+an?|each|every)[\s\u00a0]+(?P<below>[A-Za-z]+)\b")
_GOES_ON = re.compile(r"[A-Za-z0-9µ]")
_SCALES = re.compile(r"[*_`]*[kKMGT](?![A-Za-z0-9µ])|[\s\u00a0*_`]*(?:thousand|million|billion|trillion)s?\b")
_SCALED = ("s", "B", "B/s")
"""The units in which briefs show no number as it is kept, but by its size (see `reports/values.py`)."""


@dataclass(frozen=True)
class Spelled:
    """A unit behind a hole, and the text that it stands at the start of: as it is, and without it."""

    unit: Unit
    rest: str


def unit_behind(follows: str, typed: Typed, format_: str, span: Span) -> Spelled | CompileProblem | None:
    """What stands behind a hole, when it is a unit of what its number measures; the mistake when it is another one.

    A plain number is what its author says it is, but that it is no percentage without the format `%`.
    """
    dimension = typed.unit.dimension
    if dimension != DIMENSIONLESS and (scale := _SCALES.match(follows)):
        instead = f"write a unit that is as large, such as `k{typed.unit.text}`: the number is converted to it"
        return UnitBehind(span, scale.group().strip(" \u00a0\n*_`"), "a number is scaled by its unit", instead)
    found = _BEHIND.match(follows)
    if not found or _GOES_ON.match(follows, found.end()):
        return None
    text = found["unit"]
    if per := _PER.match(follows, found.end()):  # `kops per second`, `ops a minute`
        rate, _ = _meant(f"{text}/{per['below']}")
        if rate is not None and rate.dimension == dimension:
            return Spelled(rate, found["marks"] + follows[per.end() :])
    unit, surely = _meant(text)
    if unit is None:
        return None
    if dimension == DIMENSIONLESS:
        if unit.text != "%" or (typed.unit.text == "%" and not format_.endswith("%")):
            return None
        why = "the format prints it" if format_.endswith("%") else "the number is a share of 1"
        instead = (
            "write one of the two" if format_.endswith("%") else "write `:.0%` for the format, and nothing behind it"
        )
        return UnitBehind(span, text, why, instead)
    if unit.dimension != dimension:
        own = f"`{base_unit(dimension)}`" + (
            "" if typed.unit.text == base_unit(dimension) else f" or `{typed.unit.text}`"
        )
        why = f"the number is {unit_words(typed.unit)}"
        return (
            UnitBehind(span, text, why, f"write {own}, or end the format in `u`, which prints the unit")
            if surely
            else None
        )
    return Spelled(unit, found["marks"] + follows[found.end() :])


def is_scaled(typed: Typed) -> bool:
    """Whether a number without its unit could be read in several: no metric declares the one that it is in."""
    return typed.display is None and typed.unit.text in _SCALED


def _meant(text: str) -> tuple[Unit | None, bool]:
    """The unit, also by its name or with a slip in it (`seconds`, `KB`); and whether it can be nothing else."""
    meant = text
    for _ in text.split("/"):
        try:
            return parse_unit(meant), meant == text
        except UnknownUnitError as error:
            if error.hint is None:
                return None, False
            meant = meant[: error.start] + error.hint + meant[error.start + len(error.part) :]
    try:
        return parse_unit(meant), False
    except UnknownUnitError:
        return None, False
