"""Tests that the names of files in documents do not depend on where a user keeps the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.reports.charts.svg_converter import NotDrawn
from benchbrief.reports.data.imported_briefs import shown_names
from benchbrief.reports.render.render_report import render, with_line_below
from tests.reports.generated import rows_for
from tests.reports.test_repeatability import SPEC
from tests.reports.world import make_store
from tests.support.plans import compile_spec


@pytest.mark.parametrize(
    ("paths", "shown"),
    [
        (["brief.bench", "parts/tables.bench"], ["brief.bench", "parts/tables.bench"]),
        (["/home/me/lab/brief.bench"], ["brief.bench"]),
        (["/home/me/lab/brief.bench", "/home/me/lab/parts/x.bench"], ["brief.bench", "parts/x.bench"]),
        (["/home/me/out/eco/a.txt", "/home/me/out/hdd/a.txt"], ["eco/a.txt", "hdd/a.txt"]),
        (["/home/me/brief.bench", "/srv/x.csv"], ["brief.bench", "x.csv"]),
        (["/home/me/eco/a.txt", "/srv/hdd/a.txt", "/opt/b.txt"], ["eco/a.txt", "hdd/a.txt", "b.txt"]),
        (["../lab/brief.bench", "own.bench", "/srv/x.csv"], ["brief.bench", "own.bench", "x.csv"]),
    ],
)
def test_a_file_outside_goes_by_the_end_of_its_path(paths: list[str], shown: list[str]) -> None:
    assert [*shown_names(paths).values()] == shown


def test_no_part_of_a_brief_says_in_which_folder_its_spec_was(tmp_path: Path) -> None:
    home = tmp_path / "private-home"
    home.mkdir()
    spec = home / "brief.bench"
    spec.write_text(SPEC.replace("REPEATS", "2").replace("LANGUAGE", "en"), encoding="utf-8")
    plan = compile_spec(spec)
    assert plan.spec.name == str(spec), "typed as an absolute path"
    page = render(plan, make_store(rows_for(plan)), "brief", tmp_path / "out", html_only=True).html
    for written in page.parent.iterdir():
        if written.is_file():
            assert b"private-home" not in written.read_bytes(), written.name
    assert "brief.bench (SHA-256" in page.read_text("utf-8")


@pytest.mark.parametrize("size", ['width="657" height="240"', 'width="657.5" height="239.2" viewBox="0 0 657.5 239.2"'])
def test_a_picture_has_the_line_of_its_origin_whatever_its_size(size: str) -> None:
    assert "Simulated" in with_line_below(f"<svg {size}></svg>", "Simulated")


def test_a_picture_without_a_size_is_refused_and_does_not_go_without_its_line() -> None:
    with pytest.raises(NotDrawn):
        with_line_below("<svg></svg>", "Simulated")
