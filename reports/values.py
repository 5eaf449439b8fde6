"""Numbers for people: units scaled to a readable size, digits chosen for a whole column, true minus signs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchbrief.reports.locales import locale

NBSP = "\u00a0"
_STEPS: dict[str, tuple[tuple[float, str], ...]] = {
    "s": ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")),
    "B": ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")),
    "B/s": ((1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")),
}


_MICRO = re.compile(r"(?<![A-Za-z])us\b")


@dataclass(frozen=True)
class Scale:
    """How a column or an axis shows values of a unit: `shown = value / factor`, in `unit`."""

    factor: float
    unit: str

    def __call__(self, value: float) -> float:
        return value / self.factor


def number(value: object) -> float | None:
    """A result as a finite float; None for what is missing (NULL, NaN, an infinity)."""
    if isinstance(value, bool) or value is None:
        return None if value is None else float(value)
    try:
        result = float(value)  # type: ignore[arg-type]  # DECIMAL and other numeric types of the store
    except (TypeError, ValueError):
        return None
    return result if math.isfinite(result) else None


def key_text(label: str, value: object) -> str:
    """The label of a dimension's key: a number's as the language writes it."""
    return locale().numerals(label) if isinstance(value, float) else label


_ONE = {"nodes": "node", "threads": "thread", "cores": "core", "records": "record", "ops": "op"}
"""What is counted, of one."""


def unit_text(unit: str) -> str:
    """A unit as it is printed: `us/op` as µs/op; dimensionless ones print nothing."""
    return "" if unit in ("", "1") else _MICRO.sub("µs", unit)


def scale_for(values: Iterable[float | None], unit: str, *, long: bool = False) -> Scale:
    """The scale on which the largest of the values is at least 1. Units without steps stay as they are.

    `long` times may be in minutes and hours.
    """
    if unit == "share":
        return Scale(0.01, "%")
    steps = _STEPS.get(unit)
    if steps and unit == "s" and long:
        steps = (*steps, (60.0, "min"), (3600.0, "h"))
    if steps is None:
        return Scale(1.0, unit_text(unit))
    largest = max((abs(v) for v in values if v is not None), default=0.0)
    fitting = [step for step in steps if step[0] <= largest]
    factor, name = fitting[-1] if fitting else next(s for s in steps if s[1] == unit)
    return Scale(factor, name)


def decimals_for(values: Iterable[float | None]) -> int:
    """Digits after the point for a column: about four significant for its smallest value, at most two from 1 up."""
    sizes = [abs(v) for v in values if v]
    if not sizes:
        return 0
    if all(v == int(v) for v in sizes) and max(sizes) < 1e15:
        return 0
    if max(sizes) < 1:
        return min(6, 2 - math.floor(math.log10(max(sizes))))
    return max(0, min(2, 3 - math.floor(math.log10(min(sizes)))))


def fixed(value: float, decimals: int) -> str:
    """1234.5 -> 1,234.5 with a true minus sign; a rounded zero has no sign."""
    text = f"{value:,.{decimals}f}"
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("-")
    return locale().numerals(text.replace("-", "−"))


def automatic(value: float) -> str:
    """One number on its own."""
    return fixed(value, decimals_for([value]))


def formatted(value: float, spec: str, unit: str) -> str:
    """A value by a format specification of Python's format language. Raises ValueError for one that is none.

    A value in % is a share for the `%` presentation, which multiplies by 100.
    """
    if not spec:
        return automatic(value)
    if spec.endswith("%") and unit == "%":
        value /= 100
    text = format(value, spec)
    if not re.search("[1-9]", text):
        text = text.lstrip("+-")  # what rounds to zero is neither more nor less
    return locale().numerals(text.replace("-", "−"))


def with_unit(text: str, unit: str) -> str:
    """A number and its unit, which never part at the end of a line."""
    unit = unit_text(unit)
    return f"{text}{NBSP}{unit}" if unit else text


def quantity(value: float, unit: str, *, significant: int = 0) -> str:
    """One number on its own, scaled, with its unit: 0.00081 s -> 810 µs; with so many significant digits at least."""
    scale = scale_for([value], unit)
    shown = scale(value)
    decimals = decimals_for([shown])
    if significant and shown and shown != int(shown):
        decimals = max(decimals, significant - 1 - math.floor(math.log10(abs(shown))))
    text = fixed(shown, decimals)
    return with_unit(text, _ONE.get(scale.unit, scale.unit) if text == "1" else scale.unit)


def spelled_unit(unit: str, follows: str) -> str:
    """The start of a text behind a number that is its unit, as a format ending in `u` puts it there; else nothing."""
    spelled = f"{NBSP}{unit}"
    after = follows[len(spelled) :]
    return spelled if unit and follows.startswith(spelled) and not re.match(r"[A-Za-z/·^]", after) else ""


def belonging(unit: str, follows: str) -> str:
    """The start of a text behind a number that says nothing without it: its unit, or what is joined to it (`X`)."""
    spelled = re.match(rf"[ {NBSP}]{re.escape(unit)}(?![A-Za-z/·^])", follows) if unit not in ("", "1") else None
    found = spelled or _JOINED.match(follows)
    return found.group() if found else ""


def in_prose(
    value: float, high: float | None, spec: str, unit: str, follows: str, to: str, *, declared: bool = False
) -> str:
    """A computed number, or a range, as it stands in a sentence that goes on with `follows`.

    It is printed as `spec` says, or, without one, scaled and with its unit. Where its unit follows (a format ending in
    `u`), times and sizes are scaled before the digits are applied, from ns to h and from B to TB, unless a metric
    declares the unit; the unit is then part of what is returned. What is joined to a range without a blank belongs to
    both ends: `{range(x):.0f}X` prints "28X to 37X".
    """
    values = [v for v in (value, high) if v is not None]
    unit_after = ""
    if spec:
        scale = Scale(1.0, unit_text(unit))
        if spelled_unit(unit, follows):
            scale = scale if declared else scale_for(values, unit, long=True)
            unit_after = scale.unit
        texts = [formatted(scale(v), spec, unit) for v in values]
    else:
        scale = scale_for(values, unit)
        decimals = decimals_for([scale(v) for v in values])
        texts, unit_after = [fixed(scale(v), decimals) for v in values], scale.unit
    if len(texts) == 2 and texts[0] == texts[1]:
        texts.pop()  # a range with equal ends as printed is one number
    joined = _JOINED.match(follows)
    suffix = joined.group() if joined and len(texts) == 2 else ""
    return with_unit(f"{suffix}{to}".join(texts), unit_after)


_JOINED = re.compile(r"(?:[A-Za-z%×]{1,3}(?![A-Za-z])|-fold\b|倍)")


_SIZES = (
    *((2.0**40, "TiB"), (1e12, "TB"), (2.0**30, "GiB"), (1e9, "GB")),
    *((2.0**20, "MiB"), (1e6, "MB"), (2.0**10, "KiB"), (1e3, "kB")),
)


def bytes_text(count: float, *, exact: bool = True) -> str:
    """1048576 -> 1 MiB; 1000 -> 1 kB: in the unit, binary or decimal, that needs no more than three decimals.

    What is not `exact` is rounded: 206381056 -> 197 MiB.
    """
    for size, unit in _SIZES:
        if exact and count >= size and count / size == round(count / size, 3):
            return with_unit(locale().numerals(f"{count / size:g}"), unit)
        if not exact and count >= size and unit.endswith("iB"):
            return with_unit(locale().numerals(f"{count / size:{'.3g' if count < 1000 * size else ',.0f'}}"), unit)
    return with_unit(fixed(count, 0), "B")


def duration(seconds: float) -> str:
    """900 -> 15 min; whole hours, minutes or seconds, whichever are exact."""
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:.0f}{NBSP}{unit}"
    return with_unit(locale().numerals(f"{seconds:g}"), "s")


def points(values: Sequence[float]) -> str:
    """1, 2, 4 with thousands separated."""
    return ", ".join(locale().numerals(f"{v:,.0f}" if v == int(v) else f"{v:,g}") for v in values)
