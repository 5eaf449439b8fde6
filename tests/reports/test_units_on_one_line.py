"""Tests that a unit with a slash is not broken at the end of a line."""

from __future__ import annotations

from importlib.resources import files
from io import BytesIO

import pytest
from pypdf import PdfReader

from benchbrief.reports.render.page_pdf import to_pdf


@pytest.mark.parametrize("kind", ["unit", "num", "whole"])
def test_a_narrow_column_does_not_part_a_unit(kind: str) -> None:
    style = (files("benchbrief.reports") / "templates" / "base" / "style.css").read_text("utf-8")
    page = (
        f'<html lang="en"><title>x</title><style>{style}</style><p style="width: 1em"><span class="{kind}">ops/s</span>'
    )
    (sheet,) = PdfReader(BytesIO(to_pdf(page))).pages
    assert "ops/s" in sheet.extract_text()
    unstyled = page.replace(f'class="{kind}"', "")
    assert "ops/s" not in PdfReader(BytesIO(to_pdf(unstyled))).pages[0].extract_text()
