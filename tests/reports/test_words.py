"""The word catalogues."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

import benchbrief.reports
from benchbrief.reports.words import CATALOGUES

ROOM = Path(next(iter(benchbrief.reports.__path__)))


@pytest.mark.parametrize("language", CATALOGUES)
def test_every_language_has_the_same_words_with_the_same_holes(language: str) -> None:
    def holes(text: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(text) if name}

    english = {k: v for k, v in CATALOGUES["en"].items() if not k.endswith("_one")}
    other = {k: v for k, v in CATALOGUES[language].items() if not k.endswith("_one")}
    assert set(other) == set(english)
    assert {k: holes(v) for k, v in other.items()} == {k: holes(v) for k, v in english.items()}


@pytest.mark.parametrize("language", CATALOGUES)
def test_a_sentence_for_one_thing_has_no_hole_that_the_one_for_several_lacks(language: str) -> None:
    catalogue = CATALOGUES[language]
    for key in (k for k in catalogue if k.endswith("_one")):
        one = {name for _, name, _, _ in Formatter().parse(catalogue[key]) if name}
        assert one <= {name for _, name, _, _ in Formatter().parse(catalogue[key.removesuffix("_one")]) if name}


def test_every_word_that_a_template_or_module_names_exists_and_none_is_left_over() -> None:
    named = set()
    for path in [*ROOM.glob("*.py"), *ROOM.glob("templates/**/*.j2")]:
        if path.name != "words.py":
            source = path.read_text()
            named |= set(re.findall(r"\bw\.([a-z_]+)", source)) | set(re.findall(r'words\["([a-z_]+)"\]', source))
    assert named <= set(CATALOGUES["en"])
    every_source = "".join(
        p.read_text() for p in [*ROOM.glob("*.py"), *ROOM.glob("templates/**/*.j2")] if p.name != "words.py"
    )
    families = (
        "fact_",
        "status_",
        "severity_",
        "d_order_",
        "d_server_",
        "d_reset_",
        "d_power_",
        "d_points_",
        "d_found_",
        "d_knee_",
        "d_expect_",
        "d_data_",
        "alt_",
        "at_",
    )
    of_measures = ("measure_", "statistic_", "operation_")
    dims = {"threads", "target", "phase", "time", "repeat", "hardware", "workload", "operation", "experiment", "node"}
    left = {
        w
        for w in CATALOGUES["en"]
        if w.removesuffix("_one") not in every_source and not w.startswith((*families, *of_measures)) and w not in dims
    }
    assert left == set()
