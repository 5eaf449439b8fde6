"""Judges a spec's expectations: whether each holds, and whether the repeats decide it."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.budgets import LEVEL, Looks, looks_at
from benchbrief.model.message import Message
from benchbrief.model.plan import Dimension, DimKey, Expect, Plan, Query
from benchbrief.model.precision import in_percent
from benchbrief.results.result_messages import say
from benchbrief.results.statistics.significance import LARGEST_EXPONENT
from benchbrief.results.store.searched_doubts import KNOWN, Doubt, doubts
from benchbrief.results.store.store import KeyedValue, Store
from benchbrief.runners.scheduling.confidence_interval import mean_interval

_Place = tuple[tuple[Dimension, DimKey | None], ...]
Read = Callable[[Query], Iterable[tuple[Sequence[DimKey | None], float | None]]]
"""A function that answers a query with rows. Each row has the keys of the query's dims, followed by the value."""


def reading(store: Store) -> Read:
    return lambda query: [(row.keys, row.value) for row in store.query(query)]


@dataclass(frozen=True)
class Differences:
    """The left side of an expectation minus its right side at one place, for each repeat that both sides have.

    `are_logs` means that the differences are between logarithms, so that their mean is the logarithm of a ratio.
    """

    place: Mapping[Dimension, DimKey | None]
    values: Sequence[float]
    are_logs: bool = False


def differences(expect: Expect, read: Read) -> Iterator[Differences]:
    """Yield the differences at each of `points`, or by default at each place where at least one side has values.

    The differences use the same scale as the test of two contenders (`significance.p_value`).
    """
    sides = expect.points or expect.repeats
    by_ratio = all(side.by_ratio for side in sides)
    left, right = (_by_place(query, read) for query in sides)
    every = dict.fromkeys(place for side in (left, right) for place in side)
    # A side with fewer dimensions, such as a plain number, applies at each place of the other side.
    for place in [place for place in every if not any(set(place) < set(other) for other in every)]:
        found = [_values(side, place) for side in (left, right)]
        repeats = sorted({repeat for values in found for repeat in values if repeat is not None})
        pairs = [[values.get(repeat, values.get(None)) for values in found] for repeat in repeats]
        known = [(a, b) for a, b in pairs if a is not None and b is not None]
        are_logs = by_ratio and all(min(pair) > 0 for pair in known)
        values = [math.log(a) - math.log(b) if are_logs else a - b for a, b in known]
        yield Differences(dict(place), values, are_logs)


@dataclass(frozen=True)
class ExpectInterval:
    """The confidence interval of the mean over `repeats` at one place.

    If one side is a plain number, the mean is the mean of the other side. Otherwise, it is either the mean of the
    difference `left - right` with the limit 0, or the mean of the ratio `left / right`, computed from logarithms, with
    the limit 1. With too few repeats, `high` is infinite.

    `decides` is whether the whole interval is on the verdict's side of the limit. `distance` is half the width of the
    last look's interval, as a share of the distance between the mean and the limit. It is infinite if the mean is on
    the other side.
    """

    place: Mapping[Dimension, DimKey | None]
    of: str
    form: Literal["value", "difference", "ratio"]
    unit: str
    low: float
    high: float
    repeats: int
    decides: bool
    distance: float

    @property
    def has_ends(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True)
class Judgement:
    """The result of judging an expectation. `holds` is None if a value is missing and no other value fails.

    `intervals` are the intervals behind the verdict: all of them if the expectation holds, otherwise those of the
    places that fail. Each has the confidence `level` for all `looks` together. If one of several places is enough, the
    level is corrected for their number, `places`. `first_look` is the number of repeats that a budget needs for an
    interval, or None if there is no budget.
    """

    holds: bool | None
    intervals: Sequence[ExpectInterval]
    level: float
    places: int
    looks: int = 1
    first_look: int | None = None

    @property
    def is_corrected(self) -> bool:
        return self.places > 1

    @property
    def decided(self) -> bool | None:
        """Return whether the repeats decide the verdict, or None if no number of repeats could decide it.

        The result is False if repeats could decide the verdict, but a budget had no time for them.
        """
        repeated = self.first_look is not None or any(each.repeats > 1 for each in self.intervals)
        if not self.intervals or not repeated:
            return None
        return self._is_decided

    @property
    def vague(self) -> list[ExpectInterval]:
        """Return the intervals that leave the verdict open but may decide it with more repeats. If the verdict is
        decided, return no intervals."""
        return [] if self._is_decided else [each for each in self.intervals if not each.decides]

    @property
    def _is_decided(self) -> bool:
        return (any if self.holds is False else all)(each.decides for each in self.intervals)


def judge(expect: Expect, read: Read, looks: Looks) -> Judgement:
    """Judge an expectation. The chance that the interval of any look misses the true value is at most 5 %
    (`budgets.looks_at`).

    The highest of several values is above a limit if at least one value is, and below the limit if all values are.
    Therefore each value is judged by itself. The highest value of each repeat would be too high: on average, it exceeds
    the highest mean.
    """
    verdicts = [(dict(zip(expect.query.dims, keys, strict=True)), value) for keys, value in read(expect.query)]
    values = [value for _, value in verdicts]
    holds = False if 0.0 in values else None if not values or None in values else True
    if holds is None or not expect.repeats or expect.better is None:
        return Judgement(holds, (), LEVEL, 1, looks.count)
    resting = [place for place, value in verdicts if value == holds]
    groups = _by_verdict(expect, resting, differences(expect, read))
    one_is_enough = bool(expect.points) and holds == (expect.needs == "any")
    among = max(map(len, groups), default=0) if one_is_enough else 1
    places = max(1, among) * (len(verdicts) if holds is False else 1)
    chance = (1 - LEVEL) / places if places > 1 else looks.chance
    found = [[_interval(expect, each, holds, looks, chance, read) for each in group] for group in groups]
    if one_is_enough or expect.needs == "any":  # one point stands for all at its place: the surest, or the least sure
        one_of = min if one_is_enough else max
        found = [[one_of(group, key=lambda each: (not each.decides, each.distance))] for group in found if group]
    intervals = [each for group in found for each in group]
    level = 1 - chance if places > 1 else LEVEL
    first_look = None if looks.last is None else looks.first
    return Judgement(holds, intervals, level, places, looks.count, first_look)


def _by_verdict(
    expect: Expect, places: Sequence[Mapping[Dimension, DimKey | None]], found: Iterable[Differences]
) -> list[list[Differences]]:
    """For each place, return the differences that its verdict is based on. An expectation about the best of several
    points has several differences at a place."""
    known = list(found)
    dims = set(expect.query.dims)
    return [
        [each for each in known if {dim: key for dim, key in each.place.items() if dim in dims} == dict(place)]
        for place in places
    ]


def _interval(
    expect: Expect, found: Differences, holds: bool, looks: Looks, chance: float, read: Read
) -> ExpectInterval:
    n, low, high, distance = len(found.values), -math.inf, math.inf, math.inf
    above = holds == (expect.better == "higher")
    seen = [_ends(found.values[:repeats], 1 - chance * share) for repeats, share in looks.until(n)]
    if seen:
        mean, (low, high) = statistics.fmean(found.values), seen[-1]
        distance = (high - low) / 2 / abs(mean) if mean and (mean > 0) == above else math.inf
        lowest, highest = max(each[0] for each in seen), min(each[1] for each in seen)
        if lowest <= highest:
            low, high = lowest, highest
        least, most = (-math.inf, math.inf) if found.are_logs else _range(expect, read)
        # Excluding the impossible does not lower the confidence. A gauge of another package may be below 0.
        if all(least <= value <= most for value in found.values):
            low, high = max(low, least), min(high, most)
    left, right = expect.points or expect.repeats
    decides = low >= 0 if above else high <= 0
    made = partial(ExpectInterval, found.place, repeats=n, decides=decides, distance=distance)
    if found.are_logs:
        low, high = (math.exp(min(end, LARGEST_EXPONENT)) if end < math.inf else end for end in (low, high))
        return made(f"{left.text} / {right.text}", "ratio", "", low, high)
    if is_number(right):
        limit = _only(right, read)
        return made(left.text, "value", left.unit, limit + low, limit + high)
    if is_number(left):
        limit = _only(left, read)
        return made(right.text, "value", left.unit, limit - high, limit - low)
    return made(f"{left.text} - {right.text}", "difference", left.unit, low, high)


def _range(expect: Expect, read: Read) -> tuple[float, float]:
    """Return the smallest and the largest possible value of left minus right. An unknown end is infinite."""
    if not expect.ranges:
        return -math.inf, math.inf
    (low, high), (other_low, other_high) = (
        (number := _only(side, read), number)
        if is_number(side)
        else (-math.inf if least is None else least, math.inf if most is None else most)
        for side, (least, most) in zip(expect.repeats, expect.ranges, strict=True)
    )
    return low - other_high, high - other_low


def _ends(values: Sequence[float], level: float) -> tuple[float, float]:
    low, high = mean_interval(values, level)
    return (-math.inf, math.inf) if low is None or high is None else (low, high)


def is_number(query: Query) -> bool:
    """Return whether the query is a plain number of the spec, with or without sign and unit: `10k ops/s`, `-20 %`."""
    return re.fullmatch(r"[-+]?\s*\d[\d._]*[kMGT]?\s*[^\s\d()*+-]*", query.text) is not None


def _only(number: Query, read: Read) -> float:
    return next(value for _, value in read(number) if value is not None)


def _by_place(query: Query, read: Read) -> dict[_Place, dict[DimKey | None, float | None]]:
    """Return the values by place, then by repeat. The repeat None has the value of all repeats together."""
    found: dict[_Place, dict[DimKey | None, float | None]] = {}
    for row, value in read(query):
        keys = dict(zip(query.dims, row, strict=True))
        repeat = keys.pop("repeat", None)
        found.setdefault(tuple(keys.items()), {})[repeat] = value
    return found


def _values(
    side: Mapping[_Place, Mapping[DimKey | None, float | None]], place: _Place
) -> Mapping[DimKey | None, float | None]:
    return next((values for other, values in side.items() if set(other) <= set(place)), {})


_SAID = {True: "holds", False: "does not hold", None: "can't be known"}
_SHOWN = 3


_TOLD = ("label", "holds", "decided", "detail", "origin")


@dataclass(frozen=True)
class ExpectVerdict:
    """The verdict on an expectation. `holds` is None if a missing result leaves the verdict open. `origin` is the line
    in the spec.

    `decided` is whether the repeats decide the verdict, or None if no number of repeats could. If it is False, `detail`
    has the intervals.
    """

    text: str
    label: str
    holds: bool | None
    detail: str
    origin: str
    decided: bool | None = None

    def as_dict(self) -> dict[str, object]:
        return {"expect": self.text, **{name: getattr(self, name) for name in _TOLD}}

    @property
    def name(self) -> str:
        """Return the label, followed by the condition if that is different."""
        return f"{self.label}: {self.text}" if self.label and self.label != self.text else self.text

    @property
    def judged(self) -> str:
        """Return `holds`, `does not hold, but the repeats do not decide it`, `can't be known`, or the like."""
        said = _SAID[self.holds]
        return f"{said}, but the repeats do not decide it" if self.decided is False else said

    @property
    def judged_detail(self) -> str:
        """Return the detail. If the repeats do not decide the verdict, the text begins with words that say so."""
        return f"{self.judged}{self._why(_SAID[self.holds])}" if self.decided is False else self.detail

    @property
    def warning(self) -> str:
        """Return a one-line warning if the verdict is not a decided yes."""
        return f"expect {self.judged}: {self.name}{self._why(_SAID[self.holds])} at {self.origin}"

    @property
    def of_simulated(self) -> str:
        """Return the verdict as text for simulated numbers, which prove nothing."""
        judged = {True: "would hold", False: "would not hold", None: "can't be known"}[self.holds]
        said = self._why(_SAID[self.holds])
        return f"expect of simulated numbers, which decide nothing: {self.name} {judged}{said}"

    def _why(self, judged: str) -> str:
        why = self.detail.removeprefix(judged).lstrip(": ")  # most begin with the verdict
        return f" ({why})" if why else ""


def evaluate(plan: Plan, store: Store) -> list[ExpectVerdict]:
    """Return a verdict on each of the plan's expectations. An expectation that fails at one place does not hold.

    Raises RunnerError.
    """
    return [_verdict(expect, plan, store) for expect in plan.expects]


def _verdict(expect: Expect, plan: Plan, store: Store) -> ExpectVerdict:
    rows = _known(expect.query, store)
    sides = [(side, store.query(side), doubts(store, side.sql)) for side in expect.sides]
    read = reading(store)

    def read_known(query: Query) -> Iterable[tuple[Sequence[DimKey | None], float | None]]:
        return [(row.keys, row.value) for row in rows] if query is expect.query else read(query)

    found = judge(expect, read_known, looks_at(plan, expect))
    detail = _detail(expect, rows, found.holds, sides, plan)
    if found.decided is False:
        detail += f"; {_spans(found, plan)}"
    detail += "".join(
        f"; not judged: {each.dim} {_keys(each.keys)}, without {each.measure}" for each in expect.unjudged
    )
    return ExpectVerdict(expect.text, expect.label, found.holds, detail, str(expect.origin), found.decided)


def _known(query: Query, store: Store) -> list[KeyedValue]:
    """Return the rows of an expectation.

    A row's value is None if a search found only a bound of a rate and the true rate decides the verdict.
    """
    found = doubts(store, query.sql)
    rows: list[KeyedValue] = []
    for row in store.query(query):
        is_open = found.get(tuple(row.keys), KNOWN).bound != ""
        rows.append(KeyedValue(row.keys, None, say.only_a_bound()) if is_open else row)
    return rows


def _spans(found: Judgement, plan: Plan) -> str:
    """Describe the intervals, as in `95 % intervals of the means over the repeats: threads 4: throughput is 12 ops/s to
    18 ops/s (3 repeats)`."""
    vague = found.vague
    points = [
        ": ".join(part for part in (_place(each.place, plan), _of(each, found.first_look)) if part)
        for each in vague[:_SHOWN]
    ]
    more = f"; and {len(vague) - _SHOWN} more" if len(vague) > _SHOWN else ""
    looks = f", all {found.looks} looks together" if found.looks > 1 else ""
    corrected = f", corrected for {found.places} places" if found.is_corrected else ""
    intervals = f"{in_percent(found.level)} % intervals of the means over the repeats{looks}{corrected}"
    return f"{intervals}: {'; '.join(points)}{more}"


def _of(each: ExpectInterval, first_look: int | None) -> str:
    what = each.of if each.form == "value" else f"the {each.form} {each.of}"
    if not each.has_ends and first_look is not None and each.repeats < first_look:
        left = plural(each.repeats, "measurement")
        return f"{what} has no interval: the budget left {left} of the {first_look} it takes"
    if not each.has_ends:
        return f"{what} has no interval ({plural(each.repeats, 'repeat')})"
    low, high = (_quantity(float(f"{end:.4g}"), each.unit) for end in (each.low, each.high))
    return f"{what} is {low} to {high} ({plural(each.repeats, 'repeat')})"


Sides = Sequence[tuple[Query, Sequence[KeyedValue], Mapping[tuple[DimKey | None, ...], Doubt]]]


def _detail(expect: Expect, rows: Sequence[KeyedValue], holds: bool | None, sides: Sides, plan: Plan) -> str:
    """Say how many rows decide the verdict, and list the first three with their numbers."""
    if not rows:
        return "there is no result to judge it by"
    dims = expect.query.dims
    deciding = [row for row in rows if (row.value == 0 if holds is False else (row.value is None) == (holds is None))]
    texts = [_row_text(dims, row, sides, plan) for row in deciding[:_SHOWN]]
    more = f"; and {len(deciding) - _SHOWN} more" if len(deciding) > _SHOWN else ""
    words = _SAID[holds]
    count = f" for {len(deciding)} of {len(rows)}" if dims else ""
    listed = "; ".join(text for text in texts if text)
    return f"{words}{count}: {listed}{more}" if listed else words + count


def _row_text(dims: Sequence[Dimension], row: KeyedValue, sides: Sides, plan: Plan) -> str:
    """Describe a row, as in `hardware nvme, threads 4: throughput is 12.5 ops/s, limit is 15 ops/s`, or say why its
    value is unknown."""
    keys = dict(zip(dims, row.keys, strict=True))
    place = _place(keys, plan)
    numbers = ", ".join(text for side in sides if (text := _side(*side, keys)))
    said = row.reason if row.value is None else numbers
    if isinstance(said, Message) and said.code == "only_a_bound":
        said = f"{said} ({numbers})"
    return ": ".join(part for part in (place, said) if part)


def _keys(keys: Sequence[str]) -> str:
    return ", ".join(keys[:_SHOWN]) + (f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else "")


def _place(keys: Mapping[Dimension, DimKey | None], plan: Plan) -> str:
    """Describe a place, as in `hardware nvme, threads 4` or `codec lz4, vsize 1 kB`. If there are factors, a lone
    hardware group is left out."""
    alone = len(plan.hardware) == 1 and bool(plan.factors)
    return ", ".join(
        f"{dim} {plan.factors[dim].label_of(key) if dim in plan.factors and isinstance(key, float) else _number(key)}"
        for dim, key in keys.items()
        if dim != "hardware" or not alone
    )


def _side(
    query: Query,
    found: Sequence[KeyedValue],
    open_: Mapping[tuple[DimKey | None, ...], Doubt],
    keys: dict[Dimension, DimKey | None],
) -> str:
    """Describe a side of an expectation, unless it is just a number from the spec."""
    wanted = [keys.get(dim) for dim in query.dims]
    value = next((row.value for row in found if list(row.keys) == wanted), None)
    mark = open_.get(tuple(wanted), KNOWN).mark
    return "" if value is None or is_number(query) else f"{query.text} is {mark}{_quantity(value, query.unit)}"


def _quantity(value: float, unit: str) -> str:
    """Return a value with its unit, such as `16.985 us` or `8,200 ops/s`. Times are in the largest unit that gives at
    least 1."""
    if unit == "s" and value:
        size, unit = next((step for step in _TIMES if abs(value) >= step[0]), _TIMES[-1])
        value /= size
    return f"{_number(value)} {unit}" if unit not in ("", "1") else _number(value)


def _number(key: DimKey | None) -> str:
    if not isinstance(key, float):
        return str(key)
    return f"{key:,.0f}" if abs(key) >= 1e6 else f"{key:,.6g}"


_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
