"""Makes the parts of Office Open XML that python-docx lacks: fields, footnotes, links, shades and lines (ECMA-376, part
1, chapter 17)."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import XmlPart
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Length
from docx.text.paragraph import Paragraph

from benchbrief.reports.text.html_markup import writable

_FOOTNOTES = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
_RULES = """<w:footnotes {names}>
<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>
<w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>
</w:footnotes>"""


def element(tag: str, **values: object) -> Any:
    """Return an element of WordprocessingML, such as element("w:shd", fill="d0d0d0")."""
    made = OxmlElement(tag)
    for name, value in values.items():
        made.set(qn(f"w:{name}"), str(value))
    return made


_BEFORE = {
    "w:pBdr": "pStyle keepNext keepLines pageBreakBefore framePr widowControl numPr suppressLineNumbers",
    "w:shd": "pBdr tcW gridSpan hMerge vMerge tcBorders",
    "w:tcBorders": "cnfStyle tcW gridSpan hMerge vMerge",
    "w:tblBorders": "tblStyle tblpPr tblOverlap bidiVisual tblStyleRowBandSize tblStyleColBandSize tblW jc "
    "tblCellSpacing tblInd",
    "w:tblCellMar": "tblStyle tblpPr tblOverlap bidiVisual tblStyleRowBandSize tblStyleColBandSize tblW jc "
    "tblCellSpacing tblInd tblBorders shd tblLayout",
    "w:lang": "rStyle rFonts b bCs i iCs caps smallCaps strike dstrike outline shadow emboss imprint noProof "
    "snapToGrid vanish webHidden color spacing w kern position sz szCs highlight u effect bdr shd fitText vertAlign "
    "rtl cs em",
}
"""The elements that come before each of ours among the properties of a paragraph, a cell, a table or a run."""


def put(properties: Any, own: Any) -> None:
    """Put an element among properties in the order that the standard requires, replacing any existing one."""
    for old in properties.findall(own.tag):
        properties.remove(old)
    before = {qn(f"w:{name}") for name in _BEFORE.get(f"w:{own.tag.rpartition('}')[2]}", "").split()}
    at = max((place for place, each in enumerate(properties, 1) if each.tag in before), default=0)
    properties.insert(at if before else len(properties), own)


def has_marks(style: Any) -> bool:
    """Return whether a style numbers its paragraphs, or marks them as items of a list."""
    while style is not None:
        properties = style.element.pPr
        if properties is not None and properties.numPr is not None:
            return True
        style = style.base_style
    return False


def number_anew(document: Any, style: Any) -> int | None:
    """Return the id of a new numbering that is like the style's and begins at 1, or None if the style has no numbering
    of its own."""
    properties = style.element.pPr
    if properties is None or properties.numPr is None or properties.numPr.numId is None:
        return None
    root = document.part.numbering_part.element
    own = next((each for each in root.num_lst if each.numId == properties.numPr.numId.val), None)
    if own is None:
        return None
    made = root.add_num(own.abstractNumId.val)
    made.add_lvlOverride(ilvl=0).add_startOverride(1)
    return int(made.numId)


def set_numbering(paragraph: Paragraph, number: int | None) -> None:
    if number is not None:
        numbering = paragraph._p.get_or_add_pPr().get_or_add_numPr()
        numbering.get_or_add_ilvl().val = 0
        numbering.get_or_add_numId().val = number


def add_field(paragraph: Paragraph, code: str, shown: str, *, bold: bool = False) -> None:
    """Add a field, such as `SEQ Table` or `PAGE`, that shows a text until the program computes it again."""
    field = element("w:fldSimple", instr=code)
    run = OxmlElement("w:r")
    if bold:
        look = OxmlElement("w:rPr")
        look.append(OxmlElement("w:b"))
        run.append(look)
    text = OxmlElement("w:t")
    text.text = shown
    run.append(text)
    field.append(run)
    paragraph._p.append(field)


def add_link(paragraph: Paragraph, address: str, text: str, style: str) -> None:
    """Add a text that links to a web address, in a character style."""
    place = paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), place)
    run = paragraph.add_run(text, style=style)
    link.append(run._r)
    paragraph._p.append(link)


def add_picture(paragraph: Paragraph, content: bytes, width: Length, name: str, alt: str) -> None:
    """Add a picture with a text for those who can't see it, and without the margins that LibreOffice would add."""
    inline = paragraph.add_run().add_picture(io.BytesIO(content), width=width)._inline
    for side in "TBLR":
        inline.set(f"dist{side}", "0")
    inline.docPr.set("name", writable(name))
    inline.docPr.set("descr", writable(alt))


def mark(paragraph: Paragraph, name: str) -> None:
    """Bookmark a paragraph under a name, so that `add_jump` can link to it."""
    begin, end = element("w:bookmarkStart", id=1, name=name), element("w:bookmarkEnd", id=1)
    properties = paragraph._p.get_or_add_pPr()
    properties.addnext(begin)
    paragraph._p.append(end)


def add_jump(paragraph: Paragraph, name: str, text: str, style: str) -> None:
    """Add a link to a bookmark in the document."""
    link = element("w:hyperlink", anchor=name, history=1)
    link.append(paragraph.add_run(text, style=style)._r)
    paragraph._p.append(link)


def shade(properties: Any, colour: str) -> None:
    """Shade a paragraph or a cell through its properties."""
    put(properties, element("w:shd", val="clear", color="auto", fill=colour.lstrip("#")))


def line(side: str, colour: str, eighths: int, space: int = 0) -> Any:
    """Return a line at a side of a paragraph or a cell. Its width is given in eighths of a point."""
    return element(f"w:{side}", val="single", sz=eighths, space=space, color=colour.lstrip("#"))


class Footnotes:
    """The footnotes of a document, each with our own mark."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._root: Any = None
        self._told: set[int] = set()

    def add(
        self, paragraph: Paragraph, note: int, mark: str, styles: tuple[str, str], write: Callable[[Paragraph], None]
    ) -> None:
        """Add the mark of a footnote. With the first mark of a footnote, its text is added, too: `write` writes it.
        `styles` are the styles of the mark and of the text."""
        run = paragraph.add_run("", style=styles[0])
        if note not in self._told:
            self._told.add(note)
            root = self._opened()
            place = 1 + max((int(each.get(qn("w:id"))) for each in root), default=0)
            run._r.append(element("w:footnoteReference", customMarkFollows=1, id=place))
            inner = OxmlElement("w:p")
            footnote = element("w:footnote", id=place)
            footnote.append(inner)
            root.append(footnote)
            text = Paragraph(inner, self._document._body)
            text.style = self._document.styles[styles[1]]
            text.add_run(mark, style=styles[0])
            text.add_run(" ")
            write(text)
        run.add_text(mark)

    def _opened(self) -> Any:
        if self._root is None:
            main = self._document.part
            relation = next((each for each in main.rels.values() if each.reltype == RELATIONSHIP_TYPE.FOOTNOTES), None)
            if relation is None:
                part = XmlPart(PackURI("/word/footnotes.xml"), _FOOTNOTES, _empty(), main.package)
                main.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
            else:  # of a house's template: the library keeps it as bytes
                old = relation.target_part
                part = XmlPart(old.partname, old.content_type, parse_xml(old.blob), main.package)
                relation._target = part
            self._root = part.element
        return self._root


def _empty() -> Any:
    return parse_xml(_RULES.format(names=nsdecls("w", "r")))
