"""Writes the texts of a site: numbers, dates, file names, points, and changes with their certainty and cause."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import TYPE_CHECKING

from benchbrief.model.plan import DIMENSIONS
from benchbrief.model.points import PointKeys, word_of_key
from benchbrief.model.precision import formatted
from benchbrief.reports.text.number_format import fixed, quantity
from benchbrief.reports.words.brief_words import Words, counted
from benchbrief.results.compare.comparison import PointValues

if TYPE_CHECKING:
    from benchbrief.history.series_changes import Change, LabShare


def worth(change: Change) -> str:
    """Return whether a change is for the better, for the worse, or neutral."""
    return "differs" if change.worse is None else "worse" if change.worse else "better"


def percent(ratio: float) -> str:
    """Return a ratio as a change in per cent, such as `+5.1 %`."""
    return f"{_signed((ratio - 1) * 100)} %"


def changed_by(change: Change, unit: str) -> str:
    """Return the change with its interval, in per cent or, if there is no ratio, in the unit."""
    if change.ratio is None:
        apart = change.after - change.before
        return ("−" if apart < 0 else "+") + amount(abs(apart), unit)
    ends = ""
    if change.interval is not None:
        ends = f" ({' to '.join(_signed((end - 1) * 100) for end in change.interval)})"
    return f"{percent(change.ratio)}{ends}"


def amount(value: float, unit: str) -> str:
    """Return a value with its unit, with four significant digits."""
    return f"{formatted(value * 100, '.3g')} %" if unit == "share" else quantity(value, unit, significant=4)


def p_text(p: float) -> str:
    """Format a p-value. A value below 0.0001 becomes `p < 0.0001`."""
    return "p < 0.0001" if p < 1e-4 else f"p = {formatted(p, '.2g')}"


def lab_text(lab: LabShare) -> str:
    """Say what the control series show about a change, or return "" if they did not change."""
    if lab.is_lab:
        return f"the lab's: the control changed by {percent(lab.change)} in the same runs"
    if lab.is_part:
        return f"in part the lab's: the control changed by {percent(lab.change)}, and {percent(lab.rest)} is left"
    return ""


def remarks(change: Change) -> Iterator[str]:
    """Yield further remarks on a change: its runs, the spec's revisions, the lab's share, and the verdict."""
    yield f"first in {change.first.run_id}, last before it {change.last.run_id}"
    if change.first.revision and change.last.revision and change.first.revision != change.last.revision:
        yield f"the spec was {change.last.revision[:12]}, and is {change.first.revision[:12]}"
    if change.lab and (text := lab_text(change.lab)):
        yield text
    if change.verdict:
        yield f"verdict: {change.verdict.verdict}" + (f", {change.verdict.note}" if change.verdict.note else "")


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'}{fixed(abs(value), 1)}"


_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_AS_MADE = re.compile(r"-[0-9a-f]{8}\Z")
"""Matches the suffix of a name that `slug` made. A text that already has such a suffix gets another one, because it
might equal the name of another text."""
_LONGEST = 60
MISSING = "–"


def slug(text: str) -> str:
    """Return a file name of safe characters that is different for each text."""
    plain = _UNSAFE.sub("-", text).strip(".-")[:_LONGEST].strip(".-")
    if plain and plain == text and not _AS_MADE.search(plain):
        return plain
    return f"{plain or 'x'}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def date_of(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M") if at else MISSING
    except (OverflowError, ValueError, OSError):
        return MISSING


def point_text(point: PointKeys, words: Words, hidden: Iterable[str], labels: Mapping[str, str]) -> str:
    """Return a point in words, such as `YCSB A, 16 threads`."""
    parts = []
    for dim, key in point:
        if dim in hidden or key is None:
            continue
        if isinstance(key, str) or dim not in DIMENSIONS:
            word = word_of_key(dim, key)
            parts.append(labels.get(word, word))
        elif dim == "threads":
            parts.append(counted(words, "at_threads", key))
        elif dim == "target":
            parts.append(counted(words, "at_target", key))
        else:
            parts.append(f"{dim} {key:g}")
    return ", ".join(parts) or words["site_all"]


def same_dims(points: Sequence[PointKeys]) -> set[str]:
    """Return which of `experiment` and `hardware` have the same key at all points and so need not be shown."""
    keys: dict[str, set[object]] = {}
    for point in points:
        for dim, key in point:
            keys.setdefault(dim, set()).add(key)
    return {dim for dim, found in keys.items() if len(found) == 1 and dim in ("experiment", "hardware")}


def value_text(value: float | None, unit: str) -> str:
    if value is None or not isfinite(value):
        return MISSING
    return f"{fixed(100 * value, 2)} %" if unit == "share" else quantity(value, unit)


def shown_value(values: PointValues | None, unit: str) -> str:
    if values is None or not values.is_known:
        return MISSING
    if values.value is None and values.bounds:
        low, high = values.bounds
        return f"{value_text(low, unit)} … {value_text(high, unit) if isfinite(high) else '∞'}"
    return values.doubt.mark + value_text(values.value, unit)


def spread_text(values: PointValues | None) -> str:
    """Return how far the repeats spread around a value, such as `±0.8 %`, or `−1.2/+0.9 %` for a percentile. Return ""
    if there is no meaningful spread."""
    if values is None or values.bounds or values.interval is None or not values.value or values.value < 0:
        return ""
    low, high = (abs(end / values.value - 1) * 100 for end in values.interval)
    digits = 0 if max(low, high) >= 10 else 1
    return f"−{fixed(low, digits)}/+{fixed(high, digits)} %" if values.percentile else f"±{fixed(high, digits)} %"


def change_text(ratio: float | None) -> str:
    """Return a change as `+4.8 %`, or as a factor if it is huge."""
    if ratio is None or not isfinite(ratio):
        return "≠"
    if ratio > 11:
        return f"×{fixed(ratio, 0)}"
    share = (ratio - 1) * 100
    return f"{'+' if share >= 0 else '−'}{fixed(abs(share), 1 if abs(share) < 99.95 else 0)} %"


def difference_text(value: float, unit: str, words: Words) -> str:
    """Return a difference as `+2.4 ops/s/W` or, for shares, in percentage points as `+3.1 points`."""
    sign, size = "−" if value < 0 else "+", abs(value)
    if unit in ("share", "%"):
        amount = 100 * size if unit == "share" else size
        return sign + words["site_percentage_points"].format(n=fixed(amount, 2 if amount < 10 else 1))
    return sign + value_text(size, unit)


def metric_key(name: str) -> str:
    """Return the key of a metric's label, which differs from the keys of hardware and workloads with the same name."""
    return f"metric {name}"


def quantity_name(name: str, label: str, words: Words) -> str:
    """Return a quantity's name in words: `Throughput`, `p99 latency, read`, or the label of a metric."""
    if label:
        return label
    if name == "throughput":
        return words["site_throughput"]
    if name == "errors":
        return words["site_errors"]
    if name == "sustained":
        return words["site_sustained"]
    if found := re.fullmatch(r"latency\.(\w+)\[(.*)\]", name):
        return words["site_latency"].format(statistic=found[1], operation=found[2])
    return name
