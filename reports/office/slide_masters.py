"""Finds the layouts of a presentation, by their names: our own layouts, or those of a house's template."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import field
from typing import Any, Literal

import pptx
from pptx.dml.color import RGBColor
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.oxml import serialize_part_xml
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.picture import Picture
from pptx.util import Emu, Pt

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.charts.chart import SOFT
from benchbrief.reports.office.packages import opened

LEAST_PT = 12.0
"""The smallest type size on a slide."""
_MEDIUM_TABLE = "{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}"
"""PowerPoint's usual table style, `Medium Style 2 - Accent 1`."""
_HEAD_PT, _BODY_PT = 32.0, 18.0
"""The type sizes of titles and of texts if a template does not set them."""
_WIDTH, _HEIGHT, _MARGIN = 960.0, 540.0, 44.0
_TITLE_TOP, _TITLE_HEIGHT = 30.0, 72.0
COVER = 254.0
"""The height in points of the band on our first slide."""
TITLES, CONTENTS = (PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE), (PP_PLACEHOLDER.OBJECT, PP_PLACEHOLDER.BODY)
Kind = Literal["text", "chart", "table", "picture", ""]
"""The main content of a slide, or "" if it has several kinds of content."""
_PLACES: Mapping[Kind, tuple[str, tuple[Any, ...]]] = {
    "text": ("Brief Text", (PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT)),
    "chart": ("Brief Chart", (PP_PLACEHOLDER.CHART, PP_PLACEHOLDER.OBJECT)),
    "table": ("Brief Table", (PP_PLACEHOLDER.TABLE, PP_PLACEHOLDER.OBJECT)),
    "picture": ("Brief Picture", (PP_PLACEHOLDER.PICTURE, PP_PLACEHOLDER.OBJECT)),
}
"""The name of a house's layout for each kind of slide, and the kinds of placeholders that can take such content, the
best first."""
_ANY = "Title and Content"
"""PowerPoint's layout for any kind of slide."""
_NAMES: Mapping[str, tuple[str, ...]] = {
    "title": ("Brief Title", "Title Slide"),
    "titleOnly": ("Brief Slide", "Title Only"),
}
"""The names of the layouts of the first slide and of all other slides: the names in our files, and the other names that
a house may use."""


def rgb(colour: str) -> Any:
    """Convert a colour such as #0072b2 to the library's type."""
    made: Any = RGBColor  # whose types are not whole
    return made(*(int(colour[at : at + 2], 16) for at in (1, 3, 5)))


@dataclass(frozen=True)
class Area:
    """A rectangle on a slide, in points."""

    left: float
    top: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def below(self, used: float) -> Area:
        """Return the rest of the area below a part of its height."""
        return Area(self.left, self.top + used, self.width, max(0.0, self.height - used))


def area_of(shape: Any) -> Area:
    return Area(*(Emu(each or 0).pt for each in (shape.left, shape.top, shape.width, shape.height)))


@dataclass(frozen=True)
class Layout:
    """A layout of slides. `content` is the free area of its slides, and `place` is the placeholder for their main
    content, or None."""

    made: Any
    content: Area
    place: Any = None


@dataclass(frozen=True)
class Masters:
    """An open presentation, and the layouts of its first slide and of all other slides. `content` is the free area of
    the other slides, `kinds` are layouts with a placeholder for one kind of content, and `table_style` is a house's
    style for tables.
    """

    presentation: Any
    first: Any
    others: Any
    content: Area
    is_ours: bool
    kinds: Mapping[Kind, Layout] = field(default_factory=dict)
    table_style: str = ""

    def layout(self, kind: Kind) -> Layout:
        return self.kinds.get(kind) or Layout(self.others, self.content)

    @property
    def height(self) -> float:
        return float(Emu(self.presentation.slide_height).pt)


def masters_of(template: tuple[str, bytes] | None, family: str, brand: str, accent: str) -> Masters:
    """Return the layouts to write on. Raises ReportError if the house's template lacks a layout or a placeholder."""
    if template is None:
        presentation = pptx.Presentation()
        _as_ours(presentation, family, brand, accent)
        layouts = {each.name: each for each in presentation.slide_layouts}
        first, others = layouts["Title Slide"], layouts["Title Only"]
        top = _TITLE_TOP + _TITLE_HEIGHT + 6
        content = Area(_MARGIN, top, _WIDTH - 2 * _MARGIN, _HEIGHT - top - 44)
        return Masters(presentation, first, others, content, is_ours=True)
    presentation = opened(template, "PowerPoint", pptx.Presentation)
    _drop_slides(presentation)
    first, others = (_layout(presentation, template[0], kind) for kind in _NAMES)
    _require(first, template[0], "subtitle", (PP_PLACEHOLDER.SUBTITLE, PP_PLACEHOLDER.BODY))
    for layout in (first, others):
        _require(layout, template[0], "title", TITLES)
    content = _content(presentation, others)
    if not _has_room(content):
        raise ReportError(
            f"the layout `{others.name}` of {template[0]} leaves {int(content.width)} x {int(content.height)} points"
            " for contents",
            "give it a placeholder for contents of at least 300 x 160 points",
        )
    kinds = {kind: own for kind in _PLACES if (own := _layout_for(kind, presentation, others))}
    return Masters(presentation, first, others, content, False, kinds, _table_style(presentation))


def _layout_for(kind: Kind, presentation: Any, others: Any) -> Layout | None:
    """Return the house's layout for a kind of slide. This is the layout with our name for the kind or, if there is
    none, the layout of the other slides or PowerPoint's own, provided that it has a placeholder with enough room."""
    name, types = _PLACES[kind]
    known = {layout.name.strip().casefold(): layout for layout in _layouts(presentation)}
    by_type = {layout._element.get("type"): layout for layout in reversed(_layouts(presentation))}
    usual = known.get(_ANY.casefold()) or by_type.get("obj")
    is_own = others.name.strip().casefold() == _NAMES["titleOnly"][0].casefold()
    for layout in filter(None, (known.get(name.casefold()), others, None if is_own else usual)):
        place = next(filter(None, (placeholder(layout, (each,)) for each in types)), None)
        if place is not None and placeholder(layout, TITLES) is not None and _has_room(area_of(place)):
            return Layout(layout, area_of(place), place)
    return None


def _table_style(presentation: Any) -> str:
    """Return the id of the style that a template gives to new tables."""
    parts = [
        each.target_part for each in presentation.part.rels.values() if each.reltype == RELATIONSHIP_TYPE.TABLE_STYLES
    ]
    return str(parse_xml(parts[0].blob).get("def") or _MEDIUM_TABLE) if parts else _MEDIUM_TABLE


def _has_room(area: Area) -> bool:
    return area.width >= 300 and area.height >= 160


def _layouts(presentation: Any) -> list[Any]:
    return [layout for master in presentation.slide_masters for layout in master.slide_layouts]


def _drop_slides(presentation: Any) -> None:
    """Remove the sample slides from a template, and everything that refers to them."""
    slides = presentation.slides._sldIdLst
    for each in list(slides):
        presentation.part.drop_rel(each.rId)
        slides.remove(each)
    for master in presentation.slide_masters:
        for part in (master.part, *(layout.part for layout in master.slide_layouts)):
            samples = {key for key, relation in part.rels.items() if relation.reltype == RELATIONSHIP_TYPE.SLIDE}
            for link in list(part._element.iter(qn("a:hlinkClick"), qn("a:hlinkHover"))):
                if link.get(qn("r:id")) in samples:
                    link.getparent().remove(link)
            for key in samples:
                part.rels.pop(key)
    for shows in list(presentation.part._element.iter(qn("p:custShowLst"), "{*}sectionLst")):
        shows.getparent().remove(shows)


def placeholder(shapes: Any, kinds: tuple[Any, ...]) -> Any:
    """Return the first placeholder of one of these kinds, or None if there is none."""
    return next((each for each in shapes.placeholders if each.placeholder_format.type in kinds), None)


def title_size(layout: Any) -> float:
    """Return the type size of a layout's title in points, as set by the layout or its master."""
    return type_size(layout, placeholder(layout, TITLES), "p:titleStyle") or _HEAD_PT


def size_titles(layout: Any, points: float) -> None:
    """Set the type size of the titles of one of our layouts."""
    for run in placeholder(layout, TITLES)._element.txBody.find(qn("a:lstStyle")).iter(qn("a:defRPr")):
        run.set("sz", str(int(points * 100)))


def type_size(layout: Any, own: Any, style: str) -> float:
    """Return the type size of a placeholder at its first level, as set by the placeholder or by the master's style.
    Return 0 if neither sets it."""
    styles = (own._element.txBody.find(qn("a:lstStyle")), layout.slide_master._element.find(f".//{qn(style)}"))
    sizes = (run.get("sz") for each in styles if each is not None for run in each.iter(qn("a:defRPr")))
    return next((int(size) / 100 for size in sizes if size), 0.0)


def body_size(layout: Layout) -> float:
    """Return the type size of a layout's placeholder for texts, or 0 if the layout has no such placeholder."""
    return (type_size(layout.made, layout.place, "p:bodyStyle") or _BODY_PT) if layout.place is not None else 0.0


def take_place(shape: Any, place: Any) -> None:
    """Make a shape the content of a layout's placeholder, if the placeholder may have such content."""
    own = deepcopy(place._element.xpath("./p:nvSpPr/p:nvPr/p:ph")[0])
    if isinstance(shape, GraphicFrame):
        what = "chart" if shape.has_chart else "tbl"
    else:
        what = "pic" if isinstance(shape, Picture) else "body"
    if own.get("type", "obj") in ("obj", what):
        shape._element.xpath("./*[1]/p:nvPr")[0].insert(0, own)


def _layout(presentation: Any, file: str, kind: str) -> Any:
    layouts = _layouts(presentation)
    for name in _NAMES[kind]:
        for layout in layouts:
            if layout.name.strip().casefold() == name.casefold():
                return layout
    for layout in layouts:  # in PowerPoint of another language
        if layout._element.get("type") == kind:
            return layout
    names = " or ".join(f"`{name}`" for name in _NAMES[kind])
    known = ", ".join(f"`{layout.name}`" for layout in layouts[:12]) or "none"
    raise ReportError(f"{file} has no layout {names}", f"name one of its layouts so: it has {known}")


def _require(layout: Any, file: str, what: str, kinds: tuple[Any, ...]) -> None:
    if placeholder(layout, kinds) is None:
        raise ReportError(
            f"the layout `{layout.name}` of {file} has no placeholder for a {what}",
            "add one in the view of the slide master, and save the template again",
        )


def _content(presentation: Any, layout: Any) -> Area:
    """Return a layout's free area: its placeholder for contents or, if it has none, the space between title and
    foot."""
    found = placeholder(layout, CONTENTS)
    height = Emu(presentation.slide_height).pt
    title = area_of(placeholder(layout, TITLES))
    feet = [area_of(each).top for each in layout.placeholders if each.placeholder_format.type == PP_PLACEHOLDER.FOOTER]
    foot = min([top for top in feet if top > title.bottom], default=height - 36)
    return area_of(found) if found else Area(title.left, title.bottom + 6, title.width, foot - title.bottom - 12)


def _as_ours(presentation: Any, family: str, brand: str, accent: str) -> None:
    """Turn the library's 4:3 template into our own."""
    presentation.slide_width, presentation.slide_height = Pt(_WIDTH), Pt(_HEIGHT)
    presentation.part._element.sldSz.attrib.pop("type", None)  # which says 4:3
    master = presentation.slide_master
    layouts = {each.name: each for each in presentation.slide_layouts}
    for name, layout in layouts.items():
        if name not in ("Title Slide", "Title Only"):
            presentation.slide_layouts.remove(layout)
    _set_typeface(master, family)
    for of in (master, layouts["Title Slide"], layouts["Title Only"]):
        for shape in list(of.placeholders):
            kind = shape.placeholder_format.type
            if kind in TITLES:
                place_shape(shape, Area(_MARGIN, _TITLE_TOP, _WIDTH - 2 * _MARGIN, _TITLE_HEIGHT))
                _set_look(shape, 28, brand, bold=True)
            elif kind == PP_PLACEHOLDER.FOOTER:
                place_shape(shape, Area(_MARGIN, _HEIGHT - 34, 640, 20))
                _set_look(shape, LEAST_PT, SOFT, anchor="ctr")
            elif kind == PP_PLACEHOLDER.SLIDE_NUMBER:
                place_shape(shape, Area(_WIDTH - _MARGIN - 80, _HEIGHT - 34, 80, 20))
                _set_look(shape, LEAST_PT, SOFT, anchor="ctr", align="r")
            elif kind == PP_PLACEHOLDER.DATE:
                shape._element.getparent().remove(shape._element)
            elif kind == PP_PLACEHOLDER.BODY:
                place_shape(shape, Area(_MARGIN, 104, _WIDTH - 2 * _MARGIN, _HEIGHT - 148))
    front = layouts["Title Slide"]
    band = front.shapes._spTree
    title, subtitle = placeholder(front, TITLES), placeholder(front, (PP_PLACEHOLDER.SUBTITLE,))
    place_shape(title, Area(_MARGIN, 46, _WIDTH - 2 * _MARGIN, 112))
    place_shape(subtitle, Area(_MARGIN, 168, _WIDTH - 2 * _MARGIN, 42))
    _set_look(title, 40, "#ffffff", bold=True, anchor="b")
    _set_look(subtitle, 18, "#ffffff", anchor="t")
    band.insert(2, _rectangle(Area(0, 0, _WIDTH, COVER), brand))
    band.insert(3, _rectangle(Area(0, COVER, _WIDTH, 6), accent))
    layouts["Title Only"].shapes._spTree.insert(2, _rectangle(Area(0, 0, _WIDTH, 10), brand))


def _rectangle(area: Area, colour: str) -> Any:
    """Return a filled rectangle for a slide layout, written as XML, because the library can add shapes only to
    slides."""
    left, top, width, height = (Pt(each) for each in (area.left, area.top, area.width, area.height))
    return parse_xml(
        f"<p:sp {nsdecls('p', 'a')}>"
        '<p:nvSpPr><p:cNvPr id="900" name="Band"/><p:cNvSpPr/><p:nvPr userDrawn="1"/></p:nvSpPr>'
        f'<p:spPr><a:xfrm><a:off x="{left}" y="{top}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'
        f'<a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:solidFill><a:srgbClr val="{colour.lstrip("#").upper()}"/>'
        "</a:solidFill><a:ln><a:noFill/></a:ln></p:spPr></p:sp>"
    )


def place_shape(shape: Any, area: Area) -> None:
    shape.left, shape.top, shape.width, shape.height = (
        Pt(each) for each in (area.left, area.top, area.width, area.height)
    )


def _set_look(
    shape: Any, points: float, colour: str, *, bold: bool = False, anchor: str = "t", align: str = "l"
) -> None:
    """Set the look of a placeholder's texts at its first level."""
    body = shape.text_frame._txBody
    properties = body.find(qn("a:bodyPr"))
    for side in ("lIns", "tIns", "rIns", "bIns"):
        properties.set(side, "0")
    properties.set("anchor", anchor)
    for old in list(properties):
        properties.remove(old)
    levels = body.find(qn("a:lstStyle"))
    for old in list(levels):
        levels.remove(old)
    level = levels.makeelement(qn("a:lvl1pPr"), {"marL": "0", "indent": "0", "algn": align})
    level.append(level.makeelement(qn("a:buNone"), {}))
    run = level.makeelement(qn("a:defRPr"), {"sz": str(int(points * 100)), "b": str(int(bold)), "cap": "none"})
    fill = run.makeelement(qn("a:solidFill"), {})
    fill.append(fill.makeelement(qn("a:srgbClr"), {"val": colour.lstrip("#").upper()}))
    run.append(fill)
    level.append(run)
    levels.append(level)


def _set_typeface(master: Any, family: str) -> None:
    """Set the typeface of the theme for all scripts."""
    theme = master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
    tree = parse_xml(theme.blob)
    for kind in ("latin", "ea", "cs"):
        for each in tree.iter(qn(f"a:{kind}")):
            each.set("typeface", family)
    theme._blob = serialize_part_xml(tree)
