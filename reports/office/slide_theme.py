"""Gives one of our own presentations a theme in the colours of its brief, and sets the language of its texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.oxml import serialize_part_xml
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn

from benchbrief.reports.charts.chart import INK

_ACCENTS = 6
_WHITE, _LINK = "#ffffff", "#0b5cad"


def set_theme(presentation: Any, brand: str, ground: str, accents: Iterable[str]) -> None:
    """Fill the theme's palette with up to six accents, and replace each matching colour by a reference to it."""
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
    """Mark each run of text with its language."""
    for slide in presentation.slides:
        for run in slide._element.iter(qn("a:r")):
            run.get_or_add_rPr().set("lang", language)


def _value(colour: str) -> str:
    return colour.lstrip("#").upper()


def _trees(presentation: Any) -> list[Any]:
    """Return the elements of all parts that have colours: slides, their charts, and their layouts."""
    parts = presentation.part.package.iter_parts()
    return [part._element for part in parts if getattr(part, "_element", None) is not None]
