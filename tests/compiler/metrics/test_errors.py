"""Every mistake in metrics and reports has a golden of its full text: what, where, and what next."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchbrief.compiler import metric_errors, report_errors
from benchbrief.compiler.errors import CompileProblem
from benchbrief.dsl.render import render_all
from tests.compiler.specs import check_fixture

FOLDER = Path(__file__).parent / "errors"
_CODE = re.compile(r"^(?:error|warning)\[([EW]\d{4})\]", re.MULTILINE)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.bench")), ids=lambda path: path.stem)
def test_a_wrong_spec_is_explained_as_in_its_golden(path: Path, golden: Callable[[Path, str], None]) -> None:
    checked = check_fixture(path)
    assert checked.diagnostics
    failed = any(diagnostic.severity == "error" for diagnostic in checked.diagnostics)
    assert (checked.plan is None) == failed
    golden(path.with_suffix(".err"), render_all(checked.diagnostics) + "\n")


def _problems() -> Iterator[type[CompileProblem]]:
    for module in (metric_errors, report_errors):
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, CompileProblem) and value.__module__ == module.__name__:
                yield value


def test_each_code_belongs_to_one_mistake_and_has_a_golden() -> None:
    codes = [problem.code for problem in _problems()]
    assert len(codes) == len(set(codes))
    shown = {code for path in FOLDER.glob("*.err") for code in _CODE.findall(path.read_text(encoding="utf-8"))}
    assert set(codes) <= shown


def test_each_mistake_says_what_to_do_next() -> None:
    for path in FOLDER.glob("*.err"):
        for text in path.read_text(encoding="utf-8").split("\n\n"):
            assert "= help: " in text, f"{path.name}: {text}"
