"""Alternative texts: what a figure shows, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from benchbrief.compiler.rounding import magnitude, to_digits
from benchbrief.reports.charts.chart import Chart
from benchbrief.reports.charts.drawn_series import Drawn, value_writers
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.text.number_format import fixed, points, with_unit
from benchbrief.reports.words.brief_words import Words, counted

_MANY = 12  # series: above this number, only the finding and the table of data have their ends
_MOST_LEADERS = 4
"""The most series that a finding names where none is the highest everywhere."""


def describe_figure(charts: Sequence[Chart], drawn: Sequence[Drawn], results: Results, x_dim: str | None) -> str:
    """Return kind, axes, the ends of each series, and the highest series, panel by panel."""
    words, chart = results.words, charts[0]
    marks = {d.trace.mark for d in drawn} - {"rule"}
    mark = "mixed" if len(marks) > 1 else next(iter(marks), "rule")
    kind = words[f"alt_{mark}"].format(dim=words.get(x_dim or "", x_dim))
    axes = words["alt_curve_axes" if mark == "curve" else "alt_axes"]
    sentences = [axes.format(kind=kind, x=chart.x.title, y=chart.left or chart.right)]
    if chart.right and chart.left:
        sentences.append(words["alt_right"].format(y=chart.right))
    if chart.x.open:
        sentences.append(counted(words, "alt_candidates", len(chart.x.open)))
    if len(charts) > 1:
        sentences.append(words["alt_panels"].format(n=len(charts)))
    for panel in charts:
        own = [d for d in drawn if d.panel == panel.heading]
        if panel.heading:
            sentences.append(words["alt_panel"].format(name=panel.heading))
        sentences += _findings(own, words)
        if len(drawn) <= _MANY:
            named = zip(drawn, value_writers(drawn), strict=True)
            for d, text in named:
                if d.panel == panel.heading:
                    sentences += [_ends(d, text, words), *_verdicts(d, words)]
    return " ".join(sentences)


def _ends(d: Drawn, text: Callable[[float], str], words: Words) -> str:
    shown = [(p.mark + text(p.y), label) for p, label in zip(d.trace.points, d.labels, strict=True) if p.y is not None]
    name = d.trace.name
    if not shown:
        return words["alt_empty"].format(name=name)
    if d.named:
        return words["alt_named"].format(name=name)
    first, last = with_unit(shown[0][0], d.unit), with_unit(shown[-1][0], d.unit)
    if not shown[0][1]:
        key = "alt_constant"
    elif len(shown) == 1:
        key = "alt_single"
    else:
        key = "alt_level" if shown[0][0] == shown[-1][0] else "alt_trace"
    return words[key].format(name=name, first=first, last=last, first_x=shown[0][1], last_x=shown[-1][1])


def _verdicts(d: Drawn, words: Words) -> list[str]:
    """Return the rates at which a line's promise was broken, and those that the generator could not offer."""
    hollow = [p.x for p in d.trace.points if p.hollow and p.y is not None]
    late = [p.x for p in d.trace.points if p.late and p.y is not None]
    by_search = {
        "alt_broken": sorted([*hollow, *(mark.x for mark in d.trace.refused if not mark.beyond)]),
        "alt_beyond": sorted([*late, *(mark.x for mark in d.trace.refused if mark.beyond)]),
    }
    return [
        words[key].format(name=d.trace.name, rates=words.locale.listed([points([rate]) for rate in rates]))
        for key, rates in by_search.items()
        if rates
    ]


def _findings(drawn: Sequence[Drawn], words: Words) -> list[str]:
    """Return the highest of the series of one quantity on one axis; with the quantity's name where there are
    several."""
    lines = [d for d in drawn if d.trace.mark != "rule"]
    groups: dict[tuple[bool, str], list[Drawn]] = {}
    for d in lines:
        if not d.trace.dashed:
            groups.setdefault((d.trace.right, d.label), []).append(d)
    found = []
    for (_, label), compared in groups.items():
        if len(compared) > 1 and (text := _finding(compared, words)):
            of = "" if len(compared) == len(lines) else words["alt_panel"].format(name=label) + " "
            found.append(f"{of}{text}")
    return found


def _finding(compared: Sequence[Drawn], words: Words) -> str:
    """Return the highest series at the points that all have; "" where less than half of the points have them all."""
    values = [{k: p.y for k, p in zip(d.labels, d.trace.points, strict=True) if p.y is not None} for d in compared]
    keys = list(dict.fromkeys(label for d in compared for label in d.labels))
    common = [key for key in keys if all(key in of_one for of_one in values)]
    if 2 * len(common) < len(keys) or not common:
        return ""
    where = words["alt_everywhere"] if common == keys else counted(words, "alt_where_all", len(common))
    leaders = Counter(_leader([of_one[key] for of_one in values]) for key in common)
    (leader, at), *_ = leaders.most_common()
    if at == len(common) and leader is not None:
        name = compared[leader].trace.name
        times = _times([[of_one[key] for of_one in values] for key in common], leader, words)
        return words["alt_highest_by" if times else "alt_highest"].format(name=name, where=where, times=times)
    if all(len({of_one[key] for of_one in values}) == 1 for key in common):
        return words["alt_equal"].format(where=where)
    ties = leaders.pop(None, 0)
    parts = [
        words["alt_leader"].format(name=compared[place].trace.name, n=n, points=len(common))
        for place, n in leaders.most_common(_MOST_LEADERS)
        if place is not None
    ]
    if ties:
        parts.append(words["alt_tied"].format(n=ties, points=len(common)))
    return words["alt_highest_nowhere"].format(where=where, parts=words["semicolon"].join(parts))


def _leader(values: Sequence[float]) -> int | None:
    """Return the place of the largest value; None for a tie."""
    largest = max(values)
    return values.index(largest) if values.count(largest) == 1 else None


def _times(points: Sequence[Sequence[float]], leader: int, words: Words) -> str:
    """Return the ratio of the leader's value to the next one over all points; "" where a ratio has no meaning: with
    zero, negative or equal values."""
    next_ones = [max(v for place, v in enumerate(values) if place != leader) for values in points]
    if min(next_ones) <= 0:
        return ""
    ratios = [values[leader] / below for values, below in zip(points, next_ones, strict=True)]
    ends = [_three_digits(ratio) for ratio in (min(ratios), max(ratios))]
    return "" if ends[1] == _three_digits(1.0) else words["to"].join(dict.fromkeys(ends))


def _three_digits(value: float) -> str:
    """Return 1.00, 12.3, 1,230."""
    rounded = to_digits(value, 3)
    return fixed(rounded, max(0, 2 - magnitude(rounded)))
