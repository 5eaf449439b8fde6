"""Tests a report that is a brief and its full disclosure. Each has its own content, links to the other, and is
verified."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from benchbrief.model import plan as p
from benchbrief.model.extension_spec import Format
from benchbrief.reports.data.numbers_file import NumbersFile
from benchbrief.reports.render.companion import companion_of, lead_across
from benchbrief.reports.render.render_report import render
from benchbrief.reports.verify_brief import Verification, check_journal, edited_in, marked_in, read_brief, verify
from benchbrief.results.runs.kept_files import MadeReports
from tests.reports import briefs
from tests.reports import world as w
from tests.support.longer import longer
from tests.support.tools import built_tool

ADDRESS = "https://example.com/briefs/quick"
ALL: tuple[Format, ...] = ("pdf", "html", "markdown")
SUFFIXES = (".pdf", ".html", ".md")


class Made:
    def __init__(self, folder: Path, **changes: Any) -> None:
        world, report = briefs.quickstart(failed=True)
        (folder / "house.css").write_text(".notice { border-left: 9px solid } .disclosure { text-align: right }")
        theme = p.Theme(brand="#123456", css=p.Asset(file=str(folder / "house.css"), sha256="0" * 64))
        changes = {"disclosure": "separate", "address": ADDRESS, "theme": theme, **changes}
        report = report.model_copy(update=changes)
        self.plan, self.store, self.out = world.plan(report), world.store(), folder / "out"
        self.rendered = render(self.plan, self.store, report.name, self.out, formats=ALL)

    def text(self, name: str) -> str:
        return (self.out / name).read_text("utf-8")

    def pdf(self, name: str) -> PdfReader:
        return PdfReader(self.out / name)

    def verified(self, name: str, change: Callable[[str], str] | None = None) -> Verification:
        """Verify a document after a change to the disclosure's page. Undo the change afterwards."""
        page = self.out / "brief-disclosure.html"
        before = page.read_bytes()
        if change:
            page.write_text(change(before.decode()), "utf-8")
        try:
            found = read_brief(self.out / name)
            sums = verify(found, self.plan, self.store)
            return check_journal(sums, self.out / name, found, self.plan, self.out, MadeReports(()))
        finally:
            page.write_bytes(before)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("two"))


def test_each_format_has_both_documents_and_the_brief_comes_first(made: Made) -> None:
    names = [path.name for path in made.rendered.files]
    assert names[:6] == [f"brief{of}{suffix}" for suffix in SUFFIXES for of in ("", "-disclosure")]
    assert names[6] == "brief.json"


def test_the_audit_stands_in_the_disclosure_and_what_a_reader_must_know_in_both(made: Made) -> None:
    brief, disclosure = made.text("brief.html"), made.text("brief-disclosure.html")
    for audit in ('id="notice-1"', 'class="disclosure"', 'class="provenance"'):
        assert audit in disclosure
        assert audit not in brief
    assert '<p class="origin-tag">Stand-in server' in brief
    assert w.RUN not in re.sub(r"<style>.*?</style>|<body[^>]*>", "", brief, flags=re.DOTALL)
    assert w.RUN in disclosure
    for path in (made.out / "brief.pdf", made.out / "brief-disclosure.pdf"):
        assert all("Stand-in server" in page.extract_text() for page in PdfReader(path).pages), path.name


def test_no_style_sheet_of_a_user_reaches_the_disclosure_and_the_brand_does(made: Made) -> None:
    page = made.text("brief-disclosure.html")
    assert "9px solid" not in page
    assert "9px solid" in made.text("brief.html")
    assert "--brand: #123456" in page


def test_every_link_across_leads_to_a_place_of_the_other_document(made: Made) -> None:
    pages = {name: made.text(name) for name in ("brief.html", "brief-disclosure.html")}
    for name, other in (("brief.html", "brief-disclosure.html"), ("brief-disclosure.html", "brief.html")):
        led = re.findall(rf'href="{other}#([^"]+)"', pages[name])
        assert led
        assert set(led) <= set(re.findall(r'\bid="([^"]+)"', pages[other]))
        assert set(re.findall(r'href="#([^"]+)"', pages[name])) <= set(re.findall(r'\bid="([^"]+)"', pages[name]))
    led = re.findall(r"\]\(brief-disclosure\.md#([^)]+)\)", made.text("brief.md"))
    assert led
    assert set(led) <= set(re.findall(r'<a id="([^"]+)">', made.text("brief-disclosure.md")))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_each_brief_names_the_disclosure_of_its_own_medium_with_its_digest(made: Made, suffix: str) -> None:
    name = f"brief-disclosure{suffix}"
    digest = hashlib.sha256((made.out / name).read_bytes()).hexdigest()
    page = made.pdf("brief.pdf").pages[-1].extract_text() if suffix == ".pdf" else made.text(f"brief{suffix}")
    assert name in page
    assert digest[:16] in page
    assert ADDRESS in page
    other = made.pdf(name).pages[0].extract_text() if suffix == ".pdf" else made.text(name)
    assert f"brief{suffix}" in other
    numbers = NumbersFile.model_validate_json(made.text("brief.json"))
    assert numbers.disclosures[name] == digest


def test_a_sentence_about_the_code_stands_beside_a_code_alone(made: Made) -> None:
    told = "Scan to open it, with its whole SHA-256."
    assert told in made.text("brief.html")
    assert told in " ".join("".join(page.extract_text() for page in made.pdf("brief.pdf").pages).split())
    markdown = made.text("brief.md")
    assert "The code" not in markdown
    assert re.search(r", SHA-256 begins `[0-9a-f]{16}`\.\n", markdown)


def test_the_code_has_the_whole_digest_and_the_address() -> None:
    digest = hashlib.sha256(b"pdf").hexdigest()
    codes = {companion_of("a-disclosure.pdf", b"pdf", address).qr for address in ("", ADDRESS, f"{ADDRESS}#en")}
    assert len(codes) == 3
    assert companion_of("a-disclosure.pdf", b"pdf", ADDRESS).sha256 == digest


@pytest.mark.long
def test_both_pdfs_are_pdf_ua_1_and_have_the_numbers_inside(made: Made) -> None:
    paths = [made.out / "brief.pdf", made.out / "brief-disclosure.pdf"]
    command = (built_tool("verapdf/bin/pdf-check"), *paths)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.stdout.splitlines() == [f"ok {path}" for path in paths], done.stdout + done.stderr
    brief, disclosure = (PdfReader(path).attachments for path in paths)
    assert {"numbers.json", "figure-1.csv"} <= set(brief)
    assert set(disclosure) == {"numbers.json"}
    assert brief["numbers.json"][0] == (made.out / "brief.json").read_bytes()


@pytest.mark.long
def test_numbers_are_plain_on_paper_and_verified_all_the_same(made: Made) -> None:
    for name in ("brief.pdf", "brief.html", "brief-disclosure.pdf", "brief-disclosure.html"):
        found = made.verified(name)
        assert found.holds, name
        assert found.edited == (), name
        assert found.beside_files == 1, name


def test_a_changed_disclosure_is_found_from_either_document(made: Made) -> None:
    def other_notice(page: str) -> str:
        return page.replace("mongo-java-server", "mongod", 1)

    found = made.verified("brief.html", other_notice)
    assert found.beside == ("brief-disclosure.html is not, to the byte, what was made with brief.html",)
    assert not found.holds
    assert made.verified("brief-disclosure.html", other_notice).whole is False


@pytest.mark.parametrize("suffix", [*longer(".pdf"), ".html"])
def test_a_disclosure_that_its_brief_does_not_name_is_found(made: Made, tmp_path: Path, suffix: str) -> None:
    for name in ("brief.json", f"brief{suffix}"):
        (tmp_path / name).write_bytes((made.out / name).read_bytes())
    disclosure = tmp_path / f"brief-disclosure{suffix}"
    disclosure.write_bytes((made.out / disclosure.name).read_bytes())
    assert dict(read_brief(disclosure).others) == {f"brief{suffix}": ""}
    disclosure.write_bytes(disclosure.read_bytes() + b"\n")
    assert "is not, to the byte" in dict(read_brief(disclosure).others)[f"brief{suffix}"]


def test_a_disclosure_that_can_not_be_read_is_a_finding(made: Made, tmp_path: Path) -> None:
    for name in ("brief.pdf", "brief-disclosure.pdf"):
        (tmp_path / name).write_bytes((made.out / name).read_bytes())
    (tmp_path / "brief-disclosure.pdf").write_bytes(b"%PDF-1.7 cut")
    found = read_brief(tmp_path / "brief.pdf")
    assert "can't be read as a PDF" in dict(found.others)["brief-disclosure.pdf"]


def test_an_edited_number_of_the_brief_is_found_in_its_pdf(made: Made) -> None:
    numbers = NumbersFile.model_validate_json(made.text("brief.json"))
    first = next(number for number in numbers.numbers if number.linked and number.document == "brief")
    edited = numbers.model_copy(
        update={"numbers": tuple(n.model_copy(update={"shown": "1"}) if n is first else n for n in numbers.numbers)}
    )
    (found,) = edited_in(marked_in(made.pdf("brief.pdf"), spans=True), edited)
    assert (found.recorded, found.found) == ("1", re.sub(r"\s", "", first.shown))


@pytest.mark.long
def test_one_document_has_it_all(tmp_path: Path) -> None:
    one = Made(tmp_path, disclosure="in_brief")
    assert not list(one.out.glob("*-disclosure*"))
    page = one.text("brief.html")
    assert 'id="notice-1"' in page
    assert 'class="disclosure"' in page
    assert '<a class="num" id="n1" href="#source-1"' in page
    assert "companion" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


def test_a_section_with_nothing_but_the_disclosure_leaves_no_heading(tmp_path: Path) -> None:
    section = p.SectionElement(title="How it was done", elements=(p.DisclosureElement(),))
    world, report = w.World({"disk": "Disk"}, {"a": "A"}), w.report("R", p.TextElement(prose=w.text("Words.")), section)
    report = report.model_copy(update={"disclosure": "separate"})
    render(world.plan(report), world.store(), "brief", tmp_path, html_only=True)
    assert "How it was done" not in (tmp_path / "brief.html").read_text("utf-8")
    assert 'class="disclosure"' in (tmp_path / "brief-disclosure.html").read_text("utf-8")


def test_links_across_are_plain_without_a_file_and_numbers_keep_their_marks() -> None:
    page = '<p id="here"></p><a href="#here">a</a><a class="num" id="n1" href="#s" data-x="1">2</a><a href="#s">b</a>'
    plain = '<span class="num" id="n1" data-x="1"><span>2</span></span>b'
    assert lead_across(page, "") == f'<p id="here"></p><a href="#here">a</a>{plain}'
    assert lead_across(page, "o.html").count('href="o.html#s"') == 2
