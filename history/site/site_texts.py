"""How a site writes numbers, dates, names of files and points."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite

from benchbrief.model.points import PointKeys
from benchbrief.reports.text.number_format import fixed, quantity
from benchbrief.reports.words.brief_words import Words, counted
from benchbrief.results.compare.comparison import Values

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_AS_MADE = re.compile(r"-[0-9a-f]{8}\Z")
"""A text that ends as one of our names for another may be that name."""
_LONGEST = 60
MISSING = "–"


def slug(text: str) -> str:
    """Return a name of a file for any text: of safe signs, and another one for each text."""
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
    """Return `YCSB A, 16 threads`."""
    parts = []
    for dim, key in point:
        if dim in hidden or key is None:
            continue
        if isinstance(key, str):
            parts.append(labels.get(key, key))
        elif dim == "threads":
            parts.append(counted(words, "at_threads", key))
        elif dim == "target":
            parts.append(counted(words, "at_target", key))
        else:
            parts.append(f"{dim} {key:g}")
    return ", ".join(parts) or words["site_all"]


def same_dims(points: Sequence[PointKeys]) -> set[str]:
    """Return the dimensions that tell no points apart."""
    keys: dict[str, set[object]] = {}
    for point in points:
        for dim, key in point:
            keys.setdefault(dim, set()).add(key)
    return {dim for dim, found in keys.items() if len(found) == 1 and dim in ("experiment", "hardware")}


def value_text(value: float | None, unit: str) -> str:
    if value is None or not isfinite(value):
        return MISSING
    return f"{fixed(100 * value, 2)} %" if unit == "share" else quantity(value, unit)


def shown_value(values: Values | None, unit: str) -> str:
    if values is None or not values.is_known:
        return MISSING
    if values.value is None and values.bounds:
        low, high = values.bounds
        return f"{value_text(low, unit)} … {value_text(high, unit) if isfinite(high) else '∞'}"
    return values.doubt.mark + value_text(values.value, unit)


def spread_text(values: Values | None) -> str:
    """Return `±0.8 %`, or `−1.2/+0.9 %` of a percentile: how its repeats lie around it; "" where that says nothing."""
    if values is None or values.bounds or values.interval is None or not values.value or values.value < 0:
        return ""
    low, high = (abs(end / values.value - 1) * 100 for end in values.interval)
    digits = 0 if max(low, high) >= 10 else 1
    return f"−{fixed(low, digits)}/+{fixed(high, digits)} %" if values.percentile else f"±{fixed(high, digits)} %"


def change_text(ratio: float | None) -> str:
    """Return `+4.8 %`; a factor where it is huge."""
    if ratio is None or not isfinite(ratio):
        return "≠"
    if ratio > 11:
        return f"×{fixed(ratio, 0)}"
    share = (ratio - 1) * 100
    return f"{'+' if share >= 0 else '−'}{fixed(abs(share), 1 if abs(share) < 99.95 else 0)} %"


def difference_text(value: float, unit: str, words: Words) -> str:
    """Return `+2.4 ops/s/W`; of shares `+3.1 points`, percentage points."""
    sign, size = "−" if value < 0 else "+", abs(value)
    if unit in ("share", "%"):
        amount = 100 * size if unit == "share" else size
        return sign + words["site_percentage_points"].format(n=fixed(amount, 2 if amount < 10 else 1))
    return sign + value_text(size, unit)


def metric_key(name: str) -> str:
    """Return the key of a metric's label among those of hardware and workloads, which may have its name."""
    return f"metric {name}"


def quantity_name(name: str, label: str, words: Words) -> str:
    """Return `Throughput`, `p99 latency, read`, or the label of a metric."""
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
