"""Prepares the contents of a spreadsheet's cells and tabs: texts that remain texts, names of sheets, and numbers that
look as they do in the brief."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import precision
from benchbrief.reports.office.file_texts import plain, shown_by
from benchbrief.reports.text.html_markup import writable
from benchbrief.reports.text.number_format import NBSP, locale

MOST_CHARACTERS = 32_767
MOST_ROWS = 1_048_576
_CUT = " […]"
_MOST_OF_A_NAME = 31
_NOT_IN_A_NAME = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
_RESERVED = "history"
"""A name that spreadsheet programs reserve."""


def cell_text(text: str) -> str:
    """Return a text in the form that a cell can hold: shortened if necessary, and without characters that XML
    forbids."""
    text = writable(text)
    if len(text) <= MOST_CHARACTERS // 2:  # even if each character counts twice
        return text
    wide = len(text) + sum(char > "\uffff" for char in text)
    if wide <= MOST_CHARACTERS:
        return text
    kept = text[: MOST_CHARACTERS - len(_CUT)]
    while len(kept) + sum(char > "\uffff" for char in kept) > MOST_CHARACTERS - len(_CUT):
        kept = kept[:-1]
    return kept + _CUT


def looks_like_a_formula(text: str) -> bool:
    """Return whether a program would take a text for a formula if it were typed into a cell."""
    return text.lstrip()[:1] in ("=", "+", "-", "@") or text[:1] in ("\t", "\r")


def sheet_names(wanted: Iterable[str]) -> list[str]:
    """Return permitted names for sheets, in order. Equal names get numbers."""
    taken: set[str] = {_RESERVED}
    found = []
    for name in wanted:
        plain = _NOT_IN_A_NAME.sub(" ", writable(name)).strip(" '") or "Sheet"
        made, number = _cut(plain, _MOST_OF_A_NAME), 1
        while made.casefold() in taken:
            number += 1
            end = f" ({number})"
            made = f"{_cut(plain, _MOST_OF_A_NAME - len(end))}{end}"
        taken.add(made.casefold())
        found.append(made)
    return found


def _cut(name: str, most: int) -> str:
    """Return the beginning of a name, cut after `most` UTF-16 units, because spreadsheet programs count these."""
    while len(name.encode("utf-16-le")) > 2 * most:
        name = name[:-1]
    return name.strip(" '")


@dataclass(frozen=True)
class ShownNumber:
    """A cell's number, with the number format that makes it look as it does in the brief."""

    value: float
    format: str


_SHOWN = re.compile(r"(?P<before>[^\d−-]*?)(?P<number>[−-]?\d(?:[\d.,\u00a0\u202f’']*\d)?)(?P<after>\D*)", re.DOTALL)
_TIMES = (60.0, 3600.0, 86400.0)
_FACTORS = (*(10.0**power for power in range(-15, 16)), *(2.0 ** (10 * power) for power in range(1, 5)), *_TIMES)


def shown_number(text: str, value: float | None = None) -> ShownNumber | None:
    """Return the only number of a printed text such as 8.7X. Return None if the text has no number, several numbers or
    words, or if a program would show the number differently.

    `value` is the number that was printed, in any unit. It keeps all its digits if they round to the printed text.
    """
    found = _SHOWN.fullmatch(text.strip())
    if found is None or len(found["after"]) > 24 or len(found["before"]) > 4:
        return None
    whole, _, fraction = found["number"].replace("−", "-").rpartition(locale().decimal)
    if not whole or not fraction.isdigit():
        whole, fraction = found["number"].replace("−", "-"), ""
    digits = re.sub(r"[^\d-]", "", whole)
    if not re.fullmatch(r"-?\d{1,15}", digits) or len(digits) + len(fraction) > 16:
        return None
    grouped = len(digits.lstrip("-")) > 3 and not whole.lstrip("-").isdigit()
    printed = float(f"{digits}.{fraction or 0}")
    exact = printed if value is None else _unscaled(value, printed, len(fraction))
    form = ("#,##0" if grouped else "0") + (f".{'0' * len(fraction)}" if fraction else "")
    made = ShownNumber(exact, _quoted(found["before"]) + form + _quoted(found["after"]))
    return made if shown_by(made.value, made.format) == plain(text) else None


def _unscaled(value: float, printed: float, decimals: int) -> float:
    """Return the value in the unit in which it was printed. If the value does not round to the printed number in any
    unit, return the printed number."""
    if not value or not math.isfinite(value):
        return printed
    for factor in sorted(_FACTORS, key=lambda each: abs(math.log(abs(each)))):
        scaled = value / factor
        if abs(scaled) < 1e15 and float(precision.formatted(scaled, f".{decimals}f")) == printed:
            return scaled
    return printed


def _quoted(text: str) -> str:
    """Return a text quoted for a number format."""
    plain = text.replace(NBSP, " ")
    return "".join(f'"{part}"' if part != '"' else '\\"' for part in re.split('(")', plain) if part)
