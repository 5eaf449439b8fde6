"""Tests that numbers, dates and lists follow a language's conventions, and that a run's records are in the report's
language."""

from __future__ import annotations

from datetime import date

import pytest

from benchbrief.reports.charts.chart import tick_labels
from benchbrief.reports.text.number_format import (
    NBSP,
    Locale,
    bytes_text,
    fixed,
    formatted,
    in_prose,
    quantity,
    written_as,
)

NARROW = "\u202f"
"""The separator of thousands in French."""


@pytest.mark.parametrize(
    ("language", "number", "share", "ticks"),
    [
        ("en_GB", "1,234,567.80", "12.5%", ("0.0", "0.5", "1.0")),
        ("ja", "1,234,567.80", "12.5%", ("0.0", "0.5", "1.0")),
        ("de", "1.234.567,80", "12,5%", ("0,0", "0,5", "1,0")),
        ("fr", f"1{NARROW}234{NARROW}567,80", "12,5%", ("0,0", "0,5", "1,0")),
        ("es", "1.234.567,80", "12,5%", ("0,0", "0,5", "1,0")),
        ("hi", "12,34,567.80", "12.5%", ("0.0", "0.5", "1.0")),
        ("tr", "1.234.567,80", "%12,5", ("0,0", "0,5", "1,0")),
        ("xx", "1,234,567.80", "12.5%", ("0.0", "0.5", "1.0")),
    ],
)
def test_numbers_in_tables_texts_and_axes_are_written_as_the_language_does(
    language: str, number: str, share: str, ticks: tuple[str, ...]
) -> None:
    with written_as(Locale(language)):
        assert fixed(1234567.8, 2) == number
        assert formatted(0.125, ".1%", "share") == share
        assert tick_labels([0, 0.5, 1]) == ticks


def test_a_number_that_is_not_grouped_stays_so_and_its_unit_stays_with_it() -> None:
    with written_as(Locale("de")):
        assert formatted(2026.0, ".0f", "1") == "2026"
        assert quantity(0.0123, "s") == f"12,30{NBSP}ms"
        assert bytes_text(1536 * 1024) == f"1,5{NBSP}MiB"
        assert in_prose(0.25, 1.5, ".2f", "1", "", " bis ") == "0,25 bis 1,50"


def test_numbers_are_english_again_behind_a_brief_in_another_language() -> None:
    with pytest.raises(RuntimeError), written_as(Locale("de")):
        raise RuntimeError
    assert fixed(1234.5, 1) == "1,234.5"


def test_days_and_lists_are_written_as_the_language_does() -> None:
    first, last = date(2026, 11, 21), date(2026, 11, 23)
    assert Locale("en_GB").days(first, first) == "21 November 2026"
    assert Locale("ja").days(first, first) == "2026年11月21日"
    assert Locale("de").days(first, first) == "21. November 2026"
    assert Locale("en_GB").days(first, last).replace("\u2009", "") == "21–23 Nov 2026"
    assert Locale("ja").days(first, last) == "2026年11月21日～23日"
    assert Locale("ja").listed(["a", "b", "c"]) == "a、b、c"
    assert Locale("en_GB").listed(["a", "b", "c"]) == "a, b, c"
