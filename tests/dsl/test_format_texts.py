"""Tests that every kind of text is laid out in every possible place, and keeps its meaning."""

from __future__ import annotations

import itertools

import pytest

from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax.parse import parse
from tests.dsl.test_format import holds
from tests.support.longer import one_in

TEXTS = [
    '"x"', '""', '"""x"""', '""""""', '"""\n"""', '"""\n  a\n"""', '"""\n  a\n  b\n"""', '"""a\n  b"""', '"""a\n"""',
    '"""\n\n a\n\n"""', '"""\r\n  a\r\n  b\r\n  """', '"""\n\ta\n  b"""', '"""a\\n\\"{{\n b"""',
    '"""{x}\n {y:.1f}\n"""',
    '"""\n  # no comment\n  { }\n"""', '"""\n   \n"""', '"""\n  a \\\\\n  b\n"""', '"""\n \u3042\n"""',
]  # fmt: skip
PLACES = [
    "hardware h @ { }", "hardware h @ { a = 1 }", "hardware h @ {\n a = 1\n b = 2 }", "hardware h @ from b",
    "hardware h @ { variant v @ { } }", "hardware h @ from b.c { a = 1 }", "hardware @ { a = 1 }",
    "hardware h @ {}\nhardware hh @ {}", "hardware h @ # c\n { a = 1 }", "hardware h # c\n @ { a = 1 }",
    "report r { figure @ { line = a } }", "report r { figure @\n{ line = a }\n figure @ { line = b } }",
    "report r { figure @ {} }", "report r { section @ { text = @ } # c\n }",
    "report r { each workload { figure @ { } } }",
    "report r { override hardware h @ { a = 1 } }", "report r { section { section @ { } } }",
    "metric m @ = 1", "metric m @ in ms = a + b, higher is better", "metric m @ = 1\nmetric nnnn @ = 2",
    "metric m @ # c\n = 1", "metric m # c\n @ = 1", "expect @ a > 1", "expect @\n a > 1", "expect # c\n @ a > 1",
    "use @", "use # c\n @", "param p = @", "param p = [@, @]", "param p = f(a: @, b)", "param p = a[@]",
    "param p = (@)",
    "param p = @ + @", "param p = not @", "param p = max(@ over a, when @)",
    "report r { text = @ }", "report r { text = @, label @ }", "report r { line = a, label @, b = 1 }",
    "report r { text = # c\n @ }", 'report r { column "x" = @ }', "report r { column @ = 1 }",
    "report r { formula f for @ }",
]  # fmt: skip


@pytest.mark.parametrize("place", one_in(3, PLACES))
def test_a_text_of_any_kind_keeps_its_meaning_in_any_place(place: str) -> None:
    """The parser refuses a kind of text where it is not allowed."""
    first, *others = place.split("@")
    read = 0
    for texts in itertools.product(TEXTS, repeat=len(others)):
        source = Source("t.bench", first + "".join(text + other for text, other in zip(texts, others, strict=True)))
        try:
            parse(source)
        except SpecError:
            continue
        holds(source)
        read += 1
    assert read


def test_a_label_of_several_lines_stands_in_its_head() -> None:
    text = 'metric m """\na\nb""" in ms = x\nhardware h """\n  Two\n  lines\n  """ { hosts = local }\n'
    assert holds(Source("t.bench", text)) == (
        'metric m """\n  a\n  b\n""" in ms = x\nhardware h """\n  Two\n  lines\n""" {\n  hosts = local\n}\n'
    )
