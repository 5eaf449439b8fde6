"""Tests that the error for text from a programming language, or from a clock, says what to write instead."""

from __future__ import annotations

import pytest

from benchbrief.dsl.diagnostics.diagnostic import Diagnostic
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax.recover import PartlyRead, parse_with_gaps


def mistake(text: str) -> Diagnostic:
    with pytest.raises(PartlyRead) as raised:
        parse_with_gaps(Source("t.bench", f"param first = 1\n{text}\n"))
    (found,) = raised.value.diagnostics
    return found


@pytest.mark.parametrize(
    ("wrong", "place", "advice"),
    [
        ("experiment e { threads = [2 * i for i in 1..4] }", "for", "range(8, 96, step: 8)"),
        ("metric m = a if threads > 1 else b", "if", "each case a metric"),
        ("metric m = lambda x: x + 1", "lambda", "metric some_name = expression"),
        ("metric m = apply(a, lambda x: x + 1)", "lambda", "metric some_name = expression"),
        ("metric m = map(a, x => x + 1)", "=>", "metric some_name = expression"),
        ("metric m = throughput.mean()", "(", "`mean(throughput over threads)`"),
        ('report r { figure "f" { throughput vs threads } }', "throughput", "`line = throughput by threads`"),
        ('hardware("box", hosts = "local")', "(", 'hardware some_name "Label" { ... }'),
    ],
)
def test_what_has_no_counterpart_is_reported_with_what_does_the_same(wrong: str, place: str, advice: str) -> None:
    found = mistake(wrong)
    assert found.span
    assert found.span.text == place
    assert advice in found.help


@pytest.mark.parametrize(
    ("wrong", "instead"),
    [
        ("experiment e { measure = 00:10:00 }", "10 min"),
        ("experiment e { measure = 10:00  repeats = 3 }", "10 min"),
        ("experiment e { warm_up = 01:30 }", "90 s"),
        ("experiment e { measure = 2:00:00 }", "2 h"),
        ("experiment e { measure = 00:00:00 }", "0 s"),
        ("experiment e { threads = 16:64:16 }", "range(16, 64, step: 16)"),
        ("hardware h { hosts = 10.0.0.1 }", '"10.0.0.1"'),
        ("hardware h { hosts = [10.0.0.1] }", '"10.0.0.1"'),
        ('report r { figure "f" { line = throughput vs threads } }', "by"),
    ],
)
def test_what_is_written_otherwise_is_mended_by_the_suggestion(wrong: str, instead: str) -> None:
    found = mistake(wrong)
    assert found.suggestion
    assert found.suggestion.replacement == instead
