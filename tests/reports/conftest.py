"""Lets all briefs of the tests share a chart converter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchbrief.reports.render import render_report
from benchbrief.reports.view import build_view
from tests.support.drawn_once import CONVERTER


@pytest.fixture(scope="package", autouse=True)
def _each_chart_is_drawn_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (build_view, render_report):
            patch.setattr(module, "Converter", lambda: CONVERTER)
        yield
