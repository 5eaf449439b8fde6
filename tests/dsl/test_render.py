"""Tests the look of a diagnostic: underlines, wide characters, escapes, long lines, spans over several lines, colours,
and JSON."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbrief.dsl.diagnostics.diagnostic import Diagnostic, Edit, Note, Suggestion
from benchbrief.dsl.diagnostics.render import as_json, render, render_all
from benchbrief.dsl.source import Source, Span


def marked(text: str, part: str, label: str = "here") -> str:
    """Return the line with `part` of the text, and the underline below it."""
    source = Source("t.bench", text)
    start = text.index(part)
    shown = render(Diagnostic("E0999", "error", "wrong", Span(source, start, start + len(part)), label))
    return "\n".join(line[4:] for line in shown.split("\n")[3:5])


def test_the_place_is_underlined_and_labelled() -> None:
    source = Source("brief.bench", "\n" * 11 + "  hardware = [hdd, nvm]\n")
    diagnostic = Diagnostic(
        "E0201",
        "error",
        "unknown hardware `nvm`",
        Span(source, 30, 33),
        "not declared",
        notes=(Note("there are `hdd` and `nvme`"),),
        help="did you mean `nvme`?",
    )
    assert render(diagnostic) == "\n".join(
        [
            "error[E0201]: unknown hardware `nvm`",
            "  --> brief.bench:12:20",
            "   |",
            "12 |   hardware = [hdd, nvm]",
            "   |                    ^^^ not declared",
            "   |",
            "   = note: there are `hdd` and `nvme`",
            "   = help: did you mean `nvme`?",
        ]
    )


def test_other_places_and_the_context_are_shown() -> None:
    source = Source("a.bench", "metric a =\n\n\n  b +\n  c\nparam a = 1\n")
    other = Source("lib/b.bench", "param a = 2")
    diagnostic = Diagnostic(
        "E0202",
        "warning",
        "twice",
        Span(source, 21, 22),
        "this",
        context=Span(source, 0, 22),
        notes=(Note("and this", Span(source, 29, 30)), Note("and there", Span(other, 6, 7))),
    )
    assert render(diagnostic) == "\n".join(
        [
            "warning[E0202]: twice",
            " --> a.bench:5:3",
            "  |",
            "1 | metric a =",
            "...",
            "5 |   c",
            "  |   ^ this",
            "  |",
            " ::: a.bench:6:7",
            "  |",
            "6 | param a = 1",
            "  |       - and this",
            "  |",
            " ::: lib/b.bench:1:7",
            "  |",
            "1 | param a = 2",
            "  |       - and there",
        ]
    )


def test_places_in_one_line_are_underlined_below_it() -> None:
    source = Source("a.bench", "metric m in W = throughput / 2 s\n")
    notes = (Note("declared here", Span(source, 12, 13)), Note("in `ops/s`", Span(source, 16, 26)))
    diagnostic = Diagnostic("E0707", "error", "not in `W`", Span(source, 16, 32), "in `ops/s/s`", notes=notes)
    assert render(diagnostic).split("\n")[3:] == [
        "1 | metric m in W = throughput / 2 s",
        "  |                 ^^^^^^^^^^^^^^^^ in `ops/s/s`",
        "  |             - declared here",
        "  |                 ---------- in `ops/s`",
    ]


def test_a_line_that_is_cut_is_shown_for_each_of_its_places() -> None:
    source = Source("a.bench", f"metric m = {'1 + ' * 100}power\n")
    end = len(source.text) - 1
    notes = (Note("declared here", Span(source, 7, 8)),)
    text = render(Diagnostic("E0701", "error", "no", Span(source, end - 5, end), "this", notes=notes))
    assert text.count("a.bench:1:") == len(notes) + 1


def test_several_are_separated_by_a_blank_line() -> None:
    one = Diagnostic("E0001", "error", "no file", None)
    assert render_all([one, one]) == "error[E0001]: no file\n\nerror[E0001]: no file"
    assert render_all([]) == ""


@pytest.mark.parametrize(
    ("text", "part", "shown"),
    [
        ("a b", "b", "a b\n  ^ here"),
        ("a\tb", "b", "a    b\n     ^ here"),
        ("\ta b", "a", "    a b\n    ^ here"),
        ("日本 b", "b", "日本 b\n     ^ here"),
        ("a 日本", "日本", "a 日本\n  ^^^^ here"),
        ("e\u0301 b", "b", "e\u0301 b\n  ^ here"),
        ("a \x1b[31m b", "b", "a \\x1b[31m b\n           ^ here"),
        ("a \x1b b", "\x1b", "a \\x1b b\n  ^^^^ here"),
        ("a \u202e b", "b", "a \\u202e b\n         ^ here"),
        ("a \ud800 b", "b", "a \\ud800 b\n         ^ here"),
        ("a \U000e0001 b", "b", "a \\U000e0001 b\n             ^ here"),
        ("a\u00a0b", "b", "a\u00a0b\n  ^ here"),
        ("a b\r\nc", "b", "a b\n  ^ here"),
    ],
)
def test_the_underline_stands_below_what_is_shown(text: str, part: str, shown: str) -> None:
    assert marked(text, part) == shown


def test_the_end_of_a_text_is_marked_behind_it() -> None:
    source = Source("t", "abc")
    assert render(Diagnostic("E1", "error", "x", Span(source, 3, 3))).endswith("1 | abc\n  |    ^")
    assert render(Diagnostic("E1", "error", "x", Span(Source("t", ""), 0, 0))).endswith("1 |\n  | ^")


@pytest.mark.parametrize("before", [0, 20, 200, 100_000])
@pytest.mark.parametrize("after", [0, 20, 200, 100_000])
def test_a_long_line_is_cut_around_the_place(before: int, after: int) -> None:
    line, under = marked("a " * before + "HERE" + " b" * after, "HERE").split("\n")
    assert len(line) <= 126
    assert line[under.index("^") :][:4] == "HERE"
    assert under.strip() == "^^^^ here"
    assert line.startswith("...") == (before >= 200)
    assert line.endswith("...") == (after >= 200)


def test_a_long_place_is_cut() -> None:
    line, under = marked("x = " + "y" * 100_000, "y" * 100_000).split("\n")
    assert len(line) <= 126
    assert under.count("^") == 116
    assert under.endswith("^ here")


def test_a_place_of_many_lines_is_framed() -> None:
    text = "metric a =\n  b +\n  c\n"
    shown = render(Diagnostic("E1", "error", "x", Span(Source("t", text), 0, 20), "all this"))
    assert shown.split("\n")[3:] == ["1 | / metric a =", "2 | |   b +", "3 | |   c", "  | |___^ all this"]


def test_the_middle_of_very_many_lines_is_left_out() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 1001))
    shown = render(Diagnostic("E1", "error", "x", Span(Source("t", text), 0, len(text)), "all"))
    numbers = re.findall(r"^ *(\d+) \|", shown, re.MULTILINE)
    assert numbers == ["1", "2", "999", "1000"]
    assert "\n...  " in shown


def test_colours_are_only_used_when_asked_for() -> None:
    diagnostic = Diagnostic("E1", "error", "wrong", Span(Source("t", "a b"), 2, 3), "here", help="mend it")
    coloured = render(diagnostic, colour=True)
    assert "\x1b[1;31m^ here\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(diagnostic)
    assert "\x1b" not in render(diagnostic)


@given(
    st.text(st.characters(), max_size=80),
    st.text(st.characters(), max_size=20),
    st.integers(0, 80),
    st.integers(0, 80),
)
def test_nothing_in_a_spec_reaches_the_terminal_as_a_command(text: str, name: str, start: int, length: int) -> None:
    source = Source(name, text)
    start = min(start, len(text))
    span = Span(source, start, min(start + length, len(text)))
    diagnostic = Diagnostic("E1", "error", text, span, name, span, (Note(text, span), Note(name)), text)
    shown = render(diagnostic)
    assert {unicodedata.category(char) for char in shown.replace("\n", "")}.isdisjoint(
        {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    )
    shown.encode()


def test_json_says_the_same_with_places() -> None:
    source = Source("a.bench", "ab\ncd")
    diagnostic = Diagnostic(
        "E0201",
        "error",
        "wrong",
        Span(source, 3, 5),
        "label",
        notes=(Note("plain"), Note("there", Span(source, 0, 1))),
        help="mend it",
        suggestion=Suggestion(Span(source, 3, 4), "x", (Edit(Span(source, 0, 2), "y"),)),
    )
    place = {
        "file": "a.bench",
        "start": {"line": 2, "column": 1, "offset": 3},
        "end": {"line": 2, "column": 3, "offset": 5},
    }
    said = json.loads(json.dumps(as_json(diagnostic)))
    assert said["place"] == place
    assert (said["code"], said["severity"], said["summary"]) == ("E0201", "error", "wrong")
    assert (said["label"], said["help"], said["context"]) == ("label", "mend it", None)
    assert said["notes"][0] == {"text": "plain", "place": None}
    assert said["notes"][1]["place"]["start"] == {"line": 1, "column": 1, "offset": 0}
    assert said["suggestion"]["replacement"] == "x"
    (other,) = said["suggestion"]["also"]
    assert (other["replacement"], other["place"]["start"]["offset"]) == ("y", 0)
    assert as_json(Diagnostic("E1", "error", "x", None))["place"] is None
