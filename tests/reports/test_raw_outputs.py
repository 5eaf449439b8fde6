"""Tests the cells and raw outputs in a brief. A large run has more of them than fit in memory or on a page."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data import numbers_file
from benchbrief.reports.data.numbers_file import CellEntry, NumbersFile
from benchbrief.reports.disclosure import number_ledger
from benchbrief.reports.disclosure.number_ledger import each_entry, outputs_of
from benchbrief.reports.render.render_report import Rendered, render
from benchbrief.reports.verify_brief import read_brief
from benchbrief.results.store import store_schema as s
from tests.reports import briefs
from tests.reports import world as w

DIGESTS = [f"{number:064x}" for number in range(6)]


def file_rows(cell: str, *names: str, attempt: int = 1) -> Iterator[s.FileRow]:
    for name, digest in zip(names, DIGESTS, strict=False):
        yield s.FileRow(w.RUN, cell, attempt, "measure", "db-1", name, digest, None)


@pytest.fixture
def world() -> tuple[w.World, Any, list[str]]:
    made, report = briefs.quickstart()
    return made, report, [cell.id for cell in made.plan(report).cells]


def rendered(world: w.World, report: Any, rows: list[Any], to: Path) -> Rendered:
    return render(world.plan(report), w.make_store([*world.rows(), *rows]), report.name, to, html_only=True)


def numbers(count: int) -> tuple[NumbersFile, dict[str, CellEntry]]:
    cells = {
        f"cell-{at}": CellEntry(hash="ab", status="ok", run="r", attempt=1, files={f"raw/{at}/“out”": DIGESTS[0]})
        for at in range(count)
    }
    return NumbersFile(
        benchbrief="1", report="r", title='"cells": {},', language="en", run="r", kind="measured", plan_sha256="",
        origin=(), queries=(), numbers=(), figures=(), cells={},
    ), cells  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_a_file_that_is_written_piece_by_piece_is_the_same_as_one_that_is_written_at_once(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbers_file, "_AT_ONCE", 2)
    file, cells = numbers(count)
    at_once = file.model_copy(update={"cells": cells}).json_text()
    assert b"".join(file.written(cells.items())).decode() == at_once


def test_the_side_file_has_each_cell_behind_a_number_with_the_outputs_of_its_counted_attempt(
    world: tuple[w.World, Any, list[str]], tmp_path: Path
) -> None:
    made, report, cells = world
    rows = [*file_rows(cells[0], "b", "a"), *file_rows(cells[0], "old", attempt=7), *file_rows(cells[1], "c")]
    found = read_brief(rendered(made, report, rows, tmp_path).html).numbers.cells
    assert set(found) == set(cells)
    assert [list(found[cell].files.items()) for cell in cells[:3]] == [
        [("a", DIGESTS[1]), ("b", DIGESTS[0])],
        [("c", DIGESTS[0])],
        [],
    ]


def test_a_measurement_has_the_digest_that_sha256sum_has_of_its_outputs_in_the_order_of_their_names(
    world: tuple[w.World, Any, list[str]],
) -> None:
    made, _, cells = world
    rows = [*file_rows(cells[0], "a", "z"), *file_rows(cells[1], "m"), *file_rows(cells[2], "other")]
    outputs = outputs_of(w.make_store([*made.rows(), *rows]), dict.fromkeys(cells[:2], "M1"))
    lines = f"{DIGESTS[0]}  a\n{DIGESTS[0]}  m\n{DIGESTS[1]}  z\n"
    assert outputs.manifests == {"M1": (3, hashlib.sha256(lines.encode()).hexdigest())}
    assert (outputs.count, [file.path for file in outputs.listed]) == (3, ["a", "z", "m"])


def test_a_page_lists_no_more_raw_outputs_than_a_browser_shows_well_and_names_the_file_that_has_them(
    world: tuple[w.World, Any, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, report, cells = world
    rows = list(file_rows(cells[0], "first-output", "second-output"))
    whole = rendered(made, report, rows, tmp_path / "whole").html.read_text()
    assert "first-output" in whole
    monkeypatch.setattr(number_ledger, "LISTED", 1)
    cut = rendered(made, report, rows, tmp_path / "cut")
    page = cut.html.read_text()
    assert "first-output" not in page
    assert f"The file <code>{cut.numbers.name}</code> has the SHA-256 of each of the 2 raw outputs" in page
    assert "first-output" in cut.numbers.read_text()


def test_files_of_a_cell_that_are_not_together_are_refused(world: tuple[w.World, Any, list[str]]) -> None:
    made, _, cells = world
    rows = [*file_rows(cells[0], "a"), *file_rows(cells[1], "b"), *file_rows(cells[0], "c")]
    with pytest.raises(ReportError, match=r"names .* twice") as error:
        list(each_entry(w.make_store([*made.rows(), *rows])))
    assert "bench rebuild" in error.value.hint
