"""Every mistake has a golden of its full text: what, where, and what next."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchbrief.compiler import errors, structure_errors, value_errors
from benchbrief.compiler.errors import CompileProblem
from benchbrief.dsl.render import render_all
from tests.compiler.specs import check_fixture

FOLDER = Path(__file__).parent / "errors"
FIXTURES = sorted(FOLDER.glob("*.bench"))
_CODE = re.compile(r"^(?:error|warning)\[([EW]\d{4})\]", re.MULTILINE)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_wrong_spec_is_explained_as_in_its_golden(path: Path, golden: Callable[[Path, str], None]) -> None:
    checked = check_fixture(path)
    assert checked.diagnostics
    wrong = any(diagnostic.severity == "error" for diagnostic in checked.diagnostics)
    assert (checked.plan is None) == wrong
    golden(path.with_suffix(".err"), render_all(checked.diagnostics) + "\n")


def _problems() -> Iterator[type[CompileProblem]]:
    for module in (errors, structure_errors, value_errors):
        for value in vars(module).values():
            if not isinstance(value, type) or not issubclass(value, CompileProblem):
                continue
            if "code" in vars(value) and value.__module__ == module.__name__:
                yield value


def test_each_code_belongs_to_one_mistake() -> None:
    codes = [problem.code for problem in _problems()]
    assert len(codes) > 60
    assert len(codes) == len(set(codes))


WITHOUT_GOLDEN = {"E0605"}
"""More than a hundred files: made on the spot in test_imports."""


def test_each_code_has_a_golden() -> None:
    shown = {code for path in FOLDER.glob("*.err") for code in _CODE.findall(path.read_text(encoding="utf-8"))}
    assert {problem.code for problem in _problems()} - shown == WITHOUT_GOLDEN


def test_each_error_says_what_to_do_next() -> None:
    for path in FOLDER.glob("*.err"):
        for text in path.read_text(encoding="utf-8").split("\n\n"):
            assert "= help: " in text, f"{path.name}: {text}"
