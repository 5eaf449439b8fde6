"""Whether a change is the lab's: whether the control series, on which nothing under test runs, changed with it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchbrief.results.history.read_series import Measured, Series
from benchbrief.results.statistics.change_points import p_of_means

LEVEL = 0.01
"""The control changed when it differs at this level; nothing is left when the rest does not."""


@dataclass(frozen=True)
class LabShare:
    """What the control did at a change. `change` is its own, and `rest` what is left of the series' without it, as
    ratios of after to before; `p` and `rest_p` are those of their t tests."""

    controls: int
    change: float
    p: float
    rest: float
    rest_p: float
    same_way: bool

    @property
    def is_lab(self) -> bool:
        """Return whether the lab explains the change: the control went the same way, and nothing is left."""
        return self.same_way and self.p < LEVEL and self.rest_p >= LEVEL

    @property
    def is_part(self) -> bool:
        """Return whether the lab explains a part of it."""
        return self.same_way and self.p < LEVEL and self.rest_p < LEVEL


@dataclass(frozen=True)
class ControlLevel:
    """A control series beside another one. `logs` has its logarithms by run around its level before a change, and
    `level` that level, both with the `sign` by which the two change together."""

    series: Series
    sign: float
    level: float
    logs: Mapping[str, float]

    def away(self, value: float) -> float:
        """Return how far a value above 0 lies from the level."""
        return self.sign * math.log(value) - self.level


def control_levels(series: Series, before: Sequence[Measured], controls: Sequence[Series]) -> tuple[ControlLevel, ...]:
    """Return the controls of a series, with their level in the runs before a change.

    Those of the same spec, profile and quantity count; where there is none, their throughput does, with the other sign
    for what is better when it is lower. None for values that are not above 0.
    """
    if series.control or any(each.value is None or each.value <= 0 for each in before):
        return ()
    beside = [each for each in controls if (each.spec, each.profile) == (series.spec, series.profile)]
    alike, sign = [each for each in beside if each.quantity == series.quantity], 1.0
    if not alike:
        alike = [each for each in beside if each.quantity == "throughput"]
        sign = -1.0 if series.better == "lower" else 1.0
    runs = {each.run_id for each in before}
    found = []
    for control in alike:
        for part in control.parts:  # the part that is of the same environment all along has most of the runs
            logs = {each.run_id: sign * math.log(each.value) for each in part.values if each.value and each.value > 0}
            if there := runs & logs.keys():
                level = fmean(logs[run] for run in there)
                found.append(ControlLevel(control, sign, level, {run: value - level for run, value in logs.items()}))
                break
    return tuple(found)


def lab_share(
    series: Series, before: Sequence[Measured], after: Sequence[Measured], controls: Sequence[Series]
) -> LabShare | None:
    """Compare a change with the control series in the same runs.

    None where no control was measured on both sides, and for values that are not above 0.
    """
    import numpy as np

    levels = control_levels(series, before, controls)
    if any(each.value is None or each.value <= 0 for each in after):
        return None
    runs = {each.run_id for each in after}
    lab = lab_logs([each for each in levels if runs & each.logs.keys()])
    sides = [[each for each in side if each.run_id in lab] for side in (before, after)]
    if not all(sides) or sum(map(len, sides)) < 3:
        return None
    of_lab = [np.array([lab[each.run_id] for each in side]) for side in sides]
    own = [np.array([math.log(each.value) for each in side if each.value]) for side in sides]
    of_rest = [one - other for one, other in zip(own, of_lab, strict=True)]
    change, rest, whole = (float(each[1].mean() - each[0].mean()) for each in (of_lab, of_rest, own))
    return LabShare(
        len(levels), math.exp(change), p_of_means(*of_lab), math.exp(rest), p_of_means(*of_rest), change * whole > 0
    )


def lab_logs(levels: Sequence[ControlLevel]) -> dict[str, float]:
    """Return how far the controls lie from their level in each run, as a mean logarithm."""
    runs = set[str]().union(*(each.logs for each in levels))
    return {run: fmean(each.logs[run] for each in levels if run in each.logs) for run in runs}
