"""Makes the first page of the reference."""

from __future__ import annotations

from pathlib import Path

from tools.reference.markdown import fenced, joined, text

BASES = Path(__file__).parents[2] / "tests" / "compiler" / "explanations"


def page() -> str:
    return joined(
        [
            "# Reference",
            text("index"),
            "## The specs behind the samples",
            text("bases"),
            "### `base=mongodb`",
            fenced("bench", (BASES / "mongodb.bench").read_text(encoding="utf-8")),
            "### `base=rocksdb`",
            fenced("bench", (BASES / "rocksdb.bench").read_text(encoding="utf-8")),
        ]
    )
