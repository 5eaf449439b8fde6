"""Tests workbooks: numbers are real numbers that look as in the brief, and a text is always a text."""

from __future__ import annotations

import csv
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.office.file_texts import FileText, texts_of
from benchbrief.reports.office.long_sheets import LongRows, with_long_rows
from benchbrief.reports.office.points_table import PointColumn, PointsTable
from benchbrief.reports.office.read_package import Package
from benchbrief.reports.office.sheet_values import MOST_CHARACTERS, cell_text, sheet_names, shown_number
from benchbrief.reports.render.render_report import Rendered, render
from tests.reports import briefs
from tests.reports import world as w
from tests.reports.test_files_to_edit import file_of
from tests.support.longer import longer
from tests.support.tools import system_tool

HOSTILE = {
    "disk": '=HYPERLINK("http://evil.example","free")',
    "ram": "@SUM(1+1)*cmd|' /C calc'!A0",
}
WORKLOADS = {"rww": "+1+1", "rrw": "-2", "a": "<r><t>rich</t></r>", "b": "\N{RIGHT-TO-LEFT OVERRIDE}{=1} & <b> _x0041_"}

CLAIM = p.CalloutElement(title="Gain", prose=w.text("It is faster."))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Rendered:
    world, report = briefs.quickstart(failed=True)
    report = report.model_copy(update={"title": "=1+1", "author": "@you", "subtitle": "\t=2"})
    plan = world.plan(report)
    changed = {
        "hardware": {key: each.model_copy(update={"label": HOSTILE[key]}) for key, each in plan.hardware.items()},
        "workloads": {key: each.model_copy(update={"label": WORKLOADS[key]}) for key, each in plan.workloads.items()},
    }
    folder = tmp_path_factory.mktemp("hostile")
    return render(plan.model_copy(update=changed), world.store(), report.name, folder, formats=["xlsx"])


def texts(rendered: Rendered) -> list[FileText]:
    file = file_of(rendered, "xlsx")
    return texts_of(Package(file.read_bytes(), file.name)).texts


def test_no_text_becomes_a_formula_or_leads_out_of_the_workbook(hostile: Rendered) -> None:
    with zipfile.ZipFile(file_of(hostile, "xlsx")) as file:
        parts = {name: file.read(name).decode() for name in file.namelist() if name.endswith((".xml", ".rels"))}
    cells = [name for name, part in parts.items() if name.startswith("xl/worksheets") and re.search(r"<f[ >/]", part)]
    outside = [name for name, part in parts.items() if 'TargetMode="External"' in part]
    assert (cells, outside) == ([], [])
    assert not [name for name in parts if "externalLink" in name or "vba" in name.lower()]
    shown = {cell for text in texts(hostile) for cell in text.cells}
    assert {"=1+1", *HOSTILE.values(), "+1+1", "-2"} <= shown
    assert any("<r><t>rich</t></r>" in cell for cell in shown)
    quoted = parts["xl/styles.xml"].count('quotePrefix="1"')
    assert quoted  # such a text stays one when its cell is edited


def test_the_first_sheet_says_what_the_brief_says_and_leads_to_all_other_sheets(hostile: Rendered) -> None:
    first = [text.cells for text in texts(hostile) if text.place.startswith("sheet Brief, row")]
    assert first[:2] == [("=1+1",), ("=2",)]
    assert ("Limits: 4 notes",) in first
    listed = [cells[0] for cells in first[first.index(("Sheets",)) + 1 :]]
    others = dict.fromkeys(re.match("sheet (.*), ", text.place)[1] for text in texts(hostile))  # type: ignore[index]  # each has a sheet
    assert listed == list(others)[1:]
    with zipfile.ZipFile(file_of(hostile, "xlsx")) as file:
        links = re.findall(r'<hyperlink [^>]*location="([^"]*)"', file.read("xl/worksheets/sheet1.xml").decode())
    assert links == [f"'{name}'!A1" for name in listed]


@pytest.mark.parametrize(
    ("stated", "line", "listed"), [(0, "Limits: 3 notes", 3), (1, "All 4 limits", 4), (5, "All 8 limits", 8)]
)
def test_the_page_and_the_first_sheet_count_the_same_limits(
    stated: int, line: str, listed: int, tmp_path: Path
) -> None:
    limits = tuple(f"Number {at}." for at in range(stated))
    report = w.report("R", CLAIM, limits=limits, disclosure="separate")
    world = w.World({"disk": "Disk"}, {"a": "Sessions"}, engine="mongodb")
    made = render(world.plan(report), world.store(), report.name, tmp_path, formats=["html", "xlsx"])
    page = made.html.read_text("utf-8")
    assert f'<a href="#limits">{line}</a>' in page
    (ending,) = re.findall(r'<section class="limits".*?</section>', page, re.DOTALL)
    assert ending.count("<li ") == listed
    assert 'class="further"' not in ending
    first = [text.cells for text in texts(made) if text.place.startswith("sheet Brief, row")]
    at = first.index((f"Limits: {3 + stated} notes",)) + 1
    assert first[at + listed : at + listed + 2] == [("Gain",), ("It is faster.",)]


def test_each_measurement_has_a_row_and_a_missing_value_its_reason(hostile: Rendered) -> None:
    points = [text.cells for text in texts(hostile) if text.place.startswith("sheet Points, row")]
    head, rows = points[0], points[1:]
    world, _ = briefs.quickstart(failed=True)
    assert len(rows) == world.store().sql("SELECT count(*) FROM cells").rows[0][0]
    assert "Throughput (ops/s)" in head
    failed = [row for row in rows if "failed" in row]
    assert len(failed) == 2
    assert any("YCSB ended with 12 failed operations" in cell for row in failed for cell in row)


def test_rows_are_read_as_they_were_written(hostile: Rendered) -> None:
    """The rows of long sheets are written by benchbrief and not by XlsxWriter, so this test reads them back."""
    store = briefs.quickstart()[0].store()
    text = "=1+1 & <b> _x0041_ \x01"
    sql = f"SELECT '{text}' AS a, 0.1::DOUBLE + 0.2::DOUBLE AS b, NULL AS c, 'nan'::DOUBLE AS d, 12345678901.5 AS e"
    rows = LongRows(1, 5000, PointsTable((PointColumn(""),) * 5, 1, sql, store, 1, 0, 5), 10, (None,) * 5)
    content = with_long_rows(file_of(hostile, "xlsx").read_bytes(), [rows])
    (found,) = [each for each in texts_of(Package(content, "x")).texts if each.place.endswith("row 5000")]
    assert found.columns == (1, 2, 5)
    assert found.values == (None, 0.1 + 0.2, 12345678901.5)
    assert found.cells[0] == "=1+1 & <b> _x005F_x0041_ \N{REPLACEMENT CHARACTER}"


def test_more_rows_than_a_sheet_has_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchbrief.reports.office import workbook

    monkeypatch.setattr(workbook, "MOST_ROWS", 12)
    world, report = briefs.quickstart()
    rendered = render(world.plan(report), world.store(), report.name, tmp_path, formats=["xlsx"])
    assert "14 rows of 24 are left out" in " ".join(rendered.warnings)
    assert len([each for each in texts(rendered) if each.place.startswith("sheet Points, row")]) == 12


@pytest.mark.parametrize(
    ("text", "value", "kept", "form"),
    [
        ("8.7X", 8.7432, 8.7432, '0.0"X"'),
        ("8.7X", 8.79, 8.7, '0.0"X"'),  # rounded towards what it is compared with
        ("54.29\N{NO-BREAK SPACE}%", 0.54288, 54.288, '0.00" %"'),
        ("−1,234", -1234.2, -1234.2, "#,##0"),
        ("810\N{NO-BREAK SPACE}µs", 0.00081, 810.0, '0" µs"'),
        ("≥ 4,200", 4200.0, 4200.0, '"≥ "#,##0'),
    ],
)
def test_a_number_keeps_its_digits_where_they_round_to_what_is_printed(
    text: str, value: float, kept: float, form: str
) -> None:
    found = shown_number(text, value)
    assert found is not None
    assert found.value == pytest.approx(kept)
    assert found.format == form


@pytest.mark.parametrize("text", ["2.1X to 2.8X", "–", "", "5 of 10 points", "1e−9", "version 1.2.3", "2026-03-14"])
def test_a_text_that_is_no_single_number_stays_a_text(text: str) -> None:
    assert shown_number(text) is None


def test_names_of_sheets_are_legal_and_unique() -> None:
    wanted = [
        "Figure 1",
        "figure 1",
        "a/b:c*[d]?\\e",
        "'quoted'",
        "",
        "History",
        "x" * 40,
        "x" * 40,
        "図" * 40,
        "😀" * 20,
    ]
    names = sheet_names(wanted)
    assert names[:6] == ["Figure 1", "figure 1 (2)", "a b c  d   e", "quoted", "Sheet", "History (2)"]
    assert len({name.casefold() for name in names}) == len(wanted)
    assert all(0 < len(name.encode("utf-16-le")) <= 62 for name in names)


@pytest.mark.parametrize("text", ["x" * 40_000, *longer("😀" * 20_000), "\x00\x1b[31m" * 9_000])
def test_a_text_fits_its_cell(text: str) -> None:
    made = cell_text(text)
    assert len(made.encode("utf-16-le")) <= 2 * MOST_CHARACTERS
    assert "\x00" not in made


@pytest.mark.long
def test_libreoffice_reads_each_point_as_the_store_has_it(hostile: Rendered, tmp_path: Path) -> None:
    every_sheet = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1"
    profile, file = f"-env:UserInstallation=file://{tmp_path}/profile", file_of(hostile, "xlsx")
    subprocess.run(
        [system_tool("soffice"), "--headless", profile, "--convert-to", every_sheet, "--outdir", tmp_path, file],
        check=True,
        capture_output=True,
        timeout=200,
    )
    with (tmp_path / f"{file.stem}-Points.csv").open(encoding="utf-8") as rows:
        head, *points = csv.reader(rows)
    world, _ = briefs.quickstart(failed=True)
    known = world.store().sql("SELECT c.cell_id, t.ops_per_s FROM cells c LEFT JOIN throughput t USING (cell_id) "
                              "WHERE operation = 'all' AND phase IS NULL AND status = 'ok'").rows  # fmt: skip
    at = head.index("Throughput (ops/s)")
    found = {row[0]: float(row[at]) for row in points if row[at]}
    assert found == pytest.approx({str(cell): float(rate) for cell, rate in known})
    written = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("*.csv"))
    assert HOSTILE["ram"] in written
    assert not re.search(r"#(NAME|REF|VALUE|DIV/0)|Err:\d", written)
