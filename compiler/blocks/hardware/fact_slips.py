"""Misspelt facts of hardware. A fact may have any name, so no table finds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.frontend.name_errors import OddFact
from benchbrief.compiler.schemas.host_schema import HARDWARE
from benchbrief.dsl.diagnostics.suggest import one_slip
from benchbrief.dsl.syntax import ast

_MOST_FACTS = 300
"""The most names to compare with each other. Among more names, none is usual."""
_Own = Mapping[str, ast.Attribute]


def warn_of_odd_facts(entries: Mapping[str, Entry], reader: Reader) -> None:
    """Warn of a fact that is nearly an attribute of hardware, or nearly a fact that more hardware or earlier hardware
    has."""
    blocks = list(_blocks(entries))
    counts = Counter(name for own in blocks for name in own)
    if len(counts) > _MOST_FACTS:
        return
    first = {name: own[name] for own in reversed(blocks) for name in own}
    for own in blocks:
        for name, attribute in own.items():
            if name in HARDWARE.keys:
                continue
            keys = [key for key in HARDWARE.keys if one_slip(name, key)]
            facts = [
                other
                for other in counts
                if counts[name] == 1 and other not in own and other not in HARDWARE.keys and one_slip(name, other)
            ]
            usual = [other for other in facts if counts[other] > 1 or _earlier(first[other], attribute)]
            for meant, what in [*((key, "attribute") for key in keys), *((other, "fact") for other in usual)][:1]:
                if not reader.findings.at(attribute.key.span):
                    reader.report(OddFact(attribute.key.span, name, meant, what))


def _blocks(entries: Mapping[str, Entry]) -> Iterator[_Own]:
    """Return the own attributes of each group and variant, without inherited ones."""
    for entry in entries.values():
        above = entries.get(entry.parent)
        inherited = above.attributes if above else {}
        yield {name: said for name, said in entry.attributes.items() if inherited.get(name) is not said}
        known = [each.attributes for each in above.all("variant")] if above else []
        yield from (variant.attributes for variant in entry.all("variant") if variant.attributes not in known)


def _earlier(one: ast.Attribute, other: ast.Attribute) -> bool:
    return one.span.source is not other.span.source or one.span.start < other.span.start
