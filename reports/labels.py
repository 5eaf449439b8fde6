"""Names of base measures for people: `latency.p99[read]` -> "p99 read latency", in the report's language."""

from __future__ import annotations

import re

from benchbrief.compiler.plan import Dimension, Query
from benchbrief.reports.source import reads_of
from benchbrief.reports.words import Words, counted

_NUMBERED: tuple[Dimension, ...] = ("threads", "target", "phase", "repeat")
_MEASURE = re.compile(r"([a-z]+(?:\.[a-z0-9_]+)?)(?:\[([a-z_, ]+)\])?(?=,|$)")

_CJK = "[\u2e80-\u9fff\uff00-\uffef]"
_SEPARATOR = re.compile(rf"^, |(?<={_CJK}), |, (?={_CJK})")
"""Between a measure and what is fixed for it; a comma within a name that is not Japanese is the name's own."""


def readable(label: str, words: Words) -> str:
    """A label that begins with a measure as the spec writes it; any other stays as it is."""
    match = _MEASURE.match(label)
    if match is None:
        return label
    name, operation = match.groups()
    family, _, statistic = name.partition(".")
    known = words.get(f"measure_{name.replace('.', '_')}")
    if family == "latency" and statistic and operation:
        parts = {
            "statistic": words.get(f"statistic_{statistic}", statistic),
            "operation": _operation(operation, words),
        }
        text = words["measure_latency"].format(**parts)
    elif known and operation:
        text = words["measure_of"].format(measure=known, operation=_operation(operation, words))
    elif known:
        text = known
    else:
        return label
    if not re.match(r"p\d", text):  # p99 stays small
        text = text[:1].upper() + text[1:]
    return text + _SEPARATOR.sub(words.locale.listed(("", "")), label[match.end() :])


def line_label(label: str, query: Query, words: Words) -> str:
    """The head of a table's line; one that is only a number of threads, or of a phase, says so: "4 threads"."""
    for read in reads_of(query):
        for dim in _NUMBERED:
            for key in read.keys.get(dim, ()):
                if isinstance(key, float) and label.replace(",", "") == f"{key:.15g}":
                    return counted(words, f"at_{dim}", key)
    return readable(label, words)


def _operation(names: str, words: Words) -> str:
    return words.locale.listed(words.get(f"operation_{name}", name) for name in re.findall("[a-z_]+", names))
