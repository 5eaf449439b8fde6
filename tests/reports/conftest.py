"""Each chart of the briefs is drawn once: many tests make the same briefs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from benchbrief.reports.charts.svg_converter import CONVERTER, Converter


class _Remembering(Converter):
    def svg(self, spec: Mapping[str, Any]) -> str:
        return _drawn(json.dumps(spec))


@cache
def _drawn(spec: str) -> str:
    return Converter.svg(CONVERTER, json.loads(spec))


@pytest.fixture(scope="package", autouse=True)
def _each_chart_is_drawn_once() -> Iterator[None]:
    CONVERTER.__class__ = _Remembering
    yield
    CONVERTER.__class__ = Converter
