"""Tests that the XML of files to edit has its elements in the standard's order (ECMA-376, parts 1 and 4). Programs may
call a file with a different order damaged, and drop elements that they do not expect."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchbrief.model.extension_spec import Format
from benchbrief.reports.render.render_report import render
from tests.reports import briefs
from tests.reports.test_files_to_edit import TO_EDIT, english_once, file_of

_MAIN = {
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w",
    "http://schemas.openxmlformats.org/drawingml/2006/main": "a",
    "http://schemas.openxmlformats.org/drawingml/2006/chart": "c",
    "http://schemas.openxmlformats.org/presentationml/2006/main": "p",
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main": "x",
}
_FILL = "noFill solidFill gradFill blipFill pattFill grpFill"
_OF_SERIES = "idx order tx spPr"
_SEQUENCES = {
    "w:pPr": "pStyle keepNext keepLines pageBreakBefore framePr widowControl numPr suppressLineNumbers pBdr shd tabs "
    "suppressAutoHyphens kinsoku wordWrap overflowPunct topLinePunct autoSpaceDE autoSpaceDN bidi adjustRightInd "
    "snapToGrid spacing ind contextualSpacing mirrorIndents suppressOverlap jc textDirection textAlignment "
    "textboxTightWrap outlineLvl divId cnfStyle rPr sectPr pPrChange",
    "w:rPr": "rStyle rFonts b bCs i iCs caps smallCaps strike dstrike outline shadow emboss imprint noProof snapToGrid "
    "vanish webHidden color spacing w kern position sz szCs highlight u effect bdr shd fitText vertAlign rtl cs em "
    "lang eastAsianLayout specVanish oMath",
    "w:tbl": "tblPr tblGrid tr",
    "w:tblPr": "tblStyle tblpPr tblOverlap bidiVisual tblStyleRowBandSize tblStyleColBandSize tblW jc tblCellSpacing "
    "tblInd tblBorders shd tblLayout tblCellMar tblLook tblCaption tblDescription",
    "w:tcPr": "cnfStyle tcW gridSpan hMerge vMerge tcBorders shd noWrap tcMar textDirection tcFitText vAlign hideMark",
    "w:tblBorders": "top left start bottom right end insideH insideV",
    "w:tblCellMar": "top left start bottom right end",
    "w:sectPr": "headerReference footerReference footnotePr endnotePr type pgSz pgMar paperSrc pgBorders lnNumType "
    "pgNumType cols formProt vAlign noEndnote titlePg textDirection bidi rtlGutter docGrid printerSettings",
    "w:style": "name aliases basedOn next link autoRedefine hidden uiPriority semiHidden unhideWhenUsed qFormat locked "
    "personal personalCompose personalReply rsid pPr rPr tblPr trPr tcPr tblStylePr",
    "w:num": "abstractNumId lvlOverride",
    "w:numbering": "numPicBullet abstractNum num numIdMacAtCleanup",
    "a:pPr": "lnSpc spcBef spcAft buClrTx buClr buSzTx buSzPct buSzPts buFontTx buFont buNone buAutoNum buChar buBlip "
    "tabLst defRPr extLst",
    "a:rPr": f"ln {_FILL} effectLst effectDag highlight uLnTx uLn uFillTx uFill latin ea cs sym hlinkClick "
    "hlinkMouseOver rtl extLst",
    "a:p": "pPr r br fld endParaRPr",
    "a:tc": "txBody tcPr extLst",
    "a:tcPr": f"lnL lnR lnT lnB lnTlToBr lnBlToTr cell3D {_FILL} headers extLst",
    "a:tbl": "tblPr tblGrid tr",
    "p:spTree": "nvGrpSpPr grpSpPr sp grpSp graphicFrame cxnSp pic contentPart extLst",
    "c:scaling": "logBase orientation max min extLst",
    "c:errBars": "errDir errBarType errValType noEndCap plus minus val spPr extLst",
    "c:valAx": "axId scaling delete axPos majorGridlines minorGridlines title numFmt majorTickMark minorTickMark "
    "tickLblPos spPr txPr crossAx crosses crossesAt crossBetween majorUnit minorUnit dispUnits extLst",
    "c:chart": "title autoTitleDeleted pivotFmts view3D floor sideWall backWall plotArea legend plotVisOnly "
    "dispBlanksAs showDLblsOverMax extLst",
    "c:barChart/c:ser": f"{_OF_SERIES} invertIfNegative pictureOptions dPt dLbls trendline errBars cat val shape "
    "extLst",
    "c:lineChart/c:ser": f"{_OF_SERIES} marker dPt dLbls trendline errBars cat val smooth extLst",
    "c:scatterChart/c:ser": f"{_OF_SERIES} marker dPt dLbls trendline errBars xVal yVal smooth extLst",
    "x:worksheet": "sheetPr dimension sheetViews sheetFormatPr cols sheetData sheetCalcPr sheetProtection "
    "protectedRanges scenarios autoFilter sortState dataConsolidate customSheetViews mergeCells phoneticPr "
    "conditionalFormatting dataValidations hyperlinks printOptions pageMargins pageSetup headerFooter rowBreaks "
    "colBreaks customProperties cellWatches ignoredErrors smartTags drawing legacyDrawing legacyDrawingHF picture "
    "oleObjects controls webPublishItems tableParts extLst",
    "x:c": "f v is extLst",
}
_MIXED = {"a:p", "p:spTree", "w:sectPr"}
"""Elements whose children have no fixed order, except that the first child in `_SEQUENCES` must not come later."""


def misplaced(part: bytes) -> Iterator[str]:
    """Yield elements that are in the wrong order, and elements that are not allowed where they are."""

    def walk(element: ElementTree.Element, above: str) -> Iterator[str]:
        own = name(element)
        wanted = _SEQUENCES.get(f"{above}/{own}") or _SEQUENCES.get(own)
        kept = [name(child).partition(":")[2] for child in element if ":" in name(child)]
        if wanted and kept:
            order = wanted.split()
            yield from (f"{own} has {each}" for each in kept if each not in order)
            places = [order.index(each) for each in kept if each in order]
            ends = (0 not in places[1:]) if own in _MIXED else places == sorted(places)
            if not ends:
                yield f"{own} has {' '.join(kept)}"
            if own.endswith("Pr") and own != "w:sectPr" and len(set(kept)) < len(kept):
                yield f"{own} has one twice: {' '.join(kept)}"
        for child in element:
            yield from walk(child, own)

    yield from walk(ElementTree.fromstring(part), "")  # noqa: S314  # which we just wrote


def name(element: ElementTree.Element) -> str:
    space, _, local = element.tag[1:].partition("}")
    return f"{_MAIN[space]}:{local}" if space in _MAIN else ""


@pytest.mark.parametrize("kind", TO_EDIT)
def test_elements_stand_in_the_order_of_the_standard(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, kind: Format
) -> None:
    found: dict[str, str] = {}
    world, report = briefs.cluster_shrink()
    other = render(world.plan(report), world.store(), report.name, tmp_path, formats=[kind])
    for rendered in (english_once(tmp_path_factory), other):
        with zipfile.ZipFile(file_of(rendered, kind)) as file:
            for part in file.namelist():
                if part.endswith(".xml") and not part.startswith(("customXml", "docProps", "ppt/theme")):
                    found |= dict.fromkeys(misplaced(file.read(part)), part)
    assert found == {}
