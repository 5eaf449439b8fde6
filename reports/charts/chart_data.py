"""A figure's data for download: every measured point, in base units, with its interval and its cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from benchbrief.compiler.planning import plan
from benchbrief.reports.charts.drawn_series import Drawn
from benchbrief.results.query.export import defused


def figure_csv(drawn: Sequence[Drawn], figure: plan.FigureElement, mark: str = "") -> str:
    """Return CSV (RFC 4180) with a head. Missing values are empty. `repeats` and `cells` (separated by blanks) are
    those behind a value; `low` and `high` the ends of its interval over repeats, in its unit. A `mark` (`simulated`,
    `imported`) is a last column of `true`, as in other exports, since the file is read apart from its brief."""
    x_dim = next((s.x_dim for s in figure.series if s.x_dim), None) or "point"
    curve = any(d.series.x_query for d in drawn)
    out = io.StringIO()
    writer = csv.writer(out)
    panel = [figure.panel_dim] if figure.panel_dim else []
    x_head = ["x", "x_unit"] if curve else []
    marks = [mark] if mark else []
    writer.writerow([*panel, "series", x_dim, *x_head, "value", "unit", "low", "high", "repeats", "cells", *marks])
    for d in drawn:
        x_unit = d.series.x_query.unit if d.series.x_query else ""
        for detail in d.details:
            writer.writerow(
                [
                    *([_text(d.panel)] if panel else []),
                    _text(d.trace.name),
                    _text(detail.key),
                    *([_text(detail.x), x_unit] if curve else []),
                    _text(detail.value),
                    d.series.query.unit,
                    _text(detail.low),
                    _text(detail.high),
                    detail.repeats or "",
                    _text(" ".join(detail.cells)),
                    *("true" for _ in marks),
                ]
            )
    return out.getvalue()


def _text(value: object) -> object:
    """Return a number in full, or a text that no spreadsheet computes; "" for a missing value."""
    if isinstance(value, str):
        return defused(value)
    return "" if value is None else repr(value) if isinstance(value, float) else value
