"""Tests briefs as files to edit: each has all numbers of the ledger, opens in LibreOffice, and is the same each
time."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import docx
import pytest
from click.testing import CliRunner
from docx.oxml.ns import qn

from benchbrief.cli.terminal import Stop
from benchbrief.commands.results.report import command as report
from benchbrief.commands.running.run import command as run
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.model.extension_spec import Format
from benchbrief.reports.data.numbers_file import NumbersFile
from benchbrief.reports.office.office_formats import OFFICE_FORMATS
from benchbrief.reports.render.render_report import Rendered, render
from tests.reports import briefs
from tests.support.made_once import returned_once
from tests.support.tools import system_tool

QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart.bench"
TO_EDIT: tuple[Format, ...] = tuple(OFFICE_FORMATS)
PPTX_FIRST = [each if each == "pptx" else pytest.param(each, marks=pytest.mark.long) for each in TO_EDIT]


def made(folder: Path, *formats: Format, japanese: bool = False, **changes: object) -> Rendered:
    world, report = briefs.three_ssds() if japanese else briefs.quickstart(failed=True)
    report = report.model_copy(update=changes)
    return render(world.plan(report), world.store(), report.name, folder, formats=formats)


def english_once(factory: pytest.TempPathFactory) -> Rendered:
    """Return a brief in all the formats of `TO_EDIT`. It is made once for the tests of several modules."""
    return returned_once(factory, "to-edit", lambda folder: made(folder, *TO_EDIT, disclosure="separate"))


def file_of(rendered: Rendered, kind: str) -> Path:
    return next(path for path in rendered.files if path.suffix == f".{kind}")


def as_pdf(file: Path) -> str:
    """Open a file in LibreOffice, print it to PDF, and return the text."""
    folder = file.parent / "as-pdf"
    command = [
        str(system_tool("soffice")), "--headless", f"-env:UserInstallation=file://{folder}/profile",
        "--convert-to", "pdf", "--outdir", str(folder), str(file),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=200)
    pdf = folder / f"{file.stem}.pdf"
    return subprocess.run(
        [system_tool("pdftotext"), "-raw", pdf, "-"], check=True, capture_output=True, text=True
    ).stdout


def squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


def numbers_of(rendered: Rendered) -> list[str]:
    """Return all numbers that the brief shows."""
    file = NumbersFile.model_validate_json(rendered.numbers.read_bytes())
    return [number.shown for number in file.numbers if number.document == "brief"]


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Rendered:
    return english_once(tmp_path_factory)


@pytest.mark.parametrize("kind", PPTX_FIRST)
def test_libreoffice_shows_each_number_of_the_ledger(english: Rendered, kind: Format) -> None:
    text = squeezed(as_pdf(file_of(english, kind)))
    assert [number for number in numbers_of(english) if squeezed(number) not in text] == []
    assert squeezed("Stand-in server, not MongoDB") in text
    assert squeezed("Limits: ") in text


@pytest.mark.long
@pytest.mark.parametrize("kind", TO_EDIT)
def test_libreoffice_shows_a_japanese_brief_in_its_typeface(tmp_path: Path, kind: Format) -> None:
    rendered = made(tmp_path, kind, japanese=True, disclosure="separate")
    text = squeezed(as_pdf(file_of(rendered, kind)))
    assert [number for number in numbers_of(rendered) if squeezed(number) not in text] == []
    assert "\N{REPLACEMENT CHARACTER}" not in text
    listed = [system_tool("pdffonts"), tmp_path / "as-pdf" / f"{file_of(rendered, kind).stem}.pdf"]
    fonts = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.splitlines()[2:]
    families = {re.sub("^[A-Z]{6}[+]|-.*| .*", "", line) for line in fonts}  # of another one were glyphs that it lacks
    of_signs = {"xlsx": "DejaVuSans"}.get(kind, "DejaVuSansMono")  # a command is in letters of one width
    assert families - {of_signs} == {"NotoSansCJKjp"}


@pytest.mark.parametrize("kind", TO_EDIT)
def test_a_file_to_edit_is_the_same_each_time(english: Rendered, tmp_path: Path, kind: Format) -> None:
    assert (
        file_of(made(tmp_path, kind, disclosure="separate"), kind).read_bytes() == file_of(english, kind).read_bytes()
    )


@pytest.mark.parametrize("kind", TO_EDIT)
def test_what_is_missing_for_a_file_to_edit_is_said_with_the_command(
    tmp_path: Path, kind: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, OFFICE_FORMATS[kind].library, None)
    rendered = made(tmp_path, "html", kind)
    assert [path.suffix for path in rendered.files] == [".html", ".json"]
    (said,) = rendered.undrawn
    assert said.startswith(f"brief.{kind}: ")
    assert said.endswith("is not installed; install it: pip install 'benchbrief[office]'")


@pytest.mark.parametrize("kind", TO_EDIT)
def test_what_is_missing_is_said_before_anything_is_measured_or_looked_for(
    tmp_path: Path, kind: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, OFFICE_FORMATS[kind].library, None)
    spec = tmp_path / "own.bench"
    spec.write_text(re.sub(r"(report \w+.*{)", rf"\1\n  formats = [pdf, {kind}]", QUICKSTART.read_text()))
    for command, *words in ((report, "no-such-run", "--format", f"pdf,{kind}"), (run, str(spec), "--simulate")):
        ended = CliRunner().invoke(command, [*words, "--out", str(tmp_path / "runs")])
        assert isinstance(ended.exception, Stop)
        assert ended.exception.exit_code == ExitCode.USAGE
        assert ended.exception.hint == "install it: pip install 'benchbrief[office]'"
    assert not (tmp_path / "runs").exists()


def test_a_document_leads_to_its_disclosure_and_keeps_its_limits_on_one_page(tmp_path: Path) -> None:
    address = "https://example.com/brief"
    letter = docx.Document(str(file_of(made(tmp_path, "html", "docx", disclosure="separate", address=address), "docx")))
    code = [each for each in letter.element.body.iter(qn("wp:docPr")) if each.get("name", "").endswith("(QR)")]
    assert [each.get("descr") for each in code] == [f"Full disclosure report (QR): {address}"]
    assert address in [each.target_ref for each in letter.part.rels.values()]
    (limits,) = (
        row
        for table in letter.tables
        for row in table.rows
        for cell in row.cells
        if cell.paragraphs[0].text == "Limits"
    )
    assert limits._tr.trPr.find(qn("w:cantSplit")) is not None
    assert [each for each in limits.cells[1].paragraphs if each.style and each.style.name == "List Number"]
    spacing = letter.settings.element.find(qn("w:characterSpacingControl"))
    assert spacing.get(qn("w:val")) == "compressPunctuation"
