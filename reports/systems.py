"""The systems under test for the disclosure: what all variants of a database share, then what sets each apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from benchbrief.compiler import plan as p
from benchbrief.reports.facts import fact_name
from benchbrief.reports.locales import locale
from benchbrief.reports.recorded import recorded
from benchbrief.reports.source import Results
from benchbrief.reports.values import bytes_text
from benchbrief.reports.view import Item
from benchbrief.reports.words import Words

_BYTES = frozenset(
    [
        *("cache", "block_size", "write_buffer", "record_size", "field_length", "key_size", "value_size"),
        *("cache_size", "write_buffer_size"),  # db_bench's own names
    ]
)
"""Settings whose numbers are bytes: a plan has amounts in base units, without the unit."""


def systems(results: Results) -> Iterable[Item]:
    """For each database an item with what holds everywhere, then one for each hardware group that differs."""
    words = results.words
    by_name: dict[str, list[tuple[str, p.Database]]] = {}
    for key, database in results.plan.databases.items():
        by_name.setdefault(database.name, []).append((key, database))
    for same in by_name.values():
        label = same[0][1].label
        told = {key: _Told.of(key, database, results) for key, database in same}
        shared = _Told.shared(list(told.values()))
        yield Item(label, shared.text(words))
        for key, one in told.items():
            if own := one.without(shared).text(words):
                yield Item(words["d_system_on"].format(name=label, hardware=_hardware_label(key, results)), own)
    for sentence, labels in stand_ins(results).items():
        yield Item(
            words["d_stand_in"], f"{', '.join(labels)}{words['colon']}{recorded(sentence, words)}", emphasis=True
        )


def stand_ins(results: Results) -> dict[str, list[str]]:
    """For each stand-in's sentence, the labels of the databases that it served in place of the real server."""
    found: dict[str, list[str]] = {}
    for fact in results.observed:
        if fact.kind == "database" and fact.name == "stand_in" and fact.value:
            database = results.plan.databases.get(fact.node or "")
            labels = found.setdefault(fact.value, [])
            label = database.label if database else fact.node or ""
            if label not in labels:
                labels.append(label)
    return found


def settings_text(settings: Mapping[str, p.Option]) -> str:
    """`compression = none, cache = 1 MiB`."""
    return locale().listed(_setting(name, value) for name, value in settings.items())


class _Told:
    """What is told of one database on one hardware group: parts, options, and what becomes of its data."""

    def __init__(self, before: Sequence[str], options: Sequence[str], after: Sequence[str]) -> None:
        self.before, self.options, self.after = before, options, after

    @classmethod
    def of(cls, key: str, database: p.Database, results: Results) -> _Told:
        words = results.words
        before = [words.locale.listed((database.engine, words[f"d_server_{database.server}"]))]
        facts = {f.name: f.value for f in results.observed if f.kind == "database" and f.node == key}
        before += [
            f"{fact_name(n, words)} {recorded(_in_bytes(v), words)}" for n, v in facts.items() if n != "stand_in"
        ]
        before += [database.topology] if database.topology and database.topology != facts.get("topology") else []
        options = [_setting(name, value) for name, value in database.options.items()]
        options += [f"options_file = {database.options_file}"] if database.options_file else []
        after = [words[f"d_reset_{database.reset}"]]
        after += [words["d_drop_caches"]] if database.drop_caches else []
        return cls(before, options, after)

    @classmethod
    def shared(cls, all_of_them: Sequence[_Told]) -> _Told:
        def common(lists: Sequence[Sequence[str]]) -> list[str]:
            return [text for text in lists[0] if all(text in other for other in lists[1:])]

        return cls(
            common([t.before for t in all_of_them]),
            common([t.options for t in all_of_them]),
            common([t.after for t in all_of_them]),
        )

    def without(self, shared: _Told) -> _Told:
        return _Told(
            [t for t in self.before if t not in shared.before],
            [t for t in self.options if t not in shared.options],
            [t for t in self.after if t not in shared.after],
        )

    def text(self, words: Words) -> str:
        options = [f"{words['d_options']} {', '.join(self.options)}"] if self.options else []
        return words["semicolon"].join([*self.before, *options, *self.after])


def _hardware_label(database_key: str, results: Results) -> str:
    key = database_key.rpartition("@")[2]
    return results.plan.hardware[key].label if key in results.plan.hardware else database_key


def _setting(name: str, value: p.Option) -> str:
    if isinstance(value, bool):
        return f"{name} = {str(value).lower()}"
    if isinstance(value, str):
        return f"{name} = {value}"
    return f"{name} = {bytes_text(value) if name in _BYTES else f'{value:,.15g}'}"


def _in_bytes(observed: str) -> str:
    """`206381056 B` -> `197 MiB`; any other text as it is."""
    return bytes_text(float(observed[:-2]), exact=False) if re.fullmatch(r"\d+ B", observed) else observed
