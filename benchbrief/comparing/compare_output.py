"""Formats the output of `bench compare` for a terminal, as JSON, as Markdown, and as the cases of a JUnit file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import floor, inf, isfinite, log10
from typing import TYPE_CHECKING

from benchbrief.cli.terminal import latency, one_line, rate
from benchbrief.cli.verdict_files import Case, State, inline, table
from benchbrief.model.points import word_of_key

if TYPE_CHECKING:
    from benchbrief.comparing.judged_contenders import NamedContender
    from benchbrief.results.compare.comparison import Comparison, PairOutcome, PointValues
    from benchbrief.results.compare.contender import Difference

COLOURS = {"better": "green", "worse": "red", "differs": "yellow", "unknown": "yellow"}
_MARKS = {"better": "✅ better", "worse": "❌ worse"}
_WORDS = {"unknown": "can't tell"}
_HEAD = ("metric", "point", "A", "B", "change", "verdict")
_MOST_DIFFERENCES = 12
_SHARES = {"share": 100.0, "%": 1.0}
"""The units of shares, each with the factor that converts it to percentage points."""
_ANYTHING = 10.0
"""The limits for a ratio's interval. An interval that includes both is too wide to be useful, and is replaced by
words."""
_HUGE = 11
"""The ratio above which changes are shown as factors (more than 1,000 %)."""
_WHOLE = 99.95
"""The smallest change, in per cent, that is written without decimals."""
_MOST_DECIMALS = 4
_LONGEST = 160
"""The most characters of a reason. The reason of a failed cell includes its tool's output and may be long."""
_MISSING = "–"


def verdict_word(verdict: str) -> str:
    return _WORDS.get(verdict, verdict)


def table_rows(rows: Sequence[Comparison]) -> list[tuple[str, ...]]:
    """Return the table's rows, with the columns of `_HEAD`. Only the first row of a metric names the metric."""
    shown: list[tuple[str, ...]] = []
    before = None
    hidden = find_constant_dimensions(rows)
    for row in rows:
        name = row.quantity if row.quantity != before else ""
        first, second = format_values(row.first, row.unit), format_values(row.second, row.unit)
        verdict = (
            f"{verdict_word(row.verdict)}: {shorten_reason(row.reason)}"
            if row.verdict == "unknown"
            else verdict_word(row.verdict)
        )
        shown.append((name, one_line(format_point(row, hidden)), first, second, format_change(row), verdict))
        before = row.quantity
    return shown


def shorten_reason(reason: str) -> str:
    """Return a reason in one short line. The output of `--json` has the whole reason."""
    text = one_line(reason)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()}..."


def find_constant_dimensions(rows: Sequence[Comparison]) -> set[str]:
    """Return the dimensions with the same key everywhere, which need not be shown. Workload and load are
    always shown."""
    keys: dict[str, set[object]] = {}
    for row in rows:
        for dim, key in row.point:
            keys.setdefault(dim, set()).add(key)
    return {dim for dim in ("experiment", "hardware") if len(keys.get(dim, ())) == 1}


def format_point(row: Comparison, hidden: set[str]) -> str:
    parts = []
    for dim, key in row.point:
        if key is None or dim in hidden:
            continue
        is_rate = dim == "target" and not isinstance(key, str)
        parts.append(f"{rate(float(key))} offered" if is_rate else word_of_key(dim, key))
    return "/".join(parts) or "all"


def format_values(values: PointValues | None, unit: str, *, with_spread: bool = True) -> str:
    """Format a value with its spread: `15,203 ops/s ±0.8 %`. For a percentile, the spread is how far the repeats lie
    below and above it: `1.23 ms −3.0/+5.2 %`. If a value is known only within bounds, these follow it: `5,000 ops/s
    (4,926 to 5,075)`.
    """
    if values is not None and values.bounds is not None:
        return _bounded(values, *values.bounds, unit, with_spread=with_spread)
    if values is None or values.value is None:
        return _MISSING
    text = values.doubt.mark + format_quantity(values.value, unit)
    if values.interval is None or not values.value or not with_spread:
        return text
    if unit in _SHARES or values.value < 0:  # a percentage of a percentage would be taken for points
        below, above = (format_amount(abs(end - values.value), unit) for end in values.interval)
        return f"{text} −{below}/+{above}" if values.percentile else f"{text} ±{above}"
    low, high = (abs(end / values.value - 1) * 100 for end in values.interval)
    if not values.percentile:
        return f"{text} ±{format_fixed(high, _decimals(10, high))} %"
    decimals = _decimals(10, low, high)
    return f"{text} −{format_fixed(low, decimals)}/+{format_fixed(high, decimals)} %"


def _bounded(values: PointValues, low: float, high: float, unit: str, *, with_spread: bool) -> str:
    """Format a value with its bounds: `5,000 ops/s (4,926 to 5,075)`, `≥ 20,000 ops/s`, `below 1,000 ops/s`, or for a
    price `≤ 2 USD`, `above 3 USD`."""
    value = values.value
    if value is None and high == inf:
        return f"above {format_quantity(low, unit)}" if low > 0 else _MISSING
    if value is None:
        return (
            f"below {format_quantity(high, unit)}"
            if not low
            else f"{format_without_unit(low, unit)} to {format_quantity(high, unit)}"
        )
    text = values.doubt.mark + format_quantity(value, unit)
    has_ends = high < inf and (low > 0 or high > value)
    return (
        f"{text} ({format_without_unit(low, unit)} to {format_without_unit(high, unit)})"
        if with_spread and has_ends
        else text
    )


def format_without_unit(value: float, unit: str) -> str:
    """Write a quantity without its unit."""
    return format_quantity(value, unit).removesuffix(unit).rstrip()


def _decimals(whole_from: float, *values: float) -> int:
    """Return how many decimals to show for numbers side by side. If one of them is `whole_from` or more, this is 0.
    Otherwise, it is 1, or as many as are needed to show the largest number as more than 0."""
    largest = max(map(abs, values))
    return 0 if largest >= whole_from else 1 if largest >= 0.1 or largest == 0 else min(6, -floor(log10(largest)))


def format_fixed(value: float, decimals: int, *, signed: bool = False) -> str:
    """Write a number as `+1,234.5`, with a true minus sign."""
    return f"{value:{'+' if signed else ''},.{decimals}f}".replace("-", "−")


def format_quantity(value: float, unit: str) -> str:
    match unit:
        case "ops/s":
            return rate(value)
        case "s":
            return latency(value)
        case "share":
            return f"{value * 100:.3g} %"
        case _:
            text = (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}").replace("-", "−")
            return f"{text} {unit}" if unit not in ("", "1") else text


def format_amount(value: float, unit: str) -> str:
    """Write a difference, such as `2.4 ops/s/W`. A difference of shares is in percentage points: `3.1 points`."""
    return (
        f"{format_fixed(value * _SHARES[unit], _decimals(100, value * _SHARES[unit]))} points"
        if unit in _SHARES
        else format_quantity(value, unit)
    )


def format_change(row: Comparison) -> str:
    """Format a change with its interval: `+17.2 % (+14.1 to +20.3)`. A huge change is given as a factor: `19,000 times
    (120 to 41,000)`. An interval that is too wide is replaced by `(too wide to say)`. For shares, or if there is no
    ratio, the difference is given instead: `−39.9 points (−41.1 to −38.7)`.

    If the change between A and B differs from the change between the repeats, both are shown: `+63 %, of repeats +94 %
    (−27 to +420)`.
    """
    tested = _tested(row)
    if not row.is_apart or row.first is None or row.second is None:
        return tested
    first, second = row.first.value, row.second.value
    if first is None or second is None:
        return tested
    if row.ratio is None or row.unit in _SHARES:
        return f"{_difference(second - first, None, row.unit)}, of repeats {tested}"
    shown = f"{_times(second / first)} times" if " times" in tested else f"{_percents(second / first)[0]} %"
    return f"{shown}, of repeats {tested}"


def _tested(row: Comparison) -> str:
    if row.ratio is None or row.unit in _SHARES:
        return _MISSING if row.difference is None else _difference(row.difference, row.difference_interval, row.unit)
    ends = row.interval or ()
    if max(each for each in (row.ratio, *ends) if isfinite(each)) > _HUGE:
        change, *interval = (_times(ratio) for ratio in (row.ratio, *ends))
        change += " times"
    else:
        change, *interval = _percents(row.ratio, *ends)
        change += " %"
    if ends and ends[1] == inf:
        return f"{change} (≥ {interval[0]})"
    if interval and _says_nothing(*ends):
        return f"{change} (too wide to say)"
    if interval:
        return f"{change} ({' to '.join(interval)})"
    return f"{change} (unbounded)" if row.p is not None else change


def _says_nothing(low: float, high: float) -> bool:
    """Return whether a ratio's interval includes both 1/10 and 10."""
    return low < 1 / _ANYTHING and high > _ANYTHING


def _difference(value: float, ends: tuple[float, float] | None, unit: str) -> str:
    if unit in _SHARES:
        points = [_SHARES[unit] * each for each in (value, *(ends or ()))]
        change, *interval = (format_fixed(each, _decimals(100, *points), signed=True) for each in points)
        change += " points"
    else:
        change, *interval = (
            ("−" if each < 0 else "+") + format_quantity(abs(each), unit) for each in (value, *(ends or ()))
        )
    return f"{change} ({' to '.join(interval)})" if interval else change


def _percents(*ratios: float) -> list[str]:
    """Convert ratios to changes in per cent, all with the same number of decimals. A change is shown as −100 only if
    nothing is left."""
    changes = [(ratio - 1) * 100 for ratio in ratios]
    decimals = 0 if max(map(abs, changes)) >= _WHOLE else 1
    while decimals < _MOST_DECIMALS and any(
        ratio > 0 and format_fixed(change, decimals) == format_fixed(-100, decimals)
        for ratio, change in zip(ratios, changes, strict=True)
    ):
        decimals += 1
    return [format_fixed(change, decimals, signed=True) for change in changes]


def _times(ratio: float) -> str:
    """Write a factor with two or three digits: `19,000`, `137`, `1.37`."""
    if ratio < 1000:
        return f"{ratio:.3g}".replace("-", "−")
    size = 10 ** (floor(log10(ratio)) - 1)
    return f"{round(ratio / size) * size:,}"


def count_verdicts(outcome: PairOutcome) -> str:
    """Count the verdicts, as in `2 worse, 1 better, 5 within noise`."""
    counts = Counter(verdict_word(row.verdict) for row in outcome.comparisons)
    order = ("worse", "better", "differs", "within threshold", "within noise", "same measurement", "can't tell")
    return ", ".join(f"{counts[each]} {each}" for each in order if counts[each])


def difference_lines(found: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    for what, values in found[:_MOST_DIFFERENCES]:
        yield f"{what}: {' | '.join(value or _MISSING for value in values)}"
    if len(found) > _MOST_DIFFERENCES:
        yield f"and {len(found) - _MOST_DIFFERENCES} more (--json has them all)"


def as_dict(
    references: Sequence[NamedContender],
    outcome: PairOutcome,
    found: Sequence[Difference],
    threshold: float,
    origins: Sequence[str],
) -> dict[str, object]:
    return {
        "first": describe_side(references[0], origins[0]),
        "second": describe_side(references[1], origins[1]),
        "threshold": threshold,
        "differences": [asdict(each) for each in found],
        "comparisons": [_row(row) for row in outcome.comparisons],
        "only_first": list(outcome.only_first),
        "only_second": list(outcome.only_second),
        "worse": len(outcome.worse),
    }


def describe_side(reference: NamedContender, origin: str) -> dict[str, object]:
    said = {"named": reference.text, "run": reference.run_dir.name, "hardware": reference.hardware or None}
    return {**said, "levels": reference.levels, "origin": origin}


def _row(row: Comparison) -> dict[str, object]:
    sides = {name: side and describe_values(side) for name, side in (("first", row.first), ("second", row.second))}
    named = {"metric": row.quantity, "unit": row.unit, "better": row.better}
    return {**named, **dict(row.point), **sides, **describe_pair(row)}


def describe_values(side: PointValues) -> dict[str, object]:
    return {
        "value": side.value,
        "interval": _finite(side.interval),
        "repeats": list(side.repeats),
        "percentile": side.percentile,
        "bound": side.doubt.bound,
        "decided": side.doubt.decided,
    }


_OF_PAIR = ("ratio", "difference", "level", "p", "p_holm", "verdict", "reason")


def describe_pair(row: Comparison) -> dict[str, object]:
    intervals = {"interval": _finite(row.interval), "difference_interval": _finite(row.difference_interval)}
    return {**{name: getattr(row, name) for name in _OF_PAIR}, **intervals}


def _finite(interval: tuple[float, float] | None) -> tuple[float | None, float | None] | None:
    """Return an interval for JSON. An infinite end becomes null, since JSON has no infinity."""
    if interval is None:
        return None
    low, high = (end if isfinite(end) else None for end in interval)
    return low, high


def cases(outcome: PairOutcome, called: Sequence[str] = "AB", *, strict: bool = False) -> Iterator[Case]:
    """Yield the cases of a JUnit file. A worse point is a failure. A point that can't be judged is skipped or, with
    `strict`, a failure.

    Only the first case of a point has a duration, which is how many seconds B was measured. A build server adds
    durations up, so each duration must be given only once.
    """
    timed = set()
    for row in outcome.comparisons:
        detail = f"{format_values(row.first, row.unit)} -> {format_values(row.second, row.unit)}, {format_change(row)}"
        detail += f": {verdict_word(row.verdict)}"
        detail += f" ({row.reason})" if row.reason else ""
        failing = row.verdict == "worse" or (strict and row.verdict == "unknown")
        state: State = "failure" if failing else "skipped" if row.verdict == "unknown" else "ok"
        whole = bool(row.point) and row.point[0][0] == "experiment" and row.key not in timed
        seconds = row.second.seconds if row.second and whole else 0.0
        timed.add(row.key)
        yield Case(row.key, row.quantity, state, detail, seconds)
    for only, other in ((outcome.only_first, called[1]), (outcome.only_second, called[0])):
        for point in only:
            state = "failure" if strict and only is outcome.only_first else "skipped"
            yield Case(point, "measured by both", state, f"{other} has not measured it")


def markdown(title: str, outcome: PairOutcome, found: Sequence[Difference], notes: Sequence[str]) -> str:
    """Return a heading with the counts and the better and worse points. All other points are folded away."""
    rows = list(outcome.comparisons)
    notable = [row for row in rows if row.verdict in ("better", "worse", "differs")]
    others = [row for row in rows if row not in notable]
    lines = [f"## {inline(title)}", "", f"**{count_verdicts(outcome) or 'nothing to compare'}**", ""]
    if notable:
        lines += [*_table(notable), ""]
    if others:
        lines += [f"<details><summary>{len(others)} others</summary>", "", *_table(others), "", "</details>", ""]
    if found:
        lines += ["What else differs:", ""]
        lines += table(("", "A", "B"), [(each.what, each.first or _MISSING, each.second or _MISSING) for each in found])
        lines += [""]
    lines += [f"- {inline(note)}" for note in notes]
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Comparison]) -> list[str]:
    marked = [(*cells[:-1], _MARKS.get(cells[-1], cells[-1])) for cells in table_rows(rows)]
    return table(_HEAD, marked)
