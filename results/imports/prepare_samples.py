"""Logs of samples beside imported measurements: each to its cell, host and probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from benchbrief.compiler.extensions.registry import IMPORTER_SPECS
from benchbrief.compiler.planning.plan import Cell, Plan
from benchbrief.results.imports.cell_files import Where, find_files
from benchbrief.results.imports.cell_matching import NoPlace, Places
from benchbrief.results.imports.import_manifest import Manifest
from benchbrief.results.imports.import_problems import Problem
from benchbrief.results.imports.importer_seams import BadLog
from benchbrief.results.imports.keep_import import CellImport, KeptJob
from benchbrief.results.imports.read_imported import read_samples, sample_importer
from benchbrief.results.kept_jobs import PROBE, SAMPLES
from benchbrief.runners.plugins import spec_of


def with_samples(
    cells: list[CellImport],
    windows: Mapping[str, tuple[float, float]],
    plan: Plan,
    places: Places,
    where: Where,
    problems: list[Problem],
) -> list[CellImport]:
    """Add the sample logs, which the patterns find. `windows` are the measured times of the cells by their ids."""
    by_id = {each.cell.id: each for each in cells}
    for kind, pattern in where.samples:
        sample_importer(kind)  # reports a wrong importer before any search for logs
        found = list(find_files(pattern, "", places, where))
        if not found:
            problems.append(Problem(pattern, None, f"no log of {kind} has such a path"))
        for path, said, cell in found:
            if isinstance(cell, Problem):
                problems.append(cell)
                continue
            if (each := by_id.get(cell.id)) is None:
                continue  # a log of a cell that is not imported
            try:
                job = _samples(kind, path, said.get("node", ""), cell, plan, windows[cell.id])
                by_id[cell.id] = replace(each, jobs=(*each.jobs, job))
            except (NoPlace, BadLog) as error:
                line = error.line if isinstance(error, BadLog) else None
                problems.append(Problem(str(path), line, str(error), error.hint))
    return list(by_id.values())


def _samples(kind: str, path: Path, node: str, cell: Cell, plan: Plan, window: tuple[float, float]) -> KeptJob:
    """Return a sample log as a job. Raises NoPlace when the cell lacks the probe or a known time, BadLog for a bad
    log."""
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
        raise NoPlace(f"when {cell.id} was measured is not known", "give YCSB's HDR logs, or raw latencies, with it")
    read_samples(kind, path, fitting[0], window, str(probe.options.get("device", "")))
    manifest = Manifest(kind=kind, names={SAMPLES: str(path)})
    return KeptJob(f"{PROBE}{name}:{fitting[0]}", fitting[0], manifest, {SAMPLES: path}, window)
