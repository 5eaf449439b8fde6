"""Turns declarations into a checked model: resolves names, reads values, and checks that the parts fit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, TypeVar, cast

from benchbrief.compiler.blocks import equipment_errors, experiment_errors
from benchbrief.compiler.blocks.databases import DatabaseSpec, database_reader
from benchbrief.compiler.blocks.equipment_errors import AgedData
from benchbrief.compiler.blocks.experiments import Matrix, NamedBlocks, read_experiments
from benchbrief.compiler.blocks.factor_uses import check_names, check_places, check_used
from benchbrief.compiler.blocks.factors import (
    BlocksAtLevels,
    DeclaredFactor,
    Factors,
    own_levels,
    read_factors,
)
from benchbrief.compiler.blocks.hardware import HardwareUnit, HostTable, read_clients, read_hardware, read_schedulers
from benchbrief.compiler.blocks.meters import read_power
from benchbrief.compiler.blocks.probes import read_probe_blocks
from benchbrief.compiler.blocks.ramps import KneeReference
from benchbrief.compiler.blocks.shared_equipment import warn_of_overlap
from benchbrief.compiler.blocks.values import Reader
from benchbrief.compiler.blocks.workloads import ReadWorkload, workload_reader
from benchbrief.compiler.briefs.overridden_report import mistakes_in, overridden
from benchbrief.compiler.expand import dataset_of, ordered
from benchbrief.compiler.frontend import name_errors, structure_errors
from benchbrief.compiler.frontend.declarations import Declarations, Entry, merge, names_in, text_of
from benchbrief.compiler.frontend.name_errors import UntranslatedExtension
from benchbrief.compiler.frontend.scope import ExperimentKey, FactorKey, HardwareKey, LevelKey, Scope, WorkloadKey
from benchbrief.compiler.problems import CompileProblem, Findings
from benchbrief.compiler.registry import ENGINE_SPECS, PROBE_SPECS, SCHEDULER_SPECS, TOOL_SPECS, tool_word, word_of
from benchbrief.compiler.schemas import (
    BLOCKS,
    OVERRIDABLE,
    database_schema,
    probe_schema,
    scheduler_schema,
    workload_schema,
)
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.achieved_load import Schedule
from benchbrief.model.extension_spec import LANGUAGES, Boundary
from benchbrief.model.fingerprint import place_of
from benchbrief.model.plan import Cell, Host, Levels, Report
from benchbrief.model.tool_spec import ToolSpec, in_language
from benchbrief.model.value_shapes import BlockSchema

_Read = TypeVar("_Read")


def with_measure_words(report: Report, cells: Iterable[Cell], engines: Iterable[str]) -> Report:
    """Return the report with words for the measures of the cells' probes and tools, and for the disclosures of engines
    and tools. The words are in the report's language or else in English. `engines` are those of other packages."""
    cells = tuple(cells)
    probes = dict.fromkeys(probe.name for cell in cells for probe in cell.probes if probe.package)
    tools = dict.fromkeys(cell.tool.driver for cell in cells if cell.tool.package)
    specs = (*map(PROBE_SPECS.usable, probes), *map(TOOL_SPECS.usable, tools))
    labels = {
        word_of(name): said.label(report.language) for spec in specs if spec for name, said in spec.measures.items()
    }
    of_engines = map(ENGINE_SPECS.usable, dict.fromkeys(engines))
    naming = (spec for spec in (*map(TOOL_SPECS.usable, tools), *of_engines) if spec)
    labels |= {key: in_language(texts, report.language) for spec in naming for key, texts in spec.named.items()}
    drivers = map(TOOL_SPECS.usable, dict.fromkeys(cell.tool.driver for cell in cells))
    called = {in_language(each.threads_are, report.language) if each and each.threads_are else "" for each in drivers}
    if len(called) == 1 and "" not in called:
        labels["threads"] = called.pop()
    return report.model_copy(update={"measures": labels}) if labels else report


def warn_of_untranslated(
    reports: Mapping[str, ast.Block],
    probes: Iterable[str],
    workloads: Iterable[tuple[str, str]],
    engines: Iterable[str],
    findings: Findings,
) -> None:
    """Warn, once for each language and extension, that the extension lacks words in the language. `workloads` are the
    ones in use, each with its tool."""
    probes, workloads, engines = dict.fromkeys(probes), dict.fromkeys(workloads), dict.fromkeys(engines)
    warned = set()
    for report in reports.values():
        for item in report.body:
            if not isinstance(item, ast.Attribute) or item.key.text != "language":
                continue
            value = item.values[0]
            if not isinstance(value, ast.Name) or value.text not in LANGUAGES:
                continue
            for kind, name, source, missing in _lacking(value.text, probes, workloads, engines):
                if (value.text, kind, name) not in warned:
                    warned.add((value.text, kind, name))
                    findings.add(UntranslatedExtension(value.span, kind, name, source, value.text, missing))


def _lacking(
    language: str, probes: Iterable[str], workloads: Iterable[tuple[str, str]], engines: Iterable[str]
) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Yield each extension that lacks words in the language, by kind, name and package, with the things that it has no
    word for."""
    for name in probes:
        source, probe = PROBE_SPECS.source(name), PROBE_SPECS.usable(name)
        missing = tuple(m for m, said in probe.measures.items() if not said.labels.get(language)) if probe else ()
        if source and missing:
            yield "probe", name, source, missing
    used: dict[str, list[str]] = {}
    for name, workload in workloads:
        used.setdefault(name, []).append(workload)
    for name, of_tool in used.items():
        source, tool = TOOL_SPECS.source(name), TOOL_SPECS.usable(name)
        missing = tuple(_of_tool(language, tool, of_tool)) if tool else ()
        if source and missing:
            yield "tool", name, source, missing
    for name in engines:
        source, engine = ENGINE_SPECS.source(name), ENGINE_SPECS.usable(name)
        texts = {"described": engine.described or {language: name}, **engine.names} if engine else {}
        missing = tuple(what for what, said in texts.items() if not said.get(language))
        if source and missing:
            yield "engine", name, source, missing


def _of_tool(language: str, tool: ToolSpec, workloads: Iterable[str]) -> Iterator[str]:
    for name in workloads:
        if name in tool.workloads and not tool.workloads[name].description.get(language):
            yield f"{tool.name}.{name}"
    for name, texts in (("data", tool.data if tool.workloads else {}), ("always", tool.always)):
        if texts and not texts.get(language):
            yield name
    yield from (name for name, said in tool.measures.items() if not said.labels.get(language))
    yield from (name for name, texts in tool.names.items() if not texts.get(language))


def in_running_order(matrices: tuple[Matrix, ...], declared: tuple[str, ...], reader: Reader) -> tuple[Matrix, ...]:
    """Return the experiments in running order, each with the searches that its cells wait for.

    `declared` has the names of all experiments. It includes those that have no matrix because of a reported mistake.
    """
    by_name = {matrix.experiment.name: matrix for matrix in matrices}
    order, circles = _in_order(by_name, reader)
    return tuple(
        _linked(by_name[name], by_name, declared, reader) if name not in circles else by_name[name] for name in order
    )


def _linked(matrix: Matrix, by_name: Mapping[str, Matrix], declared: tuple[str, ...], reader: Reader) -> Matrix:
    knees = {}
    for key, knee_of in matrix.awaits.items():
        other = by_name.get(knee_of.experiment)
        if knee_of.experiment not in declared:
            reader.report(name_errors.UnknownName(_base(knee_of), "experiment", knee_of.experiment, declared))
        elif other is not None:
            knees[key] = _knees(key, knee_of, matrix, other, reader)
            if knees[key]:
                _hold_to_hosts(key, knee_of, matrix, other.experiment, reader)
    return replace(matrix, knees=knees)


def _base(knee_of: KneeReference) -> Span:
    return replace(knee_of.span, end=knee_of.span.start + len(knee_of.experiment))


def _knees(
    key: str, knee_of: KneeReference, matrix: Matrix, other: Matrix, reader: Reader
) -> Mapping[tuple[str, str, Levels], plan.Knee]:
    """Return the knee to use for each hardware, workload and level of the matrix, or nothing after a mistake."""
    experiment = other.experiment
    if experiment.search is None or experiment.axis != key:
        searched = f"it searches for that of `{experiment.axis}`" if experiment.search else "it does not search"
        reader.report(experiment_errors.NoSearch(knee_of.span, experiment.name, key, searched))
        return {}
    knees = {}
    chosen_at: dict[Levels, tuple[Levels, Levels | None]] = {}
    for levels in matrix.levels:
        own = own_levels(tuple(other.levels[0].keys), levels, matrix.factors)
        chosen_at[levels] = own, _same_levels(own, other.levels)
    for unit, load, levels in product(matrix.units, matrix.loads, matrix.levels):
        hardware = _same(unit.hardware.key, (), experiment.hardware)
        workload = _same(load.workload.name, (load.of,), experiment.workloads)
        own, at = chosen_at[levels]
        for kind, wanted, chosen, known in (
            ("hardware", unit.hardware.key, hardware, experiment.hardware),
            ("workload", load.workload.name, workload, experiment.workloads),
            ("combination of levels", own, at, other.levels),
        ):
            if chosen is None:
                reader.report(experiment_errors.ManyKnees(knee_of.span, experiment.name, kind, wanted, known))
        if hardware is not None and workload is not None and at is not None:
            place = (unit.hardware.key, load.workload.name, levels)
            knees[place] = plan.Knee(experiment=experiment.name, hardware=hardware, workload=workload, levels=at)
    return knees


def _same_levels(wanted: Levels, known: tuple[Levels, ...]) -> Levels | None:
    """Return the wanted levels if they are known. Otherwise, if only one level of a factor is known, use that level
    instead. Return the result if it is known, or else None."""
    if wanted in known:
        return wanted
    keys = wanted.keys
    for name in keys:
        searched = {each.keys[name] for each in known}
        keys[name] = searched.pop() if len(searched) == 1 else keys[name]
    found = Levels.of(keys)
    return found if found in known else None


def _hold_to_hosts(key: str, knee_of: KneeReference, matrix: Matrix, searched: plan.Experiment, reader: Reader) -> None:
    """Report a search whose knee may be too small to be split over the client's hosts."""
    if not matrix.clients:
        return
    hosts, client = max(
        (len(matrix.load_hosts(unit, load)), matrix.clients[unit.hardware.key].name)
        for unit, load in product(matrix.units, matrix.loads)
    )
    least = [(searched.points[0], searched.name)]
    if searched.search and searched.search.otherwise is not None:
        least.append((searched.search.otherwise, ""))
    for point, name in least:
        if point >= hosts:
            continue
        if key == "threads":
            reader.report(experiment_errors.FewThreads(knee_of.span, int(point), client, hosts, name))
        else:
            reader.report(experiment_errors.SmallTarget(knee_of.span, point, client, hosts, name))


def _same(key: str, otherwise: tuple[str, ...], known: tuple[str, ...]) -> str | None:
    """Return the key if it is known, or else the first known alternative, or else the only known key. Return None if
    none of these exists."""
    wanted = next((name for name in (key, *otherwise) if name in known), None)
    return known[0] if wanted is None and len(known) == 1 else wanted


def _in_order(by_name: Mapping[str, Matrix], reader: Reader) -> tuple[list[str], set[str]]:
    """Return the experiments in the order of the spec, except that an experiment that waits for others comes after
    them. Also return the experiments that wait for each other in a cycle. Each cycle is reported as a mistake."""
    order: dict[str, None] = {}
    circles: set[str] = set()
    for root in by_name:
        chain: dict[
            str, Iterator[KneeReference]
        ] = {}  # each waiting experiment: the next one, and the others that it awaits
        if root not in order:
            chain[root] = iter(by_name[root].awaits.values())
        while chain:
            name, awaited = next(reversed(chain.items()))
            other = next((knee_of.experiment for knee_of in awaited), None)
            if other is None:
                order[name] = None
                del chain[name]
            elif other in chain:
                circle = tuple(chain)[list(chain).index(other) :]
                first = min(range(len(circle)), key=lambda i: by_name[circle[i]].span.start)
                reader.report(name_errors.KneeCycle(_closing(circle, by_name), circle[first:] + circle[:first]))
                circles.update(circle)
            elif other in by_name and other not in order:
                chain[other] = iter(by_name[other].awaits.values())
    return list(order), circles


def _closing(circle: tuple[str, ...], by_name: Mapping[str, Matrix]) -> Span:
    """Return the first place in the spec where an experiment of a cycle waits for another experiment of the cycle."""
    spans = [
        knee_of.span for name in circle for knee_of in by_name[name].awaits.values() if knee_of.experiment in circle
    ]
    return min(spans, key=lambda span: span.start)


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
        if override.of_words:
            of = _of_words(override, found)
            of.update(
                {name: overridden(each, override.of_words) for name, each in of.items() if _is_of(override, name)}
            )
        entries = found.blocks.get(override.subject.text, {}) if override.subject else {}
        for name in [override.name] if override.name else list(entries):
            if name in entries:
                entries[name] = merge(_bared(entries[name], override), override, keep_base=True)


def _of_words(override: Entry, found: Declarations) -> dict[str, ast.Block]:
    """Return the claims or reports that an override may name."""
    return found.claims if override.subject and override.subject.text == "claim" else found.reports


def _is_of(override: Entry, name: str) -> bool:
    return override.name in ("", name)


def _meters(found: Declarations, chosen: Entry) -> None:
    """Replace every power meter by the profile's. If a profile has new hosts but no meter, remove the old meters, which
    do not measure the new hosts."""
    power = chosen.attributes.get("power")
    meter = {} if power is None or _is_none(power) else {"power": power}
    for name, entry in found.blocks["hardware"].items():
        own = entry.attributes.get("power")
        if own is not None and _is_declared(own.values[0], found):
            continue  # a declared number is a fact, like the price
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
    """Return a warning that the meters of `hardware` belong to other hosts than the profile's. Return None if
    `hardware` is empty, or if the profile sets `power` itself."""
    chosen = found.blocks["profile"].get(profile)
    if chosen is None or not hardware or "power" in chosen.attributes:
        return None
    return name_errors.MetersLeftBehind(chosen.attributes["hosts"].key.span, profile, hardware)


def _bared(entry: Entry, override: Entry) -> Entry:
    """Remove the overridden keys from the variants, so that the override takes effect there, too."""
    keys = override.attributes.keys()

    def bare(block: Entry) -> Entry:
        if block.kind != "variant":
            return block
        return replace(block, attributes={k: v for k, v in block.attributes.items() if k not in keys})

    return replace(entry, blocks=tuple(map(bare, entry.blocks)))


def check_profiles(found: Declarations, reader: Reader) -> None:
    """Report the mistakes in all profiles, including those that are not chosen."""
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
            known = tuple(_of_words(override, found) if override.of_words else entries)
            if override.name and override.name not in known:
                end = override.head.end
                span = Span(override.head.source, end - len(override.name), end)
                findings.add(name_errors.UnknownName(span, kind, override.name, known))
            if override.of_words:
                for name, each in _of_words(override, found).items():
                    for problem in mistakes_in(override.of_words, each, kind) if _is_of(override, name) else ():
                        findings.add(problem)
                continue
            named = [entries[override.name]] if override.name in entries else list(entries.values())
            reader.block(replace(override, kind=kind), _schema(kind, named), complete=False)


def _schema(kind: str, entries: Sequence[Entry]) -> BlockSchema:
    """Return the schema for an override of these blocks, including the attributes of other packages that the blocks
    use."""
    schemas = [schema for entry in entries if (schema := _own_schema(kind, entry)) is not None]
    keys = {name: key for schema in schemas for name, key in schema.keys.items()}
    return replace(BLOCKS[kind], keys={**keys, **BLOCKS[kind].keys}) if keys else BLOCKS[kind]


def _own_schema(kind: str, entry: Entry) -> BlockSchema | None:
    """Return the schema of a block whose tool, engine, probe or scheduler comes from another package. Return None for
    other blocks."""
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


def warn_of_power(found: Declarations, matrices: tuple[Matrix, ...], profile: str | None, findings: Findings) -> None:
    """Warn of meters that nothing reads, and of hosts whose meter is missing from the profile."""
    taken = {unit.hardware.group: None for m in matrices if "power" in m.asked for unit in m.units if unit.meter_taken}
    behind = meters_left_behind(found, profile, tuple(taken)) if profile else None
    if behind:
        findings.add(behind)
    read = {unit.hardware.group for m in matrices if "power" in m.asked for unit in m.units}
    idle: dict[str, dict[str, None]] = {}
    for m in matrices:
        for unit in m.units:
            if unit.hardware.power and unit.hardware.group not in read:
                idle.setdefault(unit.hardware.group, {})[m.experiment.name] = None
    for group, names in idle.items():
        entry = found.blocks["hardware"][group]
        if not entry.imported:
            span = entry.attributes["power"].values[0].span
            findings.add(name_errors.UnsampledMeter(span, group, tuple(names)))
    _warn_of_boundaries(matrices, findings)


_PARTS: Mapping[Boundary, str] = {
    "wall": "at the wall",
    "node": "of the nodes",
    "cpu": "of CPU packages only",
    "formula": "of a formula",
    "unknown": "of an unknown part",
}


def _warn_of_boundaries(matrices: tuple[Matrix, ...], findings: Findings) -> None:
    """Warn of a comparison of watts at the wall with watts of CPU packages."""
    for m in matrices:
        found: dict[str, Boundary] = {}
        if "power" in m.asked:
            found = {unit.hardware.key: unit.hardware.power[0].boundary for unit in m.units if unit.hardware.power}
        if len(set(found.values())) > 1:
            parts = "; ".join(f"{_PARTS[boundary]} in `{key}`" for key, boundary in found.items())
            findings.add(equipment_errors.MixedBoundaries(m.span, m.experiment.name, parts))


def warn_of_aged_data(matrices: tuple[Matrix, ...], hosts: Mapping[str, Host], findings: Findings) -> None:
    """For each database with `reset = reuse`, warn of the cells that follow a writing cell on the same data set."""
    aged: dict[str, tuple[DatabaseSpec, dict[str, None], list[str]]] = {}
    written: dict[str, tuple[str, dict[str, None]]] = {}
    """The data set at each place, and the workloads that have written to it."""
    for matrix in matrices:
        if matrix.database.reset.how != "reuse":
            continue
        held: dict[tuple[str, str, Levels], tuple[str, str]] = {}
        for unit, levels in product(matrix.units, matrix.levels):
            database = matrix.databases[matrix.database_key(unit.hardware.key, levels)]
            place = place_of(unit.hardware, database, hosts)
            for name in matrix.experiment.workloads:
                dataset = dataset_of(unit.hardware, database, matrix.load_at(name, levels), matrix, hosts)
                held[unit.hardware.key, name, levels] = place, dataset.hash if dataset else ""
        writes = {load.workload.name: load.workload.writes for load in matrix.loads_at.values()}
        _, writers, cells = aged.setdefault(matrix.database.name, (matrix.database, {}, []))
        for hardware, workload, levels, point, repeat in ordered(matrix):
            place, dataset_hash = held[hardware, workload, levels]
            there, by = written.get(place, ("", {}))
            if not dataset_hash or there != dataset_hash:  # loaded before, or made by the benchmark itself
                written[place] = there, by = dataset_hash, {}
            elif by:
                writers.update(by)
                at = f"{matrix.experiment.axis}={point:.0f}/" if point is not None else ""
                cells.append(f"{matrix.experiment.name}/{hardware}/{workload}/{levels and f'{levels}/'}{at}r{repeat}")
            if dataset_hash and writes[workload]:
                by[workload] = None
    for name, (spec, writers, cells) in aged.items():
        if cells and not spec.imported:
            said_at = spec.places.get("reset", spec.span)
            findings.add(AgedData(said_at, name, tuple(writers), tuple(cells), _quick(spec)))


def _quick(database: DatabaseSpec) -> str:
    """Return a reset of the engine that is quicker than a load, or "" if this database can't have one."""
    default = database.engine.default_reset
    if default in database.engine.resets:
        return default
    can_copy = "snapshot" in database.engine.resets and database.server in ("start", "none")
    return "snapshot" if can_copy else ""


@dataclass(frozen=True)
class Model:
    """A checked spec. It can be planned unless the findings include an error.

    If `whole`, no experiment was dropped because of a mistake, so anything that a metric does not find is missing in
    the spec itself.
    """

    hosts: Mapping[str, plan.Host]
    hardware: Mapping[str, HardwareUnit]
    clients: Mapping[str, plan.Client]
    workloads: Mapping[str, ReadWorkload]
    matrices: tuple[Matrix, ...]
    schedulers: Mapping[str, plan.SchedulerBlock]
    factors: Factors
    scope: Scope
    whole: bool


@dataclass(frozen=True)
class _ReadBlocks:
    """The objects that the blocks of a spec declare."""

    world: NamedBlocks
    schedulers: Mapping[str, plan.SchedulerBlock]
    matrices: tuple[Matrix, ...]


class RememberedBlocks:
    """The blocks as they were read in the last check of a spec. They stay valid while the blocks are the same, and the
    problems found before reading them, whatever metrics, claims and reports say."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, Any, list[CompileProblem]]] = {}

    def recall(self, name: str, of: object, findings: Findings, read: Callable[[], _Read]) -> _Read:
        """Return what `read` returns, and report the problems that it reports. It is called only if what it depends on,
        `of`, has changed, or if it reads files."""
        before = len(findings)
        depends = of, findings.since(0), findings.failed
        known, result, problems = self._known.pop(name, (None, None, []))
        if known == depends:
            for problem in problems:
                findings.add(problem)
        else:
            result = read()
            problems = findings.since(before)
        if not findings.of_files and not findings.more:
            self._known[name] = depends, result, problems
        return cast(_Read, result)


def resolve(
    found: Declarations,
    params: Mapping[str, ast.Expr],
    profile: str | None,
    findings: Findings,
    memory: RememberedBlocks | None = None,
    *,
    whole: bool = True,
) -> Model:
    """Return the model under the chosen `profile`.

    `params` are the values of the parameters, including those from the command line. `memory` comes from the last check
    of the spec. `whole` means that no declaration was lost to a syntax error.
    """
    reader = Reader(params, findings)
    as_declared = dict(found.reports)
    apply_profile(found, profile, findings)
    factors = read_factors(found.blocks["factor"], reader)
    check_names(found, findings)
    misused = check_places(found, factors, findings)
    check_profiles(replace(found, reports=as_declared), reader.at(factors.defaults))
    language = _language(found)

    def read() -> _ReadBlocks:
        return _read(found, factors, misused, language, reader)

    read_blocks = memory.recall("blocks", (found.blocks, params, language), findings, read) if memory else read()
    world, schedulers, matrices = read_blocks.world, read_blocks.schedulers, read_blocks.matrices
    loads = _loads(world, matrices, findings)
    unused = False
    if not findings.failed and not found.blocks["experiment"]:
        findings.add(name_errors.NoExperiment(None))
    elif not findings.failed:
        _warn_unused(found, world, matrices, findings)
        varied = {name for matrix in matrices for levels in matrix.levels for name in levels.keys}
        unused = check_used(found, factors, varied, profile, findings)
        warn_of_power(found, matrices, profile, findings)
        probes = (name for matrix in matrices for name in matrix.asked)
        brought = ((load.workload.family, load.workload.benchmark) for matrix in matrices for load in matrix.loads)
        engines = (matrix.database.engine.name for matrix in matrices)
        warn_of_untranslated(found.reports, probes, brought, engines, findings)
        warn_of_aged_data(matrices, world.hosts, findings)
        warn_of_overlap(matrices, world.hosts, findings)
    return Model(
        hosts=world.hosts,
        hardware=world.hardware,
        clients={name: client for name, client in world.clients.items() if client is not None},
        workloads=loads,
        matrices=matrices,
        schedulers=schedulers,
        factors=factors,
        scope=replace(_scope(found, params, world, loads, matrices), profile=profile),
        whole=whole and len(matrices) == len(found.blocks["experiment"]) and not factors.broken and not unused,
    )


def _read(
    found: Declarations, factors: Factors, misused: Collection[tuple[str, str]], language: str, reader: Reader
) -> _ReadBlocks:
    hosts = HostTable(reader)
    world = NamedBlocks(
        hardware=read_hardware(found.blocks["hardware"], hosts),
        clients=read_clients(found.blocks["client"], hosts),
        databases=BlocksAtLevels("database", found, factors, reader, database_reader(), misused, ("path", "uri")),
        workloads=BlocksAtLevels("workload", found, factors, reader, workload_reader(language), misused),
        factors=factors,
        probes=read_probe_blocks(found.blocks["probe"], reader),
        hosts=hosts.hosts,
        language=language,
    )
    schedulers = read_schedulers(found.blocks["scheduler"], reader)
    matrices = read_experiments(found.blocks["experiment"], world, reader)
    return _ReadBlocks(world, schedulers, in_running_order(matrices, tuple(found.blocks["experiment"]), reader))


def _language(found: Declarations) -> str:
    """Return the language of the built-in descriptions: the one that all reports share, or else English."""
    said = {_language_of(report) for report in found.reports.values()}
    return said.pop() if len(said) == 1 else LANGUAGES[0]


def _language_of(report: ast.Block) -> str:
    for item in report.body:
        if isinstance(item, ast.Attribute) and item.key.text == "language":
            value = item.values[0]
            if isinstance(value, ast.Name) and value.text in LANGUAGES:
                return value.text
    return LANGUAGES[0]


def _loads(world: NamedBlocks, matrices: Iterable[Matrix], findings: Findings) -> dict[str, ReadWorkload]:
    """Return the workloads by their keys in a plan, with the number of records that the experiments use. Report a
    workload that would need two different numbers."""
    loads = {name: load for name, load in world.workloads.items() if load is not None}
    used: dict[str, ReadWorkload] = {}
    for matrix in matrices:
        for key, load in matrix.loads_at.items():
            other = used.setdefault(key, load)
            if other.workload != load.workload:
                sizes = sorted(int(float(each.workload.properties["records"])) for each in (other, load))
                records = " and ".join(f"{size:,}" for size in sizes)
                findings.add(experiment_errors.TwoSizes(load.span, load.workload.name, records))
    return {**loads, **used}


def _scope(
    found: Declarations,
    params: Mapping[str, ast.Expr],
    world: NamedBlocks,
    loads: Mapping[str, ReadWorkload],
    matrices: tuple[Matrix, ...],
) -> Scope:
    at_levels: dict[str, list[ReadWorkload]] = {}
    for load in loads.values():
        at_levels.setdefault(load.workload.name, []).append(load)
    return Scope(
        hardware=tuple(_hardware_key(unit) for unit in world.hardware.values()),
        factors=tuple(_factor_keys(found.blocks["factor"], world)),
        workloads=tuple(
            WorkloadKey(
                key=name,
                label=load.workload.label,
                description=load.workload.description,
                operations=tuple(dict.fromkeys(each for at in at_levels[name] for each in at.operations)),
                span=load.span,
                writes=any(at.workload.writes for at in at_levels[name]),
                shares=tuple(_equal_shares(at_levels[name])),
            )
            for name, load in loads.items()
            if name in at_levels
        ),
        experiments=tuple(_experiment_key(matrix) for matrix in matrices),
        metrics=tuple(found.metrics.values()),
        expects=tuple(found.expects),
        claims=tuple(found.claims.values()),
        reports=tuple(found.reports.values()),
        params=dict(params),
        blocks=tuple(entry for entries in found.blocks.values() for entry in entries.values()),
    )


def _equal_shares(at_levels: Sequence[ReadWorkload]) -> Iterator[tuple[str, float]]:
    """Yield each operation's share, if the share is the same at all levels."""
    shares = [load.family.operation_shares(load.workload.properties) for load in at_levels]
    for operation, share in shares[0].items():
        if all(each.get(operation) == share for each in shares):
            yield operation, share


def _factor_keys(entries: Mapping[str, Entry], world: NamedBlocks) -> Iterator[FactorKey]:
    """Yield all factors. A factor with a mistake has no levels."""
    of_loads = {factor for workload in world.workloads for factor in world.workloads.uses(workload)}
    for name, entry in entries.items():
        declared = world.factors.get(name)
        yield FactorKey(
            key=name,
            label=entry.label,
            unit=declared.factor.unit if declared else None,
            levels=tuple(_level_key(declared, level) for level in declared.factor.levels) if declared else (),
            of_load=name in of_loads,
            span=entry.head,
        )


def _level_key(declared: DeclaredFactor, level: plan.Level) -> LevelKey:
    bound = {name: declared.bound[level.key][f"{declared.factor.name}.{name}"] for name in level.attributes}
    return LevelKey(
        key=level.key,
        label=level.label,
        facts={name: at.constant.quantity if at.constant else _text(at.expr) for name, at in bound.items()},
        units={name: at.expr.unit for name, at in bound.items() if isinstance(at.expr, ast.Quantity)},
    )


def _text(expr: ast.Expr) -> str:
    return (expr.plain or "") if isinstance(expr, ast.String) else text_of(expr)


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
        levels=e.levels,
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
