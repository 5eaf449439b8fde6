"""Verdicts on a brief's claims: what each one's number is, how well it is known, and whether a difference is decided.

All claims of a brief are decided together: each interval has its share of the 5 % chance to be wrong, by C. E.
Bonferroni's inequality (see `model/budgets.py`). The interval of a highest or lowest value is that of the repeats at
the point where it was found.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

from benchbrief.model.budgets import LEVEL, looks_at
from benchbrief.model.node import Node
from benchbrief.model.plan import Claim, Dimension, DimKey, Expect, Plan, Query, Said, Value
from benchbrief.results.analysis.expectation_verdicts import Read
from benchbrief.results.statistics.significance import LARGEST_EXPONENT
from benchbrief.runners.scheduling.confidence_interval import mean_interval

State = Literal["decided", "undecided", "once", "absolute", "missing"]
"""Whether the repeats decide that there is a difference; `once`: its point was measured once; `absolute`: the value is
compared with nothing; `missing`: it has no value."""
_FORMAT = re.compile(r"(?P<before>[+\- ]?0?\d{0,2}[,_]?)(?:\.(?P<digits>\d{1,2}))?(?P<kind>[eEfFgGn%]?)")
_FEWEST_DIGITS = 2
"""The digits that a number keeps, however wide its interval is."""


@dataclass(frozen=True)
class ClaimVerdict:
    """What is known of a claim's number, in the unit of its sentence.

    `at` is the point of a highest or lowest value, one of `points` with a value, and `opposite` the other end of their
    range. `low` and `high` are the interval of the `level`, None without one. `claims` is how many claims share the
    chance to be wrong.
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

    @property
    def is_said(self) -> bool:
        """Return whether the brief says it as a claim."""
        return self.state in ("decided", "once", "absolute") or (
            self.state == "undecided" and "decided" in self.claim.allowed
        )

    @property
    def printed(self) -> Value | None:
        """Return the value of the sentence with no more digits than the interval knows, rounded so that it does not
        favour the claim: toward no difference, or to the worse side of a number that is compared with nothing."""
        value = next((part for part in self.claim.sentence.parts if isinstance(part, Value)), None)
        if value is None or self.value is None:
            return value
        known = (self.high - self.low) / 2 if self.low is not None and self.high is not None else None
        format_, step = _rounding(value.format, self.value, known)
        return value.model_copy(
            update={"format": format_, "step": step, "rounded": self._direction if step else "nearest"}
        )

    @property
    def _direction(self) -> Literal["nearest", "down", "up"]:
        if "rounding" in self.claim.allowed or self.value is None:
            return "nearest"
        if self.claim.no_difference is not None:
            return "down" if self.value >= self.claim.no_difference else "up"
        return {"higher": "down", "lower": "up", None: "nearest"}[self.claim.better]  # type: ignore[return-value]  # the three words


def _rounding(format_: str, value: float, known: float | None) -> tuple[str, float]:
    """Return the format and the step for a value that is known to plus or minus `known`; a step of 0 where the format
    gives no digits."""
    found = _FORMAT.fullmatch(format_.removesuffix("u"))
    if found is None or not format_ or not math.isfinite(value) or value == 0:
        return format_, 0.0
    kind, digits = found["kind"], int(found["digits"] or (6 if found["kind"] else 0))
    if kind in "gGn" and kind:
        digits = max(digits, 1) - 1 - math.floor(math.log10(abs(value)))
        kind = "f"
    elif (kind in "eE" and kind) or not kind:
        return format_, 0.0
    share = 0.01 if kind == "%" else 1.0
    shown = value / share
    if known:
        least = _FEWEST_DIGITS - 1 - math.floor(math.log10(abs(shown)))
        digits = min(digits, max(-math.floor(math.log10(known / share)), least))
    unit = "u" if format_.endswith("u") else ""
    return f"{found['before']}.{max(digits, 0)}{kind}{unit}", share * 10.0**-digits


def claim_verdicts(plan: Plan, read: Read, claims: Sequence[Claim] | None = None) -> list[ClaimVerdict]:
    """Return the verdict on each claim; all of them, those of the plan if none are given, are decided together.

    Raises RunnerError.
    """
    chosen = plan.claims if claims is None else claims
    compared = sum(claim.no_difference is not None for claim in chosen)
    return [_verdict(claim, plan, read, max(1, compared)) for claim in chosen]


def _verdict(claim: Claim, plan: Plan, read: Read, compared: int) -> ClaimVerdict:
    found = [(tuple(zip(claim.points.dims, keys, strict=True)), value) for keys, value in read(claim.points)]
    known = [(place, value) for place, value in found if value is not None and math.isfinite(value)]
    if not known:
        return ClaimVerdict(claim, "missing", claims=compared)
    choose = min if claim.bound == "low" else max
    place, value = choose(known, key=lambda each: each[1])
    opposite = next((value for _, value in read(claim.opposite)), None) if claim.opposite else None
    values = list(_repeats(claim.repeats, dict(place), read)) if claim.repeats else []
    level = 1 - _chance(claim, plan, len(values)) / compared
    low, high = _interval(values, level, by_ratio=claim.points.by_ratio)
    if claim.no_difference is None:
        state: State = "absolute"
    elif len(values) < 2:
        state = "once"
    else:
        outside = low is not None and high is not None and not low <= claim.no_difference <= high
        state = "decided" if outside else "undecided"
    return ClaimVerdict(
        claim, state, value, dict(place), len(known), opposite, max(1, len(values)), low, high, level, compared
    )


def _repeats(query: Query, place: Mapping[Dimension, DimKey | None], read: Read) -> Iterator[float]:
    """Yield the value of each repeat at the place."""
    for row, value in read(query):
        keys = dict(zip(query.dims, row, strict=True))
        if value is not None and math.isfinite(value) and all(keys.get(dim, key) == key for dim, key in place.items()):
            yield value


def _chance(claim: Claim, plan: Plan, repeats: int) -> float:
    """Return the chance to be wrong of an interval after this many repeats: a part of it where a budget looks at the
    points several times."""
    sides = (claim.repeats,) if claim.repeats else ()
    seen = looks_at(plan, Expect(text="", label="", query=claim.points, repeats=sides, origin=claim.origin))
    looks = seen.until(repeats)
    return seen.chance * looks[-1][1] if looks else 1 - LEVEL


def _interval(values: Sequence[float], level: float, *, by_ratio: bool) -> tuple[float | None, float | None]:
    """Return the interval of the mean; by logarithms where the noise is a share of the value."""
    if by_ratio and values and min(values) > 0:
        low, high = mean_interval([math.log(value) for value in values], level)
        if low is None or high is None or max(abs(low), abs(high)) > LARGEST_EXPONENT:
            return None, None
        return math.exp(low), math.exp(high)
    if not values or not math.isfinite(statistics.fmean(values)):
        return None, None
    return mean_interval(values, level)


def claims_said(plan: Plan, parts: object) -> list[Claim]:
    """Return the claims that a report, or a part of it, says, in the plan's order."""
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
