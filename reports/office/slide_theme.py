"""Gives one of our own presentations a theme in the colours of its brief, and sets the language of its texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.oxml import serialize_part_xml
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn

from benchbrief.reports.charts.chart import INK
from benchbrief.reports.office.slide_masters import TITLES

_ACCENTS = 6
_AFTER = ("a:cs", "a:sym", "a:hlinkClick", "a:hlinkMouseOver", "a:rtl", "a:extLst")
"""The elements that follow the East Asian typeface in the properties of a run (ECMA-376, part 1, 21.1.2.3.9)."""
_NOT_FIRST = (
    "、。，．・：；？！゛゜ヽヾゝゞ々ー’”）〕］｝〉》」』】°‰′″℃￠％ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ"
    "!%),.:;?]}｡｣､･ｧｨｩｪｫｬｭｮｯｰﾞﾟ"
)
_NOT_LAST = "‘“（〔［｛〈《「『【￥＄$([\\{｢￡"
_WHITE, _LINK = "#ffffff", "#0b5cad"


def set_theme(presentation: Any, brand: str, ground: str, accents: Iterable[str]) -> None:
    """Fill the theme's palette with up to six accents, and replace each colour that matches with a reference to the
    theme."""
    colours = {"dk1": INK, "lt1": _WHITE, "dk2": brand, "lt2": ground, "hlink": _LINK, "folHlink": _LINK}
    kept = [each for each in dict.fromkeys(accents) if each not in colours.values()][:_ACCENTS]
    colours |= {f"accent{place}": each for place, each in enumerate(kept, 1)}
    theme = presentation.slide_master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
    tree = parse_xml(theme.blob)
    scheme = tree.find(f".//{qn('a:clrScheme')}")
    scheme.set("name", "Brief")
    for name, colour in colours.items():
        own = scheme.find(qn(f"a:{name}"))
        for old in list(own):
            own.remove(old)
        own.append(own.makeelement(qn("a:srgbClr"), {"val": _value(colour)}))
    theme._blob = serialize_part_xml(tree)
    of_text = {"dk1": "tx1", "lt1": "bg1", "dk2": "tx2", "lt2": "bg2"}
    names = {_value(colour): of_text.get(name, name) for name, colour in colours.items() if "link" not in name.lower()}
    for root in _trees(presentation):
        for each in root.iter(qn("a:srgbClr")):
            if each.get("val") in names:
                each.tag = qn("a:schemeClr")
                each.set("val", names[each.get("val")])


def set_language(presentation: Any, language: str) -> None:
    """Mark the language of each run of a text. For Japanese, also set the theme's typeface for East Asia, and the
    characters that may not begin or end a line."""
    is_japanese = language.startswith("ja")
    for slide in presentation.slides:
        titles = [each._element for each in slide.placeholders if each.placeholder_format.type in TITLES]
        for shape in slide._element.iter(qn("p:sp"), qn("p:graphicFrame")):
            for run in shape.iter(qn("a:r"), qn("a:fld"), qn("a:endParaRPr")):
                look = run if run.tag == qn("a:endParaRPr") else run.find(qn("a:rPr"))
                if look is None:
                    look = run.makeelement(qn("a:rPr"), {})
                    run.insert(0, look)
                look.set("lang", language)
                if is_japanese:
                    look.set("altLang", "en-US")
                    _set_east_asian(look, "+mj-ea" if shape in titles else "+mn-ea")
    whole = presentation.part._element
    if is_japanese and whole.find(qn("p:kinsoku")) is None:
        rules = parse_xml(f'<p:kinsoku {nsdecls("p")} lang="ja-JP"/>')
        rules.set("invalStChars", _NOT_FIRST)
        rules.set("invalEndChars", _NOT_LAST)
        after = (whole.find(qn(name)) for name in ("p:defaultTextStyle", "p:modifyVerifier", "p:extLst"))
        if (following := next((each for each in after if each is not None), None)) is not None:
            following.addprevious(rules)
        else:
            whole.append(rules)


def _set_east_asian(look: Any, typeface: str) -> None:
    if look.find(qn("a:ea")) is not None:
        return
    own = look.makeelement(qn("a:ea"), {"typeface": typeface})
    after = [each for each in look if each.tag in map(qn, _AFTER)]
    if after:
        after[0].addprevious(own)
    else:
        look.append(own)


def _value(colour: str) -> str:
    return colour.lstrip("#").upper()


def _trees(presentation: Any) -> list[Any]:
    """Return the root elements of all parts that have colours: slides, their charts, and their layouts."""
    parts = presentation.part.package.iter_parts()
    return [part._element for part in parts if getattr(part, "_element", None) is not None]
