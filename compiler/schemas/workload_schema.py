"""The tables of attributes that a workload may have, made from the tools' specs."""

from __future__ import annotations

from benchbrief.compiler.extensions import ToolSpec
from benchbrief.compiler.extensions.own_tools import own_families
from benchbrief.compiler.schemas.joined_keys import joined_keys
from benchbrief.compiler.shapes.value_shapes import BlockSchema, Key, Text


def workload_schema(family: ToolSpec | None = None) -> BlockSchema:
    """Return the schema of the block `workload` for benchbrief's own tools and for a `family`."""
    specs = {**own_families(), **({family.name: family} if family else {})}
    tables = {name: {key: each.key for key, each in spec.attributes.items()} for name, spec in specs.items()}
    exclusive = {
        (name, attribute.product_of[1])
        for spec in specs.values()
        for name, attribute in spec.attributes.items()
        if attribute.product_of
    }
    return BlockSchema(
        "What the load does: a workload that a load generator brings, adjusted.",
        {
            "description": Key(
                Text(),
                "A sentence for the brief, in place of the built-in one.",
                example='description = "Reads as the shop front does at noon."',
            ),
            **joined_keys(tables, family.name if family else ""),
        },
        exclusive=tuple(sorted(exclusive)),
        listed=("description", *tables[family.name]) if family else (),
    )


WORKLOAD = workload_schema()
