"""Tests that the reference, editors, plans and briefs agree on when each `reset` happens, and on which effects
remain."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from benchbrief.compiler.explain.explain_rules import reset_words
from benchbrief.compiler.registry import SNAPSHOT_SPECS
from benchbrief.compiler.word_meanings import RESETS
from benchbrief.model.engine_spec import AFTER_WRITES, Reset

ROOT = Path(__file__).parents[2]
BRIEFS = {
    **tomllib.loads((ROOT / "reports/words/en.toml").read_text(encoding="utf-8")),
    **{f"d_reset_{name}": spec.described["en"] for name, spec in SNAPSHOT_SPECS.own.items()},
}
_ROW = re.compile(r"^\| `(\w+)(?:\([^`]*\))?` \| (.+) \| (.+) \|$", re.MULTILINE)
_TABLE = (ROOT / "docs/reference/blocks.md").read_text(encoding="utf-8").split("| what differs from a new load |")[1]
REFERENCE = {name: (when, left) for name, when, left in _ROW.findall(_TABLE.split("\n\n")[0])}
LEFT = {"caches": r"content of caches|page cache may|ARC", "free space": r"free space within"}
"""The effects that only a load removes, with the words for them."""


def left(text: str) -> set[str]:
    return {what for what, words in LEFT.items() if re.search(words, text)}


def test_each_reset_has_a_text_in_each_place() -> None:
    assert REFERENCE.keys() == {*RESETS, "command"}
    assert {f"d_reset_{name}" for name in REFERENCE} <= BRIEFS.keys()


@pytest.mark.parametrize("reset", sorted(set(REFERENCE) - {"drop_and_load", "reuse", "command"}))
def test_the_reference_and_the_brief_name_the_same_things_as_not_brought_back(reset: str) -> None:
    assert left(REFERENCE[reset][1]) == left(BRIEFS[f"d_reset_{reset}"])


@pytest.mark.parametrize("reset", AFTER_WRITES)
def test_all_say_that_a_snapshot_is_brought_back_only_after_a_cell_that_writes(reset: Reset) -> None:
    for text in (REFERENCE[reset][0], RESETS[reset], reset_words(reset), BRIEFS[f"d_reset_{reset}"]):
        assert re.search(r"\b(wrote|write)\b", text), text
        assert "before each cell" not in text


@pytest.mark.parametrize("reset", SNAPSHOT_SPECS.own)
def test_all_say_that_a_file_system_puts_the_snapshot_back_each_time(reset: Reset) -> None:
    for text in (REFERENCE[reset][0], RESETS[reset], reset_words(reset), BRIEFS[f"d_reset_{reset}"]):
        assert re.search(r"each (cell|measurement)", text), text
