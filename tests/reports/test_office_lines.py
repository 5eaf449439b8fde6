"""Tests where lines of titles and captions end in files to edit, and where numbers end in columns of tables."""

from __future__ import annotations

from benchbrief.reports.office.line_breaks import broken, closed, wrapped
from benchbrief.reports.office.rich_text import Paragraph, Run
from benchbrief.reports.office.table_grid import Grid, GridCell, aligned

NBSP = "\N{NO-BREAK SPACE}"


def test_the_last_line_of_a_title_is_no_single_short_word() -> None:
    assert closed((Run("The work of 24 to 35 HDD nodes"),)) == (Run(f"The work of 24 to 35{NBSP}HDD{NBSP}nodes"),)
    assert closed((Run("A benchmarking"),)) == (Run("A benchmarking"),)
    assert closed((Run("at "), Run("2.4 X", number="n1"))) == (Run("at "), Run("2.4 X", number="n1")), "a number"


def test_lines_of_a_japanese_title_end_between_words() -> None:
    runs = (Run("P5430 のスループットは、"), Run("65%", number="n1"), Run("から 70% までです"))
    lines = "".join(run.text for run in broken(runs, 300.0, 20.0)).split("\n")
    assert lines[0] == "P5430 のスループットは、"
    assert "".join(lines).replace(" ", "") == "P5430のスループットは、65%から70%までです"
    _, number, _ = wrapped(Paragraph(runs), 130.0, 20.0).runs
    assert number.text.strip() == "65%", "a number is never broken"
    assert broken((Run("Three words here"),), 40.0, 20.0) == (Run("Three words here"),), "programs break English"


def test_a_line_break_takes_only_the_blanks_around_it() -> None:
    runs = (Run("P5430 の平均スループットは "), Run("2.1 倍", number="n1"), Run(" になりました"))
    made = wrapped(Paragraph(runs), 240.0, 20.0).text
    assert made == "P5430 の平均\nスループットは 2.1 倍\nになりました"


def test_numbers_of_a_column_end_at_one_place_beside_marks() -> None:
    marked = (Run("7"), Run("a", raised=True))
    cells = (
        GridCell(0, 0, (Run("Rate"),), bold=True),
        *(GridCell(at, 0, runs, numeric=True) for at, runs in enumerate((marked, (Run("8"),)), 1)),
    )
    made = aligned(Grid(3, 1, 1, cells), "\N{EN SPACE}").cells
    assert [cell.text for cell in made] == ["Rate", "7a", "8\N{EN SPACE}"]
    assert made[2].plain == "8"
