"""How numbers are rounded and printed, and how many operations a percentile needs so that chance does not decide it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

Printing = Literal[1, 2, 3, 4, 5, 6, 7, 8]
"""A version of the rules by which numbers are printed. Each version keeps the earlier rules that it does not change.

- 1: as in earlier versions, halves are rounded to the even neighbour, and a share has no blank before its `%`.
- 2: halves are rounded away from zero, and a share is written 79 %.
- 3: a number of nodes is rounded up to a whole number.
- 4: a number is rounded in one direction only if that changes it little, and fewer than three nodes have a decimal.
- 5: a number that is not whole keeps the zeros among its significant digits, such as 1.0 beside 2.7.
- 6: a large number has an exponent only if its format asks for one: 96,100, and not 9.61e+04.
- 7: in Japanese, a share has no blank before its `%`.
- 8: no language has a blank between a share and its `%`, and Japanese has none between a number and a Japanese word.
"""

_PRINTING: ContextVar[Printing] = ContextVar("printing", default=8)
_MOST_WRITTEN_OUT = 15
"""From this power of ten on, a number in a `g` format gets an exponent, since a float has no further digits."""
_SPEC = re.compile(r"(?P<look>.*?)(?:\.(?P<digits>\d+))?(?P<kind>[eEfFgGn%]?)")


@contextmanager
def printed_as(printing: Printing) -> Iterator[None]:
    """Inside this block, print numbers by these rules."""
    before = _PRINTING.set(printing)
    try:
        yield
    finally:
        _PRINTING.reset(before)


def printing() -> Printing:
    """Return the rules by which numbers are currently printed (see `printed_as`)."""
    return _PRINTING.get()


def to_decimals(value: float, decimals: int) -> float:
    """Round to a number of digits after the decimal point; a negative number rounds to tens, hundreds and so on."""
    if printing() == 1:
        return round(value, decimals)
    return _at(_written(value), -decimals)


def to_digits(value: float, digits: int) -> float:
    """Round to a number of significant digits."""
    if printing() == 1:
        return float(f"{value:.{digits}g}")
    written = _written(value)
    return _at(written, written.adjusted() - digits + 1) if written else value


def in_percent(share: float) -> str:
    """Return a share in per cent, with up to four digits and no trailing zeros: 97.5."""
    return f"{100 * share:.4g}"


def formatted(value: float, spec: str) -> str:
    """Format a number by a Python format specification, like `format(value, spec)` but with rounding of our own. Raises
    ValueError for an invalid specification."""
    found = _SPEC.fullmatch(spec)
    if found is None or not math.isfinite(value) or printing() == 1:
        return format(value, spec)
    kind, digits = found["kind"], int(found["digits"] or 6)
    if kind in ("g", "G"):
        shown = to_digits(value, max(1, digits))
        decimals = digits - 1 - magnitude(shown or 1)
        if printing() > 4 and found["digits"] and value != int(value) and 0 < decimals < digits + 4:
            return format(shown, f"{found['look']}.{decimals}f")  # with more decimals, `g` has an exponent
        if printing() > 5 and decimals < 0 and magnitude(shown) < _MOST_WRITTEN_OUT:
            look = found["look"] if re.search("[,_]", found["look"]) else f"{found['look']},"
            return format(shown, f"{look}.0f")
    match kind:
        case "f" | "F":
            value = to_decimals(value, digits)
        case "%":
            value = to_decimals(value, digits + 2)
        case "e" | "E":
            value = to_digits(value, digits + 1)
        case _ if kind or found["digits"]:
            value = to_digits(value, max(1, digits))
    return format(value, spec)


def share_text(share: float, decimals: int = 0) -> str:
    """Return a share for a message, such as 79 %. A share that rounds to 0 has no sign."""
    text = formatted(share, f".{decimals}%").removesuffix("%")
    return f"{text if re.search('[1-9]', text) else text.lstrip('-')} %"


def magnitude(value: float) -> int:
    """Return the power of ten of a non-zero number's first digit: 0 for 1 to 9.99, 3 for 1,000, -1 for 0.5."""
    return math.floor(math.log10(abs(value)))


def _written(value: float) -> Decimal:
    return Decimal(f"{value:.15g}")


def _at(written: Decimal, exponent: int) -> float:
    if written.as_tuple().exponent >= exponent:  # type: ignore[operator]  # no text for a number that is none
        return float(written)
    return float(written.quantize(Decimal((0, (1,), exponent)), rounding=ROUND_HALF_UP))


COMPLETE = 0.95
"""If a probe's samples cover less than this share of the measured time, a brief warns of this and gives no energy
value."""
FEWEST = 10
"""The fewest operations beyond a percentile for it not to be reported as uncertain.

The number of operations beyond the true percentile is binomial. If 10 are expected, it is 4 to 16 with a confidence of
95 % (10 ± 1.96 √10), so the percentile is between the 4th and the 16th slowest. If 4 are expected, the interval begins
at the slowest one. (Intervals of quantiles by ranks: H. A. David, H. N. Nagaraja, Order Statistics, chapter 7.)
"""


def share_beyond(statistic: str) -> float | None:
    """Return the share of operations beyond a percentile, 0.01 for p99, or None for a mean."""
    name, digits = statistic[:1], statistic[1:]
    return 1 - float(digits) / 100 if name == "p" and digits.replace(".", "", 1).isdigit() else None


def are_few(beyond: float) -> bool:
    return beyond < FEWEST - 1e-6


_LAST_DIGIT = re.compile(r"(?:\.(?P<digits>\d{1,2}))?(?P<kind>[eEfFgGn%]?)\Z")


def last_digit(spec: str, value: float) -> float:
    """Return the value of the last printed digit in this format, or 0 if it can't be determined."""
    found = _LAST_DIGIT.search(spec)
    if found is None or not value or not math.isfinite(value):
        return 0.0
    digits, kind = found["digits"], found["kind"]
    if kind in ("f", "F", "%"):
        return (0.01 if kind == "%" else 1.0) * 10.0 ** -int(digits or 6)
    return 10.0 ** (magnitude(value) - int(digits) + (kind not in ("e", "E"))) if digits else 0.0


Worse = Literal["nearest", "down", "up"]
"""A rounding direction. A claim's number may be freely rounded in this direction, because the claim then becomes
weaker. It is "nearest" if the claim becomes weaker in neither direction."""
MOST_GAINED, MOST_LOST = 0.01, 0.03
"""The most that rounding may move a claim's number in its favour, and against it, as shares of the number."""


def moves_much(value: float, step: float, worse: Worse, most_gained: float = MOST_GAINED) -> bool:
    """Return whether rounding to the nearest step changes a claim's number so much that it needs another digit.
    `most_gained` is the most that rounding may move the number in the claim's favour, as a share of it."""
    shown = stepped(value, step, "nearest")
    if math.isclose(shown, value, rel_tol=1e-12):
        return False  # the steps' own inexactness: 70 times 0.01 is more than 0.7
    favours = shown > value if worse == "down" else shown < value if worse == "up" else False
    hidden = shown in _NO_DIFFERENCE and abs(shown - value) > _LEAST_DIFFERENCE
    return hidden or abs(shown - value) > (most_gained if favours else MOST_LOST) * abs(value)


_NO_DIFFERENCE = (0.0, 1.0)
"""The values of a change and of a ratio that mean no difference. No other number is ever printed as one of these."""
_LEAST_DIFFERENCE = 0.001


def with_needed_digits(value: float, spec: str, worse: Literal["down", "up"]) -> str:
    """Return the format with as many digits as a claim's number needs."""
    for _ in range(_MOST_MORE):
        found = _LAST_DIGIT.search(spec)
        if found is None or not moves_much(value, last_digit(spec, value), worse):
            break
        spec = f"{spec[: found.start()]}.{int(found['digits'] or 0) + 1}{found['kind']}"
    return spec


_MOST_MORE = 3


def stepped(value: float, step: float, rounded: Literal["nearest", "down", "up"]) -> float:
    """Round a value to a multiple of `step`. A step of 0 leaves it unchanged."""
    if not step:
        return value
    steps = value / step
    whole = round(steps)
    if rounded != "nearest" and not math.isclose(steps, whole, rel_tol=1e-12, abs_tol=1e-9):
        whole = math.floor(steps) if rounded == "down" else math.ceil(steps)
    return whole * step
