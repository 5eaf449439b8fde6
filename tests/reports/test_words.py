"""Tests the catalogues of words: each language has the same keys and holes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from string import Formatter

import pytest
from babel import Locale

import benchbrief.reports
from benchbrief.compiler.briefs.word_catalogues import read_catalogue, shipped
from benchbrief.compiler.problems import Findings
from benchbrief.reports.words.brief_words import CATALOGUES, Entry, Words, counted, some_of

ROOM = Path(next(iter(benchbrief.reports.__path__)))


def holes(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def forms(entry: Entry) -> Mapping[str, str]:
    return {"other": entry} if isinstance(entry, str) else entry


@pytest.mark.parametrize("language", CATALOGUES)
def test_every_language_has_the_same_words_with_the_same_holes(language: str) -> None:
    english, other = CATALOGUES["en"], CATALOGUES[language]
    assert set(other) == set(english)
    assert {k: holes(v) for k, v in other.items()} == {k: holes(v) for k, v in english.items()}


@pytest.mark.parametrize("language", CATALOGUES)
def test_a_form_for_some_numbers_has_no_hole_that_the_form_for_all_others_lacks(language: str) -> None:
    for entry in CATALOGUES[language].entries.values():
        found = forms(entry)
        assert all(holes(text) <= holes(found["other"]) for text in found.values())


@pytest.mark.parametrize("language", CATALOGUES)
def test_a_word_has_forms_for_the_plural_categories_of_its_language_and_for_single_numbers_only(language: str) -> None:
    categories = Locale.parse(language).plural_form.tags | {"other"}
    for entry in CATALOGUES[language].entries.values():
        assert all(name in categories or re.fullmatch(r"=\d+", name) for name in forms(entry))


def problems_of(path: Path, text: str) -> list[str]:
    findings = Findings()
    path.write_text(text, encoding="utf-8")
    read_catalogue(path, None, findings)
    return [found.summary for found in findings.diagnostics() if found.code == "E0782"]


@pytest.mark.parametrize("language", CATALOGUES)
def test_the_words_that_we_ship_can_be_brought_along(language: str, tmp_path: Path) -> None:
    assert problems_of(tmp_path / "x.toml", shipped(language)) == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('aside = " (x)"', "aside lacks the hole `{text}`"),
        ('aside = " ({text} {more})"', "aside has a hole `{more}`"),
        ('aside = " ({text:>60000000})"', "aside has a broken hole: a hole is a name in braces"),
        ('aside = " ({text!r})"', "aside has a broken hole: a hole is a name in braces"),
        ('gap = { one = "one ({reasons})", other = "{n} ({reasons})" }', "gap lacks the hole `{missing}`"),
    ],
)
def test_a_text_has_the_holes_of_the_english_one_and_nothing_else_in_them(line: str, says: str, tmp_path: Path) -> None:
    (shown,) = problems_of(tmp_path / "x.toml", line)
    key, _, why = says.partition(" ")
    assert shown.startswith(f"`{key}` in ")
    assert shown.endswith(why)


def test_a_sentence_takes_the_form_for_its_number_by_the_rules_of_its_language() -> None:
    texts = {"=0": "none", "one": "{n} plik", "few": "{n} pliki", "many": "{n} plików", "other": "{n} pliku"}
    polish = Words("pl", {"files": texts, "page": "strona"})
    found = [counted(polish, "files", n) for n in (0, 1, 2, 5, 22, 1.5)]
    assert found == ["none", "1 plik", "2 pliki", "5 plików", "22 pliki", "1,5 pliku"]
    assert counted(polish, "page", 2) == polish["page"] == "strona"


def test_every_word_that_a_template_or_module_names_exists_and_none_is_left_over() -> None:
    named = set()
    layouts = [*ROOM.glob("templates/**/*.j2"), *ROOM.parent.glob("extensions/templates/*/*.j2")]
    for path in [*ROOM.rglob("*.py"), *layouts]:
        source = path.read_text()
        named |= set(re.findall(r"\bw\.([a-z_]+)", source)) | set(re.findall(r'words\["([a-z_]+)"\]', source))
    assert named <= set(CATALOGUES["en"])
    every_source = "".join(p.read_text() for p in [*ROOM.rglob("*.py"), *layouts])
    families = (
        "fact_",
        "status_",
        "severity_",
        "d_order_",
        "d_arrivals_",
        "d_engine_",
        "d_meter_",
        "d_server_",
        "d_reset_",
        "d_power_",
        "d_points_",
        "d_found_",
        "d_otherwise_",
        "heat_",
        "best_",
        "site_",
        "d_knee_",
        "d_expect_",
        "expect_",
        "d_data_",
        "d_always_",
        "over_",
        "part_",
        "alt_",
        "claim_",
        "sheet_",
        "said_mixed",
        "at_",
        "r_",
        "repro_",
        "step_",
    )
    of_measures = ("kicker_", "measure_", "statistic_", "operation_", "w_", "unit_")
    dims = {"threads", "target", "phase", "time", "repeat", "hardware", "workload", "operation", "experiment", "node"}
    left = {
        w
        for w in CATALOGUES["en"]
        if w not in every_source and not w.startswith((*families, *of_measures)) and w not in dims
    }
    assert left == set()


@pytest.mark.parametrize(
    ("count", "total", "english"),
    [(1, 1, "the only measurement"), (1, 12, "one of 12 measurements"), (1234, 5678, "1,234 of 5,678 measurements")],
)
def test_some_of_several_are_counted(count: int, total: int, english: str) -> None:
    assert some_of(CATALOGUES["en"], count, total) == english
    assert all("1 measurements" not in some_of(each, count, total) for each in CATALOGUES.values())


PLURAL = re.compile(r"\{(?:of|total|n|wide|cells)\} (?:measurements|cells|points|files|cores|threads|ramps|sockets)\b")
SEVERAL = {
    "d_occurrences": "of several",
    "d_noise_all": "of comparisons, of which there are several",
    "d_until_late_none": "of none of several",
    "l_unsteady_none": "of none of several",
    "limit_short_all": "of none of several",
    "limit_never_steady_none": "of none of several",
    "notice_never_steady_none_body": "of none of several",
    "l_all_judged": "of all of several",
    "l_all_measurement": "of all of several",
    "l_all_ramp": "of all of several",
    "r_busy_often": "of several",
    "r_busy_meanwhile_often": "of several",
    "r_not_tried": "after several cells",
    "r_not_tried_levels": "after several cells",
    "r_sockets": "of several",
    "said_highest": "of several points",
    "said_lowest": "of several points",
    "said_mixed": "of several points",
    "said_mixed_sided": "of several points",
    "said_worse": "of several points",
    "said_range_highest": "of several points",
    "said_range_lowest": "of several points",
    "site_percentage_points": "of a difference with decimals",
    "r_halted": "the run had more cells than the one that failed",
}
"""English sentences that are always about several things, with the reason."""


def test_no_english_sentence_counts_one_thing_as_several() -> None:
    plain = {key for key, entry in CATALOGUES["en"].entries.items() if isinstance(entry, str) and PLURAL.search(entry)}
    assert plain == {key for key in SEVERAL if key in plain}


def test_a_rate_that_is_held_out_once_is_not_held_out_1_times() -> None:
    words = CATALOGUES["en"]
    assert [counted(words, "d_promise_times", n) for n in (1, 3)] == ["once", "3 times"]
    assert "{held_out} more, held out" in words["d_promise"]
