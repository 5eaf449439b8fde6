"""From finished outputs of tools to what would be kept of them: each file to its cell, and all of them read once."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchbrief.compiler.plan import Cell, Plan
from benchbrief.results.errors import ResultsError
from benchbrief.results.imports.contradictions import contradictions
from benchbrief.results.imports.keep import CellImport, KeptJob, Prepared, described, sha256_of
from benchbrief.results.imports.manifest import Manifest
from benchbrief.results.imports.outputs import HDR, OutputProblem, read_output
from benchbrief.results.imports.own_logs import logs_of, row_of, split
from benchbrief.results.imports.patterns import as_glob, compiled, coordinates, given_cell, told_by
from benchbrief.results.imports.places import NoPlace, Places
from benchbrief.results.imports.problems import ImportRefused, Problem
from benchbrief.results.imports.raw_latencies import is_raw
from benchbrief.results.imports.sample_logs import PROBES, BadLog
from benchbrief.results.imports.sample_logs import read as read_samples
from benchbrief.results.imports.source import Source, require
from benchbrief.results.measured import MEASURE, PROBE, SAMPLES
from benchbrief.runners.measurement import Measurement, Together

STDOUT = "stdout"


@dataclass
class _OfCell:
    """The files of a cell, by load generator and by the names that they are kept under."""

    cell: Cell
    files: dict[str, dict[str, Path]] = field(default_factory=dict)
    told_repeat: bool = False
    remarks: dict[str, str] = field(default_factory=dict)
    """By load generator: what is less than it could be."""


@dataclass(frozen=True)
class Where:
    """What the command line says of the files' cells."""

    pattern: str = ""
    cell: str = ""
    experiment: str = ""
    unit_s: float = 1e-6
    logs: str = ""
    """What the paths of YCSB's histogram logs look like, where they are not beside its outputs."""
    samples: tuple[tuple[str, str], ...] = ()
    """Logs beside the measurements: what they are (`iostat`, `ipmitool`), and what their paths look like."""


def prepare_outputs(
    kind: str,
    paths: Sequence[Path],
    plan: Plan,
    told: Mapping[str, str | None],
    where: Where,
    *,
    skip_bad: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Prepared:
    """Raises ImportRefused with all that is wrong, unless what is bad is to be skipped and some is good."""
    problems: list[Problem] = []
    places = Places(plan)
    source = Source().given(told)
    require(source, "the command line")
    cells = _by_cell(kind, paths, places, where, problems)
    if kind == "ycsb" and where.logs:
        _with_named_logs(cells, places, where, problems)
    elif kind == "ycsb":
        _with_own_logs(cells.values(), paths)
    again = _the_same(kind, cells.values())
    problems += again.values()
    kept: list[CellImport] = []
    windows: dict[str, tuple[float, float]] = {}
    for of in cells.values():
        if any(path in again for files in of.files.values() for path in files.values()):
            continue
        measured: dict[str, Measurement] = {}
        family = plan.workloads[of.cell.workload].family
        if kind != "hdr" and (kind == "db_bench") != (family == "db_bench"):
            path = next(path for files in of.files.values() for path in files.values())
            text = f"of {kind}, and workload {of.cell.workload} is one of {family}"
            problems.append(Problem(str(path), None, text, "give the outputs of the tool that the workload is of"))
            continue
        for host, files in of.files.items():
            progress(f"reading {next(iter(files.values()))}")
            try:
                measured[host] = read_output(kind, files, plan.workloads[of.cell.workload].benchmark, where.unit_s)
            except OutputProblem as error:
                problems.append(Problem(str(files.get(error.name, error.name)), error.line, str(error), error.hint))
        outputs = {host: files[STDOUT] for host, files in of.files.items() if STDOUT in files and host in measured}
        against = list(contradictions(kind, outputs, measured, of.cell, plan))
        problems += against
        if len(measured) == len(of.files) and not against:
            windows[of.cell.id] = Together(tuple(measured.values()), load=False).window
            kept.append(_kept(kind, of, measured, places, where.unit_s))
    kept = with_samples(kept, windows, plan, places, where, problems)
    if problems and not (skip_bad and kept):
        raise ImportRefused(problems)
    used = dict.fromkeys(path for each in kept for job in each.jobs for path in job.files.values())
    described_files = tuple((path, described(path)) for path in used)
    remarks = tuple(_remarks(kept))
    return Prepared(kind, source, described_files, tuple(kept), problems=tuple(problems), remarks=remarks)


def _by_cell(
    kind: str, paths: Sequence[Path], places: Places, where: Where, problems: list[Problem]
) -> dict[str, _OfCell]:
    pattern = compiled(where.pattern) if where.pattern else None
    given = given_cell(where.cell)
    if not pattern and not given:
        hint = (
            'say it by their paths, --as "out/{hardware}/{workload}-t{threads}.txt", or --cell hardware=nvme,threads=8'
        )
        raise ResultsError("which cells these files are of is not said", hint)
    experiment = where.experiment
    cells: dict[str, _OfCell] = {}
    for path in paths:
        said = told_by(path, pattern, given)
        if said is None and path.suffix == HDR and kind == "ycsb":
            # YCSB's logs beside the output of a cell, which was given before.
            said = _beside(path, paths, pattern, given)
        if said is None:
            problems.append(Problem(str(path), None, f"its path does not fit --as {where.pattern}"))
            continue
        try:
            cell = places.cell(coordinates(said, places, places.experiment(experiment) if experiment else ""))
        except NoPlace as error:
            problems.append(Problem(str(path), None, str(error), error.hint))
            continue
        of = cells.setdefault(cell.id, _OfCell(cell))
        of.told_repeat |= "repeat" in said
        host = said.get("host") or cell.load_hosts[0]
        name = _name(kind, path, said)
        files = of.files.setdefault(host, {})
        if name in files:
            text = f"of the same cell as {files[name]}: {cell.id}"
            problems.append(Problem(str(path), None, text, "tell load generators apart by {host} in --as"))
            continue
        files[name] = path
    return cells


def _with_own_logs(cells: Iterable[_OfCell], paths: Sequence[Path]) -> None:
    """With the histogram logs that stand beside the outputs and are of them, where none was given."""
    outputs = [
        (of, host, files[STDOUT])
        for of in cells
        for host, files in of.files.items()
        if STDOUT in files and not any(name.endswith(HDR) for name in files)
    ]
    found = logs_of([path for _, _, path in outputs], set(paths))
    for of, host, path in outputs:
        if own := found.get(path):
            of.files[host] |= {f"{row}{HDR}": log for row, log in own.files.items()}
            of.remarks[host] = own.remark


def _with_named_logs(cells: Mapping[str, _OfCell], places: Places, where: Where, problems: list[Problem]) -> None:
    """With the histogram logs whose paths are said."""
    form = compiled(where.logs)
    paths = sorted(Path(name) for name in glob.glob(as_glob(where.logs)) if name.endswith(HDR))  # noqa: PTH207
    if not paths:
        problems.append(Problem(where.logs, None, f"no log ({HDR}) has such a path"))
    given = given_cell(where.cell)
    for path in paths:
        own = told_by(path, form, {}) or {}
        if any(own.get(name, value) != value for name, value in given.items()):
            continue  # a log of another cell than the one that is given
        said = {**own, **given}
        try:
            cell = places.cell(coordinates(said, places, where.experiment))
        except NoPlace as error:
            problems.append(Problem(str(path), None, str(error), error.hint))
            continue
        files = cells[cell.id].files.get(said.get("host") or cell.load_hosts[0]) if cell.id in cells else None
        if files is None:
            continue  # a log of a cell that is not imported
        name = _name("ycsb", path, said)
        if name in files:
            text = f"of the same cell and operation as {files[name]}: {cell.id}"
            problems.append(Problem(str(path), None, text, "tell load generators apart by {host} in --logs"))
        files.setdefault(name, path)


def _remarks(kept: Iterable[CellImport]) -> Iterator[str]:
    """Each once, with the first of the files that it is of."""
    of: dict[str, list[str]] = {}
    for job in (job for each in kept for job in each.jobs if job.manifest.remark):
        of.setdefault(job.manifest.remark, []).append(job.manifest.names[STDOUT])
    for text, names in of.items():
        yield f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {text}"


def _the_same(kind: str, cells: Iterable[_OfCell]) -> dict[Path, Problem]:
    """Files with the same bytes as one before them: two measurements never print the same.

    Logs beside an output may be the same, as those of operations that were never done are.
    """
    first: dict[str, Path] = {}
    again: dict[Path, Problem] = {}
    for path in (path for of in cells for files in of.files.values() for path in files.values()):
        if (path.suffix == HDR and kind != "hdr") or not path.is_file():
            continue
        before = first.setdefault(sha256_of(path), path)
        if before != path:
            text = f"the same, byte for byte, as {before}: one measurement can't be that of two"
            again[path] = Problem(str(path), None, text, "give each cell, repeat and load generator its own output")
    return again


def _beside(
    path: Path, paths: Sequence[Path], pattern: re.Pattern[str] | None, given: Mapping[str, str]
) -> dict[str, str] | None:
    """What is said of the output that stands in the same folder as a log."""
    near = [other for other in paths if other.parent == path.parent and other.suffix != HDR]
    before = split(path.stem)[0].rstrip("-_.")
    near = [other for other in near if other.stem == before] or near
    fitting = [said for other in near if (said := told_by(other, pattern, given))]
    return fitting[0] if len(fitting) == 1 else None


def _name(kind: str, path: Path, said: Mapping[str, str]) -> str:
    if kind == "hdr" or (kind == "ycsb" and path.suffix == HDR):
        return f"{said.get('operation') or row_of(path)}{HDR}"
    if kind == "ycsb":
        return "raw" if is_raw(path) else STDOUT
    return STDOUT


def _kept(kind: str, of: _OfCell, measured: Mapping[str, Measurement], places: Places, unit_s: float) -> CellImport:
    jobs = []
    for host, files in of.files.items():
        names = {name: str(path) for name, path in files.items()}
        window = measured[host].window
        manifest = Manifest(kind=kind, names=names, unit_s=unit_s, remark=of.remarks.get(host, ""))
        jobs.append(KeptJob(MEASURE, host, manifest, files, window if window[0] else None))
    together = Together(tuple(measured.values()), load=False).throughput(None)
    others = () if of.told_repeat else tuple(places.repeats(of.cell))
    if together is None:
        return CellImport(of.cell, tuple(jobs), None, others)
    failed = together.errors / max(1, together.count + together.errors)
    return CellImport(of.cell, tuple(jobs), together.ops_per_s, others, failed)


def with_samples(
    cells: list[CellImport],
    windows: Mapping[str, tuple[float, float]],
    plan: Plan,
    places: Places,
    where: Where,
    problems: list[Problem],
) -> list[CellImport]:
    """With the logs of what was sampled beside them, which are found by the patterns."""
    by_id = {each.cell.id: each for each in cells}
    for kind, pattern in where.samples:
        form = compiled(pattern)
        paths = sorted(Path(name) for name in glob.glob(as_glob(pattern)))  # noqa: PTH207  # relative or absolute
        if not paths:
            problems.append(Problem(pattern, None, f"no log of {kind} has such a path"))
        for path in paths:
            said = told_by(path, form, given_cell(where.cell)) or {}
            try:
                cell = places.cell(coordinates(said, places, where.experiment))
                each = by_id.get(cell.id)
                if each is None:
                    continue  # a log of a cell that is not imported
                job = _samples(kind, path, said.get("node", ""), cell, plan, windows[cell.id])
                by_id[cell.id] = replace(each, jobs=(*each.jobs, job))
            except (NoPlace, BadLog) as error:
                line = error.line if isinstance(error, BadLog) else None
                problems.append(Problem(str(path), line, str(error), getattr(error, "hint", "")))
    return list(by_id.values())


def _samples(kind: str, path: Path, node: str, cell: Cell, plan: Plan, window: tuple[float, float]) -> KeptJob:
    """Raises NoPlace where the cell has no such probe, or is at no known time, BadLog for a log that can't be read."""
    name = PROBES[kind]
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
        raise NoPlace(f"when {cell.id} was measured is not known", "give YCSB's HDR logs, or raw latencies, with it")
    read_samples(kind, path, fitting[0], window, str(probe.options.get("device", "")))
    manifest = Manifest(kind=kind, names={SAMPLES: str(path)})
    return KeptJob(f"{PROBE}{name}:{fitting[0]}", fitting[0], manifest, {SAMPLES: path}, window)
