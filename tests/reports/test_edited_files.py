"""Tests office files edited by people or programs: `bench verify` finds each number that was changed."""

from __future__ import annotations

import re
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.model.extension_spec import Format
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data.numbers_file import NumbersFile
from benchbrief.reports.office.file_texts import texts_of
from benchbrief.reports.office.kept_ledger import count_of, kept_ledger
from benchbrief.reports.office.read_package import Package
from benchbrief.reports.render.render_report import Rendered
from benchbrief.reports.verify_brief import FinishedBrief, read_brief
from tests.reports.test_files_to_edit import TO_EDIT, english_once, file_of, made
from tests.support.longer import longer
from tests.support.tools import system_tool


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Rendered:
    return english_once(tmp_path_factory)


@pytest.fixture(scope="module")
def japanese(tmp_path_factory: pytest.TempPathFactory) -> Rendered:
    return made(tmp_path_factory.mktemp("to-edit-ja"), *TO_EDIT, japanese=True)


def rewritten(file: Path, target: Path, change: Callable[[str, str], str]) -> Path:
    """Write a copy of an office file in which `change` has edited the XML parts. It gets the name and the text of each.
    The record of numbers that we keep in the file (`customXml`) stays as it is."""
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            content = old.read(info)
            if info.filename.endswith(".xml") and not info.filename.startswith("customXml"):
                content = change(info.filename, content.decode()).encode()
            new.writestr(info, content)
    return target


def edited(found: FinishedBrief) -> list[tuple[str, str]]:
    return [(each.recorded, each.found) for each in found.edited or ()]


def said_number(file: Path, rendered: Rendered) -> str:
    """Return a number that occurs in the file's text, but not in its sheets of data."""
    texts = texts_of(Package(file.read_bytes(), file.name)).texts
    said = [text for text in texts if not text.columns or text.place.startswith("sheet Brief")]
    numbers = NumbersFile.model_validate_json(rendered.numbers.read_bytes()).numbers
    return next(
        number.shown
        for number in numbers
        if number.value is not None
        and len(number.shown) > 3
        and count_of(number.shown, texts) == count_of(number.shown, said) > 0
    )


@pytest.mark.parametrize("language", ["english", *longer("japanese")])
@pytest.mark.parametrize("kind", TO_EDIT)
def test_each_number_of_a_brief_stands_in_the_file(kind: Format, language: str, request: pytest.FixtureRequest) -> None:
    rendered: Rendered = request.getfixturevalue(language)
    found = read_brief(file_of(rendered, kind))
    assert (edited(found), found.added, found.unread) == ([], (), ())
    kept = kept_ledger(Package(file_of(rendered, kind).read_bytes(), kind))
    assert kept is not None
    missing = {number.id for number in found.numbers.numbers if number.value is None}
    assert kept.absent - missing == set()


@pytest.mark.parametrize("kind", TO_EDIT)
def test_a_number_that_was_edited_by_hand_is_found(english: Rendered, tmp_path: Path, kind: Format) -> None:
    file = file_of(english, kind)
    number = said_number(file, english)
    other = number.replace(number[0], "7" if number[0] != "7" else "8", 1)
    found = read_brief(rewritten(file, tmp_path / file.name, lambda _, text: text.replace(number, other)))
    assert set(edited(found)) == {(number, other)}
    assert not found.added


def test_another_value_in_a_cell_is_found_even_if_it_shows_alike(english: Rendered, tmp_path: Path) -> None:
    file = file_of(english, "xlsx")
    texts = texts_of(Package(file.read_bytes(), file.name)).texts
    row = next(text for text in texts if text.place.startswith("sheet Table 1") and any(text.values))
    value = next(value for value in row.values if value is not None)

    def change(_: str, part: str) -> str:
        return part.replace(f"<v>{value:.16G}</v>", f"<v>{value * (1 + 1e-6):.16G}</v>")

    wrong = read_brief(rewritten(file, tmp_path / file.name, change)).edited or ()
    assert any(each.place.startswith(f"{row.place}, cell ") and each.id for each in wrong)


def test_a_formula_in_place_of_a_number_is_found(english: Rendered, tmp_path: Path) -> None:
    file = file_of(english, "xlsx")

    def change(name: str, part: str) -> str:
        table = "Table 1" in part or name.startswith("xl/worksheets")
        return re.sub(r"(<c [^>]*>)(<v>[^<]*\.[^<]*</v></c>)", r"\1<f>NOW()</f>\2", part, count=1) if table else part

    found = read_brief(rewritten(file, tmp_path / file.name, change)).edited or ()
    assert any(each.found.startswith("=NOW() (") and each.recorded not in each.found for each in found)


def test_a_chart_and_the_workbook_inside_of_it_say_the_same(english: Rendered, tmp_path: Path) -> None:
    file, target = file_of(english, "pptx"), tmp_path / "brief.pptx"
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            content = old.read(info)
            if info.filename.endswith(".xlsx"):
                (tmp_path / "chart.xlsx").write_bytes(content)
                changed = rewritten(tmp_path / "chart.xlsx", tmp_path / "changed.xlsx", _doubled)
                content = changed.read_bytes()
            new.writestr(info, content)
    found = read_brief(target).edited or ()
    assert found
    assert all(", in its workbook " in each.found and "chart" in each.place for each in found)


def _doubled(name: str, part: str) -> str:
    """Double the numbers in a sheet of a workbook. Other parts are returned unchanged."""
    if not name.startswith("xl/worksheets"):
        return part
    return re.sub(
        r'(<c r="[B-Z]\d+"(?: s="\d+")?>)<v>([^<]*)</v>', lambda found: f"{found[1]}<v>{2 * float(found[2])}</v>", part
    )


def test_a_file_that_lost_its_record_is_read_with_the_file_of_the_numbers_beside_it(
    english: Rendered, tmp_path: Path
) -> None:
    file = file_of(english, "docx")
    bare = tmp_path / file.name
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(bare, "w") as new:
        for info in old.infolist():
            if not info.filename.startswith("customXml"):
                new.writestr(info, old.read(info))
    with pytest.raises(ReportError, match="the file has lost the one that was inside"):
        read_brief(bare)
    (tmp_path / english.numbers.name).write_bytes(english.numbers.read_bytes())
    assert edited(read_brief(bare)) == []
    number = said_number(file, english)
    found = read_brief(
        rewritten(bare, tmp_path / "edited.docx", lambda _, text: text.replace(number, "some")).rename(bare)
    )
    assert set(edited(found)) == {(number, "")}


@pytest.mark.long
@pytest.mark.parametrize("kind", TO_EDIT)
def test_a_file_that_libreoffice_saved_again_still_has_its_numbers(
    english: Rendered, tmp_path: Path, kind: Format
) -> None:
    file = file_of(english, kind)
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    subprocess.run(
        [system_tool("soffice"), "--headless", profile, "--convert-to", kind, "--outdir", tmp_path, file],
        check=True,
        capture_output=True,
        timeout=200,
    )
    saved = tmp_path / file.name
    assert saved.read_bytes() != file.read_bytes()
    assert edited(read_brief(saved)) == []
