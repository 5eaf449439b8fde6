"""The tables of attributes of databases and workloads, made from the specs of engines and tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from benchbrief.compiler.extensions import EngineSpec, ToolSpec
from benchbrief.compiler.extensions.registry import ENGINE_SPECS, own_families
from benchbrief.compiler.schemas.host_schema import COMMANDS, TOOL
from benchbrief.model.value_shapes import BlockSchema, Fact, Flag, Key, Special, Text, Word


def joined_keys(tables: Mapping[str, Mapping[str, Key]], of: str = "") -> dict[str, Key]:
    """Join tables of attributes, each with the names of its owners unless all own it.

    Where several tables have an attribute of one name, the table `of` that name counts, or else the first. The
    attribute is required only where that table, or else every table, requires it.
    """
    names = dict.fromkeys(name for table in tables.values() for name in table)
    return {name: _joined(name, tables, of) for name in names}


def _joined(name: str, tables: Mapping[str, Mapping[str, Key]], of: str) -> Key:
    found = {owner: table[name] for owner, table in tables.items() if name in table}
    only = () if len(found) == len(tables) > 1 else tuple(found)
    if of in found:
        return replace(found[of], only=only)
    default = _default({owner: key.default for owner, key in found.items()})
    doc = _doc({owner: key.doc for owner, key in found.items()})
    required = not of and not only and all(key.required for key in found.values())
    return replace(next(iter(found.values())), only=only, default=default, doc=doc, required=required)


def _doc(docs: Mapping[str, str]) -> str:
    """Join the docs of all owners. Equal docs stand once."""
    by_doc: dict[str, list[str]] = {}
    for owner, doc in docs.items():
        by_doc.setdefault(doc, []).append(owner)
    if len(by_doc) == 1:
        return next(iter(by_doc))
    return " ".join(f"For {owners(of)}: {doc}" for doc, of in by_doc.items())


def _default(defaults: Mapping[str, str]) -> str:
    if len(set(defaults.values())) == 1:
        return next(iter(defaults.values()))
    return ", ".join(f"{default} for {owner}" for owner, default in defaults.items() if default)


def owners(only: Iterable[str]) -> str:
    """Return the owners of an attribute, in words."""
    return " or ".join(only)


def database_schema(other: EngineSpec | None = None) -> BlockSchema:
    """Return the schema of the block `database` for benchbrief's own engines and one `other`."""
    specs = {**ENGINE_SPECS.own, **({other.name: other} if other else {})}
    tables = {name: {**_attributes(spec)} for name, spec in specs.items()}
    resets = " and ".join(f"{spec.default_reset} for {name}" for name, spec in specs.items())
    schema = BlockSchema(
        "An engine, how it is reached, and how it is prepared between cells.",
        {
            "engine": Key(Word(tuple(specs)), "The database engine.", required=True),
            **joined_keys(tables, other.name if other else ""),
            "path": Key(
                Text(holes=True, absolute=True),
                "The data directory, with holes such as `{path}` or `{mount}`.",
                example='path = "{path}/data"',
            ),
            "reset": Key(
                Special(
                    "`as_needed`, `after_writes`, `drop_and_load`, `undo` (mongodb), `snapshot`, `links` (rocksdb), "
                    '`btrfs`, `zfs` or `lvm_thin` (rocksdb), `reuse`, or what brings the data back, `command("...")`'
                ),
                "How each cell comes by its data: loaded again if it would notice what the cells before it changed "
                "(all inserts; updates too, but for MongoDB); loaded again if a cell that wrote was before it; loaded "
                "again always; without what the cells before it inserted; copied, linked or put back by a "
                "snapshot as they were after the load; as the cells before have left them; or by a command.",
                default=resets.replace(" and ", ", ", len(specs) - 2),
                example="reset = drop_and_load",
            ),
            "drop_caches": Key(
                Flag(),
                "Drops the page cache of each host before each measurement; needs root, or `sudo` without a password.",
            ),
            "prepare": Key(
                Special(COMMANDS),
                "Commands for each host (`on: first`: the first), before the server is started or attached to.",
                example='prepare = command("systemctl stop mongod", timeout: 2 min)',
            ),
            "teardown": Key(
                Special(COMMANDS),
                "Commands for when the server was stopped or left.",
                example='teardown = command("systemctl start mongod", on: first)',
            ),
        },
        blocks=("options",),
        exclusive=(("uri", "server"),),
        inner={"options": tuple(other.options)} if other else {},
    )
    listed = (name for name, key in schema.keys.items() if other and (not key.only or other.name in key.only))
    return replace(schema, listed=tuple(listed))


def _attributes(spec: EngineSpec) -> dict[str, Key]:
    if not spec.in_process:
        return dict(spec.attributes)
    name = spec.default_tool
    tool = Key(TOOL, "The load generator to use.", default=name, example=f'tool = {name}("/usr/bin/{name}")')
    return {**spec.attributes, "tool": tool}


def options_schema(spec: EngineSpec, *, flags: bool) -> BlockSchema:
    """Return the schema of the block `options`. With `flags`, an option outside the table is a flag of the tool."""
    keys = {name: option.key for name, option in spec.options.items()}
    return BlockSchema("", keys, open_keys=Fact() if flags else None, named=False)


DATABASE = database_schema()

DATABASE_OPTIONS = joined_keys(
    {name: {key: option.key for key, option in spec.options.items()} for name, spec in ENGINE_SPECS.own.items()}
)
"""The options of benchbrief's own engines, each with its engine."""


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
