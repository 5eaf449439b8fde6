"""Profiles: sets of overrides for the declarations. All of them are checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchbrief.compiler.blocks.hardware.hardware import HostTable
from benchbrief.compiler.blocks.power.meters import read_power
from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.extensions.registry import ENGINE_SPECS, PROBE_SPECS, SCHEDULER_SPECS, TOOL_SPECS
from benchbrief.compiler.frontend import name_errors, structure_errors
from benchbrief.compiler.frontend.declarations import Declarations, Entry, merge
from benchbrief.compiler.planning import plan
from benchbrief.compiler.problems import CompileProblem, Findings
from benchbrief.compiler.schemas.block_schema import BLOCKS, OVERRIDABLE, probe_schema, scheduler_schema
from benchbrief.compiler.schemas.extension_schemas import database_schema, workload_schema
from benchbrief.compiler.shapes.value_shapes import BlockSchema
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast


def apply_profile(found: Declarations, profile: str | None, findings: Findings) -> None:
    """Apply the hosts and overrides of the chosen profile, if any. `check_profiles` reports the mistakes in the
    overrides of every profile."""
    if profile is None:
        return
    profiles = found.blocks["profile"]
    chosen = profiles.get(profile)
    if chosen is None:
        findings.add(name_errors.UnknownProfile(None, "profile", profile, tuple(profiles)))
        return
    hosts = {key: value for key, value in chosen.attributes.items() if key == "hosts"}
    if hosts:
        for kind in ("hardware", "client"):
            for name, entry in found.blocks[kind].items():
                found.blocks[kind][name] = replace(
                    entry,
                    attributes={**entry.attributes, **hosts},
                    blocks=tuple(b for b in entry.blocks if b.kind != "ssh") + chosen.all("ssh"),
                )
    if hosts or "power" in chosen.attributes:
        _meters(found, chosen)
    for override in chosen.all("override"):
        entries = found.blocks.get(override.subject.text, {}) if override.subject else {}
        for name in [override.name] if override.name else list(entries):
            if name in entries:
                entries[name] = merge(_bared(entries[name], override), override, keep_base=True)


def _meters(found: Declarations, chosen: Entry) -> None:
    """Replace every power meter by the profile's. A profile with new hosts and no meter removes the old meters, which
    say nothing of the new hosts."""
    power = chosen.attributes.get("power")
    meter = {} if power is None or _is_none(power) else {"power": power}
    for name, entry in found.blocks["hardware"].items():
        own = entry.attributes.get("power")
        if own is not None and _is_declared(own.values[0], found):
            continue  # a declared number is a fact, as the price is
        rest = {key: value for key, value in entry.attributes.items() if key != "power"}
        taken = frozenset({"power"} if own is not None and not meter else ())
        found.blocks["hardware"][name] = replace(entry, attributes={**rest, **meter}, taken=taken)


def _is_none(power: ast.Attribute) -> bool:
    return isinstance(power.values[0], ast.Name) and power.values[0].text == "none"


def _is_declared(expr: ast.Expr, found: Declarations) -> bool:
    seen: set[str] = set()
    while isinstance(expr, ast.Name) and expr.text in found.params and expr.text not in seen:
        seen.add(expr.text)
        expr = found.params[expr.text].value
    return isinstance(expr, ast.Quantity | ast.Unary | ast.Binary)


def meters_left_behind(found: Declarations, profile: str, hardware: tuple[str, ...]) -> CompileProblem | None:
    """Return the warning for `hardware` whose meters belong to other hosts; None when the spec means it."""
    chosen = found.blocks["profile"].get(profile)
    if chosen is None or not hardware or "power" in chosen.attributes:
        return None
    return name_errors.MetersLeftBehind(chosen.attributes["hosts"].key.span, profile, hardware)


def _bared(entry: Entry, override: Entry) -> Entry:
    """Remove the overridden keys from the variants: an override has the last word."""
    keys = override.attributes.keys()

    def bare(block: Entry) -> Entry:
        if block.kind != "variant":
            return block
        return replace(block, attributes={k: v for k, v in block.attributes.items() if k not in keys})

    return replace(entry, blocks=tuple(map(bare, entry.blocks)))


def check_profiles(found: Declarations, reader: Reader) -> None:
    """Report the mistakes of all profiles."""
    findings = reader.findings
    for profile in found.blocks["profile"].values():
        values = reader.block(profile, BLOCKS["profile"])
        HostTable(reader).read(values.series("hosts"), profile.one("ssh"))
        power = profile.attributes.get("power")
        if power is not None and not _is_none(power):
            meter = read_power(values.series("power"), None, reader)
            if isinstance(meter, plan.Quantity):
                wanted = BLOCKS["profile"].keys["power"].shape.wanted
                found_is = f"the declared number `{meter.text}`"
                findings.add(structure_errors.WrongType(values.span("power"), "power", wanted, found_is))
        for override in profile.all("override"):
            if override.subject is None or override.subject.text not in OVERRIDABLE:
                subject = override.subject.text if override.subject else ""
                span = override.subject.span if override.subject else override.head
                findings.add(structure_errors.CannotOverride(span, subject, OVERRIDABLE))
                continue
            kind = override.subject.text
            entries = found.blocks[kind]
            if override.name and override.name not in entries:
                end = override.head.end
                span = Span(override.head.source, end - len(override.name), end)
                findings.add(name_errors.UnknownName(span, kind, override.name, tuple(entries)))
            named = [entries[override.name]] if override.name in entries else list(entries.values())
            reader.block(replace(override, kind=kind), _schema(kind, named), complete=False)


def _schema(kind: str, entries: Sequence[Entry]) -> BlockSchema:
    """Return what an override of these blocks may hold, with the attributes of other packages that they use."""
    schemas = [schema for entry in entries if (schema := _own_schema(kind, entry)) is not None]
    keys = {name: key for schema in schemas for name, key in schema.keys.items()}
    return replace(BLOCKS[kind], keys={**keys, **BLOCKS[kind].keys}) if keys else BLOCKS[kind]


def _own_schema(kind: str, entry: Entry) -> BlockSchema | None:
    """Return the schema of a block whose tool, engine, probe or scheduler is of another package, else None."""
    match kind, entry.base:
        case "workload", ast.Attr(base=ast.Name(text=name)) if name not in TOOL_SPECS.own:
            tool = TOOL_SPECS.usable(name)
            return workload_schema(tool) if tool else None
        case "database", _ if (name := _word(entry, "engine")) not in ENGINE_SPECS.own:
            engine = ENGINE_SPECS.usable(name)
            return database_schema(engine) if engine else None
        case "probe", _ if (name := _word(entry, "kind") or entry.name) not in PROBE_SPECS.own:
            probe = PROBE_SPECS.usable(name)
            return probe_schema(probe) if probe else None
        case "scheduler", _ if entry.name not in SCHEDULER_SPECS.own:
            scheduler = SCHEDULER_SPECS.usable(entry.name)
            return scheduler_schema(scheduler) if scheduler else None
    return None


def _word(entry: Entry, key: str) -> str:
    said = entry.attributes.get(key)
    return said.values[0].text if said and said.values and isinstance(said.values[0], ast.Name) else ""
