"""Judges whether a second run confirms the claims of a first one, claim by claim.

A number is reproduced if the second run's number is near it, and the repeats leave no room for a change that matters. A
change matters if it is larger than a margin, 10 % by default. For a claim that compares, the margin is at most the
share that would undo the claimed effect, so that 1 % more does not confirm "10 % more". The verdict depends on the
ratio of the two numbers, and on the ratio's confidence interval:

- The number holds if the ratio is within half the margin, and the whole interval within the margin.
- It does not hold if the ratio is beyond half the margin, and the interval excludes "no change".
- Otherwise it is not decided.

A number that promises "at least" or "at most" still holds if it is better, by any amount. Any other number that is
better than stated counts as a different number. If sizes and counts do not vary, the ratio alone decides.

With enough repeats, every number reaches one of the first two verdicts. They use two tests: the test of a difference
(B. L. Welch, with logarithms or ranks: see `significance.py`), and the test of equivalence, which requires the whole
interval to be within the margin: D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power
approach for assessing the equivalence of average bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15
(1987). All claims share the chance of an error, by C. E. Bonferroni's inequality, as the claims of a brief do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.results.analysis.stated_numbers import StatedNumber, ValueAt, distinct_numbers
from benchbrief.results.statistics.significance import (
    IntervalEstimate,
    do_not_vary,
    ratio_of,
    ratio_to_one,
    repeats_until,
)

MARGIN = 0.1
"""The largest difference between two numbers, as a share, that does not matter to a reader."""
MOST_REPEATS = 200
"""The most repeats to suggest for reaching a decision."""
_SHARES = {"": 1.0, "1": 1.0, "%": 100.0}
"""For each unit of shares, the number that means "the whole"."""

ReproductionVerdict = Literal["holds", "fails", "open", "unlike"]
"""`open` means not decided, and `unlike` means not comparable."""
Why = Literal[
    "near",
    "beyond",
    "equal",
    "exact",
    "changed",
    "changed_exact",
    "wide",
    "noisy",
    "noisy_before",
    "still",
    "endless",
    "once",
    "missing",
    "missing_before",
    "machine",
    "settings",
    "altered",
    "unmetered",
    "origin",
    "defined",
    "gone",
    "unsaid",
    "same",
    "other",
    "vague",
]
"""The reason for a verdict. The catalogues have the words for each reason."""
StatementName = tuple[Literal["claim", "expect", "number"], str]
"""The kind and the name of a stated number."""
Unlike = Literal["", "machine", "settings", "origin"]
"""The reason why absolute numbers of the two runs can't be compared. For `origin`, relative numbers can't be compared
either."""


@dataclass(frozen=True)
class Reproduced:
    """The verdict on one stated number.

    `before` and `now` are the two runs' numbers at `place`, the place where they differ most. `ratio` is `now` divided
    by `before`, with a confidence interval at `level`. `margin` is the share by which they may differ. `more` is the
    number of repeats with which the second run would reach a decision. It is None if the verdict is decided already, or
    if no number of repeats would decide it.
    """

    stated: StatedNumber
    verdict: ReproductionVerdict
    why: Why
    before: float | None = None
    now: float | None = None
    place: str = ""
    ratio: IntervalEstimate | None = None
    level: float = 0.0
    margin: float = MARGIN
    more: int | None = None

    def document(self) -> dict[str, object]:
        found = self.ratio
        return {
            "kind": self.stated.kind,
            "name": self.stated.name,
            "sentence": self.stated.sentence,
            "verdict": self.verdict,
            "why": self.why,
            "unit": self.stated.unit,
            "at": self.place,
            "before": self.before,
            "now": self.now,
            "ratio": found and found.value,
            "low": found and found.low,
            "high": found and found.high,
            "level": self.level or None,
            "margin": self.margin,
            "repeats_to_decide": self.more,
        }


def judge_reproduction(
    before: Sequence[StatedNumber],
    now: Sequence[StatedNumber],
    unlike: Unlike = "",
    margin: float = MARGIN,
    refused_for: Mapping[StatementName, Why] = MappingProxyType({}),
) -> list[Reproduced]:
    """Return the verdict on each number of a first run, given the numbers of a second run. `refused_for` says why a
    number can't be compared, because the second run measured something else."""
    here = {(each.kind, each.name): each for each in now}
    pairs = [(each, here.get((each.kind, each.name))) for each in before]
    refused = [_why_unlike(one, other, unlike) or refused_for.get((one.kind, one.name)) for one, other in pairs]
    judged = [one for (one, _), why in zip(pairs, refused, strict=True) if not why]
    tested = distinct_numbers(one for one in judged if one.kind == "claim")
    tested += sum(len(one.values) for one in judged if one.kind == "number")
    found: list[Reproduced] = []
    for (one, other), why in zip(pairs, refused, strict=True):
        if other is None or why:
            found.append(_not_judged(one, other, why or "gone"))
            continue
        level = 1 - (1 - max(one.level, other.level)) / max(1, tested)
        most = _most_different(one, other, level, margin)
        found.append(_of_expectation(one, other, most) if one.kind == "expect" else most)
    return found


def _why_unlike(one: StatedNumber, other: StatedNumber | None, unlike: Unlike) -> Why | None:
    if not one.is_said:
        return "unsaid"
    if other is None:
        return "gone"
    if (one.expression, one.unit) != (other.expression, other.unit):
        return "defined"
    if unlike and (unlike == "origin" or not one.is_relative):
        return unlike
    return None


def _not_judged(one: StatedNumber, other: StatedNumber | None, why: Why) -> Reproduced:
    first = one.values[0] if one.values else ValueAt(value=None)
    now = next((each.value for each in other.values if each.place == first.place), None) if other else None
    return Reproduced(one, "unlike", why, first.value, now, first.place)


def _most_different(one: StatedNumber, other: StatedNumber, level: float, margin: float) -> Reproduced:
    """Return the verdict on numbers at the place where they differ most. A claim has only one place. A number that a
    brief shows holds only if it holds at every place."""
    there = {each.place: each for each in other.values}
    if one.kind == "claim":
        pairs = [(each, next(iter(other.values), ValueAt(value=None))) for each in one.values]
    else:
        pairs = [(each, there.get(each.place, ValueAt(value=None))) for each in one.values]
    found = [_of_number(one, other, first, second, level, margin) for first, second in pairs]
    return max(found, key=_distance, default=Reproduced(one, "open", "missing_before"))


def _distance(found: Reproduced) -> tuple[int, float]:
    worse = ("holds", "open", "fails").index(found.verdict) if found.stated.kind == "number" else 0
    return worse, abs(math.log(found.ratio.value)) if found.ratio and found.ratio.value > 0 else -1.0


def _of_number(
    one: StatedNumber, other: StatedNumber, first: ValueAt, second: ValueAt, level: float, margin: float
) -> Reproduced:
    if first.value is None or second.value is None:
        why: Why = "missing_before" if first.value is None else "missing"
        return Reproduced(one, "open", why, first.value, second.value, first.place, level=level, margin=margin)
    a, b = _scaled(one, first), _scaled(one, second)
    if effect := _effect(one, first.value):
        margin = min(margin, -math.expm1(-effect))
    ratio = _ratio(one, a, b, level)
    made = Reproduced(one, "open", "once", first.value, second.value, first.place, ratio, level, margin, None)
    if do_not_vary(a, b):
        return _of_still(made, a, b, is_exact=one.exact and other.exact)
    if ratio is None or ratio.low is None or ratio.high is None or not ratio.low > 0:
        return _changed(made, "open", "endless")
    low, middle, high = (math.log(end) for end in (ratio.low, ratio.value, ratio.high))
    least, most = _within(one, margin / 2)
    lowest, highest = _within(one, margin)
    is_near = least <= middle <= most
    if is_near and lowest <= low and high <= highest:
        return _changed(made, "holds", "beyond" if one.bound else "near")
    if not is_near and (low > 0 or high < 0):
        return _changed(made, "fails", "changed")
    return _undecided(made, a, b, min(middle - lowest, highest - middle) if is_near else abs(middle))


def _within(one: StatedNumber, share: float) -> tuple[float, float]:
    """Return the range of the ratio's logarithm that counts as reproduced. The ratio may differ from 1 by `share` in
    both directions, and without limit on the better side of a promised bound."""
    lowest = -math.inf if one.bound == "high" else math.log1p(-share)
    return lowest, math.inf if one.bound == "low" else math.log1p(share)


def _of_still(made: Reproduced, a: Sequence[float], b: Sequence[float], *, is_exact: bool) -> Reproduced:
    """Return the verdict on numbers that do not vary. They hold if they are equal; for exact numbers, the ratio
    decides."""
    if min(len(a), len(b)) > 1 and math.isclose(a[0], b[0], rel_tol=1e-12):
        return _changed(made, "holds", "equal")
    if not is_exact or min(a[0], b[0]) <= 0:
        return _changed(made, "open", "still" if max(len(a), len(b)) > 1 else "once")
    least, most = _within(made.stated, made.margin / 2)
    ratio, half = b[0] / a[0], made.margin / 2
    if least <= math.log(ratio) <= most:
        return _changed(made, "holds", "exact" if 1 - half <= ratio <= 1 + half else "beyond")
    return _changed(made, "fails", "changed_exact")


def _undecided(made: Reproduced, a: Sequence[float], b: Sequence[float], wanted: float) -> Reproduced:
    """Return an undecided verdict. It names the number of repeats that would decide it, or the side with too much
    noise. A number measured only once in the second run is assumed to vary as in the first."""
    if more := repeats_until(a, b if len(b) > 1 else a, wanted, made.level, MOST_REPEATS):
        return _changed(made, "open", "wide", more)
    with_still = repeats_until(a, [b[0], b[0]], wanted, made.level, MOST_REPEATS)
    return _changed(made, "open", "noisy" if with_still else "noisy_before")


def _changed(made: Reproduced, verdict: ReproductionVerdict, why: Why, more: int | None = None) -> Reproduced:
    return replace(made, verdict=verdict, why=why, more=more)


def _scaled(one: StatedNumber, at: ValueAt) -> list[float]:
    """Return the repeats of a number, or the number itself if it has no repeats. A change in per cent becomes a factor
    (20 % more is 1.2), because the ratio of two small percentages means nothing."""
    values = [*at.repeats] or [at.value or 0.0]
    whole = _SHARES.get(one.unit)
    return [value + whole for value in values] if one.no_difference == 0 and whole else values


def _effect(one: StatedNumber, value: float) -> float | None:
    """Return the size of a claim's effect as the logarithm of a ratio, or None if the effect can't be expressed as a
    ratio."""
    whole = _SHARES.get(one.unit)
    if one.no_difference == 0 and whole:
        ratio = (value + whole) / whole
    elif one.no_difference:
        ratio = value / one.no_difference
    else:
        return None
    return abs(math.log(ratio)) if ratio > 0 else None


def _ratio(one: StatedNumber, a: Sequence[float], b: Sequence[float], level: float) -> IntervalEstimate | None:
    if len(a) > 1 and len(b) > 1:
        return ratio_of(a, b, percentile=one.percentile, by_ratio=True, level=level)
    found = ratio_to_one(a[0], b, level) if len(a) == 1 else ratio_to_one(b[0], a, level, of_one=True)
    if found is None and a[0] > 0 and b[0] > 0:
        return IntervalEstimate(b[0] / a[0], None, None)
    return found


def _of_expectation(one: StatedNumber, other: StatedNumber, shown: Reproduced) -> Reproduced:
    """Return the verdict on an expectation, which holds if both runs meet it or neither does."""
    if one.holds is None or other.holds is None:
        return _changed(shown, "open", "missing_before" if one.holds is None else "missing")
    repeated = any(len(each.repeats) > 1 for each in other.values)
    if one.holds == other.holds:
        return _changed(shown, "open", "vague") if other.decided is False else _changed(shown, "holds", "same")
    if other.decided is False or one.decided is False or not (repeated or other.decided):
        return _changed(shown, "open", "vague")
    return _changed(shown, "fails", "other")
