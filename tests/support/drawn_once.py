"""A chart converter that draws each chart only once for all test processes, because many tests make the same briefs."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from benchbrief.reports.charts.svg_converter import Converter
from tests.support.warm import shared_folder


class DrawnOnce(Converter):
    """A converter that is kept for the next brief, and ends when its process does."""

    _folder: Path | None = None

    def _ask(self, question: Mapping[str, object], wanted: str) -> str:
        """Return the drawing. It is made by the first test process that asks for it."""
        self._folder = self._folder or shared_folder()
        asked = json.dumps(question).encode("utf-8", "surrogatepass")
        kept = self._folder / f"{hashlib.sha256(asked).hexdigest()}.{wanted}"
        if kept.exists():
            return kept.read_text("utf-8")
        drawn = self._drawn(question, wanted)
        whole = kept.with_suffix(f".{os.getpid()}")
        whole.write_text(drawn, "utf-8")
        whole.replace(kept)
        return drawn

    def _drawn(self, question: Mapping[str, object], wanted: str) -> str:
        return super()._ask(question, wanted)

    def close(self) -> None:
        """Do nothing, because the next brief uses the same converter."""


CONVERTER = DrawnOnce()
"""The chart converter that all briefs of this process use."""
