"""The texts of worked examples: operators as people write them, and declared facts as in the spec."""

from __future__ import annotations

import math
import re

from benchbrief.compiler.planning import plan as p
from benchbrief.compiler.units import parse_unit
from benchbrief.reports.data.report_data import Results


def as_written(text: str) -> str:
    """Write the operators as people do."""
    for sign, written in ((" * ", " × "), (" / ", " ÷ "), (" - ", " − ")):
        text = text.replace(sign, written)
    return text


def subtracts(text: str) -> bool:
    return bool(re.search(" [-−] ", text))


def declared_text(results: Results, query: p.Query) -> str:
    """Return a declared fact as in the spec: `0.10 USD/h`, and not in base units; else ""."""
    value, name = results.at(query), re.match(r"\w+", query.text)
    for hardware in results.plan.hardware.values():
        fact = hardware.facts.get(name.group()) if name else None
        if value is not None and isinstance(fact, p.Quantity) and _is_same(fact, value, query.unit):
            return fact.text
    return ""


def _is_same(fact: p.Quantity, value: float, unit: str) -> bool:
    ours, theirs = parse_unit(unit), parse_unit(fact.unit)
    return ours.dimension == theirs.dimension and math.isclose(value * ours.factor, fact.value * theirs.factor)
