"""How `bench compare` tells what it found: on a terminal, as JSON, in Markdown, as the cases of a JUnit file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from benchbrief.junit import Case, State
from benchbrief.quantities import latency, rate
from benchbrief.terminal import printable
from benchbrief.verdict_files import inline, table

if TYPE_CHECKING:
    from benchbrief.compared_loads import Loads
    from benchbrief.contenders import Reference
    from benchbrief.results.comparison import Comparison, Outcome, Values
    from benchbrief.results.contenders import Contender
    from benchbrief.results.differences import Difference

COLOURS = {"better": "green", "worse": "red", "differs": "yellow", "unknown": "yellow"}
_MARKS = {"better": "✅ better", "worse": "❌ worse"}
_WORDS = {"unknown": "can't tell"}
HEAD = ("metric", "point", "A", "B", "change", "verdict")
_MOST_DIFFERENCES = 12
_SHARES = {"share": 100.0, "%": 1.0}
"""Units of shares, with what makes percentage points of them."""
_PERCEPTIBLE = 0.02
_MISSING = "–"


def word(row: Comparison) -> str:
    return _WORDS.get(row.verdict, row.verdict)


def told_rows(rows: Sequence[Comparison]) -> list[tuple[str, ...]]:
    """The cells of the table, by `HEAD`; a metric is named once."""
    told: list[tuple[str, ...]] = []
    before = None
    hidden = _same_everywhere(rows)
    for row in rows:
        name = row.quantity if row.quantity != before else ""
        first, second = _measured(row.first, row.unit), _measured(row.second, row.unit)
        verdict = f"{word(row)}: {row.reason}" if row.verdict == "unknown" else word(row)
        told.append((name, printable(_point(row, hidden)), first, second, _change(row), verdict))
        before = row.quantity
    return told


def _same_everywhere(rows: Sequence[Comparison]) -> set[str]:
    """Dimensions that have one key throughout tell nothing, but for the workload and the load."""
    keys: dict[str, set[object]] = {}
    for row in rows:
        for dim, key in row.point:
            keys.setdefault(dim, set()).add(key)
    return {dim for dim in ("experiment", "hardware") if len(keys.get(dim, ())) == 1}


def _point(row: Comparison, hidden: set[str]) -> str:
    parts = []
    for dim, key in row.point:
        if key is None or dim in hidden:
            continue
        parts.append(
            str(key) if isinstance(key, str) else f"{rate(key)} offered" if dim == "target" else f"{dim}={key:g}"
        )
    return "/".join(parts) or "all"


def _measured(values: Values | None, unit: str) -> str:
    """`15,203 ops/s ±0.8 %`; of a percentile, how far the repeats lie below and above: `1.23 ms -3/+5 %`."""
    if values is None or values.value is None:
        return _MISSING
    text = quantity(values.value, unit)
    if values.interval is None or not values.value:
        return text
    if unit in _SHARES or values.value < 0:  # a percentage of a percentage would be taken for points
        below, above = (amount(abs(end - values.value), unit) for end in values.interval)
        return f"{text} -{below}/+{above}" if values.percentile else f"{text} ±{above}"
    low, high = ((end / values.value - 1) * 100 for end in values.interval)
    if values.percentile:
        return f"{text} -{_share(low)}/+{_share(high)} %"
    return f"{text} ±{_share(high)} %"


def _share(percent: float) -> str:
    return f"{abs(percent):,.0f}" if abs(percent) >= 10 else f"{abs(percent):.2g}"


def quantity(value: float, unit: str) -> str:
    match unit:
        case "ops/s":
            return rate(value)
        case "s":
            return latency(value)
        case "share":
            return f"{value * 100:.3g} %"
        case _:
            text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
            return f"{text} {unit}" if unit not in ("", "1") else text


def amount(value: float, unit: str) -> str:
    """Of a difference: `2.4 ops/s/W`; of shares `3.1 points`, percentage points."""
    return f"{value * _SHARES[unit]:.3g} points" if unit in _SHARES else quantity(value, unit)


def _signed(value: float, unit: str) -> str:
    return ("-" if value < 0 else "+") + amount(abs(value), unit)


def _change(row: Comparison) -> str:
    """`+17.2 % (+14.1 to +20.3)`, the interval of the ratio as changes; of shares, and where there is no ratio, the
    difference: `-39.9 points (-41.1 to -38.7)`."""
    if row.ratio is None or row.unit in _SHARES:
        if row.difference is None:
            return _MISSING
        told = _signed(row.difference, row.unit)
        if row.difference_interval is None:
            return told
        lowest, highest = (_signed(end, row.unit) for end in row.difference_interval)
        return f"{told} ({lowest.removesuffix(' points')} to {highest.removesuffix(' points')})"
    change = f"{_percent(row.ratio)} %"
    if row.interval is None:
        return f"{change} (unbounded)" if row.p is not None else change
    low, high = row.interval
    return f"{change} ({_percent(low)} to {_percent(high)})"


def _percent(ratio: float) -> str:
    change = (ratio - 1) * 100
    return f"{change:+.1f}" if abs(change) < 100 else f"{change:+,.0f}"


def counted(outcome: Outcome) -> str:
    """`2 worse, 1 better, 5 within noise`."""
    counts = Counter(word(row) for row in outcome.comparisons)
    order = ("worse", "better", "differs", "within threshold", "within noise", "same measurement", "can't tell")
    return ", ".join(f"{counts[each]} {each}" for each in order if counts[each])


def told_differences(found: Sequence[Difference]) -> Iterator[str]:
    for each in found[:_MOST_DIFFERENCES]:
        yield f"{each.what}: {each.first or _MISSING} | {each.second or _MISSING}"
    if len(found) > _MOST_DIFFERENCES:
        yield f"and {len(found) - _MOST_DIFFERENCES} more (--json has them all)"


def cautions(first: Contender, second: Contender, outcome: Outcome, threshold: float) -> Iterator[str]:
    """What a reader has to know of the numbers."""
    for origin, what in (("simulated", "nothing was measured"), ("imported", "not measured here")):
        sides = [name for side, name in ((first, "A"), (second, "B")) if side.origin == origin]
        if sides:
            yield f"{' and '.join(sides)} {'is' if len(sides) == 1 else 'are'} {origin}: {what}"
    for side, name in ((first, "A"), (second, "B")):
        if any(metric.percentile is None for metric in side.plan.metrics):
            yield (
                f"metrics of the spec are left out: an earlier benchbrief made the plan of {name}, which does not say "
                "which of them are percentiles; run the spec again to compare them"
            )
    yield from told_definitions(first, second)
    same = sum(row.verdict == "same measurement" for row in outcome.comparisons)
    if same:
        yield (
            f"{same} of {len(outcome.comparisons)} comparisons are of one measurement, which a run took from "
            "an earlier one: measure anew with `bench run --fresh`"
        )
    for only, name in ((outcome.only_first, "A"), (outcome.only_second, "B")):
        if only:
            more = f" and {len(only) - 3} more" if len(only) > 3 else ""
            yield f"only {name} has {', '.join(only[:3])}{more}"
    few = sum("too few repeats" in row.reason for row in outcome.comparisons)
    if few:
        yield f"{few} comparisons can't be told from noise with one repeat: say `repeats = 3` or more in the experiment"
    yield from _told_few(first, second, outcome.comparisons)
    yield from told_apart(outcome.comparisons)
    tested = sum(row.p is not None for row in outcome.comparisons)
    if tested:
        yield (
            "better and worse: p below 5 % after Holm's correction for the points of each metric"
            + (f", and a change of {threshold * 100:.3g} % or more" if threshold else "")
            + "; ± and ( ) are 95 % intervals over repeats, -/+ the repeats of a percentile"
        )


def _told_few(first: Contender, second: Contender, rows: Sequence[Comparison]) -> Iterator[str]:
    from benchbrief.results.beyond import FEWEST, resting_on_few

    found = [row for side in (first, second) for row in resting_on_few(side, rows)]
    few = [row for row in rows if row in found]
    if few:
        one = f"{few[0].quantity} at {printable(_point(few[0], {'experiment'}))}"
        yield (
            f"{len(few)} of {len(rows)} comparisons are of a percentile with fewer than {FEWEST} operations beyond it "
            f"in some repeat, which decide it ({one}{', ...' if len(few) > 1 else ''}): measure for longer"
        )


def told_loads(outcome: Outcome, loads: Loads, *, judged: bool) -> Iterator[str]:
    """That some of what is compared was measured with another load."""
    count = sum(bool(loads.why_other(row.point)) for row in outcome.comparisons)
    if count:
        yield f"{count} of {len(outcome.comparisons)} comparisons are of another load, told above" + (
            "" if judged else ", and not judged: a change may be the load's; --other-load judges them all the same"
        )


def told_apart(rows: Sequence[Comparison]) -> Iterator[str]:
    """The rows whose change is not the one that A and B show."""
    apart = [f"{row.quantity} at {printable(_point(row, {'experiment'}))}" for row in rows if _apart(row)]
    if apart:
        more = f" and {len(apart) - 3} more" if len(apart) > 3 else ""
        yield (
            f"the change of {', '.join(apart[:3])}{more} is that of the repeats' own values, which is tested; A and B "
            "are over all repeats, and lie otherwise from each other"
        )


def _apart(row: Comparison) -> bool:
    if row.first is None or row.second is None or row.first.value is None or row.second.value is None:
        return False
    if row.ratio is not None and row.unit not in _SHARES:
        return abs(row.ratio - row.second.value / row.first.value) > _PERCEPTIBLE
    shown, size = row.second.value - row.first.value, max(abs(row.first.value), abs(row.second.value))
    return row.difference is not None and abs(row.difference - shown) > _PERCEPTIBLE * size


def told_definitions(first: Contender, second: Contender, names: Container[str] | None = None) -> Iterator[str]:
    """The metrics (those of `names`) that are left out, since they are not the same in both."""
    from benchbrief.results.definitions import defined_otherwise

    for name, of, one, other in defined_otherwise(first.plan, second.plan):
        if names is None or name in names:
            whose = f"`{name}`" if of == name else f"`{name}`: `{of}`, which it is made of,"
            yield f"{whose} is defined otherwise, and left out: {one} in A, {other} in B"


def as_dict(
    first: Reference,
    second: Reference,
    outcome: Outcome,
    found: Sequence[Difference],
    threshold: float,
    origins: tuple[str, str],
) -> dict[str, object]:
    return {
        "first": _side(first, origins[0]),
        "second": _side(second, origins[1]),
        "threshold": threshold,
        "differences": [asdict(each) for each in found],
        "comparisons": [_row(row) for row in outcome.comparisons],
        "only_first": list(outcome.only_first),
        "only_second": list(outcome.only_second),
        "worse": len(outcome.worse),
    }


def _side(reference: Reference, origin: str) -> dict[str, object]:
    hardware = reference.hardware or None
    return {"named": reference.text, "run": reference.run_dir.name, "hardware": hardware, "origin": origin}


def _row(row: Comparison) -> dict[str, object]:
    sides = {
        name: side
        and {
            "value": side.value,
            "interval": side.interval,
            "repeats": list(side.repeats),
            "percentile": side.percentile,
        }
        for name, side in (("first", row.first), ("second", row.second))
    }
    return {
        "metric": row.quantity,
        "unit": row.unit,
        "better": row.better,
        **dict(row.point),
        **sides,
        "ratio": row.ratio,
        "interval": row.interval,
        "difference": row.difference,
        "difference_interval": row.difference_interval,
        "p": row.p,
        "p_holm": row.p_holm,
        "verdict": row.verdict,
        "reason": row.reason,
    }


def cases(outcome: Outcome, *, strict: bool = False) -> Iterator[Case]:
    """Worse is a failure; what can't be told is skipped, or with `strict` a failure, too.

    The first case of a point has the measured seconds of B there, the others none, and none that a metric reduced: a
    build server adds them up.
    """
    timed = set()
    for row in outcome.comparisons:
        detail = f"{_measured(row.first, row.unit)} -> {_measured(row.second, row.unit)}, {_change(row)}: {word(row)}"
        detail += f" ({row.reason})" if row.reason else ""
        failing = row.verdict == "worse" or (strict and row.verdict == "unknown")
        state: State = "failure" if failing else "skipped" if row.verdict == "unknown" else "ok"
        whole = bool(row.point) and row.point[0][0] == "experiment" and row.key not in timed
        seconds = row.second.seconds if row.second and whole else 0.0
        timed.add(row.key)
        yield Case(row.key, row.quantity, state, detail, seconds)
    for only, other in ((outcome.only_first, "B"), (outcome.only_second, "A")):
        for point in only:
            state = "failure" if strict and other == "B" else "skipped"
            yield Case(point, "measured by both", state, f"{other} has not measured it")


def markdown(title: str, outcome: Outcome, found: Sequence[Difference], notes: Sequence[str]) -> str:
    """A heading with the counts, what is worse or better, and all else folded away."""
    rows = list(outcome.comparisons)
    notable = [row for row in rows if row.verdict in ("better", "worse", "differs")]
    others = [row for row in rows if row not in notable]
    lines = [f"## {inline(title)}", "", f"**{counted(outcome) or 'nothing to compare'}**", ""]
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
    marked = [(*cells[:-1], _MARKS.get(cells[-1], cells[-1])) for cells in told_rows(rows)]
    return table(HEAD, marked)
