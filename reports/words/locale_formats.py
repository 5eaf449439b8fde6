"""Writes numbers, dates and lists in a language, by the Unicode CLDR. Only this module uses babel.

Numbers are made in the form of Python's format language (1,234.5), and converted where they become text. The
language is the same for a whole brief, so it is a context, as `decimal` has one, and no argument of every function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import babel

_NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(?=\D|$)")
_PER_CENT = re.compile(r"(\S*\d)%$")


ENGLISH_UNITS: Mapping[str, str] = MappingProxyType(
    {"nodes=1": "node", "threads=1": "thread", "cores=1": "core", "records=1": "record", "ops=1": "op"}
)
"""The units of counted things whose names differ from the language of specs."""


class Locale:
    """The conventions of a locale of CLDR (`en_GB`, `ja`); English for one that CLDR lacks.

    `units` has the names of counted things (`nodes`), also for one (`nodes=1`). English fills its gaps.
    """

    def __init__(self, name: str, units: Mapping[str, str] = ENGLISH_UNITS) -> None:
        self.name = name
        self.units = units

    def counted_unit(self, unit: str, text: str = "") -> str:
        """Return the name of a unit behind a number that reads as `text`: node behind 1, nodes behind others."""
        return (self.units.get(f"{unit}=1") if text == "1" else None) or self.units.get(unit, unit)

    @cached_property
    def _cldr(self) -> babel.Locale:
        import babel

        try:
            return babel.Locale.parse(self.name.replace("-", "_"))
        except (ValueError, babel.UnknownLocaleError):
            return babel.Locale.parse("en_GB")

    @cached_property
    def _decimal(self) -> str:
        from babel.numbers import get_decimal_symbol

        return get_decimal_symbol(self._cldr)

    @cached_property
    def _per_cent(self) -> str:
        """`{}%` in the language: with a blank, or with the sign in front."""
        pattern = self._cldr.percent_formats[None].pattern.split(";")[0]
        return re.sub(r"[#,.0]+", "{}", pattern)

    def plural(self, count: float) -> str:
        """Return the plural category of a number: zero, one, two, few, many or other."""
        return self._cldr.plural_form(count)

    def numerals(self, text: str) -> str:
        """Write the numbers in a text (1,234.5 and 12%) in the language.

        Numbers without groups of three stay so: years, versions and identifiers look like that.
        """
        if self.name.startswith(("en", "ja")):  # such languages keep this form
            return text
        written = _NUMBER.sub(self._number, text)
        return _PER_CENT.sub(lambda match: self._per_cent.format(match.group(1)), written)

    def _number(self, match: re.Match[str]) -> str:
        from babel.numbers import format_decimal

        whole, fraction = match.groups()
        if "," in whole:
            whole = format_decimal(int(whole.replace(",", "")), locale=self._cldr)
        return whole if fraction is None else f"{whole}{self._decimal}{fraction}"

    def days(self, first: date, last: date) -> str:
        """Return 21 November 2026; or, for two days, from the first to the last."""
        from babel.dates import format_date, format_interval

        if first == last:
            return format_date(first, "long", locale=self._cldr)
        return format_interval(first, last, "yMMMd", locale=self._cldr)

    def listed(self, names: Iterable[str]) -> str:
        """Join names, without an "and" before the last."""
        comma: str = self._cldr.list_patterns["standard"]["middle"].replace("{0}", "").replace("{1}", "")
        return comma.join(names)


_CURRENT: ContextVar[Locale] = ContextVar("locale", default=Locale("en_GB"))  # noqa: B039  # never changed


def locale() -> Locale:
    """Return the conventions of the context; English by default."""
    return _CURRENT.get()


@contextmanager
def written_as(wanted: Locale) -> Iterator[None]:
    """Write numbers by that locale inside the block."""
    before = _CURRENT.set(wanted)
    try:
        yield
    finally:
        _CURRENT.reset(before)
