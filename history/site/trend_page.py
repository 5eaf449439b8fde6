"""Series over many runs as one HTML page, which needs no network and no script."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.history.read_series import Measured, differences
from benchbrief.history.series_changes import Trend
from benchbrief.history.site.change_texts import amount, changed_by, p_text, remarks, worth
from benchbrief.history.site.trend_chart import trend_chart
from benchbrief.reports.charts.svg_converter import Converter, NotDrawn
from benchbrief.reports.text.html_markup import writable


def trend_page(trends: Sequence[Trend], notes: Sequence[str] = ()) -> str:
    """Return the page: a chart for each series, with a table of its changes and of its values."""
    from jinja2 import Environment, StrictUndefined

    text = (files("benchbrief.reports") / "templates" / "base" / "trends.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(text)
    with Converter().running() as converter:
        groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        for trend in trends:
            series = trend.series
            profile = f" (profile {series.profile})" if series.profile else ""
            of = f"{series.quantity} of {series.spec}" if series.label else f"of {series.spec}"
            head = series.label or series.quantity, f"{of}{profile}", series.quantity
            groups.setdefault(head, []).append(_section(trend, converter))
    page: str = template.render(groups=groups, notes=[writable(note) for note in notes])
    return page


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


def _valued(each: Measured, unit: str) -> str:
    return each.doubt.mark + amount(each.value or 0.0, unit)


def _last_text(trend: Trend) -> str:
    """Return the last value, and from when to when it was measured; "" without a value."""
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
