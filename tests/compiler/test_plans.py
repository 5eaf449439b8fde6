"""Tests the plan that `bench plan` shows for each spec in `plans/`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.compiler.explain.explain_plan import explain
from benchbrief.dsl.source import display_width
from tests.compiler.specs import check_fixture
from tests.support.examples import EXAMPLES

FOLDER = Path(__file__).parent / "plans"
FIXTURES = sorted(FOLDER.glob("*.bench"))
QUICKSTART = next(path for path in EXAMPLES if path.stem == "quickstart")


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_spec_is_planned_as_in_its_golden(path: Path, golden: Callable[[Path, str], None]) -> None:
    checked = check_fixture(path)
    assert checked.plan is not None, checked.diagnostics
    golden(path.with_suffix(".plan"), explain(checked.plan, 100) + "\n")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_planned_as_in_its_golden(path: Path, golden: Callable[[Path, str], None]) -> None:
    checked = check_fixture(path)
    assert checked.plan is not None, checked.diagnostics
    golden(FOLDER / f"{path.stem}.plan", explain(checked.plan, 100) + "\n")


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_plan_fits_the_terminal(width: int) -> None:
    checked = check_fixture(QUICKSTART)
    assert checked.plan is not None
    lines = explain(checked.plan, width).splitlines()
    # A table whose first columns leave no room for the last keeps 24 columns for it all the same.
    assert max(map(display_width, lines)) <= max(width, 100)
    if width >= 100:
        assert max(map(display_width, lines)) <= width


def test_colours_change_nothing_but_the_colours() -> None:
    import re

    checked = check_fixture(QUICKSTART)
    assert checked.plan is not None
    coloured = explain(checked.plan, 100, color=True)
    assert "\x1b[1m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == explain(checked.plan, 100)
