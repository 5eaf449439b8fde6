"""What the page's script gets of a figure: its points, its legend, and their tooltips.

The script (`templates/base/figure.js`) draws nothing: the page shows the same figure without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchbrief.reports.charts.chart import TEXT, Trace, text_width
from benchbrief.reports.charts.chart_layout import LegendItem, Panel, Plot, texts
from benchbrief.reports.charts.drawn_series import Detail, Drawn
from benchbrief.reports.text.number_format import decimals_for, fixed, with_unit
from benchbrief.reports.words.brief_words import Words, counted

_NAMED_CELLS = 3


def script_data(
    panels: Sequence[Panel], drawn: Sequence[Drawn], number: int, words: Words, size: tuple[float, float]
) -> Mapping[str, object]:
    """Return `series`: each toggle's name and box; `points`: each point's series, box and tooltip lines.

    Boxes are left, top, width and height in pixels of the drawing, which has this `size`.
    """
    series: dict[int, dict[str, object]] = {}
    points: list[dict[str, object]] = []
    of_panel = iter(drawn)
    for panel in panels:
        plot = panel.plot
        left, top = panel.x + plot.left, panel.y + plot.top
        for index, name, box in (*_legend((*plot.legend, *panel.legend)), *_direct(plot)):
            series[index] = {"series": index, "name": name, "box": _moved(box, left, top)}
        for index, trace in enumerate(plot.chart.traces):
            one = next(of_panel)
            for point, detail, place in zip(trace.points, one.details, _boxes(plot, trace), strict=True):
                if point.y is not None and place is not None:
                    tip = list(_tip(one, detail, words))
                    points.append({"series": index, "box": _moved(place, left, top), "tip": tip})
    label = words["figure_points"].format(number=number)
    return {"size": list(size), "label": label, "series": list(series.values()), "points": points}


_Box = tuple[float, float, float, float]


def _moved(box: _Box, x: float, y: float) -> list[float]:
    return [round(v, 1) for v in (box[0] + x, box[1] + y, box[2], box[3])]


def _legend(items: Sequence[LegendItem]) -> Iterable[tuple[int, str, _Box]]:
    for item in items:
        yield item.series, item.trace.name, (item.x, item.y - 9, 28 + text_width(item.name, TEXT), 18)


def _direct(plot: Plot) -> Iterable[tuple[int, str, _Box]]:
    if plot.direct:
        for text in texts(plot):
            if text.series is not None:
                yield text.series, text.text, (text.x - 3, text.y - 8, text_width(text.text, TEXT) + 8, 16)


def _boxes(plot: Plot, trace: Trace) -> list[_Box | None]:
    x, y = plot.x_pixel(), plot.y_pixel(trace)
    bars = [t for t in plot.chart.traces if t.mark == "bar" and t.right == trace.right]
    found: list[_Box | None] = []
    for point in trace.points:
        if point.y is None:
            found.append(None)
        elif trace.mark == "bar":
            first, last = plot.bar(bars.index(trace), len(bars), point.x)
            ends = sorted((y(point.y), y(0.0)))
            found.append((first, ends[0], last - first, ends[1] - ends[0]))
        elif point.upright:
            found.append((x(point.x), 0.0, 0.0, plot.height))
        elif trace.mark == "rule":
            found.append((0.0, y(point.y), plot.width, 0.0))
        else:
            found.append((x(point.x), y(point.y), 0.0, 0.0))
    return found


def _tip(drawn: Drawn, detail: Detail, words: Words) -> Iterable[str]:
    yield words["semicolon"].join(part for part in (drawn.panel, drawn.trace.name) if part)
    if detail.value is None:
        return
    unit = drawn.series.query.unit
    upright = drawn.upright
    shown = [v if v is None or upright else drawn.y(v) for v in (detail.value, detail.low, detail.high)]
    decimals = decimals_for(shown[:1])
    texts = [None if v is None else with_unit(fixed(v, decimals), unit if upright else drawn.y.unit) for v in shown]
    value = detail.mark + (texts[0] or "")
    if detail.x is not None:
        x = drawn.x(detail.x)
        value = f"{value}{words['semicolon']}{with_unit(fixed(x, decimals_for([x])), drawn.x.unit)}"
    dim = words.get(drawn.series.x_dim or "", "")
    key = f"{dim} {detail.key}" if dim and _is_number(detail.key) else detail.key
    yield f"{key}{words['colon']}{value}" if detail.key else value
    if texts[1] and texts[2]:
        yield words["tip_interval"].format(low=texts[1], high=texts[2])
    if detail.repeats:
        yield counted(words, "tip_repeats", detail.repeats)
    if detail.cells:
        more = "…" if len(detail.cells) > _NAMED_CELLS else ""
        cells = words.locale.listed(detail.cells[:_NAMED_CELLS]) + more
        yield words.form("tip_cells", len(detail.cells)).format(cells=cells)


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").isdigit()
