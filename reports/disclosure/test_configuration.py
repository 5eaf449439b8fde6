"""The test configuration: declared facts of each hardware group beside observed facts of its hosts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from benchbrief.compiler.messages.text import Text
from benchbrief.compiler.planning.plan import Fact, Hardware, Quantity
from benchbrief.reports.data.imported_briefs import is_imported
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import FactGroup, FactLine
from benchbrief.reports.words.brief_words import Words

_LEFT_OUT = frozenset({"block_devices"})  # for checks, and of no use to a reader
_FILE = "file "
_ORDER = (
    "hostname", "os", "kernel", "virtualization", "cpu", "sockets", "cores", "threads", "usable_threads", "numa_nodes",
    "governor", "clock_source", "memory", "memory_limit", "swap", "transparent_huge_pages", "filesystem",
)  # fmt: skip


def fact_groups(hardware: Sequence[str], results: Results) -> tuple[FactGroup, ...]:
    """Return the facts that all groups share, then the differences of each group."""
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
    known = results.disclosed_facts
    declared = {name: fact_text(fact, words) for name, fact in hardware.facts.items() if known is None or name in known}
    observed = _observed(hardware, results)
    lines = [FactLine(words["nodes"], str(hardware.nodes), "", differs=False)]
    if not is_imported(results):  # the plan's hosts did not measure these results
        lines.append(FactLine(words["hosts"], words.locale.listed(hardware.hosts), "", differs=False))
    for name in [*declared, *(n for n in _ordered(observed) if n not in declared)]:
        text = declared.get(name, "")
        differs = any(remark.endswith(text) for remark in contradictions(hardware, results)) if text else False
        lines.append(FactLine(fact_name(name, words), text, observed.get(name, ""), differs))
    return [*lines, *_paths(hardware, results)]


def _ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))


def _paths(hardware: Hardware, results: Results) -> list[FactLine]:
    """Return a line for each storage with the group's data paths: file system, device, mount, free space."""
    own = {d.path for key, d in results.plan.databases.items() if key.hardware == hardware.key and d.path}
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
    """Return the run's own sentences on contradictions between hosts and declarations."""
    declared = {text for fact in hardware.facts.values() if (text := fact_text(fact, results.words))}
    return [remark for remark in results.remarks if _contradicts(remark, hardware.label, declared)]


def _contradicts(remark: str, group: str, declared: Collection[str]) -> bool:
    match remark:
        case Text(code="at", args={"group": str(of), "what": Text(args=args)}):
            return of == group and args.get("declared", args.get("device")) in declared
    return False


def fact_name(name: str, words: Words) -> str:
    """Turn `memory_limit` into "Memory limit", in the report's language if it has a word for it."""
    if name.startswith(_FILE):  # a path stays as it is
        return words["fact_file"].format(path=name.removeprefix(_FILE))
    stem, of, place = name.partition(" of ")
    if stem.startswith("disk "):
        return words["fact_disk"].format(name=stem.removeprefix("disk "))
    known = words.get(f"fact_{stem.replace(' ', '_')}") or re.sub("_+", " ", stem[:1].upper() + stem[1:])
    return words["fact_of"].format(fact=known, place=place) if of else known


def fold_facts(facts: Mapping[str, str], hosts: Sequence[str]) -> dict[str, str]:
    """Return facts of files once, and without a host, where all hosts have the same file."""
    found: dict[str, str] = {}
    for name, value in facts.items():
        path, _, host = name.rpartition(" on ")
        of_a_file = name.startswith(_FILE) and host in hosts
        same = of_a_file and all(facts.get(f"{path} on {each}") == value for each in hosts)
        found[path if same else name] = value
    return found


def fact_text(fact: Fact, words: Words) -> str:
    if isinstance(fact, Quantity):
        return fact.text
    if isinstance(fact, bool):
        return words["yes" if fact else "no"]
    return fact


def _observed(hardware: Hardware, results: Results, *, of_paths: bool = False) -> dict[str, str]:
    """Return one text for each fact (of the hosts, or of paths on them); each host's own where hosts differ."""
    found: dict[str, dict[str, list[str]]] = {}
    for fact in results.observed:
        of_group = fact.hardware == hardware.key or (fact.node or "") in hardware.hosts
        wanted = fact.name not in _LEFT_OUT and (" of /" in fact.name) == of_paths
        if fact.kind == "host" and wanted and of_group:
            nodes = found.setdefault(fact.name, {}).setdefault(results.words.said(fact.value), [])
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
