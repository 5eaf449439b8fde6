"""The language's words as the checker knows them: what the highlighting of every editor is made from."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler.blocks import database_schema, meter_schema, schema, shapes
from benchbrief.compiler.blocks.workload_tables import DB_BENCH, YCSB
from benchbrief.compiler.briefs import figures, report, tables, themes
from benchbrief.compiler.metrics import glossary, lookups
from benchbrief.compiler.metrics.measures import FAMILIES, KINDS
from benchbrief.compiler.units import known_units

STATEMENTS = ("param", "use", "expect", "metric")
"""Declarations without a body, by the grammar's keywords."""

NAMED_BLOCKS = (*schema.BLOCKS, "report")
"""Blocks that have a name of their own: `hardware eco "5100 ECO" { ... }`."""

INNER_BLOCKS = tuple(
    dict.fromkeys(
        word
        for words in (*(block.blocks for block in schema.BLOCKS.values()), report._BLOCKS, ("theme",))
        for word in words
        if word not in schema.BLOCKS and word not in ("override", "each", "formula")
    )
)
"""Blocks without a name: `options { ... }`, `figure "Title" { ... }`. The other three have rules of their own."""

LINKS = ("over", "by", "along", "every", "on", "when")
"""Words between two values."""

LOGIC = ("and", "or", "not")

DIRECTIONS = ("higher", "lower")

OPTIONS = tuple(dict.fromkeys((*figures._OPTIONS, "label", "format")))
"""Words that say more about an attribute's value: `, color hardware`, `, format ".1f"`."""

REFERENCES = ("env", "secret")
"""Functions that the environment answers."""

FUNCTIONS = (*lookups.FUNCTIONS, "range")

TOOLS = ("ycsb", "go_ycsb", "db_bench", "random", "replica_set", *meter_schema.METERS)
"""Calls that are settings, not numbers."""

MEASURES = tuple(dict.fromkeys((*KINDS, *FAMILIES, "nodes")))

WORKLOADS = {"ycsb": tuple(YCSB), "db_bench": tuple(DB_BENCH)}

UNITS = known_units()


def attributes() -> set[str]:
    """Every attribute of every block."""
    keys = {key for block in schema.BLOCKS.values() for key in block.keys} | {
        *database_schema.ROCKSDB_OPTIONS,
        *database_schema.MONGODB_OPTIONS,
    }
    shown = (*report._HEAD, *report._FLOW, *tables._ATTRIBUTES, *figures._MARKS, "claim", *themes.KEYS)
    return keys | set(database_schema.DATABASE_OPTIONS) | set(shown)


def constants() -> tuple[str, ...]:
    """Words that are values: `true`, `local`, `zipfian`, `technical_brief`."""

    def choices() -> Iterator[str]:
        for block in schema.BLOCKS.values():
            for key in block.keys.values():
                if isinstance(key.shape, shapes.Word) and not key.shape.quoted:
                    yield from key.shape.choices

    free = ("true", "false", "local", "grouped", "interleaved", "standalone", "sharded", "automatic", "facts", "steady")
    words = (
        *free,
        *choices(),
        *glossary.RESETS,
        *report.TEMPLATES,
        *report.PAPERS,
        *report.PROVENANCE,
        *report.LANGUAGES,
    )
    # `disk`, `cpu` and `power` are probes where they are sampled and measures where they are read.
    return tuple(dict.fromkeys(word for word in words if word not in (*schema.PROBES, *MEASURES)))
