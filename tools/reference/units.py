"""Makes the page of units, by what they measure, and of currencies."""

from __future__ import annotations

from collections import defaultdict

from benchbrief.model.units import CURRENCIES, Dimension, base_unit, dimension_name, known_units, parse_unit
from tools.reference.markdown import code, joined, table, text


def page() -> str:
    by_dimension: defaultdict[Dimension, list[str]] = defaultdict(list)
    for name in known_units():
        if name not in CURRENCIES:
            by_dimension[parse_unit(name).dimension].append(name)
    rows = []
    for dimension, names in sorted(by_dimension.items(), key=lambda item: dimension_name(item[0]).split()[-1]):
        base = base_unit(dimension)
        names.sort(key=lambda name: parse_unit(name).factor)
        told = [f"`{name}`{_amount(name, base)}" for name in names]
        rows.append((dimension_name(dimension), code(base) if base else "–", ", ".join(told)))
    return joined(
        [
            "# Units",
            text("units"),
            "## Known units",
            table(("what it measures", "kept in", "units"), rows),
            "## Currencies",
            text("currencies"),
            code(*sorted(CURRENCIES)) + ".",
        ]
    )


def _amount(name: str, base: str) -> str:
    factor = parse_unit(name).factor
    return "" if factor == 1.0 else f" = {factor:,.15g} {base}".rstrip()
