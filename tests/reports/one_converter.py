"""One chart converter for the tests of briefs, which draws each chart once: many tests make the same briefs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from benchbrief.reports.charts.svg_converter import Converter


class _Remembering(Converter):
    def svg(self, spec: Mapping[str, Any]) -> str:
        return _drawn(json.dumps(spec))


@cache
def _drawn(spec: str) -> str:
    return Converter.svg(CONVERTER, json.loads(spec))


CONVERTER = _Remembering()
