"""Tests the pictures of a report's elements. Each is shown beside the spec lines from which it was drawn."""

from __future__ import annotations

import re

import pytest

from tests.docs.samples import ROOT
from tools import pictures

PAGE = "docs/reports.md"
ROW = re.compile(
    r"^\| \[[^\]]+\]\(#[^)]+\) \| `(?P<line>[^`]+)` \| !\[[^\]]+\]\(pictures/(?P<name>\w+)\.png\) \|$", re.MULTILINE
)
LINES = {row["name"]: row["line"] for row in ROW.finditer((ROOT / PAGE).read_text(encoding="utf-8"))}
REPORTS = pictures.reports()


def test_each_report_of_the_sample_has_a_picture_and_a_row() -> None:
    assert set(LINES) == set(REPORTS) == {path.stem for path in pictures.FOLDER.glob("*.png")}
    assert set(pictures.CROPS) <= set(REPORTS)


@pytest.mark.parametrize("name", LINES)
def test_the_line_is_one_of_the_report_that_the_picture_was_drawn_from(name: str) -> None:
    assert " ".join(LINES[name].split()) in " ".join(REPORTS[name].split())
    drawn_from = pictures.digest_in(pictures.FOLDER / f"{name}.png")
    assert drawn_from == pictures.digest(REPORTS[name]), f"run `python -m tools.pictures {name}`"


def test_the_pictures_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in pictures.FOLDER.iterdir()}
    assert sum(sizes.values()) < 600_000
    assert [name for name, size in sizes.items() if size > 40_000] == []
