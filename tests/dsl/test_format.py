"""Tests the canonical layout with pairs of texts, and with rules for every text that can be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from benchbrief.compiler.compile import check
from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.formatter import format_source
from benchbrief.dsl.read_files import decode, read_source
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from benchbrief.dsl.syntax.parser_stop import comments
from tests.dsl.trees import tree
from tests.support.generated_specs import specs, texts

REPOSITORY = Path(__file__).resolve().parents[2]
PAIRS = sorted(Path(__file__).with_name("format").glob("*.in"))
FOLDERS = ("examples", "benchbrief", "tests")
OURS = [*(REPOSITORY / "examples").rglob("*.bench"), REPOSITORY / "benchbrief" / "data" / "starter.bench"]


def read(path: Path) -> Source | None:
    """Return a spec that can be read, or None."""
    try:
        source = read_source(path)
        parse(source)
    except SpecError:
        return None
    return source


SPECS = [path for folder in FOLDERS for path in sorted((REPOSITORY / folder).rglob("*.bench")) if read(path)]


def holds(source: Source) -> str:
    """Return the layout of a text. Checks that nothing is lost, and that formatting again changes nothing."""
    text = format_source(source)
    after = Source(source.name, text)
    assert tree(text) == tree(source.text)
    assert ast.same(parse(after), parse(source))
    assert [span.text for span in comments(after)] == [span.text.rstrip() for span in comments(source)]
    assert format_source(after) == text
    return text


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.stem)
def test_a_text_is_laid_out_as_agreed(path: Path, golden: Callable[[Path, str], None]) -> None:
    golden(path.with_suffix(".out"), holds(decode(path.read_bytes(), path.name)))


def test_every_pair_is_whole() -> None:
    assert len(PAIRS) > 5
    assert {path.stem for path in PAIRS[0].parent.glob("*.out")} == {path.stem for path in PAIRS}


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_a_spec_says_the_same_afterwards_and_stays_as_it_is(path: Path) -> None:
    source = read_source(path)
    text = holds(source)
    assert text.endswith("\n") or not text
    assert all(len(line) <= 120 for line in text.splitlines() if '"' not in line and "#" not in line)


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_our_own_specs_are_in_the_canonical_layout(path: Path) -> None:
    source = read_source(path)
    assert format_source(source) == source.text


def test_a_text_that_cannot_be_read_is_refused_where_it_is_wrong() -> None:
    with pytest.raises(SpecError) as raised:
        format_source(Source("t.bench", "hardware a { hosts = }"))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.span
    assert diagnostic.span.text == "}"


@pytest.mark.parametrize(
    "value",
    [
        "[6 x\nevery a]", "6 x\nand a", "6 x\n- a", "f # c\n (a over b # d\n, when c)",
        "1..3", "1 .. 3", "-1..-3", "[1..3, 5]", "6\nx -3", "6 x(a)", "6\nx [1]", '6\nx "a"', "6 # c\nx 3",
        "6\nx # c\n3",
        "5\nx y", "5 x y", "5 x", "a x(3)", "a x x(3)", "- -a", "-(a)", "- (a + b)", "not (a)", "(((a)))",
        "f((a), (b))",
        "f(a, b,)", "[]", "[ # c\n]", "f()", "f( # c\n)", "a[b,]", "max(a over b when (c))",
        "max(a over b # c\n, when c)",
        "max(a, when not c > 1)", "max(a when c)", "f(a, # c\n when c)", "f(a # c\n, # d\n b)",
        "[a # c\n, # d\n]",
        "x", "x x x", "when", "over", "5\u00a0min", "5 e3", "5e3", "5e", "1_000.5e-3k ops/s/W", "a.b.c[d].e",
        "a == b",
        "f(a: -1, b: not c, d: [1])", "(a # c\n)", "(\n# c\na)", "a # c\n.b", "a # c\n+ # d\nb",
    ],
    ids=ascii,
)  # fmt: skip
def test_any_way_to_write_a_value_keeps_its_meaning(value: str) -> None:
    holds(Source("t.bench", f"param p = {value}"))
    holds(Source("t.bench", f"report r {{ a = {value}\n b = 1 }}"))
    holds(Source("t.bench", f"report r {{ a = z, {value}, b = 1 }}"))


@pytest.mark.parametrize(
    "body",
    [
        "line = a, log x, b = 1", "line = a, log x, c", "line = a, color\nhardware h { }", "line = a, by\n  over",
        "a = 5, x = 1",
        "line = a, color\x0chardware h { }", "a = x, x = x", 'a = 5, x "l" = 1', "a = b, c }\nreport s { d = 1",
        "a = 1,",
        "a = 1 # c\n, b = 2", "a = 1 # c\n, # d\n b = 2", "variant a { }, b = 1", "a = 5\rmin = 3", "# c\r a = 1",
        "a = 1\r\r# c\r",
        'a = "{b:\n  .1f}"', 'a = """{b:\n  .1f}\n  x"""', 'a = """\n  {b +\n     c}\n  x"""',
        'a = """\n \u00a0\n  x"""',
        'a = """\n  x\n \u00a0"""', 'a = """\r\n\r\n  x\r\n"""', 'a = """ \n"""', 'a = """ \n\n\n"""',
        'a = """\n\tx\n  y\n"""',
        'a = """\n  x  \n  \n  y\\n\n"""',
    ],
    ids=ascii,
)  # fmt: skip
def test_any_way_to_write_a_body_keeps_its_meaning(body: str) -> None:
    source = Source("t.bench", f"report r {{ {body} }}")
    if read_or_none(source):
        holds(source)
    source = Source("t.bench", f"report r {{\n{body}\n}}")
    if read_or_none(source):
        holds(source)


SLOW = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@settings(SLOW, max_examples=60)
@given(texts())
def test_any_text_by_the_grammar_keeps_its_meaning(text: str) -> None:
    source = Source("t.bench", text)
    if read_or_none(source):
        holds(source)


def test_a_generated_spec_is_right_before_and_after(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"

    @settings(SLOW, max_examples=12)
    @given(specs())
    def stays_right(text: str) -> None:
        hashes = []
        for each in (text, holds(Source("t.bench", text))):
            path.write_text(each, encoding="utf-8")
            checked = check(path)
            assert checked.plan, checked.diagnostics
            hashes.append([(cell.id, cell.hash) for cell in checked.plan.cells])
        assert hashes[0] == hashes[1]

    stays_right()


def read_or_none(source: Source) -> ast.File | None:
    try:
        return parse(source)
    except SpecError:
        return None
