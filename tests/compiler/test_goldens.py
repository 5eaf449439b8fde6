"""Tests that every diagnostic has a golden file or is covered by another test, and that the messages in golden files
follow our rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.compiler.diagnostic_codes import all_codes

TESTS = Path(__file__).parents[1]
FOLDERS = [TESTS / "dsl" / "errors", TESTS / "compiler" / "errors", TESTS / "compiler" / "metrics" / "errors"]
GOLDENS = sorted(path for folder in FOLDERS for path in folder.glob("*.err"))

ELSEWHERE = {
    "E0001": "no file to keep beside its golden: test_read",
    "E0002": "a folder in place of a file: test_read",
    "E0003": "a file that can't be read: test_read",
    "E0006": "a file of megabytes: test_read",
    "E0212": "a package that is broken: test_registry",
    "W0212": "a package that lacks a language: test_out_of_tree",
    "E0214": "a package that checks plans: test_extension_checks",
    "W0216": "a package that checks plans: test_extension_checks",
    "W0217": "a package that checks plans: test_extension_checks",
    "E0591": "a tool of another package: compiler/test_events",
    "E0605": "more than a hundred files: test_resolve",
    "E0746": "hundreds of workloads: compiler/test_limits",
    "E0857": "a search for a rate: compiler/test_held_out",
}
"""Codes whose fixture is made by a test, with the reason and the place."""

WITHOUT_A_PLACE = {"E0207", "E0208", "W0501"}
"""Codes that concern the command line, or the whole spec."""

_HEAD = re.compile(r"(?:error|warning)\[([EW]\d{4})\]: (.+)")


def messages() -> Iterator[tuple[str, str, str]]:
    """Return file, code and text of each diagnostic in the goldens."""
    for path in GOLDENS:
        for text in re.split(r"\n\n(?=error\[|warning\[)", path.read_text(encoding="utf-8")):
            match = _HEAD.match(text)
            assert match, (path, text)
            yield path.name, match[1], text


def test_every_code_has_a_golden() -> None:
    shown = {code for _, code, _ in messages()}
    assert {info.code for info in all_codes()} - shown == set(ELSEWHERE)


@pytest.mark.parametrize(("code", "why"), ELSEWHERE.items())
def test_a_code_without_a_golden_is_made_in_another_test(code: str, why: str) -> None:
    (path,) = TESTS.rglob(f"{why.rpartition(': ')[2]}.py")
    assert code in path.read_text(encoding="utf-8")


def test_every_message_underlines_the_text_that_it_is_about() -> None:
    for file, code, text in messages():
        if code in WITHOUT_A_PLACE:
            assert " --> " not in text, (file, text)
            continue
        assert re.search(r"^ *--> \S+:\d+:\d+$", text, re.MULTILINE), (file, text)
        assert re.search(r"^ *\|[ |/]*[\^_]+", text, re.MULTILINE), (file, text)


def test_every_error_of_the_compiler_says_what_to_do_next() -> None:
    """A syntax error may have its next step beside the underline, such as "write `=`"."""
    for file, code, text in messages():
        assert "= help: " in text or code.startswith("E01"), (file, text)


def test_summaries_are_one_line_and_name_what_they_are_about() -> None:
    for file, code, text in messages():
        summary = text.splitlines()[0].partition(": ")[2]
        assert not summary.endswith("."), (file, summary)
        if not code.startswith("E0"):
            continue
        named = "`" in summary or re.search(r"\d", summary)
        underlined = re.search(r"^ *\|[ |/]*[\^_]+", text, re.MULTILINE)
        assert named or underlined, (file, summary)
