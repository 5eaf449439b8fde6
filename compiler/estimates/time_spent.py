"""What the time of a plan is spent on: seconds by activity, in each experiment and in all.

The seconds of hosts that work side by side add up here. `estimate` says how long the whole takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from benchbrief.compiler.estimates.counted_cells import counted_cells
from benchbrief.compiler.estimates.estimate import alone, lanes
from benchbrief.compiler.planning.plan import Cell, Plan, Step, StepKind
from benchbrief.dsl.diagnostics.plain_amounts import duration

Activity = Literal["loading", "resets", "warm_up", "measuring", "cooling", "start_up", "rendering"]
"""`resets` bring back a loaded data set without loading it. `start_up` has the collecting of outputs too."""
ACTIVITIES: tuple[Activity, ...] = get_args(Activity)
ACTIVITY_WORDS: Mapping[Activity, str] = {
    "loading": "loading",
    "resets": "resets",
    "warm_up": "warm-up",
    "measuring": "measuring",
    "cooling": "cooling down",
    "start_up": "start-up",
    "rendering": "rendering",
}
"""What users read of each."""
Spent = Mapping[Activity, float]
"""Seconds by activity."""

_SHOWN_SHARE = 0.01
"""An estimate names the time of the brief when it is this share of the whole or more."""
RENDERING_S = 10.0
"""The built-in estimate for one report: its tables, figures and pages."""

_ACTIVITIES: Mapping[StepKind, Activity] = {
    "prepare": "start_up",
    "load": "loading",
    "warm_up": "warm_up",
    "measure": "measuring",
    "collect": "start_up",
    "cool_down": "cooling",
}


@dataclass(frozen=True)
class TimeSpent:
    """The seconds of each activity, by experiment, and those of rendering the reports."""

    experiments: Mapping[str, Spent]
    rendering_s: float

    @property
    def in_all(self) -> Spent:
        every: tuple[Spent, ...] = (*self.experiments.values(), {"rendering": self.rendering_s})
        return {each: sum(spent.get(each, 0.0) for spent in every) for each in ACTIVITIES}

    def as_dict(self) -> dict[str, object]:
        return {"in_all": _as_dict(self.in_all), "experiments": {k: _as_dict(v) for k, v in self.experiments.items()}}


def time_spent(plan: Plan, rendering_s: float | None = None) -> TimeSpent:
    """Add up the steps of a plan's cells. `rendering_s` is for all reports; None for the built-in estimate."""
    found: dict[str, dict[Activity, float]] = {name: dict.fromkeys(ACTIVITIES, 0.0) for name in plan.experiments}
    cells = alone(plan.cells, counted_cells(plan.cells, plan.experiments))
    last = _last_of_lanes(cells)
    for cell in cells:
        for step in cell.steps:
            if step.kind != "cool_down" or cell.id not in last:
                found[cell.experiment][activity_of(step)] += step.seconds
    return TimeSpent(found, RENDERING_S * len(plan.reports) if rendering_s is None else rendering_s)


def rendering_text(rendering_s: float, wall_s: float) -> str:
    """Return how much of an estimate is for the brief, as the end of a sentence; "" where that is next to nothing."""
    return (
        f", {duration(round(rendering_s))} of it for the brief"
        if rendering_s >= max(1.0, _SHOWN_SHARE * wall_s)
        else ""
    )


def activity_of(step: Step) -> Activity:
    """Return the activity that a step belongs to."""
    return "resets" if step.reset not in ("", "load") else _ACTIVITIES[step.kind]


def _last_of_lanes(cells: Iterable[Cell]) -> set[str]:
    """Return the ids of the cells that no cool-down follows."""
    cells = list(cells)
    lane = lanes(cells)
    return set({lane[cell.id]: cell.id for cell in cells}.values())


def _as_dict(spent: Spent) -> dict[str, float]:
    total = sum(spent.values())
    return {**{f"{name}_s": round(seconds, 3) for name, seconds in spent.items()}, "total_s": round(total, 3)}
