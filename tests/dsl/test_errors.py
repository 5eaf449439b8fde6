"""Tests every mistake in a text, with the complete message for its author.

Each `errors/<code>-<what>.bench` has one mistake. The `.err` file beside it has the expected message.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.dsl.diagnostics import syntax_errors
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic, SpecError
from benchbrief.dsl.diagnostics.render import as_json, render_all
from benchbrief.dsl.read_files import read_source
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax.parse import parse

FOLDER = Path(__file__).with_name("errors")
MISTAKES = sorted(FOLDER.glob("*.bench"))
OF_THE_PATH = {"E0001", "E0002", "E0003", "E0006"}  # not of the text: see test_read.py


def diagnostic_of(path: Path) -> Diagnostic:
    with pytest.raises(SpecError) as raised:
        parse(read_source(path, path.name))
    (diagnostic,) = raised.value.diagnostics
    return diagnostic


@pytest.mark.parametrize("path", MISTAKES, ids=lambda path: path.stem)
def test_a_mistake_is_shown_as_agreed(path: Path, golden: Callable[[Path, str], None]) -> None:
    diagnostic = diagnostic_of(path)
    assert diagnostic.code == path.stem.split("-")[0]
    golden(path.with_suffix(".err"), render_all([diagnostic]) + "\n")


@pytest.mark.parametrize("path", MISTAKES, ids=lambda path: path.stem)
def test_a_message_is_whole_and_speaks_no_parser(path: Path) -> None:
    diagnostic = diagnostic_of(path)
    words = " ".join((diagnostic.summary, diagnostic.label, diagnostic.help, *(note.text for note in diagnostic.notes)))
    assert diagnostic.summary
    assert not diagnostic.summary.endswith(".")
    assert diagnostic.label or diagnostic.help
    assert not [word for word in ("NAME", "RPAR", "_", "LSQB", "QUANTITY", "Token", "$END") if f" {word} " in words]
    assert json.loads(json.dumps(as_json(diagnostic)))["code"] == diagnostic.code


def test_what_is_suggested_mends_the_mistake() -> None:
    """After the suggested change, the text may have another mistake, but not this one."""
    mended = 0
    for path in MISTAKES:
        suggestion = diagnostic_of(path).suggestion
        if suggestion is None:
            continue
        mended += 1
        start, end, text = suggestion.span.start, suggestion.span.end, suggestion.span.source.text
        try:
            parse(Source(path.name, text[:start] + suggestion.replacement + text[end:]))
        except SpecError as error:
            (left,) = error.diagnostics
            assert left.span, path
            assert left.span.start > start, path
    assert mended > 30


def test_every_code_has_a_golden() -> None:
    found = (*vars(syntax_errors).values(), *vars(syntax_errors).values(), *vars(syntax_errors).values())
    codes = {problem.code for problem in found if hasattr(problem, "code")}
    assert len(codes) > 25
    assert {path.stem.split("-")[0] for path in MISTAKES} == codes - OF_THE_PATH


def test_every_golden_has_a_mistake() -> None:
    assert {path.stem for path in FOLDER.glob("*.err")} == {path.stem for path in MISTAKES}
