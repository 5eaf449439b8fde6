"""Prepares an import of tools' outputs. Each file is matched to its cell, and read once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from benchbrief.compiler.registry import IMPORTER_SPECS, TOOL_SPECS
from benchbrief.model.events import MEASURE, PROBE, SAMPLES
from benchbrief.model.measurement import Measurement, Together, transactions
from benchbrief.model.message import Message
from benchbrief.model.plan import Cell, Plan, Workload
from benchbrief.model.precision import share_text
from benchbrief.results.imports.cell_matching import (
    STDOUT,
    CellFiles,
    Coordinates,
    NoPlace,
    Options,
    Places,
    SeveralLevels,
    Where,
    compile_pattern,
    coordinates,
    find_files,
    given_cell,
    read_coordinates,
)
from benchbrief.results.imports.imported_files import WRONG_CELL, ImportProblem, ImportRefused, OutputProblem
from benchbrief.results.imports.importer_seams import (
    BadLog,
    OutputImporter,
    output_importer,
    read_samples,
    sample_importer,
)
from benchbrief.results.imports.keep_import import (
    CellImport,
    ImportManifest,
    KeptJob,
    Prepared,
    StatedSource,
    describe_file,
    require_source,
)
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.journal.atomic_files import sha256_of
from benchbrief.runners.plugins import spec_of

_PROPORTIONS = ("read", "update", "insert", "scan", "read_modify_write")
_OFF = 0.02
"""How far the measured mix of operations may differ from the declared mix, as a share, in addition to chance."""
_MOST_BUSY = 1.1
"""The largest sum of all latencies, as a share of the threads' time. It is above 1 because clocks differ, and because a
histogram knows latencies only to the width of a bucket."""
_LEAST_BUSY = 0.3
"""The threads of a closed loop must spend at least this share of their time waiting for the server (Little's law)."""
_CLIENT_S = 200e-6
"""The mean latency, in seconds, below which a client may spend most of its time between operations."""
_CONNECTING_S = 10.0
"""The longest time, in seconds, that a run may spend on connecting before its first operation."""
_FAILED = 0.05
"""The share of failed operations above which the mix of the successful operations proves nothing."""


def contradictions(
    importer: OutputImporter,
    outputs: Mapping[str, Path],
    files: Mapping[str, Path],
    measured: Mapping[str, Measurement],
    cell: Cell,
    plan: Plan,
) -> Iterator[ImportProblem]:
    """Yield the contradictions between outputs and their cell.

    `outputs` are the tool's own outputs, by load generator, if there are any. `files` has one file for each load
    generator, for use in messages. `measured` are the measurements read from these files.
    """
    workload = plan.workload_of(cell)
    for path in outputs.values():
        yield from importer.contradictions(path, cell, plan)
    said = {host: importer.settings(path) for host, path in outputs.items()}
    for host, path in outputs.items():
        for name, each in said[host].items():
            if workload.phase == "load" and name in _PROPORTIONS:
                continue  # the mix belongs to the run that may follow the load
            planned = workload.properties.get(name, 0.0 if name in _PROPORTIONS else None)
            if planned is not None and not _same(each.value, planned) and name not in ("threads", "target"):
                has = f"{planned:.15g}" if isinstance(planned, float) else planned
                text = f"it was run with {each.text}, and workload {workload.name} has {name} = {has}"
                yield ImportProblem(str(path), each.line, text, WRONG_CELL)
    for host, each_measured in measured.items():
        if workload.phase == "load" or all(name in workload.properties for name in _PROPORTIONS):
            yield from _mix(files[host], each_measured, workload)
    closed = bool(said) and all(each and "target" not in each for each in said.values())
    yield from _busy(files, measured, cell, workload, closed=closed)
    for name, wanted in (("threads", cell.threads), ("target", cell.target)):
        values = [each.get(name) for each in said.values()]
        known = [each for each in values if each is not None]
        if len(known) < len(values) or not known:
            continue
        total = sum(float(each.value) for each in known)
        planned_at = cell.threads_from if name == "threads" else cell.target_from
        if planned_at is None and not (wanted is not None and math.isclose(total, wanted, rel_tol=0.001)):
            words = f"{name} = {wanted:g}" if wanted is not None else f"no {name}"
            beside = f", {total:g} with the other load generators" if len(known) > 1 else ""
            text = f"it was run with {known[0].text}{beside}, and cell {cell.id} has {words}"
            yield ImportProblem(str(next(iter(outputs.values()))), known[0].line, text, WRONG_CELL)


def _same(said: float | str, planned: float | str | bool) -> bool:
    if isinstance(said, str) or isinstance(planned, str):
        return said == planned
    return math.isclose(said, planned, rel_tol=1e-9, abs_tol=1e-9)


def _busy(
    files: Mapping[str, Path], measured: Mapping[str, Measurement], cell: Cell, workload: Workload, *, closed: bool
) -> Iterator[ImportProblem]:
    """Yield a problem if all latencies add up to more than the time of the cell's threads, or to far too little.

    A thread runs one operation at a time. With `io_depth`, it runs as many as its queue has places. The first and the
    last operation may reach beyond the window. Intended latencies include waiting times, which overlap, so they can't
    be added up. At an offered load, the files must therefore say that their latencies are service times. A loop is
    `closed` if the outputs have settings but no target. If the tool's threads only wait, the latencies of such a loop
    fill much of the time (Little's law).
    """
    if cell.threads is None or not files:
        return
    offered = cell.target is not None or cell.target_from is not None
    kinds = {dict(each.properties).get("latency") for each in measured.values()}
    if offered and not all(isinstance(kind, Message) and kind.code == "latency_service" for kind in kinds):
        return
    at_once = cell.threads * float(workload.properties.get("io_depth", 1.0))
    seconds = max(each.total.seconds for each in measured.values())
    done = [op for each in measured.values() for op in each.operations if op.phase is None and op.in_total]
    timed = [op for op in done if op.kind == "service" and op.mean_s is not None]
    busy = sum(op.count * (op.mean_s or 0.0) for op in timed)
    longest = max((op.max_s or op.mean_s or 0.0 for op in timed), default=0.0)
    if busy > _MOST_BUSY * at_once * (seconds + min(longest, seconds)):
        has = f"the {at_once:g} threads of cell {cell.id} have {at_once * seconds:.4g} s in {seconds:.4g} s"
        hint = "name the unit of its values, with --unit where they have none, and the cell that it is of"
        yield ImportProblem(str(files[min(files)]), None, f"its latencies add up to {busy:.4g} s, and {has}", hint)
    known = timed and len(timed) == sum(op.count > 0 for op in done) and not any(op.errors for op in done)
    mean = busy / max(1, sum(op.count for op in timed))
    tool = TOOL_SPECS.usable(workload.family)
    if tool and tool.threads_only_wait and known and closed and not offered and mean > _CLIENT_S:
        least = _LEAST_BUSY * cell.threads * (seconds - _CONNECTING_S)
        if busy < least:
            ran = f"by its latencies and its rate about {busy / seconds:.2g} threads ran at once"
            hint = "say how many threads ran, or the `target` that held them back"
            text = f"{ran}, and cell {cell.id} has threads = {cell.threads}"
            yield ImportProblem(str(files[min(files)]), None, text, hint)


def _mix(path: Path, measured: Measurement, workload: Workload) -> Iterator[ImportProblem]:
    """Yield a problem if the mix of operations differs from the workload's mix by more than chance."""
    done = [each for each in measured.operations if each.phase is None]
    done = [each for each in done if each.kind == "service"] or done
    count, failed = transactions(done), sum(each.errors for each in done)
    if count <= 0 or failed > _FAILED * count:
        return
    counts = {name: sum(each.count for each in done if each.operation == name) for name in _PROPORTIONS}
    for half in ("read", "update"):
        counts[half] -= counts["read_modify_write"]
    for name, number in counts.items():
        wanted, share = _wanted(workload, name), number / count
        if abs(share - wanted) > max(_OFF, 5 * math.sqrt(wanted * (1 - wanted) / count)):
            problem = f"{share_text(share)} of its operations are {name.replace('_', '-')}s"
            where = f"workload {workload.name} ({workload.family}.{workload.benchmark})"
            text = f"{problem}, and {share_text(wanted)} are in {where}"
            yield ImportProblem(str(path), None, text, WRONG_CELL)
            return


def _wanted(workload: Workload, name: str) -> float:
    """Return the planned share of an operation. In a measured load, all operations are inserts."""
    if workload.phase == "load":
        return 1.0 if name == "insert" else 0.0
    return float(workload.properties.get(name, 0.0))


def with_samples(
    cells: list[CellImport],
    windows: Mapping[str, tuple[float, float]],
    plan: Plan,
    places: Places,
    where: Where,
    problems: list[ImportProblem],
) -> list[CellImport]:
    """Add the sample logs that match the patterns. `windows` maps cell ids to their measured times."""
    by_id = {each.cell.id: each for each in cells}
    for kind, pattern in where.samples:
        sample_importer(kind)  # reports a wrong importer before any search for logs
        found = list(find_files(pattern, "", places, where))
        if not found:
            problems.append(ImportProblem(pattern, None, f"no log of {kind} has such a path"))
        for path, said, cell in found:
            if isinstance(cell, ImportProblem):
                problems.append(cell)
                continue
            if (each := by_id.get(cell.id)) is None:
                continue  # a log of a cell that is not imported
            try:
                job = _samples(kind, path, said.get("node", ""), cell, plan, windows[cell.id])
                by_id[cell.id] = replace(each, jobs=(*each.jobs, job))
            except (NoPlace, BadLog) as error:
                line = error.line if isinstance(error, BadLog) else None
                problems.append(ImportProblem(str(path), line, str(error), error.hint))
    return list(by_id.values())


def _samples(kind: str, path: Path, node: str, cell: Cell, plan: Plan, window: tuple[float, float]) -> KeptJob:
    """Convert a sample log to a job. Raises BadLog for a bad log, and NoPlace if the cell has no such probe or its time
    is unknown."""
    name = spec_of(IMPORTER_SPECS, kind).probe
    probe = next((each for each in cell.probes if each.name == name), None)
    if probe is None:
        hint = f"add `probes = [{name} every 1 s]` to {cell.experiment}"
        raise NoPlace(f"{cell.id} has no probe {name} that its samples would be of", hint)
    hosts = {host: plan.hosts[host].name if host in plan.hosts else host for host in probe.hosts}
    fitting = [host for host, called in hosts.items() if node in (host, called)] if node else list(hosts)
    if len(fitting) != 1:
        what = f"no host `{node}` in {cell.hardware}" if node else f"of which of {len(hosts)} hosts is not said"
        raise NoPlace(what, f"say it by {{node}} in the path: {', '.join(hosts)}")
    if not window[0]:
        raise NoPlace(
            f"when {cell.id} was measured is not known",
            "give logs with the times of its latencies with it: HDR logs, or raw ones",
        )
    read_samples(kind, path, fitting[0], window, str(probe.options.get("device", "")))
    manifest = ImportManifest(kind=kind, names={SAMPLES: str(path)})
    return KeptJob(f"{PROBE}{name}:{fitting[0]}", fitting[0], manifest, {SAMPLES: path}, window)


_LEAST_SHARE = 0.9
"""The smallest share of the declared time that a measurement must last, as drivers also require."""


def prepare_outputs(
    kind: str,
    paths: Sequence[Path],
    plan: Plan,
    source: StatedSource,
    where: Where,
    *,
    skip_bad: bool = False,
) -> Prepared:
    """Prepare the import of outputs. `source` is the source given on the command line.

    Raises ImportRefused with all problems, unless `skip_bad` is set and at least one file can be imported.
    """
    problems: list[ImportProblem] = []
    places = Places(plan)
    require_source(source, "the command line")
    spec, importer = spec_of(IMPORTER_SPECS, kind), output_importer(kind)
    cells = _by_cell(importer, paths, plan, places, where, problems)
    problems += importer.complete(cells, paths, places, where)
    again = _the_same(importer, cells.values())
    problems += again.values()
    kept: list[CellImport] = []
    windows: dict[str, tuple[float, float]] = {}
    for of in cells.values():
        if any(path in again for files in of.files.values() for path in files.values()):
            continue
        measured: dict[str, Measurement] = {}
        family = plan.workload_of(of.cell).family
        if spec.families and family not in spec.families:
            path = next(path for files in of.files.values() for path in files.values())
            text = f"of {kind}, and workload {of.cell.workload} is one of {family}"
            problems.append(
                ImportProblem(str(path), None, text, "give the outputs of the tool that the workload is of")
            )
            continue
        for host, files in of.files.items():
            try:
                measured[host] = importer.read(files, plan.workload_of(of.cell).benchmark, where.options)
            except OutputProblem as error:
                problems.append(
                    ImportProblem(str(files.get(error.name, error.name)), error.line, str(error), error.hint)
                )
        problems += _of_two_kinds(of, measured)
        of.remarks |= {host: text for host, each in measured.items() if (text := _short(of, host, each))}
        outputs = {host: files[STDOUT] for host, files in of.files.items() if STDOUT in files and host in measured}
        some = {host: next(iter(of.files[host].values())) for host in measured}
        against = list(contradictions(importer, outputs, some, measured, of.cell, plan))
        problems += against
        if len(measured) == len(of.files) and not against:
            windows[of.cell.id] = Together(tuple(measured.values()), load=False).window
            kept.append(_kept(kind, of, measured, places, where.options))
    kept = with_samples(kept, windows, plan, places, where, problems)
    if problems and not (skip_bad and kept):
        raise ImportRefused(problems)
    used = dict.fromkeys(path for each in kept for job in each.jobs for path in job.files.values())
    described_files = tuple((path, describe_file(path)) for path in used)
    remarks = tuple(_remarks(kept))
    return Prepared(kind, source, described_files, tuple(kept), problems=tuple(problems), remarks=remarks)


def _by_cell(
    importer: OutputImporter,
    paths: Sequence[Path],
    plan: Plan,
    places: Places,
    where: Where,
    problems: list[ImportProblem],
) -> dict[str, CellFiles]:
    pattern = compile_pattern(where.pattern, places.names) if where.pattern else None
    given = given_cell(where.cell, places.names)
    if not pattern and not given:
        hint = (
            'say it by their paths, --as "out/{hardware}/{workload}-t{threads}.txt", or --cell hardware=nvme,threads=8'
        )
        raise ResultsError("which cells these files are of is not said", hint)
    experiment = where.experiment
    cells: dict[str, CellFiles] = {}
    for path in paths:
        said = read_coordinates(path, pattern, given)
        if said is None:
            near = (read_coordinates(output, pattern, given) for output in importer.outputs_of(path, paths))
            fitting = [each for each in near if each]
            said = fitting[0] if len(fitting) == 1 else None
        if said is None:
            hint = "write the pattern as the paths are, or leave it out and name the cell by --cell"
            problems.append(ImportProblem(str(path), None, f"its path does not fit --as {where.pattern}", hint))
            continue
        try:
            at = coordinates(said, places, places.experiment(experiment) if experiment else "")
            cell = _cell_of(importer, path, said, at, places, plan)
        except NoPlace as error:
            problems.append(ImportProblem(str(path), None, str(error), error.hint))
            continue
        of = cells.setdefault(cell.id, CellFiles(cell))
        of.has_repeat |= "repeat" in said
        host = said.get("host") or cell.load_hosts[0]
        name = importer.kept_name(path, said)
        files = of.files.setdefault(host, {})
        if name in files:
            text = f"of the same cell as {files[name]}: {cell.id}"
            problems.append(ImportProblem(str(path), None, text, "tell load generators apart by {host} in --as"))
            continue
        files[name] = path
    return cells


def _cell_of(
    importer: OutputImporter, path: Path, said: Mapping[str, str], at: Coordinates, places: Places, plan: Plan
) -> Cell:
    """Return the cell that an output belongs to. Raises NoPlace.

    If the coordinates do not give a level, the settings in the output decide, provided that only one level fits them.
    """
    try:
        return places.cell(at)
    except SeveralLevels as error:
        host = said.get("host", "")
        levels = dict.fromkeys(cell.levels for cell in error.cells)
        fitting: list[Cell] = []
        for each in levels if importer.kept_name(path, said) == STDOUT else ():
            cell = places.cell(replace(at, levels=each))
            with suppress(OutputProblem, BadOutput):  # reading the output reports this
                if not any(contradictions(importer, {host: path}, {}, {}, cell, plan)):
                    fitting.append(cell)
        if len(fitting) != 1:
            raise
        return fitting[0]


def _remarks(kept: Iterable[CellImport]) -> Iterator[str]:
    """Yield each remark once, with the first file that it concerns, and with the number of other files that it
    concerns."""
    of: dict[str, list[str]] = {}
    for job in (job for each in kept for job in each.jobs if job.manifest.remark):
        files = job.manifest.names
        of.setdefault(job.manifest.remark, []).append(files.get(STDOUT) or next(iter(files.values())))
    for text, names in of.items():
        yield f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {text}"


def _of_two_kinds(of: CellFiles, measured: Mapping[str, Measurement]) -> Iterator[ImportProblem]:
    """Yield a problem for each load generator that has other kinds of latencies than the first one, since a cell has
    only one kind."""
    kinds = {host: {each.kind for each in of_host.operations} for host, of_host in measured.items()}
    (first, has), *others = kinds.items() if kinds else (("", set()),)
    for host, other in others:
        if has and other and has != other:
            said = f"its latencies are {' and '.join(sorted(other))}, those of {first} {' and '.join(sorted(has))}"
            yield ImportProblem(str(next(iter(of.files[host].values()))), None, f"{said}: {of.cell.id} has one kind")


def _short(of: CellFiles, host: str, measured: Measurement) -> str:
    """Return a remark if logs or raw latencies cover a shorter time than planned and come without the tool's own
    output, or "" otherwise."""
    seconds, asked = measured.total.seconds, of.cell.measure_s
    if STDOUT in of.files[host] or not seconds or seconds >= _LEAST_SHARE * asked:
        return ""
    return f"it covers {seconds:.1f} s, and {of.cell.experiment} measures {asked:g} s: was it cut?"


def _the_same(importer: OutputImporter, cells: Iterable[CellFiles]) -> dict[Path, ImportProblem]:
    """Return a problem for each file with the same bytes as an earlier one, because the outputs of two measurements are
    never identical."""
    first: dict[str, Path] = {}
    again: dict[Path, ImportProblem] = {}
    for name, path in (each for of in cells for files in of.files.values() for each in files.items()):
        if importer.may_repeat(name) or not path.is_file():
            continue
        before = first.setdefault(sha256_of(path), path)
        if before != path:
            text = f"the same, byte for byte, as {before}: one measurement can't be that of two"
            again[path] = ImportProblem(
                str(path), None, text, "give each cell, repeat and load generator its own output"
            )
    return again


def _kept(
    kind: str, of: CellFiles, measured: Mapping[str, Measurement], places: Places, options: Options
) -> CellImport:
    jobs = []
    for host, files in of.files.items():
        names = {name: str(path) for name, path in files.items()}
        window = measured[host].window
        manifest = ImportManifest(kind=kind, names=names, options=dict(options), remark=of.remarks.get(host, ""))
        jobs.append(KeptJob(MEASURE, host, manifest, files, window if window[0] else None))
    together = Together(tuple(measured.values()), load=False).throughput(None)
    others = () if of.has_repeat else tuple(places.repeats(of.cell))
    if together is None:
        return CellImport(of.cell, tuple(jobs), None, others)
    failed = together.errors / max(1, together.count + together.errors)
    return CellImport(of.cell, tuple(jobs), together.ops_per_s, others, failed)
