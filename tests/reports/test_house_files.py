"""Tests presentations and documents with a house's templates and any kind of text. Anything that does not fit is
reported."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import docx
import pptx
import pytest
from pptx.enum.shapes import MSO_SHAPE_TYPE
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn

from benchbrief.compiler.briefs.themes import why_no_office
from benchbrief.model import plan as p
from benchbrief.model.extension_spec import Format
from benchbrief.reports.render.render_report import Rendered, render
from tests.reports import briefs
from tests.reports import world as w

HOSTILE = "\u202eRTL\u0007 =cmd|' /C calc'!A1 \u2028 \N{GRINNING FACE} عربى <b>&amp; " + "W" * 300
LONG = "letters " * 12_500


def template(made: Any, file: Path) -> p.Asset:
    """Write a file with python-pptx or python-docx, for use as a template."""
    whole, kept = io.BytesIO(), io.BytesIO()
    made.save(whole)
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(kept, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "[Content_Types].xml":
                for kind in (b"presentation", b"document"):
                    content = content.replace(kind + b".main+xml", b"template.main+xml")
            new.writestr(name, content)
    file.write_bytes(kept.getvalue())
    return p.Asset(file=str(file), sha256="0" * 64)


def made(folder: Path, *formats: Format, elements: tuple[Any, ...] = (), **changes: Any) -> Rendered:
    world, report = briefs.quickstart()
    report = report.model_copy(
        update={"disclosure": "separate", "elements": elements or report.elements[:2], **changes}
    )
    return render(world.plan(report), world.store(), report.name, folder, formats=formats)


def small_texts(slides: Any) -> Iterator[tuple[int, str]]:
    """Yield the sizes below 12 points that are set on slides."""
    for number, slide in enumerate(slides, start=1):
        for tag in ("a:rPr", "a:defRPr"):
            for each in slide._element.iter(qn(tag)):
                if int(each.get("sz", 1200)) < 1200:
                    yield number, each.get("sz")


def outside(presentation: Any) -> Iterator[tuple[int, str]]:
    """Yield the shapes that extend beyond their slides."""
    for number, slide in enumerate(presentation.slides, start=1):
        for shape in slide.shapes:
            right, bottom = shape.left + shape.width, shape.top + shape.height
            wide, high = presentation.slide_width + 9_000, presentation.slide_height + 9_000
            if shape.left < 0 or shape.top < 0 or right > wide or bottom > high:
                yield number, shape.name


def text_of(presentation: Any) -> str:
    shapes = (shape for slide in presentation.slides for shape in slide.shapes if shape.has_text_frame)
    return "".join(shape.text_frame.text for shape in shapes)


def test_a_house_has_its_layouts_and_its_styles_used(tmp_path: Path) -> None:
    house, letter = pptx.Presentation(), docx.Document()
    sample = house.slides.add_slide(house.slide_layouts[1])
    sample.shapes.title.text = "A sample of the house"
    layout = next(each for each in house.slide_layouts if each.name == "Title Only")
    home = layout.part.relate_to(sample.part, RELATIONSHIP_TYPE.SLIDE)  # a button that leads to its first slide
    properties = layout.placeholders[0]._element.nvSpPr.cNvPr
    properties.append(parse_xml(f'<a:hlinkClick {nsdecls("a", "r")} r:id="{home}" action="ppaction://hlinksldjump"/>'))
    letter.add_paragraph("A sample of the house")
    grid = letter.styles["Table Grid"].element
    grid.getparent().remove(grid)
    letter.styles["Heading 1"].font.name = "House Serif"
    letter.styles["Heading 2"].element.name_val = "Heading 2"  # as LibreOffice writes it
    theme = p.Theme(pptx=template(house, tmp_path / "house.potx"), docx=template(letter, tmp_path / "house.dotx"))
    rendered = made(tmp_path / "out", "pptx", "docx", theme=theme)
    assert rendered.undrawn == ()
    slides = pptx.Presentation(str(tmp_path / "out/brief.pptx"))
    assert {slide.slide_layout.name for slide in slides.slides} == {"Title Slide", "Title Only", "Title and Content"}
    assert "A sample" not in "".join(
        s.text_frame.text for slide in slides.slides for s in slide.shapes if s.has_text_frame
    )
    assert list(outside(slides)) == []
    text = docx.Document(str(tmp_path / "out/brief.docx"))
    assert text.styles["Heading 1"].font.name == "House Serif"
    assert "A sample" not in "".join(each.text for each in text.paragraphs)


def test_placeholders_of_a_house_hold_its_texts_charts_and_tables(tmp_path: Path) -> None:
    house = pptx.Presentation()
    layout = next(each for each in house.slide_layouts if each.name == "Content with Caption")
    layout._element.cSld.set("name", "Brief Table")
    layout.placeholders[1]._element.xpath("./p:nvSpPr/p:nvPr/p:ph")[0].set("type", "tbl")
    theme = p.Theme(pptx=template(house, tmp_path / "house.potx"))
    made(tmp_path / "out", "pptx", theme=theme, elements=briefs.quickstart()[1].elements)
    slides = pptx.Presentation(str(tmp_path / "out/brief.pptx")).slides
    shapes = [(slide.slide_layout.name, each) for slide in slides for each in slide.placeholders]
    assert {layout for layout, each in shapes if each.has_table} == {"Brief Table"}
    assert any(layout == "Title and Content" and each.has_chart for layout, each in shapes)
    limits = next(slide for slide in slides if slide.shapes.title.text_frame.text == "Limits")
    (body,) = (each for each in limits.placeholders if each.placeholder_format.idx == 1)
    assert "measured once" in body.text_frame.text
    assert not list(body._element.iter(qn("a:solidFill")))  # the house's colours hold


def lacking(house: Any) -> None:
    house.slide_layouts.remove(next(each for each in house.slide_layouts if each.name == "Title Only"))


def untitled(house: Any) -> None:
    title = next(each for each in house.slide_layouts if each.name == "Title Only").placeholders[0]._element
    title.getparent().remove(title)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lacking, "house.potx has no layout `Brief Slide` or `Title Only`; name one of its layouts so: it has"),
        (untitled, "the layout `Title Only` of house.potx has no placeholder for a title; add one"),
    ],
)
def test_a_template_that_lacks_something_is_said_and_all_else_is_made(
    tmp_path: Path, change: Callable[[Any], None], said: str
) -> None:
    house = pptx.Presentation()
    change(house)
    theme = p.Theme(pptx=template(house, tmp_path / "house.potx"))
    rendered = made(tmp_path / "out", "html", "pptx", theme=theme)
    assert [said in each for each in rendered.undrawn] == [True]
    assert (tmp_path / "out/brief.html").exists()
    assert not (tmp_path / "out/brief.pptx").exists()


def test_a_check_says_why_a_file_is_no_template(tmp_path: Path) -> None:
    file = Path(template(pptx.Presentation(), tmp_path / "house.potx").file).read_bytes()
    assert why_no_office(file, "pptx") == ""
    assert why_no_office(file, "docx") == "it is no file of Word"
    assert why_no_office(file[:9000], "pptx") == "it is damaged, or no file of PowerPoint"
    with_macros = io.BytesIO(file)
    with zipfile.ZipFile(with_macros, "a") as packed:
        packed.writestr("ppt/vbaProject.bin", b"")
    assert why_no_office(with_macros.getvalue(), "pptx") == "it has macros"
    assert why_no_office(_with(file, "again.xml", "again.xml"), "pptx") == "it has two parts of one name"
    away = _with(file, "ppt/_rels/more.rels")
    assert why_no_office(away, "pptx") == "it refers to a file outside of it: http://house.example/x.dotm"


@pytest.mark.long
def test_texts_of_any_kind_stay_on_their_slides(tmp_path: Path) -> None:
    changes = {"title": HOSTILE, "subtitle": LONG, "author": HOSTILE, "legal": w.text(HOSTILE)}
    element = p.TextElement(prose=w.text(LONG))
    rendered = made(tmp_path, "pptx", "docx", elements=(element,), **changes)
    assert rendered.undrawn == ()
    slides = pptx.Presentation(str(tmp_path / "brief.pptx"))
    assert list(outside(slides)) == []
    assert list(small_texts(slides.slides)) == []
    assert text_of(slides).count("letters") >= 12_500
    assert len(slides.slides) < 80


def test_a_note_stays_with_its_figure_whose_data_are_on_the_next_slide(tmp_path: Path) -> None:
    *_, drawn = p.figures_in(briefs.quickstart()[1].elements)
    made(tmp_path, "pptx", elements=(drawn.model_copy(update={"note": w.text("A note of the author.")}),))
    _, figure, data, *_ = pptx.Presentation(str(tmp_path / "brief.pptx")).slides
    assert any(each.shape_type == MSO_SHAPE_TYPE.PICTURE for each in figure.shapes)
    assert any(each.has_text_frame and "A note of the author." in each.text_frame.text for each in figure.shapes)
    beside = [each for each in data.shapes if not each.is_placeholder]
    assert [each.has_table for each in beside] == [True], "nothing is written over the table"


def test_a_short_text_stays_with_the_figure_that_it_leads_to(tmp_path: Path) -> None:
    drawn = next(each for each in p.figures_in(briefs.quickstart()[1].elements))
    lead, alone = (p.TextElement(prose=w.text(said)) for said in ("An insert writes.", "All is done."))
    made(tmp_path, "docx", elements=(p.SectionElement(title="Inserts", elements=(lead, drawn)), alone))
    kept = {
        each.text: each.paragraph_format.keep_with_next
        for each in docx.Document(str(tmp_path / "brief.docx")).paragraphs
    }
    assert (kept["An insert writes."], kept["All is done."]) == (True, None)


def test_a_typeface_that_is_absent_is_named_with_what_stands_in_for_it(tmp_path: Path) -> None:
    (said,) = (
        each for each in made(tmp_path, "docx", theme=p.Theme(font="No Such Face")).warnings if "typeface" in each
    )
    assert said.startswith("no typeface `No Such Face` is installed here: files to edit name it, and show in another (")


@pytest.mark.long
def test_sixty_figures_are_sixty_slides(tmp_path: Path) -> None:
    figures = [each for part in briefs.quickstart()[1].elements for each in (part, *getattr(part, "elements", ()))]
    drawn = [each for each in figures if isinstance(each, p.FigureElement)]
    made(tmp_path, "pptx", "docx", elements=tuple((drawn * 60)[:60]))
    slides = pptx.Presentation(str(tmp_path / "brief.pptx"))
    assert len(slides.slides) >= 60
    assert list(outside(slides)) == []
    assert list(small_texts(slides.slides)) == []


def _with(file: bytes, *names: str) -> bytes:
    """Return a template with additional parts of these names. Each refers to a file on a web server."""
    more = io.BytesIO(file)
    away = '<Relationships><Relationship Type="/attachedTemplate" TargetMode="External" Target="{}"/></Relationships>'
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(more, "a") as packed:
        for name in names:
            packed.writestr(name, away.format("http://house.example/x.dotm"))
    return more.getvalue()
