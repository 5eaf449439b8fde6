"""Why each point of the adaptive ramps and searches of a run was chosen, as its journal says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from benchbrief.results.ingest.run_evidence import Evidence


@dataclass(frozen=True)
class Choice:
    """The `number`th point of a ramp, which its hardware shares."""

    experiment: str
    hardware: tuple[str, ...]
    workload: str
    axis: Literal["threads", "target"]
    point: float
    number: int
    why: str


def explain_choices(evidence: Evidence) -> Iterator[Choice]:
    """Yield the choices ramp by ramp, in their order."""
    for of_ramp in evidence.record.choices.values():
        for each in of_ramp.values():
            place = (each.experiment, each.hardware, each.workload, each.axis)
            yield Choice(*place, each.point, each.number, each.why)
