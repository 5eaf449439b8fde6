"""Writes numbers, dates and lists for people: with readable units, equal digits in a column, and a language's
conventions.

Numbers are first written in the form of Python's format language (1,234.5). The conventions of the Unicode CLDR are
applied when they become text. Only this module uses babel. A whole brief has one language, so the language is a
context, as in `decimal`, rather than an argument of every function.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import precision
from benchbrief.model.units import larger_units

if TYPE_CHECKING:
    import babel

_NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(?=\D|$)")
_PER_CENT = re.compile(r"(\S*\d)%$")


ENGLISH_UNITS: Mapping[str, str] = MappingProxyType(
    {"nodes=1": "node", "threads=1": "thread", "cores=1": "core", "records=1": "record", "ops=1": "op"}
)
"""The units of counted things whose English names differ from their names in specs."""


class Locale:
    """The conventions of a CLDR locale (`en_GB`, `ja`), or of English if CLDR lacks the locale.

    `units` has the names of counted things (`nodes`), also in the singular (`nodes=1`). English names replace missing
    ones.
    """

    def __init__(self, name: str, units: Mapping[str, str] = ENGLISH_UNITS) -> None:
        self.name = name
        self.units = units

    def counted_unit(self, unit: str, text: str = "") -> str:
        """Return the name of a unit after a number that is written as `text`, such as node after 1 and nodes after
        other numbers."""
        return (self.units.get(f"{unit}=1") if text == "1" else None) or self.units.get(unit, unit)

    @cached_property
    def _cldr(self) -> babel.Locale:
        import babel

        try:
            return babel.Locale.parse(self.name.replace("-", "_"))
        except (ValueError, babel.UnknownLocaleError):
            return babel.Locale.parse("en_GB")

    @cached_property
    def decimal(self) -> str:
        from babel.numbers import get_decimal_symbol

        return get_decimal_symbol(self._cldr)

    @cached_property
    def _per_cent(self) -> str:
        """Return the language's pattern for `{}%`, which may have a blank before the sign, or the sign before the
        number."""
        pattern = self._cldr.percent_formats[None].pattern.split(";")[0]
        return re.sub(r"[#,.0]+", "{}", pattern)

    def plural(self, count: float) -> str:
        """Return the plural category of a number: zero, one, two, few, many or other."""
        return self._cldr.plural_form(count)

    def numerals(self, text: str) -> str:
        """Write the numbers in a text (1,234.5 and 12%) by the conventions of the language.

        Numbers without groups of three digits stay unchanged, because they may be years, versions or identifiers.
        """
        if self.name.startswith(("en", "ja")):  # such languages keep this form
            return text
        written = _NUMBER.sub(self._number, text)
        pattern = re.sub(r"\s", "", self._per_cent) if precision.printing() > 7 else self._per_cent
        return _PER_CENT.sub(lambda match: pattern.format(match.group(1)), written)

    def _number(self, match: re.Match[str]) -> str:
        from babel.numbers import format_decimal

        whole, fraction = match.groups()
        if "," in whole:
            whole = format_decimal(int(whole.replace(",", "")), locale=self._cldr)
        return whole if fraction is None else f"{whole}{self.decimal}{fraction}"

    def days(self, first: date, last: date) -> str:
        """Return a date such as 21 November 2026. For two different days, return the range from the first to the
        last."""
        from babel.dates import format_date, format_interval

        if first == last:
            return format_date(first, "long", locale=self._cldr)
        return format_interval(first, last, "yMMMd", locale=self._cldr)

    def listed(self, names: Iterable[str]) -> str:
        """Join names as a list without an "and" before the last one. See `in_a_sentence` for a list with it."""
        comma: str = self._cldr.list_patterns["standard"]["middle"].replace("{0}", "").replace("{1}", "")
        return comma.join(names)

    def in_a_sentence(self, names: Iterable[str]) -> str:
        """Join names for a sentence, such as "YCSB, fio and db_bench"."""
        from babel.lists import format_list

        return format_list(list(names), locale=self._cldr)


_CURRENT: ContextVar[Locale] = ContextVar("locale", default=Locale("en_GB"))  # noqa: B039  # never changed


def locale() -> Locale:
    """Return the current context's conventions for numbers. The default is English."""
    return _CURRENT.get()


@contextmanager
def written_as(wanted: Locale) -> Iterator[None]:
    """Write numbers by the conventions of that locale inside the block."""
    before = _CURRENT.set(wanted)
    try:
        yield
    finally:
        _CURRENT.reset(before)


NBSP = "\u00a0"
_STEPS: dict[str, tuple[tuple[float, str], ...]] = {
    "s": ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")),
    "B": ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")),
    "B/s": ((1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")),
}


_MOST_DECIMALS = 12
_WHOLE_NODES = 3
"""The first version of the printing rules that writes whole nodes."""
FEW_NODES = 3
"""The number of nodes below which a decimal is shown, because a whole node is then a large part of the number. Only
later versions of the printing rules show it."""
_SMALLEST_PRICE = 0.01
"""The smallest price shown in its own unit. A lower price is given for a larger number of units."""
_MICRO = re.compile(r"(?<![A-Za-z])us\b")


@dataclass(frozen=True)
class Scale:
    """The scale on which a column or an axis shows values of a unit: `shown = value / factor`, in `unit`."""

    factor: float
    unit: str

    def __call__(self, value: float) -> float:
        return value / self.factor


def number(value: object) -> float | None:
    """Return a result as a finite float, or None for a missing one (NULL, NaN, an infinity)."""
    if isinstance(value, bool) or value is None:
        return None if value is None else float(value)
    try:
        result = float(value)  # type: ignore[arg-type]  # DECIMAL and other numeric types of the store
    except (TypeError, ValueError):
        return None
    return result if math.isfinite(result) else None


def key_text(label: str, value: object) -> str:
    """Return the label of a dimension's key. A number is written by the conventions of the language, on one line with
    its unit."""
    return locale().numerals(label).replace(" ", NBSP) if isinstance(value, float) else label


def unit_text(unit: str, number: str = "") -> str:
    """Return a unit for print, in the form that follows `number` if a number is given. For example, `us/op` becomes
    µs/op, and `nodes` is translated into the language of the brief. Return "" for a dimensionless unit."""
    return "" if unit in ("", "1") else locale().counted_unit(_MICRO.sub("µs", unit), number)


def is_counted(unit: str) -> bool:
    """Whether the unit counts things, such as nodes or threads."""
    return f"{unit}=1" in ENGLISH_UNITS


def is_scaled(unit: str) -> bool:
    """Whether small or large values of a unit are shown in another unit, such as s as ms, or B as GB."""
    return unit in _STEPS or bool(larger_units(unit))


def whole_nodes(value: float, unit: str) -> float:
    """Return a number of nodes as it is printed. It is rounded up to whole nodes, because nobody runs part of a node,
    but has a decimal if there are few nodes. Other values stay unchanged."""
    if unit != "nodes" or precision.printing() < _WHOLE_NODES or not math.isfinite(value):
        return value
    if precision.printing() > _WHOLE_NODES and value < FEW_NODES:
        return value and (precision.to_decimals(value, 1) or 0.1)
    return precision.stepped(value, 1.0, "up")


def node_decimals(values: Iterable[float | None]) -> int:
    """Return the number of decimals for numbers of nodes that come from `whole_nodes`."""
    return int(any(value != int(value) for value in values if value and math.isfinite(value)))


def nodes_text(value: float) -> str:
    """Write a number of nodes, whole or with one decimal."""
    whole = whole_nodes(value, "nodes")
    return fixed(whole, node_decimals([whole]))


def scale_for(values: Iterable[float | None], unit: str, *, long: bool = False) -> Scale:
    """Return the scale on which the largest value is at least 1 or, for a price, at least a hundredth of its unit. A
    unit without larger or smaller units stays unchanged.

    With `long`, times may be in minutes and hours.
    """
    if unit == "share":
        return Scale(0.01, "%")
    largest = max((abs(v) for v in values if v is not None), default=0.0)
    if precision.printing() > 1 and (larger := larger_units(unit)):
        fitting = [step for step in larger if largest >= _SMALLEST_PRICE * step[0]]
        return Scale(*(fitting[-1] if fitting else larger[0] if largest else larger[-1]))
    steps = _STEPS.get(unit)
    if steps and unit == "s" and long:
        steps = (*steps, (60.0, "min"), (3600.0, "h"))
    if steps is None:
        return Scale(1.0, unit_text(unit))
    fitting = [step for step in steps if step[0] <= largest]
    factor, name = fitting[-1] if fitting else next(s for s in steps if s[1] == unit)
    return Scale(factor, name)


def decimals_for(values: Iterable[float | None]) -> int:
    """Return the number of decimals for a column.

    If the largest value is 1 or more, the smallest value gets about four significant digits, but at most two decimals.
    Otherwise, the largest value gets three digits, and up to two more decimals are added to give the smallest value two
    digits.
    """
    sizes = [abs(v) for v in values if v and math.isfinite(v)]
    if not sizes:
        return 0
    if all(v == int(v) for v in sizes) and max(sizes) < 1e15:
        return 0
    if max(sizes) < 1:
        usual = 2 - precision.magnitude(max(sizes))
        return min(_MOST_DECIMALS, max(usual, min(usual + 2, 1 - precision.magnitude(min(sizes)))))
    return max(0, min(2, 3 - precision.magnitude(min(sizes))))


def fixed(value: float, decimals: int) -> str:
    """Write 1234.5 as 1,234.5, with a true minus for negative numbers. A number that rounds to zero has no sign. NaN
    and infinity become a dash."""
    if not math.isfinite(value):
        return "–"
    text = precision.formatted(value, f",.{decimals}f")
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("-")
    return locale().numerals(text.replace("-", "−"))


def in_column(value: float, decimals: int) -> str:
    """Write a number with the decimals of its column, or with more if it would otherwise read as zero."""
    text = fixed(value, decimals)
    if not re.search("[1-9]", text) and re.search("[1-9]", longer := automatic(value)):
        return longer
    return text


def automatic(value: float) -> str:
    """Write a single number with the decimals that `decimals_for` gives it."""
    return fixed(value, decimals_for([value]))


ROUNDED: Mapping[str, Literal["down", "up"]] = {"\N{DOWNWARDS ARROW}": "down", "\N{UPWARDS ARROW}": "up"}
"""The marks before a format that make it round numbers in one direction only, as a claim about the numbers needs. Specs
cannot contain these marks."""


def formatted(value: float, spec: str, unit: str) -> str:
    """Write a value by a Python format specification. Raises ValueError if the specification is wrong.

    A value in % is first divided by 100 if the presentation is `%`, which multiplies by 100. A format that begins with
    a mark of `ROUNDED` belongs to a measure with a claim. The mark gives the direction in which such a number is
    rounded, with few exceptions.
    """
    rounded = ROUNDED.get(spec[:1])
    spec = spec[1:] if rounded else spec
    if unit == "nodes" and (not spec or whole_nodes(value, unit) != value):
        return nodes_text(value)
    if not spec:
        return automatic(value)
    if spec.endswith("%") and unit == "%":
        value /= 100
    if rounded:
        if precision.printing() > 3:
            spec = precision.with_needed_digits(value, spec, rounded)
        else:
            value = precision.stepped(value, precision.last_digit(spec, value), rounded)
    text = precision.formatted(value, spec)
    if not re.search("[1-9]", text):
        text = text.lstrip("+-")  # a rounded zero is neither more nor less
    text = locale().numerals(text.replace("-", "−"))
    return re.sub(r"(?<=\d)%$", f"{blank_before('%')}%", text) if precision.printing() > 1 else text


def for_all(values: Iterable[float], spec: str, unit: str) -> str:
    """Return a format with enough digits for each of these numbers. A format without a mark of `ROUNDED` is
    unchanged."""
    rounded = ROUNDED.get(spec[:1])
    if rounded is None or precision.printing() <= 3:
        return spec
    share = 100 if spec.endswith("%") and unit == "%" else 1
    needed = (precision.with_needed_digits(value / share, spec[1:], rounded) for value in values)
    return spec[0] + max(needed, key=len, default=spec[1:])


def percent(share: float, decimals: int = 0, *, unlike: float | None = None) -> str:
    """Write a percentage. If it would read the same as the share `unlike`, it gets more digits, such as 94.7% for a
    share below 95%."""

    def shown(of: float) -> str:
        return fixed(100 * of, decimals)

    while unlike is not None and share != unlike and shown(share) == shown(unlike) and decimals < _MOST_DECIMALS:
        decimals += 1
    return with_unit(shown(share), "%")


def exact_percent(share: float) -> str:
    """Write a percentage that somebody set, such as 2.5%, with all its digits."""
    return with_unit(locale().numerals(f"{100 * share:.12g}"), "%")


_SET_CLOSE = {"%": 8, "倍": math.inf}
"""The units that follow a number without a blank. Each has the first version of the printing rules that leaves out the
blank in all languages. In Japanese, version 7 already leaves it out for these units, and version 8 for every unit that
is a Japanese word.
"""
_JAPANESE_WORD = re.compile("[ァ-ヺ一-鿿]")


def blank_before(unit: str) -> str:
    """Return the blank between a number and its unit."""
    japanese = locale().name.startswith("ja")
    if unit in _SET_CLOSE:
        since = 7 if japanese else _SET_CLOSE[unit]
    else:
        since = 8 if japanese and _JAPANESE_WORD.match(unit) else math.inf
    return "" if precision.printing() >= since else NBSP


def with_unit(text: str, unit: str) -> str:
    """Join a number and its unit so that they stay on one line. A `%` may already be part of the author's format."""
    unit = unit_text(unit)
    return f"{text}{blank_before(unit)}{unit}" if unit and not (unit == "%" and text.endswith("%")) else text


def quantity(value: float, unit: str, *, significant: int = 0) -> str:
    """Write a single number in a suitable scale, with its unit and at least this many significant digits. For example,
    0.00081 s becomes 810 µs."""
    value = whole_nodes(value, unit)
    scale = scale_for([value], unit)
    shown = scale(value)
    decimals = node_decimals([shown]) if unit == "nodes" else decimals_for([shown])
    if significant and shown and shown != int(shown):
        decimals = max(decimals, significant - 1 - precision.magnitude(shown))
    text = fixed(shown, decimals)
    return with_unit(text, unit_text(unit, text) if scale.unit == unit_text(unit) else scale.unit)


def spelled_unit(unit: str, follows: str) -> str:
    """If the text after a number begins with the unit, as it does for a format ending in `u`, return the unit with the
    blank before it. Otherwise, return ""."""
    spelled = f"{NBSP}{unit}"
    after = follows[len(spelled) :]
    return spelled if unit and follows.startswith(spelled) and not re.match(r"[A-Za-z/·^]", after) else ""


def belonging(unit: str, follows: str) -> str:
    """Return the start of `follows` that belongs to the number before it: the unit, or a suffix joined to the number
    (such as "x" or "%"). Return "" if nothing does."""
    spelled = re.match(rf"[ {NBSP}]{re.escape(unit)}(?![A-Za-z/·^])", follows) if unit not in ("", "1") else None
    found = spelled or _JOINED.match(follows)
    return found.group() if found else ""


def in_prose(
    value: float, high: float | None, spec: str, unit: str, follows: str, to: str, *, declared: bool = False
) -> str:
    """Write a computed number, or a range, within a sentence that continues with `follows`.

    The number is written by `spec` or, without `spec`, in a suitable scale with its unit. If its unit follows, as it
    does for a format ending in `u`, the unit becomes part of the result. Times are then scaled between ns and h, and
    sizes between B and TB, before the digits apply, unless a metric declares the unit. If a letter or sign follows a
    range without a blank, both ends get it: `{range(x):.0f}X` prints "28X to 37X". A Japanese range has it once. If the
    two ends of a range in per cent have opposite signs, both signs are shown.
    """
    values = [whole_nodes(v, unit) for v in (value, high) if v is not None]
    unit_after = ""
    if spec:
        scale = Scale(1.0, unit_text(unit))
        if spelled_unit(unit, follows):
            scale = scale if declared else scale_for(values, unit, long=True)
            unit_after = scale.unit
        if min(values) < 0 < max(values) and spec.endswith("%") and "+" not in spec:
            spec = spec.replace(".", "+.", 1)
        texts = [formatted(scale(v), spec, unit) for v in values]
    else:
        scale = scale_for(values, unit)
        decimals = decimals_for([scale(v) for v in values])
        texts, unit_after = [fixed(scale(v), decimals) for v in values], scale.unit
    if len(texts) == 2 and texts[0] == texts[1]:
        texts.pop()  # a range with equal printed ends is one number
    joined = _JOINED.match(follows)
    suffix = joined.group() if joined and len(texts) == 2 else ""
    if len(texts) == 2 and locale().name.startswith("ja") and precision.printing() > 6:  # it has its sign once
        texts[0], suffix = texts[0].removesuffix("%").rstrip(NBSP), ""
    return with_unit(f"{suffix}{to}".join(texts), unit_after)


_JOINED = re.compile(r"(?:[A-Za-z%×]{1,3}(?![A-Za-z])|-fold\b|倍)")


_SIZES = (
    *((2.0**40, "TiB"), (1e12, "TB"), (2.0**30, "GiB"), (1e9, "GB")),
    *((2.0**20, "MiB"), (1e6, "MB"), (2.0**10, "KiB"), (1e3, "kB")),
)


def bytes_text(count: float, *, exact: bool = True) -> str:
    """Write 1048576 as 1 MiB and 1000 as 1 kB. The unit is binary or decimal, whichever needs at most three decimals.

    Unless `exact`, the number is rounded, so that 206381056 becomes 197 MiB.
    """
    for size, unit in _SIZES:
        if exact and count >= size and count / size == round(count / size, 3):
            return with_unit(locale().numerals(f"{count / size:g}"), unit)
        if not exact and count >= size and unit.endswith("iB"):
            spec = ".3g" if count < 1000 * size else ",.0f"
            return with_unit(locale().numerals(precision.formatted(count / size, spec)), unit)
    return with_unit(fixed(count, 0), "B")


def duration(seconds: float) -> str:
    """Write 900 as 15 min. The unit is the largest of hours, minutes and seconds that gives a whole number."""
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{int(seconds / size)}{NBSP}{_in_prose(unit)}"
    return f"{locale().numerals(f'{seconds:g}')}{NBSP}{_in_prose('s')}"


def _in_prose(unit: str) -> str:
    """Return the name of a unit of time for sentences. In Japanese, for example, it is 秒 in sentences but s in figures
    and tables."""
    return locale().units.get(f"duration_{unit}", unit)


def points(values: Sequence[float]) -> str:
    """Write a list of numbers such as 1, 2, 4, with thousands separators."""
    return ", ".join(locale().numerals(f"{int(v):,}" if v == int(v) else f"{v:,g}") for v in values)
