"""Experiments: which hardware, database, client, workloads and points go together, and whether they can."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeVar

from benchbrief.compiler import errors, plan
from benchbrief.compiler.blocks import database_errors, experiment_errors, structure_errors, value_errors
from benchbrief.compiler.blocks.databases import DatabaseSpec, fill
from benchbrief.compiler.blocks.hardware import HardwareUnit, origin
from benchbrief.compiler.blocks.probes import ProbeSpec, read_probes, warn_of_short_window
from benchbrief.compiler.blocks.ramps import KneeOf, Ramp, read_ramp
from benchbrief.compiler.blocks.repeats import read_repeats
from benchbrief.compiler.blocks.schema import EXPERIMENT
from benchbrief.compiler.blocks.shapes import Number
from benchbrief.compiler.blocks.tools import ENGINE_TOOLS, INTENDED, MERGEABLE, OPEN_LOOP, PHASED
from benchbrief.compiler.blocks.values import Reader, listed
from benchbrief.compiler.blocks.workloads import Load, inserts, loading, sized, timed_benchmarks
from benchbrief.compiler.blocks.wrong_values import described, wrong_value
from benchbrief.compiler.declarations import Entry
from benchbrief.dsl import ast
from benchbrief.dsl.source import Span
from benchbrief.dsl.suggest import did_you_mean

MAX_CELLS = 20_000
_FAMILY = {"mongodb": "ycsb", "rocksdb": "db_bench"}
_PHASES = Number("", "6", plain=True, integer=True, minimum=1.0, maximum=1000.0)
_PHASE = Number("s", "6 x 10 min", above=True)
_TIMES = re.compile(r"([0-9]+)\s*[x*]\s*([0-9].*)")

Item = TypeVar("Item")
Axis = Literal["threads", "target"]


@dataclass(frozen=True)
class World:
    """What an experiment may name; None for what was declared, but reported as wrong."""

    hardware: Mapping[str, HardwareUnit]
    clients: Mapping[str, plan.Client | None]
    databases: Mapping[str, DatabaseSpec | None]
    workloads: Mapping[str, Load | None]
    probes: Mapping[str, ProbeSpec | None]
    hosts: Mapping[str, plan.Host]
    language: str
    """Of the built-in labels and descriptions."""

    @cached_property
    def by_alias(self) -> Mapping[str, HardwareUnit]:
        return {alias: unit for unit in self.hardware.values() for alias in unit.aliases}

    @cached_property
    def by_group(self) -> Mapping[str, list[HardwareUnit]]:
        groups: dict[str, list[HardwareUnit]] = {}
        for unit in self.hardware.values():
            groups.setdefault(unit.hardware.group, []).append(unit)
        return groups


@dataclass(frozen=True)
class Matrix:
    """An experiment whose parts fit together; `databases` and `probes` are by hardware key.

    `awaits` says for `threads` and `target` whose knee they are to be, if any; `knees`, which of its searches that is
    for each hardware and workload (see `compiler/blocks/searches.py`).
    """

    experiment: plan.Experiment
    units: tuple[HardwareUnit, ...]
    loads: tuple[Load, ...]
    database: DatabaseSpec
    databases: Mapping[str, plan.Database]
    probes: Mapping[str, tuple[plan.Probe, ...]]
    asked: tuple[str, ...]
    """The probes that the experiment names, also where the profile took away what they read."""
    service_only: tuple[Span, str] | None
    """See `scope.ExperimentKey`."""
    client: plan.Client | None
    tool: plan.Tool
    threads: int | None
    """On a `target` ramp; None when the threads are the ramp, or are yet to be found."""
    awaits: Mapping[Axis, KneeOf]
    span: Span
    knees: Mapping[Axis, Mapping[tuple[str, str], plan.Knee]] = field(default_factory=dict)

    def load_hosts(self, unit: HardwareUnit, load: Load) -> tuple[str, ...]:
        """Where the load comes from; of a workload that inserts, a single host (see `workloads.inserts`)."""
        if self.client is None:
            return unit.hardware.hosts
        return self.client.hosts[:1] if inserts(load.workload) else self.client.hosts

    @property
    def points(self) -> tuple[float | None, ...]:
        """Those of the axis: one that is not known yet when it is to be found by a search."""
        return self.experiment.points or (None,)

    @property
    def cells(self) -> int:
        e = self.experiment
        return len(e.hardware) * len(e.workloads) * len(self.points) * e.repeats


@dataclass(frozen=True)
class _Ramps:
    """The axis with its ramp, and the threads on a `target` ramp."""

    axis: Axis
    ramp: Ramp
    threads: Ramp

    @property
    def awaits(self) -> dict[Axis, KneeOf]:
        ramps: dict[Axis, Ramp] = {"threads": self.threads, self.axis: self.ramp}
        return {key: ramp.found_by for key, ramp in ramps.items() if ramp.found_by}


def read_experiments(entries: Mapping[str, Entry], world: World, reader: Reader) -> tuple[Matrix, ...]:
    matrices: list[Matrix] = []
    cells = 0
    for entry in entries.values():
        matrix = _Experiment(entry, world, reader).matrix()
        if matrix is None:
            continue
        cells += matrix.cells
        if cells > MAX_CELLS:
            e = matrix.experiment
            sizes = ((len(e.hardware), "hardware"), (len(e.workloads), "workloads"), (len(matrix.points), "points"))
            product = " x ".join(f"{size} {of}" for size, of in (*sizes, (e.repeats, "repeats")))
            reader.findings.add(value_errors.TooManyCells(entry.head, entry.name, cells, MAX_CELLS, product))
            break
        matrices.append(matrix)
    return tuple(matrices)


class _Experiment:
    """One experiment on its way from its block to its matrix."""

    def __init__(self, entry: Entry, world: World, reader: Reader) -> None:
        self.entry = entry
        self.world = world
        self.reader = reader
        self.values = reader.block(entry, EXPERIMENT)
        self.places: dict[tuple[str, str], Span] = {}
        """Where each hardware and each workload is named."""

    def matrix(self) -> Matrix | None:
        """None when anything in it was reported."""
        units = self._hardware()
        loads = self._workloads()
        database = self._one("database", self.world.databases)
        ramps = self._ramp()
        measure_s, phases = self._times()
        repeats = read_repeats(self.values.series("repeats"), self.reader)
        placed = read_probes(self.values.series("probes"), self.world.probes, units, database, self.reader)
        if database is None or not units or not loads:
            return None
        client, tool = self._load_generator(database)
        databases = {unit.hardware.key: fill(database, unit, self.world.hosts, self.reader) for unit in units}
        if tool is None:
            return None
        loads = self._fitting(loads, database, units)
        self._shares(client, loads, ramps)
        self._tool_limits(tool, phases)
        self._load_limits(loads, phases)
        if ramps is None or measure_s is None:
            return None
        warn_of_short_window(self.entry.name, placed, measure_s, self.reader)
        if ramps.ramp.search and repeats.order == "random":
            self.reader.findings.add(experiment_errors.SearchInRandomOrder(self.values.span("repeats")))
        name, awaits = self.entry.name, ramps.awaits
        return Matrix(
            experiment=plan.Experiment(
                name=name,
                label=self.entry.label,
                hardware=tuple(unit.hardware.key for unit in units),
                workloads=tuple(load.workload.name for load in loads),
                axis=ramps.axis,
                points=ramps.ramp.points,
                search=ramps.ramp.search,
                threads_from=awaits["threads"].experiment if "threads" in awaits else None,
                target_from=awaits["target"].experiment if "target" in awaits else None,
                requires=tuple(dict.fromkeys(knee_of.experiment for knee_of in awaits.values())),
                warm_up_s=self.values.number("warm_up") or 0.0,
                measure_s=measure_s,
                phases=phases,
                repeats=repeats.most,
                confident=repeats.confident,
                order=repeats.order,
                seed=repeats.seed,
                cool_down_s=self.values.number("cool_down") or 0.0,
                retries=int(self.values.number("retries") or 0),
                on_failure="stop" if self.values.text("on_failure") == "stop" else "continue",
                slack_s=self.values.number("timeout"),
                unattended_s=self.values.number("unattended"),
                max_error_share=self.values.number("max_errors") or 0.0,
                origin=origin(self.entry.head),
            ),
            units=units,
            loads=loads,
            database=database,
            databases=databases,
            probes=placed.probes,
            asked=tuple(placed.asked),
            service_only=self._service_only(tool, ramps),
            client=client,
            tool=tool,
            threads=int(ramps.threads.points[0]) if ramps.axis == "target" and ramps.threads.points else None,
            awaits=awaits,
            span=self.entry.head,
        )

    # --- what is named ---------------------------------------------------------------------------------------------

    def _hardware(self) -> tuple[HardwareUnit, ...]:
        """None of them when one is wrong: what is said of the others would be wrong without it."""
        units: dict[str, HardwareUnit] = {}
        whole = True
        for item in self._items("hardware"):
            named = self._units(item)
            whole = whole and bool(named)
            for unit in named:
                if self._first("hardware", unit.hardware.key, item.span):
                    units[unit.hardware.key] = unit
        return tuple(units.values()) if whole else ()

    def _items(self, key: str) -> tuple[ast.Expr, ...]:
        series = self.values.series(key)
        items = listed(self.reader.deref(expr) for expr in series)
        if series and not items:
            self.reader.findings.add(errors.NothingNamed(series[0].span, key, EXPERIMENT.keys[key].shape.wanted))
        return tuple(self.reader.deref(item) for item in items)

    def _first(self, kind: str, name: str, span: Span) -> bool:
        """Whether it is named here for the first time; the second is reported."""
        earlier = self.places.setdefault((kind, name), span)
        if earlier is not span:
            self.reader.findings.add(errors.NamedTwice(span, earlier, kind, name))
        return earlier is span

    def _units(self, item: ast.Expr) -> list[HardwareUnit]:
        by_alias, by_group = self.world.by_alias, self.world.by_group
        match item:
            case ast.Name(text=name) if name in by_alias:
                return [by_alias[name]]
            case ast.Name(text=name) if name in by_group:
                variants = tuple(unit.name for unit in by_group[name])
                self.reader.findings.add(errors.HasVariants(item.span, name, variants))
            case ast.Attr(base=ast.Name(text=name), field=ast.Name(text="variants")) if name in by_group:
                if name in by_alias:
                    self.reader.findings.add(errors.NoVariants(item.span, name))
                return by_group[name]
            case ast.Attr(base=ast.Name(text=name), field=field) if name in by_group:
                if f"{name}.{field.text}" in by_alias:
                    return [by_alias[f"{name}.{field.text}"]]
                variants = tuple(unit.name for unit in by_group[name])
                if name in by_alias and not did_you_mean(field.text, ("variants",)):
                    self.reader.findings.add(errors.NoVariants(item.span, name))
                else:
                    known = ("variants", *(() if name in by_alias else variants))
                    self.reader.findings.add(errors.UnknownName(field.span, "variant", field.text, known))
            case ast.Attr(base=ast.Name(text=name) as base) if did_you_mean(name, by_group):
                self.reader.findings.add(errors.UnknownName(base.span, "hardware", name, tuple(by_group)))
            case ast.Name() | ast.Attr():
                known = tuple(dict.fromkeys((*by_group, *by_alias)))
                self.reader.findings.add(errors.UnknownName(item.span, "hardware", item.span.text, known))
            case _:
                self._wrong("hardware", item, (*by_group, *by_alias))
        return []

    def _workloads(self) -> tuple[Load, ...]:
        """None of them when one is wrong."""
        loads: dict[str, Load] = {}
        whole = True
        for item in self._items("workloads"):
            load = self._load(item)
            if load is None:
                whole = False
            elif self._first("workload", load.workload.name, item.span):
                loads[load.workload.name] = load
        return tuple(loads.values()) if whole else ()

    def _load(self, item: ast.Expr) -> Load | None:
        match item:
            case ast.Name(text=name) if name in self.world.workloads:
                return self.world.workloads[name]
            case ast.Name(text=name):
                self.reader.findings.add(errors.UnknownName(item.span, "workload", name, tuple(self.world.workloads)))
            case ast.Call(function=ast.Name(text="load")) as call:
                return self._load_phase(call)
            case ast.Call(function=ast.Name(text=word) as name):
                self.reader.findings.add(structure_errors.UnknownWord(name.span, "workloads", word, ("load",)))
            case _:
                self._wrong("workloads", item, self.world.workloads)
        return None

    def _load_phase(self, call: ast.Call) -> Load | None:
        match call.arguments:
            case [ast.Argument(key=None, value=ast.Name(text=name))] if name in self.world.workloads:
                load = self.world.workloads[name]
                if load is not None and load.workload.family != "ycsb":
                    self.reader.findings.add(experiment_errors.LoadOfDbBench(call.span, name))
                    return None
                return load and loading(load, self.world.language)
            case [ast.Argument(key=None, value=ast.Name(text=name) as word)]:
                self.reader.findings.add(errors.UnknownName(word.span, "workload", name, tuple(self.world.workloads)))
            case _:
                why = "takes the name of one workload"
                self.reader.findings.add(structure_errors.BadArgument(call.span, "load", why, "`load(a)`"))
        return None

    def _one(self, kind: str, known: Mapping[str, Item | None]) -> Item | None:
        """The client or database that is said, or the only one there is."""
        series = self.values.series(kind)
        if not series:
            if len(known) == 1:
                return next(iter(known.values()))
            self.reader.findings.add(errors.MustChoose(self.entry.head, kind, self.entry.name, tuple(known)))
            return None
        match self.reader.deref(series[0]):
            case ast.Name(text=name) if name in known:
                return known[name]
            case ast.Name(text=name) as word:
                self.reader.findings.add(errors.UnknownName(word.span, kind, name, tuple(known)))
            case other:
                self._wrong(kind, other, known)
        return None

    def _wrong(self, key: str, expr: ast.Expr, words: Iterable[str] = ()) -> None:
        self.reader.findings.add(wrong_value(expr, key, EXPERIMENT.keys[key].shape.wanted, words))

    # --- points, times and repeats ---------------------------------------------------------------------------------

    def _ramp(self) -> _Ramps | None:
        """None when something was reported."""
        threads = self._points("threads")
        if not self.values.said("target"):
            return _Ramps("threads", threads, threads) if threads else None
        targets = self._points("target")
        if len(threads.points) > 1:
            self.reader.findings.add(experiment_errors.TwoRamps(self.values.span("threads"), len(threads.points)))
            return None
        return _Ramps("target", targets, threads) if threads and targets else None

    def _points(self, key: str) -> Ramp:
        series = self.values.series(key)
        return read_ramp(key, series[0], self.reader) if series else Ramp()

    def _times(self) -> tuple[float | None, int]:
        """The measured seconds of a cell, and how many phases they are cut into."""
        series = self.values.series("phases")
        if series:
            return self._phases(self.reader.deref(series[0]))
        if not self.values.said("measure"):
            self.reader.findings.add(experiment_errors.NoMeasuredTime(self.entry.head, self.entry.name))
        return self.values.number("measure"), 1

    def _phases(self, expr: ast.Expr) -> tuple[float | None, int]:
        if not isinstance(expr, ast.Binary) or expr.operator != "x":
            wanted, times = EXPERIMENT.keys["phases"].shape.wanted, _TIMES.fullmatch(expr.span.text)
            meant = f"{times[1]} x {times[2]}" if times else None
            found = structure_errors.WrongType(expr.span, "phases", wanted, described(expr), meant)
            self.reader.findings.add(found)
            return None, 1
        count = self.reader.quantity("phases", expr.left, _PHASES)
        length = self.reader.quantity("phases", expr.right, _PHASE)
        if count is None or length is None:
            return None, 1
        return count.value * length.value, int(count.value)

    # --- whether the parts fit -------------------------------------------------------------------------------------

    def _load_generator(self, database: DatabaseSpec) -> tuple[plan.Client | None, plan.Tool | None]:
        """The client and its tool; for a library engine, no client and the database's tool."""
        if database.tool is not None:
            if self.values.said("client"):
                self.reader.findings.add(database_errors.ClientNotWanted(self.values.span("client"), database.name))
            return None, database.tool
        client = self._one("client", self.world.clients)
        if client is None:
            return None, None
        tools = ENGINE_TOOLS[database.engine]
        if client.tool.driver not in tools:
            self.reader.findings.add(
                database_errors.ToolMismatch(self.values.span("client"), client.tool.driver, database.engine, tools)
            )
        return client, client.tool

    def _shares(self, client: plan.Client | None, loads: tuple[Load, ...], ramps: _Ramps | None) -> None:
        """Whether the load can be split over the client's hosts."""
        if client is None or len(client.hosts) < 2:
            return
        findings, hosts = self.reader.findings, len(client.hosts)
        if ramps is not None:
            threads = min((ramps.ramp if ramps.axis == "threads" else ramps.threads).points, default=hosts)
            if threads < hosts:
                span = self.values.span("threads")
                findings.add(experiment_errors.FewThreads(span, int(threads), client.name, hosts))
            target = min(ramps.ramp.points, default=hosts) if ramps.axis == "target" else hosts
            if target < hosts:
                findings.add(experiment_errors.SmallTarget(self.values.span("target"), target, client.name, hosts))
        if client.tool.driver not in MERGEABLE:
            span = self.values.span("client") if self.values.said("client") else self.entry.head
            findings.add(errors.PrintedPercentiles(span, client.tool.driver, hosts))
        for load in loads:
            if inserts(load.workload):
                span = self.places["workload", load.workload.name]
                findings.add(errors.InsertsFromOneHost(span, load.workload.name, client.name, client.hosts[0]))

    def _service_only(self, tool: plan.Tool, ramps: _Ramps) -> tuple[Span, str] | None:
        """Where a load is offered by a tool that hides how long operations waited for their turn."""
        if ramps.axis != "target" or tool.driver in INTENDED or tool.driver not in OPEN_LOOP:
            return None
        span = self.values.span("target")
        if ramps.ramp.search:
            self.reader.findings.add(errors.ServiceKnee(span, tool.driver))
        return span, tool.driver

    def _fitting(
        self, loads: tuple[Load, ...], database: DatabaseSpec, units: tuple[HardwareUnit, ...]
    ) -> tuple[Load, ...]:
        """The workloads for this database, with the records that fill its declared size."""
        findings = self.reader.findings
        for load in loads:
            family = load.workload.family
            span = self.places["workload", load.workload.name]
            if family != _FAMILY[database.engine]:
                findings.add(
                    database_errors.WorkloadMismatch(span, load.workload.name, family, database.name, database.engine)
                )
            elif not load.timed:
                findings.add(experiment_errors.NotTimed(span, load.workload.benchmark, timed_benchmarks()))
        if database.engine != "rocksdb":
            return loads
        for unit in units:
            if unit.hardware.nodes > 1:
                findings.add(
                    database_errors.OneHostOnly(
                        self.places["hardware", unit.hardware.key], unit.hardware.key, unit.hardware.nodes
                    )
                )
        if database.size is None:
            return loads
        return tuple(
            load if load.counted or load.workload.family != "db_bench" else sized(load, database.size) for load in loads
        )

    def _load_limits(self, loads: tuple[Load, ...], phases: int) -> None:
        for load in loads:
            if load.of and phases > 1:
                span = self.places["workload", load.workload.name]
                self.reader.findings.add(experiment_errors.LoadInPhases(span, load.workload.name))

    def _tool_limits(self, tool: plan.Tool, phases: int) -> None:
        """What the tool can't do: offer a load, cut a run into phases, measure parts of a second."""
        findings = self.reader.findings
        if self.values.said("target") and tool.driver not in OPEN_LOOP:
            findings.add(experiment_errors.ClosedLoopOnly(self.values.span("target"), tool.driver))
        if phases > 1 and tool.driver not in PHASED:
            instead = PHASED[0] if tool.driver in ENGINE_TOOLS["mongodb"] else ""
            findings.add(experiment_errors.NoPhases(self.values.span("phases"), tool.driver, instead))
        if tool.driver != "db_bench":
            return
        for key in ("warm_up", "measure"):
            constant = self.values.constant(key)
            if constant is not None and constant.value != int(constant.value):
                findings.add(value_errors.NotWholeSeconds(constant.span, key, constant.text))
