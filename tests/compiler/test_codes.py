"""Tests that the registry contains every code that a diagnostic can have, with its explanation."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from benchbrief.compiler.diagnostic_codes import all_codes, code_info, problems

ROOT = Path(__file__).parents[2]
EXPLANATIONS = ROOT / "compiler" / "explanations"


def _sets_code(line: ast.stmt) -> bool:
    if not isinstance(line, ast.Assign) or not isinstance(line.value, ast.Constant):
        return False
    numbered = re.fullmatch(r"[EW]\d{4}", str(line.value.value))  # errors that are no diagnostic have words for codes
    return bool(numbered) and any(isinstance(to, ast.Name) and to.id == "code" for to in line.targets)


def test_every_class_that_sets_a_code_is_found() -> None:
    """The test reads the sources, because the registry would miss a class in a module whose name does not follow the
    rule."""
    written = set()
    for path in (*(ROOT / "dsl").rglob("*.py"), *(ROOT / "compiler").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(_sets_code(line) for line in node.body):
                written.add(node.name)
    assert len(written) > 130
    assert {problem.__name__ for problem in problems()} == written


def test_codes_are_listed_once_and_in_order() -> None:
    codes = [info.code for info in all_codes()]
    assert codes == sorted(set(codes))
    assert all((info.severity == "error") == (info.code[0] == "E") for info in all_codes())


def test_every_title_is_one_line_without_a_full_stop() -> None:
    for info in all_codes():
        assert info.title, info
        assert info.title == info.title.strip().rstrip("."), info


def test_a_code_is_found_however_its_letter_is_written() -> None:
    info = code_info("e0703")
    assert info is not None
    assert info.code == "E0703"
    assert info.title == "A metric with the name of a measure"
    assert "```bench wrong" in info.explanation_markdown
    assert code_info("E9999") is None


def test_every_explanation_belongs_to_a_code() -> None:
    assert {path.stem for path in EXPLANATIONS.glob("*.md")} <= {info.code for info in all_codes()}
