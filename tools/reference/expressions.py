"""Makes the page of measures, dimensions and functions."""

from __future__ import annotations

import re

from benchbrief.compiler import word_meanings
from benchbrief.compiler.measure_catalogue import KINDS, NAMED, ORDERED, SAMPLED
from benchbrief.compiler.metrics.curves import ARGUMENTS as CURVE_ARGUMENTS
from benchbrief.compiler.metrics.curves import CURVES
from benchbrief.model.plan import DIMENSIONS
from benchbrief.model.units import base_unit
from tools.reference.markdown import code, joined, table, text

_PLACE = re.compile(r"\$\{\d:([^}]*)\}")


def page() -> str:
    return joined(
        [
            "# Expressions",
            text("expressions"),
            "## Measures",
            text("measures"),
            table(
                ("measure", "unit", "what it is", "by, where asked for", "needs"), [_measure(name) for name in KINDS]
            ),
            "`nodes` is the number of hosts, by `hardware`. Every fact with a unit is a measure by `hardware` too.",
            "## Dimensions",
            text("dimensions"),
            table(
                ("dimension", "its keys", "what it is"),
                [(code(d), _keys(d), word_meanings.DIMENSIONS[d]) for d in DIMENSIONS],
            ),
            "## Functions",
            text("functions"),
            table(
                ("function", "what it gives", "along", "arguments"),
                [
                    (code(_example(name)), doc, _along(name), _arguments(name))
                    for name, (_, doc) in word_meanings.FUNCTIONS.items()
                ],
            ),
            "## What a curve shows",
            text("curves"),
            *(f"### `{name}`\n\n{rule}" for name, rule in word_meanings.RULES.items()),
        ]
    )


def _measure(name: str) -> tuple[str, ...]:
    kind = KINDS[name]
    by = [dim for dim in DIMENSIONS if dim in kind.on_demand]
    unit = base_unit(kind.unit)
    probe = f"the probe [`{kind.probe}`](tools.md#probes)" if kind.probe else "–"
    return (code(name), code(unit) if unit else "none", word_meanings.measure_doc(name), code(*by), probe)


def _keys(dimension: str) -> str:
    words = "words" if dimension in NAMED or dimension == "node" else "numbers"
    order = ", in order" if dimension in ORDERED else ""
    return f"{words}{order}{'; samples only' if dimension in SAMPLED else ''}"


def _example(name: str) -> str:
    return _PLACE.sub(r"\1", word_meanings.FUNCTIONS[name][0])


def _along(name: str) -> str:
    if name in ("first", "last"):
        return "one of " + code(*(dim for dim in DIMENSIONS if dim in ORDERED)) + ", or a factor of numbers"
    if name in ("ci", "p_value"):
        return code("repeat")
    factors = ["a factor of numbers"] if name == "knee" else []
    return " or ".join([*map(code, CURVES[name]), *factors]) if name in CURVES else "any dimensions"


def _arguments(name: str) -> str:
    if name in CURVES:
        # A search is called `knee` too, and has arguments of its own.
        named = {word: word_meanings.ARGUMENTS[name][word] for word in CURVE_ARGUMENTS.get(name, ())}
        return " ".join(f"`{word}:` {doc}" for word, doc in named.items()) or "–"
    return "–" if name in ("range", "ci", "p_value") else "`when` a condition holds"
