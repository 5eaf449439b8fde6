"""From finished outputs of tools to what an import would keep of them: each file to its cell, and each read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benchbrief.compiler.extensions.registry import IMPORTER_SPECS
from benchbrief.compiler.planning.plan import Plan
from benchbrief.results.imports.cell_files import STDOUT, CellFiles, Options, Where
from benchbrief.results.imports.cell_matching import NoPlace, Places
from benchbrief.results.imports.import_manifest import Manifest
from benchbrief.results.imports.import_problems import ImportRefused, Problem
from benchbrief.results.imports.import_source import Source, require
from benchbrief.results.imports.imported_files import OutputProblem
from benchbrief.results.imports.importer_seams import OutputImporter
from benchbrief.results.imports.keep_import import CellImport, KeptJob, Prepared, describe_file
from benchbrief.results.imports.output_contradictions import contradictions
from benchbrief.results.imports.path_patterns import compile_pattern, coordinates, given_cell, read_coordinates
from benchbrief.results.imports.prepare_samples import with_samples
from benchbrief.results.imports.read_imported import output_importer
from benchbrief.results.kept_jobs import MEASURE
from benchbrief.results.store.digests import sha256_of
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.measurement.measurement import Measurement, Together
from benchbrief.runners.plugins import spec_of

_LEAST_SHARE = 0.9
"""A driver refuses a measurement that is shorter than this share of the declared time."""


def prepare_outputs(
    kind: str,
    paths: Sequence[Path],
    plan: Plan,
    source: Source,
    where: Where,
    *,
    skip_bad: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Prepared:
    """Prepare outputs for import. `source` is from the command line.

    Raises ImportRefused with all problems, unless bad files may be skipped and some are good.
    """
    problems: list[Problem] = []
    places = Places(plan)
    require(source, "the command line")
    spec, importer = spec_of(IMPORTER_SPECS, kind), output_importer(kind)
    cells = _by_cell(importer, paths, places, where, problems)
    problems += importer.complete(cells, paths, places, where)
    again = _the_same(importer, cells.values())
    problems += again.values()
    kept: list[CellImport] = []
    windows: dict[str, tuple[float, float]] = {}
    for of in cells.values():
        if any(path in again for files in of.files.values() for path in files.values()):
            continue
        measured: dict[str, Measurement] = {}
        family = plan.workloads[of.cell.workload].family
        if spec.families and family not in spec.families:
            path = next(path for files in of.files.values() for path in files.values())
            text = f"of {kind}, and workload {of.cell.workload} is one of {family}"
            problems.append(Problem(str(path), None, text, "give the outputs of the tool that the workload is of"))
            continue
        for host, files in of.files.items():
            progress(f"reading {next(iter(files.values()))}")
            try:
                measured[host] = importer.read(files, plan.workloads[of.cell.workload].benchmark, where.options)
            except OutputProblem as error:
                problems.append(Problem(str(files.get(error.name, error.name)), error.line, str(error), error.hint))
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
    importer: OutputImporter, paths: Sequence[Path], places: Places, where: Where, problems: list[Problem]
) -> dict[str, CellFiles]:
    pattern = compile_pattern(where.pattern) if where.pattern else None
    given = given_cell(where.cell)
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
            problems.append(Problem(str(path), None, f"its path does not fit --as {where.pattern}"))
            continue
        try:
            cell = places.cell(coordinates(said, places, places.experiment(experiment) if experiment else ""))
        except NoPlace as error:
            problems.append(Problem(str(path), None, str(error), error.hint))
            continue
        of = cells.setdefault(cell.id, CellFiles(cell))
        of.has_repeat |= "repeat" in said
        host = said.get("host") or cell.load_hosts[0]
        name = importer.kept_name(path, said)
        files = of.files.setdefault(host, {})
        if name in files:
            text = f"of the same cell as {files[name]}: {cell.id}"
            problems.append(Problem(str(path), None, text, "tell load generators apart by {host} in --as"))
            continue
        files[name] = path
    return cells


def _remarks(kept: Iterable[CellImport]) -> Iterator[str]:
    """Yield each remark once, with the first of its files."""
    of: dict[str, list[str]] = {}
    for job in (job for each in kept for job in each.jobs if job.manifest.remark):
        files = job.manifest.names
        of.setdefault(job.manifest.remark, []).append(files.get(STDOUT) or next(iter(files.values())))
    for text, names in of.items():
        yield f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {text}"


def _of_two_kinds(of: CellFiles, measured: Mapping[str, Measurement]) -> Iterator[Problem]:
    """Yield problems for load generators of a cell that count latencies in two ways: the cell has no single kind."""
    kinds = {host: {each.kind for each in of_host.operations} for host, of_host in measured.items()}
    (first, has), *others = kinds.items() if kinds else (("", set()),)
    for host, other in others:
        if has and other and has != other:
            said = f"its latencies are {' and '.join(sorted(other))}, those of {first} {' and '.join(sorted(has))}"
            yield Problem(str(next(iter(of.files[host].values()))), None, f"{said}: {of.cell.id} has one kind")


def _short(of: CellFiles, host: str, measured: Measurement) -> str:
    """Return a remark on logs or raw latencies that are short, when nothing says how long they should be; else ""."""
    seconds, asked = measured.total.seconds, of.cell.measure_s
    if STDOUT in of.files[host] or not seconds or seconds >= _LEAST_SHARE * asked:
        return ""
    return f"it covers {seconds:.1f} s, and {of.cell.experiment} measures {asked:g} s: was it cut?"


def _the_same(importer: OutputImporter, cells: Iterable[CellFiles]) -> dict[Path, Problem]:
    """Return the files with the same bytes as an earlier one: two measurements never print the same."""
    first: dict[str, Path] = {}
    again: dict[Path, Problem] = {}
    for name, path in (each for of in cells for files in of.files.values() for each in files.items()):
        if importer.may_repeat(name) or not path.is_file():
            continue
        before = first.setdefault(sha256_of(path), path)
        if before != path:
            text = f"the same, byte for byte, as {before}: one measurement can't be that of two"
            again[path] = Problem(str(path), None, text, "give each cell, repeat and load generator its own output")
    return again


def _kept(
    kind: str, of: CellFiles, measured: Mapping[str, Measurement], places: Places, options: Options
) -> CellImport:
    jobs = []
    for host, files in of.files.items():
        names = {name: str(path) for name, path in files.items()}
        window = measured[host].window
        manifest = Manifest(kind=kind, names=names, options=dict(options), remark=of.remarks.get(host, ""))
        jobs.append(KeptJob(MEASURE, host, manifest, files, window if window[0] else None))
    together = Together(tuple(measured.values()), load=False).throughput(None)
    others = () if of.has_repeat else tuple(places.repeats(of.cell))
    if together is None:
        return CellImport(of.cell, tuple(jobs), None, others)
    failed = together.errors / max(1, together.count + together.errors)
    return CellImport(of.cell, tuple(jobs), together.ops_per_s, others, failed)
