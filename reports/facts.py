"""The test configuration: what the spec declares of each hardware group beside what was observed of its hosts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from benchbrief.compiler.plan import Fact, Hardware, Quantity
from benchbrief.reports.recorded import recorded
from benchbrief.reports.source import Results
from benchbrief.reports.view import FactGroup, FactLine
from benchbrief.reports.words import Words

_UNTOLD = frozenset({"block_devices"})  # for checks, and of no use to a reader
_ORDER = (
    "hostname", "os", "kernel", "virtualization", "cpu", "sockets", "cores", "threads", "usable_threads", "numa_nodes",
    "governor", "clock_source", "memory", "memory_limit", "swap", "transparent_huge_pages", "filesystem",
)  # fmt: skip


def fact_groups(hardware: Sequence[str], results: Results) -> tuple[FactGroup, ...]:
    """What all groups share stands first; then, for each group, what sets it apart."""
    per_group = {key: _lines(results.plan.hardware[key], results) for key in hardware}
    shared = _shared(list(per_group.values())) if len(per_group) > 1 else []
    groups = [FactGroup(results.words["all_hardware"], tuple(shared))] if shared else []
    for key, lines in per_group.items():
        own = tuple(line for line in lines if line not in shared)
        if own:
            groups.append(FactGroup(results.plan.hardware[key].label, own))
    return tuple(groups)


def _shared(lines: Sequence[Sequence[FactLine]]) -> list[FactLine]:
    return [line for line in lines[0] if all(line in other for other in lines[1:])]


def _lines(hardware: Hardware, results: Results) -> list[FactLine]:
    words = results.words
    declared = {name: fact_text(fact, words) for name, fact in hardware.facts.items()}
    observed = _observed(hardware, results)
    lines = [FactLine(words["nodes"], str(hardware.nodes), "", differs=False)]
    lines.append(FactLine(words["hosts"], words.locale.listed(hardware.hosts), "", differs=False))
    for name in [*declared, *(n for n in _ordered(observed) if n not in declared)]:
        text = declared.get(name, "")
        differs = any(remark.endswith(text) for remark in contradictions(hardware, results)) if text else False
        lines.append(FactLine(fact_name(name, words), text, observed.get(name, ""), differs))
    return [*lines, *_paths(hardware, results)]


def _ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))


def _paths(hardware: Hardware, results: Results) -> list[FactLine]:
    """A line for the group's data paths that lie on the same storage: its file system, device, mount, free space."""
    own = {d.path for key, d in results.plan.databases.items() if key.endswith(f"@{hardware.key}") and d.path}
    found: dict[str, dict[str, str]] = {}
    for name, value in _observed(hardware, results, of_paths=True).items():
        what, _, path = name.partition(" of ")
        if path in own:
            found.setdefault(path, {})[what] = f"{fact_name(what, results.words)} {value}"
    together: dict[str, list[str]] = {}
    for path, facts in found.items():
        together.setdefault(results.words.locale.listed(facts[what] for what in sorted(facts)), []).append(path)
    return [FactLine(results.words.locale.listed(paths), "", text, differs=False) for text, paths in together.items()]


def contradictions(hardware: Hardware, results: Results) -> list[str]:
    """The run's own sentences on where a host differs from what is declared; each ends in the latter."""
    declared = [text for fact in hardware.facts.values() if (text := fact_text(fact, results.words))]
    return [
        remark
        for remark in results.remarks
        if remark.startswith(f"{hardware.label} on ") and any(remark.endswith(text) for text in declared)
    ]


def fact_name(name: str, words: Words) -> str:
    """`memory_limit` -> "Memory limit", in the report's language where it has a word for it."""
    stem, of, place = name.partition(" of ")
    if stem.startswith("disk "):
        return words["fact_disk"].format(name=stem.removeprefix("disk "))
    known = words.get(f"fact_{stem.replace(' ', '_')}") or re.sub("_+", " ", stem[:1].upper() + stem[1:])
    return words["fact_of"].format(fact=known, place=place) if of else known


def fact_text(fact: Fact, words: Words) -> str:
    if isinstance(fact, Quantity):
        return fact.text
    if isinstance(fact, bool):
        return words["yes" if fact else "no"]
    return fact


def _observed(hardware: Hardware, results: Results, *, of_paths: bool = False) -> dict[str, str]:
    """One text for each fact (of the hosts, or of paths on them); where hosts of a group differ, each host's own."""
    found: dict[str, dict[str, list[str]]] = {}
    for fact in results.observed:
        of_group = fact.hardware == hardware.key or (fact.node or "") in hardware.hosts
        wanted = fact.name not in _UNTOLD and (" of /" in fact.name) == of_paths
        if fact.kind == "host" and wanted and of_group:
            nodes = found.setdefault(fact.name, {}).setdefault(recorded(fact.value, results.words), [])
            if fact.node and fact.node not in nodes:
                nodes.append(fact.node)
    return {
        name: next(iter(values))
        if len(values) == 1
        else results.words["semicolon"].join(
            value + results.words["aside"].format(text=results.words.locale.listed(nodes))
            for value, nodes in values.items()
        )
        for name, values in found.items()
    }
