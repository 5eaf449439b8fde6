"""One chart converter for the tests of briefs, which draw each chart once: many tests make the same briefs."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from benchbrief.reports.charts.svg_converter import Converter
from tests.support.warm import shared_folder


class _Remembering(Converter):
    def svg(self, spec: Mapping[str, Any]) -> str:
        return _drawn(json.dumps(spec))

    def close(self) -> None:
        """Leave it to the next brief: it ends with this process."""


@cache
def _drawn(spec: str) -> str:
    """The drawing, by whichever process of the tests was first."""
    kept = shared_folder() / f"{hashlib.sha256(spec.encode('utf-8', 'surrogatepass')).hexdigest()}.svg"
    if kept.exists():
        return kept.read_text("utf-8")
    svg = Converter.svg(CONVERTER, json.loads(spec))
    whole = kept.with_suffix(f".{os.getpid()}")
    whole.write_text(svg, "utf-8")
    whole.replace(kept)
    return svg


CONVERTER = _Remembering()
"""Briefs of the tests share a chart converter."""
