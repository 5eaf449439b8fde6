"""The systems under test for the disclosure: what all variants of a database share, then their differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchbrief.compiler.planning import plan as p
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import Item
from benchbrief.reports.disclosure.test_configuration import fact_name, fold_facts
from benchbrief.reports.disclosure.tool_texts import engine_text
from benchbrief.reports.text.number_format import bytes_text
from benchbrief.reports.words.brief_words import Words
from benchbrief.reports.words.locale_formats import locale

_BYTES = frozenset(
    [
        *("cache", "block_size", "write_buffer", "record_size", "field_length", "key_size", "value_size"),
        *("cache_size", "write_buffer_size"),  # db_bench's own names
    ]
)
"""Settings in bytes: a plan has base units without their names."""
_LEFT_OUT = ("stand_in", "other_server", "size on disk")
"""Facts that stand elsewhere, or that earlier versions observed before a cell had loaded its own data."""


def disclose_systems(results: Results) -> Iterable[Item]:
    """Return for each database an item with its common settings, then one for each differing hardware group."""
    words = results.words
    by_name: dict[str, list[tuple[p.DatabaseKey, p.Database]]] = {}
    for key, database in results.plan.databases.items():
        by_name.setdefault(database.name, []).append((key, database))
    for same in by_name.values():
        label = same[0][1].label
        found = {key: _Described.of(key, database, results) for key, database in same}
        shared = _Described.shared(list(found.values()))
        yield Item(label, shared.text(words))
        for key, one in found.items():
            if own := one.without(shared).text(words):
                yield Item(words["d_system_on"].format(name=label, hardware=_hardware_label(key, results)), own)
    for name, word in (("stand_in", "d_stand_in"), ("other_server", "d_other_server")):
        for sentence, labels in served_by(name, results).items():
            yield Item(words[word], f"{', '.join(labels)}{words['colon']}{words.said(sentence)}", emphasis=True)


def served_by(name: str, results: Results) -> dict[str, list[str]]:
    """Return for each sentence on a stand-in, or on a server of another product, the labels of the databases that it
    served."""
    found: dict[str, list[str]] = {}
    for fact in results.observed:
        if fact.kind == "database" and fact.name == name and fact.value:
            database = results.plan.databases.get(p.DatabaseKey(fact.node or ""))
            labels = found.setdefault(fact.value, [])
            label = database.label if database else fact.node or ""
            if label not in labels:
                labels.append(label)
    return found


def settings_text(settings: Mapping[str, p.Option]) -> str:
    """Return `compression = none, cache = 1 MiB`."""
    return locale().listed(_setting(name, value) for name, value in settings.items())


class _Described:
    """A database on a hardware group for the disclosure: parts, options, and the reset of its data."""

    def __init__(self, before: Sequence[str], options: Sequence[str], after: Sequence[str]) -> None:
        self.before, self.options, self.after = before, options, after

    @classmethod
    def of(cls, key: p.DatabaseKey, database: p.Database, results: Results) -> _Described:
        words = results.words
        what = engine_text(database.engine, results) or words[f"d_server_{database.server}"]
        before = [words.locale.listed((database.engine, what))]
        facts = {f.name: f.value for f in results.observed if f.kind == "database" and f.node == key}
        hosts = results.plan.hardware[key.hardware].hosts
        shown = fold_facts(facts, hosts)
        before += [f"{fact_name(n, words)} {words.said(v)}" for n, v in shown.items() if n not in _LEFT_OUT]
        before += [database.topology] if database.topology and database.topology != facts.get("topology") else []
        options = [_setting(name, value) for name, value in database.options.items()]
        options += [f"options_file = {database.options_file}"] if database.options_file else []
        after = [words[f"d_reset_{database.reset}"]]
        after += [words["d_drop_caches"]] if database.drop_caches else []
        after += _sizes(key, results)
        return cls(before, options, after)

    @classmethod
    def shared(cls, all_of_them: Sequence[_Described]) -> _Described:
        def common(lists: Sequence[Sequence[str]]) -> list[str]:
            return [text for text in lists[0] if all(text in other for other in lists[1:])]

        return cls(
            common([t.before for t in all_of_them]),
            common([t.options for t in all_of_them]),
            common([t.after for t in all_of_them]),
        )

    def without(self, shared: _Described) -> _Described:
        return _Described(
            [t for t in self.before if t not in shared.before],
            [t for t in self.options if t not in shared.options],
            [t for t in self.after if t not in shared.after],
        )

    def text(self, words: Words) -> str:
        options = [f"{words['d_options']} {', '.join(self.options)}"] if self.options else []
        return words["semicolon"].join([*self.before, *options, *self.after])


def _hardware_label(database_key: p.DatabaseKey, results: Results) -> str:
    hardware = results.plan.hardware.get(database_key.hardware)
    return hardware.label if hardware else database_key


def _setting(name: str, value: p.Option) -> str:
    if isinstance(value, bool):
        return f"{name} = {str(value).lower()}"
    if isinstance(value, str):
        return f"{name} = {value}"
    return f"{name} = {bytes_text(value) if name in _BYTES else f'{value:,.15g}'}"


def _sizes(key: str, results: Results) -> Iterable[str]:
    """Return the size of the database on this hardware, from the smallest to the largest of its cells."""
    rows = results.store.sql(
        "SELECT database, measure, min(value), max(value) FROM sizes JOIN cells USING (run_id, cell_id) "
        "WHERE status = 'ok' AND unit = 'B' AND value IS NOT NULL GROUP BY ALL ORDER BY measure DESC"
    ).rows
    for of, measure, *ends in rows:
        if of == key:
            texts = dict.fromkeys(bytes_text(float(end), exact=False) for end in ends)
            word = "d_size_loaded" if measure == "database.size_loaded" else "d_size_measured"
            yield results.words[word].format(size=" – ".join(texts))
