"""From declarations to a checked model: resolves names, reads values, and checks that the parts fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from benchbrief.compiler.blocks.databases.databases import read_databases
from benchbrief.compiler.blocks.experiments import experiment_errors
from benchbrief.compiler.blocks.experiments.experiments import Matrix, read_experiments
from benchbrief.compiler.blocks.experiments.knee_references import in_running_order
from benchbrief.compiler.blocks.experiments.load_clients import NamedBlocks
from benchbrief.compiler.blocks.experiments.probes import read_probe_blocks
from benchbrief.compiler.blocks.experiments.shared_equipment import warn_of_overlap
from benchbrief.compiler.blocks.hardware.hardware import HardwareUnit, HostTable, read_clients, read_hardware
from benchbrief.compiler.blocks.hardware.schedulers import read_schedulers
from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.blocks.workloads.workloads import Load, read_workloads
from benchbrief.compiler.extensions.extension_spec import LANGUAGES
from benchbrief.compiler.extensions.registry import tool_word
from benchbrief.compiler.frontend import name_errors
from benchbrief.compiler.frontend.declarations import Declarations
from benchbrief.compiler.frontend.declared_names import names_in
from benchbrief.compiler.frontend.scope import ExperimentKey, HardwareKey, Scope, WorkloadKey
from benchbrief.compiler.model.experiment_warnings import warn_of_aged_data, warn_of_power
from benchbrief.compiler.model.profiles import apply_profile, check_profiles
from benchbrief.compiler.planning import plan
from benchbrief.compiler.planning.achieved_load import Schedule
from benchbrief.compiler.planning.extension_words import warn_of_untranslated
from benchbrief.compiler.problems import Findings
from benchbrief.dsl.syntax import ast


@dataclass(frozen=True)
class Model:
    """A spec that can be planned, once the findings hold no error.

    `whole`: the model has every experiment, so that a missing part of a metric is really missing.
    """

    hosts: Mapping[str, plan.Host]
    hardware: Mapping[str, HardwareUnit]
    clients: Mapping[str, plan.Client]
    workloads: Mapping[str, Load]
    matrices: tuple[Matrix, ...]
    schedulers: Mapping[str, plan.SchedulerBlock]
    scope: Scope
    whole: bool


def resolve(
    found: Declarations, params: Mapping[str, ast.Expr], profile: str | None, findings: Findings, *, whole: bool = True
) -> Model:
    """Return the model with the chosen `profile`. `params` are the values of the parameters, with those of the command
    line. `whole`: syntax errors cost no declaration."""
    reader = Reader(params, findings)
    apply_profile(found, profile, findings)
    check_profiles(found, reader)
    hosts = HostTable(reader)
    language = _language(found)
    world = NamedBlocks(
        hardware=read_hardware(found.blocks["hardware"], hosts),
        clients=read_clients(found.blocks["client"], hosts),
        databases=read_databases(found.blocks["database"], reader),
        workloads=read_workloads(found.blocks["workload"], reader, language),
        probes=read_probe_blocks(found.blocks["probe"], reader),
        hosts=hosts.hosts,
        language=language,
    )
    schedulers = read_schedulers(found.blocks["scheduler"], reader)
    matrices = read_experiments(found.blocks["experiment"], world, reader)
    matrices = in_running_order(matrices, tuple(found.blocks["experiment"]), reader)
    loads = _loads(world, matrices, findings)
    if not findings.failed and not found.blocks["experiment"]:
        findings.add(name_errors.NoExperiment(None))
    elif not findings.failed:
        _warn_unused(found, world, matrices, findings)
        warn_of_power(found, matrices, profile, findings)
        probes = (name for matrix in matrices for name in matrix.asked)
        brought = ((load.workload.family, load.workload.benchmark) for matrix in matrices for load in matrix.loads)
        engines = (matrix.database.engine.name for matrix in matrices)
        warn_of_untranslated(found.reports, probes, brought, engines, findings)
        warn_of_aged_data(matrices, hosts.hosts, findings)
        warn_of_overlap(matrices, hosts.hosts, findings)
    return Model(
        hosts=hosts.hosts,
        hardware=world.hardware,
        clients={name: client for name, client in world.clients.items() if client is not None},
        workloads=loads,
        matrices=matrices,
        schedulers=schedulers,
        scope=replace(_scope(found, params, world.hardware, loads, matrices), profile=profile),
        whole=whole and len(matrices) == len(found.blocks["experiment"]),
    )


def _language(found: Declarations) -> str:
    """Return the language of the built-in descriptions: the reports' common one, or English."""
    said = {_language_of(report) for report in found.reports.values()}
    return said.pop() if len(said) == 1 else LANGUAGES[0]


def _language_of(report: ast.Block) -> str:
    for item in report.body:
        if isinstance(item, ast.Attribute) and item.key.text == "language":
            value = item.values[0]
            if isinstance(value, ast.Name) and value.text in LANGUAGES:
                return value.text
    return LANGUAGES[0]


def _loads(world: NamedBlocks, matrices: Iterable[Matrix], findings: Findings) -> dict[str, Load]:
    """Return every workload with its number of records in each experiment."""
    loads = {name: load for name, load in world.workloads.items() if load is not None}
    used: dict[str, Load] = {}
    for matrix in matrices:
        for load in matrix.loads:
            name = load.workload.name
            other = used.setdefault(name, load)
            if other.workload != load.workload:
                sizes = sorted(int(float(each.workload.properties["records"])) for each in (other, load))
                records = " and ".join(f"{size:,}" for size in sizes)
                findings.add(experiment_errors.TwoSizes(load.span, name, records))
    return {**loads, **used}


def _scope(
    found: Declarations,
    params: Mapping[str, ast.Expr],
    hardware: Mapping[str, HardwareUnit],
    loads: Mapping[str, Load],
    matrices: tuple[Matrix, ...],
) -> Scope:
    pairs = [
        (unit.hardware.key, load.workload.name) for matrix in matrices for unit in matrix.units for load in matrix.loads
    ]
    return Scope(
        hardware=tuple(_hardware_key(unit) for unit in hardware.values()),
        workloads=tuple(
            WorkloadKey(
                key=name,
                label=load.workload.label,
                description=load.workload.description,
                operations=load.operations,
                span=load.span,
                writes=load.workload.writes,
                shares=tuple(load.family.operation_shares(load.workload.properties).items()),
            )
            for name, load in loads.items()
        ),
        experiments=tuple(_experiment_key(matrix) for matrix in matrices),
        metrics=tuple(found.metrics.values()),
        expects=tuple(found.expects),
        reports=tuple(found.reports.values()),
        params=dict(params),
        experiment_visible=len(set(pairs)) < len(pairs),
    )


def _hardware_key(unit: HardwareUnit) -> HardwareKey:
    hardware = unit.hardware
    return HardwareKey(
        key=hardware.key,
        aliases=unit.aliases,
        label=hardware.label,
        nodes=hardware.nodes,
        facts={name: fact for name, fact in hardware.facts.items() if isinstance(fact, plan.Quantity)},
        units={name: said.unit for name, said in unit.said.items() if isinstance(said, ast.Quantity)},
        texts={name: fact for name, fact in hardware.facts.items() if isinstance(fact, str)},
        span=unit.span,
    )


def _experiment_key(matrix: Matrix) -> ExperimentKey:
    e = matrix.experiment
    return ExperimentKey(
        key=e.name,
        label=e.label,
        hardware=e.hardware,
        workloads=e.workloads,
        axis=e.axis if e.points else None,
        points=e.points,
        unknown=tuple((key, f"{knee_of.experiment}.knee") for key, knee_of in matrix.awaits.items()),
        chosen=e.adaptive.points if e.adaptive else None,
        phases=e.phases,
        phase_s=e.measure_s / e.phases,
        length=(e.warm_up_s, e.until_steady.from_s if e.until_steady else e.measure_s, e.measure_s),
        repeats=e.repeats,
        probes=matrix.asked,
        tool=tool_word(matrix.tool.driver),
        events=any(matrix.events.values()),
        promise=e.promise is not None,
        service_only=matrix.service_only,
        unmerged=matrix.unmerged,
        schedule=Schedule(e.arrivals, e.warm_up_s),
        measured_at=matrix.places.get("measure"),
        span=matrix.span,
    )


# --- warnings ----------------------------------------------------------------------------------------------------


def _warn_unused(found: Declarations, world: NamedBlocks, matrices: tuple[Matrix, ...], findings: Findings) -> None:
    """Warn of unused declarations in the spec itself. Other files may have unused parts."""
    named = {name.text for name in names_in(found)} if world.probes or found.params else set()
    groups = {unit.hardware.group for matrix in matrices for unit in matrix.units}
    used = {
        "hardware": groups,
        "client": {client.name for matrix in matrices for client in matrix.clients.values()},
        "database": {matrix.database.name for matrix in matrices},
        "workload": {load.of or load.workload.name for matrix in matrices for load in matrix.loads},
        "probe": set(world.probes) & named,
    }
    for kind, names in used.items():
        entries = found.blocks[kind]
        for name, entry in entries.items():
            if name not in names and (kind, name) not in found.bases and not entry.imported:
                findings.add(name_errors.Unused(entry.head, kind, name))
    for name, param in found.params.items():
        if name not in named and name not in found.imported_params:
            findings.add(name_errors.Unused(param.name.span, "param", name))
