"""Probes: what is sampled beside the measurement, as each hardware group sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchbrief.compiler import errors, plan, structure_errors
from benchbrief.compiler.declarations import Entry
from benchbrief.compiler.hardware import HardwareUnit, origin
from benchbrief.compiler.schema import EXPERIMENT, PROBE
from benchbrief.compiler.values import Reader, described, listed
from benchbrief.dsl import ast
from benchbrief.dsl.source import Span

KINDS = ("disk", "cpu")
_UNSUPPORTED = ("power", "database")
_EVERY = PROBE.keys["every"].shape
_DEVICE = PROBE.keys["device"].shape


@dataclass(frozen=True)
class ProbeSpec:
    """`device` is a text, or the name of a fact of the hardware that holds one."""

    kind: str
    every_s: float
    device: str | ast.Name | None
    span: Span


def read_declared(entries: Mapping[str, Entry], reader: Reader) -> dict[str, ProbeSpec | None]:
    """The `probe` blocks by name; None for those that were reported as wrong."""
    return {entry.name: _declared(entry, reader) for entry in entries.values()}


def _declared(entry: Entry, reader: Reader) -> ProbeSpec | None:
    values = reader.block(entry, PROBE)
    kind = values.text("kind")
    every = values.number("every")
    if kind is None and not values.said("kind"):
        kind = _kind(entry.name, entry.head, reader)
    if kind is None or every is None:
        return None
    return ProbeSpec(kind, every, values.text("device"), entry.head)


def read_probes(
    series: tuple[ast.Expr, ...],
    declared: Mapping[str, ProbeSpec | None],
    units: tuple[HardwareUnit, ...],
    reader: Reader,
) -> dict[str, tuple[plan.Probe, ...]]:
    """The probes of an experiment by hardware key. What is wrong is reported and left out."""
    specs: dict[str, ProbeSpec] = {}
    for item in listed(reader.deref(expr) for expr in series):
        spec = _spec(item, declared, reader)
        if spec is not None:
            earlier = specs.setdefault(spec.kind, spec)
            if earlier is not spec:
                reader.findings.add(errors.NamedTwice(item.span, earlier.span, "probe", spec.kind))
    return {unit.hardware.key: tuple(_placed(spec, unit, reader) for spec in specs.values()) for unit in units}


def _spec(item: ast.Expr, declared: Mapping[str, ProbeSpec | None], reader: Reader) -> ProbeSpec | None:
    match item:
        case ast.Name(text=name) if name in declared:
            return declared[name]
        case ast.Name(text=name) if name in (*KINDS, *_UNSUPPORTED):
            if _kind(name, item.span, reader):
                usage = f"`{name} every 1 s`"
                reader.findings.add(structure_errors.BadArgument(item.span, name, "does not say how often", usage))
        case ast.Every(subject=ast.Name(text=name) as subject, interval=interval, target=target):
            kind = _kind(name, subject.span, reader, tuple(declared))
            every = reader.value("every", interval, _EVERY)
            device = _device(kind, target, reader) if target is not None else None
            if kind is not None and not isinstance(every, str | bool | tuple | ast.String) and every is not None:
                return ProbeSpec(kind, every.value, device, item.span)
        case ast.Name(text=name):
            _kind(name, item.span, reader, tuple(declared))
        case _:
            wanted = EXPERIMENT.keys["probes"].shape.wanted
            reader.findings.add(structure_errors.WrongType(item.span, "probes", wanted, described(item)))
    return None


def _kind(name: str, span: Span, reader: Reader, declared: tuple[str, ...] = ()) -> str | None:
    if name in KINDS:
        return name
    if name in _UNSUPPORTED:
        reader.findings.add(errors.NotSupported(span, f"the probe `{name}`", "sample `disk` or `cpu`"))
    else:
        reader.findings.add(errors.UnknownName(span, "probe", name, (*KINDS, *declared)))
    return None


def _device(kind: str | None, target: ast.Expr, reader: Reader) -> str | ast.Name | None:
    if kind == "cpu":
        reader.findings.add(structure_errors.NotForThis(target.span, "on", "the probe disk", "the probe cpu"))
        return None
    if isinstance(target, ast.Name):
        return target
    value = reader.value("on", target, _DEVICE)
    return value if isinstance(value, str) else None


def _placed(spec: ProbeSpec, unit: HardwareUnit, reader: Reader) -> plan.Probe:
    options: dict[str, str] = {}
    device = spec.device
    if isinstance(device, ast.Name):
        fact = unit.hardware.facts.get(device.text)
        texts = tuple(name for name, value in unit.hardware.facts.items() if isinstance(value, str))
        if isinstance(fact, str):
            options["device"] = fact
        else:
            reader.findings.add(structure_errors.UnknownHole(device.span, unit.hardware.key, device.text, texts))
    elif device is not None:
        options["device"] = device
    return plan.Probe(
        name=spec.kind,
        every_s=spec.every_s,
        hosts=unit.hardware.hosts,
        options=options,
        origin=origin(spec.span),
    )
