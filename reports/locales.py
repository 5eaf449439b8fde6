"""How a language writes numbers, dates and lists, by the Unicode CLDR. The one module that knows babel."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import babel


class Locale:
    """The conventions of a language, by its code (`en`, `ja`, `pt_BR`)."""

    def __init__(self, language: str) -> None:
        self.language = language

    @cached_property
    def _cldr(self) -> babel.Locale:
        import babel

        return babel.Locale.parse(self.language, sep="-" if "-" in self.language else "_")

    def plural(self, count: float) -> str:
        """The plural category of a number: zero, one, two, few, many or other."""
        return self._cldr.plural_form(count)
