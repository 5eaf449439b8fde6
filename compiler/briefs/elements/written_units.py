"""Units that an author writes behind a hole. The number is converted to that unit."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from benchbrief.compiler.briefs.report_errors import UnitBehind
from benchbrief.compiler.metrics.typing.typed_expression import Typed
from benchbrief.compiler.metrics.unit_errors import unit_words
from benchbrief.compiler.units import DIMENSIONLESS, Unit, UnknownUnitError, base_unit, larger_units, parse_unit
from benchbrief.dsl.source import Span

_JAPANESE = {
    "ナノ秒": "ns",
    "マイクロ秒": "us",
    "ミリ秒": "ms",
    "秒": "s",
    "時間": "h",
    "キロワット": "kW",
    "ワット": "W",
    "パーセント": "%",
    "％": "%",
}
"""Names of units, without 分, since 3 分の 1 is a third."""
_BETWEEN = r"(?P<blanks>[\s\u00a0]*)(?P<marks>[*_`]*)(?P<more>[\s\u00a0]*)"
_BEHIND = re.compile(rf"{_BETWEEN}(?P<unit>%|per cent\b|{'|'.join(_JAPANESE)}|[A-Za-zµμ]+(?:[/*][A-Za-zµμ]+)*)")
_TIMES = re.compile(rf"{_BETWEEN}(?P<unit>times\b|[xX×](?![A-Za-z]|\s*\d)|-?fold\b|倍)")
_POINTS = re.compile(rf"{_BETWEEN}(?P<unit>percentage points?\b|ポイント)")
_PLAIN_WORDS = re.compile(
    r"(?:nano|micro|milli)seconds?|seconds|minutes|hours|(?:kilo)?watts|joules|(?:kilo|mega|giga|tera)?bytes|percent"
)
"""Names of units that have no other meaning."""
_PER = re.compile(r"[\s\u00a0]+(?:per|an?|in[\s\u00a0]+an?|each|every)[\s\u00a0]+(?P<below>[A-Za-z]+)\b")
_GOES_ON = re.compile(r"[A-Za-z0-9µ]")
_SCALES = re.compile(r"[*_`]*[kKMGT](?![A-Za-z0-9µ])|[\s\u00a0*_`]*(?:thousand|million|billion|trillion)s?\b")
_SCALED = ("s", "B", "B/s")
"""Units that briefs scale by the size of the number (see `reports/text/number_format.py`)."""


_NEAR = 20
"""A hole and the unit behind it have no more characters between them."""


@dataclass(frozen=True)
class WrittenUnit:
    """A unit behind a hole, with the text after the hole as it is and without the unit."""

    unit: Unit
    rest: str


def unit_behind(follows: str, typed: Typed, format_: str, span: Span) -> WrittenUnit | UnitBehind | None:
    """Return the unit behind a hole, if it fits its number, or the mistake if it does not. A plain number may have any
    unit, except a percentage without the format `%`."""
    found = _unit_behind(follows, typed, format_, span)
    return replace(found, span=_written(span, found.text)) if isinstance(found, UnitBehind) else found


def _written(hole: Span, unit: str) -> Span:
    """Return where the unit stands behind the hole."""
    start = hole.source.text.find(unit, hole.end, hole.end + len(unit) + _NEAR)
    return hole if start < 0 else Span(hole.source, start, start + len(unit))


def _unit_behind(follows: str, typed: Typed, format_: str, span: Span) -> WrittenUnit | UnitBehind | None:
    dimension = typed.unit.dimension
    if dimension == DIMENSIONLESS and (mistake := _other_than_a_share(follows, typed, format_, span)):
        return mistake
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
            return WrittenUnit(rate, found["marks"] + follows[per.end() :])
    unit, surely = _meant(text)
    if unit is None:
        return None
    if dimension == DIMENSIONLESS:
        if unit.text != "%" or (typed.unit.text == "%" and not format_.endswith("%")):
            return None
        why = "the format prints it" if format_.endswith("%") else "the number is a share of 1"
        instead = (
            "write only one of the two"
            if format_.endswith("%")
            else "write `:.0%` for the format, and nothing after it"
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
    return WrittenUnit(unit, found["marks"] + follows[found.end() :])


def _other_than_a_share(follows: str, typed: Typed, format_: str, span: Span) -> UnitBehind | None:
    """Return whether `times` stands behind a percentage, or percentage points behind another number."""
    in_per_cent = typed.unit.text == "%" or format_.endswith("%")
    if in_per_cent and (times := _TIMES.match(follows)):
        instead = "write `%` after it; for `times`, divide the two in a metric that has no `in %` and no `- 1`"
        return UnitBehind(span, times["unit"], "the number is in per cent", instead, surely=True)
    if (points := _POINTS.match(follows)) and format_.endswith("%"):
        instead = (
            f"write `:{format_[:-1]}f` for the format"
            if typed.unit.text == "%"
            else "leave the `%` of the format out, and declare the metric `in %`"
        )
        return UnitBehind(span, points["unit"], "the format prints a `%`", instead, surely=True)
    if points and not in_per_cent:
        return UnitBehind(span, points["unit"], "the number is a share of 1", "declare its metric `in %`", surely=True)
    return None


def is_scaled(typed: Typed) -> bool:
    """Return whether a number needs its unit: no metric declares one."""
    return typed.display is None and (typed.unit.text in _SCALED or bool(larger_units(typed.unit.text)))


def _meant(text: str) -> tuple[Unit | None, bool]:
    """Return the unit, also by its name or misspelt (`seconds`, `KB`), and whether it can have no other meaning."""
    if text in _JAPANESE:
        return parse_unit(_JAPANESE[text]), False
    text = "percent" if text == "per cent" else text
    surely, meant = _PLAIN_WORDS.fullmatch(text) is not None, text
    for _ in text.split("/"):
        try:
            return parse_unit(meant), surely or meant == text
        except UnknownUnitError as error:
            if error.hint is None:
                return None, False
            meant = meant[: error.start] + error.hint + meant[error.start + len(error.part) :]
    try:
        return parse_unit(meant), surely
    except UnknownUnitError:
        return None, False
