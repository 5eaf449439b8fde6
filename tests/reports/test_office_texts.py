"""Tests that office files are read without trusting them, and that an edited number is found whatever else was
edited."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence

import pytest

from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data.numbers_file import NumberEntry, PrintedBy
from benchbrief.reports.office import read_package
from benchbrief.reports.office.edited_texts import ComparedTexts, compare_texts
from benchbrief.reports.office.file_texts import shown_by, texts_of
from benchbrief.reports.office.kept_ledger import kept_ledger, with_ledger
from benchbrief.reports.office.read_package import Package
from tests.reports.office_packages import document, package, relations, slides


def number(id_: str, shown: str) -> NumberEntry:
    printed = PrintedBy(by="format")
    return NumberEntry(id=id_, place="text", shown=shown, value=1.0, query="q1", cells=(), printed=printed)


MADE = (
    ("NVMe does 8.7X the work of disks", "Measured in 2026 on 3 hosts"),
    ("Rates (USD)", "Reads\t4,200 ops/s\t0.48", "Writes\t1,100\t0.48"),
    ("It costs 12.5 USD, and 28X to 37X less", "Nothing is said here"),
)
LEDGER = (
    number("n1", "8.7X"),
    number("n2", "4,200"),
    number("n3", "0.48"),
    number("n4", "1,100"),
    number("n5", "0.48"),
    number("n6", "12.5\N{NO-BREAK SPACE}USD"),
    number("n7", "28X to 37X"),
    number("n8", "99 %"),  # not on the slides
)


def compared(made: bytes, now: bytes) -> ComparedTexts:
    kept = kept_ledger(Package(with_ledger(made, LEDGER, [b"{}"]), "made"))
    assert kept is not None
    assert "n8" in kept.absent
    return compare_texts(kept, texts_of(Package(now, "now")).texts, LEDGER)


def edited(*now: Sequence[str], chart: Sequence[float] = (3.5, 7.25)) -> list[tuple[str, str, str, str]]:
    found = compared(slides(*MADE, chart=(3.5, 7.25)), slides(*now, chart=chart))
    return [(each.id, each.place, each.recorded, each.found) for each in found.edited]


def test_words_may_be_edited_moved_and_added() -> None:
    now = (
        ("It costs only 12.5 USD per month, and 28X to 37X less", "Nothing"),
        ("Our own slide of 77 people",),
        ("Rates of one host", "Writes\t1,100\t0.48", "Reads, all\t4,200\t0.48"),
        ("With NVMe: 8.7X the work", "Measured in 2027"),
    )
    assert edited(*now) == []
    assert compared(slides(*MADE), slides(*now)).added == ("slide 2",)


@pytest.mark.parametrize(
    ("slide", "line", "old", "new", "found"),
    [
        (0, 0, "8.7X", "9.7X", [("n1", "slide 1", "8.7X", "9.7X")]),
        (0, 0, "8.7X the work", "many times the work", [("n1", "slide 1", "8.7X", "")]),
        (0, 0, "NVMe does 8.7X", "NVMe reaches 18.7X", [("n1", "slide 1", "8.7X", "18.7X")]),
        (1, 1, "4,200", "42,000", [("n2", "slide 2", "4,200", "42,000")]),
        (1, 2, "0.48", "0.84", [("n3", "slide 2", "0.48", "0.84")]),  # which of two equal ones nobody can tell
        (2, 0, "12.5", "12.4", [("n6", "slide 3", "12.5\N{NO-BREAK SPACE}USD", "12.4\N{NO-BREAK SPACE}USD")]),
        (2, 0, "37X", "47X", [("n7", "slide 3", "28X to 37X", "28X to 47X")]),
        (0, 1, "3 hosts", "300 hosts", []),  # no number of the ledger
        (0, 0, "8.7X", "8.7 %", [("n1", "slide 1", "8.7X", "8.7 %")]),
        (0, 0, "8.7X the", "8.7 times the", [("n1", "text", "8.7X", "")]),
        (1, 1, "4,200 ops/s", "4,200 kops/s", [("n2", "slide 2", "4,200 ops/s", "4,200 kops/s")]),
        (1, 0, "(USD)", "(EUR)", [("", "slide 2", "Rates (USD)", "Rates (EUR)")]),
        (1, 0, "Rates", "All rates", []),
    ],
)
def test_an_edited_number_is_named_with_its_place(
    slide: int, line: int, old: str, new: str, found: list[tuple[str, str, str, str]]
) -> None:
    texts = [list(each) for each in MADE]
    texts[slide][line] = texts[slide][line].replace(old, new)
    assert edited(*texts) == found


def test_a_number_that_is_gone_is_named_and_one_that_stands_elsewhere_is_not() -> None:
    assert edited(MADE[0], MADE[2]) == [
        (id_, "slide 2", shown, "") for id_, shown in (("n2", "4,200"), ("n3", "0.48"), ("n4", "1,100"), ("n5", "0.48"))
    ]
    moved = (*MADE[2], "Reads 4,200 in 0.48, writes 1,100 in 0.48")
    assert edited(MADE[0], moved) == []


def test_a_value_of_a_chart_is_compared() -> None:
    assert edited(*MADE, chart=(3.5, 7.5)) == [("", "slide 1, chart 1, series NVMe", "7.25", "7.5")]
    assert edited(*MADE, chart=()) == [("", "slide 1, chart 1, series NVMe", "2 values", "")]


def test_a_number_in_several_runs_is_found_in_a_document() -> None:
    made, now = document("NVMe does 8.7X the work"), document("NVMe does 8|.|7X the |work", "Ours: 5")
    assert compared(made, now) == ComparedTexts((), ("paragraph 2",))
    (wrong,) = compared(made, document("NVMe does 8|.|8X the |work")).edited
    assert (wrong.place, wrong.recorded, wrong.found) == ("paragraph 1", "8.7X", "8.8X")


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        (8.74, '0.0"X"', "8.7X"),
        (-4321.5, "#,##0", "−4,322"),
        (0.125, "0.0%", "12.5%"),
        (41.0, '"≥ "0\\ "ops/s"', "≥ 41 ops/s"),
        (41.5, "", "41.5"),
        (45000.0, "yyyy-mm-dd", "45000"),
    ],
)
def test_numbers_of_cells_are_read_as_they_are_shown(value: float, form: str, shown: str) -> None:
    assert shown_by(value, form) == shown


# --- hostile files -----------------------------------------------------------------------------------------------

ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'


def damaged() -> bytes:
    content = bytearray(document("8.7X " * 500))
    at = content.index(b"word/document.xml") + len(b"word/document.xml")
    content[at + 10 : at + 30] = bytes(20)
    return bytes(content)


def twice() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("word/document.xml", "<x/>")
        file.writestr("word/documenz.xml", "<y/>")
    return out.getvalue().replace(b"documenz", b"document")


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "no zip": (lambda: b"PK\x03\x04 and nothing else", "can't be read"),
    "damaged": (damaged, "is damaged"),
    "a bomb": (lambda: package({"word/document.xml": b" " * 3_000_000}), "is larger, unpacked"),
    "many parts": (lambda: package({f"x/{n}": "" for n in range(1000)}), "has 1,001 parts"),
    "two parts of a name": (twice, "two parts of one name"),
    "entities": (lambda: package({"word/document.xml": ENTITIES}), "declares entities"),
    "a file of this machine": (lambda: package({"word/document.xml": OUTSIDE}), "declares entities"),
    "deep": (lambda: package({"word/document.xml": "<x>" * 5000 + "</x>" * 5000}), "nested more deeply"),
    "no XML": (lambda: package({"word/document.xml": "8.7X"}), "is damaged"),
    "something else": (lambda: package({"data.bin": "8.7X"}), "is no pptx, xlsx or docx file"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_package, "MOST_OF_A_PART", 1_000_000)
    monkeypatch.setattr(read_package, "MOST_PARTS", 1000)
    make, why = HOSTILE[name]
    with pytest.raises(ReportError, match=why) as raised:
        texts_of(Package(make(), "brief.docx"))
    assert raised.value.hint


def test_parts_that_lie_elsewhere_are_not_looked_for() -> None:
    content = package(
        {
            "word/document.xml": "<w:document xmlns:w='urn:w'><w:p><w:t>8.7X</w:t></w:p></w:document>",
            "word/_rels/document.xml.rels": relations(
                a=("footnotes", "../../../../etc/passwd"),
                b=("footnotes", "file:///etc/passwd"),
                c=("chart", "https://example.com/chart.xml"),
                d=("header", "document.xml"),
            ),
        }
    )
    found = texts_of(Package(content, "brief.docx")).texts
    assert [(each.place, each.cells) for each in found] == [("paragraph 1", ("8.7X",)), ("header", ("8.7X",))]


@pytest.mark.parametrize("kept", ["{}", '{"texts": [1], "absent": [], "unread": []}', "[" * 100_000])
def test_a_damaged_record_of_the_numbers_is_said(kept: str) -> None:
    import base64
    import zlib

    def packed(text: str) -> str:
        return base64.b64encode(zlib.compress(text.encode())).decode()

    inner = f'<file name="numbers.json">{packed("{}")}</file><file name="texts.json">{packed(kept)}</file>'
    part = f'<numbers xmlns="urn:benchbrief:numbers">{inner}</numbers>'
    content = Package(package({"customXml/item1.xml": part}), "brief.docx")
    with pytest.raises(ReportError, match="record of its numbers that can't be read"):
        kept_ledger(content)
