"""Facts of hardware with a slip in their name: any name is allowed there, so nothing else would find them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from benchbrief.compiler.blocks.host_schema import HARDWARE
from benchbrief.compiler.blocks.values import Reader
from benchbrief.compiler.declarations import Entry
from benchbrief.compiler.errors import OddFact
from benchbrief.dsl import ast
from benchbrief.dsl.suggest import one_slip

_MOST_FACTS = 300
"""Names up to which each is compared with all others: with so many there is no telling what is usual."""
_Own = Mapping[str, ast.Attribute]


def warn_of_odd_facts(entries: Mapping[str, Entry], reader: Reader) -> None:
    """Warn of each fact that is nearly an attribute of hardware, or nearly a fact of more, or of earlier, hardware."""
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
                    reader.findings.add(OddFact(attribute.key.span, name, meant, what))


def _blocks(entries: Mapping[str, Entry]) -> Iterator[_Own]:
    """What each group and each variant says itself, without what it inherits."""
    for entry in entries.values():
        above = entries.get(entry.parent)
        inherited = above.attributes if above else {}
        yield {name: said for name, said in entry.attributes.items() if inherited.get(name) is not said}
        known = [each.attributes for each in above.all("variant")] if above else []
        yield from (variant.attributes for variant in entry.all("variant") if variant.attributes not in known)


def _earlier(one: ast.Attribute, other: ast.Attribute) -> bool:
    return one.span.source is not other.span.source or one.span.start < other.span.start
