"""A figure's data for download: every point as it was measured, in base units, with its interval and its cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from benchbrief.compiler import plan
from benchbrief.reports.drawn import Drawn


def figure_csv(drawn: Sequence[Drawn], figure: plan.FigureElement, mark: str = "") -> str:
    """RFC 4180, with a head. What is missing is empty. `repeats` and `cells` (blanks between) are those behind a value;
    `low` and `high` the ends of its 95 % interval, in its unit. `mark` (`simulated`, `imported`) is a last column of
    `true`, as in other exports: the file is read apart from its brief."""
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
                    *([d.panel] if panel else []),
                    d.trace.name,
                    detail.key,
                    *([_text(detail.x), x_unit] if curve else []),
                    _text(detail.value),
                    d.series.query.unit,
                    _text(detail.low),
                    _text(detail.high),
                    detail.repeats or "",
                    " ".join(detail.cells),
                    *("true" for _ in marks),
                ]
            )
    return out.getvalue()


def _text(value: float | None) -> str:
    return "" if value is None else repr(value)
