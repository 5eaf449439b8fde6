"""Tests that every mistake in metrics and reports has a golden file with its full text: what is wrong, where, and what
to do next."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.dsl.diagnostics.render import render_all
from tests.compiler.specs import check_fixture

FOLDER = Path(__file__).parent / "errors"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.bench")), ids=lambda path: path.stem)
def test_a_wrong_spec_is_explained_as_in_its_golden(path: Path, golden: Callable[[Path, str], None]) -> None:
    checked = check_fixture(path)
    assert checked.diagnostics
    failed = any(diagnostic.severity == "error" for diagnostic in checked.diagnostics)
    assert (checked.plan is None) == failed
    golden(path.with_suffix(".err"), render_all(checked.diagnostics) + "\n")
