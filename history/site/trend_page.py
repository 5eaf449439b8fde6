"""Shows series over many runs in a single HTML page that needs no network and no script."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from markupsafe import Markup

from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.history.read_series import SeriesValue, differences
from benchbrief.history.series_changes import PartTrend, Trend
from benchbrief.history.site.render_site import single_page
from benchbrief.history.site.site_texts import amount, changed_by, p_text, remarks, worth
from benchbrief.reports.charts.chart import GRID, INK, SOFT
from benchbrief.reports.charts.svg_converter import Converter, NotDrawn
from benchbrief.reports.text.html_markup import writable
from benchbrief.reports.text.number_format import scale_for
from benchbrief.reports.words.brief_words import CATALOGUES

Layer = dict[str, Any]
WIDTH, HEIGHT = 860, 170
_ROOM = 12
"""The space, in pixels, between the outermost points and the edge."""
_COLOURS = {True: "#a3231d", False: "#1b7f4b", None: INK}
"""The colours of changes: for the worse, for the better, and neutral."""
_VALUE, _LEVEL, _LAB = "#0072b2", "#0b3a5b", "#8a5a00"
_VARIABLES = {
    INK: "ink", SOFT: "soft", GRID: "line", _VALUE: "accent", _LEVEL: "brand", _LAB: "changed",
    _COLOURS[True]: "worse", _COLOURS[False]: "better",
}  # fmt: skip
_THEMED = "\n".join(
    f'.drawn [{what}="{colour}"] {{ {what}: var(--{name}); }}'
    for colour, name in _VARIABLES.items()
    for what in ("fill", "stroke")
)
"""A style that gives a chart the colours of the page, light or dark."""


def trend_chart(trend: Trend) -> Layer | None:
    """Return the chart in Vega-Lite's form. Returns None if fewer than two runs have a value, because a single point
    shows no trend.

    Values in an earlier unit are left out, because they have another scale.
    """
    known = [part for part in trend.parts if part.part.known]
    if not known:
        return None
    unit = known[-1].part.unit
    shown = [part for part in known if part.part.unit == unit]
    scale = scale_for([each.value for part in shown for each in part.part.known], unit)
    values = [
        {"at": each.at.isoformat(), "value": scale(each.value), "part": place}
        for place, part in enumerate(shown)
        for each in part.part.known
        if each.value is not None
    ]
    if len(values) < 2:
        return None
    x = {
        "field": "at",
        "type": "temporal",
        "scale": {"type": "utc", "padding": _ROOM},
        "title": None,
        "axis": {"tickCount": 8, "labelFlush": True, "labelOverlap": "greedy"},
    }
    y = {
        "field": "value",
        "type": "quantitative",
        "scale": {"zero": False, "padding": _ROOM},
        "title": scale.unit or None,
        "axis": {"tickCount": 4, "minExtent": 44},
    }
    layers: list[Layer] = [
        _layer(values, {"type": "point", "filled": True, "size": 34, "color": _VALUE, "opacity": 0.6}, x=x, y=y)
    ]
    levels = [level for part in shown for level in _levels(part, scale)]
    layers.append(
        _layer(
            levels,
            {"type": "rule", "color": _LEVEL, "strokeWidth": 2},
            x=x,
            x2={"field": "end"},
            y=y,
        )
    )
    for worse, colour in _COLOURS.items():
        at = [
            {"at": change.first.at.isoformat()}
            for part in shown
            for change in part.changes
            if change.worse is worse and not change.is_noise and not _is_lab(change)
        ]
        layers.append(_layer(at, {"type": "rule", "color": colour, "strokeWidth": 1.5}, x=x))
    lab = [{"at": each.first.at.isoformat()} for part in shown for each in part.changes if _is_lab(each)]
    layers.append(_layer(lab, {"type": "rule", "color": _LAB, "strokeWidth": 1.5, "strokeDash": [5, 3]}, x=x))
    begun = [{"at": part.part.values[0].at.isoformat()} for part in shown[1:]]
    layers.append(_layer(begun, {"type": "rule", "color": SOFT, "strokeWidth": 1, "strokeDash": [1, 3]}, x=x))
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",  # a name: nothing is fetched
        "width": WIDTH - 90,
        "height": HEIGHT,
        "layer": [layer for layer in layers if layer["data"]["values"]],
        "config": {
            "background": "transparent",
            "view": {"stroke": None},
            "font": "Inter, Noto Sans, Helvetica Neue, Liberation Sans, Arial, sans-serif",
            "axis": {"gridColor": GRID, "domainColor": SOFT, "tickColor": SOFT, "labelColor": INK, "titleColor": INK,
                     "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
            "axisX": {"grid": False},
        },
    }  # fmt: skip


def _layer(values: list[dict[str, Any]], mark: Layer, **encoding: Layer) -> Layer:
    return {"data": {"values": values}, "mark": mark, "encoding": encoding}


def _levels(part: PartTrend, scale: Any) -> list[dict[str, Any]]:
    """Return the mean of each stretch between two successive changes, with the times of the stretch's first and last
    run."""
    known = part.part.known
    ends = [0, *(each.index for each in part.changes if not each.is_noise), len(known)]
    found = []
    for begin, end in pairwise(ends):
        values = [each.value for each in known[begin:end] if each.value is not None]
        if values:
            times = known[begin].at.isoformat(), known[end - 1].at.isoformat()
            found.append({"at": times[0], "end": times[1], "value": scale(fmean(values))})
    return found


def _is_lab(change: Any) -> bool:
    return change.lab is not None and change.lab.is_lab


def trend_page(trends: Sequence[Trend], notes: Sequence[str] = ()) -> str:
    """Return the page. It has a chart for each series, and tables of the series' changes and values."""
    with Converter().running() as converter:
        groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        for trend in trends:
            series = trend.series
            profile = f" (profile {series.profile})" if series.profile else ""
            of = f"{series.quantity} of {series.spec}" if series.label else f"of {series.spec}"
            head = series.label or series.quantity, f"{of}{profile}", series.quantity
            groups.setdefault(head, []).append(_section(trend, converter))
    return single_page("trends", "Trends", {"groups": groups, "notes": notes}, CATALOGUES["en"], _THEMED)


def _section(trend: Trend, converter: Converter) -> dict[str, Any]:
    series = trend.series
    svg, problem = "", ""
    spec = trend_chart(trend)
    try:
        svg = converter.svg(writable(spec)) if spec else ""
    except NotDrawn as error:
        problem = str(error)
    return {
        "at": writable(series.at or "all"),
        "control": series.control,
        "svg": Markup(svg),  # noqa: S704  # drawn by our converter, which escapes texts
        "alt": writable(_alt(trend)),
        "last": writable(_last_text(trend)),
        "problem": writable(problem),
        "changes": [
            {
                "date": f"{change.first.at:%Y-%m-%d}",
                "change": changed_by(change, part.part.unit),
                "worth": worth(change),
                "sure": p_text(change.p),
                "what": f"{amount(change.before, part.part.unit)} → {amount(change.after, part.part.unit)}",
                "remarks": [writable(each) for each in remarks(change)],
            }
            for part in trend.parts
            for change in part.changes
        ],
        "begun": [
            {
                "date": f"{after.part.values[0].at:%Y-%m-%d}",
                "differences": [writable(each) for each in differences(before.part, after.part)],
            }
            for before, after in pairwise(part for part in trend.parts if part.part.known)
        ],
        "values": [
            {
                "date": f"{each.at:%Y-%m-%d %H:%M}",
                "run": writable(each.run_id),
                "value": writable(each.reason) if each.value is None else _valued(each, part.part.unit),
            }
            for part in trend.parts
            for each in part.part.values
        ],
    }


def _valued(each: SeriesValue, unit: str) -> str:
    return each.doubt.mark + amount(each.value or 0.0, unit)


def _last_text(trend: Trend) -> str:
    """Return the last value and when it was measured, or "" if there is no value."""
    every = sorted((each.at, each.run_id, each, part.part.unit) for part in trend.parts for each in part.part.known)
    if not every:
        return ""
    (first, *_), (until, _, last, unit) = every[0], every[-1]
    value = _valued(last, unit) if last.value is not None else ""
    return f"last {value}; {plural(len(every), 'run')}, {first:%Y-%m-%d} to {until:%Y-%m-%d}"


def _alt(trend: Trend) -> str:
    known = [each for part in trend.parts for each in part.part.known]
    if not known:
        return f"{trend.series.quantity} at {trend.series.at}: no run has a value"
    unit = trend.parts[-1].part.unit
    last = max(known, key=lambda each: each.at)
    changed = [f"{change.first.at:%Y-%m-%d} {changed_by(change, unit)}" for change in trend.changes]
    changes = f"changes: {'; '.join(changed)}" if changed else "no change"
    value = _valued(last, unit) if last.value is not None else ""
    return f"{trend.series.quantity} at {trend.series.at or 'all points'}, {len(known)} runs, last {value}; {changes}"
