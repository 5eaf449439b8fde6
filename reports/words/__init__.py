"""The fixed words of a brief, in each language it can be written in: one TOML file a language beside this module.

How a catalogue is written, and how to add a language, is told in docs/languages.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from benchbrief.compiler.plan import Report
from benchbrief.reports.locales import Locale

Entry: TypeAlias = str | Mapping[str, str]
"""A text; or texts by plural category of CLDR (`one`, `few`, `other`) and for single numbers (`=1`)."""

_HERE = Path(__file__).parent


class Words(Mapping[str, str]):
    """The words of a language, and how it writes numbers. A word with plural forms reads as its form `other`."""

    def __init__(self, language: str, entries: Mapping[str, Entry]) -> None:
        self.language = language
        self.locale = Locale(str(entries.get("locale", language)))
        self.entries = {key: entry for key, entry in entries.items() if key != "locale"}

    def __getitem__(self, key: str) -> str:
        entry = self.entries[key]
        return entry if isinstance(entry, str) else entry["other"]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def form(self, key: str, count: float) -> str:
        """The text for so many things: the one for just that number, else that of its plural category."""
        entry = self.entries[key]
        if isinstance(entry, str):
            return entry
        return entry.get(f"={count:.15g}") or entry.get(self.locale.plural(count)) or entry["other"]


def counted(words: Words, key: str, count: float, **holes: object) -> str:
    """The sentence for a number of things, `{n}` in it."""
    return words.form(key, count).format(n=words.locale.numerals(f"{count:,.15g}"), **holes)


def words(language: str) -> Words:
    """The words of a language. Raises KeyError for one that no catalogue holds."""
    return CATALOGUES[language]


def words_of(report: Report) -> Words:
    """The words of a report, with those that the spec brought along; what they lack is in English."""
    if not report.words:
        return words(report.language)
    return Words(report.language, {**CATALOGUES["en"].entries, **report.words})


def _read(path: Path) -> Words:
    return Words(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))


CATALOGUES: Mapping[str, Words] = MappingProxyType({path.stem: _read(path) for path in sorted(_HERE.glob("*.toml"))})
