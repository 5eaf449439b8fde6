"""Tests that the TextMate grammar agrees with the parser and the checker on each word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchbrief.compiler import schemas, word_meanings
from benchbrief.compiler.briefs import lower_report
from benchbrief.compiler.measure_catalogue import KINDS
from benchbrief.compiler.metrics.expressions import FUNCTIONS
from benchbrief.compiler.registry import own_families
from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from benchbrief.model.extension_spec import LANGUAGES
from benchbrief.model.plan import DIMENSIONS
from benchbrief.model.units import known_units
from editors import words
from editors.__main__ import main
from tests.editors.tokens import Token, tokenise
from tests.support.tools import REPOSITORY

FOLDER = Path(__file__).parent / "scopes"
KEYWORDS = (*words.NAMED_BLOCKS, *words.INNER_BLOCKS, "override", "each", "formula", "at")
SPECS = [
    *sorted((REPOSITORY / "tests/dsl/specs").glob("*.bench")),
    REPOSITORY / "tests/compiler/plans/everything.bench",
    *sorted(FOLDER.glob("*.bench")),
]


def test_the_committed_files_are_what_the_tables_give(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().out


# --- the whole of a spec, to be read ---


@pytest.fixture(scope="module")
def tokens() -> dict[Path, list[Token]]:
    return tokenise(SPECS)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_spec_is_highlighted_as_in_its_golden(
    path: Path, tokens: dict[Path, list[Token]], golden: Callable[[Path, str], None]
) -> None:
    golden(FOLDER / f"{path.stem}.scopes", "\n".join(_pictured(path.read_text(encoding="utf-8"), tokens[path])) + "\n")


def _pictured(text: str, tokens: list[Token]) -> Iterator[str]:
    """Yield each line of the spec, followed by its words with their scopes, without brackets, commas and `=`."""
    at = 0
    for line in text.splitlines():
        yield line
        words = [
            f"{token.text.strip()} = {token.scope or '(nothing)'}"
            for token in tokens
            if at <= token.start < at + len(line) and token.text.strip() and not _is_sign(token)
        ]
        if words:
            yield f"    >> {'  |  '.join(words)}"
        at += len(line) + 1


def _is_sign(token: Token) -> bool:
    return token.scope.startswith(("punctuation.", "keyword.operator.assignment")) and "template" not in token.scope


# --- against the parser: every spec of the repository that is right as far as its syntax goes ---


def _parsed() -> Iterator[tuple[Path, ast.File]]:
    for folder in ("examples", "tests"):
        for path in sorted((REPOSITORY / folder).rglob("*.bench")):
            try:
                text = path.read_bytes().decode("utf-8")
                if "\r" not in text:  # one character for each line end, in the tokens as here
                    yield path, parse(Source(path.name, text))
            except (SpecError, UnicodeDecodeError):
                continue


def _nodes(node: object) -> Iterator[object]:
    if isinstance(node, tuple):
        for each in node:
            yield from _nodes(each)
    elif hasattr(node, "__dataclass_fields__") and not isinstance(node, Span):
        yield node
        for name in node.__dataclass_fields__:
            yield from _nodes(getattr(node, name))


def _is_known(unit: str) -> bool:
    return set(re.split("[/*]", unit)) <= {"1", *known_units()}


def _claims(node: object) -> Iterator[tuple[Span, tuple[str, ...]]]:
    """Yield the span of each node with a set of scopes. Every token in the span must have one of these scopes."""
    match node:
        case ast.Attribute() if node.key.span.start != node.values[0].span.start:  # what an event does is a call
            yield node.key.span, ("variable.other.property.attribute",)
        case ast.Block(keyword=keyword, name=name):
            if keyword.text in KEYWORDS:
                yield keyword.span, ("storage.type.block", "keyword.control")
            if name is not None and keyword.text in words.NAMED_BLOCKS:
                yield name.span, ("entity.name.type",)
        case ast.Metric(name=name, unit=unit):
            yield name.span, ("entity.name.function.metric",)
            if unit is not None and _is_known(unit.text):
                yield unit.span, ("keyword.other.unit",)
        case ast.Param(name=name):
            yield name.span, ("variable.other.constant.param",)
        case ast.Quantity(unit_span=Span() as unit_span, unit=unit):
            yield Span(node.span.source, node.span.start, node.span.start + 1), ("constant.numeric",)
            if _is_known(unit):
                yield unit_span, ("keyword.other.unit",)
        case ast.Quantity():
            yield node.span, ("constant.numeric",)
        case ast.Call(function=function, over=over):
            yield function.span, ("support.function", "entity.name.function")
            for name in over:
                yield name.span, ("variable.language.dimension", "variable.other", "constant.language")
        case ast.Argument(key=ast.Name() as key):
            yield key.span, ("variable.parameter",)
        case ast.Attr(field=field):
            yield (
                field.span,
                (
                    "variable.other.property",
                    "support.variable.measure",
                    "support.class.workload",
                    "entity.other.inherited-class",
                ),
            )
        case ast.String(parts=parts):
            if not any(isinstance(part, ast.Hole) for part in parts):
                yield node.span, ("string.quoted",)
        case ast.Hole(span=span, format=format_):
            yield Span(span.source, span.start, span.start + 1), ("punctuation.definition.template-expression.begin",)
            yield Span(span.source, span.end - 1, span.end), ("punctuation.definition.template-expression.end",)
            if format_.strip():
                at = span.end - 1 - len(format_)
                yield Span(span.source, at, span.end - 1), ("constant.other.placeholder.format",)


@pytest.mark.long
def test_the_grammar_and_the_parser_agree_on_every_spec() -> None:
    files = dict(_parsed())
    assert len(files) > 100
    tokens = tokenise(list(files))
    wrong: list[str] = []
    claims = 0
    for path, file in files.items():
        for node in _nodes(file):
            for span, scopes in _claims(node):
                claims += 1
                inside = [t for t in tokens[path] if t.start < span.end and t.end > span.start and t.text.strip()]
                bad = [t for t in inside if not any(s.startswith(scopes) for s in t.scopes)]
                if bad or not inside:
                    found = [(t.text, t.scope) for t in bad]
                    wrong.append(f"{path.name}:{span.line}: {span.text!r} should be {scopes[0]}, is {found}")
    assert claims > 3000
    assert wrong == []


# --- against the checker's tables ---


def _lines() -> Iterator[tuple[str, str, str]]:
    """Yield a line, a word in it, and the scope that it must have."""
    for block in words.NAMED_BLOCKS:
        yield f'{block} one "Label" {{ }}', block, "storage.type.block"
    for block in (*words.INNER_BLOCKS, "override", "each", "formula"):
        line = {
            "override": "override workload { }",
            "each": "each workload { }",
            "formula": "formula gain",
        }.get(block, f"{block} {{ }}")
        yield line, block, "keyword.control" if block in ("override", "each") else "storage.type.block"
    for key in sorted(words.attributes()):
        yield f"{key} = 1", key, "variable.other.property.attribute"
    for unit in known_units():
        yield f"a = 1 {unit}", unit, "keyword.other.unit"
        yield f"metric m in {unit} = 1", unit, "keyword.other.unit"
    for function in FUNCTIONS:
        yield f"a = {function}(b over threads)", function, "support.function"
    for dimension in DIMENSIONS:
        yield f"a = b by {dimension}", dimension, "variable.language.dimension"
    for measure in KINDS:
        yield f"a = {measure}", measure, "support.variable.measure"
    for family, names in ((name, spec.workloads) for name, spec in own_families().items()):
        for name in names:
            yield f"workload w from {family}.{name}", name, "support.class.workload"
    for word in (*word_meanings.TEMPLATES, *LANGUAGES):
        yield f"a = {word}", word, "constant.language"


def test_every_word_of_the_checkers_tables_has_its_scope(tmp_path: Path) -> None:
    lines = list(_lines())
    assert len(lines) > 500
    path = tmp_path / "words.bench"
    path.write_text("".join(f"{line}\n" for line, _, _ in lines), encoding="utf-8")
    found = tokenise([path])[path]
    wrong: list[str] = []
    at = 0
    for line, word, scope in lines:
        start = at + (line.rindex(word) if scope != "storage.type.block" else 0)
        if scope == "keyword.other.unit" and "= 1" in line and line.startswith("metric"):
            start = at + line.index(f" {word} ") + 1
        at += len(line) + 1
        if not any(t.start == start and t.text == word and t.scopes[-1:] == (scope,) for t in found):
            near = [(t.text, t.scope) for t in found if at - len(line) - 1 <= t.start < at - 1 and t.text.strip()]
            wrong.append(f"{line}: {word} should be {scope}: {near}")
    assert wrong == []


def test_the_words_are_those_of_the_schema() -> None:
    """Each inner block that is possible is in one of the lists from which the grammar is made."""
    held = {name for block in schemas.BLOCKS.values() for name in block.blocks} | set(lower_report._BLOCKS)
    assert held <= set(KEYWORDS)
