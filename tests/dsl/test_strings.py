"""Tests the meaning of quoted texts: lines, escapes and holes."""

from __future__ import annotations

import pytest

from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from tests.dsl.trees import value


def string(text: str) -> ast.String:
    (declaration,) = parse(Source("t.bench", f"param p = {text}")).declarations
    assert isinstance(declaration, ast.Param)
    assert isinstance(declaration.value, ast.String)
    return declaration.value


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('""', ""),
        ('"a b"', "a b"),
        ('"日本語"', "日本語"),
        (r'"a \"b\" c"', 'a "b" c'),
        (r'"a\\b"', "a\\b"),
        (r'"a\nb\tc"', "a\nb\tc"),
        ('"{{a}}"', "{a}"),
        ('"# no comment // here"', "# no comment // here"),
        ('""""""', ""),
        ('"""a"""', "a"),
        ('"""a "quoted" b"""', 'a "quoted" b'),
        ('"""a\\""""', 'a"'),
        ('"""\n  a\n    b\n\n  c\n  """', "a\n  b\n\nc"),
        ('"""\n\ta\n\tb\n"""', "a\nb"),
        ('"""\n  a\n b\n"""', " a\nb"),
        ('"""\n  a\n\tb\n"""', "  a\n\tb"),
        ('"""first\n  second\n  third"""', "first\nsecond\nthird"),
        ('"""\r\n  a\r\n  b\r\n"""', "a\nb"),
        ('"""\n\n  a\n\n"""', "\na\n"),
        ('"""\n   \n  a\n"""', "\na"),
        ('"""\n"""', ""),
        ('"""\n\n"""', ""),
        ('"""\n  \\n\n"""', "\n"),
        ('"""  """', "  "),
    ],
)
def test_a_text_without_holes_says(written: str, said: str) -> None:
    assert string(written).plain == said


@pytest.mark.parametrize(
    ("written", "meaning"),
    [
        ('"{a}"', "<{a:}>"),
        ('"x{a}y"', "<'x'{a:}'y'>"),
        ('"{a}{b}"', "<{a:}{b:}>"),
        ('"{a:.1f}X"', "<{a:.1f}'X'>"),
        ('"{a:+.0%} {{b}}"', "<{a:+.0%}' {b}'>"),
        ('"{a[b, threads: 4]:,.0f}"', "<{a[b, threads: 4]:,.0f}>"),
        ('"{range(a over b):.0f}"', "<{range(a over b):.0f}>"),
        ('"{a:b:c}"', "<{a:b:c}>"),
        ('"{ a }"', "<{a:}>"),
        ('"""{f("b"):x}"""', "<{f(<'b'>):x}>"),
        ('"{{{a}}}"', "<'{'{a:}'}'>"),
        ('"""\n  one {a}\n  two {max(a\n    over b)}\n  three\n"""', "<'one '{a:}'\\ntwo '{max(a over b):}'\\nthree'>"),
        ('"""\n  {a}\n  {b}\n"""', "<{a:}'\\n'{b:}>"),
    ],
)
def test_a_text_with_holes_says(written: str, meaning: str) -> None:
    assert value(written) == meaning
    assert string(written).plain is None


def test_a_hole_points_at_its_place_in_the_file() -> None:
    text = string('"""\n  first\n  {a} and {mean(power over node):.1f} W\n"""')
    holes = [part for part in text.parts if isinstance(part, ast.Hole)]
    assert [hole.span.text for hole in holes] == ["{a}", "{mean(power over node):.1f}"]
    assert [hole.expr.span.text for hole in holes] == ["a", "mean(power over node)"]
    assert [(hole.expr.span.line, hole.expr.span.column) for hole in holes] == [(3, 4), (3, 12)]


def test_a_label_may_have_holes() -> None:
    (block,) = parse(Source("t.bench", 'report r { section "{workload.label}" { } }')).declarations
    assert isinstance(block, ast.Block)
    (section,) = block.body
    assert isinstance(section, ast.Block)
    assert section.label
    assert section.label.plain is None


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ('"a', "E0104"),
        ('"a\nb"', "E0104"),
        ('"a\\"', "E0104"),
        ('"""a', "E0104"),
        ('"""a""', "E0104"),
        (r'"\q"', "E0113"),
        (r'"\{"', "E0113"),
        ('"}"', "E0114"),
        ('"{"', "E0114"),
        ('"{a"', "E0114"),
        ('"{a(}"', "E0102"),
        ('"{a {b}}"', "E0114"),
        ('"{}"', "E0114"),
        ('"{ :x}"', "E0114"),
        ('"{a b}"', "E0101"),
        ('"{a = 1}"', "E0107"),
        ('"{1e999}"', "E0111"),
    ],
)
def test_this_is_no_text(written: str, code: str) -> None:
    with pytest.raises(SpecError) as raised:
        string(written)
    assert raised.value.diagnostics[0].code == code
