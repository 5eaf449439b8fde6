"""Tests the bars beside the values of a comparison's page."""

from __future__ import annotations

import pytest

from benchbrief.history.site.comparison_pages import ranking_view
from benchbrief.model.points import PointKeys
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.compare.comparison import ComparedQuantity, PointValues
from benchbrief.results.compare.rankings import rank


def test_all_bars_of_a_table_have_one_scale() -> None:
    def values(mean: float) -> PointValues:
        return PointValues(mean, (mean, mean * 1.001, mean * 0.999), percentile=False)

    sizes = ((1.0, 10.0, 20.0), (8.0, 50.0, 80.0))
    points: dict[PointKeys, tuple[PointValues | None, PointValues | None]] = {
        (("threads", at),): (values(low), values(high)) for at, low, high in sizes
    }
    field = rank({(0, 1): [ComparedQuantity("throughput", "ops/s", "higher", points)]})
    view = ranking_view("T", field.rankings, ["A", "B"], CATALOGUES["en"], {})
    assert view is not None
    ((first, second),) = [table.rows for table in view.tables]
    assert [cell.share for cell in (*first.cells, *second.cells)] == pytest.approx([12.5, 25.0, 62.5, 100.0])
