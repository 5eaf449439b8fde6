"""Judges a brief's claims: the number of each claim, how certain the number is, and whether the repeats decide that
there is a difference.

All claims of a brief are judged together, so by C. E. Bonferroni's inequality their intervals share the 5 % chance of
an error (see `model/budgets.py`). The interval of a highest or lowest value comes from the repeats at the point where
the value was found. For a claim with held-out repeats, only these count, because they did not influence the choice of
the point.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, fields, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from benchbrief.compiler.metrics.lower_to_sql import number_literal
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.budgets import LEVEL, looks_at
from benchbrief.model.held_out import number_of, reads_at
from benchbrief.model.node import Node
from benchbrief.model.plan import Claim, Dimension, DimKey, Expect, Plan, Said, Value
from benchbrief.model.plan import Read as ReadMeasure
from benchbrief.model.points import Point
from benchbrief.model.precision import MOST_GAINED, formatted, magnitude, moves_much, stepped
from benchbrief.model.units import parse_unit
from benchbrief.results.analysis.expectation_verdicts import Read
from benchbrief.results.analysis.held_out_repeats import HeldOutRepeats, at_place
from benchbrief.results.analysis.superlinear import Superlinear, rest_on
from benchbrief.results.statistics.selection_bias import overstatement
from benchbrief.results.statistics.significance import LARGEST_EXPONENT
from benchbrief.runners.scheduling.confidence_interval import mean_interval

State = Literal[
    "decided",
    "undecided",
    "contradicted",
    "opposed",
    "once",
    "absolute",
    "declared",
    "published",
    "limited",
    "missing",
    "unheld",
]
"""The possible verdicts on a claim:

- `decided`: the repeats decide that there is a difference.
- `opposed`: the repeats decide that there is a difference, but that it goes against the claim.
- `undecided`: the repeats do not decide whether there is a difference.
- `contradicted`: more threads did more than their share, which casts doubt on a point of the claim.
- `once`: the claim's point was measured only once.
- `absolute`: the value is not compared with anything.
- `declared`: the value is computed from facts that the spec declares.
- `published`: a source states the value, or the numbers that it is computed from.
- `limited`: the load generator limited the value that the claim compares with.
- `missing`: the claim has no value.
- `unheld`: the claim asks for held-out repeats and has no good ones, or it is computed from highest values and does
  not ask for held-out repeats.
"""
_NOT_SAID = ("undecided", "contradicted", "opposed", "limited", "missing", "unheld")
_FORMAT = re.compile(r"(?P<before>[+\- ]?0?\d{0,2}[,_]?)(?:\.(?P<digits>\d{1,2}))?(?P<kind>[eEfFgGn%]?)")
_FEWEST_DIGITS = 2
"""The least number of digits to keep, however wide the interval is."""
FEWEST_REPEATS = 2
"""The least number of repeats that can decide anything."""
_FEWEST_TYPICAL = 3
"""With at least this many points, the median describes a range better than its ends do."""
SINGLE_NOISE, PUBLISHED_NOISE = 0.05, 0.02
"""The assumed noise of a value that was measured once, and of a published value, as shares of the value."""
_MOST_MORE = 3
"""The most digits to add to a format to make a decided difference visible."""


@dataclass(frozen=True)
class ClaimVerdict:
    """The verdict on a claim, with its number in the unit of its sentence.

    `at` is the point where a highest or lowest value was found, and `points` is the number of points that have a value.
    `opposite` is the other end of the range of values. `low` and `high` are the confidence interval at `level`, or None
    if there is none. `claims` is the number of claims that share the chance of an error. `held` has the held-out
    repeats of a claim that asks for them. `overstated` is the share by which choosing the highest of several noisy
    points makes the value too high, or None if unknown. `typical` is the median of the values among which the highest
    or lowest one was found. `at_least` means that the load generator was the limit at that point.

    If the claim is about a highest or lowest value, `better` and `worse` count the points on either side of "no
    difference". If the metric has no better side, these are the points above and below it. `tied` counts the points
    that differ from "no difference" by no more than their noise. `is_mixed` means that some of the points are not a
    gain, so the highest or lowest value must not be stated alone.
    """

    claim: Claim
    state: State
    value: float | None = None
    at: Mapping[Dimension, DimKey | None] = field(default_factory=dict)
    points: int = 0
    opposite: float | None = None
    repeats: int = 0
    low: float | None = None
    high: float | None = None
    level: float = LEVEL
    claims: int = 1
    held: HeldOutRepeats | None = None
    overstated: float | None = None
    typical: float | None = None
    at_least: bool = False
    better: int = 0
    worse: int = 0
    tied: int = 0
    is_mixed: bool = False

    @property
    def is_borne_out(self) -> bool:
        """Return whether the numbers support this claim, so that a brief may state it without an exception."""
        return self.state not in _NOT_SAID

    @property
    def is_said(self) -> bool:
        """Return whether the brief states this claim: the numbers support it, or the spec makes an exception for it."""
        return self.is_borne_out or self.is_excepted

    @property
    def is_excepted(self) -> bool:
        """Return whether this claim is stated although the repeats do not decide it, or contradict it."""
        is_open = self.state in ("undecided", "contradicted", "opposed")
        is_open = is_open or (self.state == "unheld" and self.held is None)
        return is_open and "decided" in self.claim.allowed

    @property
    def printed(self) -> Value | None:
        """Return the value to print in the sentence, with no more digits than the interval justifies.

        More digits are kept if rounding would otherwise favour the claim or hide a decided difference. A range keeps
        the spec's format if this prints both ends with the right digits; otherwise both ends get as many significant
        digits, or as many decimals, as the end that needs more.
        """
        value, ends = self.claim.number, self.ends if self.claim.says_range else None
        if value is None or ends is None or self.value is None or self.opposite is None:
            return self._own
        both = {"query": ends[0].query, "high": ends[1].query}
        found = sorted((self.value, self.opposite))
        if all(_prints_alike(one, value.format, end) for one, end in zip(found, ends, strict=True)):
            return ends[0].model_copy(update={**both, "format": value.format, "step": 0.0})
        finest = min(ends, key=lambda end: end.step)
        format_ = _significant(finest.format, [(one, end.format) for one, end in zip(found, ends, strict=True)])
        return finest.model_copy(update={**both, "format": format_})

    @property
    def _own(self) -> Value | None:
        value = self.claim.number
        if value is None or self.value is None:
            return value
        shown = self._shown(value, self.value)
        if self.held is not None and self.held.value is not None and math.isfinite(self.held.value):
            sql = f"SELECT {number_literal(self.held.value)}::DOUBLE AS value"  # a number, by the function for it
            alone = {"sql": sql, "reads": (), "quote": None, "made_of": ()}
            shown = shown.model_copy(update={"query": value.query.model_copy(update=alone)})
        return shown

    @property
    def ends(self) -> tuple[Value, Value] | None:
        """Return the lowest and the highest value of the range in which a highest or lowest value was found, formatted
        like the claim. Returns None if both would look alike.

        A source may state both ends of a range without stating any point. One end is the claim's own number, so it
        comes from the held-out repeats if there are any. If that number lies beyond the other end, it replaces the
        other end.
        """
        value, opposite, printed = self.claim.number, self.claim.opposite, self._own
        if value is None or opposite is None or printed is None or self.points == 1:
            return None
        if self.value is None or self.opposite is None:
            return None
        found, far = self.value, self.opposite
        own, other = printed, self._shown(value.model_copy(update={"query": opposite}), far)
        winner = self.held.winner.value if self.held and self.held.winner else found
        if found < far <= winner or winner <= far < found:
            found, far, own, other = winner, found, self._shown(value, winner), printed
        if stepped(found, own.step, "nearest") == stepped(far, other.step, "nearest"):
            return None
        if not self.claim.says_range and stepped(found, own.step, own.rounded) == stepped(far, own.step, own.rounded):
            return None  # the sentence prints both alike
        own, other = (with_digits_of(each, (own, other)) for each in (own, other))
        return (other, own) if self.claim.bound == "high" else (own, other)

    def _shown(self, value: Value, found: float) -> Value:
        """Return the value with the format and rounding that suit the number `found`, by the rules for the claim's own
        number."""
        if value.query.unit == "nodes":
            return value  # nodes are rounded up to whole ones when printed
        known = (self.high - self.low) / 2 if self.low is not None and self.high is not None else None
        format_, step = _rounding(value.format, found, known)
        for more in range(1, _MOST_MORE + 1):
            gained = self._most_gained if found == self.value else MOST_GAINED
            if not self._looks_equal(found, step) and not moves_much(found, step, self._direction, gained):
                break
            format_, step = _rounding(value.format, found, known, more)
        direction = self._direction if step else "nearest"
        return value.model_copy(update={"format": format_, "step": step, "rounded": direction})

    def _looks_equal(self, found: float, step: float) -> bool:
        """Return whether the number, rounded to this step, looks like "no difference"."""
        same = self.claim.no_difference
        if self.state != "decided" or same is None or found != self.value or not step:
            return False
        return math.isclose(stepped(found, step, "nearest"), same, rel_tol=1e-9, abs_tol=step / 2)

    @property
    def _most_gained(self) -> float:
        """Return the most that rounding may move the number in the claim's favour, as a share of it. This is 0 if the
        claim states the worst of several values."""
        return 0.0 if self.claim.bound and not self.claim.takes_best else MOST_GAINED

    @property
    def _direction(self) -> Literal["nearest", "down", "up"]:
        if "rounding" in self.claim.allowed or self.value is None:
            return "nearest"
        if self.claim.better is not None:
            return "down" if self.claim.better == "higher" else "up"
        if self.claim.no_difference is None:
            return "nearest"
        return "down" if self.value >= self.claim.no_difference else "up"


def with_digits_of(value: Value, others: Sequence[Value]) -> Value:
    """Return a percentage with as many digits as the most precise of the `others`."""
    shares = [each for each in (value, *others) if each.step and each.format.endswith("%")]
    if value not in shares:
        return value
    finest = min(shares, key=lambda each: each.step)
    return value.model_copy(update={"step": finest.step, "format": finest.format})


def _significant(finest: str, ends: Sequence[tuple[float, str]]) -> str:
    """Return the number format for both ends of a range. This is usually `finest`, the format with the most decimals.
    But if it gave the larger end more digits than needed, return a format with which both ends have equally many
    significant digits, such as 2.26 to 17.6.
    """
    formats = [(value, _FORMAT.fullmatch(format_)) for value, format_ in ends]
    known = [
        (magnitude(value), int(found["digits"] or 0), found["before"])
        for value, found in formats
        if value and found and found["kind"] == "f"
    ]
    digits = max((size + 1 + decimals for size, decimals, _ in known), default=0)
    if len(known) < 2 or known[0][1] <= known[1][1] or digits <= known[1][0]:
        return finest
    return f"{known[0][2]}.{digits}g"


def _prints_alike(value: float, format_: str, shown: Value) -> bool:
    """Return whether a format prints a value with the digits in `shown`."""
    return formatted(value, format_) == formatted(stepped(value, shown.step, "nearest"), shown.format)


def _rounding(format_: str, value: float, known: float | None, more: int = 0) -> tuple[str, float]:
    """Return the format and the rounding step for a value with an error of plus or minus `known`, and with `more`
    additional digits. If the format does not set the digits, the step keeps three."""
    found = _FORMAT.fullmatch(format_)
    if found is None or not math.isfinite(value) or value == 0:
        return format_, 0.0
    kind = found["kind"]
    share = 0.01 if kind == "%" else 1.0
    size = magnitude(value / share)
    if kind in ("f", "F", "%"):
        digits = int(found["digits"] or 6)
    else:  # significant digits: the usual way prints three or more
        of_all = kind in ("g", "G", "n", "") and found["digits"] is not None
        digits = int(found["digits"] or 2) - of_all - size
    if known:
        digits = min(digits, max(-magnitude(known / share), _FEWEST_DIGITS - 1 - size))
    digits += more
    if kind in ("g", "G", "n") or (not kind and found["digits"]):
        kind = "f"
    behind = digits + (size if kind in ("e", "E") else 0)
    fixed = f"{found['before']}.{max(behind, 0)}{kind}" if kind else format_
    return fixed, share * 10.0**-digits


def claim_verdicts(
    plan: Plan,
    read: Read,
    claims: Sequence[Claim] | None = None,
    held_out: Mapping[str, HeldOutRepeats] = MappingProxyType({}),
    *,
    published: bool = False,
    busy: Collection[Point] = (),
    doubtful: Collection[Superlinear] = (),
) -> list[ClaimVerdict]:
    """Return the verdict on each of `claims`, which are judged together. By default, they are all claims of the plan.

    `held_out` has the held-out repeats of the claims that ask for them, by name. `published` means that another source
    states the values. `busy` are the points whose load generator may have been the limit. `doubtful` are the points
    that the rest of their curves contradict.

    Raises RunnerError.
    """
    chosen = plan.claims if claims is None else claims
    compared = len({number_of(each) for each in chosen if _may_be_decided(each)})
    judged = partial(_verdict, plan=plan, read=read, compared=max(1, compared), published=published)
    found = [_as_directed(judged(claim, held=held_out.get(claim.name))) for claim in chosen]
    found = [_with_limits(each, plan, each.held.busy if each.held else busy) for each in found]
    return [_with_doubts(each, plan, doubtful) for each in found]


def _may_be_decided(claim: Claim) -> bool:
    return claim.no_difference is not None and bool(claim.repeats or claim.held_out)


def _as_directed(verdict: ClaimVerdict) -> ClaimVerdict:
    """Return the verdict on a claim whose words may promise an increase or a decrease. If the number does not show that
    change, the claim is opposed or undecided."""
    claim = verdict.claim
    if (
        not claim.directed
        or claim.no_difference is None
        or verdict.value is None
        or verdict.value > claim.no_difference
    ):
        return verdict
    return replace(verdict, state="opposed" if verdict.state == "decided" else "undecided")


def _with_limits(verdict: ClaimVerdict, plan: Plan, busy: Collection[Point]) -> ClaimVerdict:
    """Return the verdict, adjusted if the claim's load generator may have been the bottleneck.

    If the load generator limited the claim's own value, that value is a lower bound. If it limited the value that the
    claim compares with, the claim shows nothing.
    """
    claim = verdict.claim
    if not busy or verdict.state in _NOT_SAID or "limit" in claim.allowed:
        return verdict
    sides = set()
    unvaried = dict.fromkeys(plan.factors)
    for point in busy:
        keys = {**unvaried, **point.keys}
        sides |= {is_base(read, claim) for read in claim.points.reads or () if reads_at(read, verdict.at, keys)}
    state: State = "limited" if True in sides else verdict.state
    return replace(verdict, state=state, at_least=False in sides)


def _with_doubts(verdict: ClaimVerdict, plan: Plan, doubtful: Collection[Superlinear]) -> ClaimVerdict:
    """Return the verdict, left open if one of these points is among those that the claim's own value comes from. For a
    range, these are all of its points. If only the better end of a worst value's range may come from such a point, that
    end is left out. Held-out repeats and published values are not doubted."""
    claim, state = verdict.claim, verdict.state
    if state in (*_NOT_SAID, "published") or verdict.held is not None:
        return verdict
    rests = partial(rest_on, doubtful, claim.points.reads or (), plan)
    if rests({} if claim.says_range else verdict.at):
        return replace(verdict, state="contradicted")
    return replace(verdict, opposite=None) if claim.bound and not claim.takes_best and rests() else verdict


def is_base(read: ReadMeasure, claim: Claim) -> bool:
    """Return whether `read` belongs to the value that the claim compares with."""
    return bool(claim.against) and all(read.keys.get(dim) == (key,) for dim, key in claim.against.items())


def _verdict(
    claim: Claim, *, plan: Plan, read: Read, compared: int, published: bool, held: HeldOutRepeats | None
) -> ClaimVerdict:
    value = next((found for _, found in read(claim.number.query)), None) if claim.number else None
    if value is None or not math.isfinite(value):
        return ClaimVerdict(claim, "missing", claims=compared)
    opposite = next((found for _, found in read(claim.opposite)), None) if claim.opposite else None
    rows = [(dict(zip(claim.points.dims, keys, strict=True)), found) for keys, found in read(claim.points)]
    known = [(place, found) for place, found in rows if found is not None]
    place = next((place for place, found in known if math.isclose(found, value, rel_tol=1e-9)), None)
    made = partial(ClaimVerdict, claim, value=value, points=len(known), opposite=opposite, claims=compared, held=held)
    if claim.bound and (same := claim.no_difference) is not None:
        made = partial(made, **_sides(claim, known, same, read, SINGLE_NOISE if not published else PUBLISHED_NOISE))
    if claim.typical is not None and len(known) >= _FEWEST_TYPICAL:
        made = partial(made, typical=next((found for _, found in read(claim.typical)), None))
    if held is not None:
        return _held_verdict(made, claim, held, 1 - (1 - LEVEL) / compared)
    if claim.points.reads == ():
        return made("declared")
    if place is None:
        return made("published")
    values = list(at_place(claim.repeats, place, read)) if claim.repeats else []
    if published and len(values) < FEWEST_REPEATS:
        return made("published", at=place)
    # The highest of several noisy points is too high, so each point takes its part of the chance.
    level = 1 - _chance(claim, plan, len(values)) / compared / (len(known) if claim.bound else 1)
    low, high = _interval(values, level, by_ratio=claim.points.by_ratio)
    once: State = "undecided" if claim.repeats else "once"
    state = _state(claim, low, high, once)
    if claim.of_extremes and state in ("decided", "opposed"):
        state = "unheld"  # the highest of each repeat is chosen for its noise
    overstated = _overstated(claim, read, [place for place, _ in known], value)
    return made(state, at=place, repeats=max(1, len(values)), low=low, high=high, level=level, overstated=overstated)


def _sides(
    claim: Claim,
    known: Sequence[tuple[Mapping[Dimension, DimKey | None], float]],
    same: float,
    read: Read,
    single: float,
) -> dict[str, Any]:
    """Count the points where a compared value is better, worse and tied, and return whether some of the points are not
    a gain. `single` is the noise of a value that has no repeats."""
    lower = claim.better == "lower"
    gains = [(same - found if lower else found - same, place, found) for place, found in known]
    clear = [gain for gain, place, found in gains if abs(gain) > _noise(claim, place, found, read, single)]
    better, worse = sum(gain > 0 for gain in clear), sum(gain < 0 for gain in clear)
    some_better, some_worse = any(gain > 0 for gain, *_ in gains), any(gain < 0 for gain, *_ in gains)
    mixed = some_worse and (some_better or claim.better is not None)
    return {"better": better, "worse": worse, "tied": len(known) - better - worse, "is_mixed": mixed}


def _noise(claim: Claim, place: Mapping[Dimension, DimKey | None], found: float, read: Read, single: float) -> float:
    """Return the difference that noise alone may cause between two measurements of the same thing."""
    values = list(at_place(claim.repeats, place, read)) if claim.repeats else []
    if len(values) == FEWEST_REPEATS:
        return statistics.stdev(values)
    low, high = mean_interval(values, LEVEL) if values else (None, None)
    if low is not None and high is not None:
        return (high - low) / 2
    share = parse_unit(claim.points.unit).factor if claim.no_difference == 0 else 1.0
    if not claim.points.divides or share not in (0.01, 1.0):
        return 0.0  # a difference in a unit does not tell how large its two sides are
    ratio = found * share + (claim.no_difference == 0)
    return single * (1 + abs(ratio)) / share


def _held_verdict(made: Callable[..., ClaimVerdict], claim: Claim, held: HeldOutRepeats, level: float) -> ClaimVerdict:
    """Return a claim's verdict based on the held-out repeats alone."""
    if held.value is None or not math.isfinite(held.value) or not held.values or held.winner is None:
        return made("unheld")
    low, high = _interval(held.values, level, by_ratio=claim.points.by_ratio)
    at = held.winner.places[0] if len(held.winner.places) == 1 else {}
    found = {"value": held.value, "points": held.winner.points, "at": at, "repeats": len(held.values)}
    return made(_state(claim, low, high, "undecided"), low=low, high=high, level=level, **found)


def _state(claim: Claim, low: float | None, high: float | None, without: State) -> State:
    """Return the state that follows from an interval, or `without` if there is none."""
    if claim.no_difference is None:
        return "once" if without == "once" else "absolute"
    if low is None or high is None:
        return without
    above, below = low > claim.no_difference, high < claim.no_difference
    worse = {"higher": below, "lower": above, None: False}[claim.better]
    return "opposed" if worse else "decided" if above or below else "undecided"


def _overstated(
    claim: Claim, read: Read, places: Sequence[Mapping[Dimension, DimKey | None]], value: float
) -> float | None:
    """Return by how much a highest or lowest value is better than its point's true value on average, as a share of the
    value. The cause is that the best of several noisy values is chosen. Return None if this can't be computed."""
    if not claim.bound or not claim.repeats or len(places) < 2 or not value:
        return None
    values = [list(at_place(claim.repeats, place, read)) for place in places]
    known = [each for each in values if each]
    logs = claim.points.by_ratio and all(min(each) > 0 for each in known)
    sign = 1 if claim.bound == "high" else -1
    beyond = overstatement([[sign * (math.log(one) if logs else one) for one in each] for each in known])
    if beyond is None:
        return None
    return -math.expm1(-beyond) if logs and sign > 0 else math.expm1(beyond) if logs else beyond / abs(value)


def _chance(claim: Claim, plan: Plan, repeats: int) -> float:
    """Return the chance that the interval after this many repeats is wrong. If a budget looks at the repeats several
    times, each look gets only a part of the whole chance."""
    sides = (claim.repeats,) if claim.repeats else ()
    seen = looks_at(plan, Expect(text="", label="", query=claim.points, repeats=sides, origin=claim.origin))
    looks = seen.until(repeats)
    return seen.chance * looks[-1][1] if looks else 1 - LEVEL


def _interval(values: Sequence[float], level: float, *, by_ratio: bool) -> tuple[float | None, float | None]:
    """Return the confidence interval of the mean. If the noise is a share of the value, the interval is computed from
    logarithms."""
    if by_ratio and values and min(values) > 0:
        low, high = mean_interval([math.log(value) for value in values], level)
        if low is None or high is None or max(abs(low), abs(high)) > LARGEST_EXPONENT:
            return None, None
        return math.exp(low), math.exp(high)
    if not values or not math.isfinite(statistics.fmean(values)):
        return None, None
    return mean_interval(values, level)


def claims_said(plan: Plan, parts: object) -> list[Claim]:
    """Return the claims that a report, or a part of a report, states, in the plan's order."""
    named: set[str] = set()
    left: list[object] = [parts]
    while left:
        node = left.pop()
        if isinstance(node, Said):
            named.add(node.claim)
        elif isinstance(node, tuple | list):
            left += node
        elif isinstance(node, dict):
            left += node.values()
        elif isinstance(node, Node):
            left += [getattr(node, each.name) for each in fields(node)]
    return [claim for claim in plan.claims if claim.name in named]
