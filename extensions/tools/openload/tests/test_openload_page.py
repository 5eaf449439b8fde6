"""Tests that the page about openload names all of openload's measures, and all reasons why openload refuses a cell."""

from __future__ import annotations

import re

from benchbrief.extensions.tools.openload.spec import SPEC
from tests.support.tools import REPOSITORY

PAGE = (REPOSITORY / "extensions/tools/openload/README.md").read_text(encoding="utf-8")
CONTRACT = (REPOSITORY / "loadgen" / "README.md").read_text(encoding="utf-8")


def _first_cells(page: str) -> set[str]:
    """Return the names in backticks in the first column of a page's tables."""
    rows = re.findall(r"^\| (.*?) \|", page, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_the_page_has_each_measure_and_no_other() -> None:
    assert {name for name in _first_cells(PAGE) if name.startswith("openload.")} == set(SPEC.measures)


def test_the_page_has_each_reason_to_refuse_a_cell() -> None:
    (listed,) = re.findall(r"^`refusals` codes: (.*)$", CONTRACT, re.MULTILINE)
    codes = set(re.findall(r"`([a-z-]+)`", re.sub(r"\([^)]*\)", "", listed)))
    assert {"drops", "lag", "not-found"} < codes <= _first_cells(PAGE)
