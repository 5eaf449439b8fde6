"""Probes: what is sampled beside the measurement, as each hardware group sees it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from benchbrief.compiler import errors, plan
from benchbrief.compiler.blocks import database_errors, experiment_errors, structure_errors
from benchbrief.compiler.blocks.databases import DatabaseSpec
from benchbrief.compiler.blocks.hardware import HardwareUnit, origin
from benchbrief.compiler.blocks.schema import EXPERIMENT, PROBE, PROBES
from benchbrief.compiler.blocks.shapes import Text
from benchbrief.compiler.blocks.values import Constant, Reader, listed
from benchbrief.compiler.blocks.wrong_values import described
from benchbrief.compiler.declarations import Entry
from benchbrief.dsl import ast
from benchbrief.dsl.source import Span

_EVERY = PROBE.keys["every"].shape
_SOME_S = 1.0
"""Stands for an interval that was reported as wrong: what the probe samples is known all the same."""

ON: Mapping[str, str] = {"disk": "device", "network": "interface"}
"""What `on` names, of the probes that can be told what to look at: an attribute of the block `probe`."""


_KNOWN = tuple(ON.items())


@dataclass(frozen=True)
class Placed:
    """The probes of an experiment by hardware key.

    `asked` are those that it names, each with its place: power is not among the probes of hardware whose meter a
    profile took away.
    """

    probes: Mapping[str, tuple[plan.Probe, ...]]
    asked: Mapping[str, Span]


@dataclass(frozen=True)
class ProbeSpec:
    """`on` is what it looks at alone (see `ON`): a text, or the name of a fact of the hardware that holds one."""

    kind: str
    every_s: float
    on: str | ast.Name | None
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
    for key in ON.values():
        if key in entry.attributes and key != ON.get(kind):
            reader.findings.add(experiment_errors.NotForThisProbe(entry.attributes[key].key.span, key, kind, _KNOWN))
    return ProbeSpec(kind, every, values.text(ON[kind]) if kind in ON else None, entry.head)


def read_probes(
    series: tuple[ast.Expr, ...],
    declared: Mapping[str, ProbeSpec | None],
    units: tuple[HardwareUnit, ...],
    database: DatabaseSpec | None,
    reader: Reader,
) -> Placed:
    """The probes of an experiment on that database. What is wrong is reported and left out."""
    specs: dict[str, ProbeSpec] = {}
    wrong: Span | None = None
    for item in listed(reader.deref(expr) for expr in series):
        spec = _spec(item, declared, reader)
        if spec is None:
            wrong = item.span
        else:
            earlier = specs.setdefault(spec.kind, spec)
            named = item.subject.span if isinstance(item, ast.Every) else item.span
            if earlier is not spec and not reader.findings.at(named):  # a misspelt one may be any
                reader.findings.add(errors.NamedTwice(item.span, earlier.span, "probe", spec.kind))
    if "power" in specs:
        _check_meters(specs["power"], units, reader)
    if wrong:  # it may be any: without them, what metrics sample would seem to be missing
        specs = {kind: ProbeSpec(kind, _SOME_S, None, wrong) for kind in PROBES} | specs
    engine = database.engine if database is not None else None
    placed = {
        unit.hardware.key: tuple(
            _placed(spec, unit, engine, reader)
            for spec in specs.values()
            if spec.kind != "power" or unit.hardware.power
        )
        for unit in units
    }
    return Placed(placed, {spec.kind: spec.span for spec in specs.values()})


def warn_of_short_window(experiment: str, placed: Placed, measure_s: float, reader: Reader) -> None:
    """Of probes that a measurement is over before they have sampled it once: what most of them sample is the change
    between two readings, and both have to be inside the measured time."""
    slowest = {probe.name: probe.every_s for probes in placed.probes.values() for probe in probes}
    for kind, every_s in slowest.items():
        if every_s >= measure_s and not reader.findings.at(placed.asked[kind]):
            found = experiment_errors.ShortForProbe(placed.asked[kind], experiment, kind, every_s, measure_s)
            reader.findings.add(found)


def _check_meters(spec: ProbeSpec, units: tuple[HardwareUnit, ...], reader: Reader) -> None:
    without = [unit for unit in units if not unit.hardware.power and not unit.meter_taken and not unit.meter_wrong]
    if without:
        names = tuple(dict.fromkeys(unit.hardware.group for unit in without))
        declared = without[0].hardware.facts.get("power")
        text = declared.text if isinstance(declared, plan.Quantity) else ""
        reader.findings.add(experiment_errors.NoMeter(spec.span, names, text))


def _spec(item: ast.Expr, declared: Mapping[str, ProbeSpec | None], reader: Reader) -> ProbeSpec | None:
    match item:
        case ast.Name(text=name) if name in declared:
            return declared[name]
        case ast.Name(text=name) if name in PROBES:
            if _kind(name, item.span, reader):
                mended, why = f"{name} every 1 s", "does not say how often"
                reader.findings.add(structure_errors.BadArgument(item.span, name, why, f"`{mended}`", mended))
                return ProbeSpec(name, _SOME_S, None, item.span)
        case ast.Every(subject=ast.Name(text=name) as subject, interval=interval, target=target):
            kind = _kind(name, subject.span, reader, tuple(declared))
            if kind is not None and kind not in PROBES:
                return declared[kind]
            every = reader.value("every", interval, _EVERY)
            on = _on(kind, target, reader) if target is not None else None
            if kind is not None:
                return ProbeSpec(kind, every.value if isinstance(every, Constant) else _SOME_S, on, item.span)
        case ast.Name(text=name):
            return declared.get(_kind(name, item.span, reader, tuple(declared)) or "")
        case _:
            wanted = EXPERIMENT.keys["probes"].shape.wanted
            reader.findings.add(structure_errors.WrongType(item.span, "probes", wanted, described(item)))
    return None


def _kind(name: str, span: Span, reader: Reader, declared: tuple[str, ...] = ()) -> str | None:
    if name in PROBES:
        return name
    problem = errors.UnknownName(span, "probe", name, (*PROBES, *declared))
    reader.findings.add(problem)
    return problem.replacement  # without it, each measure that it samples would seem to be missing


def _on(kind: str | None, target: ast.Expr, reader: Reader) -> str | ast.Name | None:
    if kind is not None and kind not in ON:
        of = " and ".join(f"the probe {name}" for name in ON)
        reader.findings.add(structure_errors.NotForThis(target.span, "on", of, f"the probe {kind}"))
        return None
    if isinstance(target, ast.Name):
        return target
    value = reader.value("on", target, Text())
    return value if isinstance(value, str) else None


def _placed(spec: ProbeSpec, unit: HardwareUnit, engine: str | None, reader: Reader) -> plan.Probe:
    options: dict[str, str] = {}
    on, option = spec.on, ON.get(spec.kind, "")
    if isinstance(on, ast.Name):
        fact = unit.hardware.facts.get(on.text)
        texts = tuple(name for name, value in unit.hardware.facts.items() if isinstance(value, str))
        if isinstance(fact, str):
            options[option] = fact
        elif not reader.findings.at(on.span):
            reader.findings.add(database_errors.UnknownHole(on.span, unit.hardware.key, on.text, texts))
    elif on is not None:
        options[option] = on
    meter = unit.hardware.power[0] if spec.kind == "power" and unit.hardware.power else None
    hosts, place = unit.hardware.hosts, _place(spec, meter, engine)
    if place == "controller" and spec.kind == "database":
        hosts = hosts[:1]  # of a cluster, the server that is asked is the one that the first host leads to
    if meter and meter.shared:
        # Read once for all of them: what is sampled is the power of the hardware, and no node's.
        hosts, options["of"] = hosts[:1], unit.hardware.key
    return plan.Probe(
        name=spec.kind,
        # RocksDB keeps its statistics for whole seconds.
        every_s=math.ceil(spec.every_s) if place == "tool" else spec.every_s,
        hosts=hosts,
        on=place,
        options=options,
        after=meter is not None and meter.kind == "csv",
        origin=origin(spec.span),
    )


def _place(spec: ProbeSpec, meter: plan.PowerMeter | None, engine: str | None) -> Literal["node", "controller", "tool"]:
    """Where it is sampled: a server is asked by the controller, a library lives in the load generator's process."""
    if meter is not None:
        return meter.on
    if spec.kind != "database":
        return "node"
    return "tool" if engine == "rocksdb" else "controller"
