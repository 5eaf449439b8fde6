"""Tests that every code has an explanation, and that the samples in it behave as it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.compiler.briefs import claim_errors, held_out_errors
from benchbrief.compiler.briefs.claim_words import is_japanese
from benchbrief.compiler.diagnostic_codes import CodeInfo, all_codes
from benchbrief.compiler.problems import CompileProblem
from tests.compiler.samples import outcome, samples
from tests.support.longer import one_in

NOT_OF_A_TEXT = {
    "E0003": "takes a file that this user may not read",
    "E0004": "takes bytes that are no text",
    "E0005": "takes bytes that are no text",
    "E0006": "takes a file of megabytes",
    "E0125": "takes a character that no editor shows",
    "E0212": "takes a broken package",
    "E0214": "takes a package that checks plans",
    "E0591": "takes a tool of another package",
    "E0605": "takes more than a hundred files",
    "E0746": "takes hundreds of workloads",
    "E0762": "takes a file of another kind",
    "E0763": "takes a folder of templates",
    "E0764": "takes a style sheet",
    "E0765": "takes a folder of templates",
    "E0766": "takes a folder of templates",
    "E0767": "takes a style sheet",
    "E0781": "takes a catalogue beside the spec",
    "E0782": "takes a catalogue beside the spec",
    "W0212": "takes another package",
    "W0216": "takes a package that checks plans",
    "W0217": "takes a package that checks plans",
    "W0750": "takes a catalogue beside the spec",
}
"""Codes without samples, with the reason."""

OF_CLAIMS = {
    each.code
    for module in (claim_errors, held_out_errors)
    for each in vars(module).values()
    if isinstance(each, type) and issubclass(each, CompileProblem) and each.__module__ == module.__name__
}

EXPLAINED = [info for info in all_codes() if info.explanation_markdown]


def test_every_code_is_explained() -> None:
    assert [info.code for info in all_codes() if not info.explanation_markdown] == []


@pytest.mark.parametrize("info", EXPLAINED, ids=lambda info: info.code)
def test_an_explanation_is_short_prose_with_one_wrong_and_one_mended_sample(info: CodeInfo) -> None:
    found = samples(info.explanation_markdown)
    prose = "".join(info.explanation_markdown.split("```")[::2])
    assert 120 < len(prose) < 1500, len(prose)
    assert max(map(len, info.explanation_markdown.splitlines())) <= 120
    marked = [word for each in found for word in each.words if word in ("wrong", "mended")]
    assert marked == ([] if info.code in NOT_OF_A_TEXT else ["wrong", "mended"])
    assert info.explanation_markdown.count("```") == 2 * len(found), "a fence that is no sample"


@pytest.mark.parametrize(
    "info", one_in(4, [info for info in EXPLAINED if info.code not in NOT_OF_A_TEXT]), ids=lambda info: info.code
)
def test_the_wrong_sample_gives_the_code_and_the_mended_one_nothing(info: CodeInfo, tmp_path: Path) -> None:
    found = samples(info.explanation_markdown)
    # A sample need not use all that it declares, nor leave everything of its base in use.
    aside = {"W0201"} - {info.code}
    wrong, mended = (outcome(found, word, tmp_path) for word in ("wrong", "mended"))
    assert {diagnostic.code for diagnostic in wrong.diagnostics} - aside == {info.code}, wrong.diagnostics
    assert [diagnostic for diagnostic in mended.diagnostics if diagnostic.code not in aside] == []
    assert mended.plan is not None
    if info.code in OF_CLAIMS:  # which are judged by words
        assert len(wrong.diagnostics) > 1, "one in each language"
        assert all(is_japanese(each.text) for each in found)
