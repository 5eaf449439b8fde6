"""From finished outputs of tools to what would be kept of them: each file to its cell, and all of them read once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchbrief.compiler.plan import Cell, Plan
from benchbrief.results.errors import ResultsError
from benchbrief.results.imports.keep import CellImport, KeptJob, Prepared, described
from benchbrief.results.imports.manifest import Manifest
from benchbrief.results.imports.outputs import HDR, OutputProblem, read_output
from benchbrief.results.imports.patterns import compiled, coordinates, given_cell, told_by
from benchbrief.results.imports.places import NoPlace, Places
from benchbrief.results.imports.problems import ImportRefused, Problem
from benchbrief.results.imports.raw_latencies import is_raw
from benchbrief.results.imports.source import Source, require
from benchbrief.results.measured import MEASURE
from benchbrief.runners.measurement import Measurement, Together

STDOUT = "stdout"


@dataclass
class _OfCell:
    """The files of a cell, by load generator and by the names that they are kept under."""

    cell: Cell
    files: dict[str, dict[str, Path]] = field(default_factory=dict)
    told_repeat: bool = False


@dataclass(frozen=True)
class Where:
    """What the command line says of the files' cells."""

    pattern: str = ""
    cell: str = ""
    experiment: str = ""
    unit_s: float = 1e-6


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
    kept: list[CellImport] = []
    for of in cells.values():
        measured: dict[str, Measurement] = {}
        for host, files in of.files.items():
            progress(f"reading {next(iter(files.values()))}")
            try:
                measured[host] = read_output(kind, files, plan.workloads[of.cell.workload].benchmark, where.unit_s)
            except OutputProblem as error:
                problems.append(Problem(str(files.get(error.name, error.name)), error.line, str(error), error.hint))
        if len(measured) == len(of.files):
            kept.append(_kept(kind, of, measured, places, where.unit_s))
    if problems and not (skip_bad and kept):
        raise ImportRefused(problems)
    used = dict.fromkeys(path for each in kept for job in each.jobs for path in job.files.values())
    described_files = tuple((path, described(path)) for path in used)
    return Prepared(kind, source, described_files, tuple(kept), problems=tuple(problems))


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
        except ValueError as error:
            problems.append(Problem(str(path), None, f"not a number in its path: {error}"))
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


def _beside(
    path: Path, paths: Sequence[Path], pattern: re.Pattern[str] | None, given: Mapping[str, str]
) -> dict[str, str] | None:
    """What is said of the output that stands in the same folder as a log."""
    near = [other for other in paths if other.parent == path.parent and other.suffix != HDR]
    fitting = [said for other in near if (said := told_by(other, pattern, given))]
    return fitting[0] if len(fitting) == 1 else None


def _name(kind: str, path: Path, said: Mapping[str, str]) -> str:
    if kind == "hdr" or (kind == "ycsb" and path.suffix == HDR):
        return f"{said.get('operation') or path.stem}{HDR}"
    if kind == "ycsb":
        return "raw" if is_raw(path) else STDOUT
    return STDOUT


def _kept(kind: str, of: _OfCell, measured: Mapping[str, Measurement], places: Places, unit_s: float) -> CellImport:
    jobs = []
    for host, files in of.files.items():
        names = {name: str(path) for name, path in files.items()}
        window = measured[host].window
        manifest = Manifest(kind=kind, names=names, unit_s=unit_s)
        jobs.append(KeptJob(MEASURE, host, manifest, files, window if window[0] else None))
    together = Together(tuple(measured.values()), load=False).throughput(None)
    others = () if of.told_repeat else tuple(places.repeats(of.cell))
    return CellImport(of.cell, tuple(jobs), together.ops_per_s if together else None, others)
