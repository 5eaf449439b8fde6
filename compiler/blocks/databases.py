"""Databases: what is declared once, and how each hardware group sees it with its holes filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from benchbrief.compiler import plan
from benchbrief.compiler.blocks import database_errors, structure_errors, value_errors
from benchbrief.compiler.blocks.database_schema import DATABASE, MONGODB_OPTIONS, ROCKSDB_OPTIONS
from benchbrief.compiler.blocks.hardware import HardwareUnit, origin
from benchbrief.compiler.blocks.hooks import Reset, read_hooks, read_reset
from benchbrief.compiler.blocks.mongo_servers import Topology, check_hosts, read_start, read_topology
from benchbrief.compiler.blocks.shapes import BlockSchema, Fact
from benchbrief.compiler.blocks.tools import ENGINE_TOOLS, read_tool
from benchbrief.compiler.blocks.uri_options import check_uri_options, uri_option
from benchbrief.compiler.blocks.values import (
    Constant,
    Reader,
    Value,
    check_path,
    reference,
)
from benchbrief.compiler.blocks.wrong_values import described
from benchbrief.compiler.db_bench_flags import FLAG, RESERVED
from benchbrief.compiler.declarations import Entry
from benchbrief.compiler.metrics.metric_errors import UnknownFunction
from benchbrief.dsl import ast
from benchbrief.dsl.source import Span
from benchbrief.dsl.suggest import did_you_mean

# What is not in the table is passed to db_bench as a flag of that name.
_OPTIONS = BlockSchema("", ROCKSDB_OPTIONS, open_keys=Fact(), named=False)
_SAID_BY: Mapping[str, str] = {
    "benchmarks": "`workloads` in the experiment",
    "db": "`path` in the database",
    "num": "`records` in the workload",
    "key_size": "`key_size` in the workload",
    "value_size": "`value_size` in the workload",
    "threads": "`threads` in the experiment",
    "duration": "`measure` in the experiment",
    "options_file": "`options_file` in the database itself",
}
"""Where a spec says what a reserved flag is set to."""
_REFERENCES = ("env", "secret")
_URI_OPTIONS = BlockSchema("", {name: option.key for name, option in MONGODB_OPTIONS.items()}, named=False)
_PLAIN_PASSWORD = re.compile(r"://[^/@\s]*:[^/@\s]+@")


@dataclass(frozen=True)
class DatabaseSpec:
    """A declared database, its holes still open. `tool` is set for a library engine only."""

    name: str
    label: str
    engine: str
    server: Literal["attach", "start", "embedded", "none"]
    start: plan.ServerStart | None
    uri: ast.String | None
    path: ast.String | None
    topology: Topology
    version: str | None
    max_lag: float | None
    size: float | None
    options: dict[str, plan.Option]
    open_options: dict[str, ast.Hole]
    """Options that are a fact of the hardware: `cache = "{cache}"`."""
    option_places: Mapping[str, Span]
    """Where each option is said."""
    options_file: str | None
    reset: Reset
    drop_caches: bool
    hooks: tuple[plan.Hook, ...]
    tool: plan.Tool | None
    span: Span
    imported: bool
    places: Mapping[str, Span]
    """Where each attribute's value is said."""


def read_databases(entries: Mapping[str, Entry], reader: Reader) -> dict[str, DatabaseSpec | None]:
    """By name; None for those that were reported as wrong."""
    return {entry.name: _read(entry, reader) for entry in entries.values()}


def _read(entry: Entry, reader: Reader) -> DatabaseSpec | None:
    values = reader.block(entry, DATABASE)
    engine = values.text("engine")
    if engine is None:
        return None
    for key in entry.attributes:
        schema = DATABASE.keys.get(key)
        if schema and schema.only and schema.only != engine:
            reader.findings.add(structure_errors.NotForThis(entry.attributes[key].key.span, key, schema.only, engine))
    server: Literal["attach", "start", "embedded", "none"] = "none"
    tool = None
    if engine == "mongodb":
        server = "start" if values.text("server") == "start" else "embedded" if values.said("server") else "attach"
        if server == "attach" and not values.said("uri"):
            reader.findings.add(database_errors.NotReachable(entry.head, entry.name))
        if server == "start" and not values.said("path"):
            _require_path(entry, reader)
    else:
        tool = read_tool(values.series("tool"), reader) or plan.Tool(driver="db_bench")
        if tool.driver not in ENGINE_TOOLS[engine]:
            reader.findings.add(
                database_errors.ToolMismatch(values.span("tool"), tool.driver, engine, ENGINE_TOOLS[engine])
            )
        if not values.said("path"):
            _require_path(entry, reader)
    reset = read_reset(values, "drop_and_load" if engine == "mongodb" else "after_writes", reader)
    doubtful = values.said("server") and values.text("server") is None  # a misspelt one may be any
    if reset.how == "snapshot" and server in ("attach", "embedded") and not doubtful:
        reader.findings.add(database_errors.NoSnapshot(values.span("reset"), entry.name, server))
    if engine == "rocksdb":
        _check_flags(entry.one("options"), reader)
    options, open_options = _open_options(entry.one("options"))
    uri = values.string("uri")
    if uri is not None and uri.parts:
        _check_uri(uri, uri.parts, reader)
    return DatabaseSpec(
        name=entry.name,
        label=entry.label,
        engine=engine,
        server=server,
        start=read_start(values, server == "start", reader) if engine == "mongodb" and not doubtful else None,
        uri=uri,
        path=values.string("path"),
        topology=read_topology(values, reader),
        version=values.text("version"),
        max_lag=values.number("max_lag"),
        size=values.number("size"),
        options=_options(options, engine, reader),
        open_options=open_options,
        option_places={key: at.key.span for block in entry.all("options") for key, at in block.attributes.items()},
        options_file=values.text("options_file"),
        reset=reset,
        drop_caches=values.flag("drop_caches") or False,
        hooks=(*read_hooks(values, "prepare", reader), *reset.commands, *read_hooks(values, "teardown", reader)),
        tool=tool,
        span=entry.head,
        imported=entry.imported,
        places={key: values.span(key) for key in entry.attributes},
    )


def _require_path(entry: Entry, reader: Reader) -> None:
    wanted = DATABASE.keys["path"].shape.wanted
    reader.findings.add(structure_errors.MissingAttribute(entry.head, "database", entry.name, "path", wanted))


def _open_options(entry: Entry | None) -> tuple[Entry | None, dict[str, ast.Hole]]:
    """The block without those of its options that are filled in by hardware, and those."""
    if entry is None:
        return None, {}
    found = {
        key: attribute.values[0].parts[0]
        for key, attribute in entry.attributes.items()
        if len(attribute.values) == 1
        and isinstance(attribute.values[0], ast.String)
        and len(attribute.values[0].parts) == 1
        and isinstance(attribute.values[0].parts[0], ast.Hole)
    }
    rest = {key: attribute for key, attribute in entry.attributes.items() if key not in found}
    return replace(entry, attributes=rest), found


def _options(entry: Entry | None, engine: str, reader: Reader) -> dict[str, plan.Option]:
    if entry is None:
        return {}
    if engine == "mongodb":
        named = _by_our_names(entry, reader)
        found = reader.block(named, _URI_OPTIONS).found
        return {
            MONGODB_OPTIONS[key].name: option
            for key, value in found.items()
            if (option := uri_option(key, value, reader)) is not None
        }
    for name, attribute in entry.attributes.items():
        # Any flag of db_bench may be said, but one that nearly is an option of ours is a slip.
        if name not in ROCKSDB_OPTIONS and name not in RESERVED and did_you_mean(name, ROCKSDB_OPTIONS):
            known = tuple(ROCKSDB_OPTIONS)
            reader.findings.add(structure_errors.UnknownAttribute(attribute.key.span, "options", name, known))
        if reader.findings.more:
            break
    found = reader.block(entry, _OPTIONS).found
    return {key: option for key, value in found.items() if (option := _option(value)) is not None}


def _check_flags(entry: Entry | None, reader: Reader) -> None:
    for name, attribute in entry.attributes.items() if entry else ():
        if name in RESERVED:
            instead = _SAID_BY.get(name, "")
            reader.findings.add(database_errors.ReservedFlag(attribute.key.span, name, instead))
        elif not FLAG.match(name) and not did_you_mean(name, ROCKSDB_OPTIONS):
            reader.findings.add(database_errors.NoFlag(attribute.key.span, name))


def _by_our_names(entry: Entry, reader: Reader) -> Entry:
    """The block without options that are said by the connection string's names, which are reported."""
    meant = {option.name.lower(): name for name, option in MONGODB_OPTIONS.items() if name != option.name.lower()}
    kept = {}
    for name, attribute in entry.attributes.items():
        if name.lower() in meant and name not in MONGODB_OPTIONS:
            reader.findings.add(database_errors.UriWord(attribute.key.span, name, meant[name.lower()]))
        else:
            kept[name] = attribute
    return replace(entry, attributes=kept)


def _option(value: Value | None) -> plan.Option | None:
    if isinstance(value, Constant):
        return value.value
    return value if isinstance(value, str | bool) else None


def _filled_options(spec: DatabaseSpec, unit: HardwareUnit, reader: Reader) -> dict[str, plan.Option]:
    """The options as this hardware has them."""
    options = dict(spec.options)
    keys = ROCKSDB_OPTIONS if spec.engine == "rocksdb" else {name: o.key for name, o in MONGODB_OPTIONS.items()}
    for key, hole in spec.open_options.items():
        if key not in keys and spec.engine == "mongodb":
            reader.findings.add(structure_errors.UnknownAttribute(spec.option_places[key], "options", key, tuple(keys)))
        elif not isinstance(hole.expr, ast.Name) or hole.format:
            reader.findings.add(database_errors.BadHole(hole.span, key, "only the name of a fact can stand here"))
        elif hole.expr.text not in unit.said:
            known = tuple(unit.said)
            if reader.findings.at(hole.expr.span):
                continue  # said of other hardware already
            reader.findings.add(database_errors.UnknownHole(hole.expr.span, unit.hardware.key, hole.expr.text, known))
        else:
            value = reader.value(key, unit.said[hole.expr.text], keys[key].shape if key in keys else Fact())
            mongodb = spec.engine == "mongodb"
            option = uri_option(key, value, reader) if mongodb else _option(value)
            if option is not None:
                options[MONGODB_OPTIONS[key].name if mongodb else key] = option
    return options


def fill(spec: DatabaseSpec, unit: HardwareUnit, table: Mapping[str, plan.Host], reader: Reader) -> plan.Database:
    """The database as this hardware sees it; what can't be filled in is reported."""
    hosts = ",".join(table[host].name for host in unit.hardware.hosts)
    uri = _fill(spec.uri, "uri", unit, reader, {"hosts": hosts}) if spec.uri else ()
    path = None
    if spec.path:
        filled = _fill(spec.path, "path", unit, reader, {})
        path = "".join(part for part in filled if isinstance(part, str))
        if spec.path.plain is None and path:
            check_path(spec.path.span, "path", path, reader.findings)
    if spec.uri and uri:
        _check_uri(spec.uri, uri, reader)
        check_uri_options(spec.uri, uri, spec.option_places, reader)
    if spec.start and (spec.topology.text or "topology" not in spec.places):  # a misspelt one may be any
        place = spec.places.get("topology", spec.span)
        check_hosts(spec.topology, place, unit.hardware.key, len(unit.hardware.hosts), reader.findings)
    lag = {"max_lag_s": spec.max_lag} if spec.max_lag is not None else {}
    return plan.Database(
        name=spec.name,
        label=spec.label,
        engine=spec.engine,
        server=spec.server,
        start=spec.start,
        uri=uri,
        path=path,
        topology=spec.topology.text or ("standalone" if spec.start else None),
        members=spec.topology.members,
        shards=spec.topology.shards,
        version=spec.version,
        **lag,
        size_bytes=spec.size,
        options=_filled_options(spec, unit, reader),
        options_file=spec.options_file,
        reset=spec.reset.how,
        drop_caches=spec.drop_caches,
        hooks=spec.hooks,
        origin=origin(spec.span),
    )


def _fill(
    string: ast.String, key: str, unit: HardwareUnit, reader: Reader, extra: Mapping[str, str]
) -> tuple[str | plan.Reference, ...]:
    facts = {
        name: fact if isinstance(fact, str) else fact.text
        for name, fact in unit.hardware.facts.items()
        if not isinstance(fact, bool)
    }
    known = {**facts, **extra, "hardware": unit.hardware.key}
    parts: list[str | plan.Reference] = []
    for part in string.parts:
        if isinstance(part, str):
            parts.append(part)
            continue
        filled = _hole(part, key, known, unit, reader)
        if filled is None:
            return ()
        parts.append(filled)
    return tuple(_joined(parts))


def _hole(
    hole: ast.Hole, key: str, known: Mapping[str, str], unit: HardwareUnit, reader: Reader
) -> str | plan.Reference | None:
    if hole.format:
        reader.findings.add(database_errors.BadHole(hole.span, key, "a format has no meaning here"))
        return None
    match hole.expr:
        case ast.Name(text=name) if name in known:
            return known[name]
        case ast.Name() as name:
            param = reader.deref(name)
            if isinstance(param, ast.String) and param.plain is not None:
                return param.plain
            if reader.findings.at(name.span):
                return None  # said of other hardware already
            reader.findings.add(database_errors.UnknownHole(name.span, unit.hardware.key, name.text, tuple(known)))
        case ast.Call(function=function) if (
            key == "uri" and function.text not in _REFERENCES and did_you_mean(function.text, _REFERENCES)
        ):
            reader.findings.add(UnknownFunction(function.span, "function", function.text, _REFERENCES))
        case other:
            found = reference(other) if key == "uri" else None
            if found is not None:
                return found
            reader.findings.add(database_errors.BadHole(hole.span, key, f"it is {described(other)}"))
    return None


def _joined(parts: list[str | plan.Reference]) -> list[str | plan.Reference]:
    """Neighbouring texts as one, so that equal texts are equal templates."""
    joined: list[str | plan.Reference] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part:
            joined.append(part)
    return joined


def _check_uri(string: ast.String, uri: Sequence[object], reader: Reader) -> None:
    """`uri` are its parts: those that are no text stay open."""
    first = uri[0]
    if isinstance(first, str) and not first.startswith(("mongodb://", "mongodb+srv://")):
        reader.findings.add(
            value_errors.BadText(string.span, "uri", "not a MongoDB address", '`"mongodb://{hosts}/ycsb"`')
        )
    shown = "".join(part if isinstance(part, str) else "\n" for part in uri)
    if _PLAIN_PASSWORD.search(shown):
        reader.findings.add(value_errors.PlainSecret(string.span))
