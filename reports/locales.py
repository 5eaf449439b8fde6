"""How a language writes numbers, dates and lists, by the Unicode CLDR. The one module that knows babel.

Numbers are worked out in one form, that of Python's format language (1,234.5), and put into that of the language where
they become text. Which language that is holds for all of a brief, so it is a context, as `decimal` has one, and no
argument of every function between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import babel

_NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(?=\D|$)")
_PER_CENT = re.compile(r"(\S*\d)%$")


class Locale:
    """The conventions of a locale of CLDR (`en_GB`, `ja`); those of English for one that CLDR does not hold."""

    def __init__(self, name: str) -> None:
        self.name = name

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
        """`{}%` as the language has it: with a blank, or with the sign in front."""
        pattern = self._cldr.percent_formats[None].pattern.split(";")[0]
        return re.sub(r"[#,.0]+", "{}", pattern)

    def plural(self, count: float) -> str:
        """The plural category of a number: zero, one, two, few, many or other."""
        return self._cldr.plural_form(count)

    def numerals(self, text: str) -> str:
        """A text with numbers such as 1,234.5 and 12% in it, these as the language writes them.

        What was not grouped in threes stays so: years, versions and identifiers look like that.
        """
        if self.name.startswith(("en", "ja")):  # they write them so
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
        """21 November 2026; or, where they differ, from the first day to the last."""
        from babel.dates import format_date, format_interval

        if first == last:
            return format_date(first, "long", locale=self._cldr)
        return format_interval(first, last, "yMMMd", locale=self._cldr)

    def listed(self, names: Iterable[str]) -> str:
        """Names one after the other, without an "and" before the last."""
        comma: str = self._cldr.list_patterns["standard"]["middle"].replace("{0}", "").replace("{1}", "")
        return comma.join(names)


_CURRENT: ContextVar[Locale] = ContextVar("locale", default=Locale("en_GB"))  # noqa: B039  # never changed


def locale() -> Locale:
    """The conventions in which numbers are written here and now: English, where nothing else was said."""
    return _CURRENT.get()


@contextmanager
def written_as(wanted: Locale) -> Iterator[None]:
    """What is made inside is written by the conventions of that locale."""
    before = _CURRENT.set(wanted)
    try:
        yield
    finally:
        _CURRENT.reset(before)
