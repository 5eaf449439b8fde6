"""The origin that all numbers of a brief share: the run, the revision of the spec, and the tools and servers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from benchbrief.compiler.registry import TOOL_SPECS
from benchbrief.model.plan import DatabaseKey
from benchbrief.reports.data.imported_briefs import is_imported, shown_names
from benchbrief.reports.data.place_labels import database_name
from benchbrief.reports.data.report_data import Results, run_row
from benchbrief.reports.data.view_model import Item
from benchbrief.reports.text.number_format import locale, points
from benchbrief.reports.words.brief_words import CATALOGUES, Words

_MOST_VALUES = 4
"""The most values to show for a text setting that differs between outputs."""
_OF_NUMBERS = ("latency", "percentiles", "window")
"""Properties that describe the numbers, and not how the tool ran."""
VERSION = "version"
TOPICS: Mapping[str, tuple[str, ...]] = {
    "topic_version": (VERSION,),
    "topic_threads": ("threadcount",),
    # go-ycsb prints all its properties, with the `command`. Without a target it offers no load.
    "topic_offered": ("target", "command", "Read rate"),
    "topic_records": ("recordcount", "Entries"),
    "topic_sizes": ("fieldlength", "Values"),
    "topic_distribution": ("requestdistribution",),
    "topic_hosts": (),
    "topic_system": (),
    "topic_load": (),
    "topic_reset": (),
    "topic_cache": (),
    "topic_memory": (),
    "topic_warm_up": ("warmuptime",),
    "topic_order": (),
    "topic_repeats": (),
    "topic_pauses": (),
}
"""The topics of a disclosure, by their keys in the catalogues of words, each with the settings of outputs that belong
to it."""


class _Property(NamedTuple):
    """A property found in an output, for one load generator in one cell."""

    output: tuple[str, str]
    name: str
    value: str


def disclose_source(results: Results) -> Iterable[Item]:
    """Yield the source's statements. For outputs of tools, yield the details that the outputs lack."""
    words = results.words
    for name, text in results.stated:
        yield Item(name, text)
    if results.published:
        yield Item("", words["d_stated_rest" if results.stated else "d_stated_nothing"])
        return
    rows = results.store.sql("SELECT cell_id, source, name, value FROM properties ORDER BY ALL").rows
    known = [_Property((cell, source), name, value) for cell, source, name, value in rows]
    of_numbers = [each for each in known if each.name in (VERSION, *_OF_NUMBERS)]
    yield Item(words["d_load"], words["semicolon"].join(_of_numbers(of_numbers, words)))
    settings = [each for each in known if each not in of_numbers]
    yield Item(words["d_stated_outputs"], words["semicolon"].join(_settings(settings, words)))
    open_topics = words.locale.listed(words[topic] for topic in unstated_topics(results, known))
    yield Item(words["d_not_stated"], open_topics, emphasis=True)


def unstated_topics(results: Results, known: Sequence[_Property]) -> Iterator[str]:
    """Yield the topics that are covered neither by the importer nor by every output."""
    said = {name.casefold() for name, _ in results.stated}
    outputs = {each.output for each in known}
    for topic, names in TOPICS.items():
        telling = {each.output for each in known if each.name in names and _states(each)}
        by_outputs = bool(outputs) and telling == outputs
        words = {results.words[topic].casefold(), CATALOGUES["en"][topic].casefold()}
        if not (by_outputs or words & said):
            yield topic


def _states(each: _Property) -> bool:
    """Return whether the property says anything. A version without a digit is only the tool's name."""
    return each.name != VERSION or any(char.isdigit() for char in each.value)


def _of_numbers(known: Iterable[_Property], words: Words) -> Iterator[str]:
    found = _by_name(known)
    if versions := found.pop(VERSION, None):
        yield " / ".join(versions)
    for name, values in found.items():
        texts = (words.said(value) for value in values)
        yield f"{words.named(name)}{words['colon']}{' / '.join(texts)}"


def _settings(known: Iterable[_Property], words: Words) -> Iterator[str]:
    for name, values in _by_name(known).items():
        yield f"{name}{words['colon']}{_values(values, words)}"


def _by_name(known: Iterable[_Property]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for each in known:
        found.setdefault(each.name, {})[each.value] = None
    return {name: list(values) for name, values in found.items()}


def _values(values: Sequence[str], words: Words) -> str:
    """Write numbers like the points of a ramp. Of other values, write the first few, and how many more there are."""
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        numbers = []
    if len(numbers) > 1:
        return points(sorted(numbers))
    more = [words["notice_and_more"].format(n=len(values) - _MOST_VALUES)] if len(values) > _MOST_VALUES else []
    return " / ".join((*values[:_MOST_VALUES], *more))


def disclose_origin(results: Results) -> Iterable[tuple[str, str]]:
    """Yield terms with their texts. Terms without a text are left out."""
    words, run, spec = results.words, run_row(results), results.plan.spec
    shown = shown_names(spec.files)
    found = [
        (words["d_run_id"], str(run["run_id"] or "")),
        (words["d_imported_at" if is_imported(results) else "d_started"], time_text(run["started_at"])),
        *((words["d_spec"], f"{shown[name]} (SHA-256 {digest})") for name, digest in spec.files.items()),
        (words["p_revision"], _revision(results)),
        (words["d_plan"], results.plan_sha256),
        (words["p_tools"], words["semicolon"].join(_versions_on("tool", results))),
        (words["p_servers"], words["semicolon"].join(_versions_on("database", results))),
        (words["d_version"], f"benchbrief {run['benchbrief'] or ''}".strip()),
    ]
    return ((term, text) for term, text in found if text)


def _revision(results: Results) -> str:
    """Return the commit of the spec, and whether its files are unchanged since that commit."""
    known = {fact.name: fact.value for fact in results.observed if fact.kind == "spec"}
    commit = known.get("commit")
    if not commit:
        return ""
    state = results.words["p_dirty" if known.get("dirty") == "true" else "p_clean"]
    return f"{commit}, {state}"


def _versions_on(kind: str, results: Results) -> Iterator[str]:
    for text, nodes in versions(kind, results).items():
        names = locale().listed(node for node in nodes if node)
        yield f"{text} ({names})" if names else text


def versions(kind: str, results: Results) -> dict[str, dict[str, None]]:
    """Return each version of a `kind` of program ("tool" or "database"), with its hosts or databases."""
    found: dict[str, dict[str, None]] = {}
    for fact in results.observed:
        if fact.kind == kind and (fact.name == "version" or fact.name.endswith(".version")):
            database = results.plan.databases.get(DatabaseKey(fact.node or ""))
            name = (
                database_name(database, results.plan)
                if database
                else fact.name.removesuffix("version").removesuffix(".")
            )
            if kind == "tool" and (spec := TOOL_SPECS.usable(name)):
                name = spec.label
            value = results.words.said(fact.value)
            text = value if value.lower().startswith(name[:3].lower()) else f"{name} {value}"
            found.setdefault(text, {})[(fact.node or "").partition("?")[0] if database else fact.node or ""] = None
    return found


class Reused(NamedTuple):
    """An earlier run that measured some of the cells. `first` and `last` are the times when it began the first and the
    last of them."""

    run_id: str
    cells: int
    first: datetime
    last: datetime


def reused_runs(results: Results) -> list[Reused]:
    """Return the earlier runs whose results are used, oldest first."""
    rows = results.store.sql(
        "SELECT reused_from, count(*), min(started_at), max(started_at) FROM cells "
        "WHERE reused_from IS NOT NULL GROUP BY reused_from ORDER BY min(started_at)"
    ).rows
    return [Reused(*row) for row in rows]


def time_text(value: object) -> str:
    """Return a time in UTC, to the second, or "" for None."""
    if not isinstance(value, datetime):
        return "" if value is None else str(value)
    at = value.astimezone(UTC) if value.tzinfo else value
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
