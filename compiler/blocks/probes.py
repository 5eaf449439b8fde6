"""Reads probes, which sample each hardware group beside the measurement."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, overload

from benchbrief.compiler.blocks import equipment_errors, experiment_errors
from benchbrief.compiler.blocks.databases import DatabaseSpec
from benchbrief.compiler.blocks.hardware import HardwareUnit
from benchbrief.compiler.blocks.values import Constant, Reader, Value, described, listed, origin
from benchbrief.compiler.frontend import name_errors, structure_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.frontend.name_errors import UnusableExtension
from benchbrief.compiler.registry import METER_SPECS, PROBE_SPECS, RefusedExtension, can_ask
from benchbrief.compiler.schemas import EXPERIMENT, PROBE, probe_schema
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.engine_spec import EngineSpec
from benchbrief.model.extension_spec import ProbeSpec
from benchbrief.model.precision import COMPLETE
from benchbrief.model.value_shapes import Text

_EVERY = PROBE.keys["every"].shape
_SOME_S = 1.0
"""The interval to assume after a mistake, so that the probe's measures are still known."""


@dataclass(frozen=True)
class PlacedProbes:
    """The probes of an experiment by hardware key.

    `asked` has the place of each probe that the experiment names. Hardware has no power probe if the profile removes
    its meter.
    """

    probes: Mapping[str, tuple[plan.Probe, ...]]
    asked: Mapping[str, Span]


@dataclass(frozen=True)
class DeclaredProbe:
    """A probe as the spec declares it.

    `on` is the object that the probe looks at (see `ProbeSpec.on`): a text, or a fact of the hardware that holds a
    text. `options` are the probe's other attributes as texts.
    """

    probe: ProbeSpec
    every_s: float
    on: str | ast.Name | None
    span: Span
    options: tuple[tuple[str, str], ...] = ()


def read_probe_blocks(entries: Mapping[str, Entry], reader: Reader) -> dict[str, DeclaredProbe | None]:
    """Return the `probe` blocks by name. A block with a mistake has the value None."""
    return {entry.name: _declared(entry, reader) for entry in entries.values()}


def _declared(entry: Entry, reader: Reader) -> DeclaredProbe | None:
    said = entry.attributes.get("kind")
    kind = said.values[0] if said and isinstance(said.values[0], ast.Name) else None
    other = PROBE_SPECS.find(kind.text if kind else entry.name)
    if kind is not None and isinstance(other, RefusedExtension):
        return reader.refuse(UnusableExtension.of(kind.span, other))
    values = reader.block(entry, probe_schema(other) if isinstance(other, ProbeSpec) else PROBE)
    named = values.text("kind")
    every = values.number("every")
    probe = PROBE_SPECS.usable(named) if named else None
    if named is None and not values.said("kind"):
        probe = _find(entry.name, entry.head, reader)
    if probe is None or every is None:
        return None
    looked_at = {name: spec.name for spec in PROBE_SPECS.own.values() for name in spec.attributes}
    for key in looked_at:
        if key in entry.attributes and key not in probe.attributes:
            known = tuple((spec.name, spec.on) for spec in (*PROBE_SPECS.own.values(), probe) if spec.on)
            reader.report(experiment_errors.NotForThisProbe(entry.attributes[key].key.span, key, probe.name, known))
    options = {name: values.found.get(name) for name in probe.attributes if name != probe.on}
    texts = tuple((name, _text(value)) for name, value in options.items() if value is not None)
    return DeclaredProbe(probe, every, values.text(probe.on) if probe.on else None, entry.head, texts)


def _text(value: Value) -> str:
    """Return an attribute's value as an option of a probe; a quantity is given in its base unit."""
    if isinstance(value, Constant):
        return f"{value.value:.15g}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_probes(
    series: tuple[ast.Expr, ...],
    declared: Mapping[str, DeclaredProbe | None],
    units: tuple[HardwareUnit, ...],
    database: DatabaseSpec | None,
    reader: Reader,
) -> PlacedProbes:
    """Return the probes of an experiment on a database. Report and drop probes with a mistake."""
    specs: dict[str, DeclaredProbe] = {}
    wrong: Span | None = None
    for item in listed(reader.deref(expr) for expr in series):
        spec = _spec(item, declared, reader)
        if spec is None:
            wrong = item.span
        else:
            earlier = specs.setdefault(spec.probe.name, spec)
            named = item.subject.span if isinstance(item, ast.Every) else item.span
            if earlier is not spec and not reader.findings.at(named):  # a misspelt name may mean any probe
                reader.report(name_errors.NamedTwice(item.span, earlier.span, "probe", spec.probe.name))
    for spec in specs.values():
        if spec.probe.asks == "meter":
            _check_meters(spec, units, reader)
        if spec.probe.asks == "database" and database is not None:
            _check_engine(spec, database.engine, reader)
    if wrong:  # it may mean any probe, so that no measure may seem to be missing
        specs = {name: DeclaredProbe(probe, _SOME_S, None, wrong) for name, probe in PROBE_SPECS.own.items()} | specs
    in_process = database is not None and database.engine.in_process
    placed = {
        unit.hardware.key: tuple(
            _placed(spec, unit, in_process, reader)
            for spec in specs.values()
            if spec.probe.asks != "meter" or unit.hardware.power
        )
        for unit in units
    }
    return PlacedProbes(placed, {spec.probe.name: spec.span for spec in specs.values()})


def _check_engine(spec: DeclaredProbe, engine: EngineSpec, reader: Reader) -> None:
    probe = spec.probe
    if not can_ask(probe, engine):
        reader.report(experiment_errors.NoProbeOfEngine(spec.span, probe.name, engine.label, engine.probes))


def warn_of_short_window(experiment: str, placed: PlacedProbes, measure_s: float, reader: Reader) -> None:
    """Warn of probes that read at most once in the measured time.

    The mean of a counter then also covers time before and after the measurement, since it comes from the nearest
    readings outside. A gauge is known only at the moment of its reading. A probe that the load generator itself samples
    gets a warning earlier: if its samples may miss so much of the measured time that a brief would mention it.
    """
    slowest = {probe.name: probe for probes in placed.probes.values() for probe in probes}
    for kind, probe in slowest.items():
        by_tool = probe.on == "tool"
        is_short = probe.every_s > (1 - COMPLETE) * measure_s if by_tool else probe.every_s >= measure_s
        if is_short and not reader.findings.within(placed.asked[kind]):  # a misspelt one may mean any probe
            spec = PROBE_SPECS.usable(kind)
            consequence = spec.single_reading if spec and not by_tool else ""
            found = (experiment, kind, probe.every_s, measure_s, consequence)
            reader.report(experiment_errors.ShortForProbe(placed.asked[kind], *found))


def _check_meters(spec: DeclaredProbe, units: tuple[HardwareUnit, ...], reader: Reader) -> None:
    without = [unit for unit in units if not unit.hardware.power and not unit.meter_taken and not unit.meter_wrong]
    if without:
        names = tuple(dict.fromkeys(unit.hardware.group for unit in without))
        declared = without[0].hardware.facts.get("power")
        text = declared.text if isinstance(declared, plan.Quantity) else ""
        reader.report(experiment_errors.NoMeter(spec.span, names, text))


def _spec(item: ast.Expr, declared: Mapping[str, DeclaredProbe | None], reader: Reader) -> DeclaredProbe | None:
    match item:
        case ast.Name(text=name) if name in declared:
            return declared[name]
        case ast.Name(text=name) if probe := PROBE_SPECS.usable(name):
            mended, why = f"{name} every 1 s", "needs an interval"
            reader.report(structure_errors.BadArgument(item.span, name, why, f"`{mended}`", mended))
            return DeclaredProbe(probe, _SOME_S, None, item.span)
        case ast.Every(subject=ast.Name(text=name) as subject, interval=interval, target=target):
            found = _find(name, subject.span, reader, declared)
            if isinstance(found, DeclaredProbe):
                return found
            every = reader.value("every", interval, _EVERY)
            on = _on(found, target, reader) if target is not None else None
            if found is not None:
                return DeclaredProbe(found, every.value if isinstance(every, Constant) else _SOME_S, on, item.span)
        case ast.Name(text=name):
            found = _find(name, item.span, reader, declared)
            return found if isinstance(found, DeclaredProbe) else None
        case _:
            wanted = EXPERIMENT.keys["probes"].shape.wanted
            reader.report(structure_errors.WrongType(item.span, "probes", wanted, described(item)))
    return None


@overload
def _find(name: str, span: Span, reader: Reader) -> ProbeSpec | None: ...
@overload
def _find(
    name: str, span: Span, reader: Reader, declared: Mapping[str, DeclaredProbe | None]
) -> ProbeSpec | DeclaredProbe | None: ...
def _find(
    name: str, span: Span, reader: Reader, declared: Mapping[str, DeclaredProbe | None] = MappingProxyType({})
) -> ProbeSpec | DeclaredProbe | None:
    """Return the probe with this name. If there is none, report the name, and return the probe whose name it most
    likely misspells."""
    match PROBE_SPECS.find(name):
        case ProbeSpec() as probe:
            return probe
        case RefusedExtension() as refused:
            return reader.refuse(UnusableExtension.of(span, refused))
    known = tuple(dict.fromkeys((*PROBE_SPECS.names, *declared)))
    problem = name_errors.UnknownName(span, "probe", name, known)
    reader.report(problem)
    meant = problem.replacement  # without the probe, its measures would seem to be missing
    return declared.get(meant) or PROBE_SPECS.usable(meant) if meant else None


def _on(probe: ProbeSpec | DeclaredProbe | None, target: ast.Expr, reader: Reader) -> str | ast.Name | None:
    if isinstance(probe, ProbeSpec) and not probe.on:
        of = " and ".join(f"the probe {spec.name}" for spec in PROBE_SPECS.own.values() if spec.on)
        return reader.refuse(structure_errors.NotForThis(target.span, "on", of, f"the probe {probe.name}"))
    if isinstance(target, ast.Name):
        return target
    value = reader.value("on", target, Text())
    return value if isinstance(value, str) else None


def _placed(spec: DeclaredProbe, unit: HardwareUnit, in_process: bool, reader: Reader) -> plan.Probe:
    options = dict(spec.options)
    on, option = spec.on, spec.probe.on
    if isinstance(on, ast.Name):
        fact = unit.hardware.facts.get(on.text)
        texts = tuple(name for name, value in unit.hardware.facts.items() if isinstance(value, str))
        if isinstance(fact, str):
            options[option] = fact
        elif not reader.findings.at(on.span):
            reader.report(equipment_errors.UnknownHole(on.span, unit.hardware.key, on.text, texts))
    elif on is not None:
        options[option] = on
    meter = unit.hardware.power[0] if spec.probe.asks == "meter" and unit.hardware.power else None
    hosts, place = unit.hardware.hosts, _place(spec.probe, meter, in_process)
    if place == "controller" and spec.probe.asks == "database":
        hosts = hosts[:1]  # the probe reads the server of a cluster that the first host leads to
    if meter and meter.shared:
        # Read once for all nodes: the meter covers the whole hardware.
        hosts, options["of"] = hosts[:1], unit.hardware.key
    return plan.Probe(
        name=spec.probe.name,
        # A load generator has statistics of whole seconds.
        every_s=math.ceil(spec.every_s) if place == "tool" else spec.every_s,
        hosts=hosts,
        on=place,
        options=options,
        after=bool(meter and (spec_of := METER_SPECS.usable(meter.kind)) and spec_of.recorded),
        package=PROBE_SPECS.build(spec.probe.name),
        origin=origin(spec.span),
    )


def _place(probe: ProbeSpec, meter: plan.PowerMeter | None, in_process: bool) -> Literal["node", "controller", "tool"]:
    """Return where the probe runs. For a probe of a power meter, the meter decides. A probe of a database runs on the
    controller, or in a library's load generator. All other probes run on the node."""
    if meter is not None:
        return meter.on
    if probe.asks != "database":
        return "node"
    return "tool" if in_process else "controller"
