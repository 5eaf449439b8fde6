"""The test configuration: what the spec declares of each hardware group beside what was observed of its hosts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from benchbrief.compiler.plan import Fact, Hardware, Quantity
from benchbrief.reports.source import Results
from benchbrief.reports.values import quantity
from benchbrief.reports.view import FactGroup, FactLine

_TOLERANCE = 0.1  # the kernel shows some per cent less memory or disk than the label says


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
    lines.append(FactLine(words["hosts"], ", ".join(hardware.hosts), "", differs=False))
    for name in [*declared, *(n for n in observed if n not in declared)]:
        differs = name in hardware.facts and name in observed and _differs(hardware.facts[name], observed[name])
        lines.append(FactLine(fact_name(name, words), declared.get(name, ""), observed.get(name, ""), differs))
    return lines


def fact_name(name: str, words: Mapping[str, str]) -> str:
    """`memory_limit` -> "Memory limit", in the report's language where it has a word for it."""
    return words.get(f"fact_{name}") or re.sub(r"[_.]+", " ", name[:1].upper() + name[1:])


def fact_text(fact: Fact, words: Mapping[str, str]) -> str:
    if isinstance(fact, Quantity):
        return fact.text
    if isinstance(fact, bool):
        return words["yes" if fact else "no"]
    return fact


def _observed(hardware: Hardware, results: Results) -> dict[str, str]:
    """One text for each fact; where hosts of a group differ, each host's own."""
    found: dict[str, dict[str, list[str]]] = {}
    for fact in results.observed:
        if fact.kind == "host" and (fact.hardware == hardware.key or (fact.node or "") in hardware.hosts):
            nodes = found.setdefault(fact.name, {}).setdefault(fact.value, [])
            if fact.node and fact.node not in nodes:
                nodes.append(fact.node)
    return {
        name: readable(name, next(iter(values)))
        if len(values) == 1
        else results.words["semicolon"].join(f"{readable(name, v)} ({', '.join(nodes)})" for v, nodes in values.items())
        for name, values in found.items()
    }


def readable(name: str, value: str) -> str:
    """An observed value for people: names that end in their unit lose it (`memory_bytes`: 16 GB)."""
    if name.endswith("_bytes") and re.fullmatch(r"\d+", value):
        return quantity(float(value), "B")
    return value


def _differs(declared: Fact, observed: str) -> bool:
    """Whether what was observed contradicts what was declared.

    Quantities: more than a tenth apart. Texts: a number or model name (a word with a digit) that was declared is not in
    what was observed. Words without digits may be put differently, and contradict nothing.
    """
    if isinstance(declared, bool):
        return observed.lower() in ("true", "false", "yes", "no") and (observed.lower() in ("true", "yes")) != declared
    if isinstance(declared, Quantity):
        value = _base_value(observed)
        return value is not None and abs(value - declared.value) > _TOLERANCE * abs(declared.value)
    return not _models(declared) <= _models(observed)


def _models(text: str) -> set[str]:
    return {w for w in re.findall(r"[a-z0-9.]+", text.lower()) if any(c.isdigit() for c in w)}


_SIZES = {
    "": 1.0,
    "B": 1.0,
    "kB": 1e3,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TiB": 2.0**40,
}


def _base_value(text: str) -> float | None:
    """`16384 MiB` -> bytes; None for what is no amount of bytes and no bare number."""
    match = re.fullmatch(r"([0-9][0-9_,]*(?:\.[0-9]+)?)\s*([A-Za-z]*)", text.strip())
    if match is None or match.group(2) not in _SIZES:
        return None
    return float(re.sub("[_,]", "", match.group(1))) * _SIZES[match.group(2)]
