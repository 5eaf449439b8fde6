"""Profiles: one set of overrides laid over the declarations; all of them checked."""

from __future__ import annotations

from dataclasses import replace

from benchbrief.compiler import errors, plan
from benchbrief.compiler.blocks import structure_errors
from benchbrief.compiler.blocks.hardware import HostTable
from benchbrief.compiler.blocks.meters import read_power
from benchbrief.compiler.blocks.schema import BLOCKS, OVERRIDABLE
from benchbrief.compiler.blocks.values import Reader
from benchbrief.compiler.declarations import Declarations, Entry, merge
from benchbrief.compiler.problems import CompileProblem, Findings
from benchbrief.dsl import ast
from benchbrief.dsl.source import Span


def apply_profile(found: Declarations, profile: str, findings: Findings) -> None:
    """Lay the profile's hosts and overrides over the declarations.

    What is wrong in its overrides themselves is found by `check_profiles`, whether or not it is the chosen one.
    """
    profiles = found.blocks["profile"]
    chosen = profiles.get(profile)
    if chosen is None:
        findings.add(errors.UnknownProfile(None, "profile", profile, tuple(profiles)))
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
    """Put the profile's power meter in the place of every other one.

    A profile that replaces the hosts and names no meter takes them away: those of the old hosts say nothing of the new.
    """
    power = chosen.attributes.get("power")
    meter = {} if power is None or _is_none(power) else {"power": power}
    for name, entry in found.blocks["hardware"].items():
        own = entry.attributes.get("power")
        if own is not None and _is_declared(own.values[0], found):
            continue  # a declared number is a fact, as its price is
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
    """What is to be said of `hardware` whose power can't be sampled, for the hosts are others; None when meant so."""
    chosen = found.blocks["profile"].get(profile)
    if chosen is None or not hardware or "power" in chosen.attributes:
        return None
    return errors.MetersLeftBehind(chosen.attributes["hosts"].key.span, profile, hardware)


def _bared(entry: Entry, override: Entry) -> Entry:
    """The entry without what its variants say of the overridden keys: an override is the last word on them."""
    keys = override.attributes.keys()

    def bare(block: Entry) -> Entry:
        if block.kind != "variant":
            return block
        return replace(block, attributes={k: v for k, v in block.attributes.items() if k not in keys})

    return replace(entry, blocks=tuple(map(bare, entry.blocks)))


def check_profiles(found: Declarations, reader: Reader) -> None:
    """What is wrong in any profile, be it the chosen one or not."""
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
                findings.add(errors.UnknownName(span, kind, override.name, tuple(entries)))
            reader.block(replace(override, kind=kind), BLOCKS[kind], complete=False)
