"""Tests that every mistake has a golden file with its full text: what is wrong, where, and what to do next."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.compiler.diagnostic_codes import problems
from benchbrief.compiler.problems import CompileProblem
from benchbrief.dsl.diagnostics.render import render_all
from tests.compiler.specs import check_fixture

FOLDER = Path(__file__).parent / "errors"
FIXTURES = sorted(FOLDER.glob("*.bench"))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_wrong_spec_is_explained_as_in_its_golden(path: Path, golden: Callable[[Path, str], None]) -> None:
    checked = check_fixture(path)
    assert checked.diagnostics
    wrong = any(diagnostic.severity == "error" for diagnostic in checked.diagnostics)
    assert (checked.plan is None) == wrong
    golden(path.with_suffix(".err"), render_all(checked.diagnostics) + "\n")


def test_each_code_belongs_to_one_mistake() -> None:
    codes = [problem.code for problem in problems() if issubclass(problem, CompileProblem)]
    assert len(codes) > 60
    assert len(codes) == len(set(codes))
