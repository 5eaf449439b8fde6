"""Prepares the data of a chart on a slide: the contents of its embedded workbook, and the formats of its numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pptx.chart.data import CategoryChartData, XyChartData

from benchbrief.reports.data.native_chart import NativeChart, NativeSeries
from benchbrief.reports.text.html_markup import writable

_CATEGORIES: Any = CategoryChartData
_POINTS: Any = XyChartData
"""The library's function that converts to points. The library does not type it completely."""
_MINUS = "\N{MINUS SIGN}"
_WRITTEN = re.compile(r"[-+\u2212]?[\d,]+(?:\.(?P<decimals>\d+))?(?P<unit>\D{0,8})")
"""Matches the number that a brief writes beside a bar."""


def data_of(chart: NativeChart) -> Any:
    form = number_format(chart.series)
    if ranges_of(chart):
        return _data_of_ranges(chart, form)
    if chart.categories:
        data: Any = _CATEGORIES(number_format=form)
        data.categories = [writable(name) for name in chart.categories]
        for series in chart.series:
            data.add_series(writable(series.name), [finite(value) for value in series.values])
        return data
    points: Any = _POINTS(number_format=form)
    for series in chart.series:
        own = points.add_series(writable(series.name))
        for x, y in zip(series.xs, series.values, strict=True):
            if y is not None and math.isfinite(y):
                own.add_data_point(x, y)
    return points


def _data_of_ranges(chart: NativeChart, form: str) -> Any:
    """Return the data of ranges. Each category has a position for each series, and a free one at both sides. All ranges
    stand on a series with the lowest values, from which they extend upwards."""
    data: Any = _CATEGORIES(number_format=form)
    ranges = ranges_of(chart)
    for name in chart.categories:
        category = data.add_category(writable(name))
        for _ in range(len(ranges) + 2):
            category.add_sub_category(" ")

    def spread(values: Sequence[Sequence[float | None]]) -> list[float | None]:
        """Return the values of the series in one list, at the positions of all categories."""
        places = ((None, *(finite(of[at]) for of in values), None) for at in range(len(chart.categories)))
        return [value for place in places for value in place]

    lowest, highest = spread([each.values for each in ranges]), spread([each.ends for each in ranges])
    spans = [None if low is None or high is None else high - low for low, high in zip(lowest, highest, strict=True)]
    data.add_series("\N{DOWNWARDS ARROW}", lowest)
    wide = len(ranges) + 2
    for at, series in enumerate(ranges, 1):
        own = [span if place % wide == at else None for place, span in enumerate(spans)]
        data.add_series(writable(series.name), own)
    data.add_series("\N{DOWNWARDS ARROW} ", lowest)
    data.add_series("\N{UPWARDS ARROW}", highest)
    for series in chart.series:
        if series.mark != "range":
            data.add_series(writable(series.name), [finite(value) for value in series.values for _ in range(wide)])
    return data


def ranges_of(chart: NativeChart) -> tuple[NativeSeries, ...]:
    return tuple(series for series in chart.series if series.mark == "range")


def finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def number_format(series: Sequence[NativeSeries]) -> str:
    """Return a format with about three digits, used for all values of a chart."""
    values = [
        value for each in series for value in (*each.values, *each.ends) if value is not None and math.isfinite(value)
    ]
    most = max(map(abs, values), default=0.0)
    if all(value.is_integer() for value in map(float, values)) and most < 1e12:
        return "#,##0"
    if most >= 1e12 or 0 < most < 1e-3:
        return "0.00E+00"
    decimals = 0 if most >= 100 else 1 if most >= 10 else 2 if most >= 1 else 3
    return "#,##0" + ("." + "0" * decimals if decimals else "")


def label_format(chart: NativeChart) -> str:
    """Return the number format for bars, with the decimals and unit of the brief."""
    ranges, bars = ranges_of(chart), [each for each in chart.series if not each.is_level]
    texts = [text for series in bars for text in series.labels if text]
    found = [match for text in texts if (match := _WRITTEN.fullmatch(text))]
    if ranges:
        decimals = max((len(each) for text in texts for each in re.findall(r"\.(\d+)", text)), default=0)
        return "#,##0" + ("." + "#" * decimals if decimals else "")
    if not found or len(found) < len(texts):
        return number_format(chart.series)
    decimals = max(len(match["decimals"] or "") for match in found)
    units = {match["unit"] for match in found}
    unit = units.pop().replace('"', "") if len(units) == 1 else ""
    form = "#,##0" + ("." + "0" * decimals if decimals else "") + (f'"{unit}"' if unit else "")
    plus = "+" if any(text.startswith("+") for text in texts) else ""
    return signed(form, plus) if plus or any(text.startswith(_MINUS) for text in texts) else form


def are_written_alike(chart: NativeChart) -> bool:
    """Return whether the brief writes all values of bars with the same unit and nothing else, as a format can."""
    texts = [text for each in chart.series if not each.is_level for text in each.labels if text]
    found = [_WRITTEN.fullmatch(text) for text in texts]
    return len({match and match["unit"] for match in found}) < 2 and None not in found


def end_format(chart: NativeChart, series: NativeSeries, place: int) -> str:
    """Return the number format for an end of a line: the brief's own, with at most three digits."""
    end = replace(series, values=(series.values[place],), labels=(series.labels[place],), ends=())
    form = label_format(replace(chart, series=(end,)))
    return form if '"' in form else min(form, number_format((end,)), key=len)


def signed(form: str, plus: str) -> str:
    """Return a format that puts a true minus before negative numbers, and `plus` before positive ones."""
    return f'{plus}{form};"{_MINUS}"{form};{form}'
