"""Decides whether a run deserves an alarm, by comparing its values with the previous level of their series.

A value is suspicious if it, or the last few values together, lie beyond the noise of the level. The limit is corrected
for the number of series, and for how many different numbers of last values are tried. Suspicious quantities are
measured again. Only the new values decide on an alarm, because they did not influence the suspicion. So a false alarm
takes two coincidences.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from statistics import fmean
from typing import Literal, NamedTuple

from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.history.read_series import HistorySeries, SeriesKey, SeriesPart, SeriesValue
from benchbrief.history.series_changes import (
    ChangeVerdict,
    ControlLevel,
    LabShare,
    control_levels,
    lab_logs,
    lab_share,
    scaled,
    trend_of,
)
from benchbrief.model.message import Message, word
from benchbrief.results.compare.compared_quantities import is_not_given
from benchbrief.results.result_messages import say
from benchbrief.results.statistics.change_points import FEWEST, LENGTHS, departure, p_of_shift

SUSPICION = 10.0
"""How many suspicious nights to accept for each false alarm. A false suspicion costs only one more measurement."""
AGAIN = 5
"""How many times to measure a suspect again. Five repeats find a step of 2.5 times the noise in 99 of 100 cases."""
BESIDE = 5.0
"""How many times stricter the test against the control is. While a lab drifts, every night is suspicious, so for about
ten nights only this test prevents a false alarm."""
State = Literal[
    "ok", "better", "suspect", "alarm", "not confirmed", "lab", "known", "untested", "missing", "reused", "passed over"
]
"""The verdict on a series at a run. `passed over` means that this run, or most runs before it, chose other points to
measure. It is also the verdict if no run so far has the value, although nothing failed."""


@dataclass(frozen=True)
class GateRule:
    """The rule of a gate.

    `budget` is the share of nights that may have a false alarm, and `threshold` is the smallest change that counts. If
    `baseline` names a run, the level of that run is used instead of the last level. `imported` says whether the runs
    are imported. A value that no imported run has is missing because their source does not report it.
    """

    budget: float = 0.01
    threshold: float = 0.0
    baseline: str = ""
    imported: bool = False


@dataclass(frozen=True)
class JudgedSeries:
    """The verdict on a series at a run.

    The last `length` values are compared with the mean `level`, which begins at `since`. `change` is the mean of these
    values divided by the level, minus 1. It is None if the level is not above 0. `p` is corrected for the number of
    series, and for how many lengths were tried. `again` are the values that were measured again, and `again_p` is their
    p-value, corrected for the number of suspects.
    """

    series: HistorySeries
    state: State
    detail: str = ""
    value: float | None = None
    level: float | None = None
    change: float | None = None
    length: int = 0
    first: SeriesValue | None = None
    since: SeriesValue | None = None
    p: float | None = None
    before: tuple[float, ...] = ()
    """The values from which the level is computed."""
    before_runs: tuple[str, ...] = ()
    controls: tuple[ControlLevel, ...] = ()
    lab: LabShare | None = None
    verdict: ChangeVerdict | None = None
    part: SeriesPart | None = None
    """The part of the series that contains the run."""
    again: tuple[float, ...] = ()
    again_p: float | None = None
    runs_needed: int = 0
    """How many more runs at this level a test needs."""


class _At(NamedTuple):
    """A series up to the judged run, and the start of the level that the run is compared with. `known_as` is people's
    verdict on the change at that start. `noise` has their verdicts that a change is only noise."""

    series: HistorySeries
    part: SeriesPart
    known: tuple[SeriesValue, ...]
    start: int
    end: int
    known_as: ChangeVerdict | None
    noise: list[ChangeVerdict]


def judge_run(
    run_id: str,
    series: Sequence[HistorySeries],
    controls: Sequence[HistorySeries],
    rule: GateRule,
    verdicts: Sequence[ChangeVerdict] = (),
    reused: Collection[SeriesKey] = (),
) -> list[JudgedSeries]:
    """Judge each series of a run except controls, in order. No verdict here is worse than suspect, because only
    `confirm` raises alarms.

    `reused` are the keys of the series that the run took from an earlier run.
    """
    found: dict[int, JudgedSeries] = {}
    tested: dict[int, tuple[_At, JudgedSeries]] = {}
    vanished, runs = _vanished(run_id, series), _runs_by_environment(series)
    for place, each in enumerate(series):
        if each.control:
            continue
        part = _part_of(each, run_id)
        if part is None:
            if each.key in reused:
                found[place] = JudgedSeries(each, "reused", "taken from an earlier run, whose gate judges it")
            elif each.key in vanished and each.chosen:
                found[place] = JudgedSeries(
                    each, "passed over", "the run chose other points, and the run before it this one"
                )
            elif each.key in vanished:
                found[place] = JudgedSeries(each, "missing", "the run has no such value, and the run before it had one")
            continue
        at = _located(run_id, each, part, rule, verdicts)
        if isinstance(at, _At):
            tested[place] = at, _compared(at)
        elif at.state == "untested" and each.chosen and len(runs[part.environment]) > FEWEST:
            found[place] = replace(at, state="passed over", detail=f"{at.detail}; other runs chose other points")
        else:
            found[place] = at
    for place, (at, compared) in tested.items():
        found[place] = _suspected(at, compared, len(tested), rule, controls)
    return [found[place] for place in sorted(found)]


def _runs_by_environment(series: Sequence[HistorySeries]) -> Mapping[str, set[str]]:
    """Return the runs that have values in each environment."""
    found: dict[str, set[str]] = {}
    for part in (part for each in series for part in each.parts):
        found.setdefault(part.environment, set()).update(value.run_id for value in part.known)
    return found


def _part_of(series: HistorySeries, run_id: str) -> SeriesPart | None:
    return next((part for part in series.parts if any(each.run_id == run_id for each in part.values)), None)


def _vanished(run_id: str, series: Sequence[HistorySeries]) -> set[tuple[str, str, str, str]]:
    """Return the keys of the series that vanished: they have a value in the previous run of the same specs, but none in
    this run."""
    own = [each for each in series if _part_of(each, run_id)]
    specs = {(each.spec, each.profile) for each in own}
    alike = [each for each in series if (each.spec, each.profile) in specs]
    every = {each.run_id: each.at for one in alike for part in one.parts for each in part.values}
    earlier = [run for run, at in every.items() if at < every.get(run_id, at)]
    if not earlier:
        return set()
    before = max(earlier, key=lambda run: (every[run], run))
    had = {each.key for each in alike for part in each.parts for value in part.known if value.run_id == before}
    return {each.key for each in alike if each.key in had and not _part_of(each, run_id)}


@dataclass(frozen=True)
class Remeasured:
    """Values that were measured again: one for each repetition, or NaN if the value is missing.

    `values` has the values of the suspects, by their index among the judged series. `controls` has the values of the
    controls in the same runs, by key.
    """

    values: Mapping[int, Sequence[float]]
    controls: Mapping[tuple[str, str, str, str], Sequence[float]] = field(default_factory=dict)


def confirm(judged: Sequence[JudgedSeries], again: Remeasured, rule: GateRule) -> list[JudgedSeries]:
    """Judge the suspects by the values that were measured again.

    If a control was measured again too, the change must remain after the control's own change is subtracted. That test
    is `BESIDE` times stricter. Suspects with fewer than two new values remain suspect.
    """
    suspects = [place for place, each in enumerate(judged) if each.state == "suspect"]
    decided = list(judged)
    for place in suspects:
        each = judged[place]
        times = {turn: value for turn, value in enumerate(again.values.get(place, ())) if math.isfinite(value)}
        if len(times) < 2:
            continue
        values = list(times.values())
        p = min(1.0, p_of_shift(*_scaled_apart(each.before, values), _direction(each)) * len(suspects))
        found = replace(
            each, again=tuple(values), again_p=p, state="not confirmed", detail="measured again, it is gone"
        )
        if p < rule.budget:
            rest_p = _rest_p(each, again, times, len(suspects))
            if rest_p is None or rest_p < rule.budget / BESIDE:
                found = replace(found, state="alarm", detail=each.detail)
            else:
                said = "measured again, the control has changed as well, and nothing else is left: it is the lab's"
                found = replace(found, state="lab", detail=said)
        decided[place] = found
    return decided


def _rest_p(judged: JudgedSeries, again: Remeasured, times: Mapping[int, float], suspects: int) -> float | None:
    """Return the p-value of the change that remains after subtracting the controls' change, or None if no control was
    measured again.

    The test uses the difference in differences: the value of each run minus the value of its controls, before the
    suspicion and when measured again. So the test includes the noise of both.
    """
    levels = [each for each in judged.controls if each.series.key in again.controls]
    if not levels or min(judged.before) <= 0:
        return None
    lab = lab_logs(levels)
    sides = zip(judged.before_runs, judged.before, strict=True)
    before = [math.log(value) - lab[run] for run, value in sides if run in lab]
    rest = []
    for turn, value in times.items():
        measured = [(each, again.controls[each.series.key]) for each in levels]
        away = [each.away(of[turn]) for each, of in measured if turn < len(of) and of[turn] > 0]  # NaN is not above 0
        if away and value > 0:
            rest.append(math.log(value) - fmean(away))
    if min(len(rest), len(before)) < 2:
        return None
    return min(1.0, p_of_shift(before, rest, _direction(judged)) * suspects)


def _located(
    run_id: str, series: HistorySeries, part: SeriesPart, rule: GateRule, verdicts: Sequence[ChangeVerdict]
) -> _At | JudgedSeries:
    """Return where the level of a series begins, or the verdict on a series that can't be tested."""
    place = next(index for index, each in enumerate(part.values) if each.run_id == run_id)
    until = replace(part, values=part.values[: place + 1])
    last = part.values[place]
    if last.value is None:
        had = any(each.at < last.at for one in series.parts for each in one.known)
        never_given = not had and (rule.imported or _nothing_failed(last.reason))
        return JudgedSeries(series, "passed over" if never_given else "missing", last.reason)
    known = until.known
    of_series = [each for each in verdicts if each.is_on(series)]
    changes = [
        each.index for each in trend_of(replace(series, parts=(until,)), (), verdicts).changes if not each.is_noise
    ]
    answered = {
        index: each
        for each in of_series
        if each.verdict != "noise"
        for index in [index for index, value in enumerate(known) if value.run_id == each.run]
    }
    recent = len(known) - max(LENGTHS)
    # A change without a verdict begins a level only once it is older than the values that are tested.
    ends = sorted({*(index for index in changes if index <= recent), *answered})
    start = ends[-1] if ends else 0
    verdict = answered.get(start)
    end = len(known)
    if rule.baseline:
        verdict = None
        pinned = next((index for index, each in enumerate(known) if each.run_id == rule.baseline), None)
        if pinned is None:
            return JudgedSeries(series, "untested", f"{rule.baseline} has no value of it in this environment")
        start = max((index for index in changes if index <= pinned), default=0)
        end = min((index for index in changes if index > pinned), default=len(known))
    value = known[-1].value
    others = min(end, len(known) - 1) - start
    if others < FEWEST:
        why = f"{plural(max(others, 0), 'run')} at this level before it, and a test takes {FEWEST}"
        if len(part.values) <= FEWEST and len(series.parts) > 1:
            why += "; the environment or the definition is new"
        state: State = "known" if verdict else "untested"
        needed = FEWEST - max(others, 0)
        return JudgedSeries(series, state, why, value=value, since=known[start], verdict=verdict, runs_needed=needed)
    noise = [each for each in of_series if each.verdict == "noise"]
    return _At(series, part, known, start, end, verdict, noise)


_UNSHOWN = ("no_knee", "no_saturation", "no_steady", "no_usl", "two_repeats", "two_values", "none_fulfils")
"""The codes of a plan's reasons why a fully measured query has no value."""
_NO_VALUE = ("divided", "divided_by_zero", "no_such_value", *_UNSHOWN)


def _nothing_failed(reason: str) -> bool:
    """Return whether a value is missing although nothing failed, for example because there is no knee or the tool does
    not report the value."""
    if isinstance(reason, Message):
        parts = [str(part) for part in reason.args.values()] if reason.code == "both" else []
        return all(map(_nothing_failed, parts)) if parts else reason.code in _NO_VALUE or is_not_given(reason)
    never = (  # earlier series files have sentences without codes
        *(say.divided(), say.divided_by_zero(), say.no_such_value(), *map(word, _UNSHOWN)),
        *(say.gave_no_histogram(), say.not_printed(), say.gave_no(statistic="mean")),
        *(say.unmergeable(), say.over_repeats(said=say.unmergeable())),
    )
    return all(part in never for part in reason.split(say.both(first="", then="")))


def _compared(at: _At) -> JudgedSeries:
    """Compare the last values with the level. `p` is not yet corrected for the number of series."""
    values = [each.value for each in at.known if each.value is not None]
    shown = scaled(values)
    direction = {"higher": -1, "lower": 1, None: 0}[at.series.better]
    if at.end < len(values):  # the level of a pinned baseline ended earlier
        shown = [*shown[: at.end], *shown[max(at.end, len(values) - max(LENGTHS)) :]]
        values = [*values[: at.end], *values[max(at.end, len(values) - max(LENGTHS)) :]]
    worse, better = departure(shown, at.start, direction), departure(shown, at.start, -direction)
    found = worse if worse and (not better or worse.p <= better.p or not direction) else better
    if found is None or worse is None or better is None:
        raise AssertionError("a level was found before")  # of enough values for the shortest length
    before = tuple(values[at.start : len(values) - found.length])
    level = fmean(before)
    last = fmean(values[len(values) - found.length :])
    return JudgedSeries(
        at.series,
        "ok" if found is worse else "better",
        value=values[-1],
        level=level,
        change=last / level - 1 if level > 0 else None,
        length=found.length,
        first=at.known[-found.length],
        since=at.known[at.start],
        p=found.p,
        before=before,
        part=at.part,
        verdict=at.known_as,
    )


def _suspected(
    at: _At, found: JudgedSeries, tests: int, rule: GateRule, controls: Sequence[HistorySeries]
) -> JudgedSeries:
    p = min(1.0, (found.p if found.p is not None else 1.0) * tests)
    found = replace(found, p=p)
    small = found.change is not None and abs(found.change) < rule.threshold
    if p >= rule.budget * SUSPICION or small:
        return replace(found, state="ok", detail="within the threshold" if small and p < rule.budget else "")
    if found.state == "better":
        return found
    begun = len(at.known) - found.length
    if verdict := next((each for each in at.noise if each.is_near(at.known, begun)), None):
        return replace(found, state="known", verdict=verdict, detail="")
    before = at.known[at.start : min(at.end, begun)]
    found = replace(
        found,
        before=tuple(each.value for each in before if each.value is not None),
        before_runs=tuple(each.run_id for each in before),
        controls=control_levels(at.series, before, controls),
    )
    after = at.known[begun:]
    lab = lab_share(at.series, before, after, controls)
    if lab is not None and lab.is_lab:
        said = f"the control changed by {lab.change - 1:+.1%} in the same runs: it is the lab's"
        return replace(found, state="lab", lab=lab, detail=said)
    said = ""
    if lab is not None and lab.is_part:
        said = f"the control changed by {lab.change - 1:+.1%} in the same runs; {lab.rest - 1:+.1%} is left"
    return replace(found, state="suspect", lab=lab, detail=said)


def _scaled_apart(level: Sequence[float], values: Sequence[float]) -> tuple[list[float], list[float]]:
    both = scaled([*level, *values])
    return both[: len(level)], both[len(level) :]


def _direction(judged: JudgedSeries) -> int:
    """Return 1 if a rise is worse, or -1 if a fall is worse. If the series does not say which direction is better, the
    direction of its own change counts as worse."""
    if judged.series.better is not None:
        return -1 if judged.series.better == "higher" else 1
    return int(math.copysign(1, (judged.change or 0.0)))
