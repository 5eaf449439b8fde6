"""The fixed words of a brief in each language, read from one TOML file for each language beside this module.

docs/languages.md describes a catalogue and how to add a language.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from benchbrief.compiler.registry import own_catalogues, own_words
from benchbrief.model.budgets import LEVEL
from benchbrief.model.extension_spec import OF_FACTS, OF_PROPERTIES, word_of_property
from benchbrief.model.message import Message
from benchbrief.model.plan import Report
from benchbrief.model.precision import in_percent
from benchbrief.reports.text.number_format import NBSP, Locale, blank_before, written_as
from benchbrief.results.result_messages import shorten_reason

Entry: TypeAlias = str | Mapping[str, str]
"""A text, or several texts for different counts: by CLDR plural category (`one`, `few`, `other`) and for single numbers
(`=1`)."""

_HERE = Path(__file__).parent
_LOAD = re.compile(
    r"(?:at|m|unit|topic|d_(?:points|points_on|fixed|found|otherwise|knee))_threads\Z"
    r"|m_paced|d_arrivals_closed|d_closed|d_queue|l_rising|l_crowded|l_(?:which|only|all)_ramp"
)
"""Matches the keys of texts about the threads of a load, which some tools call connections or clients."""
_THREADS = re.compile(r"\bthread(s?)\b")
_SKIPPED = {
    "budget_over": "left_out",
    "budget_no_room": "left_out",
    "rate_unanswered": "left_out",
    "rate_refused": "refused",
    "rate_broken": "refused",
}
"""The status that a brief gives to a skipped cell, by the code of the reason for skipping it."""


class Words(Mapping[str, str]):
    """The words of a language, and its number formats. A word with plural forms is looked up in its form `other`.

    `level` is the level of the brief's intervals over repeats, which replaces the placeholder `{level}` in every text.
    """

    def __init__(
        self,
        language: str,
        entries: Mapping[str, Entry],
        sentences: Mapping[str, Message] | None = None,
        level: float = LEVEL,
    ) -> None:
        self.language = language
        self.level = level
        self.sentences = sentences or {}
        self.factors: Mapping[str, str] = {}
        self._locale = str(entries.get("locale", language))
        self.locale = Locale(self._locale, _units(entries))
        self.entries = {key: entry for key, entry in entries.items() if key != "locale"}

    def __getitem__(self, key: str) -> str:
        entry = self.entries[key]
        return self._filled(entry if isinstance(entry, str) else entry["other"])

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def with_measures(self, labels: Mapping[str, str]) -> Words:
        """Add another package's words: names of measures, threads, facts and properties, by their keys. Benchbrief's
        own words for facts and properties are not replaced."""
        entries = {**self.entries, **{key: text for key, text in labels.items() if self._may_be(key)}}
        if "threads" not in labels:
            return self._with(entries=entries)
        entries |= {key: self._of_load(entry, labels["threads"]) for key, entry in entries.items() if _LOAD.match(key)}
        return self._with(entries=entries, locale=Locale(self._locale, _units(entries)))

    def _of_load(self, entry: Entry, called: str) -> Entry:
        """Return an entry about a load's threads, with the tool's own word for them, such as connections."""
        if not isinstance(entry, str):
            return {form: str(self._of_load(text, called)) for form, text in entry.items()}
        if self.language == "ja":
            return entry.replace("スレッド数", called).replace("スレッド", called.removesuffix("数"))
        several = called if called.isupper() else called.lower()
        return _THREADS.sub(lambda found: several if found[1] else several.removesuffix("s"), entry)

    def _may_be(self, key: str) -> bool:
        return key not in self.entries or not key.startswith((OF_FACTS, OF_PROPERTIES))

    def with_sentences(self, sentences: Mapping[str, Message]) -> Words:
        """Return the words with everything needed to translate a run's sentences: the codes of the sentences, by their
        English text."""
        return self._with(sentences=sentences)

    def at_level(self, level: float) -> Words:
        """Return the words for a brief whose intervals over repeats have this level, such as 0.95."""
        return self._with(level=level)

    def with_factors(self, labels: Mapping[str, str]) -> Words:
        """Return the words together with the labels of a plan's factors, by the factors' names."""
        return self._with(factors=labels)

    def _with(self, **changes: object) -> Words:
        made = copy(self)
        vars(made).update(changes)
        return made

    def dimension(self, dim: str) -> str:
        """Return the name of a dimension: a factor's label, or else the language's word for the dimension."""
        return self.factors.get(dim) or self.get(dim, dim)

    def dimension_within(self, dim: str) -> str:
        """Return the name of a dimension within a sentence: the language's word in lower case, or a factor's label as
        written."""
        return self.factors.get(dim) or self.get(f"over_{dim}") or self.get(dim, dim).lower()

    def said(self, text: str) -> str:
        """Return a text of a run in this language, with shares written as a brief prints them. A text without a code,
        such as the words of a tool, stays unchanged."""
        known = self.sentences.get(text, text)
        if not isinstance(known, Message):
            return text
        return self._closed_up(known.in_words(self) if self.language != "en" else text)

    def said_briefly(self, text: str) -> str:
        """Return a reason in this language, as `said` does. If the reason has more than two findings, return only the
        first, and the number of the others."""
        known = self.sentences.get(text, text)
        short = shorten_reason(known)
        return (
            self.said(text)
            if not isinstance(short, Message) or short is known
            else self._closed_up(short.in_words(self))
        )

    def _closed_up(self, sentence: str) -> str:
        """Return a sentence of a run with its percentages as a brief prints them."""
        with written_as(self.locale):
            return _PER_CENT.sub(f"{blank_before('%')}%", sentence)

    def status_of(self, status: str, reason: str) -> str:
        """Return the brief's name for the status of a cell. A cell that the store calls skipped may have failed or been
        left out, depending on the reason."""
        said = self.sentences.get(reason)
        return _SKIPPED.get(said.code, status) if status == "skipped" and isinstance(said, Message) else status

    def named(self, name: str) -> str:
        """Return the word for a name from a run, such as a status or a property. If there is no word, return the name
        itself."""
        return self.get(word_of_property(name), name)

    def form(self, key: str, count: float) -> str:
        """Return the text for a count: the text for exactly this number, or else the text for its plural category."""
        entry = self.entries[key]
        if isinstance(entry, str):
            return self._filled(entry)
        return self._filled(entry.get(f"={count:.15g}") or entry.get(self.locale.plural(count)) or entry["other"])

    def _filled(self, text: str) -> str:
        return text.replace("{level}", self.locale.numerals(in_percent(self.level)))


_PER_CENT = re.compile(f"(?<=\\d)[ {NBSP}]?%")
"""Matches the percent sign in a run's sentence, with the blank before it."""


def _units(entries: Mapping[str, Entry]) -> Mapping[str, str]:
    """Return the names of counted things by unit. The name for a single thing has a key such as `nodes=1`."""
    found: dict[str, str] = {}
    for key, entry in entries.items():
        if key.startswith("unit_"):
            unit = key.removeprefix("unit_")
            found[unit] = entry if isinstance(entry, str) else entry["other"]
            if not isinstance(entry, str) and (one := entry.get("=1") or entry.get("one")):
                found[f"{unit}=1"] = one
    return found


def counted(words: Words, key: str, count: float, **holes: object) -> str:
    """Return the sentence for a count, with the count in place of `{n}`."""
    return words.form(key, count).format(n=words.locale.numerals(f"{count:,.15g}"), **holes)


def some_of(words: Words, count: float, total: float, what: str = "measurement") -> str:
    """Return a phrase such as "3 of 12 measurements", "one of 12", "all 12" or "the only measurement". If `what` is
    `ramp`, the phrase counts ramps; if it is `judged`, it counts the measurements that could be judged."""
    only, which, all_of_them = _SOME[what]
    if total == 1:
        return words[only]
    return counted(
        words, all_of_them if count == total else which, count, total=words.locale.numerals(f"{total:,.15g}")
    )


def denied_of(words: Words, key: str, none: str, count: float, total: float, **holes: object) -> str:
    """Return a sentence saying that something is not true of some measurements. `none` is the key of the sentence to
    use if it is true of no measurement."""
    if count == total > 1:
        return words[none].format(total=words.locale.numerals(f"{total:,.15g}"), **holes)
    return counted(words, key, count, which=some_of(words, count, total), **holes)


def as_sentence(part: str, words: Words) -> str:
    """Turn a part of a sentence into a complete sentence."""
    stop = words["stop"].rstrip()
    return part[:1].upper() + part[1:] + ("" if part.endswith(stop) else stop)


def sentences(texts: Iterable[str], words: Words) -> str:
    """Join texts as sentences. In Japanese, there are no blanks between them."""
    blank = words["stop"].removeprefix(words["stop"].rstrip())
    return blank.join(dict.fromkeys(as_sentence(text, words) for text in texts if text))


_SOME = {
    "measurement": ("l_only_measurement", "l_which_measurement", "l_all_measurement"),
    "judged": ("l_only_judged", "l_which_judged", "l_all_judged"),
    "ramp": ("l_only_ramp", "l_which_ramp", "l_all_ramp"),
}


def words(language: str) -> Words:
    """Return the catalogue of a brief's fixed words in a language. Raises KeyError if there is none."""
    return CATALOGUES[language]


def words_of(report: Report) -> Words:
    """Return the words of a report, including those of the spec. English fills their gaps."""
    if report.words:
        return Words(report.language, {**CATALOGUES["en"].entries, **report.measures, **report.words})
    shipped = words(report.language)
    return shipped.with_measures(report.measures) if report.measures else shipped


def _read(path: Path) -> Words:
    text = "\n".join((path.read_text(encoding="utf-8"), *own_catalogues(path.stem)))
    return Words(path.stem, {**tomllib.loads(text), **own_words(path.stem)})


CATALOGUES: Mapping[str, Words] = MappingProxyType({path.stem: _read(path) for path in sorted(_HERE.glob("*.toml"))})
