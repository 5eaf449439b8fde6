"""Alternative texts: what a figure shows, in words, for readers who do not see it."""

from __future__ import annotations

from collections.abc import Sequence

from benchbrief.reports.chart import Chart
from benchbrief.reports.drawn import Drawn
from benchbrief.reports.source import Results
from benchbrief.reports.values import automatic, with_unit
from benchbrief.reports.words import Words

_MANY = 12  # series: beyond, their ends are told by the finding and the table of data alone


def alternative(charts: Sequence[Chart], drawn: Sequence[Drawn], results: Results, x_dim: str | None) -> str:
    """Kind, axes, the ends of each series, and which series is highest, panel by panel."""
    words, chart = results.words, charts[0]
    marks = {d.trace.mark for d in drawn} - {"rule"}
    mark = "mixed" if len(marks) > 1 else next(iter(marks), "rule")
    kind = words[f"alt_{mark}"].format(dim=words.get(x_dim or "", x_dim))
    axes = words["alt_curve_axes" if mark == "curve" else "alt_axes"]
    sentences = [axes.format(kind=kind, x=chart.x.title, y=chart.left or chart.right)]
    if chart.right and chart.left:
        sentences.append(words["alt_right"].format(y=chart.right))
    if len(charts) > 1:
        sentences.append(words["alt_panels"].format(n=len(charts)))
    for panel in charts:
        own = [d for d in drawn if d.panel == panel.heading]
        if panel.heading:
            sentences.append(words["alt_panel"].format(name=panel.heading))
        sentences += _findings(own, words)
        if len(drawn) <= _MANY:
            sentences += [_ends(d, words) for d in own]
    return " ".join(sentences)


def _ends(d: Drawn, words: Words) -> str:
    shown = [(automatic(p.y), label) for p, label in zip(d.trace.points, d.labels, strict=True) if p.y is not None]
    name = d.trace.name
    if not shown:
        return words["alt_empty"].format(name=name)
    first, last = with_unit(shown[0][0], d.unit), with_unit(shown[-1][0], d.unit)
    key = "alt_constant" if not shown[0][1] else "alt_single" if len(shown) == 1 else "alt_trace"
    return words[key].format(name=name, first=first, last=last, first_x=shown[0][1], last_x=shown[-1][1])


def _findings(drawn: Sequence[Drawn], words: Words) -> list[str]:
    """For each axis: whether one series is above the others wherever all have a value, and by how much."""
    found = []
    for right in (False, True):
        compared = [d for d in drawn if d.trace.right == right and d.trace.mark != "rule" and not d.trace.dashed]
        compared = [d for d in compared if d.series.label == compared[0].series.label] if compared else []
        if len(compared) < 2:
            continue
        by_key = [{k: p.y for k, p in zip(d.labels, d.trace.points, strict=True) if p.y is not None} for d in compared]
        keys = [k for k in by_key[0] if all(k in values for values in by_key)]
        if not keys:
            continue
        leaders = [max(range(len(compared)), key=lambda i, k=k: by_key[i][k]) for k in keys]  # type: ignore[misc]
        leader = max(set(leaders), key=leaders.count)
        name = compared[leader].trace.name
        if leaders.count(leader) < len(keys):
            text = words["alt_mostly_highest"].format(name=name, n=leaders.count(leader), points=len(keys))
        else:
            others = [max(v[k] for i, v in enumerate(by_key) if i != leader) for k in keys]
            ratios = [by_key[leader][k] / o for k, o in zip(keys, others, strict=True) if o > 0]
            ends = [automatic(float(f"{r:.3g}")) for r in (min(ratios), max(ratios))] if ratios else []
            times = words["to"].join(dict.fromkeys(ends))
            text = words["alt_highest_by" if times else "alt_highest"].format(name=name, times=times)
        found.append(text)
    return found
