"""Tests a brief with letters that no typeface of this machine has. The brief must warn of them, and must not show boxes
in their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.reports.view.house_style import hint_for_letters, letters_without_typeface, unknown_typeface


@pytest.mark.parametrize("language", ["ja", "en", "de", "pt_BR"])
def test_nothing_is_said_of_a_language_whose_letters_are_installed(language: str) -> None:
    assert hint_for_letters(language) == ""


def test_a_language_that_no_installed_typeface_has_is_named_with_what_to_install(tmp_path: Path) -> None:
    empty = tmp_path / "fc-list"  # what the real one prints where no typeface matches: nothing
    empty.write_text("#!/bin/sh\n")
    empty.chmod(0o755)
    assert "`ja`" in hint_for_letters("ja", str(empty))
    assert "fonts-noto-cjk" in hint_for_letters("ja", str(empty))
    assert "Noto" in hint_for_letters("th", str(empty))


def test_nothing_is_said_where_fontconfig_can_not_be_asked(tmp_path: Path) -> None:
    assert hint_for_letters("ja", str(tmp_path / "missing")) == ""
    assert unknown_typeface("Inter", str(tmp_path / "missing")) == ""


def test_a_typeface_of_a_house_style_that_is_not_installed_is_named() -> None:
    assert unknown_typeface("Inter") == ""
    assert unknown_typeface("dejavu sans") == ""
    assert unknown_typeface("") == ""
    assert "`No Such Face`" in unknown_typeface("No Such Face")


def test_letters_that_no_installed_typeface_has_are_named(tmp_path: Path) -> None:
    none = tmp_path / "fc-list"
    none.write_text("#!/bin/sh\n")
    none.chmod(0o755)
    assert "U+1F680, U+05D0" in letters_without_typeface("Up \U0001f680 × 2 \u200f\u05d0 ms, スループット", str(none))
    assert letters_without_typeface("Up to 2 × – スループット ≥ 3 µs", str(none)) == ""
    assert letters_without_typeface("\U0001f680", str(tmp_path / "missing")) == ""
