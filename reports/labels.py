"""Names of base measures for people: `latency.p99[read]` -> "p99 read latency", in the report's language."""

from __future__ import annotations

import re
from collections.abc import Mapping

_MEASURE = re.compile(r"([a-z]+(?:\.[a-z0-9]+)?)(?:\[([a-z_, ]+)\])?(?=,|$)")


def readable(label: str, words: Mapping[str, str]) -> str:
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
    return text + label[match.end() :]


def _operation(names: str, words: Mapping[str, str]) -> str:
    return ", ".join(words.get(f"operation_{name}", name) for name in re.findall("[a-z_]+", names))
