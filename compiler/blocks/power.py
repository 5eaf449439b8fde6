"""What is to be said of power before anything is run: meters that nothing reads, and hosts without one."""

from __future__ import annotations

from benchbrief.compiler import errors
from benchbrief.compiler.blocks.experiments import Matrix
from benchbrief.compiler.blocks.profiles import meters_left_behind
from benchbrief.compiler.declarations import Declarations
from benchbrief.compiler.errors import Findings


def warn_of_power(found: Declarations, matrices: tuple[Matrix, ...], profile: str | None, findings: Findings) -> None:
    """Meters that nothing reads, and hosts whose meters the profile does not tell."""
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
            findings.add(errors.UnsampledMeter(span, group, tuple(names)))
