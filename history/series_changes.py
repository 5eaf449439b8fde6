"""The changes in series: when they happened, how large and certain they are, whether the lab caused them, and people's
verdicts on them."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.history.read_series import HistorySeries, SeriesPart, SeriesValue
from benchbrief.results.statistics.change_points import LEVEL, change_points, p_of_means
from benchbrief.results.statistics.significance import ratio_of
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.journal.atomic_files import write_durably

VERDICTS = "bench-verdicts.toml"
VerdictWord = Literal["accept", "bug", "noise"]
_NEAR = 2
"""How many runs a change may have moved since a verdict on it was written."""
_HEAD = "# What people say of changes in the results: accept, bug or noise. `bench gate --accept` adds to it.\n"


class ChangeVerdict(BaseModel):
    """A verdict on the change that begins at the run `run`. It applies to all points with the keys in `at`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    run: str
    quantity: str
    at: dict[str, str | int | float] = Field(default_factory=dict)
    verdict: VerdictWord
    note: str = ""

    def is_on(self, series: HistorySeries) -> bool:
        """Return whether the verdict is about a change of this series, at any run."""
        return self.quantity == series.quantity and all(series.point.get(dim) == key for dim, key in self.at.items())

    def is_near(self, values: Sequence[SeriesValue], index: int) -> bool:
        """Return whether the verdict is about the change right before the value at `index`."""
        return any(each.run_id == self.run for each in values[max(0, index - _NEAR) : index + _NEAR + 1])


def read_verdicts(path: Path) -> tuple[ChangeVerdict, ...]:
    """Return the verdicts in a file, or none if the file does not exist. Raises ResultsError for an invalid file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ResultsError(f"{path} can't be read: {error.strerror}", "check its permissions") from error
    except ValueError as error:
        raise ResultsError(f"{path} is no TOML: {error}", "mend it, or take it back from git") from error
    strange = ", ".join(name for name in content if name != "change")
    changes = content.get("change", [])
    if strange or not isinstance(changes, list):
        raise ResultsError(f"{path} has {strange or 'a wrong `change`'}", "each verdict is a table [[change]]")
    found = []
    for place, change in enumerate(changes, 1):
        try:
            found.append(ChangeVerdict.model_validate(change))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ResultsError(
                f"{path}: [[change]] number {place}: {where or 'it'}: {first['msg']}",
                'it has run, quantity, verdict ("accept", "bug" or "noise"), and may have at and note',
            ) from error
    return tuple(found)


def add_verdicts(path: Path, verdicts: Sequence[ChangeVerdict]) -> None:
    """Add verdicts at the end of the file, and leave the rest of its contents unchanged. Raises ResultsError."""
    read_verdicts(path)
    try:
        there = path.read_text(encoding="utf-8") if path.exists() else _HEAD
        text = there + "".join(_text(each) for each in verdicts)
        write_durably(path, text.encode("utf-8"))
    except OSError as error:
        raise ResultsError(f"{path} can't be written: {error.strerror}", "name another file: --verdicts") from error


def _text(verdict: ChangeVerdict) -> str:
    at = ", ".join(f"{_toml(dim)} = {_toml(key)}" for dim, key in sorted(verdict.at.items()))
    note = f"note = {_toml(verdict.note)}\n" if verdict.note else ""
    return (
        f"\n[[change]]\nrun = {_toml(verdict.run)}\nquantity = {_toml(verdict.quantity)}\nat = {{ {at} }}\n"
        f"verdict = {_toml(verdict.verdict)}\n{note}"
    )


def _toml(value: str | float) -> str:
    """Convert a value to TOML. TOML's basic strings use the escapes of JSON, and must escape DEL as well."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def verdict_on(
    verdicts: Sequence[ChangeVerdict], series: HistorySeries, values: Sequence[SeriesValue], index: int
) -> ChangeVerdict | None:
    """Return the last verdict on a change, or None if there is none."""
    return next((each for each in reversed(verdicts) if each.is_on(series) and each.is_near(values, index)), None)


CONTROL_LEVEL = 0.01
"""The significance level for two questions: whether the control changed, and whether a change remains after the
control's change is subtracted."""


@dataclass(frozen=True)
class LabShare:
    """How the control behaved at a change.

    `change` is the control's ratio of after to before. `rest` is the series' ratio, divided by the control's ratio. `p`
    and `rest_p` are the p-values of the t tests of these two ratios.
    """

    controls: int
    change: float
    p: float
    rest: float
    rest_p: float
    same_way: bool

    @property
    def is_lab(self) -> bool:
        """Return True if the lab explains the change: the control changed in the same direction, and no change remains
        after the control's change is taken out."""
        return self.same_way and self.p < CONTROL_LEVEL and self.rest_p >= CONTROL_LEVEL

    @property
    def is_part(self) -> bool:
        """Return True if the control changed in the same direction, but a change remains after the control's change is
        taken out."""
        return self.same_way and self.p < CONTROL_LEVEL and self.rest_p < CONTROL_LEVEL


@dataclass(frozen=True)
class ControlLevel:
    """The values of a control series, relative to the control's level before a change of another series.

    `level` is the mean of the control's logarithms before the change, and `logs` has each run's logarithm minus that
    level. Both are multiplied by `sign`, so that the two series move in the same direction.
    """

    series: HistorySeries
    sign: float
    level: float
    logs: Mapping[str, float]

    def away(self, value: float) -> float:
        """Return how far a value above 0 lies from the level, as a logarithm."""
        return self.sign * math.log(value) - self.level


def control_levels(
    series: HistorySeries, before: Sequence[SeriesValue], controls: Sequence[HistorySeries]
) -> tuple[ControlLevel, ...]:
    """Return the controls of a series, with their level in the runs before a change.

    The controls have the same spec, profile and quantity as the series. If there are none, the controls of throughput
    are used. Their sign is reversed if lower is better for the quantity. No controls are returned if a value is not
    above 0.
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
        for part in control.parts:  # the part whose environment never changed has most of the runs
            logs = {each.run_id: sign * math.log(each.value) for each in part.values if each.value and each.value > 0}
            if there := runs & logs.keys():
                level = fmean(logs[run] for run in there)
                found.append(ControlLevel(control, sign, level, {run: value - level for run, value in logs.items()}))
                break
    return tuple(found)


def lab_share(
    series: HistorySeries,
    before: Sequence[SeriesValue],
    after: Sequence[SeriesValue],
    controls: Sequence[HistorySeries],
) -> LabShare | None:
    """Compare a change with the control series in the same runs.

    Returns None if no control was measured on both sides, or if a value is not above 0.
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
    """For each run, return how far the controls are from their level: the mean of their logarithms minus the level."""
    runs = set[str]().union(*(each.logs for each in levels))
    return {run: fmean(each.logs[run] for each in levels if run in each.logs) for run in runs}


@dataclass(frozen=True)
class Change:
    """A change right before the value at `index` of a part's known values.

    `before` and `after` are the means between the neighbouring changes, in the quantity's unit. `ratio` is `after`
    divided by `before`, with its 95 % interval. It is None if `before` is not above 0. `p` is the p-value of the t
    test. `worse` is None if it is unknown which direction is better for the quantity.
    """

    index: int
    last: SeriesValue
    first: SeriesValue
    before: float
    after: float
    ratio: float | None
    interval: tuple[float, float] | None
    p: float
    worse: bool | None
    lab: LabShare | None
    verdict: ChangeVerdict | None

    @property
    def is_noise(self) -> bool:
        return self.verdict is not None and self.verdict.verdict == "noise"


@dataclass(frozen=True)
class PartTrend:
    part: SeriesPart
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Trend:
    """A series, with the changes in each of its parts, the oldest first."""

    series: HistorySeries
    parts: tuple[PartTrend, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(change for part in self.parts for change in part.changes)


def trend_of(
    series: HistorySeries,
    controls: Sequence[HistorySeries] = (),
    verdicts: Sequence[ChangeVerdict] = (),
) -> Trend:
    """Find the changes of a series, separately in each part."""
    parts = (PartTrend(part, _changes(series, part, controls, verdicts)) for part in series.parts)
    return Trend(series, tuple(parts))


def scaled(values: Sequence[float]) -> list[float]:
    """Return the logarithms of the values if all are above 0, because noise is proportional to the value. Otherwise,
    return the values."""
    return [math.log(value) for value in values] if min(values, default=0.0) > 0 else list(values)


def _changes(
    series: HistorySeries,
    part: SeriesPart,
    controls: Sequence[HistorySeries],
    verdicts: Sequence[ChangeVerdict],
) -> tuple[Change, ...]:
    known = part.known
    values = [each.value for each in known if each.value is not None]
    found = change_points(scaled(values), level=LEVEL)
    ends = [0, *(each.index for each in found), len(values)]
    changes = []
    for low, each, high in zip(ends, found, ends[2:], strict=False):
        before, after = values[low : each.index], values[each.index : high]
        logarithms = min(values) > 0  # as `scaled`
        ratio = ratio_of(before, after, by_ratio=logarithms) if min(before) > 0 else None
        interval = (ratio.low, ratio.high) if ratio and ratio.low is not None and ratio.high is not None else None
        rises = ratio.value > 1 if ratio and logarithms else fmean(after) > fmean(before)
        changes.append(
            Change(
                each.index,
                known[each.index - 1],
                known[each.index],
                fmean(before),
                fmean(after),
                ratio.value if ratio else None,
                interval,
                each.p,
                None if series.better is None else rises == (series.better == "lower"),
                lab_share(series, known[low : each.index], known[each.index : high], controls),
                verdict_on(verdicts, series, known, each.index),
            )
        )
    return tuple(changes)
