"""Verdicts on a spec's expectations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchbrief.compiler.messages.text import Text
from benchbrief.compiler.planning.budgets import looks_at
from benchbrief.compiler.planning.plan import Dimension, Expect, Plan, Query
from benchbrief.compiler.rounding import formatted
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.results.analysis.repeated_comparisons import Interval, Judgement, is_number, judge, reading
from benchbrief.results.messages.result_messages import say
from benchbrief.results.store.searched_doubts import KNOWN, Doubt, doubts
from benchbrief.results.store.store import Key, Row, Store

_SAID = {True: "holds", False: "does not hold", None: "can't be known"}
_SHOWN = 3


@dataclass(frozen=True)
class Verdict:
    """The verdict on an expectation. `holds` is None when a missing result leaves it open. `origin` is its spec
    line.

    `decided` is whether the repeats decide it (`repeated_comparisons.py`); None where none can. Where they do not,
    `detail` has the intervals."""

    text: str
    label: str
    holds: bool | None
    detail: str
    origin: str
    decided: bool | None = None

    @property
    def name(self) -> str:
        """Return its label, and its condition when that differs."""
        return f"{self.label}: {self.text}" if self.label and self.label != self.text else self.text

    @property
    def judged(self) -> str:
        """Return `holds`, `does not hold, but the repeats do not decide it`, or `can't be known`."""
        said = _SAID[self.holds]
        return f"{said}, but the repeats do not decide it" if self.decided is False else said

    @property
    def judged_detail(self) -> str:
        """Return the detail, beginning with how it is judged."""
        return f"{self.judged}{self._why(_SAID[self.holds])}" if self.decided is False else self.detail

    @property
    def warning(self) -> str:
        """Return a warning on one line for a verdict that is not a certain yes."""
        return f"expect {self.judged}: {self.name}{self._why(_SAID[self.holds])} at {self.origin}"

    @property
    def of_simulated(self) -> str:
        """Return the verdict of simulated numbers, which decide nothing."""
        judged = {True: "would hold", False: "would not hold", None: "can't be known"}[self.holds]
        said = self._why(_SAID[self.holds])
        return f"expect of simulated numbers, which decide nothing: {self.name} {judged}{said}"

    def _why(self, judged: str) -> str:
        why = self.detail.removeprefix(judged).lstrip(": ")  # most begin with the verdict
        return f" ({why})" if why else ""


def evaluate(plan: Plan, store: Store) -> list[Verdict]:
    """Return a verdict for each of the plan's expectations. One that fails anywhere does not hold. Raises
    RunnerError."""
    return [_verdict(expect, plan, store) for expect in plan.expects]


def _verdict(expect: Expect, plan: Plan, store: Store) -> Verdict:
    rows = _known(expect.query, store)
    sides = [(side, store.query(side), doubts(store, side.sql)) for side in expect.sides]
    read = reading(store)

    def read_known(query: Query) -> Iterable[tuple[Sequence[Key], float | None]]:
        return [(row.keys, row.value) for row in rows] if query is expect.query else read(query)

    found = judge(expect, read_known, looks_at(plan, expect))
    detail = _detail(expect, rows, found.holds, sides)
    if found.decided is False:
        detail += f"; {_spans(found)}"
    detail += "".join(
        f"; not judged: {each.dim} {_keys(each.keys)}, without {each.measure}" for each in expect.unjudged
    )
    return Verdict(expect.text, expect.label, found.holds, detail, str(expect.origin), found.decided)


def _known(query: Query, store: Store) -> list[Row]:
    """Return the rows of an expectation. One is not known where a search knows a rate from one side, and the verdict
    would be another one beyond it."""
    found = doubts(store, query.sql)
    rows: list[Row] = []
    for row in store.query(query):
        is_open = found.get(tuple(row.keys), KNOWN).bound != ""
        rows.append(Row(row.keys, None, say.only_a_bound()) if is_open else row)
    return rows


def _spans(found: Judgement) -> str:
    """Say `95 % intervals of the means over the repeats: threads 4: throughput is 12 ops/s to 18 ops/s (3 repeats)`."""
    vague = found.vague
    points = [
        ": ".join(part for part in (_place(each.place), _of(each, found.first_look)) if part) for each in vague[:_SHOWN]
    ]
    more = f"; and {len(vague) - _SHOWN} more" if len(vague) > _SHOWN else ""
    looks = f", all {found.looks} looks together" if found.looks > 1 else ""
    corrected = f", corrected for {found.places} places" if found.is_corrected else ""
    percent = formatted(100 * found.level, ".4g")
    return f"{percent} % intervals of the means over the repeats{looks}{corrected}: {'; '.join(points)}{more}"


def _of(each: Interval, first_look: int | None) -> str:
    what = f"the difference {each.of}" if each.is_difference else each.of
    if not each.has_ends and first_look is not None and each.repeats < first_look:
        left = plural(each.repeats, "measurement")
        return f"{what} has no interval: the budget left {left} of the {first_look} it takes"
    if not each.has_ends:
        return f"{what} has no interval ({plural(each.repeats, 'repeat')})"
    low, high = (_quantity(float(f"{end:.4g}"), each.unit) for end in (each.low, each.high))
    return f"{what} is {low} to {high} ({plural(each.repeats, 'repeat')})"


Sides = Sequence[tuple[Query, Sequence[Row], Mapping[tuple[Key, ...], Doubt]]]


def _detail(expect: Expect, rows: Sequence[Row], holds: bool | None, sides: Sides) -> str:
    """Say how many of the rows decide the verdict, and show the first three of them with their numbers."""
    if not rows:
        return "there is no result to judge it by"
    dims = expect.query.dims
    deciding = [row for row in rows if (row.value == 0 if holds is False else (row.value is None) == (holds is None))]
    texts = [_row_text(dims, row, sides) for row in deciding[:_SHOWN]]
    more = f"; and {len(deciding) - _SHOWN} more" if len(deciding) > _SHOWN else ""
    words = _SAID[holds]
    count = f" for {len(deciding)} of {len(rows)}" if dims else ""
    listed = "; ".join(text for text in texts if text)
    return f"{words}{count}: {listed}{more}" if listed else words + count


def _row_text(dims: Sequence[Dimension], row: Row, sides: Sides) -> str:
    """Say `hardware nvme, threads 4: throughput is 12.5 ops/s, limit is 15 ops/s`, or why it is unknown."""
    keys = dict(zip(dims, row.keys, strict=True))
    place = _place(keys)
    numbers = ", ".join(text for side in sides if (text := _side(*side, keys)))
    said = row.reason if row.value is None else numbers
    if isinstance(said, Text) and said.code == "only_a_bound":
        said = f"{said} ({numbers})"
    return ": ".join(part for part in (place, said) if part)


def _keys(keys: Sequence[str]) -> str:
    return ", ".join(keys[:_SHOWN]) + (f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else "")


def _place(keys: Mapping[Dimension, Key]) -> str:
    return ", ".join(f"{dim} {_number(key)}" for dim, key in keys.items())


def _side(
    query: Query, found: Sequence[Row], open_: Mapping[tuple[Key, ...], Doubt], keys: dict[Dimension, Key]
) -> str:
    """Describe a side, unless it is a plain number of the spec, which says nothing new."""
    wanted = [keys.get(dim) for dim in query.dims]
    value = next((row.value for row in found if list(row.keys) == wanted), None)
    mark = open_.get(tuple(wanted), KNOWN).mark
    return "" if value is None or is_number(query) else f"{query.text} is {mark}{_quantity(value, query.unit)}"


def _quantity(value: float, unit: str) -> str:
    """Format `16.985 us`, `8,200 ops/s`; times in the largest unit that gives one or more."""
    if unit == "s" and value:
        size, unit = next((step for step in _TIMES if abs(value) >= step[0]), _TIMES[-1])
        value /= size
    return f"{_number(value)} {unit}" if unit not in ("", "1") else _number(value)


def _number(key: Key) -> str:
    if not isinstance(key, float):
        return str(key)
    return f"{key:,.0f}" if abs(key) >= 1e6 else f"{key:,.6g}"


_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
