"""Warnings of power: meters that nothing reads, and hosts without a meter."""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.blocks.experiments.experiments import Matrix
from benchbrief.compiler.blocks.power import meter_errors
from benchbrief.compiler.frontend import name_errors
from benchbrief.compiler.frontend.declarations import Declarations
from benchbrief.compiler.model.profiles import meters_left_behind
from benchbrief.compiler.planning.plan import Boundary
from benchbrief.compiler.problems import Findings


def warn_of_power(found: Declarations, matrices: tuple[Matrix, ...], profile: str | None, findings: Findings) -> None:
    """Warn of meters that nothing reads, and of hosts for which the profile names no meter."""
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
            findings.add(meter_errors.MixedBoundaries(m.span, m.experiment.name, parts))
