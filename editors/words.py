"""The language's words as the checker knows them. The highlighting for every editor is made from them."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler import schemas, word_meanings
from benchbrief.compiler.briefs import plan_figures
from benchbrief.compiler.measure_catalogue import FAMILIES, KINDS
from benchbrief.compiler.metrics import expressions
from benchbrief.compiler.registry import METER_SPECS, SCHEDULER_SPECS, own_families, own_tools
from benchbrief.model import value_shapes
from benchbrief.model.extension_spec import LANGUAGES
from benchbrief.model.units import known_units

STATEMENTS = ("param", "use", "expect", "metric")
"""The keywords of declarations that have no body."""

NAMED_BLOCKS = (*(name for name in schemas.BLOCKS if name != "at"), "report", "claim")
"""The keywords of blocks that have a name of their own: `hardware eco "5100 ECO" { ... }`."""

_SCHEMAS = (*schemas.BLOCKS.values(), *schemas.ELEMENTS.values())

INNER_BLOCKS = tuple(
    dict.fromkeys(
        word
        for block in _SCHEMAS
        for word in block.blocks
        if word not in schemas.BLOCKS and word not in ("override", "each", "formula", "at")
    )
)
"""The keywords of blocks without a name: `options { ... }`, `figure "Title" { ... }`. Blocks that are left out have
rules of their own."""

LINKS = ("over", "by", "along", "every", "on", "when")
"""Words that stand between two values."""

LOGIC = ("and", "or", "not")

DIRECTIONS = ("higher", "lower")

OPTIONS = tuple(dict.fromkeys((*plan_figures._OPTIONS, "label", "format")))
"""Words that add to an attribute's value, after a comma: `, color hardware`, `, format ".1f"`."""

REFERENCES = ("env", "secret")
"""Functions whose values the controller reads when the spec runs."""

FUNCTIONS = (*expressions.FUNCTIONS, "range")

TOOLS = (
    *own_tools(),
    "adaptive",
    "confident",
    "highest",
    "random",
    "replica_set",
    "until_steady",
    *METER_SPECS.own,
    *(name for name, spec in SCHEDULER_SPECS.own.items() if spec.usage),
)
"""Calls whose values are settings and not numbers."""

MEASURES = tuple(dict.fromkeys((*KINDS, *FAMILIES, "nodes")))

WORKLOADS = {name: tuple(family.workloads) for name, family in own_families().items()}

UNITS = known_units()


def attributes() -> set[str]:
    """Return the names of all attributes of all blocks."""
    return {key for block in _SCHEMAS for key in block.keys} | set(schemas.DATABASE_OPTIONS)


def constants() -> tuple[str, ...]:
    """Return the words that are values: `true`, `local`, `zipfian`, `technical_brief`."""

    def choices() -> Iterator[str]:
        for block in _SCHEMAS:
            for key in block.keys.values():
                if isinstance(key.shape, value_shapes.Word) and not key.shape.quoted:
                    yield from key.shape.choices

    free = ("true", "false", "local", "grouped", "interleaved", "standalone", "sharded", "automatic", "facts", "steady")
    words = (
        *free,
        *choices(),
        *word_meanings.RESETS,
        *word_meanings.TEMPLATES,
        *LANGUAGES,
    )
    # `disk`, `cpu` and `power` are probes where they are sampled and measures where they are read.
    return tuple(dict.fromkeys(word for word in words if word not in (*schemas.PROBES, *MEASURES)))
