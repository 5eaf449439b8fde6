"""Briefs of the tests share a chart converter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchbrief.reports.view import build_view
from tests.reports.one_converter import CONVERTER


@pytest.fixture(scope="package", autouse=True)
def _each_chart_is_drawn_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_view, "Converter", lambda: CONVERTER)
        yield
